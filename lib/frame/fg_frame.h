/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * From a protocol stack to the bytes of a frame. A stack is pushed layer by layer, outermost first; a table
 * of fields describes each layer (fg_protocol.h), so the builder is the same for all protocols, and a new
 * protocol is one new file. Computed fields (lengths, checksums, "next protocol") are filled in at the end
 * unless the user set them. All of this happens at set-up: the engine only ever copies the finished template.
 */

/** A stack being built. Plain memory, one thread. */
struct fg_frame;

enum { FG_MAX_VARIES = 16, FG_MAX_CHECKSUMS = 8, FG_MAX_LIST = 4194304 };

/** How a field changes: frame n has value k, k = n / hold modulo count, or random below count. */
struct fg_vary_config {
	uint64_t first, step, count; /* value k is first + step * k; a step above 2^63 counts down */
	uint64_t every; /* only in frames whose number is a multiple of this; other frames have the field's
			 * set value */
	uint64_t seed;
	bool random;
	bool high;            /* the first 64 bits of a 128-bit field change, not the last */
	uint64_t hold;        /* frames in a row that have the same value; 0 is taken as 1. Not with every */
	const uint64_t *list; /* `count` values in place of first and step, copied; NULL: no list */
};

/** A field program, ready to run: fg_vary.h. */
struct fg_vary {
	uint64_t first, step, count, seed;
	uint64_t reciprocal; /* of count: 2^64 / count, rounded down */
	uint64_t period;     /* frames before the next value */
	uint64_t mask;       /* mask of the changing bits, in the bytes as a number */
	uint64_t rest, kept; /* the constant bits and, in frames left out by `every`, the set value */
	uint32_t list;       /* bytes from here to the list of values, 8 bytes each; 0: no list */
	uint16_t offset;     /* of the first changing byte */
	uint8_t octets;      /* number of bytes, at most 8 */
	uint8_t shift;
	bool random;
	bool sparse;                       /* changes the first frame of each period only */
	bool shared;                       /* another program changes other bits of the same bytes */
	bool plain;                        /* only counts: vary_burst.c takes its simple way */
	uint16_t factor[FG_MAX_CHECKSUMS]; /* the weight of the bytes in each checksum's sum, modulo 65535 */
};

/** A checksum of a template that has changing fields. */
struct fg_vary_checksum {
	uint32_t base;   /* sum without the changing bytes, modulo 65535, above 0 */
	uint16_t offset; /* in the frame */
	bool never_zero; /* UDP: zero means no checksum */
};

/** The CRC32c of a packet in a frame, over the whole packet. */
struct fg_seal {
	uint16_t packet; /* bytes of the frame before it; 0: no IP packet */
	uint16_t cover;  /* the checksum that covers the CRC and must be updated with it; 0: none */
	bool odd;        /* the CRC is at an odd offset in that checksum's range */
	bool never_zero;
};

/** A finished frame without FCS, in one block of memory: fg_template_copy(). Immutable. */
struct fg_template {
	struct fg_vary_checksum checksum[FG_MAX_CHECKSUMS];
	struct fg_seal seal;
	uint8_t signature; /* bytes of it at the end; 0: no signature (fg_frame_leave_unsigned()) */
	/* members that every frame needs, in one or two cache lines */
	uint32_t memory;     /* bytes of the block */
	uint32_t programs;   /* bytes from `bytes` to the field programs */
	uint16_t frame_size; /* bytes with FCS */
	uint16_t length;     /* bytes without FCS = frame_size - 4 */
	uint16_t header;     /* bytes before the payload, or up to the last changing byte in it */
	uint16_t network;    /* bytes before the innermost IP header; 0: no IP header */
	uint16_t varies;     /* field programs */
	uint16_t checksums;  /* checksums that must follow the programs */
	uint8_t bytes[];     /* `length` bytes, the signature's sum to zero; then the programs */
};

/** Start an empty stack. @return NULL without memory */
struct fg_frame *fg_frame_create(void);
void fg_frame_free(struct fg_frame *frame);

/**
 * Add a layer inside the last one: "ethernet", "ipv4", "udp"; or an option to it: "tcp_mss".
 * @return 0, -ENOENT unknown, -EINVAL not an option of the last layer, -E2BIG too deep
 */
int fg_frame_push(struct fg_frame *frame, const char *protocol, struct fg_error *err);

/** Set a field of the last pushed layer to a number. @return 0, -ENOENT no such field, -ERANGE too wide */
int fg_frame_set(struct fg_frame *frame, const char *field, uint64_t value, struct fg_error *err);

/**
 * Set a field of the last pushed layer to bytes (an address, the rest of a header). @return 0, -ENOENT,
 * -ERANGE wrong length
 */
int fg_frame_set_bytes(struct fg_frame *frame, const char *field, const uint8_t *bytes, size_t length,
		       struct fg_error *err);

/**
 * Let a field of the last pushed layer be computed and then made wrong. @return 0, -ENOENT, -EINVAL not
 * computed
 */
int fg_frame_set_bad(struct fg_frame *frame, const char *field, struct fg_error *err);

/**
 * Let a field of the last pushed layer change from frame to frame. In a field wider than 64 bits the last 64
 * change. The field is then not computed. Several programs advance in step; a nested loop sets `hold` of the
 * outer program to the inner one's count.
 * @return 0, -ENOENT, -ERANGE (the values do not fit the field, count or every is 0), -E2BIG too many
 */
int fg_frame_vary(struct fg_frame *frame, const char *field, const struct fg_vary_config *config,
		  struct fg_error *err);

/**
 * Let bytes change, at an offset in the last pushed layer or, before the first push, in the frame.
 *
 * @param octets  1 to 8
 * @param mask    the bits that change, in the bytes as a number
 * @return as fg_frame_vary(); values are of all the bytes, their bits outside the mask are ignored
 */
int fg_frame_vary_octets(struct fg_frame *frame, uint16_t offset, uint8_t octets, uint64_t mask,
			 const struct fg_vary_config *config, struct fg_error *err);

/**
 * Let the payload repeat these bytes, in place of the incrementing bytes of RFC 2544.
 * @return 0, -EINVAL none, -ENOMEM
 */
int fg_frame_set_payload(struct fg_frame *frame, const uint8_t *octets, size_t count, struct fg_error *err);

/**
 * Let the payload extend to the end, without a signature: a receiver cannot assign the frame to a stream.
 */
void fg_frame_leave_unsigned(struct fg_frame *frame);

/**
 * Make the template: headers, then the payload, then room for the signature, unless it is left unsigned.
 *
 * @param frame_size  bytes with FCS
 * @return 0; -EMSGSIZE when the headers and the signature do not fit; -EINVAL when a program changes bits of
 *         another program, or computed bytes; -ENOMEM. Free with fg_template_free().
 */
int fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out,
		    struct fg_error *err);

/**
 * Write the CRC of a frame's packet, if the template's `seal` has one. Call it last: after the field programs
 * and the signature.
 *
 * @param frame  with the template's bytes up to its header's end
 */
void fg_template_seal(const struct fg_template *template_, uint8_t *frame);

/**
 * Make one frame, as a tx lcore would send it.
 *
 * @param number   frame number in its stream, from 0; with FG_SIGNATURE_COPY in a deliberate duplicate
 * @param time_ns  transmit time, for its signature
 * @param out      room for the template's length
 */
void fg_template_make(const struct fg_template *template_, uint16_t stream, uint64_t number, uint64_t time_ns,
		      uint8_t *out);

/** @return a copy, NULL without memory */
struct fg_template *fg_template_copy(const struct fg_template *template_);
void fg_template_free(struct fg_template *template_);

__END_DECLS

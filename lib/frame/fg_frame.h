/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * From a protocol stack to the bytes of a frame. A stack is pushed layer by layer, outermost first; each
 * layer is described by a table of fields (fg_protocol.h), so the builder knows no protocol and a new one is
 * one new file. What is computed (lengths, checksums, "next protocol") is filled in at the end unless the
 * user set it. All of this happens at set-up: the engine only ever copies the finished template.
 */

/** A stack being built. Plain memory, one thread. */
struct fg_frame;

enum { FG_MAX_VARIES = 16, FG_MAX_CHECKSUMS = 8, FG_MAX_LIST = 4194304 };

/** How a field changes: in frame n the k-th of its values, k = n / hold modulo count, or random below
 * count. */
struct fg_vary_config {
	uint64_t first, step, count; /* the k-th value is first + step * k; a step above 2^63 goes down */
	uint64_t every; /* only in frames whose number is a multiple of this; the others keep what was set */
	uint64_t seed;
	bool random;
	bool high;            /* of a field of 128 bits the first 64 change, not the last */
	uint64_t hold;        /* frames in a row that have the same value; 0 is taken as 1. Not with every */
	const uint64_t *list; /* count values in place of first and step, copied; NULL: none */
};

/** A field program, ready to run: fg_vary.h. */
struct fg_vary {
	uint64_t first, step, count, seed;
	uint64_t reciprocal; /* of count: 2^64 / count, rounded down */
	uint64_t period;     /* frames before the next value */
	uint64_t mask;       /* of what changes, in the bytes as a number */
	uint64_t rest, kept; /* the bytes beside it and, in frames that it leaves out, it */
	uint32_t list;       /* bytes from here to the values, each 8 bytes; 0: none */
	uint16_t offset;     /* of the first byte concerned */
	uint8_t octets;      /* how many; at most 8 */
	uint8_t shift;
	bool random;
	bool sparse;                       /* changes the first frame of each period only */
	bool shared;                       /* another program changes other bits of the same bytes */
	bool plain;                        /* only counts, the simple way of vary_burst.c will do */
	uint16_t factor[FG_MAX_CHECKSUMS]; /* modulo 65535: what the bytes add to the sum of each checksum */
};

/** A checksum of a template that has changing fields. */
struct fg_vary_checksum {
	uint32_t base;   /* sum without what changes, modulo 65535, above 0 */
	uint16_t offset; /* in the frame */
	bool never_zero; /* UDP: zero means no checksum */
};

/** The CRC32c of a packet in a frame, which seals all that it encloses. */
struct fg_seal {
	uint16_t packet; /* bytes of the frame before it; 0: no IP packet */
	uint16_t cover;  /* the checksum that covers the CRC and has to follow it; 0: none */
	bool odd;        /* the CRC begins at an odd byte of what that covers */
	bool never_zero;
};

/** A finished frame without FCS, in one block of memory: fg_template_copy(). Immutable. */
struct fg_template {
	struct fg_vary_checksum checksum[FG_MAX_CHECKSUMS];
	struct fg_seal seal;
	uint8_t signature; /* bytes of it at the end; 0: no signature (fg_frame_leave_unsigned()) */
	/* what every frame needs, in addition to its header, in a cache line or two */
	uint32_t memory;     /* bytes of the block */
	uint32_t programs;   /* bytes from `bytes` to the field programs */
	uint16_t frame_size; /* bytes with FCS */
	uint16_t length;     /* bytes without FCS = frame_size - 4 */
	uint16_t header;     /* bytes before the payload, or up to the last that changes in it */
	uint16_t network;    /* bytes before the innermost IP header; 0: no IP header */
	uint16_t varies;     /* field programs */
	uint16_t checksums;  /* those that must follow them */
	uint8_t bytes[];     /* length of them; the signature's bytes sum to zero. Then the programs */
};

/** Start an empty stack. @return NULL without memory */
struct fg_frame *fg_frame_create(void);
void fg_frame_free(struct fg_frame *frame);

/**
 * Add a layer inside the last one: "ethernet", "ipv4", "udp"; or an option to it: "tcp_mss".
 * @return 0, -ENOENT unknown, -EINVAL no option of the last layer, -E2BIG too deep
 */
int fg_frame_push(struct fg_frame *frame, const char *protocol, struct fg_error *err);

/** Set a field of the last pushed layer to a number. @return 0, -ENOENT no such field, -ERANGE too wide */
int fg_frame_set(struct fg_frame *frame, const char *field, uint64_t value, struct fg_error *err);

/** Set a field of the last pushed layer to bytes (an address, what is left). @return 0, -ENOENT, -ERANGE
 * wrong length */
int fg_frame_set_bytes(struct fg_frame *frame, const char *field, const uint8_t *bytes, size_t length,
		       struct fg_error *err);

/** Let a field of the last pushed layer be computed and then made wrong. @return 0, -ENOENT, -EINVAL not
 * computed */
int fg_frame_set_bad(struct fg_frame *frame, const char *field, struct fg_error *err);

/**
 * Let a field of the last pushed layer change from frame to frame. Of a field wider than 64 bits the last 64
 * change. A computed field is then the user's. Several programs go in step; for nested ones hold is what
 * those inside need.
 * @return 0, -ENOENT, -ERANGE (the values do not fit the field, count or every is 0), -E2BIG too many
 */
int fg_frame_vary(struct fg_frame *frame, const char *field, const struct fg_vary_config *config,
		  struct fg_error *err);

/**
 * Let bytes change: bytes of the last pushed layer by their offset in it or, with no layer pushed yet, of
 * the frame.
 *
 * @param octets  1 to 8
 * @param mask    of the bits that change, in the bytes as a number
 * @return as fg_frame_vary(); values are of the bytes, and only their bits in the mask count
 */
int fg_frame_vary_octets(struct fg_frame *frame, uint16_t offset, uint8_t octets, uint64_t mask,
			 const struct fg_vary_config *config, struct fg_error *err);

/**
 * Let the payload be these bytes, again and again, in place of the incrementing ones of RFC 2544.
 * @return 0, -EINVAL none, -ENOMEM
 */
int fg_frame_set_payload(struct fg_frame *frame, const uint8_t *octets, size_t count, struct fg_error *err);

/**
 * Let the payload go on up to the end, without a signature: such a frame leaves as it is described, and no
 * receiver finds the stream of a frame.
 */
void fg_frame_leave_unsigned(struct fg_frame *frame);

/**
 * Make the template: headers, then the payload, then room for the signature, unless it is left unsigned.
 *
 * @param frame_size  bytes with FCS
 * @return 0; -EMSGSIZE when the headers and the signature do not fit; -EINVAL when a program changes bytes
 *         that another one does, or that are computed; -ENOMEM. Free with fg_template_free().
 */
int fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out,
		    struct fg_error *err);

/**
 * Write the CRC of a frame's packet, if the template's `seal` has one, when everything else is in place: its
 * fields by their program, its signature.
 *
 * @param frame  with the template's bytes up to its header's end
 */
void fg_template_seal(const struct fg_template *template_, uint8_t *frame);

/**
 * Make one frame, as a tx lcore would send it.
 *
 * @param number   of the frame in its stream, from 0; with FG_SIGNATURE_COPY, if it is sent a second time
 * @param time_ns  when it leaves, for its signature
 * @param out      room for the template's length
 */
void fg_template_make(const struct fg_template *template_, uint16_t stream, uint64_t number, uint64_t time_ns,
		      uint8_t *out);

/** @return a copy, NULL without memory */
struct fg_template *fg_template_copy(const struct fg_template *template_);
void fg_template_free(struct fg_template *template_);

__END_DECLS

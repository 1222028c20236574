/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_FRAME_H
#define FG_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From a protocol stack to the bytes of a frame. A stack is pushed layer by layer, outermost first; each layer
 * is described by a table of fields (fg_protocol.h), so the builder knows no protocol and a new one is one new
 * file. What is computed (lengths, checksums, "next protocol") is filled in at the end unless the user set it.
 * All of this happens at set-up: the engine only ever copies the finished template.
 */

/** A stack being built. Plain memory, one thread. */
struct fg_frame;

enum { FG_MAX_VARIES = 8, FG_MAX_CHECKSUMS = 4 };

/** How a field changes: in frame n, k = n / every counted modulo count, or random below count; see fg_vary.h. */
struct fg_vary_config {
	uint64_t first, step, count; /* the value is first + step * k; a step above 2^63 goes down */
	uint64_t every; /* only in frames whose number is a multiple of this; the others keep what was set */
	uint64_t seed;
	bool random;
	bool high; /* of a field of 128 bits the first 64 change, not the last */
};

/** A field program, ready to run. */
struct fg_vary {
	uint64_t first, step, count, every, seed;
	uint64_t mask;   /* of the field, in the octets as a number */
	uint16_t offset; /* of the first octet concerned */
	uint8_t octets;  /* how many; at most 8, and 7 if they end on an odd offset */
	uint8_t shift;
	bool random;
	uint8_t checksums;
	bool never_zero[FG_MAX_CHECKSUMS];   /* UDP: zero would say that there is none */
	uint16_t checksum[FG_MAX_CHECKSUMS]; /* offsets of those to be mended */
};

/** A finished frame without FCS. Immutable. */
struct fg_template {
	uint16_t frame_size; /* octets with FCS */
	uint16_t length;     /* octets without FCS = frame_size - 4 */
	uint16_t header;     /* octets before the payload */
	uint16_t varies;     /* field programs */
	struct fg_vary vary[FG_MAX_VARIES];
	uint8_t bytes[]; /* length of them; the last 18 are the signature's and sum to zero */
};

/** Start an empty stack. @return NULL without memory */
struct fg_frame *fg_frame_create(void);

/** NULL is legal. */
void fg_frame_free(struct fg_frame *frame);

/**
 * Add a layer inside the last one: "ethernet", "ipv4", "udp"; or an option to it: "tcp_mss".
 * @return 0, -ENOENT unknown, -EINVAL no option of the last layer, -E2BIG too deep
 */
int fg_frame_push(struct fg_frame *frame, const char *protocol, struct fg_error *err);

/** Set a field of the last pushed layer to a number. @return 0, -ENOENT no such field, -ERANGE too wide */
int fg_frame_set(struct fg_frame *frame, const char *field, uint64_t value, struct fg_error *err);

/** Set a field of the last pushed layer to octets (an address, what is left). @return 0, -ENOENT, -ERANGE wrong length */
int fg_frame_set_bytes(struct fg_frame *frame, const char *field, const uint8_t *bytes, size_t length,
		       struct fg_error *err);

/** Let a field of the last pushed layer be computed and then made wrong. @return 0, -ENOENT, -EINVAL not computed */
int fg_frame_set_bad(struct fg_frame *frame, const char *field, struct fg_error *err);

/**
 * Let a field of the last pushed layer change from frame to frame. Of a field wider than 64 bits the last 64 change.
 * @return 0, -ENOENT, -ERANGE (the values do not fit the field, count or every is 0), -E2BIG too many
 */
int fg_frame_vary(struct fg_frame *frame, const char *field, const struct fg_vary_config *config,
		  struct fg_error *err);

/**
 * Make the template: headers, then the RFC 2544 payload of incrementing octets, then room for the signature.
 *
 * @param frame_size  octets with FCS
 * @return 0; -EMSGSIZE when the headers and the signature do not fit; -ENOMEM. Free with fg_template_free().
 */
int fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out,
		    struct fg_error *err);

/**
 * Make one frame, as a tx lcore would send it.
 *
 * @param number   of the frame in its stream, from 0
 * @param time_ns  when it leaves, for its signature
 * @param out      room for the template's length
 */
void fg_template_make(const struct fg_template *template_, uint16_t stream, uint64_t number, uint64_t time_ns,
		      uint8_t *out);

/** NULL is legal. */
void fg_template_free(struct fg_template *template_);

#ifdef __cplusplus
}
#endif
#endif

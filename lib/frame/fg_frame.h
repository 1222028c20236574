/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_FRAME_H
#define FG_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From a protocol stack to the bytes of a frame. A stack is pushed layer by layer, outermost first; each layer
 * is described by a table of fields (frame_priv.h), so the builder knows no protocol and a new one is one new
 * file. What is computed (lengths, checksums, "next protocol") is filled in at the end unless the user set it.
 * All of this happens at set-up: the engine only ever copies the finished template.
 */

/** A stack being built. Plain memory, one thread. */
struct fg_frame;

/** A finished frame without FCS. Immutable. */
struct fg_template {
	uint16_t frame_size; /* octets with FCS */
	uint16_t length;     /* octets without FCS = frame_size - 4 */
	uint16_t header;     /* octets before the payload */
	uint8_t bytes[];     /* length of them; the last 18 are the signature's and sum to zero */
};

/** Start an empty stack. @return NULL without memory */
struct fg_frame *fg_frame_create(void);

/** NULL is legal. */
void fg_frame_free(struct fg_frame *frame);

/** Add a layer inside the last one: "ethernet", "ipv4", "udp". @return 0, -ENOENT unknown, -E2BIG too deep */
int fg_frame_push(struct fg_frame *frame, const char *protocol, struct fg_error *err);

/** Set a field of the last pushed layer to a number. @return 0, -ENOENT no such field, -ERANGE too wide */
int fg_frame_set(struct fg_frame *frame, const char *field, uint64_t value, struct fg_error *err);

/** Set a field of the last pushed layer to octets (an address). @return 0, -ENOENT, -ERANGE wrong length */
int fg_frame_set_bytes(struct fg_frame *frame, const char *field, const uint8_t *bytes, size_t length,
		       struct fg_error *err);

/**
 * Make the template: headers, then the RFC 2544 payload of incrementing octets, then room for the signature.
 *
 * @param frame_size  octets with FCS
 * @return 0; -EMSGSIZE when the headers and the signature do not fit; -ENOMEM. Free with fg_template_free().
 */
int fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out,
		    struct fg_error *err);

/** NULL is legal. */
void fg_template_free(struct fg_template *template_);

#ifdef __cplusplus
}
#endif
#endif

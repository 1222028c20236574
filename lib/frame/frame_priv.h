/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRAME_PRIV_H
#define FRAME_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_frame.h"

/** One header field: where it is, how wide, what it holds when nobody says. */
struct fg_field {
	const char *name;
	uint16_t bit;   /* from the start of the header, most significant bit first */
	uint16_t width; /* bits; at most 64 for numbers, any multiple of 8 for octets */
	uint64_t preset;
	const char *help;
};

/** A value of the "next protocol" field, by the name of what follows. */
struct fg_next {
	const char *protocol;
	uint64_t value;
};

struct fg_layer;

/** What a checksum is computed over. */
enum fg_checksum_scope {
	FG_CHECKSUM_NONE,
	FG_CHECKSUM_HEADER,  /* this header */
	FG_CHECKSUM_PAYLOAD, /* this header, all it encloses, and "src" and "dst" of the layer around it */
};

/** A protocol is this table and, where something must be computed, one function. */
struct fg_protocol {
	const char *name;
	uint16_t size;          /* octets of the header */
	const char *next_field; /* names what follows; NULL: nothing does */
	const struct fg_next *next;
	const struct fg_field *fields;         /* ends with a NULL name */
	enum fg_checksum_scope checksum_scope; /* of the field "checksum" */
	bool checksum_never_zero;              /* zero says that there is none */
	/**
	 * Fill in what depends on the rest. Called from the innermost layer outwards, when the payload is there.
	 * @param header  this layer's first octet
	 * @param length  octets from there to the end of the frame, without FCS
	 * @param outer   the enclosing layer and its header, for the pseudo-header of a checksum; NULL: outermost
	 */
	void (*finish)(const struct fg_layer *layer, uint8_t *header, size_t length,
		       const struct fg_layer *outer);
};

/** A field that changes, as the user wants it. */
struct fg_change {
	const struct fg_field *field;
	unsigned layer;
	struct fg_vary_config config;
};

/** One layer of a stack: its header so far and which fields the user wrote. */
struct fg_layer {
	const struct fg_protocol *protocol;
	uint64_t written; /* bit i: fields[i] was set by the user and is left alone */
	uint8_t *header;  /* in the template being made */
	uint8_t preset[64];
};

/** Every protocol there is; ends with NULL. */
extern const struct fg_protocol *const fg_protocols[];
extern const struct fg_protocol fg_protocol_ethernet, fg_protocol_ipv4, fg_protocol_ipv6, fg_protocol_udp,
	fg_protocol_vlan;

const struct fg_protocol *fg_protocol_find(const char *name);

/** Index of a field, -1 when there is none of that name. */
int fg_field_find(const struct fg_protocol *protocol, const char *name);

/** Write the low @p width bits of @p value at bit @p bit. */
void fg_field_write(uint8_t *header, unsigned bit, unsigned width, uint64_t value);

/** Write a computed value, unless the user has set the field. */
void fg_field_fill(const struct fg_layer *layer, uint8_t *header, const char *name, uint64_t value);

/** Did the user set this field? */
bool fg_field_is_written(const struct fg_layer *layer, const char *name);

/** Work out where a change takes place and which checksums it touches. The layers' headers must be in @p frame. */
int fg_vary_compile(const struct fg_layer *layers, unsigned n, const struct fg_change *change,
		    const uint8_t *frame, struct fg_vary *out, struct fg_error *err);

#endif

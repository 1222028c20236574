/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame under construction: the stack of layers, the fields that the user set, and the changing fields. One
 * caller writes it at set-up; the template does not refer to it.
 */
#pragma once

#include "fg_frame.h"
#include "fg_protocol.h"

enum { MAX_LAYERS = 48, MAX_HEADER = 512 };

/** One layer of a stack: its header so far and which fields the user wrote. */
struct fg_layer {
	const struct fg_protocol *protocol;
	const struct fg_layer *outer; /* the enclosing layer; of an option, its header's; NULL: outermost */
	const struct fg_layer *inner; /* the layer directly inside; NULL: none */
	uint64_t written;             /* bit i: fields[i] was set by the user and is left alone */
	uint64_t bad;                 /* bit i: fields[i] is computed and then made wrong */
	uint16_t rest;                /* bytes of the field that extends to the end of the header */
	uint16_t options;             /* number of options that follow in the list of layers */
	uint8_t *header;              /* offset in the template */
	uint16_t size;                /* bytes there, options and padding included */
	uint8_t nominal[MAX_HEADER];  /* all optional fields, then the field that extends to the end */
};

/** A field that varies, as the user configured it. */
struct fg_change {
	const struct fg_layer *layer; /* NULL: the offset counts from the frame's begin */
	const struct fg_field *field; /* NULL: bytes by their offset */
	uint16_t offset;
	uint8_t octets;
	uint64_t mask;
	struct fg_vary_config config; /* its list is a copy of our own */
};

/** The lists of a protocol's places and of its fields, where the protocol is. */
#define FG_PLACES(...) ((const struct fg_place[]){__VA_ARGS__, {NULL}})
#define FG_FIELDS(...) ((const struct fg_field[]){__VA_ARGS__, {NULL}})

/**
 * Every file of protocols ends with its list of them. The files are named in meson.build, which makes the
 * list of the lists.
 */
#define FG_PROTOCOLS(file, ...)                                          \
	extern const struct fg_protocol *const fg_protocols_of_##file[]; \
	const struct fg_protocol *const fg_protocols_of_##file[] = {__VA_ARGS__, NULL}

/** All of them, by file; ends with NULL. */
extern const struct fg_protocol *const *const fg_protocol_files[];

/** A protocol's number in a space; an IP in an IP space has its EtherType's. @return false: no number */
bool fg_protocol_number(const struct fg_protocol *protocol, const char *space, uint64_t *number);

/** Write a computed value, unless the user has set the field. */
void fg_field_fill(const struct fg_layer *layer, const char *name, uint64_t value);

/** Did the user set this field? */
bool fg_field_is_written(const struct fg_layer *layer, const char *name);

/** EtherType or, with LLC inside, the length of what follows (IEEE 802.3): a `finish`. */
void fg_layer_type_or_length(const struct fg_layer *layer, uint8_t *header, size_t length);

/** Write the bytes of the whole layer to the field "length": a `finish`. */
void fg_layer_length(const struct fg_layer *layer, uint8_t *header, size_t length);

/** Write the hop limit that the payload requires, if any, to a field of an IP. */
void fg_layer_hops(const struct fg_layer *layer, const char *field);

/** The layer whose addresses a pseudo-header takes: the IP that encloses @p layer; NULL: no IP. */
const struct fg_layer *fg_layer_network(const struct fg_layer *layer);

/**
 * Fill in "checksum" of a layer whose checksum covers itself and all it encloses and, by its scope, a
 * pseudo-header: a `finish`. Does nothing when the user has set it, or no IP encloses a layer that needs a
 * pseudo-header.
 */
void fg_layer_checksum(const struct fg_layer *layer, uint8_t *header, size_t length);

/** Bytes of the pseudo-header's addresses and where they are. @return NULL: no pseudo-header */
const struct fg_layer *fg_layer_pseudo(const struct fg_layer *layer);

/**
 * The extension header between a layer and its IP that can name another final destination. @return NULL: none
 */
const struct fg_layer *fg_layer_routing(const struct fg_layer *layer);

/** The destination in the pseudo-header: with segments left, the last segment (RFC 8200, 8.1). */
const uint8_t *fg_layer_destination(const struct fg_layer *layer);

/** The field programs of a template. */
static inline const struct fg_vary *
fg_template_programs(const struct fg_template *t)
{
	return (const struct fg_vary *)(const void *)(t->bytes + t->programs);
}

/** Bytes of the field programs behind @p length bytes of a template, with the padding before them. */
size_t fg_vary_memory(const struct fg_change *changes, unsigned count, size_t length);

/** Compute the offsets of the changes and their effect on checksums. The frame must be in the template. */
int fg_vary_compile(const struct fg_layer *layers, unsigned n, const struct fg_change *changes,
		    unsigned count, struct fg_template *t, struct fg_error *err);

/** Find the packet that a CRC seals, if there is one. The frame must be in the template. */
void fg_seal_compile(const struct fg_layer *layers, unsigned n, struct fg_template *t);

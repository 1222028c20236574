/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * Protocols as tables. One table per protocol has the fields of its header, their widths, their defaults, how
 * people write them, and what may stand inside. The same table builds headers (fg_frame.h), finds them again
 * in bytes (fg_dissect()), prints them, explains them (`framegauge help protocols`) and documents them.
 *
 * An outer protocol does not list what it may carry: each protocol has numbers in number spaces, such as
 * "ethertype" 0x0800, and an outer one names the space of its "next" field. So a protocol is added without
 * touching any other.
 *
 * A header may have fields that exist only with a flag (GRE's key), bytes to its end whose
 * number a length field gives, and options, which are small protocols of their own that lie in the header of
 * another one.
 */

struct fg_layer;

/** How a field's value is written. */
enum fg_kind {
	FG_KIND_NUMBER, /* 64 */
	FG_KIND_HEX,    /* 0x88b5; decimal is read, too */
	FG_KIND_FLAGS,  /* names of bits, as syn+ack */
	FG_KIND_MAC,    /* 02:00:00:00:00:01 */
	FG_KIND_IPV4,   /* 198.18.1.1 */
	FG_KIND_IPV6,   /* 2001:2::1 */
	FG_KIND_OCTETS, /* deadbeef */
};

/** A word for a value, or for a bit of a field of flags. A list ends with a NULL name. */
struct fg_value_name {
	const char *name;
	uint64_t value;
};

/** One header field. A list ends with a NULL name. */
struct fg_field {
	const char *name;
	/* from the start of the header with all its optional fields, most significant bit first */
	uint16_t bit;
	uint16_t width;  /* bits; 0: to the end of the header */
	uint64_t preset; /* of fields up to 64 bits */
	const char *help;
	enum fg_kind kind;
	bool computed; /* from the rest of the frame, unless it is set */
	const struct fg_value_name *names;
	/* present only if this earlier field has one of the bits in when_mask ... */
	const char *when;
	uint64_t when_mask; /* ... set; the header is then longer by its width; NULL: always present */
	uint64_t when_set;  /* bits that setting this field sets in `when` */
};

/** A protocol's numbers in a number space. A list ends with a NULL space. */
struct fg_place {
	const char *space;
	uint64_t first, last; /* last = 0: only `first`. `first` is written into an outer header */
};

/** What a checksum is computed over. */
enum fg_checksum_scope {
	FG_CHECKSUM_NONE,
	FG_CHECKSUM_HEADER,   /* this header */
	FG_CHECKSUM_ENCLOSED, /* this header and all it encloses */
	FG_CHECKSUM_PAYLOAD,  /* and the addresses of the enclosing IP */
};

/** A protocol. */
struct fg_protocol {
	const char *name;
	const char *title; /* its name, and its standard */
	/* bytes of the header with all optional fields, without options and bytes to the end */
	uint16_t size;
	const struct fg_field *fields;
	const char *main; /* the field set by a single value; NULL: no such field */

	const struct fg_place *places; /* its numbers in outer protocols; NULL: only where the user puts it */
	/* distinguishes it from others with the same number: */
	bool typed; /* its first field has a named value or, without names, the preset */
	bool (*is)(const uint8_t *header, size_t room); /* NULL: nothing else */

	const char *space;      /* number space of the payload; NULL: no inner protocol */
	const char *next_field; /* field with the payload's number; NULL: no field, the number is 0 */
	bool (*closed)(const uint8_t *header); /* the payload cannot be read (a fragment); NULL: it can */

	const char *length_field; /* of the header: octets = value * length_unit + length_base; NULL: fixed */
	uint16_t length_unit, length_base;
	void (*pad)(uint8_t *at, size_t octets); /* fills the header up to the unit; NULL: zeros */

	const char *option_space; /* of the options in this header; NULL: it has none */
	uint8_t option_bits;      /* bits of the number at the start of an option */
	const char *count_field;  /* field with the number of options; NULL: options end with the header */
	bool option;              /* is itself an option of the layer before it */

	enum fg_checksum_scope checksum_scope; /* of the field "checksum" */
	bool checksum_never_zero;              /* zero means no checksum */
	/* "checksum" is a CRC32c over this header and its payload, 12 bytes at least */
	bool sealed;
	uint8_t network;       /* 4, 6: an IP, with addresses for a pseudo-header */
	bool extension;        /* network layer without addresses: the outer IP has them */
	uint8_t unit;          /* header and payload are a multiple of this many bytes; 0: any */
	uint8_t hops;          /* hop limit that the enclosing IP must have; 0: any */
	uint64_t reserved_mac; /* destination MAC; 0: any */
	/** Of an extension: the final destination, for a pseudo-header. NULL: the network layer's. */
	const uint8_t *(*final)(const struct fg_layer *layer);
	/**
	 * Fill in further computed fields. Called from the innermost layer outwards, after the payload.
	 * @param header  this layer's first byte
	 * @param length  bytes from there to the end of the frame, without FCS
	 */
	void (*finish)(const struct fg_layer *layer, uint8_t *header, size_t length);
};

/** The protocols, in order. @return NULL behind the last */
const struct fg_protocol *fg_protocol_at(unsigned i);

/** @return NULL: no protocol has that name */
const struct fg_protocol *fg_protocol_find(const char *name);

/** Index of a field, -1: no field has that name. */
int fg_field_find(const struct fg_protocol *protocol, const char *name);

/**
 * Where a field stands in a given header.
 * @return bit from the start of the header; -1 when the header does not have it
 */
int fg_field_bit(const struct fg_protocol *protocol, const struct fg_field *field, const uint8_t *header);

/** Read @p width (up to 64) bits at bit @p bit. */
uint64_t fg_field_read(const uint8_t *header, unsigned bit, unsigned width);

/** Write the low @p width bits of @p value at bit @p bit. */
void fg_field_write(uint8_t *header, unsigned bit, unsigned width, uint64_t value);

/** Bytes of a header without options and bytes to its end. @return 0 when @p room does not hold it */
size_t fg_protocol_fixed(const struct fg_protocol *protocol, const uint8_t *header, size_t room);

/** A header that was found. */
struct fg_found {
	const struct fg_protocol *protocol;
	uint32_t offset, size; /* bytes; the size without the options, which are listed after it */
	bool padding;          /* unknown rest of the header before it, not a protocol */
};

/**
 * Find the headers in a frame.
 *
 * Ends at the first unknown header; the rest is payload.
 * @param first   name of the outermost protocol
 * @param length  bytes, without FCS
 * @return number of headers, at most @p max
 */
unsigned fg_dissect(const char *first, const uint8_t *frame, size_t length, struct fg_found *out,
		    unsigned max);

__END_DECLS

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
	FG_CHECKSUM_HEADER,   /* this header */
	FG_CHECKSUM_ENCLOSED, /* this header and all it encloses */
	FG_CHECKSUM_PAYLOAD,  /* and the addresses of the IP around it */
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
	bool extension;                        /* of the network layer: addresses are those further out */
	/**
	 * Fill in what depends on the rest. Called from the innermost layer outwards, when the payload is there.
	 * @param header  this layer's first octet
	 * @param length  octets from there to the end of the frame, without FCS
	 */
	void (*finish)(const struct fg_layer *layer, uint8_t *header, size_t length);
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
	const struct fg_layer *outer;    /* the enclosing one; NULL: outermost */
	uint64_t written;                /* bit i: fields[i] was set by the user and is left alone */
	const struct fg_protocol *inner; /* of the layer directly inside; NULL: none */
	uint8_t *header;                 /* in the template being made */
	uint8_t preset[64];
};

/** Every protocol there is; ends with NULL. */
extern const struct fg_protocol *const fg_protocols[];
extern const struct fg_protocol fg_protocol_arp, fg_protocol_destination_options, fg_protocol_ethernet,
	fg_protocol_fragment, fg_protocol_geneve, fg_protocol_gre, fg_protocol_gtpu, fg_protocol_hop_by_hop,
	fg_protocol_icmp, fg_protocol_icmpv6, fg_protocol_igmp, fg_protocol_ipv4, fg_protocol_ipv6,
	fg_protocol_llc, fg_protocol_mpls, fg_protocol_pause, fg_protocol_qinq, fg_protocol_sctp,
	fg_protocol_snap, fg_protocol_tcp, fg_protocol_udp, fg_protocol_vlan, fg_protocol_vxlan;

/** EtherTypes and IP protocol numbers of what may follow; shared by all that name them. */
extern const struct fg_next fg_next_ethertype[], fg_next_ip[];

const struct fg_protocol *fg_protocol_find(const char *name);

/** Index of a field, -1 when there is none of that name. */
int fg_field_find(const struct fg_protocol *protocol, const char *name);

/** Write the low @p width bits of @p value at bit @p bit. */
void fg_field_write(uint8_t *header, unsigned bit, unsigned width, uint64_t value);

/** Write a computed value, unless the user has set the field. */
void fg_field_fill(const struct fg_layer *layer, uint8_t *header, const char *name, uint64_t value);

/** Did the user set this field? */
bool fg_field_is_written(const struct fg_layer *layer, const char *name);

/** The layer whose addresses a pseudo-header takes: the IP that encloses @p layer; NULL: there is none. */
const struct fg_layer *fg_layer_network(const struct fg_layer *layer);

/**
 * Fill in "checksum" of a layer whose checksum covers a pseudo-header, itself and all it encloses. Does nothing when the
 * user has set it or no IP encloses the layer.
 * @param number  IP protocol number for the pseudo-header
 */
void fg_layer_transport_checksum(const struct fg_layer *layer, uint8_t *header, size_t length,
				 uint8_t number);

/** The same without pseudo-header. */
void fg_layer_plain_checksum(const struct fg_layer *layer, uint8_t *header, size_t length);

/** Work out where a change takes place and which checksums it touches. The layers' headers must be in @p frame. */
int fg_vary_compile(const struct fg_layer *layers, unsigned n, const struct fg_change *change,
		    const uint8_t *frame, struct fg_vary *out, struct fg_error *err);

#endif

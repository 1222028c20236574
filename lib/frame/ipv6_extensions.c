/* SPDX-License-Identifier: BSD-3-Clause */
/* Extension headers of IPv6 (RFC 8200) and their options. */
#include <string.h>

#include "frame_priv.h"

enum { PAD1 = 0, PADN = 1 };
enum { ROUTING_TYPE = 2, SEGMENTS_LEFT = 3, SEGMENT_ROUTING = 4, ADDRESS = 16 }; /* of a routing header */

/* one byte of padding, or two with the number of bytes behind them */
static void
pad(uint8_t *at, size_t octets)
{
	memset(at, PAD1, octets);
	if (octets < 2)
		return;
	at[0] = PADN;
	at[1] = (uint8_t)(octets - 2);
}

static const struct fg_field options_fields[] = {
	{"next_header", 0, 8, 253, "what is inside", .computed = true},
	{"length", 8, 8, 0, "in units of 8 bytes, without the first", .computed = true},
	{NULL},
};

#define OPTIONS_HEADER(number)                                                                     \
	.size = 2, .fields = options_fields, .places = FG_PLACES({"ip", number}), .space = "ip",   \
	.next_field = "next_header", .length_field = "length", .length_unit = 8, .length_base = 8, \
	.pad = pad, .option_space = "ipv6 option", .option_bits = 8, .extension = true

static const struct fg_protocol hop_by_hop = {
	.name = "hop_by_hop",
	.title = "hop-by-hop options of IPv6 (RFC 8200)",
	OPTIONS_HEADER(0),
};

static const struct fg_protocol destination_options = {
	.name = "destination_options",
	.title = "destination options of IPv6 (RFC 8200)",
	OPTIONS_HEADER(60),
};

static const struct fg_field routing_fields[] = {
	{"next_header", 0, 8, 253, "what is inside", .computed = true},
	{"length", 8, 8, 0, "in units of 8 bytes, without the first", .computed = true},
	{"type", 16, 8, 4, "4: segment routing (RFC 8754)"},
	{"segments_left", 24, 8, 0, "segments still to be visited"},
	{"last_entry", 32, 8, 0, "number of the last segment in the list", .computed = true},
	{"flags", 40, 8, 0, "flags", FG_KIND_HEX},
	{"tag", 48, 16, 0, "class of packets", FG_KIND_HEX},
	{"segments", 64, 0, 0, "the segments, the last first", FG_KIND_IPV6},
	{NULL},
};

/* in older types these bytes are reserved, or for address compression (RFC 6554) */
static void
finish_routing(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	bool segments = header[ROUTING_TYPE] == SEGMENT_ROUTING && layer->rest >= ADDRESS;

	fg_field_fill(layer, "last_entry", segments ? layer->rest / ADDRESS - 1u : 0);
}

/* segments are listed last first, addresses of older types in path order */
static const uint8_t *
final(const struct fg_layer *layer)
{
	const uint8_t *addresses = layer->header + layer->protocol->size;

	if (layer->header[SEGMENTS_LEFT] == 0 || layer->rest < ADDRESS)
		return NULL;
	return layer->header[ROUTING_TYPE] == SEGMENT_ROUTING ? addresses : addresses + layer->rest - ADDRESS;
}

static const struct fg_protocol routing = {
	.name = "routing",
	.title = "routing header of IPv6, for segments (RFC 8754)",
	.size = 8,
	.fields = routing_fields,
	.main = "segments",
	.places = FG_PLACES({"ip", 43}),
	.space = "ip",
	.next_field = "next_header",
	.length_field = "length",
	.length_unit = 8,
	.length_base = 8,
	.extension = true,
	.finish = finish_routing,
	.final = final,
};

static bool
later_fragment6(const uint8_t *header)
{
	return fg_field_read(header, 16, 13) != 0;
}

static const struct fg_protocol fragment = {
	.name = "fragment",
	.title = "fragment header of IPv6 (RFC 8200)",
	.size = 8,
	.fields = FG_FIELDS({"next_header", 0, 8, 253, "what is inside", .computed = true},
			    {"reserved", 8, 8, 0, "zero"}, {"offset", 16, 13, 0, "in units of 8 bytes"},
			    {"reserved2", 29, 2, 0, "zero"}, {"more", 31, 1, 0, "more fragments follow"},
			    {"id", 32, 32, 1, "identification", FG_KIND_HEX}),
	.places = FG_PLACES({"ip", 44}),
	.space = "ip",
	.next_field = "next_header",
	.closed = later_fragment6,
	.extension = true,
};

static const struct fg_protocol router_alert = {
	.name = "ipv6_router_alert",
	.title = "router alert, an option of IPv6 (RFC 2711)",
	.size = 4,
	.fields = FG_FIELDS({"kind", 0, 8, 5, "5"}, {"length", 8, 8, 2, "bytes that follow"},
			    {"value", 16, 16, 0, "0: multicast listener discovery, 1: RSVP"}),
	.main = "value",
	.places = FG_PLACES({"ipv6 option", 5}),
	.option = true,
};

static const struct fg_protocol any = {
	.name = "ipv6_option",
	.title = "any other option of IPv6 (RFC 8200)",
	.size = 2,
	.fields = FG_FIELDS({"kind", 0, 8, 0x1e, "which option; 0x1e: experimental (RFC 4727)", FG_KIND_HEX},
			    {"length", 8, 8, 0, "bytes of the data", .computed = true},
			    {"data", 16, 0, 0, "what it holds", FG_KIND_OCTETS}),
	.main = "data",
	.places = FG_PLACES({"ipv6 option", 0x1e}, {"ipv6 option", 1, 255}),
	.length_field = "length",
	.length_unit = 1,
	.length_base = 2,
	.option = true,
};

FG_PROTOCOLS(ipv6_extensions, &hop_by_hop, &destination_options, &routing, &fragment, &router_alert, &any);

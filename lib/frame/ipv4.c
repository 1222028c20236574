/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and its options. */
#include "frame_priv.h"

static const struct fg_value_name flags[] = {{"mf", 1}, {"df", 2}, {"reserved", 4}, {NULL, 0}};

static const struct fg_field fields[] = {
	{"version", 0, 4, 4, "always 4"},
	{"header_length", 4, 4, 5, "in words of 4 bytes", .computed = true},
	{"dscp", 8, 6, 0, "differentiated services code point"},
	{"ecn", 14, 2, 0, "explicit congestion notification"},
	{"length", 16, 16, 0, "total length", .computed = true},
	{"id", 32, 16, 0, "identification"},
	{"flags", 48, 3, 0, "don't fragment, more fragments", FG_KIND_FLAGS, .names = flags},
	{"fragment_offset", 51, 13, 0, "in units of 8 bytes"},
	{"ttl", 64, 8, 10, "time to live; 10 as RFC 2544, C.2.6.4 has it"},
	{"protocol", 72, 8, 253, "what is inside, else 253 (RFC 3692 experimental)", .computed = true},
	{"checksum", 80, 16, 0, "header checksum", FG_KIND_HEX, true},
	{"source", 96, 32, 0, "source address", FG_KIND_IPV4},
	{"destination", 128, 32, 0, "destination address", FG_KIND_IPV4},
	{NULL},
};

static bool
later_fragment(const uint8_t *header)
{
	return fg_field_read(header, 51, 13) != 0;
}

static void
ipv4_finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, "length", length);
	fg_layer_hops(layer, "ttl");
}

static const struct fg_protocol ipv4 = {
	.name = "ipv4",
	.title = "IPv4 (RFC 791)",
	.size = 20,
	.fields = fields,
	.places = FG_PLACES({"ethertype", 0x800}, {"ip", 4}, {"mpls", 1}, {"gtpu", 255}, {"unreachable", 0}),
	.typed = true,
	.space = "ip",
	.next_field = "protocol",
	.closed = later_fragment,
	.length_field = "header_length",
	.length_unit = 4,
	.option_space = "ipv4 option",
	.option_bits = 8,
	.checksum_scope = FG_CHECKSUM_HEADER,
	.network = 4,
	.finish = ipv4_finish,
};

static const struct fg_protocol router_alert = {
	.name = "ipv4_router_alert",
	.title = "router alert, an option of IPv4 (RFC 2113)",
	.size = 4,
	.fields = FG_FIELDS({"kind", 0, 8, 148, "148"}, {"length", 8, 8, 4, "bytes of the option"},
			    {"value", 16, 16, 0, "0: every router looks at the packet"}),
	.main = "value",
	.places = FG_PLACES({"ipv4 option", 148}),
	.option = true,
};

static const struct fg_protocol record_route = {
	.name = "ipv4_record_route",
	.title = "record route, an option of IPv4 (RFC 791)",
	.size = 3,
	.fields = FG_FIELDS({"kind", 0, 8, 7, "7"},
			    {"length", 8, 8, 3, "bytes of the option", .computed = true},
			    {"pointer", 16, 8, 4, "where the next address goes"},
			    {"route", 24, 0, 0, "room for addresses", FG_KIND_IPV4}),
	.main = "route",
	.places = FG_PLACES({"ipv4 option", 7}),
	.length_field = "length",
	.length_unit = 1,
	.option = true,
};

static const struct fg_protocol nop = {
	.name = "ipv4_nop",
	.title = "no operation, an option of IPv4 (RFC 791)",
	.size = 1,
	.fields = FG_FIELDS({"kind", 0, 8, 1, "1"}),
	.places = FG_PLACES({"ipv4 option", 1}),
	.option = true,
};

static const struct fg_protocol any = {
	.name = "ipv4_option",
	.title = "any other option of IPv4 (RFC 791)",
	.size = 2,
	.fields = FG_FIELDS({"kind", 0, 8, 0x9e, "which option; 0x9e: experimental (RFC 4727)", FG_KIND_HEX},
			    {"length", 8, 8, 2, "bytes of the option", .computed = true},
			    {"data", 16, 0, 0, "what it holds", FG_KIND_OCTETS}),
	.main = "data",
	.places = FG_PLACES({"ipv4 option", 0x9e}, {"ipv4 option", 2, 255}),
	.length_field = "length",
	.length_unit = 1,
	.option = true,
};

FG_PROTOCOLS(ipv4, &ipv4, &router_alert, &record_route, &nop, &any);

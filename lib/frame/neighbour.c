/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbor Discovery (RFC 4861): ICMPv6 messages with the link-layer address option. */
#include "frame_priv.h"

static const struct fg_field solicitation_fields[] = {
	{"type", 0, 8, 135, "neighbor solicitation"},
	{"code", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"reserved", 32, 32, 0, "zero"},
	{"target", 64, 128, 0, "whose MAC is asked for", FG_KIND_IPV6},
	{NULL},
};

static const struct fg_value_name flags[] = {{"override", 1}, {"solicited", 2}, {"router", 4}, {NULL, 0}};

static const struct fg_field advertisement_fields[] = {
	{"type", 0, 8, 136, "neighbor advertisement"},
	{"code", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"flags", 32, 3, 3, "router, solicited, override", FG_KIND_FLAGS, .names = flags},
	{"reserved", 35, 29, 0, "zero"},
	{"target", 64, 128, 0, "whose MAC is told", FG_KIND_IPV6},
	{NULL},
};

static bool
is_address(const uint8_t *header, size_t room)
{
	return (header[0] == 1 || header[0] == 2) && header[1] == 1;
}

static const struct fg_place places[] = {{"ip", 58}, {NULL}};

static const struct fg_protocol solicitation = {
	.name = "neighbour_solicitation",
	.title = "Neighbor Solicitation (RFC 4861, 4.3)",
	.size = 24,
	.fields = solicitation_fields,
	.main = "target",
	.places = places,
	.typed = true,
	.space = "neighbour option",
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.hops = 255,
};

static const struct fg_protocol advertisement = {
	.name = "neighbour_advertisement",
	.title = "Neighbor Advertisement (RFC 4861, 4.4)",
	.size = 24,
	.fields = advertisement_fields,
	.main = "target",
	.places = places,
	.typed = true,
	.space = "neighbour option",
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.hops = 255,
};

static const struct fg_protocol address = {
	.name = "neighbour_address",
	.title = "link-layer address, an option of Neighbor Discovery (RFC 4861, 4.6.1)",
	.size = 8,
	.fields = FG_FIELDS({"type", 0, 8, 1, "1: of the source, 2: of the target"},
			    {"length", 8, 8, 1, "in units of 8 bytes"},
			    {"mac", 16, 48, 0, "the address", FG_KIND_MAC}),
	.main = "mac",
	.places = FG_PLACES({"neighbour option", 0}),
	.is = is_address,
};

FG_PROTOCOLS(neighbour, &solicitation, &advertisement, &address);

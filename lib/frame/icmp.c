/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP: echo, and errors, which quote a packet. */
#include "frame_priv.h"

static const struct fg_value_name echo_types[] = {{"reply", 0}, {"request", 8}, {NULL, 0}};

static const struct fg_value_name error_types[] = {
	{"unreachable", 3},    {"source_quench", 4}, {"redirect", 5},
	{"time_exceeded", 11}, {"parameter", 12},    {NULL, 0},
};

static const struct fg_place places[] = {{"ip", 1}, {NULL}};

static const struct fg_protocol echo = {
	.name = "icmp",
	.title = "ICMP echo (RFC 792)",
	.size = 8,
	.fields = FG_FIELDS({"type", 0, 8, 8, "kind of message", .names = echo_types},
			    {"code", 8, 8, 0, "zero"},
			    {"checksum", 16, 16, 0, "over header and payload", FG_KIND_HEX, true},
			    {"id", 32, 16, 1, "identifier"}, {"sequence", 48, 16, 1, "sequence number"}),
	.main = "type",
	.places = places,
	.typed = true,
	.checksum_scope = FG_CHECKSUM_ENCLOSED,
};

static const struct fg_protocol error = {
	.name = "icmp_error",
	.title = "ICMP errors, with a packet inside (RFC 792)",
	.size = 8,
	.fields = FG_FIELDS({"type", 0, 8, 3, "kind of error", .names = error_types},
			    {"code", 8, 8, 0, "of the type"},
			    {"checksum", 16, 16, 0, "over header and payload", FG_KIND_HEX, true},
			    {"rest", 32, 32, 0, "unused, next-hop MTU, gateway, pointer", FG_KIND_HEX}),
	.main = "type",
	.places = places,
	.typed = true,
	.space = "unreachable",
	.checksum_scope = FG_CHECKSUM_ENCLOSED,
};

FG_PROTOCOLS(icmp, &echo, &error);

/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6: echo, and errors, which quote a packet. */
#include "frame_priv.h"

static const struct fg_value_name echo_types[] = {{"request", 128}, {"reply", 129}, {NULL, 0}};

static const struct fg_field echo_fields[] = {
	{"type", 0, 8, 128, "kind of message", .names = echo_types},
	{"code", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"id", 32, 16, 1, "identifier"},
	{"sequence", 48, 16, 1, "sequence number"},
	{NULL},
};

static const struct fg_value_name error_types[] = {
	{"unreachable", 1}, {"too_big", 2}, {"time_exceeded", 3}, {"parameter", 4}, {NULL, 0},
};

static const struct fg_field error_fields[] = {
	{"type", 0, 8, 1, "kind of error", .names = error_types},
	{"code", 8, 8, 0, "of the type"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"rest", 32, 32, 0, "unused, MTU, pointer", FG_KIND_HEX},
	{NULL},
};

static const struct fg_place places[] = {{"ip", 58}, {NULL}};

static const struct fg_protocol echo = {
	.name = "icmpv6",
	.title = "ICMPv6 echo (RFC 4443)",
	.size = 8,
	.fields = echo_fields,
	.main = "type",
	.places = places,
	.typed = true,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
};

static const struct fg_protocol error = {
	.name = "icmpv6_error",
	.title = "ICMPv6 errors, with a packet inside (RFC 4443)",
	.size = 8,
	.fields = error_fields,
	.main = "type",
	.places = places,
	.typed = true,
	.space = "unreachable6",
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
};

FG_PROTOCOLS(icmp6, &echo, &error);

/* SPDX-License-Identifier: BSD-3-Clause */
/* GRE (RFC 2784) with key and sequence number (RFC 2890). Setting one of the optional fields sets its
 * flag. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"checksum_present", 0, 1, 0, "there is a checksum"},
	{"reserved", 1, 1, 0, "zero"},
	{"key_present", 2, 1, 0, "there is a key"},
	{"sequence_present", 3, 1, 0, "there is a sequence number"},
	{"reserved2", 4, 9, 0, "zero"},
	{"version", 13, 3, 0, "version"},
	{"type", 16, 16, 0x88b5, "EtherType of what is inside", FG_KIND_HEX, true},
	{"checksum", 32, 16, 0, "over header and payload", FG_KIND_HEX, true, .when = "checksum_present",
	 .when_mask = 1, .when_set = 1},
	{"offset", 48, 16, 0, "zero", .when = "checksum_present", .when_mask = 1, .when_set = 1},
	{"key", 64, 32, 0, "which flow", .when = "key_present", .when_mask = 1, .when_set = 1},
	{"sequence", 96, 32, 0, "sequence number", .when = "sequence_present", .when_mask = 1, .when_set = 1},
	{NULL},
};

static const struct fg_protocol gre = {
	.name = "gre",
	.title = "GRE (RFC 2784, RFC 2890)",
	.size = 16,
	.fields = fields,
	.main = "key",
	.places = FG_PLACES({"ip", 47}, {"udp port", 4754}),
	.space = "ethertype",
	.next_field = "type",
	.checksum_scope = FG_CHECKSUM_ENCLOSED,
};

FG_PROTOCOLS(gre, &gre);

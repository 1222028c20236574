/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP, stateless: a header, not a connection. */
#include "frame_priv.h"

static const struct fg_value_name flags[] = {
	{"fin", 1},  {"syn", 2},  {"rst", 4},   {"psh", 8}, {"ack", 16},
	{"urg", 32}, {"ece", 64}, {"cwr", 128}, {NULL, 0},
};

static const struct fg_field fields[] = {
	{"source", 0, 16, 1024, "source port"},
	{"destination", 16, 16, 80, "destination port"},
	{"sequence", 32, 32, 1, "sequence number"},
	{"acknowledgment", 64, 32, 0, "acknowledgment number"},
	{"header_length", 96, 4, 5, "in words of 4 bytes", .computed = true},
	{"reserved", 100, 4, 0, "zero"},
	{"flags", 104, 8, 16, "control bits", FG_KIND_FLAGS, .names = flags},
	{"window", 112, 16, 0xffff, "window"},
	{"checksum", 128, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"urgent", 144, 16, 0, "urgent pointer"},
	{NULL},
};

static const struct fg_protocol tcp = {
	.name = "tcp",
	.title = "TCP (RFC 9293)",
	.size = 20,
	.fields = fields,
	.main = "destination",
	.places = FG_PLACES({"ip", 6}),
	.length_field = "header_length",
	.length_unit = 4,
	.option_space = "tcp option",
	.option_bits = 8,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
};

FG_PROTOCOLS(tcp, &tcp);

/* SPDX-License-Identifier: BSD-3-Clause */
/* GENEVE and its options. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 2, 0, "version"},
	{"option_length", 2, 6, 0, "in units of 4 bytes", .computed = true},
	{"control", 8, 1, 0, "control packet"},
	{"critical", 9, 1, 0, "critical options present"},
	{"reserved", 10, 6, 0, "zero"},
	{"type", 16, 16, 0x6558, "EtherType of what is inside", FG_KIND_HEX, true},
	{"vni", 32, 24, 1, "virtual network"},
	{"reserved2", 56, 8, 0, "zero"},
	{NULL},
};

static const struct fg_protocol geneve = {
	.name = "geneve",
	.title = "GENEVE (RFC 8926)",
	.size = 8,
	.fields = fields,
	.main = "vni",
	.places = FG_PLACES({"udp port", 6081}),
	.space = "ethertype",
	.next_field = "type",
	.length_field = "option_length",
	.length_unit = 4,
	.length_base = 8,
	.option_space = "geneve option",
	.option_bits = 24,
};

static const struct fg_field option_fields[] = {
	{"class", 0, 16, 0xffff, "the organization that defined it; 0xffff: experimental", FG_KIND_HEX},
	{"type", 16, 8, 1, "which option", FG_KIND_HEX},
	{"reserved", 24, 3, 0, "zero"},
	{"length", 27, 5, 0, "of the data in units of 4 bytes", .computed = true},
	{"data", 32, 0, 0, "what it holds, padded to units of 4 bytes", FG_KIND_OCTETS},
	{NULL},
};

static const struct fg_protocol option = {
	.name = "geneve_option",
	.title = "an option of GENEVE (RFC 8926)",
	.size = 4,
	.fields = option_fields,
	.main = "data",
	.places = FG_PLACES({"geneve option", 0xffff01}, {"geneve option", 0, 0xffffff}),
	.length_field = "length",
	.length_unit = 4,
	.length_base = 4,
	.option = true,
};

FG_PROTOCOLS(geneve, &geneve, &option);

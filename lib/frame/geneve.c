/* SPDX-License-Identifier: BSD-3-Clause */
/* GENEVE without options (RFC 8926). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 2, 0, "version"},
	{"option_length", 2, 6, 0, "in units of 4 octets"},
	{"control", 8, 1, 0, "control packet"},
	{"critical", 9, 1, 0, "critical options present"},
	{"type", 16, 16, 0x6558, "EtherType of what is inside"},
	{"vni", 32, 24, 1, "virtual network"},
	{"reserved", 56, 8, 0, "zero"},
	{NULL},
};

const struct fg_protocol fg_protocol_geneve = {
	.name = "geneve",
	.size = 8,
	.fields = fields,
	.next_field = "type",
	.next = fg_next_ethertype,
};

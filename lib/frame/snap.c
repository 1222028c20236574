/* SPDX-License-Identifier: BSD-3-Clause */
/* Subnetwork access protocol (IEEE 802), inside LLC. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"oui", 0, 24, 0, "organisation; 0: the type is an EtherType"},
	{"type", 24, 16, 0x88b5, "what is inside"},
	{NULL},
};

const struct fg_protocol fg_protocol_snap = {
	.name = "snap",
	.size = 5,
	.fields = fields,
	.next_field = "type",
	.next = fg_next_ethertype,
};

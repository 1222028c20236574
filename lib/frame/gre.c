/* SPDX-License-Identifier: BSD-3-Clause */
/* GRE without optional fields (RFC 2784). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"flags", 0, 13, 0, "checksum, key and sequence present, and reserved bits"},
	{"version", 13, 3, 0, "version"},
	{"type", 16, 16, 0x88b5, "EtherType of what is inside"},
	{NULL},
};

const struct fg_protocol fg_protocol_gre = {
	.name = "gre",
	.size = 4,
	.fields = fields,
	.next_field = "type",
	.next = fg_next_ethertype,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMPv2 (RFC 2236). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"type", 0, 8, 22, "0x16 report, 0x11 query, 0x17 leave"},
	{"max_response", 8, 8, 0, "of a query, tenths of a second"},
	{"checksum", 16, 16, 0, "computed"},
	{"group", 32, 32, 0xe0000001, "multicast group"},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_layer_plain_checksum(layer, header, length);
}

const struct fg_protocol fg_protocol_igmp = {
	.name = "igmp",
	.size = 8,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_ENCLOSED,
	.finish = finish,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP (RFC 792), with the identifier and sequence of an echo. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"type", 0, 8, 8, "8 echo request"},        {"code", 8, 8, 0, "code"},
	{"checksum", 16, 16, 0, "computed"},        {"id", 32, 16, 1, "identifier"},
	{"sequence", 48, 16, 1, "sequence number"}, {NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_layer_plain_checksum(layer, header, length);
}

const struct fg_protocol fg_protocol_icmp = {
	.name = "icmp",
	.size = 8,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_ENCLOSED,
	.finish = finish,
};

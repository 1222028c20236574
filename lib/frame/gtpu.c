/* SPDX-License-Identifier: BSD-3-Clause */
/* GTP-U without optional fields (3GPP TS 29.281). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 3, 1, "version"},
	{"protocol", 3, 1, 1, "1: GTP"},
	{"flags", 5, 3, 0, "extension, sequence and N-PDU number present"},
	{"type", 8, 8, 255, "255: a packet inside"},
	{"length", 16, 16, 0, "octets after the header; computed"},
	{"teid", 32, 32, 1, "tunnel"},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, header, "length", length - layer->protocol->size);
}

const struct fg_protocol fg_protocol_gtpu = {
	.name = "gtpu",
	.size = 8,
	.fields = fields,
	.finish = finish,
};

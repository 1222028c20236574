/* SPDX-License-Identifier: BSD-3-Clause */
#include "fg_net.h"
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"dst", 0, 48, 0, "destination MAC"},
	{"src", 48, 48, 0, "source MAC"},
	{"type", 96, 16, 0x88b5,
	 "EtherType; follows from what is inside, else 0x88b5 (IEEE 802 local experimental)"},
	{NULL},
};

/* IEEE 802.3: with LLC inside, the type is the length of what follows */
static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	if (layer->inner == &fg_protocol_llc)
		fg_field_fill(layer, header, "type", length - layer->protocol->size);
}

const struct fg_protocol fg_protocol_ethernet = {
	.name = "ethernet",
	.size = sizeof(struct fg_ether),
	.next_field = "type",
	.next = fg_next_ethertype,
	.fields = fields,
	.finish = finish,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768). */
#include "fg_net.h"
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"src", 0, 16, 0xc020, "source port; 0xc020 as RFC 2544, C.2.6.4 has it"},
	{"dst", 16, 16, 7, "destination port; echo"},
	{"length", 32, 16, 0, "computed"},
	{"checksum", 48, 16, 0,
	 "computed over the pseudo-header and payload; 0 if set so: none, as RFC 2544 has it"},
	{NULL},
};

/* tunnels are known by their port */
static const struct fg_next next[] = {
	{"vxlan", 4789},
	{"geneve", 6081},
	{"gtpu", 2152},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, header, "length", length);
	fg_layer_transport_checksum(layer, header, length, FG_IP_UDP);
}

const struct fg_protocol fg_protocol_udp = {
	.name = "udp",
	.size = 8,
	.next_field = "dst",
	.next = next,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.checksum_never_zero = true,
	.finish = finish,
};

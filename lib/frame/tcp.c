/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP without options (RFC 9293), stateless: a header, not a connection. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"src", 0, 16, 0x400, "source port"},
	{"dst", 16, 16, 80, "destination port"},
	{"sequence", 32, 32, 1, "sequence number"},
	{"acknowledgment", 64, 32, 0, "acknowledgment number"},
	{"offset", 96, 4, 5, "header length in 32-bit words"},
	{"flags", 104, 8, 16, "CWR ECE URG ACK PSH RST SYN FIN"},
	{"window", 112, 16, 0xffff, "window"},
	{"checksum", 128, 16, 0, "computed"},
	{"urgent", 144, 16, 0, "urgent pointer"},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_layer_transport_checksum(layer, header, length, 6);
}

const struct fg_protocol fg_protocol_tcp = {
	.name = "tcp",
	.size = 20,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.finish = finish,
};

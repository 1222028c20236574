/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768). */
#include <arpa/inet.h>
#include <string.h>

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

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length, const struct fg_layer *outer)
{
	uint16_t checksum;

	fg_field_fill(layer, header, "length", length);
	if (fg_field_is_written(layer, "checksum") || outer == NULL ||
	    strcmp(outer->protocol->name, "ipv4") != 0)
		return;
	checksum = fg_checksum_finish(fg_checksum_add(
		fg_checksum_pseudo4((struct fg_ipv4 *)outer->header, FG_IP_UDP, (uint16_t)length), header,
		length));
	/* a computed zero is sent as all ones, since zero says "none" */
	fg_field_fill(layer, header, "checksum", checksum == 0 ? 0xffff : ntohs(checksum));
}

const struct fg_protocol fg_protocol_udp = {
	.name = "udp",
	.size = 8,
	.fields = fields,
	.finish = finish,
};

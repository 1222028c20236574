/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768). */
#include <arpa/inet.h>

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

/* sum of the pseudo-header; false: what encloses us has none */
static bool
pseudo_header(const struct fg_layer *outer, uint32_t length, uint64_t *sum)
{
	if (outer != NULL && outer->protocol == &fg_protocol_ipv4)
		*sum = fg_checksum_pseudo4((struct fg_ipv4 *)outer->header, FG_IP_UDP, (uint16_t)length);
	else if (outer != NULL && outer->protocol == &fg_protocol_ipv6)
		*sum = fg_checksum_pseudo6((struct fg_ipv6 *)outer->header, FG_IP_UDP, length);
	else
		return false;
	return true;
}

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length, const struct fg_layer *outer)
{
	uint16_t checksum;
	uint64_t sum;

	fg_field_fill(layer, header, "length", length);
	if (fg_field_is_written(layer, "checksum") || !pseudo_header(outer, (uint32_t)length, &sum))
		return;
	checksum = fg_checksum_finish(fg_checksum_add(sum, header, length));
	/* a computed zero is sent as all ones, since zero says "none" */
	fg_field_fill(layer, header, "checksum", checksum == 0 ? 0xffff : ntohs(checksum));
}

const struct fg_protocol fg_protocol_udp = {
	.name = "udp",
	.size = 8,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.checksum_never_zero = true,
	.finish = finish,
};

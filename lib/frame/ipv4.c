/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 without options (RFC 791). */
#include <arpa/inet.h>

#include "fg_net.h"
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 4, 4, "always 4"},
	{"ihl", 4, 4, 5, "header length in 32-bit words"},
	{"tos", 8, 8, 0, "DSCP and ECN"},
	{"length", 16, 16, 0, "total length; computed"},
	{"id", 32, 16, 0, "identification"},
	{"flags", 48, 3, 0, "reserved, DF, MF"},
	{"fragment_offset", 51, 13, 0, "in units of 8 octets"},
	{"ttl", 64, 8, 10, "time to live; 10 as RFC 2544, C.2.6.4 has it"},
	{"protocol", 72, 8, 253, "follows from what is inside, else 253 (RFC 3692 experimental)"},
	{"checksum", 80, 16, 0, "header checksum; computed"},
	{"src", 96, 32, 0, "source address"},
	{"dst", 128, 32, 0, "destination address"},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, header, "length", length);
	if (!fg_field_is_written(layer, "checksum"))
		((struct fg_ipv4 *)header)->checksum =
			fg_checksum_finish(fg_checksum_add(0, header, sizeof(struct fg_ipv4)));
}

const struct fg_protocol fg_protocol_ipv4 = {
	.name = "ipv4",
	.size = sizeof(struct fg_ipv4),
	.next_field = "protocol",
	.next = fg_next_ip,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_HEADER,
	.finish = finish,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 without extension headers (RFC 8200). */
#include "fg_net.h"
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 4, 6, "always 6"},
	{"traffic_class", 4, 8, 0, "DSCP and ECN"},
	{"flow_label", 12, 20, 0, "flow label"},
	{"length", 32, 16, 0, "payload length; computed"},
	{"next_header", 48, 8, 253, "follows from what is inside, else 253 (RFC 3692 experimental)"},
	{"hop_limit", 56, 8, 10, "as the time to live of RFC 2544's IPv4 frame"},
	{"src", 64, 128, 0, "source address"},
	{"dst", 192, 128, 0, "destination address"},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, header, "length", length - sizeof(struct fg_ipv6));
}

const struct fg_protocol fg_protocol_ipv6 = {
	.name = "ipv6",
	.size = sizeof(struct fg_ipv6),
	.next_field = "next_header",
	.next = fg_next_ip,
	.fields = fields,
	.finish = finish,
};

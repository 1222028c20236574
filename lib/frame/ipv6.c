/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"version", 0, 4, 6, "always 6"},
	{"dscp", 4, 6, 0, "differentiated services code point"},
	{"ecn", 10, 2, 0, "explicit congestion notification"},
	{"flow_label", 12, 20, 0, "flow label"},
	{"length", 32, 16, 0, "payload length", .computed = true},
	{"next_header", 48, 8, 253, "what is inside, else 253 (RFC 3692 experimental)", .computed = true},
	{"hop_limit", 56, 8, 10, "as the time to live of RFC 2544's IPv4 frame"},
	{"source", 64, 128, 0, "source address", FG_KIND_IPV6},
	{"destination", 192, 128, 0, "destination address", FG_KIND_IPV6},
	{NULL},
};

static void
ipv6_finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, "length", length - layer->size);
	fg_layer_hops(layer, "hop_limit");
}

static const struct fg_protocol ipv6 = {
	.name = "ipv6",
	.title = "IPv6 (RFC 8200)",
	.size = 40,
	.fields = fields,
	.places =
		FG_PLACES({"ethertype", 0x86dd}, {"ip", 41}, {"mpls", 1}, {"gtpu", 255}, {"unreachable6", 0}),
	.typed = true,
	.space = "ip",
	.next_field = "next_header",
	.network = 6,
	.finish = ipv6_finish,
};

FG_PROTOCOLS(ipv6, &ipv6);

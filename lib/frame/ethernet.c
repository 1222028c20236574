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

static const struct fg_next next[] = {
	{"ipv4", FG_ETHER_IPV4},
	{"ipv6", FG_ETHER_IPV6},
	{"vlan", FG_ETHER_VLAN},
	{NULL},
};

const struct fg_protocol fg_protocol_ethernet = {
	.name = "ethernet",
	.size = sizeof(struct fg_ether),
	.next_field = "type",
	.next = next,
	.fields = fields,
};

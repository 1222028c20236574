/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet II, and IEEE 802.3, which has a length in place of the type, and LLC inside. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"destination", 0, 48, 0, "destination MAC", FG_KIND_MAC},
	{"source", 48, 48, 0, "source MAC", FG_KIND_MAC},
	{"type", 96, 16, 0x88b5,
	 "EtherType of what is inside, the length before LLC, else 0x88b5 (IEEE 802 local experimental)",
	 FG_KIND_HEX, true},
	{NULL},
};

/* MPLS has no payload type: a payload without an IP version is taken for a frame */
static const struct fg_place places[] = {
	{"ethertype", 0x6558},              /* transparent Ethernet bridging, as GRE and GENEVE carry it */
	{"vxlan", 0},          {"ip", 143}, /* RFC 8986 */
	{"mpls", 1},           {NULL},
};

static const struct fg_protocol ethernet = {
	.name = "ethernet",
	.title = "Ethernet (IEEE 802.3)",
	.size = 14,
	.fields = fields,
	.places = places,
	.space = "ethertype",
	.next_field = "type",
	.finish = fg_layer_type_or_length,
};

FG_PROTOCOLS(ethernet, &ethernet);

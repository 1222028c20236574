/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLAN tags (IEEE 802.1Q), and the service tag of provider bridges, which differs in its EtherType. A tag
 * stands between the MAC addresses and the EtherType, so as a layer of its own it begins after the EtherType
 * of what encloses it and ends with the EtherType of what it encloses. Tags may be stacked to any depth.
 */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"priority", 0, 3, 0, "priority code point"},
	{"drop_eligible", 3, 1, 0, "drop eligible indicator"},
	{"id", 4, 12, 1, "VLAN"},
	{"type", 16, 16, 0x88b5, "EtherType of what is inside, or the length before LLC", FG_KIND_HEX, true},
	{NULL},
};

static const struct fg_protocol vlan = {
	.name = "vlan",
	.title = "VLAN tag (IEEE 802.1Q)",
	.size = 4,
	.fields = fields,
	.main = "id",
	.places = FG_PLACES({"ethertype", 0x8100}),
	.space = "ethertype",
	.next_field = "type",
	.finish = fg_layer_type_or_length,
};

static const struct fg_protocol qinq = {
	.name = "qinq",
	.title = "service VLAN tag (IEEE 802.1ad)",
	.size = 4,
	.fields = fields,
	.main = "id",
	.places = FG_PLACES({"ethertype", 0x88a8}),
	.space = "ethertype",
	.next_field = "type",
	.finish = fg_layer_type_or_length,
};

FG_PROTOCOLS(vlan, &vlan, &qinq);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A VLAN tag (IEEE 802.1Q), and the service tag of provider bridges, which differs in its EtherType. It stands between the MAC addresses and the EtherType, so as a layer of its own it
 * begins after the EtherType 0x8100 of what encloses it and ends with the EtherType of what it encloses.
 */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"pcp", 0, 3, 0, "priority"},
	{"dei", 3, 1, 0, "drop eligible"},
	{"id", 4, 12, 1, "VLAN"},
	{"type", 16, 16, 0x88b5, "EtherType of what is inside"},
	{NULL},
};

const struct fg_protocol fg_protocol_vlan = {
	.name = "vlan",
	.size = 4,
	.next_field = "type",
	.next = fg_next_ethertype,
	.fields = fields,
};

const struct fg_protocol fg_protocol_qinq = {
	.name = "qinq",
	.size = 4,
	.next_field = "type",
	.next = fg_next_ethertype,
	.fields = fields,
};

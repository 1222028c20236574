/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-by-hop and destination options of IPv6 (RFC 8200): two headers of one form, here filled with padding. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"next_header", 0, 8, 253, "follows from what is inside"},
	{"length", 8, 8, 0, "in units of 8 octets, without the first"},
	{"padding", 16, 48, 0x010400000000, "PadN of six octets"},
	{NULL},
};

const struct fg_protocol fg_protocol_hop_by_hop = {
	.name = "hop_by_hop",
	.size = 8,
	.fields = fields,
	.next_field = "next_header",
	.next = fg_next_ip,
	.extension = true,
};

const struct fg_protocol fg_protocol_destination_options = {
	.name = "destination_options",
	.size = 8,
	.fields = fields,
	.next_field = "next_header",
	.next = fg_next_ip,
	.extension = true,
};

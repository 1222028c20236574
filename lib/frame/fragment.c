/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragment header of IPv6 (RFC 8200). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"next_header", 0, 8, 253, "follows from what is inside"},
	{"reserved", 8, 8, 0, "zero"},
	{"offset", 16, 13, 0, "in units of 8 octets"},
	{"more", 31, 1, 0, "more fragments follow"},
	{"id", 32, 32, 1, "identification"},
	{NULL},
};

const struct fg_protocol fg_protocol_fragment = {
	.name = "fragment",
	.size = 8,
	.fields = fields,
	.next_field = "next_header",
	.next = fg_next_ip,
	.extension = true,
};

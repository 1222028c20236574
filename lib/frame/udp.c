/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"source", 0, 16, 0xc020, "source port; 49184 as RFC 2544, C.2.6.4 has it"},
	{"destination", 16, 16, 7, "destination port; the tunnel's port if one is inside, else echo",
	 .computed = true},
	{"length", 32, 16, 0, "of header and payload", .computed = true},
	{"checksum", 48, 16, 0, "over pseudo-header, header and payload; 0: none", FG_KIND_HEX, true},
	{NULL},
};

static const struct fg_protocol udp = {
	.name = "udp",
	.title = "UDP (RFC 768)",
	.size = 8,
	.fields = fields,
	.main = "destination",
	.places = FG_PLACES({"ip", 17}),
	.space = "udp port",
	.next_field = "destination",
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.checksum_never_zero = true,
	.finish = fg_layer_length,
};

FG_PROTOCOLS(udp, &udp);

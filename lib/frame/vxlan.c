/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"flags", 0, 8, 8, "8: the VNI is valid", FG_KIND_HEX},
	{"reserved", 8, 24, 0, "zero"},
	{"vni", 32, 24, 1, "virtual network"},
	{"reserved2", 56, 8, 0, "zero"},
	{NULL},
};

static const struct fg_protocol vxlan = {
	.name = "vxlan",
	.title = "VXLAN (RFC 7348)",
	.size = 8,
	.fields = fields,
	.main = "vni",
	.places = FG_PLACES({"udp port", 4789}),
	.space = "vxlan",
};

FG_PROTOCOLS(vxlan, &vxlan);

/* SPDX-License-Identifier: BSD-3-Clause */
/* VXLAN (RFC 7348). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"flags", 0, 8, 8, "8: the VNI is valid"},
	{"reserved", 8, 24, 0, "zero"},
	{"vni", 32, 24, 1, "virtual network"},
	{"reserved2", 56, 8, 0, "zero"},
	{NULL},
};

const struct fg_protocol fg_protocol_vxlan = {
	.name = "vxlan",
	.size = 8,
	.fields = fields,
};

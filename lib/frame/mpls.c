/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPLS label (RFC 3032). Which one is the last is seen from what follows. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"label", 0, 20, 16, "label"},
	{"tc", 20, 3, 0, "traffic class"},
	{"bottom", 23, 1, 1, "bottom of the stack; 0 when another label follows"},
	{"ttl", 24, 8, 64, "time to live"},
	{NULL},
};

static const struct fg_next next[] = {
	{"mpls", 0},
	{NULL},
};

const struct fg_protocol fg_protocol_mpls = {
	.name = "mpls",
	.size = 4,
	.fields = fields,
	.next_field = "bottom",
	.next = next,
};

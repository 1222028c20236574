/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPLS label (RFC 3032). The next layer determines the bottom of the stack. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"label", 0, 20, 16, "label"},
	{"traffic_class", 20, 3, 0, "traffic class (RFC 5462)"},
	{"bottom", 23, 1, 1, "bottom of the stack; 0 when another label follows", .computed = true},
	{"ttl", 24, 8, 64, "time to live"},
	{NULL},
};

static const struct fg_place places[] = {
	{"ethertype", 0x8847},
	{"mpls", 0},
	{"ip", 137},        /* RFC 4023 */
	{"udp port", 6635}, /* RFC 7510 */
	{NULL},
};

static const struct fg_protocol mpls = {
	.name = "mpls",
	.title = "MPLS label (RFC 3032)",
	.size = 4,
	.fields = fields,
	.main = "label",
	.places = places,
	.space = "mpls",
	.next_field = "bottom",
};

FG_PROTOCOLS(mpls, &mpls);

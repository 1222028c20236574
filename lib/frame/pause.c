/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC control: pause, and priority flow control. Bridges take them from their own address only. */
#include "frame_priv.h"

static const struct fg_field pfc_fields[] = {
	{"opcode", 0, 16, 0x101, "operation", FG_KIND_HEX},
	{"priorities", 16, 16, 0xff, "which priorities it is about, a bit each", FG_KIND_HEX},
	{"quanta0", 32, 16, 0xffff, "how long priority 0 pauses, in units of 512 bit times"},
	{"quanta1", 48, 16, 0xffff, "priority 1"},
	{"quanta2", 64, 16, 0xffff, "priority 2"},
	{"quanta3", 80, 16, 0xffff, "priority 3"},
	{"quanta4", 96, 16, 0xffff, "priority 4"},
	{"quanta5", 112, 16, 0xffff, "priority 5"},
	{"quanta6", 128, 16, 0xffff, "priority 6"},
	{"quanta7", 144, 16, 0xffff, "priority 7"},
	{NULL},
};

static const struct fg_place places[] = {{"ethertype", 0x8808}, {NULL}};

static const struct fg_protocol pause = {
	.name = "pause",
	.title = "pause (IEEE 802.3, annex 31B)",
	.size = 4,
	.fields = FG_FIELDS({"opcode", 0, 16, 1, "operation", FG_KIND_HEX},
			    {"quanta", 16, 16, 0xffff, "how long, in units of 512 bit times"}),
	.main = "quanta",
	.places = places,
	.typed = true,
	.reserved_mac = 0x0180c2000001,
};

static const struct fg_protocol pfc = {
	.name = "pfc",
	.title = "priority flow control (IEEE 802.3, annex 31D)",
	.size = 20,
	.fields = pfc_fields,
	.places = places,
	.typed = true,
	.reserved_mac = 0x0180c2000001,
};

FG_PROTOCOLS(pause, &pause, &pfc);

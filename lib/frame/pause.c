/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC control: pause (IEEE 802.3, annex 31B) and, with opcode 0x0101, priority flow control (annex 31D). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"opcode", 0, 16, 1, "1 pause, 0x0101 priority flow control"},
	{"quanta", 16, 16, 0xffff, "pause time in units of 512 bit times; of flow control the priorities"},
	{NULL},
};

const struct fg_protocol fg_protocol_pause = {
	.name = "pause",
	.size = 4,
	.fields = fields,
};

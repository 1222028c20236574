/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw bytes, at any place of a stack. The user sets their number, if any, in the outer layer. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"octets", 0, 0, 0, "the bytes", FG_KIND_OCTETS},
	{NULL},
};

static const struct fg_protocol raw = {
	.name = "raw",
	.title = "bytes as they are",
	.fields = fields,
	.main = "octets",
};

FG_PROTOCOLS(raw, &raw);

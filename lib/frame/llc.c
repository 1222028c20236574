/* SPDX-License-Identifier: BSD-3-Clause */
/* IEEE 802.2 logical link control; the EtherType around it becomes a length. */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"dsap", 0, 8, 170, "destination service access point"},
	{"ssap", 8, 8, 170, "source service access point"},
	{"control", 16, 8, 3, "unnumbered information"},
	{NULL},
};

const struct fg_protocol fg_protocol_llc = {
	.name = "llc",
	.size = 3,
	.fields = fields,
};

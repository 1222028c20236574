/* SPDX-License-Identifier: BSD-3-Clause */
/* IEEE 802.2 logical link control, and the subnetwork access protocol inside it. */
#include "frame_priv.h"

static const struct fg_field llc_fields[] = {
	{"dsap", 0, 8, 0xaa, "destination service access point; 0xaa: SNAP", FG_KIND_HEX},
	{"ssap", 8, 8, 0xaa, "source service access point", FG_KIND_HEX},
	{"control", 16, 8, 3, "3: unnumbered information", FG_KIND_HEX},
	{NULL},
};

/* the EtherType's place then holds the length: "length" is a space without numbers */
static const struct fg_protocol llc = {
	.name = "llc",
	.title = "logical link control (IEEE 802.2); the type around it becomes a length",
	.size = 3,
	.fields = llc_fields,
	.places = FG_PLACES({"length", 0}, {"ethertype", 0, 1500}),
	.space = "dsap",
	.next_field = "dsap",
};

static const struct fg_protocol snap = {
	.name = "snap",
	.title = "subnetwork access protocol (IEEE 802)",
	.size = 5,
	.fields = FG_FIELDS({"oui", 0, 24, 0, "organisation; 0: the type is an EtherType", FG_KIND_HEX},
			    {"type", 24, 16, 0x88b5, "what is inside", FG_KIND_HEX, true}),
	.places = FG_PLACES({"dsap", 0xaa}),
	.space = "ethertype",
	.next_field = "type",
};

FG_PROTOCOLS(llc, &llc, &snap);

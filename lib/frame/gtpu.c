/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GTP-U (3GPP TS 29.281). With any of three flags set the header has four more bytes; each flag marks one
 * field in them as valid.
 */
#include "frame_priv.h"

enum { NPDU = 1, SEQUENCE = 2, EXTENSION = 4, ANY = 7 };

static const struct fg_value_name flags[] = {
	{"npdu", NPDU}, {"sequence", SEQUENCE}, {"extension", EXTENSION}, {NULL, 0}};

static const struct fg_field fields[] = {
	{"version", 0, 3, 1, "version"},
	{"protocol", 3, 1, 1, "1: GTP"},
	{"reserved", 4, 1, 0, "zero"},
	{"flags", 5, 3, 0, "which of the optional fields mean something", FG_KIND_FLAGS, .names = flags},
	{"type", 8, 8, 255, "255: a packet inside"},
	{"length", 16, 16, 0, "bytes after the first eight", .computed = true},
	{"teid", 32, 32, 1, "tunnel", FG_KIND_HEX},
	{"sequence", 64, 16, 0, "sequence number", .when = "flags", .when_mask = ANY, .when_set = SEQUENCE},
	{"npdu", 80, 8, 0, "number of the N-PDU", .when = "flags", .when_mask = ANY, .when_set = NPDU},
	{"next_extension", 88, 8, 0, "type of the first extension header; 0: none", FG_KIND_HEX,
	 .when = "flags", .when_mask = ANY, .when_set = EXTENSION},
	{NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, "length", length - 8);
}

static const struct fg_protocol gtpu = {
	.name = "gtpu",
	.title = "GTP-U (3GPP TS 29.281)",
	.size = 12,
	.fields = fields,
	.main = "teid",
	.places = FG_PLACES({"udp port", 2152}),
	.space = "gtpu",
	.next_field = "type",
	.finish = finish,
};

FG_PROTOCOLS(gtpu, &gtpu);

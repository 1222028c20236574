/* SPDX-License-Identifier: BSD-3-Clause */
/* SCTP (RFC 9260) with one DATA chunk, whose payload is the rest of the frame. Its checksum is a CRC32c. */
#include <arpa/inet.h>
#include <string.h>

#include "fg_crc32c.h"
#include "frame_priv.h"

enum { COMMON_HEADER = 12 };

static const struct fg_field fields[] = {
	{"source", 0, 16, 1024, "source port"},
	{"destination", 16, 16, 7, "destination port; echo"},
	{"tag", 32, 32, 1, "verification tag", FG_KIND_HEX},
	{"checksum", 64, 32, 0, "CRC32c over the packet, of each frame", FG_KIND_HEX, true},
	{"chunk", 96, 8, 0, "0: DATA"},
	{"flags", 104, 8, 3, "3: first and last fragment of a message"},
	{"length", 112, 16, 0, "of the chunk; where it is given, the packet may be of any size",
	 .computed = true},
	{"tsn", 128, 32, 1, "transmission sequence number"},
	{"stream", 160, 16, 0, "stream"},
	{"sequence", 176, 16, 0, "stream sequence number"},
	{"protocol", 192, 32, 0, "payload protocol identifier"},
	{NULL},
};

static void
sctp_finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, "length", length - COMMON_HEADER);
	/* the CRC is sent low byte first */
	fg_field_fill(layer, "checksum", __builtin_bswap32(fg_crc32c(0, header, length)));
}

static const struct fg_protocol sctp = {
	.name = "sctp",
	.title = "SCTP with one DATA chunk (RFC 9260)",
	.size = COMMON_HEADER + 16,
	.fields = fields,
	.main = "destination",
	.places = FG_PLACES({"ip", 132}),
	.unit = 4,
	.sealed = true,
	.finish = sctp_finish,
};

FG_PROTOCOLS(sctp, &sctp);

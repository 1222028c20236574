/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6 (RFC 4443), with the identifier and sequence of an echo. */
#include "fg_net.h"
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"type", 0, 8, 128, "128 echo request"},    {"code", 8, 8, 0, "code"},
	{"checksum", 16, 16, 0, "computed"},        {"id", 32, 16, 1, "identifier"},
	{"sequence", 48, 16, 1, "sequence number"}, {NULL},
};

static void
finish(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_layer_transport_checksum(layer, header, length, FG_IP_ICMPV6);
}

const struct fg_protocol fg_protocol_icmpv6 = {
	.name = "icmpv6",
	.size = 8,
	.fields = fields,
	.checksum_scope = FG_CHECKSUM_PAYLOAD,
	.finish = finish,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum of layers that enclose others, with and without the pseudo-header of the IP around them. */
#include <arpa/inet.h>

#include "fg_net.h"
#include "frame_priv.h"

const struct fg_layer *
fg_layer_network(const struct fg_layer *layer)
{
	const struct fg_layer *outer = layer->outer;

	while (outer != NULL && outer->protocol->extension)
		outer = outer->outer;
	if (outer == NULL || (outer->protocol != &fg_protocol_ipv4 && outer->protocol != &fg_protocol_ipv6))
		return NULL;
	return outer;
}

static void
store(const struct fg_layer *layer, uint8_t *header, size_t length, uint64_t sum)
{
	uint16_t checksum = fg_checksum_finish(fg_checksum_add(sum, header, length));

	if (checksum == 0 && layer->protocol->checksum_never_zero)
		checksum = 0xffff;
	fg_field_fill(layer, header, "checksum", ntohs(checksum));
}

void
fg_layer_transport_checksum(const struct fg_layer *layer, uint8_t *header, size_t length, uint8_t number)
{
	const struct fg_layer *network = fg_layer_network(layer);

	if (network == NULL || fg_field_is_written(layer, "checksum"))
		return;
	if (network->protocol == &fg_protocol_ipv4)
		store(layer, header, length,
		      fg_checksum_pseudo4((struct fg_ipv4 *)network->header, number, (uint16_t)length));
	else
		store(layer, header, length,
		      fg_checksum_pseudo6((struct fg_ipv6 *)network->header, number, (uint32_t)length));
}

void
fg_layer_plain_checksum(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	if (!fg_field_is_written(layer, "checksum"))
		store(layer, header, length, 0);
}

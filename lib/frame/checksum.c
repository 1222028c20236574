/* SPDX-License-Identifier: BSD-3-Clause */
/* What several protocols compute in the same way: the Internet checksum, lengths. */
#include <arpa/inet.h>
#include <string.h>

#include "fg_checksum.h"
#include "fg_net.h"
#include "frame_priv.h"

bool
fg_field_is_written(const struct fg_layer *layer, const char *name)
{
	return layer->written >> fg_field_find(layer->protocol, name) & 1;
}

void
fg_field_fill(const struct fg_layer *layer, const char *name, uint64_t value)
{
	const struct fg_field *field = &layer->protocol->fields[fg_field_find(layer->protocol, name)];
	int bit = fg_field_bit(layer->protocol, field, layer->header);

	if (!fg_field_is_written(layer, name) && bit >= 0)
		fg_field_write(layer->header, (unsigned)bit, field->width, value);
}

void
fg_layer_length(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	fg_field_fill(layer, "length", length);
}

void
fg_layer_type_or_length(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	uint64_t number;

	if (layer->inner != NULL && fg_protocol_number(layer->inner->protocol, "length", &number))
		fg_field_fill(layer, "type", length - layer->size);
}

const struct fg_layer *
fg_layer_network(const struct fg_layer *layer)
{
	const struct fg_layer *outer = layer->outer;

	while (outer != NULL && outer->protocol->extension)
		outer = outer->outer;
	return outer != NULL && outer->protocol->network != 0 ? outer : NULL;
}

const struct fg_layer *
fg_layer_pseudo(const struct fg_layer *layer)
{
	return layer->protocol->checksum_scope == FG_CHECKSUM_PAYLOAD ? fg_layer_network(layer) : NULL;
}

const struct fg_layer *
fg_layer_routing(const struct fg_layer *layer)
{
	const struct fg_layer *outer = layer->outer;

	while (outer != NULL && outer->protocol->extension && outer->protocol->final == NULL)
		outer = outer->outer;
	return outer != NULL && outer->protocol->extension ? outer : NULL;
}

const uint8_t *
fg_layer_destination(const struct fg_layer *layer)
{
	const struct fg_layer *network = fg_layer_network(layer), *routing = fg_layer_routing(layer);
	const uint8_t *last = routing == NULL ? NULL : routing->protocol->final(routing);
	int field = fg_field_find(network->protocol, "destination");

	return last != NULL ? last : network->header + network->protocol->fields[field].bit / 8;
}

static uint64_t
pseudo_sum(const struct fg_layer *layer, const struct fg_layer *network, size_t length)
{
	struct fg_ipv6 ip;
	uint64_t number = 0;

	fg_protocol_number(layer->protocol, "ip", &number);
	if (network->protocol->network == 4)
		return fg_checksum_pseudo4((struct fg_ipv4 *)network->header, (uint8_t)number,
					   (uint16_t)length);
	memcpy(&ip, network->header, sizeof(ip));
	memcpy(ip.dst, fg_layer_destination(layer), sizeof(ip.dst));
	return fg_checksum_pseudo6(&ip, (uint8_t)number, (uint32_t)length);
}

void
fg_layer_checksum(const struct fg_layer *layer, uint8_t *header, size_t length)
{
	const struct fg_layer *network = fg_layer_pseudo(layer);
	enum fg_checksum_scope scope = layer->protocol->checksum_scope;
	uint64_t sum = network == NULL ? 0 : pseudo_sum(layer, network, length);
	uint16_t checksum;

	if (scope == FG_CHECKSUM_PAYLOAD && network == NULL)
		return;
	sum = fg_checksum_add(sum, header, scope == FG_CHECKSUM_HEADER ? layer->size : length);
	checksum = ntohs(fg_checksum_finish(sum));
	if (checksum == 0 && layer->protocol->checksum_never_zero)
		checksum = 0xffff;
	fg_field_fill(layer, "checksum", checksum);
}

void
fg_layer_hops(const struct fg_layer *layer, const char *field)
{
	const struct fg_layer *inner = layer->inner;

	while (inner != NULL && inner->protocol->extension)
		inner = inner->inner;
	if (inner != NULL && inner->protocol->hops != 0)
		fg_field_fill(layer, field, inner->protocol->hops);
}

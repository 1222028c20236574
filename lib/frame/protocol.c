/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of protocols, and fields of any width at any bit. */
#include <string.h>

#include "frame_priv.h"

const struct fg_protocol *const fg_protocols[] = {
	&fg_protocol_ethernet, &fg_protocol_vlan, &fg_protocol_ipv4,
	&fg_protocol_ipv6,     &fg_protocol_udp,  NULL,
};

const struct fg_protocol *
fg_protocol_find(const char *name)
{
	for (unsigned i = 0; fg_protocols[i] != NULL; i++)
		if (strcmp(fg_protocols[i]->name, name) == 0)
			return fg_protocols[i];
	return NULL;
}

int
fg_field_find(const struct fg_protocol *protocol, const char *name)
{
	for (int i = 0; protocol->fields[i].name != NULL; i++)
		if (strcmp(protocol->fields[i].name, name) == 0)
			return i;
	return -1;
}

void
fg_field_write(uint8_t *header, unsigned bit, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned at = bit + width - 1 - i;
		uint8_t mask = (uint8_t)(0x80 >> (at % 8));

		if (value >> i & 1)
			header[at / 8] |= mask;
		else
			header[at / 8] &= (uint8_t)~mask;
	}
}

bool
fg_field_is_written(const struct fg_layer *layer, const char *name)
{
	return layer->written >> fg_field_find(layer->protocol, name) & 1;
}

void
fg_field_fill(const struct fg_layer *layer, uint8_t *header, const char *name, uint64_t value)
{
	const struct fg_field *field = &layer->protocol->fields[fg_field_find(layer->protocol, name)];

	if (!fg_field_is_written(layer, name))
		fg_field_write(header, field->bit, field->width, value);
}

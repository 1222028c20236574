/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Look-ups in the tables of protocols: a protocol by name or number, and the position of a field, which
 * depends on the optional fields before it.
 */
#include <string.h>

#include "frame_priv.h"

const struct fg_protocol *
fg_protocol_at(unsigned i)
{
	for (const struct fg_protocol *const *const *file = fg_protocol_files; *file != NULL; file++)
		for (const struct fg_protocol *const *p = *file; *p != NULL; p++)
			if (i-- == 0)
				return *p;
	return NULL;
}

const struct fg_protocol *
fg_protocol_find(const char *name)
{
	const struct fg_protocol *p;

	for (unsigned i = 0; (p = fg_protocol_at(i)) != NULL; i++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

bool
fg_protocol_number(const struct fg_protocol *protocol, const char *space, uint64_t *number)
{
	for (const struct fg_place *place = protocol->places; place != NULL && place->space != NULL; place++)
		if (strcmp(place->space, space) == 0 && place->last == 0) {
			*number = place->first;
			return true;
		}
	return false;
}

int
fg_field_find(const struct fg_protocol *protocol, const char *name)
{
	for (int i = 0; protocol->fields[i].name != NULL; i++)
		if (strcmp(protocol->fields[i].name, name) == 0)
			return i;
	return -1;
}

uint64_t
fg_field_read(const uint8_t *header, unsigned bit, unsigned width)
{
	uint64_t value = 0;

	for (unsigned at = bit; at < bit + width; at++)
		value = value << 1 | (header[at / 8] >> (7 - at % 8) & 1);
	return value;
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

static bool
is_there(const struct fg_protocol *protocol, const struct fg_field *field, const uint8_t *header)
{
	const struct fg_field *flag;
	int bit;

	if (field->when == NULL)
		return true;
	flag = &protocol->fields[fg_field_find(protocol, field->when)];
	bit = fg_field_bit(protocol, flag, header);
	return bit >= 0 && (fg_field_read(header, (unsigned)bit, flag->width) & field->when_mask) != 0;
}

int
fg_field_bit(const struct fg_protocol *protocol, const struct fg_field *field, const uint8_t *header)
{
	int bit = field->bit;

	if (!is_there(protocol, field, header))
		return -1;
	for (const struct fg_field *f = protocol->fields; f->name != NULL; f++)
		if (f->when != NULL && f->bit < field->bit && !is_there(protocol, f, header))
			bit -= f->width;
	return bit;
}

size_t
fg_protocol_fixed(const struct fg_protocol *protocol, const uint8_t *header, size_t room)
{
	size_t bits = 8u * protocol->size, least = bits;

	/* flags precede their fields */
	for (const struct fg_field *f = protocol->fields; f->name != NULL; f++)
		if (f->when != NULL && f->bit < least)
			least = f->bit;
	if (room * 8 < least)
		return 0;
	for (const struct fg_field *f = protocol->fields; f->name != NULL; f++)
		if (f->when != NULL && !is_there(protocol, f, header))
			bits -= f->width;
	return room * 8 < bits ? 0 : bits / 8;
}

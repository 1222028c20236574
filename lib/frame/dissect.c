/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From bytes to headers, by the tables. A header that is truncated, or whose length field exceeds the rest of
 * the frame, ends the search.
 */
#include <string.h>

#include "frame_priv.h"

struct search {
	const uint8_t *frame;
	size_t length, at;
	struct fg_found *out;
	unsigned found, max;
};

static bool
note(struct search *s, const struct fg_protocol *protocol, size_t size, bool padding)
{
	if (s->found == s->max)
		return false;
	s->out[s->found++] = (struct fg_found){protocol, (uint32_t)s->at, (uint32_t)size, padding};
	s->at += size;
	return true;
}

static uint64_t
read_field(const struct fg_protocol *protocol, const char *name, const uint8_t *header)
{
	const struct fg_field *f = &protocol->fields[fg_field_find(protocol, name)];
	int bit = fg_field_bit(protocol, f, header);

	return bit < 0 ? 0 : fg_field_read(header, (unsigned)bit, f->width);
}

static bool
has_type(const struct fg_protocol *p, const uint8_t *header)
{
	const struct fg_field *f = p->fields;
	uint64_t type = fg_field_read(header, f->bit, f->width);
	const struct fg_value_name *n = f->names;

	while (n != NULL && n->name != NULL && n->value != type)
		n++;
	return n != NULL ? n->name != NULL : type == f->preset;
}

static bool
is_known(const struct fg_protocol *p, const uint8_t *header, size_t room)
{
	return fg_protocol_fixed(p, header, room) > 0 && (!p->typed || has_type(p, header)) &&
	       (p->is == NULL || p->is(header, room));
}

static const struct fg_protocol *
lookup(const char *space, uint64_t number, const uint8_t *header, size_t room)
{
	const struct fg_protocol *p;

	for (unsigned i = 0; (p = fg_protocol_at(i)) != NULL; i++)
		for (const struct fg_place *place = p->places; place != NULL && place->space != NULL; place++)
			if (strcmp(place->space, space) == 0 && number >= place->first &&
			    number <= (place->last == 0 ? place->first : place->last) &&
			    is_known(p, header, room))
				return p;
	return NULL;
}

/* bytes of a header by its length field; 0: it does not fit */
static size_t
whole(const struct fg_protocol *p, const uint8_t *header, size_t fixed, size_t room)
{
	size_t size = fixed;

	if (p->length_field != NULL)
		size = read_field(p, p->length_field, header) * p->length_unit + p->length_base;
	return size < fixed || size > room ? 0 : size;
}

/* the end of an option; 0: unknown option, or truncated */
static size_t
option(struct search *s, const struct fg_protocol *owner, size_t end)
{
	const uint8_t *header = s->frame + s->at;
	const struct fg_protocol *p;
	size_t fixed, size;

	if ((end - s->at) * 8 < owner->option_bits)
		return 0;
	p = lookup(owner->option_space, fg_field_read(header, 0, owner->option_bits), header, end - s->at);
	if (p == NULL)
		return 0;
	fixed = fg_protocol_fixed(p, header, end - s->at);
	size = whole(p, header, fixed, end - s->at);
	return size > 0 && note(s, p, size, false) ? size : 0;
}

/* the options up to the end of their header, or as many as a count field gives */
static void
options(struct search *s, const struct fg_protocol *owner, uint64_t count, size_t end)
{
	while (count-- > 0 && s->at < end)
		if (option(s, owner, end) == 0)
			break;
	if (owner->count_field == NULL && s->at < end)
		note(s, owner, end - s->at, true);
}

/* one header with its options; NULL: truncated */
static const uint8_t *
header(struct search *s, const struct fg_protocol *p)
{
	const uint8_t *start = s->frame + s->at;
	size_t room = s->length - s->at, fixed = fg_protocol_fixed(p, start, room), size;
	size_t from = s->at;

	if (fixed == 0)
		return NULL;
	size = whole(p, start, fixed, room);
	if (size == 0 || !note(s, p, p->option_space != NULL ? fixed : size, false))
		return NULL;
	if (p->count_field != NULL)
		options(s, p, read_field(p, p->count_field, start), s->length);
	else if (p->option_space != NULL)
		options(s, p, UINT64_MAX, from + size);
	return start;
}

unsigned
fg_dissect(const char *first, const uint8_t *frame, size_t length, struct fg_found *out, unsigned max)
{
	struct search s = {.frame = frame, .length = length, .out = out, .max = max};
	const struct fg_protocol *p = fg_protocol_find(first);

	while (p != NULL) {
		const uint8_t *start = header(&s, p);
		uint64_t number = 0;

		if (start == NULL || p->space == NULL || (p->closed != NULL && p->closed(start)))
			break;
		if (p->next_field != NULL)
			number = read_field(p, p->next_field, start);
		p = lookup(p->space, number, frame + s.at, length - s.at);
	}
	return s.found;
}

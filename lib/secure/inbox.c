/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has arrived and is not a whole record yet: bytes ahead of their turn, and the begin of a record the
 * rest is under way. It lies by position in blocks of a pool, so a gap that closes finds all behind
 * it in place. Records that arrive whole and in order are taken where they lie.
 */
#include <string.h>

#include "secure_priv.h"

/* the block of a number, made if it is not there; NULL: there is no room */
static struct block *
block_of(struct fg_l4 *w, struct secure *all, struct secured *t, uint64_t number)
{
	uint32_t before = 0, i = t->first_block;
	struct block *b;

	if (t->last_block != 0 && block_at(all, t->last_block)->number <= number) {
		before = t->last_block;
		i = 0;
		if (block_at(all, before)->number == number)
			return block_at(all, before);
	}
	for (; i != 0 && block_at(all, i)->number <= number; i = block_at(all, i)->next) {
		if (block_at(all, i)->number == number)
			return block_at(all, i);
		before = i;
	}
	i = fg_pool_take(&all->blocks);
	if (i == 0) {
		w->counters.held_refused++;
		return NULL;
	}
	b = block_at(all, i);
	b->number = number;
	b->next = before == 0 ? t->first_block : block_at(all, before)->next;
	*(before == 0 ? &t->first_block : &block_at(all, before)->next) = i;
	if (b->next == 0)
		t->last_block = i;
	return b;
}

/* @return false: there is no room for all */
static bool
hold(struct fg_l4 *w, struct secure *all, struct secured *t, uint64_t at, const uint8_t *data,
     uint32_t length, bool early)
{
	for (uint32_t n; length > 0; at += n, data += n, length -= n) {
		struct block *b = block_of(w, all, t, at / BLOCK);

		if (b == NULL)
			return false;
		n = fg_u32_min(length, BLOCK - (uint32_t)(at % BLOCK));
		memcpy(b->data + at % BLOCK, data, n);
		for (uint32_t i = at % BLOCK / CELL; i <= (at % BLOCK + n - 1) / CELL; i++)
			b->since[i] = early ? w->now : 0;
	}
	return true;
}

static void
give_before(struct secure *all, struct secured *t, uint64_t at)
{
	while (t->first_block != 0 && (block_at(all, t->first_block)->number + 1) * BLOCK <= at) {
		uint32_t gone = t->first_block;

		t->first_block = block_at(all, gone)->next;
		fg_pool_give(&all->blocks, &gone);
	}
	if (t->first_block == 0)
		t->last_block = 0;
}

void
inbox_free(struct secure *all, struct secured *t)
{
	give_before(all, t, UINT64_MAX);
}

/* bytes from where the next record begins; where they lie, if together, else in @p to */
static const uint8_t *
gather(const struct secure *all, const struct secured *t, uint32_t length, uint8_t *to)
{
	uint32_t within = (uint32_t)(t->read_at % BLOCK), i = t->first_block, n;
	uint8_t *at = to;

	if (within + length <= BLOCK)
		return block_at(all, i)->data + within;
	for (; length > 0; at += n, length -= n, within = 0, i = block_at(all, i)->next) {
		n = fg_u32_min(length, BLOCK - within);
		memcpy(at, block_at(all, i)->data + within, n);
	}
	return to;
}

/* the next record's length, if it is known to be whole; 0: not yet, or never */
static uint32_t
whole_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *header, uint64_t there)
{
	uint32_t length = 0;
	int alert = fg_tls_record_length(t->flags & ESTABLISHED ? t->suite : NULL, header, &length);

	if (alert != 0) {
		carrier_of(w, tcp)->tally.malformed += t->suite == NULL;
		secure_fail(w, t, tcp, alert);
		return 0;
	}
	return length <= there ? length : 0;
}

/* whole records at the begin of @p data, which are not held. @return bytes of them; UINT32_MAX: it is over */
static uint32_t
take_at_once(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data, uint32_t length)
{
	uint32_t used = 0, n;

	while (length - used >= FG_TLS_HEADER) {
		n = whole_record(w, t, tcp, data + used, length - used);
		if (t->flags & FAILED)
			return UINT32_MAX;
		if (n == 0)
			break;
		switch (record_take(w, t, tcp, data + used, n)) {
		case OVER:
			return UINT32_MAX;
		case STAYS:
			return used;
		case TAKEN:
			used += n;
			t->read_at += n;
		}
	}
	return used;
}

bool
inbox_receive(struct fg_l4 *w, struct fg_stream *tcp, uint64_t offset, const uint8_t *data, uint32_t length,
	      bool early)
{
	struct secured *t = secured_of(w, tcp);
	struct secure *all = carrier_of(w, tcp)->all;
	uint32_t used = 0;

	if (t->id == 0 || t->flags & (FAILED | CLOSE_RECEIVED))
		return true; /* what follows is not read */
	if (!early && t->first_block == 0 && offset == t->read_at) {
		used = take_at_once(w, t, tcp, data, length);
		if (used == UINT32_MAX)
			return true;
	}
	if (!early)
		t->in_order = offset + length;
	return used == length || hold(w, all, t, offset + used, data + used, length - used, early);
}

/* of the record that is held and being taken, for the application */
struct record_times {
	struct fg_held held; /* first */
	const struct secure *all;
	const struct secured *t;
};

static bool
record_waited(const struct fg_held *held, uint32_t offset, uint64_t *from, uint64_t *to)
{
	const struct record_times *times = (const struct record_times *)held;
	uint64_t at = times->t->read_at + FG_TLS_HEADER + offset;
	const struct block *b = block_at(times->all, times->t->first_block);

	while (b->number < at / BLOCK)
		b = block_at(times->all, b->next);
	*from = b->since[at % BLOCK / CELL];
	*to = b->closed[at % BLOCK / CELL];
	return *from != 0;
}

/* a gap is closed: what lies behind it is in order */
static void
note_closed(const struct fg_l4 *w, const struct secure *all, struct secured *t, uint64_t to)
{
	const uint64_t step = CELL;

	for (uint32_t i = t->first_block; i != 0 && t->in_order < to; i = block_at(all, i)->next) {
		struct block *b = block_at(all, i);

		for (; t->in_order < to && t->in_order / BLOCK == b->number;
		     t->in_order += step - t->in_order % step)
			b->closed[t->in_order % BLOCK / CELL] = w->now;
	}
	t->in_order = to;
}

/* @return whether it was taken */
static bool
take_held(struct fg_l4 *w, struct secure *all, struct secured *t, struct fg_stream *tcp, uint32_t length)
{
	struct record_times times = {{record_waited, NULL}, all, t};
	enum outcome outcome;

	w->held = &times.held; /* secure_data() knows where the data is */
	outcome = record_take(w, t, tcp, gather(all, t, length, all->record), length);
	w->held = NULL;
	return outcome == TAKEN;
}

void
inbox_arrived(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct secured *t = secured_of(w, tcp);
	struct secure *all = carrier_of(w, tcp)->all;
	uint8_t header[FG_TLS_HEADER];
	uint32_t length;

	note_closed(w, all, t, tcp->received);
	while (t->first_block != 0 && !(t->flags & (FAILED | CLOSE_RECEIVED)) &&
	       tcp->received - t->read_at >= FG_TLS_HEADER) {
		length = whole_record(w, t, tcp, gather(all, t, FG_TLS_HEADER, header),
				      tcp->received - t->read_at);
		if (length == 0 || !take_held(w, all, t, tcp, length))
			return;
		t->read_at += length;
		give_before(all, t, t->read_at);
	}
}

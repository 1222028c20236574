/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out-of-order payload that an application cannot use yet, because it needs the bytes before. A host keeps
 * such segments in its socket buffer; here they are in blocks of a pool shared by all connections of the
 * worker, sorted, without duplicates. When the gap is closed they are read in order.
 *
 * What a block ends with goes on in it, and two blocks that fit into one become one. So neighbours without a
 * gap have more than one block's payload, and a connection has at most MAX_RANGES blocks more than twice what
 * its window would fill, however small its peer makes the segments.
 */
#include <string.h>

#include "tcp_priv.h"

static uint32_t *
next_of(struct fg_l4 *w, struct ranges *held, uint32_t i)
{
	return i == 0 ? &held->kept : &kept_at(w, i)->next;
}

/* free the block behind @p before (0: the first), whose payload was read or moved */
static void
drop_next(struct fg_l4 *w, struct ranges *held, uint32_t before)
{
	uint32_t *link = next_of(w, held, before), gone = *link;

	*link = kept_at(w, gone)->next;
	if (held->kept_last == gone)
		held->kept_last = before;
	if (held->kept_news == gone)
		held->kept_news = before;
	fg_pool_give(&own(w)->kept, &gone);
}

/* the last block that begins before @p seq: mostly the last of all, or the latest written; 0: none */
static uint32_t
before(struct fg_l4 *w, struct ranges *held, uint32_t seq)
{
	const uint32_t guess[] = {held->kept_last, held->kept_news};
	uint32_t at = 0, next;

	for (unsigned i = 0; at == 0 && i < 2; i++)
		if (guess[i] != 0 && seq_lt(kept_at(w, guess[i])->seq, seq))
			at = guess[i];
	while ((next = *next_of(w, held, at)) != 0 && seq_lt(kept_at(w, next)->seq, seq))
		at = next;
	return at;
}

/* an empty block behind another. @return it; 0: there is no room */
static uint32_t
insert(struct fg_l4 *w, struct ranges *held, uint32_t behind, uint32_t seq)
{
	uint32_t i = fg_pool_take(&own(w)->kept), *link = next_of(w, held, behind);
	struct kept *k = kept_at(w, i);

	if (i == 0)
		return 0;
	k->next = *link;
	k->seq = seq;
	k->length = 0;
	*link = i;
	if (k->next == 0)
		held->kept_last = i;
	return i;
}

static void
append(struct kept *k, const uint8_t *payload, uint32_t length)
{
	memcpy(k->data + k->length, payload, length);
	k->length += length;
}

/* @return bytes that were kept; 0: none, and counted why */
static uint32_t
add_some(struct fg_l4 *w, struct ranges *held, uint32_t seq, const uint8_t *payload, uint32_t length)
{
	uint32_t behind = before(w, held, seq), i = behind, n;
	const struct kept *next;
	struct kept *k = kept_at(w, i);

	if (i == 0 || k->seq + k->length != seq || k->length == KEPT) {
		i = insert(w, held, behind, seq);
		w->counters.held_refused += i == 0;
		if (i == 0)
			return 0;
		k = kept_at(w, i);
	}
	n = fg_u32_min(length, KEPT - k->length);
	if (ranges_add(held, seq, seq + n) == UINT32_MAX) {
		w->counters.no_ranges++;
		if (k->length == 0) /* the new connection; another with acknowledged bytes may end here */
			drop_next(w, held, behind);
		return 0;
	}
	append(k, payload, n);
	k->since = w->now;
	held->kept_news = i;
	next = kept_at(w, k->next);
	if (k->next != 0 && k->seq + k->length == next->seq && k->length + next->length <= KEPT) {
		append(k, next->data, next->length);
		drop_next(w, held, i);
	}
	return n;
}

bool
kept_add(struct fg_l4 *w, struct ranges *held, uint32_t seq, const uint8_t *payload, uint32_t length)
{
	uint32_t at = seq, to;

	while (ranges_gap(held, at, seq + length, &at, &to))
		if (add_some(w, held, at, payload + (at - seq), to - at) == 0)
			return false;
	return true;
}

uint32_t
kept_begin(struct fg_l4 *w, struct ranges *held, uint32_t from, uint32_t to)
{
	const struct kept *k;

	while (held->kept != 0) {
		k = kept_at(w, held->kept);
		if (seq_lt(from, k->seq + k->length))
			return seq_lt(to, k->seq) ? to : seq_lt(k->seq, from) ? from : k->seq;
		drop_next(w, held, 0);
	}
	return to;
}

void
held_free(struct fg_l4 *w, struct conn *c)
{
	struct ranges *held = held_of(w, c);

	while (held != NULL && held->kept != 0)
		drop_next(w, held, 0);
	fg_pool_give(&own(w)->ranges, &c->holding);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payload ahead of its turn that an application cannot use yet, as it does not know what stands before it.
 * A host keeps such segments in the buffer of its socket; so they lie here, in blocks of a pool that all
 * connections of the worker share, sorted, and no byte twice. When the gap is closed they are taken in order.
 */
#include <string.h>

#include "tcp_priv.h"

static void
drop_first(struct fg_l4 *w, struct ranges *held)
{
	uint32_t next = kept_at(w, held->kept)->next;

	fg_pool_give(&own(w)->kept, &held->kept);
	held->kept = next;
}

/* behind all that begin before it */
static void
insert(struct fg_l4 *w, struct ranges *held, uint32_t i)
{
	struct kept *k = kept_at(w, i);
	uint32_t before = held->kept_last;

	if (held->kept == 0 || seq_lt(k->seq, kept_at(w, before)->seq)) {
		uint32_t next = held->kept;

		for (before = 0; next != 0 && seq_lt(kept_at(w, next)->seq, k->seq);
		     next = kept_at(w, next)->next)
			before = next;
	}
	k->next = before == 0 ? held->kept : kept_at(w, before)->next;
	*(before == 0 ? &held->kept : &kept_at(w, before)->next) = i;
	if (k->next == 0)
		held->kept_last = i;
}

bool
kept_add(struct fg_l4 *w, struct ranges *held, uint32_t seq, const uint8_t *payload, uint32_t length)
{
	struct kept *k;
	uint32_t n, i;

	for (; length > 0; seq += n, payload += n, length -= n) {
		n = fg_u32_min(length, KEPT);
		i = fg_pool_take(&own(w)->kept);
		if (i == 0) {
			w->counters.held_refused++;
			return false;
		}
		if (ranges_add(held, seq, seq + n) == UINT32_MAX) {
			w->counters.no_ranges++;
			fg_pool_give(&own(w)->kept, &i);
			return false;
		}
		k = kept_at(w, i);
		k->seq = seq;
		k->length = n;
		memcpy(k->data, payload, n);
		insert(w, held, i);
	}
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
		drop_first(w, held);
	}
	return to;
}

void
held_free(struct fg_l4 *w, struct conn *c)
{
	struct ranges *held = held_of(w, c);

	while (held != NULL && held->kept != 0)
		drop_first(w, held);
	fg_pool_give(&own(w)->ranges, &c->holding);
}

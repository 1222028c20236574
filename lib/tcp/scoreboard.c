/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes in flight that the peer has (RFC 2018), the retransmitted ones, and the lost ones by RACK (RFC
 * 8985). A segment is lost if one sent later has arrived and the reordering time has passed. This also holds
 * for retransmissions, and for their retransmissions.
 *
 * RACK keeps the time of every segment. Here segments sent once need no time: they left in the order of their
 * numbers. Only retransmissions keep their time and the next new number at that time, in a few entries, since
 * neighbours sent together share one.
 *
 * Until reordering is seen, three segments above a hole, or any during recovery, prove a loss. Else the
 * reordering window applies: a quarter of the shortest round trip, and more when the peer reports duplicates.
 * A timer ends it, so that the last hole of a small window does not wait for the time-out.
 */
#include "tcp_priv.h"

enum { REORDER_SHARE = 4, REORDER_MOST = 7, REORDER_KEEP = 16, NO_RTT_US = 4000 };

struct loss_state *
scoreboard_need(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = loss_of(w, c);

	if (r != NULL)
		return r;
	c->loss = fg_pool_take(&own(w)->losses);
	r = loss_of(w, c);
	if (r == NULL) {
		w->counters.no_ranges++;
		return NULL;
	}
	memset(r, 0, offsetof(struct loss_state, has));
	r->has.count = 0;
	r->edge = r->delivered_seq = r->twice_round = r->again_round = c->snd_una;
	return r;
}

/* remove numbers from .. to - 1 from the retransmissions; an entry on both sides keeps its first part */
static void
retransmission_forget(struct loss_state *r, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->retransmissions; i++) {
		struct retransmission e = r->retransmission[i];

		if (seq_lt(e.from, from))
			e.to = seq_lt(from, e.to) ? from : e.to;
		else if (seq_lt(e.from, to))
			e.from = seq_lt(to, e.to) ? to : e.to;
		if (e.from != e.to)
			r->retransmission[n++] = e;
	}
	r->retransmissions = n;
}

bool
scoreboard_room(struct loss_state *r)
{
	struct retransmission *e = r->retransmission;

	if (r->retransmissions < MAX_RETRANSMISSIONS)
		return true;
	/* merge two entries if the peer has all between them; the later time is the safe one */
	for (uint32_t i = 0; i + 1 < r->retransmissions; i++) {
		if (ranges_missing(&r->has, e[i].to, e[i + 1].from) > 0)
			continue;
		e[i].to = e[i + 1].to;
		e[i].next_seq = seq_lt(e[i].next_seq, e[i + 1].next_seq) ? e[i + 1].next_seq : e[i].next_seq;
		e[i].at = seq_lt(e[i].at, e[i + 1].at) ? e[i + 1].at : e[i].at;
		r->retransmissions--;
		memmove(&e[i + 1], &e[i + 2], (r->retransmissions - i - 1) * sizeof(*e));
		return true;
	}
	return false;
}

void
scoreboard_sent(const struct fg_l4 *w, const struct conn *c, struct loss_state *r, uint32_t from, uint32_t to)
{
	struct retransmission *e = r->retransmission;
	uint32_t i;

	retransmission_forget(r, from, to);
	if (!scoreboard_room(r))
		return;
	for (i = r->retransmissions; i > 0 && seq_lt(from, e[i - 1].from);)
		i--;
	if (i > 0 && e[i - 1].to == from && e[i - 1].next_seq == c->snd_nxt && e[i - 1].at == now_us(w)) {
		e[i - 1].to = to;
		return;
	}
	memmove(&e[i + 1], &e[i], (r->retransmissions - i) * sizeof(*e));
	e[i] = (struct retransmission){from, to, c->snd_nxt, now_us(w)};
	r->retransmissions++;
}

/*
 * numbers from .. to - 1 arrived at their first sending, when the peer had something up to @p highest already
 */
static void
delivered_first(struct conn *c, struct loss_state *r, uint32_t from, uint32_t to, uint32_t highest)
{
	if (!seq_lt(from, to))
		return;
	if (seq_lt(r->delivered_seq, to))
		r->delivered_seq = to;
	if (seq_le(to, highest))
		c->reordered = true;
}

/* from .. to - 1 have newly arrived */
static void
delivered(const struct fg_l4 *w, struct conn *c, struct loss_state *r, uint32_t from, uint32_t to,
	  uint32_t highest)
{
	for (uint32_t i = 0; i < r->retransmissions && seq_lt(from, to); i++) {
		const struct retransmission *e = &r->retransmission[i];

		if (seq_le(e->to, from))
			continue;
		if (seq_le(to, e->from))
			break;
		delivered_first(c, r, from, e->from, highest);
		from = e->to;
		/*
		 * so soon after a retransmission, the original has arrived (RFC 8985, 6.2, step 2)
		 */
		if (now_us(w) - e->at + 1 < c->min_rtt) /* both are rounded */
			continue;
		if (!r->again_delivered || seq_lt(r->delivered_at, e->at) ||
		    (r->delivered_at == e->at && seq_lt(r->delivered_end, e->to))) {
			r->delivered_at = e->at;
			r->delivered_end = e->to;
		}
		r->again_delivered = true;
	}
	delivered_first(c, r, from, to, highest);
}

/* count newly arrived bytes. @return bytes */
static uint32_t
deliver(const struct fg_l4 *w, struct conn *c, struct loss_state *r, uint32_t from, uint32_t to,
	uint32_t highest)
{
	uint32_t news = 0, begin, end;

	while (ranges_gap(&r->has, from, to, &begin, &end)) {
		delivered(w, c, r, begin, end, highest);
		news += end - begin;
		from = end;
	}
	return news;
}

static uint32_t
highest_of(const struct conn *c, const struct loss_state *r)
{
	return r->has.count == 0 ? c->snd_una : r->has.at[r->has.count - 1].to;
}

/* RFC 2883 */
static void
came_twice(struct fg_l4 *w, struct conn *c, const struct range *block)
{
	struct loss_state *r = loss_of(w, c);

	w->counters.came_twice++;
	if (c->flags & TLP_OUT && c->tlp_again && block->to == c->tlp_end)
		c->flags &= ~(uint32_t)TLP_OUT; /* the probe was for nothing */
	if (r == NULL)
		return;
	if (seq_le(r->twice_round, c->snd_una)) {
		c->reorder_more += c->reorder_more < REORDER_MOST;
		c->reorder_left = REORDER_KEEP;
		r->twice_round = c->snd_nxt;
	}
	undo_twice(c, r, block->to - block->from);
}

/* is the first block within the acknowledgement, or within the second? */
static bool
is_of_twice(const struct segment *s, unsigned i)
{
	const struct range *b = &s->sack[i];

	if (i != 0)
		return false;
	return seq_le(b->to, s->ack) ||
	       (s->sacks > 1 && seq_le(s->sack[1].from, b->from) && seq_le(b->to, s->sack[1].to));
}

uint32_t
scoreboard_sack(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	struct loss_state *r = loss_of(w, c);
	uint32_t news = 0, highest = r == NULL ? c->snd_una : highest_of(c, r);

	for (unsigned i = 0; i < s->sacks; i++) {
		const struct range *b = &s->sack[i];

		if (!seq_lt(b->from, b->to) || seq_lt(c->snd_nxt, b->to) ||
		    seq_lt(b->from, c->snd_una - c->max_wnd))
			continue;
		if (is_of_twice(s, i)) {
			came_twice(w, c, b);
			continue;
		}
		if (seq_le(b->from, s->ack))
			continue; /* an old one */
		r = scoreboard_need(w, c);
		if (r == NULL)
			return 1; /* no room to remember it, but it was a duplicate */
		news += deliver(w, c, r, b->from, b->to, highest);
		ranges_add(&r->has, b->from, b->to);
	}
	return news;
}

uint32_t
scoreboard_cut(struct fg_l4 *w, struct conn *c, uint32_t ack)
{
	struct loss_state *r = loss_of(w, c);
	uint32_t news = ack - c->snd_una;

	if (r == NULL)
		return news;
	news = deliver(w, c, r, c->snd_una, ack, highest_of(c, r));
	ranges_cut(&r->has, ack);
	retransmission_forget(r, c->snd_una, ack);
	if (seq_lt(r->edge, ack))
		r->edge = ack;
	return news;
}

/* RFC 6675, IsLost() of the first hole, which is where RACK, too, sees no need to wait */
static bool
has_enough(const struct conn *c, const struct loss_state *r)
{
	uint32_t octets = 0;

	for (uint32_t i = 0; i < r->has.count; i++)
		octets += r->has.at[i].to - r->has.at[i].from;
	return octets > (DUP_THRESH - 1U) * c->mss || r->has.count >= DUP_THRESH || c->dupacks >= DUP_THRESH;
}

/* the reordering window, us (RFC 8985, 6.2, step 4) */
static uint32_t
reorder_window(const struct conn *c, const struct loss_state *r)
{
	uint32_t rtt = c->min_rtt != 0 ? c->min_rtt : c->srtt != 0 ? c->srtt : (uint32_t)NO_RTT_US;

	if (!c->reordered && (c->flags & (IN_RECOVERY | IN_LOSS) || has_enough(c, r)))
		return 0;
	return fg_u32_max(1,
			  fg_u32_min(rtt / REORDER_SHARE * (1U + c->reorder_more), fg_u32_max(c->srtt, rtt)));
}

static bool
has_come(uint32_t now, uint32_t at)
{
	return seq_le(at, now);
}

/* among segments sent once. @return whether more is lost; *wait: us until more may be lost, if less */
static bool
detect_first(const struct conn *c, struct loss_state *r, uint32_t now, uint32_t reorder, uint32_t *wait)
{
	uint32_t highest = highest_of(c, r), before = r->edge;

	if (seq_lt(r->edge, highest) && reorder == 0) {
		r->edge = highest;
		r->waits = false;
	} else if (r->waits && has_come(now, r->reorder_at)) {
		r->edge = seq_lt(r->edge, r->reorder_edge) ? r->reorder_edge : r->edge;
		r->waits = false;
	}
	if (seq_lt(r->edge, highest) && !r->waits) {
		r->waits = true;
		r->reorder_edge = highest;
		r->reorder_at = now + reorder;
	}
	if (r->waits && ranges_missing(&r->has, r->edge, r->reorder_edge) > 0)
		*wait = fg_u32_min(*wait, r->reorder_at - now);
	return ranges_missing(&r->has, before, r->edge) > 0;
}

/* was it sent before the retransmission that has arrived? (RFC 8985, 6.2, step 2) */
static bool
before_it(const struct loss_state *r, const struct retransmission *e)
{
	return seq_lt(e->at, r->delivered_at) ||
	       (e->at == r->delivered_at && seq_lt(e->to, r->delivered_end));
}

/* among retransmitted segments */
static bool
detect_again(const struct conn *c, struct loss_state *r, uint32_t now, uint32_t reorder, uint32_t *wait)
{
	bool lost = false;

	for (uint32_t i = 0; i < r->retransmissions;) {
		struct retransmission e = r->retransmission[i++];
		bool overtaken =
			seq_lt(e.next_seq, r->delivered_seq) || (r->again_delivered && before_it(r, &e));
		uint32_t late = e.at + c->srtt + reorder;

		if (!overtaken || ranges_missing(&r->has, e.from, e.to) == 0)
			continue;
		if (reorder > 0 && !has_come(now, late)) {
			*wait = fg_u32_min(*wait, late - now);
			continue;
		}
		lost = true;
		retransmission_forget(r, e.from, e.to);
		i--;
	}
	return lost;
}

bool
scoreboard_detect(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = loss_of(w, c);
	uint32_t now = now_us(w), reorder = reorder_window(c, r), wait = UINT32_MAX;
	bool lost = detect_first(c, r, now, reorder, &wait), again = detect_again(c, r, now, reorder, &wait);

	if (wait != UINT32_MAX)
		reorder_start(w, c, wait);
	if (!again)
		return lost;
	w->counters.lost_retransmits++;
	/* RFC 5681, 4.3: the loss of a retransmission is congestion once more */
	if (c->flags & IN_RECOVERY && seq_le(r->again_round, r->delivered_seq)) {
		congestion_met(w, c, false);
		c->flags |= FIRST_RETRANSMIT;
		r->again_round = c->snd_nxt;
	}
	return true;
}

void
scoreboard_all_lost(struct conn *c, struct loss_state *r)
{
	r->retransmissions = 0;
	r->waits = false;
	r->edge = r->again_round = c->snd_nxt;
}

uint32_t
scoreboard_retransmitted(const struct loss_state *r)
{
	uint32_t octets = 0;

	for (uint32_t i = 0; i < r->retransmissions && seq_lt(r->retransmission[i].from, r->edge); i++) {
		uint32_t to = r->retransmission[i].to;

		octets += ranges_missing(&r->has, r->retransmission[i].from,
					 seq_lt(r->edge, to) ? r->edge : to);
	}
	return octets;
}

bool
scoreboard_gap(const struct conn *c, const struct loss_state *r, uint32_t *begin, uint32_t *end)
{
	uint32_t from = c->snd_una, i = 0;

	while (ranges_gap(&r->has, from, r->edge, begin, end)) {
		while (i < r->retransmissions && seq_le(r->retransmission[i].to, *begin))
			i++;
		if (i == r->retransmissions || seq_le(*end, r->retransmission[i].from))
			return true;
		if (seq_lt(*begin, r->retransmission[i].from)) {
			*end = r->retransmission[i].from;
			return true;
		}
		from = r->retransmission[i].to;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss recovery. One account serves SACK (RFC 6675) and its absence (RFC 6582): what is in flight is what was sent,
 * less what the peer has, less what must be lost, plus what of that was sent again ("pipe"); and new or old segments
 * leave as long as the pipe is smaller than the congestion window. Without SACK a duplicate ACK says that some full
 * segment has arrived, so the pipe shrinks by one, which is how fast recovery inflates the window and how limited
 * transmit (RFC 3042) comes about.
 *
 * What must be lost: after a time-out all that the peer has not; in fast recovery what has three segments above it
 * that the peer has (RFC 6675, IsLost), or without SACK the first segment. A retransmission of the first hole that is
 * lost, too, shows when something arrives that was sent after it; it is sent once more instead of waiting for the
 * time-out, and counts as congestion again (RFC 5681, 4.3).
 */
#include "tcp_priv.h"

uint32_t
recovery_sack(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	uint32_t news = 0;

	for (unsigned i = 0; i < s->sacks; i++) {
		uint32_t from = s->sack[i].from, to = s->sack[i].to, added;

		/* below the acknowledgement: it came twice (RFC 2883), or is old */
		if (seq_le(from, s->ack) || !seq_lt(from, to) || seq_lt(c->snd_nxt, to))
			continue;
		if (c->sacked == 0)
			c->sacked = ranges_take(w);
		if (c->sacked == 0)
			return 1; /* no room to remember it, but it was a duplicate */
		added = ranges_add(&w->ranges[c->sacked], from, to);
		news += added == UINT32_MAX ? 1 : added;
	}
	return news;
}

/* RFC 6675, IsLost(): everything below is, if the peer has not got it */
static uint32_t
lost_by_sack(const struct fg_l4 *w, const struct conn *c)
{
	const struct ranges *has = ranges_of(w, c->sacked);
	uint32_t octets = 0;

	for (uint32_t i = has == NULL ? 0 : has->count; i-- > 0;) {
		octets += has->at[i].to - has->at[i].from;
		if (octets > (DUP_THRESH - 1U) * c->mss || has->count - i >= DUP_THRESH)
			return has->at[i].from;
	}
	return c->snd_una;
}

static uint32_t
lost_edge(const struct fg_l4 *w, const struct conn *c)
{
	if (c->flags & IN_LOSS)
		return c->recover;
	if (!(c->flags & IN_RECOVERY))
		return c->snd_una;
	if (c->flags & USE_SACK)
		return lost_by_sack(w, c);
	return c->snd_una + u32_min(c->mss, flight(c));
}

static uint32_t
missing(const struct ranges *has, uint32_t from, uint32_t to)
{
	return seq_lt(from, to) ? to - from - ranges_within(has, from, to) : 0;
}

uint32_t
recovery_pipe(const struct fg_l4 *w, const struct conn *c)
{
	const struct ranges *has = ranges_of(w, c->sacked);
	uint32_t pipe, arrived;

	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		pipe = has == NULL ? flight(c) : missing(has, c->snd_una, c->snd_nxt);
	else
		pipe = missing(has, lost_edge(w, c), c->snd_nxt) + missing(has, c->snd_una, c->high_rxt);
	if (c->flags & (USE_SACK | IN_LOSS))
		return pipe;
	arrived = (uint32_t)c->dupacks * c->mss;
	return pipe > arrived ? pipe - arrived : 0;
}

static void
enter(struct fg_l4 *w, struct conn *c)
{
	/* one reduction for the losses of one window, even if ECN told of it first (RFC 3168, 6.1.2) */
	if (!(c->flags & ECN_ROUND))
		congestion_met(w, c, false);
	c->cwnd = c->ssthresh;
	c->recover = c->rxt_mark = c->snd_nxt;
	c->high_rxt = c->snd_una;
	c->flags &= ~(uint32_t)(RESCUED | ECN_ROUND | TIMING);
	c->flags |= IN_RECOVERY | RECOVER_VALID | FIRST_RETRANSMIT;
	if (c->flags & USE_ECN)
		c->flags |= ECN_CWR;
	w->counters.fast_retransmits++;
}

/* was the first hole's retransmission lost, too? */
static void
check_retransmission(struct fg_l4 *w, struct conn *c)
{
	const struct ranges *has = ranges_of(w, c->sacked);

	if (has == NULL || has->count == 0 || !seq_lt(c->snd_una, c->high_rxt))
		return;
	if (seq_lt(has->at[has->count - 1].to, c->rxt_mark + DUP_THRESH * c->mss))
		return;
	congestion_met(w, c, false);
	c->cwnd = u32_min(c->cwnd, c->ssthresh);
	c->rxt_mark = c->snd_nxt;
	c->flags |= FIRST_RETRANSMIT;
	w->counters.lost_retransmits++;
}

void
recovery_duplicate(struct fg_l4 *w, struct conn *c)
{
	if (c->dupacks < UINT8_MAX)
		c->dupacks++;
	if (c->flags & (IN_RECOVERY | IN_LOSS)) {
		check_retransmission(w, c);
		return;
	}
	if (c->flags & USE_SACK) {
		if (c->dupacks >= DUP_THRESH || seq_lt(c->snd_una, lost_by_sack(w, c)))
			enter(w, c);
	} else if (c->dupacks == DUP_THRESH && !(c->flags & RECOVER_VALID)) {
		enter(w, c);
	}
}

/* RFC 6582, 3.2 step 3: a full acknowledgement */
static void
leave(struct conn *c)
{
	if (!(c->flags & USE_SACK))
		c->cwnd = u32_min(c->ssthresh, u32_max(flight(c), c->mss) + c->mss);
	c->flags &= ~(uint32_t)(IN_RECOVERY | FIRST_RETRANSMIT);
}

void
recovery_advance(struct fg_l4 *w, struct conn *c)
{
	if (c->flags & (RECOVER_VALID | ECN_ROUND) && seq_lt(c->recover, c->snd_una))
		c->flags &= ~(uint32_t)(RECOVER_VALID | ECN_ROUND);
	if (seq_le(c->recover, c->snd_una)) {
		if (c->flags & IN_RECOVERY)
			leave(c);
		c->flags &= ~(uint32_t)(IN_LOSS | FIRST_RETRANSMIT);
	} else if (c->flags & IN_RECOVERY) {
		c->rxt_mark = c->snd_nxt;
		if (!(c->flags & USE_SACK)) { /* a partial acknowledgement: the next segment is lost, too */
			c->high_rxt = c->snd_una;
			c->flags |= FIRST_RETRANSMIT;
		}
	}
	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		c->high_rxt = c->snd_una;
	/* the last peer that had something may have lost it all: nothing to remember is no set */
	if (c->sacked != 0 && w->ranges[c->sacked].count == 0)
		ranges_give(w, &c->sacked);
}

void
recovery_timeout(struct fg_l4 *w, struct conn *c)
{
	/* the peer said that it has the first octet missing, and does not acknowledge it (RFC 2018, 8) */
	if (c->sacked != 0 && w->ranges[c->sacked].count > 0 &&
	    seq_le(w->ranges[c->sacked].at[0].from, c->snd_una)) {
		ranges_give(w, &c->sacked);
		w->counters.reneged++;
	}
	if (c->backoff == 0)
		congestion_met(w, c, true);
	c->cwnd = c->mss;
	c->recover = c->rxt_mark = c->snd_nxt;
	c->high_rxt = c->snd_una;
	c->dupacks = 0;
	c->flags &= ~(uint32_t)(IN_RECOVERY | TIMING | ECN_ROUND);
	c->flags |= IN_LOSS | RECOVER_VALID | FIRST_RETRANSMIT;
	w->counters.timeouts++;
}

/* the first gap from @p from on, below @p edge */
static bool
gap(const struct ranges *has, uint32_t from, uint32_t edge, uint32_t *begin, uint32_t *end)
{
	*end = edge;
	for (uint32_t i = 0; has != NULL && i < has->count; i++) {
		if (seq_lt(from, has->at[i].from)) {
			if (seq_lt(has->at[i].from, edge))
				*end = has->at[i].from;
			break;
		}
		if (seq_lt(from, has->at[i].to))
			from = has->at[i].to;
	}
	*begin = from;
	return seq_lt(from, *end);
}

bool
recovery_next(const struct fg_l4 *w, const struct conn *c, uint32_t *from, uint32_t *to)
{
	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		return false;
	if (c->flags & FIRST_RETRANSMIT)
		return gap(ranges_of(w, c->sacked), c->snd_una, c->snd_nxt, from, to);
	return gap(ranges_of(w, c->sacked), c->high_rxt, lost_edge(w, c), from, to);
}

bool
recovery_rescue(const struct fg_l4 *w, struct conn *c, uint32_t *from, uint32_t *to)
{
	const struct ranges *has = ranges_of(w, c->sacked);
	uint32_t highest = has == NULL || has->count == 0 ? c->snd_una : has->at[has->count - 1].to;

	if (!(c->flags & IN_RECOVERY) || !(c->flags & USE_SACK))
		return false;
	if (gap(has, c->high_rxt, highest, from, to))
		return true;
	if (c->flags & RESCUED || seq_le(c->snd_nxt, highest))
		return false;
	c->flags |= RESCUED;
	*to = c->snd_nxt;
	*from = seq_lt(highest, c->snd_nxt - c->mss) ? c->snd_nxt - c->mss : highest;
	return true;
}

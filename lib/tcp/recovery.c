/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss recovery: what is retransmitted, and how fast. One account serves SACK (RFC 6675) and its absence (RFC
 * 6582). The bytes in flight ("pipe") are the bytes sent, less the acknowledged and the lost ones, plus the
 * retransmitted ones. Segments leave as long as the pipe is smaller than the congestion window. scoreboard.c
 * determines the lost segments; without SACK the first segment is lost.
 *
 * During recovery by SACK the window follows from what is delivered, so that the flight shrinks evenly to
 * what congestion control wants, and does not stall (proportional rate reduction, RFC 6937). Without SACK a
 * duplicate ACK says that some full segment has arrived, so the pipe shrinks by one, which is how fast
 * recovery inflates the window and how limited transmit (RFC 3042) comes about.
 *
 * A connection without room for its loss state recovers as without SACK: one hole at a time, and in order
 * after a time-out, by high_rxt.
 */
#include "tcp_priv.h"

/* below it everything is lost that the peer has not and that was not sent again */
static uint32_t
lost_edge(const struct conn *c, const struct loss_state *r)
{
	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		return c->snd_una;
	if (r != NULL && c->flags & USE_SACK)
		return r->edge;
	return c->flags & IN_LOSS ? c->recover : c->snd_una + fg_u32_min(c->mss, flight(c));
}

uint32_t
recovery_pipe(const struct fg_l4 *w, const struct conn *c)
{
	const struct loss_state *r = loss_of(w, c);
	const struct ranges *has = r == NULL ? NULL : &r->has;
	uint32_t pipe, arrived;

	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		pipe = has == NULL ? flight(c) : ranges_missing(has, c->snd_una, c->snd_nxt);
	else if (r != NULL && c->flags & USE_SACK)
		pipe = ranges_missing(has, r->edge, c->snd_nxt) + scoreboard_retransmitted(r);
	else
		pipe = (c->snd_nxt - lost_edge(c, r)) + (c->high_rxt - c->snd_una);
	if (c->flags & (USE_SACK | IN_LOSS))
		return pipe;
	arrived = (uint32_t)c->dupacks * c->mss;
	return pipe > arrived ? pipe - arrived : 0;
}

static void
enter(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = scoreboard_need(w, c);
	uint32_t in_flight = flight(c);

	if (r != NULL) {
		r->prr_delivered = r->prr_out = 0;
		r->recover_flight = in_flight;
		r->again_round = c->snd_nxt;
		r->undo = false;
	}
	/* one reduction for the losses of one window, even if ECN told of it first (RFC 3168, 6.1.2) */
	if (!(c->flags & ECN_ROUND)) {
		if (r != NULL)
			undo_prepare(c, r);
		congestion_met(w, c, false);
	}
	c->cwnd = fg_u32_min(c->cwnd, c->ssthresh);
	c->recover = c->snd_nxt;
	c->high_rxt = c->snd_una;
	if (c->reorder_left > 0 && --c->reorder_left == 0)
		c->reorder_more = 0;
	c->flags &= ~(uint32_t)(RESCUED | ECN_ROUND | TIMING);
	c->flags |= IN_RECOVERY | RECOVER_VALID | FIRST_RETRANSMIT;
	if (c->flags & USE_ECN)
		c->flags |= ECN_CWR;
	w->counters.fast_retransmits++;
}

void
recovery_duplicate(struct fg_l4 *w, struct conn *c)
{
	if (c->dupacks < UINT8_MAX)
		c->dupacks++;
	if (c->flags & (IN_RECOVERY | IN_LOSS))
		return;
	if (c->dupacks == DUP_THRESH && !(c->flags & RECOVER_VALID) &&
	    (!(c->flags & USE_SACK) || c->loss == 0))
		enter(w, c);
}

/* RFC 6582, 3.2 step 3, RFC 6937: a full acknowledgement */
static void
leave(struct conn *c)
{
	if (!(c->flags & USE_SACK) || c->loss == 0)
		c->cwnd = fg_u32_min(c->ssthresh, fg_u32_max(flight(c), c->mss) + c->mss);
	else
		c->cwnd = c->ssthresh;
	c->flags &= ~(uint32_t)(IN_RECOVERY | FIRST_RETRANSMIT);
}

void
recovery_advance(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = loss_of(w, c);

	if (c->flags & (RECOVER_VALID | ECN_ROUND) && seq_lt(c->recover, c->snd_una))
		c->flags &= ~(uint32_t)(RECOVER_VALID | ECN_ROUND);
	if (seq_le(c->recover, c->snd_una)) {
		if (c->flags & IN_RECOVERY)
			leave(c);
		c->flags &= ~(uint32_t)(IN_LOSS | FIRST_RETRANSMIT);
	} else if (c->flags & IN_RECOVERY && (!(c->flags & USE_SACK) || r == NULL)) {
		/* a partial acknowledgement: the next segment is lost, too */
		c->high_rxt = c->snd_una;
		c->flags |= FIRST_RETRANSMIT;
	}
	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		c->high_rxt = c->snd_una;
}

/* RFC 6937, 3, with the bound of slow start; a segment may go beyond it only if nothing more was lost (6.) */
static void
reduce_rate(const struct fg_l4 *w, struct conn *c, struct loss_state *r, uint32_t delivered, bool safe)
{
	uint32_t pipe = recovery_pipe(w, c), room;
	uint64_t target;

	r->prr_delivered += delivered;
	if (pipe > c->ssthresh) {
		target = ((uint64_t)r->prr_delivered * c->ssthresh + r->recover_flight - 1) /
			 fg_u32_max(r->recover_flight, 1);
		room = target > r->prr_out ? (uint32_t)target - r->prr_out : 0;
	} else {
		room = r->prr_delivered > r->prr_out ? r->prr_delivered - r->prr_out : 0;
		room = fg_u32_max(room, delivered) + (safe ? c->mss : 0);
		room = fg_u32_min(room, c->ssthresh - pipe);
	}
	c->cwnd = pipe + room;
}

/* nothing is missing, and no report of a spurious retransmission can follow: free the loss state */
static void
give_back(struct fg_l4 *w, struct conn *c, const struct loss_state *r)
{
	if (r->has.count == 0 && !(c->flags & (IN_RECOVERY | IN_LOSS)) && !r->undo)
		fg_pool_give(&own(w)->losses, &c->loss);
}

void
recovery_review(struct fg_l4 *w, struct conn *c, const struct segment *s, uint32_t delivered, bool advanced)
{
	struct loss_state *r = loss_of(w, c);
	bool lost;

	if (r == NULL)
		return;
	if (s != NULL)
		undo_check(w, c, r, s, advanced);
	if (c->flags & USE_SACK) {
		lost = scoreboard_detect(w, c);
		if (lost && !(c->flags & (IN_RECOVERY | IN_LOSS)))
			enter(w, c);
		if (c->flags & IN_RECOVERY)
			reduce_rate(w, c, r, delivered, advanced && !lost);
	}
	give_back(w, c, r);
}

void
recovery_restart(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = scoreboard_need(w, c);

	c->recover = c->snd_nxt;
	c->high_rxt = c->snd_una;
	if (r != NULL)
		scoreboard_all_lost(c, r);
	c->flags &= ~(uint32_t)(IN_RECOVERY | TIMING | TLP_OUT | TLP_NOW);
	c->flags |= IN_LOSS | RECOVER_VALID | FIRST_RETRANSMIT;
}

void
recovery_timeout(struct fg_l4 *w, struct conn *c)
{
	struct loss_state *r = scoreboard_need(w, c);

	/* the peer said that it has the first byte missing, and does not acknowledge it (RFC 2018, 8) */
	if (r != NULL && r->has.count > 0 && seq_le(r->has.at[0].from, c->snd_una)) {
		r->has.count = 0;
		w->counters.reneged++;
	}
	if (c->backoff == 0) {
		if (r != NULL && !(c->flags & IN_RECOVERY))
			undo_prepare(c, r);
		congestion_met(w, c, true);
	}
	c->cwnd = c->mss;
	c->dupacks = 0;
	c->flags &= ~(uint32_t)ECN_ROUND;
	recovery_restart(w, c);
	w->counters.timeouts++;
}

bool
recovery_next(const struct fg_l4 *w, const struct conn *c, uint32_t *from, uint32_t *to)
{
	struct loss_state *r = loss_of(w, c);

	if (!(c->flags & (IN_RECOVERY | IN_LOSS)))
		return false;
	if (c->flags & FIRST_RETRANSMIT)
		return ranges_gap(r == NULL ? NULL : &r->has, c->snd_una, c->snd_nxt, from, to);
	if (r != NULL && c->flags & USE_SACK)
		return scoreboard_gap(c, r, from, to) && scoreboard_room(r);
	*from = c->high_rxt;
	*to = lost_edge(c, r);
	return seq_lt(*from, *to);
}

bool
recovery_rescue(const struct fg_l4 *w, struct conn *c, uint32_t *from, uint32_t *to)
{
	const struct loss_state *r = loss_of(w, c);
	uint32_t highest;

	if (!(c->flags & IN_RECOVERY) || !(c->flags & USE_SACK) || r == NULL || c->flags & RESCUED)
		return false;
	highest = r->has.count == 0 ? c->snd_una : r->has.at[r->has.count - 1].to;
	if (seq_le(c->snd_nxt, highest))
		return false;
	c->flags |= RESCUED;
	*to = c->snd_nxt;
	*from = seq_lt(highest, c->snd_nxt - c->mss) ? c->snd_nxt - c->mss : highest;
	return true;
}

void
recovery_sent(const struct fg_l4 *w, struct conn *c, uint32_t from, uint32_t length, bool again)
{
	struct loss_state *r = loss_of(w, c);

	if (again && seq_lt(c->high_rxt, from + length))
		c->high_rxt = from + length;
	if (r == NULL)
		return;
	if (c->flags & IN_RECOVERY)
		r->prr_out += length;
	if (again) {
		scoreboard_sent(w, c, r, from, from + length);
		undo_sent(w, c, r);
	}
}

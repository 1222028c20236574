/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spurious recoveries: the segment was late, not lost. Two signs show it. With timestamps, the first new
 * acknowledgement echoes a timestamp older than the retransmission (Eifel, RFC 3522). With SACK, the peer
 * reports all retransmitted data as duplicates (RFC 2883, RFC 3708). The window is then restored (RFC 4015).
 */
#include "tcp_priv.h"

void
undo_prepare(const struct conn *c, struct loss_state *r)
{
	r->undo = true;
	r->spurious = r->has_retransmitted = false;
	r->undo_cwnd = c->cwnd;
	r->undo_ssthresh = c->ssthresh;
	r->undo_cubic = c->cubic;
	r->undo_until = c->snd_nxt;
	r->retransmitted_segments = 0;
}

void
undo_sent(const struct fg_l4 *w, const struct conn *c, struct loss_state *r)
{
	if (!r->undo)
		return;
	if (!r->has_retransmitted)
		r->retransmitted_ts = now_ms(w) + c->ts_offset;
	r->has_retransmitted = true;
	r->retransmitted_segments++;
	r->undo_until = c->snd_nxt;
}

void
undo_twice(const struct conn *c, struct loss_state *r, uint32_t octets)
{
	uint32_t segments = (octets + c->mss - 1) / c->mss;

	if (!r->undo || !r->has_retransmitted || r->retransmitted_segments == 0)
		return;
	r->retransmitted_segments -= fg_u32_min(segments, r->retransmitted_segments);
	r->spurious = r->retransmitted_segments == 0;
}

static bool
is_spurious(const struct conn *c, const struct loss_state *r, const struct segment *s, bool advanced)
{
	if (r->spurious)
		return true;
	return advanced && c->flags & USE_TS && s->has_ts && s->tsecr != 0 &&
	       seq_lt(s->tsecr, r->retransmitted_ts);
}

void
undo_check(struct fg_l4 *w, struct conn *c, struct loss_state *r, const struct segment *s, bool advanced)
{
	if (!r->undo)
		return;
	if (!r->has_retransmitted || !is_spurious(c, r, s, advanced)) {
		if (seq_lt(r->undo_until, c->snd_una))
			r->undo = false;
		return;
	}
	if (c->flags & IN_RECOVERY)
		c->reordered = true;
	c->cwnd = fg_u32_max(c->cwnd, r->undo_cwnd);
	c->ssthresh = fg_u32_max(c->ssthresh, r->undo_ssthresh);
	c->cubic = r->undo_cubic;
	c->flags &= ~(uint32_t)(IN_RECOVERY | IN_LOSS | FIRST_RETRANSMIT | RESCUED | RECOVER_VALID);
	r->undo = false;
	r->retransmissions = 0;
	r->waits = false;
	r->edge = c->snd_una;
	w->counters.spurious_recoveries++;
}

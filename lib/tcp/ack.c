/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process an acknowledgement: the peer's position, SACK blocks, window, ECN, and the round-trip time. Only
 * this file moves snd_una.
 */
#include "congestion_priv.h"

/* RFC 9293, 3.10.7.4 and RFC 5961, 5.2. @return false: ignore its number and its payload */
static bool
is_plausible(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	/* the peer accepted the byte of a window probe */
	if (c->flags & PROBE_OUT && s->ack == c->snd_nxt + 1) {
		c->snd_nxt++;
		c->flags &= ~(uint32_t)PROBE_OUT;
	}
	if (seq_le(s->ack, c->snd_nxt) && seq_le(c->snd_una - c->max_wnd, s->ack))
		return true;
	w->counters.bad_acks++;
	tcp_challenge(w, c);
	return false;
}

/*
 * RFC 9293: not from a segment older than the one before it; its acknowledgement leaves the edge as it is.
 * @return true: it changed
 */
static bool
window_update(struct conn *c, const struct segment *s)
{
	uint32_t before = c->snd_wnd;

	if (seq_lt(s->seq, c->snd_wl1)) {
		c->snd_wnd -= fg_u32_min(c->snd_wnd, s->ack - c->snd_una);
		return false;
	}
	tcp_take_window(c, s);
	return c->snd_wnd != before;
}

/* Karn's algorithm: retransmissions are not timed, unless a timestamp shows which copy was acknowledged */
static void
measure_rtt(const struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (c->flags & TIMING) {
		if (seq_le(c->rtt_seq, s->ack)) {
			rtt_timed(w, c);
			c->flags &= ~(uint32_t)TIMING;
		}
	} else if (c->flags & USE_TS && s->has_ts && s->tsecr != 0) {
		uint32_t ms = now_ms(w) + c->ts_offset - s->tsecr;

		if (ms < tcp_of(w, c)->rto_max_ms)
			rtt_sample(w, c, ms * NS_PER_MS);
	}
}

/* RFC 3168, 6.1.2: once in a window, as if a segment had been lost */
static void
ecn_echo(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (!(c->flags & USE_ECN) || !(s->flags & TCP_ECE) || c->flags & (IN_RECOVERY | IN_LOSS))
		return;
	if (c->flags & ECN_ROUND || flight(c) == 0)
		return;
	congestion_met(w, c, false);
	c->cwnd = c->ssthresh;
	c->recover = c->snd_nxt;
	c->flags |= ECN_ROUND | ECN_CWR;
	w->counters.ecn_reductions++;
}

static void
advance(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	uint32_t acked = s->ack - c->snd_una, before = flight(c);
	uint64_t end =
		c->stream.acked + acked < c->stream.written ? c->stream.acked + acked : c->stream.written;

	w->app[c->stream.app]->tally.octets_out +=
		end > c->stream.acked ? end - c->stream.acked : 0; /* not the FIN */
	measure_rtt(w, c, s);
	c->snd_una = s->ack;
	c->stream.acked += acked;
	c->backoff = 0;
	c->dupacks = 0;
	if (seq_lt(c->high_rxt, c->snd_una))
		c->high_rxt = c->snd_una;
	if (c->ssthresh == UINT32_MAX)
		hystart_acked(w, c, s);
	if (!(c->flags & IN_RECOVERY))
		congestion_acked(w, c, acked, before);
	recovery_advance(w, c);
	/* RFC 6298, 5.3 */
	rexmt_stop(c);
	if (ops_of(w, c)->acked != NULL && c->state != SYN_RECEIVED)
		ops_of(w, c)->acked(w, &c->stream);
}

/* RFC 5681, 2: is it a duplicate? With SACK it is one if it has new SACK information (RFC 6675, 2). */
static bool
is_duplicate(const struct conn *c, const struct segment *s, uint32_t news, bool window_moved)
{
	if (flight(c) == 0 || s->length > 0 || s->flags & TCP_FIN)
		return false;
	return c->flags & USE_SACK ? news > 0 : !window_moved;
}

bool
tcp_ack(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	uint32_t news;
	bool window_moved, advanced = s->ack != c->snd_una;

	if (!is_plausible(w, c, s))
		return false;
	c->unanswered = 0;
	if (seq_lt(s->ack, c->snd_una))
		return true; /* an old one, out of order */
	news = c->flags & USE_SACK && s->sacks > 0 ? scoreboard_sack(w, c, s) : 0;
	window_moved = window_update(c, s);
	if (advanced) {
		if (c->loss != 0)
			news += scoreboard_cut(w, c, s->ack);
		advance(w, c, s);
	} else if (is_duplicate(c, s, news, window_moved)) {
		w->counters.duplicate_acks++;
		recovery_duplicate(w, c);
	}
	if (c->state == CLOSED)
		return false;
	if (c->flags & TLP_OUT)
		tlp_acked(w, c, s, advanced);
	if (c->loss != 0) /* else nothing is missing */
		recovery_review(w, c, s, news, advanced);
	ecn_echo(w, c, s);
	tcp_ready(w, c);
	return true;
}

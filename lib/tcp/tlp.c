/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tail-loss probes (RFC 8985, 7). Nothing arrives above the last segments of a flight, so no acknowledgement
 * shows their loss. After two round trips without an answer one segment is sent, a new one or the last again.
 * The SACK that answers it shows the losses: recovery in place of a time-out.
 *
 * If the probe repairs the only loss, the last segment, no acknowledgement shows that loss. It still was
 * congestion, so the window is reduced unless a duplicate is reported.
 */
#include "congestion_priv.h"

enum {
	MOST_DELAY_US = 200000, /* delayed-ACK time of a peer for a single segment */
	MARGIN_US = 2000,
};

uint32_t
tlp_after(const struct fg_l4 *w, const struct conn *c)
{
	const struct loss_state *r = loss_of(w, c);
	uint32_t after = 2 * c->srtt + (flight(c) <= c->mss ? MOST_DELAY_US : MARGIN_US);

	if (!(c->flags & USE_SACK) || c->flags & (IN_RECOVERY | IN_LOSS | TLP_OUT) || c->srtt == 0 ||
	    c->backoff > 0 || (r != NULL && r->has.count > 0))
		return 0;
	return after < c->rto ? after : 0;
}

void
tlp_acked(struct fg_l4 *w, struct conn *c, const struct segment *s, bool advanced)
{
	if (seq_lt(s->ack, c->tlp_end))
		return;
	if (!c->tlp_again) {
		c->flags &= ~(uint32_t)TLP_OUT;
	} else if (s->ack != c->tlp_end) { /* and no duplicate was reported */
		c->flags &= ~(uint32_t)TLP_OUT;
		if (c->flags & (IN_RECOVERY | IN_LOSS))
			return;
		congestion_met(w, c, false);
		c->cwnd = fg_u32_min(c->cwnd, c->ssthresh);
		w->counters.tail_losses++;
	} else if (!advanced && s->length == 0 && s->sacks == 0) {
		c->flags &= ~(uint32_t)TLP_OUT; /* a peer without RFC 2883 got both */
	}
}

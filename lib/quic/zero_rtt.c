/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Early data (0-RTT; RFC 9001, 4.6). A client lets its application write its first data as soon as there is
 * something to be sent with, and sends it with its Initial. What the server does not take leaves once more,
 * on a stream that is opened again. A server hands it on as it comes, and answers before the handshake is
 * over.
 */
#include "quic_priv.h"

bool
zero_rtt_begin(struct fg_l4 *w, struct quic *q)
{
	struct fg_stream *s = &q->stream;

	if (!q->may_be_early || q->begun || q->phase != SHAKING || q->over || w->now >= w->stop_at)
		return true;
	conn_begin(w, q);
	q->is_early =
		streams_of(q) != NULL || (s->written > 0 && s->written <= q->carrier->config.tls.early_data);
	return q->phase == SHAKING;
}

uint64_t
zero_rtt_room(const struct quic *q)
{
	uint64_t most = q->carrier->config.tls.early_data;

	if (q->phase == OPEN || (q->is_early && q->carrier->config.tls.server))
		return UINT64_MAX;
	return q->is_early && q->early < most ? most - q->early : 0;
}

void
zero_rtt_sent(struct quic *q, uint64_t octets)
{
	if (q->phase != SHAKING || q->carrier->config.tls.server || octets == 0)
		return;
	q->carrier->tally.early_offered += q->early == 0;
	q->early += octets;
}

void
zero_rtt_came(struct fg_l4 *w, struct quic *q, uint64_t octets)
{
	struct carrier *c = q->carrier;

	c->tally.early_accepted += q->early == 0;
	c->tally.early_octets += octets;
	q->early += octets;
	q->is_early = true;
	conn_announce(q);
	conn_begin(w, q);
}

int
zero_rtt_settle(struct quic *q, bool *refused)
{
	struct carrier *c = q->carrier;

	*refused = q->is_early = false;
	if (c->config.tls.server || !q->may_be_early)
		return 0;
	if (gnutls_session_get_flags(q->session) & GNUTLS_SFLAGS_EARLY_DATA) {
		c->tally.early_accepted += q->early > 0;
		c->tally.early_octets += q->early;
		return 0;
	}
	*refused = q->begun;
	q->id = -1;
	q->sent = 0;
	q->announced = q->fin_sent = false;
	return early_data_rejected(q->conn);
}

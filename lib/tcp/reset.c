/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a worker: what is open is reset, a burst at a time. A peer or firewall with an old connection
 * would take the SYN of a later one with the same ports for a segment of the old one. An RST without the
 * peer's next number, after a loss, is answered by an ACK (RFC 5961, 3.2); the ACK finds no connection here,
 * and the RST that answers it has the right number.
 */
#include "tcp_priv.h"

static bool
is_open(const struct conn *c)
{
	return c->state != CLOSED && c->state != TIME_WAIT;
}

static void
reset_one(struct fg_l4 *w, struct conn *c)
{
	uint8_t ack = c->state == SYN_SENT ? 0 : TCP_ACK; /* of a SYN there is nothing to acknowledge */

	tcp_send_control(w, c, TCP_RST | ack, tcp_bare_seq(c));
	tcp_end(w, c, FG_L4_END_ABORTED);
	w->counters.left_open++;
}

static uint64_t
reset_poll(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out)
{
	struct fg_l4 *w = (struct fg_l4 *)endpoint;
	uint32_t next = own(w)->reset_next;

	w->now = now;
	w->out = out;
	for (; next < own(w)->fresh && fg_l4_room(w) != NULL; next++)
		if (is_open(&own(w)->conn[next]))
			reset_one(w, &own(w)->conn[next]);
	__atomic_store_n(&own(w)->reset_next, next, __ATOMIC_RELAXED);
	return fg_l4_has_reset(w) ? UINT64_MAX : now;
}

uint32_t
fg_l4_reset(struct fg_l4 *w)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < own(w)->fresh; i++)
		n += is_open(&own(w)->conn[i]);
	own(w)->reset_next = 1;
	w->endpoint.poll = reset_poll;
	return n;
}

bool
fg_l4_has_reset(const struct fg_l4 *w)
{
	return __atomic_load_n(&own(w)->reset_next, __ATOMIC_RELAXED) >=
	       __atomic_load_n(&own(w)->fresh, __ATOMIC_RELAXED);
}

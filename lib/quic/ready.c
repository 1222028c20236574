/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that may have something to send stand in a queue, each once, and are served in turn. */
#include "quic_priv.h"

void
ready_put(struct quic *q)
{
	struct carrier *c = q->carrier;
	uint32_t i = index_of(q);

	if (q->ready)
		return;
	q->ready = true;
	q->ready_next = 0;
	if (c->ready_first == 0)
		c->ready_first = i;
	else
		quic_at(c, c->ready_last)->ready_next = i;
	c->ready_last = i;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit. The buffers of a stream already hold its frame; what is written here is the header, which a device
 * that passes buffers on may have changed, and the signature. A port that departs frames by itself at a given time
 * gets them a little ahead with that time; any other gets them when they are due.
 */
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "engine_priv.h"
#include "fg_signature.h"

static inline void
fill(const struct tx_task *t, struct rte_mbuf *m, uint64_t number, uint64_t departure, bool launch)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	m->data_len = t->frame->length;
	m->pkt_len = t->frame->length;
	if (launch) {
		*RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *) = departure;
		m->ol_flags |= t->time_flag;
	}
	memcpy(data, t->frame->bytes, t->frame->header);
	fg_signature_write(data + t->frame->length, t->id, number, clock_ns(t->clock, departure));
}

static inline void
note_departures(struct tx_task *t, uint64_t first, uint64_t last)
{
	if (t->sequence == 0)
		t->first = first;
	t->last = last;
}

/* when frames must be handed over next; turns to the next load when the present one is done */
static uint64_t
next_departure(struct tx_task *t)
{
	uint64_t next = fg_pace_next(&t->pace);

	if (next == UINT64_MAX && t->present + 1 < t->loads) {
		t->load[t->present] = t->pace;
		t->pace = t->load[++t->present];
		next = fg_pace_next(&t->pace);
	}
	return next == UINT64_MAX ? next : next - t->lead;
}

static inline uint64_t
tx_poll(struct task *task, uint64_t now, bool launch)
{
	struct tx_task *t = (struct tx_task *)task;
	struct rte_mbuf *frames[BURST];
	unsigned n = fg_pace_due(&t->pace, now + t->lead, BURST), sent;
	uint64_t first = t->pace.next;

	if (n == 0)
		return next_departure(t);
	if (unlikely(rte_pktmbuf_alloc_bulk(t->pool, frames, n) != 0)) {
		t->no_mbuf += n;
		return now;
	}
	for (unsigned i = 0; i < n; i++)
		fill(t, frames[i], t->sequence + i, launch ? fg_pace_at(&t->pace, first + i) : now, launch);
	sent = t->port->tx(t->port, frames, (uint16_t)n, now);
	if (likely(sent > 0)) {
		if (launch)
			note_departures(t, fg_pace_at(&t->pace, first),
					fg_pace_at(&t->pace, first + sent - 1));
		else
			note_departures(t, now, now);
		t->sequence += sent; /* frames[0..sent) belong to the port now */
		fg_pace_commit(&t->pace, sent);
	}
	if (unlikely(sent < n)) {
		t->refused += n - sent;
		rte_pktmbuf_free_bulk(frames + sent, n - sent);
	}
	return now; /* what was sent may cause something at any time */
}

uint64_t
tx_poll_now(struct task *task, uint64_t now)
{
	return tx_poll(task, now, false);
}

uint64_t
tx_poll_launch(struct task *task, uint64_t now)
{
	return tx_poll(task, now, true);
}

void
tx_publish(struct task *task)
{
	struct tx_task *t = (struct tx_task *)task;

	atomic_store_explicit(&t->published.frames, t->sequence, memory_order_relaxed);
	atomic_store_explicit(&t->published.late, t->pace.late, memory_order_relaxed);
}

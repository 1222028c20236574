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
#include "fg_vary.h"

static __rte_always_inline void
fill(const struct tx_task *t, struct rte_mbuf *m, uint64_t number, uint64_t departure, bool launch, bool vary)
{
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	/* a buffer lies in its pool whole, single and ours alone; this is what its last use may have left behind */
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = launch ? t->time_flag : 0;
	m->data_len = t->frame->length;
	m->pkt_len = t->frame->length;
	if (launch)
		*RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *) = departure;
	/* in whole blocks: past the header comes the payload, which is the same, and the signature, still to come */
	for (unsigned i = 0; i < t->frame->header; i += 16)
		memcpy(data + i, t->frame->bytes + i, 16);
	if (vary)
		for (unsigned i = 0; i < t->frame->varies; i++)
			fg_vary_apply(&t->frame->vary[i], data, number);
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

static __rte_always_inline uint64_t
tx_poll(struct task *task, uint64_t now, bool launch, bool vary)
{
	struct tx_task *t = (struct tx_task *)task;
	struct rte_mbuf *frames[BURST];
	unsigned n = fg_pace_due(&t->pace, now + t->lead, BURST), sent;
	uint64_t first = t->pace.next;
	fg_u128 at;

	if (n == 0)
		return next_departure(t);
	if (unlikely(rte_mempool_get_bulk(t->pool, (void **)frames, n) != 0)) {
		t->no_mbuf += n;
		return now;
	}
	at = fg_pace_exact(&t->pace, first);
	for (unsigned i = 0; i < n; i++, at += fg_pace_step(&t->pace))
		fill(t, frames[i], t->sequence + i, launch ? (uint64_t)(at >> 64) : now, launch, vary);
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
		free_burst(frames + sent, n - sent);
	}
	return now; /* what was sent may cause something at any time */
}

static uint64_t
poll_now(struct task *task, uint64_t now)
{
	return tx_poll(task, now, false, false);
}

static uint64_t
poll_now_vary(struct task *task, uint64_t now)
{
	return tx_poll(task, now, false, true);
}

static uint64_t
poll_launch(struct task *task, uint64_t now)
{
	return tx_poll(task, now, true, false);
}

static uint64_t
poll_launch_vary(struct task *task, uint64_t now)
{
	return tx_poll(task, now, true, true);
}

tx_poller
tx_choose(bool launch, bool vary)
{
	static const tx_poller pollers[2][2] = {{poll_now, poll_now_vary}, {poll_launch, poll_launch_vary}};

	return pollers[launch][vary];
}

void
tx_publish(struct task *task)
{
	struct tx_task *t = (struct tx_task *)task;

	atomic_store_explicit(&t->published.frames, t->sequence, memory_order_relaxed);
	atomic_store_explicit(&t->published.late, t->pace.late, memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit. The buffers of a stream already hold its frame; what is written here is the header, which a device
 * that passes buffers on may have changed, and the signature. A port that departs frames by itself at a given time
 * gets them a little ahead with that time, those of all its streams in one order; any other gets them when they are
 * due.
 */
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_signature.h"
#include "fg_vary.h"
#include "tx_priv.h"

/*
 * What the frames of a burst have in common, copied out of the task: the compiler must assume that writing octets to
 * a frame changes whatever a pointer leads to, and would fetch it all again for each of them.
 */
struct common {
	const struct fg_template *frame; /* for its field programs */
	const uint8_t *bytes;
	struct clock clock;
	uint64_t time_flag;
	int time_offset;
	uint16_t length, header, id;
};

static __rte_always_inline struct common
have_in_common(const struct tx_task *t)
{
	return (struct common){
		.frame = t->frame,
		.bytes = t->frame->bytes,
		.clock = *t->clock,
		.time_flag = t->time_flag,
		.time_offset = t->time_offset,
		.length = t->frame->length,
		.header = t->frame->header,
		.id = t->id,
	};
}

static __rte_always_inline void
fill(const struct common *c, struct rte_mbuf *m, uint64_t number, uint64_t departure, bool launch, bool vary)
{
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	/* a buffer lies in its pool whole, single and ours alone; this is what its last use may have left behind */
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = launch ? c->time_flag : 0;
	m->data_len = c->length;
	m->pkt_len = c->length;
	if (launch)
		*RTE_MBUF_DYNFIELD(m, c->time_offset, uint64_t *) = departure;
	/* in whole blocks: past the header comes the payload, which is the same, and the signature, still to come */
	for (unsigned i = 0; i < c->header; i += 16)
		memcpy(data + i, c->bytes + i, 16);
	if (vary)
		for (unsigned i = 0; i < c->frame->varies; i++)
			fg_vary_apply(&c->frame->vary[i], data, number);
	fg_signature_write(data + c->length, c->id, number, clock_ns(&c->clock, departure));
}

/* one frame after the other, at their departures or, where the port does not wait for them, now */
static __rte_always_inline void
fill_burst(const struct tx_task *t, struct rte_mbuf **frames, unsigned n, uint64_t now, bool launch,
	   bool vary)
{
	const struct common common = have_in_common(t);
	const uint64_t sequence = t->sequence, next = t->pace.next;
	const bool steady = t->pace.burst == 0;
	const fg_u128 step = fg_pace_step(&t->pace);
	fg_u128 at = fg_pace_exact(&t->pace, next);

	for (unsigned i = 0; i < n; i++) {
		fill(&common, frames[i], sequence + i, launch ? (uint64_t)(at >> 64) : now, launch, vary);
		if (launch)
			at = steady ? at + step : fg_pace_exact(&t->pace, next + i + 1);
	}
}

static inline void
note_departures(struct tx_task *t, uint64_t first, uint64_t last)
{
	if (t->sequence == 0)
		t->first = first;
	t->last = last;
}

/* when frames that depart at @p next must be handed over */
static inline uint64_t
hand_over(const struct tx_task *t, uint64_t next)
{
	return next == UINT64_MAX ? next : next - t->lead;
}

/* turn to the next load when the present one is done */
static inline bool
next_load(struct tx_task *t)
{
	if (likely(t->pace.next < t->pace.total) || t->present + 1 >= t->loads)
		return false;
	t->load[t->present] = t->pace;
	t->pace = t->load[++t->present];
	return true;
}

/* send what departs up to @p until */
static __rte_always_inline uint64_t
send_due(struct tx_task *t, uint64_t now, uint64_t until, bool launch, bool vary)
{
	struct rte_mbuf *frames[BURST];
	unsigned n = fg_pace_due(&t->pace, until, BURST), sent;
	uint64_t first = t->pace.next;

	if (n == 0)
		return hand_over(t, fg_pace_next(&t->pace));
	if (unlikely(rte_mempool_get_bulk(t->pool, (void **)frames, n) != 0)) {
		t->no_mbuf += n;
		return now;
	}
	fill_burst(t, frames, n, now, launch, vary);
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

static __rte_always_inline uint64_t
tx_poll(struct task *task, uint64_t now, bool launch, bool vary)
{
	struct tx_task *t = (struct tx_task *)task;
	uint64_t next;

	do /* the first frames of the next load may be due in the same round */
		next = send_due(t, now, now + t->lead, launch, vary);
	while (next_load(t));
	return next;
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

/* of all streams of a port the one that has the next departure; @p then: the next one of any other */
static struct tx_task *
first_of(struct tx_task *t, uint64_t *then)
{
	struct tx_task *first = NULL;
	uint64_t least = UINT64_MAX;

	for (*then = UINT64_MAX; t != NULL; t = t->peer) {
		uint64_t next;

		while (next_load(t))
			;
		next = fg_pace_next(&t->pace);
		if (first == NULL || next < least) {
			*then = least;
			least = next;
			first = t;
		} else if (next < *then) {
			*then = next;
		}
	}
	return first;
}

/* a port that departs frames by itself does so in the order in which it got them: that of their departures */
static uint64_t
poll_in_order(struct task *task, uint64_t now)
{
	for (bool any = false;; any = true) {
		uint64_t then, until, before;
		struct tx_task *t = first_of((struct tx_task *)task, &then);

		until = RTE_MIN(now + t->lead, then);
		if (fg_pace_next(&t->pace) > until)
			return any ? now : hand_over(t, fg_pace_next(&t->pace));
		before = t->sequence;
		if (t->frame->varies > 0)
			send_due(t, now, until, true, true);
		else
			send_due(t, now, until, true, false);
		if (t->sequence == before)
			return now; /* the port is full, or there is no buffer */
	}
}

void
tx_join(struct tx_task *leader, struct tx_task *peer)
{
	peer->peer = leader->peer;
	leader->peer = peer;
	leader->task.poll = poll_in_order;
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
	for (struct tx_task *t = (struct tx_task *)task; t != NULL; t = t->peer)
		atomic_store_explicit(&t->published.frames, t->sequence, memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive. Every frame is looked at: a test frame of this trial goes to its stream's tracker and histogram, all
 * else is counted and offered to the responder, which may have to answer it.
 */
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "engine_priv.h"
#include "fg_signature.h"

/* no frame of ours: the sink takes it, or the responder if it has room, else it is gone */
static __rte_noinline void
foreign(struct rx_task *t, struct rte_mbuf *m, uint64_t arrival_ns)
{
	t->foreign++;
	if (t->sink != NULL && t->sink->take(t->sink, m, arrival_ns))
		return;
	if (rte_ring_sp_enqueue(t->to_responder, m) != 0)
		rte_pktmbuf_free(m);
}

static __rte_noinline void
keep_tag(struct rx_stream *stream, uint64_t number, int64_t delay)
{
	if (number == stream->next_tag && stream->tagged < stream->tags)
		stream->tag[stream->tagged++] = delay;
	do
		stream->next_tag = stream->tag_every == 0 ? UINT64_MAX : stream->next_tag + stream->tag_every;
	while (stream->next_tag <= number);
}

static inline void
note_gap(struct rx_stream *stream, uint64_t arrival_ns)
{
	uint64_t gap = arrival_ns - stream->last_arrival;

	if (unlikely(gap > stream->longest_gap && stream->last_arrival != 0)) {
		stream->longest_gap = gap;
		stream->gap_begin = stream->last_arrival;
	}
	stream->last_arrival = arrival_ns;
}

static inline void
measure(struct rx_task *t, const struct fg_signature *s, uint64_t arrival_ns)
{
	struct rx_stream *stream = &t->streams[(uint16_t)(s->stream - t->first_id)];
	int64_t delay;

	if (unlikely(stream->receiver != t)) {
		t->misdirected += stream->receiver != NULL; /* NULL: nobody looks for it */
		return;
	}
	t->frames++;
	/* only the first copy of a number enters other metrics (RFC 5560) */
	if (unlikely(!fg_sequence_observe(stream->sequence, s->sequence, arrival_ns)))
		return;
	delay = fg_signature_elapsed(arrival_ns, s->time_ns);
	fg_histogram_record(stream->latency, delay);
	note_gap(stream, arrival_ns);
	if (unlikely(s->sequence >= stream->next_tag))
		keep_tag(stream, s->sequence, delay);
}

static __rte_noinline void
show(const struct rx_task *t, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival, bool stamped)
{
	uint64_t arrivals[BURST];

	for (unsigned i = 0; i < n; i++)
		arrivals[i] = !stamped ? arrival
				       : clock_ns(t->clock,
						  *RTE_MBUF_DYNFIELD(frames[i], t->time_offset, uint64_t *));
	t->tap->see(t->tap, frames, arrivals, n);
}

static __rte_always_inline unsigned
take_burst(struct rx_task *t, uint64_t now, bool stamped)
{
	struct rte_mbuf *frames[BURST], *done[BURST];
	unsigned n = t->port->rx(t->port, frames, BURST, now), ours = 0;
	/* what another lcore has sent since the round began is older than the burst, but not than the round */
	uint64_t arrival = stamped || n == 0 ? 0 : clock_ns(t->clock, rte_rdtsc());

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod_offset(frames[i], uint8_t *,
						      frames[i]->data_len - FG_SIGNATURE_SIZE));
	if (unlikely(t->tap != NULL && n > 0))
		show(t, frames, n, arrival, stamped);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];
		struct fg_signature signature;
		const uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

		if (stamped)
			arrival = clock_ns(t->clock, *RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *));
		if (unlikely(!fg_signature_read(end, m->data_len, &signature) ||
			     (uint16_t)(signature.stream - t->first_id) >= t->ids)) {
			foreign(t, m, arrival);
			continue;
		}
		measure(t, &signature, arrival);
		done[ours++] = m;
	}
	if (ours > 0)
		free_burst(done, ours);
	return n;
}

static __rte_always_inline uint64_t
rx_poll(struct task *task, uint64_t now, bool stamped)
{
	struct rx_task *t = (struct rx_task *)task;
	unsigned n = take_burst(t, now, stamped);

	if (t->port->next_arrival == NULL)
		return now;
	/* several streams together may bring more than a burst in one step of the wire's time, which does not wait */
	while (n == BURST)
		n = take_burst(t, now, stamped);
	return t->port->next_arrival(t->port);
}

uint64_t
rx_poll_now(struct task *task, uint64_t now)
{
	return rx_poll(task, now, false);
}

uint64_t
rx_poll_stamped(struct task *task, uint64_t now)
{
	return rx_poll(task, now, true);
}

void
rx_publish(struct task *task)
{
	struct rx_task *t = (struct rx_task *)task;

	atomic_store_explicit(&t->published.frames, t->frames, memory_order_relaxed);
}

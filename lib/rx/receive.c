/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive. Every frame is looked at: a test frame of this trial goes to its stream's tracker and histogram,
 * all else is counted by kind and offered to the responder, which may have to answer it. Of a stream, a frame
 * in order touches its own line, one of the tracker and two of the histogram; where there are many streams,
 * mostly but one line (rx_batch.h).
 *
 * What is measured only if asked for (delay variation, payload, codepoints, the series over time) is in a
 * second loop, the extended one, which is chosen when any stream that arrives at the port asks, or makes
 * errors on purpose. In a third, queues of a port pass on to each other what belongs to another
 * (rx_queues.h).
 */
#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "fg_signature.h"
#include "rx_batch.h"
#include "rx_inject.h"
#include "rx_queues.h"

const struct rx_task rx_unassigned, rx_elsewhere;

/* A test frame: received here, or a record from another queue. */
struct rx_frame {
	const struct fg_signature *s;
	const struct rte_mbuf *m;       /* NULL: it is not here ... */
	const struct rx_record *passed; /* ... and this is what is known of it */
	uint64_t arrival_ns;
	uint32_t octets; /* without FCS */
};

/* not a test frame: for the sink, or the responder if it has room, else dropped */
static __rte_noinline void
rx_unsolicited(struct rx_task *t, struct rte_mbuf *m, uint64_t arrival_ns, bool test)
{
	t->unsolicited++;
	t->other_octets += rte_pktmbuf_pkt_len(m) + FG_ETHER_FCS;
	if (t->sink != NULL && t->sink->take(t->sink, m, arrival_ns)) {
		t->took = true;
		return;
	}
	t->kind[test ? FG_NET_KIND_TEST : fg_net_kind(rte_pktmbuf_mtod(m, uint8_t *), m->data_len)]++;
	if (rte_ring_enqueue(t->to_responder, m) != 0)
		rte_pktmbuf_free(m);
}

/* misdirected: a frame of this trial, of a stream not expected at this port */
static __rte_noinline void
rx_misdirected(struct rx_task *t, const struct rx_stream *stream, uint32_t octets)
{
	if (stream->receiver == NULL)
		return;
	t->misdirected++;
	t->other_octets += octets + FG_ETHER_FCS;
	t->rejected[stream - t->streams].misdirected++;
}

static __rte_noinline void
rx_keep_tag(struct rx_stream *stream, uint64_t number, int64_t delay)
{
	if (number == stream->next_tag && stream->tagged < stream->tags)
		stream->tag[stream->tagged++] = delay;
	do
		stream->next_tag = stream->tag_every == 0 ? UINT64_MAX : stream->next_tag + stream->tag_every;
	while (stream->next_tag <= number);
}

/*
 * One of the few frames that are looked at more closely; its parts by themselves, as of rx_measure_copy().
 * @return false: it is not the frame that was sent
 */
static __rte_noinline bool
rx_look(struct rx_task *t, struct rx_stream *stream, const struct rte_mbuf *m, uint64_t sent, uint64_t number,
	int64_t delay)
{
	bool same = number < stream->next_payload || rx_payload_sample(stream, m, sent, number);

	if (!same)
		t->rejected[stream - t->streams].altered[FG_ALTERED_PAYLOAD]++;
	else if (number >= stream->next_tag)
		rx_keep_tag(stream, number, delay);
	stream->next_look = RTE_MIN(stream->next_tag, stream->next_payload);
	return same;
}

static __rte_noinline void
rx_keep_gap(struct rx_stream *stream, uint64_t arrival_ns, const struct rte_mbuf *m, uint64_t number)
{
	if (stream->last_arrival == 0) {
		stream->first_arrival = arrival_ns;
		if (m != NULL)
			rx_find_translation(stream, m, number);
		return;
	}
	stream->longest_gap = arrival_ns - stream->last_arrival;
	stream->gap_begin = stream->last_arrival;
}

/* stamps of a card, and of other queues, may step back: such a frame is behind no gap */
static inline void
rx_note_gap(struct rx_stream *stream, uint64_t arrival_ns, const struct rte_mbuf *m, uint64_t number)
{
	if (unlikely(arrival_ns < stream->last_arrival))
		return;
	if (unlikely(arrival_ns - stream->last_arrival > stream->longest_gap))
		rx_keep_gap(stream, arrival_ns, m, number);
	stream->last_arrival = arrival_ns;
}

static inline void
rx_check_payload(struct rx_extended *extended, const struct rx_frame *f)
{
	if (likely(f->m != NULL))
		rx_payload_count(extended, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	else
		rx_payload_add(extended, &f->passed->payload);
}

/* is it a measured frame? Then @p number becomes its rank */
static inline bool
rx_is_measured(const struct rx_stream *stream, uint64_t *number, int64_t delay)
{
	struct rx_extended *extended = stream->extended;

	if (extended == NULL)
		return true;
	if (extended->inject != NULL) {
		enum rx_found found = rx_inject_find(extended->inject, number);

		stream->sequence->stale += found == RX_UNKNOWN;
		if (found != RX_RIGHT)
			return false;
	}
	if (unlikely(delay > extended->max_delay)) {
		extended->expired++;
		return false;
	}
	return true;
}

/* @p number among those measured; the signature says which frame it was */
static inline void
rx_measure_extended(const struct rx_stream *stream, const struct rx_frame *f, uint64_t number, int64_t delay)
{
	struct rx_extended *extended = stream->extended;

	if (extended == NULL)
		return;
	if (extended->variation != NULL)
		fg_variation_record(extended->variation, number, delay);
	if (extended->series != NULL)
		fg_series_arrive(extended->series, f->arrival_ns - (uint64_t)delay, delay,
				 f->octets + FG_ETHER_FCS, stream->sequence->next != number + 1);
	if (extended->sent != NULL)
		rx_check_payload(extended, f);
	if (extended->codepoints != NULL)
		extended->codepoints[f->m == NULL ? f->passed->codepoints : rx_codepoints_of(f->m)]++;
	if (extended->values != NULL)
		rx_values_count(extended->values,
				f->m == NULL ? f->passed->value : rx_values_of(extended->values, f->m),
				f->octets, delay, f->arrival_ns);
}

static inline struct rx_stream *
rx_stream_of(const struct rx_task *t, const struct fg_signature *s)
{
	return &t->streams[(uint16_t)(s->stream - t->first_id)];
}

/* a frame of a stream that is ours */
static __rte_always_inline void
rx_measure_ours(struct rx_task *t, struct rx_stream *stream, const struct rx_frame *f, bool extended)
{
	const uint64_t arrival_ns = f->arrival_ns;
	uint64_t number = f->s->sequence;
	int64_t delay;

	delay = fg_signature_elapsed(arrival_ns, f->s->time_ns);
	if (extended)
		delay += __atomic_load_n(&stream->peer_clock, __ATOMIC_RELAXED);
	if (extended && !rx_is_measured(stream, &number, delay))
		return;
	if (unlikely(number >= stream->next_look) &&
	    !rx_look(t, stream, f->m, f->s->sequence & ~FG_SIGNATURE_COPY, number, delay))
		return;
	t->frames++;
	/* only the first copy of a number enters other metrics (RFC 5560) */
	if (unlikely(!fg_sequence_observe(stream->sequence, number, arrival_ns))) {
		if (extended && stream->extended != NULL && stream->extended->series != NULL)
			fg_series_arrive_again(stream->extended->series, arrival_ns - (uint64_t)delay);
		return;
	}
	fg_histogram_record(stream->latency, delay);
	stream->octets += f->octets + FG_ETHER_FCS;
	rx_note_gap(stream, arrival_ns, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	if (extended)
		rx_measure_extended(stream, f, number, delay);
}

/*
 * A frame for several ports: is the stream of copies that comes out at this one ours? The parts of the frame
 * by themselves and by value, so that on the way of all others they may stay in registers: written to memory
 * and read back they cost 35 cycles a frame on some processors.
 */
static __rte_noinline void
rx_measure_copy(struct rx_task *t, struct rx_stream *stream, struct fg_signature s, const struct rte_mbuf *m,
		uint64_t arrival_ns)
{
	const struct rx_frame f = {.s = &s, .m = m, .arrival_ns = arrival_ns, .octets = m->data_len};

	for (struct rx_stream *copy = stream->copies; copy != NULL; copy = copy->copies) {
		if (rx_receiver(copy) != t)
			continue;
		rx_measure_ours(t, copy, &f, true);
		return;
	}
	rx_misdirected(t, stream, f.octets);
}

/*
 * A frame of a stream that is not ours: it may be another queue's, or misdirected, or of a stream without a
 * receiver so far, which then becomes ours. @return whether it is ours now
 */
static __rte_noinline bool
rx_is_ours_now(struct rx_task *t, struct rx_stream *stream, const struct rx_frame *f)
{
	const struct rx_task *receiver = &rx_unassigned;
	const struct rx_extended *extended = stream->extended;
	struct rx_record *record;

	if (stream->home != t->home || rx_receiver(stream) == NULL || rx_receiver(stream) == &rx_elsewhere) {
		rx_misdirected(t, stream, f->octets);
		return false;
	}
	if (__atomic_compare_exchange_n(&stream->receiver, &receiver, t, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return true;
	record = rx_queues_hold(t->queues, (unsigned)(receiver - t->home));
	*record = (struct rx_record){.signature = *f->s, .arrival_ns = f->arrival_ns, .octets = f->octets};
	if (extended != NULL && extended->sent != NULL)
		record->payload = rx_payload_check(extended->sent, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	if (extended != NULL && extended->codepoints != NULL)
		record->codepoints = rx_codepoints_of(f->m);
	if (extended != NULL && extended->values != NULL)
		record->value = rx_values_of(extended->values, f->m);
	return false;
}

static __rte_always_inline void
rx_measure(struct rx_task *t, const struct fg_signature *s, const struct rte_mbuf *m, uint64_t arrival_ns,
	   bool extended, bool queues)
{
	const struct rx_frame f = {.s = s, .m = m, .arrival_ns = arrival_ns, .octets = m->data_len};
	struct rx_stream *stream = rx_stream_of(t, s);

	if (unlikely(!rx_has_its_length(stream, f.octets, s->sequence)) &&
	    rx_is_altered(&t->rejected[stream - t->streams], stream, m, s->sequence))
		return;
	if (likely(rx_receiver(stream) == t))
		rx_measure_ours(t, stream, &f, extended);
	else if (!queues)
		rx_measure_copy(t, stream, *s, m, arrival_ns);
	else if (rx_is_ours_now(t, stream, &f))
		rx_measure_ours(t, stream, &f, extended);
}

/* measure some records of other queues. @return their number */
static __rte_always_inline unsigned
rx_take_passed(struct rx_task *t, bool extended)
{
	struct rx_queues *q = t->queues;
	struct rx_record record[FG_BURST];
	unsigned all = 0;

	for (unsigned k = 0; k < q->queues; k++) {
		unsigned n = q->from[k] == NULL
				     ? 0
				     : rte_ring_sc_dequeue_burst_elem(q->from[k], record, sizeof(record[0]),
								      FG_BURST, NULL);

		for (unsigned i = 0; i < n; i++) {
			const struct rx_record *r = &record[i];
			const struct rx_frame f = {.s = &r->signature,
						   .passed = r,
						   .arrival_ns = r->arrival_ns,
						   .octets = r->octets};
			struct rx_stream *stream = rx_stream_of(t, &r->signature);

			if (unlikely(rx_receiver(stream) != t)) /* it has been forgotten since */
				continue;
			stream->over |= 1u << k;
			stream->passed++;
			rx_measure_ours(t, stream, &f, extended);
		}
		all += n;
	}
	q->taken += all;
	return all;
}

void
rx_take_all_passed(struct rx_task *t)
{
	while (rx_take_passed(t, true) > 0)
		;
}

/* with many streams; an ordinary frame in order only enters a batch */
static __rte_noinline void
rx_measure_unbatched(struct rx_task *t, struct fg_signature s, const struct rte_mbuf *m, uint64_t arrival_ns)
{
	const struct rx_frame f = {.s = &s, .m = m, .arrival_ns = arrival_ns, .octets = m->data_len};
	struct rx_stream *stream = rx_stream_of(t, &s);
	struct rx_batch *batch = rx_batch_of(t, stream);

	if (!rx_has_its_length(stream, f.octets, s.sequence) &&
	    rx_is_altered(&t->rejected[stream - t->streams], stream, m, s.sequence))
		return;
	if (batch->queue != t->queue) {
		if (rx_receiver(stream) == t) /* its frames enter no batch, being of several sizes */
			rx_measure_ours(t, stream, &f, false);
		else
			rx_measure_copy(t, stream, s, m, arrival_ns);
		return;
	}
	rx_batch_flush(t, stream);
	if (rx_batch_add(batch, s.sequence, arrival_ns, fg_signature_elapsed(arrival_ns, s.time_ns),
			 f.octets)) {
		t->frames++;
		return;
	}
	rx_measure_ours(t, stream, &f, false);
	rx_batch_resume(t, stream);
}

static __rte_always_inline void
rx_measure_of_many(struct rx_task *t, const struct fg_signature *s, const struct rte_mbuf *m,
		   uint64_t arrival_ns)
{
	struct rx_batch *batch = &t->batches[(uint16_t)(s->stream - t->first_id)];
	int64_t delay = fg_signature_elapsed(arrival_ns, s->time_ns);

	if (likely(batch->queue == t->queue &&
		   rx_batch_add(batch, s->sequence, arrival_ns, delay, m->data_len)))
		t->frames++;
	else
		rx_measure_unbatched(t, *s, m, arrival_ns);
}

static __rte_always_inline unsigned
rx_take_burst(struct rx_task *t, uint64_t now, bool stamped, bool extended, bool queues, bool many)
{
	struct rte_mbuf *frames[FG_BURST], *done[FG_BURST];
	unsigned n = t->port->rx(t->port, frames, FG_BURST, now), ours = 0;
	/* what another lcore has sent since the pass began is older than the burst, but not than the pass */
	uint64_t arrival = stamped || n == 0 ? 0 : fg_clock_ns(t->clock, rte_rdtsc());

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod_offset(frames[i], uint8_t *,
						      frames[i]->data_len - FG_SIGNATURE_SIZE));
	if (unlikely(n > 0 && rx_is_tapped(t)))
		rx_show(t, frames, n, arrival, stamped);
	if (many)
		rx_prefetch_batches(t, frames, n);
	else if (t->ids > RX_FEW && n > 1)
		rx_prefetch(t, frames, n, arrival, stamped);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];
		struct fg_signature signature;
		const uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

		if (stamped)
			arrival = fg_clock_ns(t->clock, *RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *));
		if (unlikely(!fg_signature_read(end, m->data_len, &signature))) {
			rx_unsolicited(t, m, arrival, false);
			continue;
		}
		if (unlikely((uint16_t)(signature.stream - t->first_id) >= t->ids)) {
			rx_unsolicited(t, m, arrival, true);
			continue;
		}
		if (many)
			rx_measure_of_many(t, &signature, m, arrival);
		else
			rx_measure(t, &signature, m, arrival, extended, queues);
		done[ours++] = m;
	}
	if (queues)
		rx_queues_hand_over(t->queues);
	if (ours > 0)
		fg_burst_free(done, ours);
	return n;
}

static __rte_always_inline uint64_t
rx_receive(struct fg_task *task, uint64_t now, bool stamped, bool extended, bool queues, bool many)
{
	struct rx_task *t = (struct rx_task *)task;
	unsigned n = rx_take_burst(t, now, stamped, extended, queues, many);

	if (queues) {
		rx_take_passed(t, extended);
		if (unlikely(t->nth == 0 && rx_is_tapped(t)))
			rx_show_passed(t);
	}
	if (t->port->next_arrival == NULL)
		return now;
	/*
	 * several streams together may bring more than a burst in one step of the wire's time, which does not
	 * wait
	 */
	while (n == FG_BURST)
		n = rx_take_burst(t, now, stamped, extended, queues, many);
	if (unlikely(t->took)) { /* the sink's task may have something to do now */
		t->took = false;
		return now;
	}
	return t->port->next_arrival(t->port);
}

/* one loop for each, so that none decides this for every frame: stamped, extended, queues, many */
#define LOOPS(X)                                         \
	X(now, false, false, false, false)               \
	X(now_many, false, false, false, true)           \
	X(now_queues, false, false, true, false)         \
	X(now_extended, false, true, false, false)       \
	X(now_extended_queues, false, true, true, false) \
	X(stamped, true, false, false, false)            \
	X(stamped_many, true, false, false, true)        \
	X(stamped_queues, true, false, true, false)      \
	X(stamped_extended, true, true, false, false)    \
	X(stamped_extended_queues, true, true, true, false)

#define LOOP(name, stamped, extended, queues, many)                            \
	static uint64_t rx_receive_##name(struct fg_task *task, uint64_t now)  \
	{                                                                      \
		return rx_receive(task, now, stamped, extended, queues, many); \
	}
LOOPS(LOOP)

rx_poller
rx_choose(bool stamped, bool extended, bool queues, bool many)
{
#define ENTRY(name, stamped, extended, queues, many) [stamped][extended][queues][many] = rx_receive_##name,
	static const rx_poller loops[2][2][2][2] = {LOOPS(ENTRY)};

	return loops[stamped][extended][queues][many && !extended && !queues];
}

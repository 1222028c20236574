/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive. Every frame is looked at: a test frame of this trial goes to its stream's tracker and histogram, all
 * else is counted by kind and offered to the responder, which may have to answer it. Of a stream, a frame in order
 * touches its own line, one of the tracker and two of the histogram; where there are many streams, mostly but one line
 * (rx_note.h).
 *
 * What is measured only if asked for (delay variation, payload, marks, the series over time) is in a second loop,
 * which is chosen when any stream of the trial asks, or makes errors on purpose. In a third, lanes of a port pass on to
 * each other what belongs to another (rx_lanes.h).
 */
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "fg_signature.h"
#include "rx_fault.h"
#include "rx_lanes.h"
#include "rx_note.h"

const struct rx_task rx_nobody;

/* What is known of a test frame: it is here, or another lane has passed on what it knew. */
struct rx_frame {
	const struct fg_signature *s;
	const struct rte_mbuf *m;       /* NULL: it is not here ... */
	const struct rx_record *passed; /* ... and this says what is the matter with it */
	uint64_t arrival_ns;
	uint32_t octets; /* without FCS */
};

/* no frame of ours: the sink takes it, or the responder if it has room, else it is gone */
static __rte_noinline void
foreign(struct rx_task *t, struct rte_mbuf *m, uint64_t arrival_ns, bool test)
{
	t->foreign++;
	if (t->sink != NULL && t->sink->take(t->sink, m, arrival_ns)) {
		t->took = true;
		return;
	}
	t->kind[test ? FG_NET_KIND_TEST : fg_net_kind(rte_pktmbuf_mtod(m, uint8_t *), m->data_len)]++;
	if (rte_ring_enqueue(t->to_responder, m) != 0)
		rte_pktmbuf_free(m);
}

/* a frame of this trial, but of a stream that should not come here; NULL: nobody looks for it */
static __rte_noinline void
astray(struct rx_task *t, const struct rx_stream *stream)
{
	if (stream->receiver == NULL)
		return;
	t->misdirected++;
	t->astray[stream - t->streams].misdirected++;
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

static __rte_noinline void
keep_gap(struct rx_stream *stream, uint64_t arrival_ns, const struct rte_mbuf *m, uint64_t number)
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

/* stamps of a card, and those of other lanes, may step back: such a frame is behind no gap */
static inline void
note_gap(struct rx_stream *stream, uint64_t arrival_ns, const struct rte_mbuf *m, uint64_t number)
{
	if (unlikely(arrival_ns < stream->last_arrival))
		return;
	if (unlikely(arrival_ns - stream->last_arrival > stream->longest_gap))
		keep_gap(stream, arrival_ns, m, number);
	stream->last_arrival = arrival_ns;
}

static inline void
check_payload(struct rx_extra *extra, const struct rx_frame *f)
{
	if (likely(f->m != NULL))
		rx_payload_count(extra, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	else
		rx_payload_add(extra, &f->passed->payload);
}

/* is it a frame by which the device is measured? Then @p number becomes its place among those */
static inline bool
is_measured(const struct rx_stream *stream, uint64_t *number, int64_t delay)
{
	struct rx_extra *extra = stream->extra;

	if (extra == NULL)
		return true;
	if (extra->faults != NULL) {
		enum rx_fault found = rx_faults_find(extra->faults, number);

		stream->sequence->stale += found == RX_UNKNOWN;
		if (found != RX_RIGHT)
			return false;
	}
	if (unlikely(delay > extra->latest)) {
		extra->expired++;
		return false;
	}
	return true;
}

/* @p number among those measured; the signature says which frame it was */
static inline void
measure_more(const struct rx_stream *stream, const struct rx_frame *f, uint64_t number, int64_t delay)
{
	struct rx_extra *extra = stream->extra;

	if (extra == NULL)
		return;
	if (extra->variation != NULL)
		fg_variation_record(extra->variation, number, delay);
	if (extra->series != NULL)
		series_arrive(extra->series, f->arrival_ns - (uint64_t)delay, delay, f->octets + FG_ETHER_FCS,
			      stream->sequence->next != number + 1);
	if (extra->sent != NULL)
		check_payload(extra, f);
	if (extra->marks != NULL)
		extra->marks[f->m == NULL ? f->passed->mark : marks_of(f->m)]++;
}

static inline struct rx_stream *
stream_of(const struct rx_task *t, const struct fg_signature *s)
{
	return &t->streams[(uint16_t)(s->stream - t->first_id)];
}

/* a frame of a stream that is ours */
static __rte_always_inline void
measure_ours(struct rx_task *t, struct rx_stream *stream, const struct rx_frame *f, bool more)
{
	const uint64_t arrival_ns = f->arrival_ns;
	uint64_t number = f->s->sequence;
	int64_t delay;

	delay = fg_signature_elapsed(arrival_ns, f->s->time_ns);
	if (more)
		delay += atomic_load_explicit(&t->other_clock, memory_order_relaxed);
	if (more && !is_measured(stream, &number, delay))
		return;
	t->frames++;
	/* only the first copy of a number enters other metrics (RFC 5560) */
	if (unlikely(!fg_sequence_observe(stream->sequence, number, arrival_ns))) {
		if (more && stream->extra != NULL && stream->extra->series != NULL)
			series_arrive_again(stream->extra->series, arrival_ns - (uint64_t)delay);
		return;
	}
	fg_histogram_record(stream->latency, delay);
	stream->octets += f->octets + FG_ETHER_FCS;
	note_gap(stream, arrival_ns, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	if (unlikely(number >= stream->next_tag))
		keep_tag(stream, number, delay);
	if (more)
		measure_more(stream, f, number, delay);
}

/* a frame of another lane's stream, of one that goes astray, or of one that is nobody's yet: @return whether it is ours now */
static __rte_noinline bool
is_ours_now(struct rx_task *t, struct rx_stream *stream, const struct rx_frame *f)
{
	const struct rx_task *receiver = &rx_nobody;
	struct rx_payload payload = {0};
	uint16_t mark = 0;

	if (stream->home != t->home ||
	    atomic_load_explicit(&stream->receiver, memory_order_relaxed) == NULL) {
		astray(t, stream);
		return false;
	}
	if (atomic_compare_exchange_strong_explicit(&stream->receiver, &receiver, t, memory_order_relaxed,
						    memory_order_relaxed))
		return true;
	if (stream->extra != NULL && stream->extra->sent != NULL)
		payload = rx_payload_check(stream->extra->sent, f->m, f->s->sequence & ~FG_SIGNATURE_COPY);
	if (stream->extra != NULL && stream->extra->marks != NULL)
		mark = marks_of(f->m);
	*rx_lanes_hold(t->lanes, (unsigned)(receiver - t->home)) =
		(struct rx_record){.signature = *f->s,
				   .arrival_ns = f->arrival_ns,
				   .octets = f->octets,
				   .payload = payload,
				   .mark = mark};
	return false;
}

static __rte_always_inline void
measure(struct rx_task *t, const struct fg_signature *s, const struct rte_mbuf *m, uint64_t arrival_ns,
	bool more, bool lanes)
{
	const struct rx_frame f = {.s = s, .m = m, .arrival_ns = arrival_ns, .octets = m->data_len};
	struct rx_stream *stream = stream_of(t, s);

	if (unlikely(!rx_has_its_length(stream, f.octets, s->sequence)) &&
	    rx_is_altered(t, stream, m, s->sequence))
		return;
	if (likely(atomic_load_explicit(&stream->receiver, memory_order_relaxed) == t))
		measure_ours(t, stream, &f, more);
	else if (!lanes)
		astray(t, stream);
	else if (is_ours_now(t, stream, &f))
		measure_ours(t, stream, &f, more);
}

/* some of what other lanes have passed on. @return how much */
static __rte_always_inline unsigned
take_passed(struct rx_task *t, bool more)
{
	struct rx_lanes *l = t->lanes;
	struct rx_record record[BURST];
	unsigned all = 0;

	for (unsigned k = 0; k < l->lanes; k++) {
		unsigned n = l->from[k] == NULL ? 0
						: rte_ring_sc_dequeue_burst_elem(
							  l->from[k], record, sizeof(record[0]), BURST, NULL);

		for (unsigned i = 0; i < n; i++) {
			const struct rx_record *r = &record[i];
			const struct rx_frame f = {.s = &r->signature,
						   .passed = r,
						   .arrival_ns = r->arrival_ns,
						   .octets = r->octets};
			struct rx_stream *stream = stream_of(t, &r->signature);

			stream->over |= 1u << k;
			stream->passed++;
			measure_ours(t, stream, &f, more);
		}
		all += n;
	}
	l->taken += all;
	return all;
}

void
rx_take_all_passed(struct rx_task *t)
{
	while (take_passed(t, true) > 0)
		;
}

/* of many streams; what is in order and nothing out of the way is but noted, see rx_note.h */
static __rte_noinline void
measure_unnoted(struct rx_task *t, struct rx_stream *stream, const struct rx_frame *f, int64_t delay)
{
	struct rx_note *note = rx_note_of(t, stream);

	if (!rx_has_its_length(stream, f->octets, f->s->sequence) &&
	    rx_is_altered(t, stream, f->m, f->s->sequence))
		return;
	if (note->lane != t->lane) {
		astray(t, stream);
		return;
	}
	rx_note_enter(t, stream);
	if (rx_note(note, f->s->sequence, f->arrival_ns, delay, f->octets)) {
		t->frames++;
		return;
	}
	measure_ours(t, stream, f, false);
	rx_note_resume(t, stream);
}

static __rte_always_inline void
measure_of_many(struct rx_task *t, const struct fg_signature *s, const struct rte_mbuf *m,
		uint64_t arrival_ns)
{
	const struct rx_frame f = {.s = s, .m = m, .arrival_ns = arrival_ns, .octets = m->data_len};
	struct rx_note *note = &t->notes[(uint16_t)(s->stream - t->first_id)];
	int64_t delay = fg_signature_elapsed(arrival_ns, s->time_ns);

	if (likely(note->lane == t->lane && rx_note(note, s->sequence, arrival_ns, delay, f.octets)))
		t->frames++;
	else
		measure_unnoted(t, stream_of(t, s), &f, delay);
}

static __rte_always_inline unsigned
take_burst(struct rx_task *t, uint64_t now, bool stamped, bool more, bool lanes, bool many)
{
	struct rte_mbuf *frames[BURST], *done[BURST];
	unsigned n = t->port->rx(t->port, frames, BURST, now), ours = 0;
	/* what another lcore has sent since the round began is older than the burst, but not than the round */
	uint64_t arrival = stamped || n == 0 ? 0 : clock_ns(t->clock, rte_rdtsc());

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod_offset(frames[i], uint8_t *,
						      frames[i]->data_len - FG_SIGNATURE_SIZE));
	if (unlikely(n > 0 && rx_is_tapped(t)))
		rx_show(t, frames, n, arrival, stamped);
	if (many)
		rx_ahead_notes(t, frames, n);
	else if (t->ids > RX_FEW && n > 1)
		rx_ahead(t, frames, n, arrival, stamped);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];
		struct fg_signature signature;
		const uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

		if (stamped)
			arrival = clock_ns(t->clock, *RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *));
		if (unlikely(!fg_signature_read(end, m->data_len, &signature))) {
			foreign(t, m, arrival, false);
			continue;
		}
		if (unlikely((uint16_t)(signature.stream - t->first_id) >= t->ids)) {
			foreign(t, m, arrival, true);
			continue;
		}
		if (many)
			measure_of_many(t, &signature, m, arrival);
		else
			measure(t, &signature, m, arrival, more, lanes);
		done[ours++] = m;
	}
	if (lanes)
		rx_lanes_hand_over(t->lanes);
	if (ours > 0)
		free_burst(done, ours);
	return n;
}

static __rte_always_inline uint64_t
rx_poll(struct fg_task *task, uint64_t now, bool stamped, bool more, bool lanes, bool many)
{
	struct rx_task *t = (struct rx_task *)task;
	unsigned n = take_burst(t, now, stamped, more, lanes, many);

	if (lanes)
		take_passed(t, more);
	if (t->port->next_arrival == NULL)
		return now;
	/* several streams together may bring more than a burst in one step of the wire's time, which does not wait */
	while (n == BURST)
		n = take_burst(t, now, stamped, more, lanes, many);
	if (unlikely(t->took)) { /* the sink's task may have something to do now */
		t->took = false;
		return now;
	}
	return t->port->next_arrival(t->port);
}

static uint64_t
poll_now(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, false, false, false, false);
}

static uint64_t
poll_now_lanes(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, false, false, true, false);
}

static uint64_t
poll_now_more(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, false, true, false, false);
}

static uint64_t
poll_now_more_lanes(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, false, true, true, false);
}

static uint64_t
poll_now_many(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, false, false, false, true);
}

static uint64_t
poll_stamped_many(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, true, false, false, true);
}

static uint64_t
poll_stamped(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, true, false, false, false);
}

static uint64_t
poll_stamped_lanes(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, true, false, true, false);
}

static uint64_t
poll_stamped_more(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, true, true, false, false);
}

static uint64_t
poll_stamped_more_lanes(struct fg_task *task, uint64_t now)
{
	return rx_poll(task, now, true, true, true, false);
}

rx_poller
rx_choose(bool stamped, bool more, bool lanes, bool many)
{
	static const rx_poller pollers[2][2][2] = {
		{{poll_now, poll_now_lanes}, {poll_now_more, poll_now_more_lanes}},
		{{poll_stamped, poll_stamped_lanes}, {poll_stamped_more, poll_stamped_more_lanes}},
	};

	if (many && !more && !lanes)
		return stamped ? poll_stamped_many : poll_now_many;
	return pollers[stamped][more][lanes];
}

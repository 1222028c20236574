/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trial has counted: while it runs, totals from the published copies; after it has ended, everything,
 * read from the tasks themselves, which nobody writes any more.
 */
#include <string.h>

#include "fg_port_stamps.h"
#include "engine_priv.h"
#include "tx_inject.h"

static uint64_t
traffic_ns(const struct fg_engine *e, uint64_t now)
{
	uint64_t start = e->trial->job[0].start;

	return now > start ? fg_clock_span_ns(&e->clock, now - start) : 0;
}

/* after the trial, control copies what it reads */
static uint64_t
oldest_copy(const struct fg_engine *e)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; e->running && i < e->queues; i++)
		if (e->trial->rx.task[i].ids > 0)
			oldest = RTE_MIN(oldest,
					 __atomic_load_n(&e->trial->rx.task[i].copied, __ATOMIC_ACQUIRE));
	return oldest;
}

void
fg_engine_live(const struct fg_engine *e, struct fg_live *out)
{
	const struct trial *t = e->trial;
	uint64_t now;

	*out = (struct fg_live){0};
	if (t == NULL)
		return;
	for (unsigned i = 0; i < split_all(&t->split); i++) {
		out->tx += tx_measured(&t->tx.stream[i]);
		out->missing += __atomic_load_n(&t->rx.stream[i].live.missing, __ATOMIC_RELAXED);
		if (t->tx.stream[i].queue != TX_NO_QUEUE)
			out->own_queue_max_ns =
				RTE_MAX(out->own_queue_max_ns, tx_own_queue(&t->tx, &t->tx.stream[i]));
	}
	for (unsigned i = 0; i < e->queues; i++)
		out->rx += __atomic_load_n(&t->rx.task[i].published, __ATOMIC_RELAXED);
	now = RTE_MIN(fg_lcore_now(&e->lcore[0]), t->job[0].stop);
	out->elapsed_ns = traffic_ns(e, now);
	out->copied_ns = traffic_ns(e, RTE_MIN(now, oldest_copy(e)));
}

static void
add_live(const struct rx_live *live, const struct tx *all, const struct tx_stream *tx,
	 struct fg_stream_live *out)
{
	uint64_t least = __atomic_load_n(&live->delay_min, __ATOMIC_RELAXED);
	uint64_t most = __atomic_load_n(&live->delay_max, __ATOMIC_RELAXED);
	uint64_t frames = __atomic_load_n(&live->frames, __ATOMIC_RELAXED);

	if (frames > 0 && (out->rx_frames == 0 || least < out->delay_min_ns))
		out->delay_min_ns = least;
	out->delay_max_ns = RTE_MAX(out->delay_max_ns, most);
	out->rx_frames += frames;
	out->tx_frames += tx_sent(tx);
	out->tx_wrong += tx_wrong(tx);
	out->tx_octets += tx_octets(tx);
	out->rx_octets += __atomic_load_n(&live->octets, __ATOMIC_RELAXED);
	out->missing += __atomic_load_n(&live->missing, __ATOMIC_RELAXED);
	out->delay_sum_ns += __atomic_load_n(&live->delay_sum, __ATOMIC_RELAXED);
	out->own_queue_max_ns = RTE_MAX(out->own_queue_max_ns, tx_own_queue(all, tx));
	out->duplicates += __atomic_load_n(&live->duplicates, __ATOMIC_RELAXED);
	out->reordered += __atomic_load_n(&live->reordered, __ATOMIC_RELAXED);
}

/* the times of arrival, by the clock, as times since the start of traffic */
static void
add_arrivals(const struct rx_live *live, uint64_t start_ns, struct fg_stream_live *out)
{
	uint64_t first = __atomic_load_n(&live->first_arrival, __ATOMIC_RELAXED);
	uint64_t last = __atomic_load_n(&live->last_arrival, __ATOMIC_RELAXED);

	if (first <= start_ns || last <= start_ns)
		return;
	if (out->first_arrival_ns == 0 || first - start_ns < out->first_arrival_ns)
		out->first_arrival_ns = first - start_ns;
	out->last_arrival_ns = RTE_MAX(out->last_arrival_ns, last - start_ns);
}

void
fg_engine_stream_live(const struct fg_engine *e, unsigned stream, struct fg_stream_live *out)
{
	const struct trial *t = e->trial;

	*out = (struct fg_stream_live){0};
	if (!spares_has(t, stream))
		return;
	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++) {
		/* the lcore copies a few at a time, and has left the last ones to us */
		if (!e->running)
			rx_publish_stream(&t->rx.stream[i]);
		add_live(&t->rx.stream[i].live, &t->tx, &t->tx.stream[i], out);
		add_arrivals(&t->rx.stream[i].live, fg_clock_ns(&e->clock, t->job[0].start), out);
	}
}

void
fg_engine_port_live(const struct fg_engine *e, unsigned port, struct fg_port_live *out)
{
	const struct trial *t = e->trial;
	struct fg_port *p = e->port[port].config.port;

	*out = (struct fg_port_live){.link_up = p->ops->link_up(p)};
	if (t == NULL)
		return;
	for (unsigned i = 0; i < e->queues; i++) {
		const struct rx_task *rx = &t->rx.task[i];

		if (rx->home->port != p)
			continue;
		if (!e->running)
			rx_publish_totals(&t->rx.task[i]);
		out->rx_frames += __atomic_load_n(&rx->published, __ATOMIC_RELAXED) +
				  __atomic_load_n(&rx->published_other, __ATOMIC_RELAXED);
		out->rx_octets += __atomic_load_n(&rx->published_other_octets, __ATOMIC_RELAXED);
	}
	out->rx_octets += t->spares.octets[port];
	for (unsigned i = 0; i < split_all(&t->split); i++)
		if (t->split.config[i].rx_port == port)
			out->rx_octets += __atomic_load_n(&t->rx.stream[i].live.octets, __ATOMIC_RELAXED);
}

void
fg_engine_stream_delays(const struct fg_engine *e, unsigned stream, struct fg_stream_delays *out)
{
	const struct trial *t = e->trial;

	*out = (struct fg_stream_delays){.jitter_ns = -1};
	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++) {
		const struct rx_stream *rx = &t->rx.stream[i];
		const struct fg_variation *variation = rx->extended == NULL ? NULL : rx->extended->variation;
		double jitter = variation == NULL ? -1 : fg_variation_glance(variation);

		out->p50_ns = RTE_MAX(out->p50_ns, fg_histogram_glance(rx->latency, 0.5));
		out->p99_ns = RTE_MAX(out->p99_ns, fg_histogram_glance(rx->latency, 0.99));
		out->p999_ns = RTE_MAX(out->p999_ns, fg_histogram_glance(rx->latency, 0.999));
		out->jitter_ns = RTE_MAX(out->jitter_ns, jitter);
	}
}

void
fg_engine_stream_delay_counts(const struct fg_engine *e, unsigned stream, const uint64_t *bounds, unsigned n,
			      uint64_t *counts)
{
	const struct trial *t = e->trial;

	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++)
		fg_histogram_cumulate(t->rx.stream[i].latency, bounds, n, counts);
}

void
fg_engine_stream_result(const struct fg_engine *e, unsigned stream, struct fg_stream_result *out)
{
	struct trial *t = e->trial;
	unsigned first = t->split.first[stream], n = split_parts(&t->split, stream);

	*out = (struct fg_stream_result){.parts = n};
	if (!spares_has(t, stream))
		return;
	tx_result(&t->tx, t->rx.stream[first].sent, n, out);
	rx_result(&t->rx, &t->tx, first, n, t->job[0].start, out);
	series_result(e, stream, out);
}

size_t
fg_engine_delays(const struct fg_engine *e, unsigned stream, uint8_t *out, size_t room)
{
	struct trial *t = e->trial;
	const struct fg_histogram *h =
		rx_delays(&t->rx, t->split.first[stream], split_parts(&t->split, stream));
	size_t size = fg_histogram_packed_size(h);

	return size > room ? size : fg_histogram_pack(h, out);
}

unsigned
fg_engine_codepoints(const struct fg_engine *e, unsigned stream, struct fg_codepoints *out, unsigned max)
{
	const struct trial *t = e->trial;

	return t == NULL ? 0
			 : rx_codepoints(&t->rx.stream[t->split.first[stream]],
					 split_parts(&t->split, stream), out, max);
}

static void
count_from_start(struct fg_value *value, uint64_t start_ns)
{
	value->first_arrival_ns -= start_ns;
	value->last_arrival_ns -= start_ns;
}

unsigned
fg_engine_values(const struct fg_engine *e, unsigned stream, struct fg_value *out, unsigned max,
		 struct fg_value *other)
{
	const struct trial *t = e->trial;
	uint64_t start_ns;
	unsigned n;

	*other = (struct fg_value){0};
	if (t == NULL)
		return 0;
	n = rx_values(&t->rx.stream[t->split.first[stream]], split_parts(&t->split, stream), out, max, other);
	start_ns = fg_clock_ns(&e->clock, t->job[0].start);
	for (unsigned i = 0; i < n; i++)
		count_from_start(&out[i], start_ns);
	if (other->frames > 0)
		count_from_start(other, start_ns);
	return n;
}

void
fg_engine_member_result(const struct fg_engine *e, unsigned member, struct fg_member_result *out)
{
	const struct place *place = &e->trial->member[member];

	speaker_result(e->trial->speaker[place->port], place->number, out);
}

uint64_t
fg_engine_misdirected(const struct fg_engine *e, unsigned stream, unsigned port)
{
	const struct engine_port *p = &e->port[port];
	const struct trial *t = e->trial;
	uint64_t frames = 0;

	for (unsigned queue = p->queue.first; queue < p->queue.first + p->queue.queues; queue++)
		for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++)
			frames += t->rx.task[queue].rejected[i].misdirected;
	return frames;
}

unsigned
fg_engine_tags(const struct fg_engine *e, unsigned stream, int64_t *out, unsigned max)
{
	const struct trial *t = e->trial;
	unsigned n = 0;

	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++) {
		const struct rx_stream *rx = &t->rx.stream[i];
		unsigned room = RTE_MIN(rx->tagged, max - n);

		memcpy(out + n, rx->tag, room * sizeof(*out));
		n += room;
	}
	return n;
}

static void
add_queue(const struct rx_task *rx, struct fg_port_result *out)
{
	out->rx_overflow += rx->queues == NULL ? 0 : rx->queues->overflow;
	out->misdirected += rx->misdirected;
	out->unsolicited += rx->unsolicited;
	for (unsigned k = 0; k < FG_NET_KINDS; k++)
		out->unsolicited_kind[k] += rx->kind[k];
}

static void
add_waits(const struct fg_engine *e, unsigned queue, struct fg_port_result *out)
{
	uint64_t held = e->trial->tx.task[queue].task.longest_poll;
	uint64_t wait = e->trial->rx.task[queue].task.longest_wait;

	out->tx_held_ns = RTE_MAX(out->tx_held_ns, fg_clock_span_ns(&e->clock, held));
	out->rx_wait_ns = RTE_MAX(out->rx_wait_ns, fg_clock_span_ns(&e->clock, wait));
}

void
fg_engine_port_result(const struct fg_engine *e, unsigned i, struct fg_port_result *out)
{
	const struct engine_port *p = &e->port[i];
	const struct account *account = &p->account;
	const struct fg_port_counters *before = &account->before, *after = &account->after;
	const struct talker *talker = e->trial->talker[i];
	struct fg_port_stamps_state stamps;

	*out = (struct fg_port_result){
		.rx_missed = after->rx_missed - before->rx_missed,
		.rx_no_mbuf = after->rx_no_mbuf - before->rx_no_mbuf,
		.rx_errors = after->rx_errors - before->rx_errors,
		.tx_errors = after->tx_errors - before->tx_errors,
		.link_changes = after->link_changes - before->link_changes,
		.link_faults = after->link_faults - before->link_faults,
		.removed = after->removed,
		.intercepted =
			before->intercepted || after->intercepted || after->intercepts != before->intercepts,
		.link_down = account->link_down,
		.rx_unstamped = after->rx_unstamped - before->rx_unstamped,
		.rx_pause = after->rx_pause - before->rx_pause,
		.paused_ns = (after->paused_ps - before->paused_ps) / 1000,
		.tx_waiting = account->tx_waiting,
		.is_accounted = p->config.port->caps.exact_counters,
		.tx_handed = after->tx_ours[1] - before->tx_ours[1],
		.rx_fetched = after->rx_ours[1] - before->rx_ours[1],
		.tx_card = after->tx_frames - before->tx_frames,
		.rx_card = after->rx_frames - before->rx_frames,
		.rx_total = after->rx_total - before->rx_total,
		.tx_unaccounted = account->tx_unaccounted,
		.rx_unaccounted = account->rx_unaccounted,
	};
	if (p->config.port->stamps != NULL) {
		fg_port_stamps_read(p->config.port->stamps, &stamps);
		out->rx_stamp_error_ns = stamps.error_ns;
		out->rx_stamp_jumps = stamps.jumps - p->jumps_before;
	}
	for (unsigned k = p->queue.first; k < p->queue.first + p->queue.queues; k++) {
		add_queue(&e->trial->rx.task[k], out);
		add_waits(e, k, out);
	}
	if (talker != NULL) {
		out->queries = talker->queries;
		out->updates = talker->updates;
		out->replies = atomic_load_explicit(&e->port[i].responder.replies, memory_order_relaxed) -
			       e->port[i].replies_before;
	}
}

/* what was sent of a part, and when it began: the earliest of a queue counts */
static void
add_sent(const struct fg_engine *e, const struct tx_stream *tx, struct fg_queue_result *out)
{
	uint64_t start = e->trial->job[0].start;
	uint64_t first = tx->sent == 0 ? 0 : fg_clock_span_ns(&e->clock, tx->first - start);

	if (tx->sent > 0 && (out->tx == 0 || first < out->first_ns)) {
		out->first_ns = first;
		out->first_due_ns = tx_departure_ns(tx, 0, start);
	}
	out->tx += tx->sent;
}

void
fg_engine_queue_result(const struct fg_engine *e, unsigned port, unsigned queue, struct fg_queue_result *out)
{
	const struct trial *t = e->trial;
	unsigned i = e->port[port].queue.first + queue;
	const struct rx_task *rx = &t->rx.task[i];

	*out = (struct fg_queue_result){
		.tx_lcore = e->lcore[e->queue[i].tx_lcore].id,
		.rx_lcore = e->lcore[e->queue[i].rx_lcore].id,
		.rx = rx->frames,
	};
	if (rx->queues != NULL) {
		out->passed = rx->queues->passed + rx->queues->overflow;
		out->rx += out->passed - rx->queues->taken;
	}
	for (unsigned k = 0; k < split_all(&t->split); k++)
		if (t->tx.stream[k].queue == i)
			add_sent(e, &t->tx.stream[k], out);
}

void
fg_engine_lcore_result(const struct fg_engine *e, unsigned i, struct fg_lcore_result *out)
{
	const struct fg_job *job = &e->trial->job[i];

	*out = (struct fg_lcore_result){
		.lcore = e->lcore[i].id,
		.polls = job->polls,
		.longest_gap_ns = fg_clock_span_ns(&e->clock, job->longest_gap),
		.stalled_ns = fg_clock_span_ns(&e->clock, job->stalled),
		.late_ns = job->taken > job->start ? fg_clock_span_ns(&e->clock, job->taken - job->start) : 0,
	};
}

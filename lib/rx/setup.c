/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is decided of receiving before the first frame arrives: which loop, and how precisely each stream is
 * measured.
 *
 * Memory is shared out among the streams. A few get histograms of three digits; of thousands, each has but a
 * small share of the frames and makes do with less:
 *
 *    streams   digits (error of percentiles)   memory each (and with variation)   numbers   delays for IPDV
 *    to 64     3 (0.1 %)                       210 kB (570 kB)                    4096      1024
 *    to 1024   2 (0.8 %)                       30 kB (86 kB)                      2048      256
 *    more      1 (6.3 %)                       5.7 kB (14 kB)                     1024      64
 *
 * Counts, minima, maxima and means are exact with any. A stream remembers at least these numbers; its rate
 * and how long frames may be under way ask for more, within a budget (windows.c). A stream that may come
 * over several queues remembers at least as many more as one queue can be behind another: with two of 1024
 * descriptors 65536.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rx_batch.h"
#include "rx_inject.h"

/* beyond that a delay, or the difference of two, is only counted and in the maximum */
static const uint64_t LATENCY_HIGHEST_NS = 10000000000, IPDV_HIGHEST_NS = 1000000000;
enum { HUGE_PAGE = 1 << 21 };

static const struct rx_precision *
precision_for(unsigned streams)
{
	/* the last: what 10,000 streams took before, and a tenth */
	static const struct rx_precision table[] = {{64, 3, 4096, 64, 1024, 256, 128},
						    {1024, 2, 2048, 32, 256, 128, 64},
						    {FG_MAX_STREAMS, 1, 1024, 16, 64, 24, 16}};
	const struct rx_precision *p = table;

	while (p->streams < streams)
		p++;
	return p;
}

/* where streams may come over several queues: one can be behind another by many numbers */
static struct rx_precision
precision_of(unsigned streams, unsigned behind)
{
	struct rx_precision p = *precision_for(streams);
	unsigned times =
		RTE_MAX(p.window, rte_align32pow2(behind / (FG_SEQUENCE_WINDOW / p.window))) / p.window;

	p.window *= times;
	p.kept *= times;
	return p;
}

bool
rx_is_extended(const struct fg_stream_config *s)
{
	return s->measure != 0 || s->values != NULL || s->faults != NULL || s->latest_ns > 0;
}

int
rx_idle_init(struct rx_task *rx, unsigned k, unsigned queues)
{
	static const struct rx_rings none;

	rx->task.poll = rx_choose(rx->port->caps.rx_timestamp, false, queues > 1, false);
	rx->task.publish = rx_publish;
	return rx_queues_init(rx, &none, k, queues);
}

void
rx_idle_free(struct rx_task *rx)
{
	if (rx != NULL)
		free(rx->queues);
	free(rx);
}

/*
 * What is measured of all streams in one piece, on huge pages where the kernel has some for us: with
 * thousands of streams nearly every line would else be on a page of its own, and the walk to find that takes
 * longer than the line.
 */
static int
measures_alloc(struct rx *rx, struct fg_error *err)
{
	struct rx_measures *m = &rx->measures;
	size_t batches = rx->streams > RX_FEW ? rx->streams * sizeof(struct rx_batch) : 0, all;

	m->sequence = sizeof(struct fg_sequence);
	m->each = m->sequence + fg_histogram_size(rx->precision.digits, LATENCY_HIGHEST_NS);
	m->least = fg_sequence_size_apart(rx->precision.window, rx->precision.points);
	all = RTE_ALIGN_CEIL(batches + rx->streams * (m->each + m->least), HUGE_PAGE);
	rx->memory = aligned_alloc(HUGE_PAGE, all);
	if (rx->memory == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", rx->streams);
	madvise(rx->memory, all, MADV_HUGEPAGE); /* if the kernel will not, pages are small */
	m->first = rx->memory + batches;
	m->numbers = m->first + rx->streams * m->each;
	if (batches > 0)
		rx->batches = (struct rx_batch *)(void *)rx->memory;
	return 0;
}

/* the measurements of a stream, empty: a stream that does not exist may be prefetched, too */
static int
measures_init(const struct rx *all, unsigned i, uint64_t first, const struct rx_window *w,
	      struct fg_error *err)
{
	struct rx_stream *rx = &all->stream[i];

	rx->sequence = rx_measures_sequence(&all->measures, i);
	rx->latency = rx_measures_latency(&all->measures, i);
	fg_histogram_init(rx->latency, all->precision.digits, LATENCY_HIGHEST_NS, NULL);
	return rx_window_alloc(all, i, w, first, err);
}

int
rx_alloc(struct rx *rx, unsigned streams, unsigned spares, unsigned tasks, unsigned behind,
	 struct fg_error *err)
{
	streams += spares;
	*rx = (struct rx){
		.streams = streams,
		.tasks = tasks,
		.spares = spares,
		.precision = precision_of(streams, behind),
		.stream = tx_alloc_lines(streams, sizeof(*rx->stream)),
		.task = tx_alloc_lines(tasks, sizeof(*rx->task)),
	};
	if (rx->stream == NULL || rx->task == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", streams);
	if (measures_alloc(rx, err) != 0)
		return -ENOMEM;
	for (unsigned i = streams - spares; i < streams; i++) {
		const struct rx_window least = rx_window_least(rx);

		measures_init(rx, i, 0, &least, NULL);
		if (rx->batches != NULL)
			rx->batches[i] = (struct rx_batch){.queue = RX_UNASSIGNED};
	}
	return 0;
}

int
rx_task_init(struct rx *all, unsigned queue, const struct rx_task_config *c, struct fg_error *err)
{
	struct rx_task *rx = &all->task[queue];

	*rx = *c->idle;
	rx->queues = NULL; /* those are the idle one's */
	rx->home = &all->task[c->first];
	rx->measures = all->measures;
	rx->queue = (uint16_t)queue;
	rx->batches = c->extended || c->mixed || c->queues > 1 ? NULL : all->batches;
	rx->task.poll =
		rx_choose(rx->port->caps.rx_timestamp, c->extended, c->queues > 1, rx->batches != NULL);
	rx->streams = all->stream;
	rx->first_id = c->first_id;
	rx->ids = (uint16_t)all->streams;
	rx->sink = c->sink;
	rx->tap = c->tap;
	if (c->queues > 1 && (rx->sink != NULL || rx->tap != NULL))
		return fg_error_set(err, EINVAL, rx->port->name,
				    "a tap or a sink of a port needs its frames from one queue, not %u",
				    c->queues);
	rx->rejected = calloc(RTE_MAX(all->streams, 1U), sizeof(*rx->rejected));
	if (rx->rejected == NULL || rx_queues_init(rx, c->rings, queue - c->first, c->queues) != 0)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	return 0;
}

/* which queue measures a stream, as far as that is known before it arrives */
static const struct rx_task *
receiver_of(const struct rx *rx, const struct fg_stream_config *s, const struct rx_place *place)
{
	if (s->unmeasured)
		return NULL;
	if (s->elsewhere)
		return &rx_elsewhere;
	if (place->queues > 1 && place->of == 1)
		return &rx_unassigned;
	return &rx->task[place->first + place->k % place->queues];
}

static int
extended_init(const struct rx *all, struct rx_stream *rx, const struct fg_stream_config *s,
	      const struct rx_window *w, struct fg_series *series, struct fg_error *err)
{
	struct rx_extended *extended = rx->extended = calloc(1, sizeof(*extended));

	if (extended == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	extended->max_delay = s->latest_ns > 0 ? (int64_t)s->latest_ns : INT64_MAX;
	extended->series = series;
	if (s->measure & FG_MEASURE_PAYLOAD)
		extended->sent = rx->sent;
	if (s->measure & FG_MEASURE_VARIATION) {
		extended->variation =
			fg_variation_create(all->precision.digits, IPDV_HIGHEST_NS, w->kept, err);
		if (extended->variation == NULL)
			return -ENOMEM;
	}
	if (s->measure & FG_MEASURE_CODEPOINTS) {
		extended->codepoints = rx_codepoints_create(err);
		if (extended->codepoints == NULL)
			return -ENOMEM;
	}
	if (s->values != NULL) {
		extended->values = rx_values_create(s->values, err);
		if (extended->values == NULL)
			return -ENOMEM;
	}
	return rx->sent->inject == NULL ? 0
					: rx_inject_create(rx->sent->inject, rx_window_of_faults(all, w),
							   &extended->inject, err);
}

/* is the payload of some of its frames compared? Not where all are, or where frames have none */
static bool
rx_is_sampled(const struct fg_stream_config *s)
{
	return !s->unknown && !s->unmeasured && (s->measure & FG_MEASURE_PAYLOAD) == 0 &&
	       (s->sizes != NULL || s->frame->length > s->frame->header + FG_SIGNATURE_SIZE);
}

int
rx_stream_init(struct rx *all, unsigned i, const struct fg_stream_config *s, const struct rx_place *place,
	       const struct tx_stream *sent, struct fg_series *series, struct fg_error *err)
{
	struct rx_stream *rx = &all->stream[i];
	const struct rx_window w = rx_window_of(all, i, s);

	rx->home = &all->task[place->first];
	rx->next_tag = s->tags > 0 ? s->tag_first : UINT64_MAX;
	rx->next_payload = rx_is_sampled(s) ? s->first : UINT64_MAX;
	rx->payload_changed = s->check_payload;
	rx->next_look = RTE_MIN(rx->next_tag, rx->next_payload);
	rx->tag_every = s->tag_every;
	rx->tags = s->tags;
	rx->tag = calloc(RTE_MAX(s->tags, 1U), sizeof(*rx->tag));
	if (rx->tag == NULL)
		return fg_error_set(err, ENOMEM, "stream.tags", "no memory for %u delays", s->tags);
	rx->sent = sent;
	rx->sizes = sent->sizes;
	rx->length = s->sizes == NULL && !s->unknown ? s->frame->length : 0;
	if (measures_init(all, i, s->first, &w, err) != 0)
		return -ENOMEM;
	if (rx_is_extended(s) && !s->unmeasured && extended_init(all, rx, s, &w, series, err) != 0)
		return -ENOMEM;
	/* last, and released: frames of a trial that runs may come from now on */
	__atomic_store_n(&rx->receiver, receiver_of(all, s, place), __ATOMIC_RELEASE);
	if (all->batches != NULL)
		rx_batch_init(all, i, s->first);
	return 0;
}

void
rx_stream_forget(struct rx *all, unsigned i)
{
	__atomic_store_n(&all->stream[i].copies, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&all->stream[i].receiver, NULL, __ATOMIC_RELAXED);
	if (all->batches != NULL)
		__atomic_store_n(&all->batches[i].queue, RX_UNASSIGNED, __ATOMIC_RELAXED);
}

void
rx_stream_follow(struct rx *rx, unsigned i, unsigned of)
{
	rx->stream[i].sent = rx->stream[of].sent;
	if (rx->stream[i].extended != NULL && rx->stream[i].extended->sent != NULL)
		rx->stream[i].extended->sent = rx->stream[of].sent;
	rx->stream[i].copies = rx->stream[of].copies;
	__atomic_store_n(&rx->stream[of].copies, &rx->stream[i], __ATOMIC_RELEASE);
}

int
rx_sums_init(struct rx *rx, bool variation, struct fg_error *err)
{
	const struct rx_precision *p = precision_for(rx->streams);

	rx->sum_latency = fg_histogram_create(p->digits, LATENCY_HIGHEST_NS, err);
	if (variation)
		rx->sum_variation = fg_variation_create(p->digits, IPDV_HIGHEST_NS, 1, err);
	return rx->sum_latency == NULL || (variation && rx->sum_variation == NULL) ? -ENOMEM : 0;
}

void
rx_settle(struct rx *rx)
{
	for (unsigned i = 0; i < rx->tasks; i++)
		if (rx->task[i].queues != NULL)
			rx_take_all_passed(&rx->task[i]);
	for (unsigned i = 0; rx->batches != NULL && i < rx->streams; i++)
		if (rx->batches[i].queue != RX_UNASSIGNED)
			rx_batch_flush(&rx->task[rx->batches[i].queue], &rx->stream[i]);
}

static void
extended_free(struct rx_extended *extended)
{
	if (extended == NULL)
		return;
	fg_variation_free(extended->variation);
	rx_inject_free(extended->inject);
	free(extended->codepoints);
	free(extended->values);
	free(extended);
}

static void
measures_free(struct rx_stream *rx)
{
	extended_free(rx->extended);
	free(rx->numbers);
	free(rx->tag);
}

void
rx_stream_clear(struct rx *rx, unsigned i)
{
	const struct rx_window least = rx_window_least(rx);

	for (unsigned k = 0; k < rx->tasks; k++)
		if (rx->task[k].rejected != NULL)
			rx->task[k].rejected[i] = (struct rx_rejected){0};
	measures_free(&rx->stream[i]);
	rx->stream[i] = (struct rx_stream){.room = rx->stream[i].room};
	measures_init(rx, i, 0, &least, NULL);
}

void
rx_free(struct rx *rx)
{
	for (unsigned i = 0; rx->stream != NULL && i < rx->streams; i++)
		measures_free(&rx->stream[i]);
	for (unsigned i = 0; rx->task != NULL && i < rx->tasks; i++) {
		free(rx->task[i].rejected);
		free(rx->task[i].queues);
	}
	fg_histogram_free(rx->sum_latency);
	fg_variation_free(rx->sum_variation);
	free(rx->memory);
	free(rx->stream);
	free(rx->task);
}

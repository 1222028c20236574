/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is decided of receiving before the first frame arrives: which loop, and how precisely each stream is measured.
 *
 * Memory is shared out among the streams. A few get histograms of three digits and remember thousands of numbers; of
 * thousands, each has but a small share of the frames, so that the same reordering in time reaches over fewer numbers,
 * and makes do with less:
 *
 *    streams   digits (error of percentiles)   numbers   delays for IPDV   memory each (and with variation)
 *    to 64     3 (0.1 %)                       4096      1024              210 kB (570 kB)
 *    to 1024   2 (0.8 %)                       2048      256               30 kB (86 kB)
 *    more      1 (6.3 %)                       1024      64                5.7 kB (14 kB)
 *
 * Counts, minima, maxima and means are exact with any. A stream that may come over several queues remembers as many more
 * numbers as one queue can be behind another: with two of 1024 descriptors 65536.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_mbuf.h>

#include "fg_signature.h"
#include "rx_fault.h"
#include "rx_lanes.h"
#include "rx_note.h"

/* beyond that a delay, or the difference of two, is only counted and in the maximum */
static const uint64_t LATENCY_HIGHEST_NS = 10000000000, IPDV_HIGHEST_NS = 1000000000;
enum { HUGE_PAGE = 1 << 21 };
static const uint64_t SECOND_NS = 1000000000;

struct precision {
	unsigned streams; /* up to */
	unsigned digits, window, kept;
};

static const struct precision *
precision_for(unsigned streams)
{
	static const struct precision table[] = {
		{64, 3, 4096, 1024}, {1024, 2, 2048, 256}, {FG_MAX_STREAMS, 1, 1024, 64}};
	const struct precision *p = table;

	while (p->streams < streams)
		p++;
	return p;
}

static bool
wants_more(const struct fg_stream_config *s)
{
	return s->measure != 0 || s->faults != NULL || s->latest_ns > 0;
}

/* where streams may come over several queues, one of which can be behind another by many numbers */
static struct precision
precision_of(const struct fg_engine *e, const struct trial *t)
{
	struct precision p = *precision_for(t->streams);
	unsigned behind = rx_lanes_behind(e) / (FG_SEQUENCE_WINDOW / p.window);
	unsigned times = RTE_MAX(p.window, rte_align32pow2(behind)) / p.window;

	p.window *= times;
	p.kept *= times;
	return p;
}

void
rx_idle_init(struct fg_engine *e, unsigned lane, struct rx_task *rx)
{
	struct fg_port *port = e->lane[lane].port;

	*rx = (struct rx_task){
		.task.poll = rx_choose(port->caps.rx_timestamp, false, false, false),
		.task.publish = rx_publish,
		.port = port,
		.clock = &e->clock,
		.time_offset = e->rx_time_offset,
		.time_flag = e->rx_time_flag,
		.to_responder = e->port[e->lane[lane].of].to_responder,
		.standing = &e->port[e->lane[lane].of].standing,
	};
}

/*
 * What is measured of all streams in one piece, on huge pages where the kernel has some for us: with thousands of
 * streams nearly every line would else be on a page of its own, and the walk to find that takes longer than the line.
 */
static int
measures_init(const struct fg_engine *e, struct trial *t, struct rx_measures *m, struct fg_error *err)
{
	const struct precision p = precision_of(e, t);
	size_t notes = t->streams > RX_FEW ? t->streams * sizeof(struct rx_note) : 0;

	m->sequence = fg_sequence_size(p.window);
	m->each = m->sequence + fg_histogram_size(p.digits, LATENCY_HIGHEST_NS);
	if (t->measures == NULL) {
		size_t all = RTE_ALIGN_CEIL(notes + t->streams * m->each, HUGE_PAGE);

		t->measures = aligned_alloc(HUGE_PAGE, all);
		if (t->measures == NULL)
			return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", t->streams);
		madvise(t->measures, all, MADV_HUGEPAGE); /* a wish */
	}
	m->first = t->measures + notes;
	if (notes > 0)
		t->notes = (struct rx_note *)(void *)t->measures;
	return 0;
}

int
rx_task_init(struct fg_engine *e, struct trial *t, unsigned lane, const struct fg_trial_config *c,
	     struct fg_error *err)
{
	struct rx_task *rx = &t->rx[lane];
	unsigned port = e->lane[lane].of;
	bool more = false, mixed = false;

	rx_idle_init(e, lane, rx);
	for (unsigned i = 0; i < c->streams; i++)
		more |= wants_more(&c->stream[i]) && c->stream[i].rx_port == port;
	for (unsigned i = 0; i < c->streams; i++)
		mixed |= c->stream[i].sizes != NULL;
	if (measures_init(e, t, &rx->measures, err) != 0)
		return -ENOMEM;
	rx->lane = (uint16_t)lane;
	rx->notes = more || mixed || e->port[port].lanes > 1 ? NULL : t->notes;
	rx->task.poll =
		rx_choose(rx->port->caps.rx_timestamp, more, e->port[port].lanes > 1, rx->notes != NULL);
	rx->streams = t->rx_stream;
	rx->first_id = e->next_id;
	rx->ids = (uint16_t)c->streams;
	rx->sink = c->sink[port];
	rx->tap = c->tap[port];
	if (e->port[port].lanes > 1 && (rx->sink != NULL || rx->tap != NULL))
		return fg_error_set(err, EINVAL, rx->port->name,
				    "who looks at all frames of a port needs them from one queue, not %u",
				    e->port[port].lanes);
	rx->astray = calloc(RTE_MAX(c->streams, 1U), sizeof(*rx->astray));
	if (rx->astray == NULL || rx_lanes_init(e, t, lane) != 0)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	return 0;
}

static int
extra_init(const struct fg_engine *e, struct rx_stream *rx, const struct fg_stream_config *s,
	   const struct fg_trial_config *c, const struct precision *p, const struct image *timeline,
	   struct fg_error *err)
{
	struct rx_extra *extra = rx->extra = calloc(1, sizeof(*extra));

	if (extra == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	extra->latest = s->latest_ns > 0 ? (int64_t)s->latest_ns : INT64_MAX;
	if (s->measure & FG_MEASURE_VARIATION) {
		extra->variation = fg_variation_create(p->digits, IPDV_HIGHEST_NS, p->kept, err);
		if (extra->variation == NULL)
			return -ENOMEM;
	}
	if (s->measure & FG_MEASURE_SERIES) {
		extra->series = series_create(&e->clock, timeline->start, c->traffic_ns,
					      c->series_ns == 0 ? SECOND_NS : c->series_ns, p->digits, err);
		if (extra->series == NULL)
			return err == NULL ? -ENOMEM : -err->code;
	}
	if (s->measure & FG_MEASURE_MARKS) {
		extra->marks = marks_create(err);
		if (extra->marks == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
rx_stream_init(const struct fg_engine *e, struct trial *t, unsigned i, const struct fg_trial_config *c,
	       const struct image *timeline, struct fg_error *err)
{
	const struct fg_stream_config *s = &c->stream[i];
	const struct precision p = precision_of(e, t);
	struct rx_stream *rx = &t->rx_stream[i];
	int rc = 0;

	rx->receiver = rx_lanes_receiver(e, t, i);
	rx->home = &t->rx[e->port[s->rx_port].first_lane];
	rx->next_tag = s->tags > 0 ? s->tag_first : UINT64_MAX;
	rx->tag_every = s->tag_every;
	rx->tags = s->tags;
	rx->tag = calloc(RTE_MAX(s->tags, 1U), sizeof(*rx->tag));
	if (rx->tag == NULL)
		return fg_error_set(err, ENOMEM, "stream.tags", "no memory for %u delays", s->tags);
	rx->sent = &t->tx[i];
	rx->sizes = t->tx[i].sizes;
	rx->length = s->sizes == NULL ? s->frame->length : 0;
	rx->sequence = rx_measures_sequence(&rx->home->measures, i);
	rx->latency = rx_measures_latency(&rx->home->measures, i);
	fg_sequence_init(rx->sequence, p.window, 0, NULL);
	fg_histogram_init(rx->latency, p.digits, LATENCY_HIGHEST_NS, NULL);
	if (t->notes != NULL)
		rx_note_init(t, i);
	if (wants_more(s) && !s->unmeasured)
		rc = extra_init(e, rx, s, c, &p, timeline, err);
	if (rc != 0 || rx->extra == NULL)
		return rc;
	if (t->tx[i].faults != NULL) {
		rx->extra->faults = rx_faults_create(t->tx[i].faults, p.window, err);
		if (rx->extra->faults == NULL)
			return err == NULL ? -ENOMEM : -err->code;
	}
	if (s->measure & FG_MEASURE_PAYLOAD)
		rx->extra->sent = &t->tx[i];
	if (rx->extra->series != NULL) {
		t->tx[i].series = rx->extra->series;
		t->tx[i].interval_end = series_end(rx->extra->series, 0);
	}
	return 0;
}

int
rx_sums_init(struct trial *t, struct fg_error *err)
{
	const struct precision *p = precision_for(t->streams);
	bool variation = false;

	if (t->streams == t->given)
		return 0;
	for (unsigned i = 0; i < t->streams; i++)
		variation |= (t->config[i].measure & FG_MEASURE_VARIATION) != 0;
	t->sum_latency = fg_histogram_create(p->digits, LATENCY_HIGHEST_NS, err);
	if (variation)
		t->sum_variation = fg_variation_create(p->digits, IPDV_HIGHEST_NS, 1, err);
	return t->sum_latency == NULL || (variation && t->sum_variation == NULL) ? -ENOMEM : 0;
}

static void
extra_free(struct rx_extra *extra)
{
	if (extra == NULL)
		return;
	fg_variation_free(extra->variation);
	series_free(extra->series);
	rx_faults_free(extra->faults);
	free(extra->marks);
	free(extra);
}

void
rx_free(const struct fg_engine *e, struct trial *t)
{
	for (unsigned i = 0; i < t->streams; i++) {
		extra_free(t->rx_stream[i].extra);
		free(t->rx_stream[i].tag);
	}
	for (unsigned i = 0; t->rx != NULL && i < e->lanes; i++) {
		free(t->rx[i].astray);
		free(t->rx[i].lanes);
	}
	fg_histogram_free(t->sum_latency);
	fg_variation_free(t->sum_variation);
	free(t->measures);
	free(t->rx_stream);
	free(t->rx);
}

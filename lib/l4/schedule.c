/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When clients start and stop, and what was counted at those moments and at the end of each interval. Counts only ever
 * grow; a figure is the difference of what was known at two moments, and those are looked at before anything that
 * happens at the moment or after it, so no event is in two intervals or in none.
 */
#include <errno.h>
#include <stdlib.h>

#include "app_priv.h"

/* windows and round-trip times of the first connections: of all, a million of them would take too long */
static void
sample(const struct fg_l4 *w, const struct application *a, struct mark *mark)
{
	uint64_t n = 0, cwnd = 0, window = 0, in_flight = 0, rtt = 0;

	for (uint32_t i = 1; i < w->fresh && i <= FG_L4_SAMPLED; i++) {
		const struct conn *c = &w->conn[i];

		if (c->app != a->base.index || c->state < ESTABLISHED || c->state == TIME_WAIT)
			continue;
		n++;
		cwnd += c->cwnd;
		window += c->snd_wnd;
		in_flight += flight(c);
		rtt += c->srtt;
	}
	mark->sampled = (uint32_t)n;
	if (n == 0)
		return;
	mark->cwnd = (uint32_t)(cwnd / n);
	mark->window = (uint32_t)(window / n);
	mark->flight = (uint32_t)(in_flight / n);
	mark->rtt_us = (uint32_t)(rtt / n);
}

static void
note(const struct fg_l4 *w, const struct application *a, struct mark *mark)
{
	mark->tally = a->base.tally;
	mark->open = a->base.open;
	mark->retransmitted = w->counters.segments_retransmitted;
	if (w->interval > 0)
		sample(w, a, mark);
}

/* the next moment to look at, after the one that has come */
static uint64_t
next_mark(const struct fg_l4 *w)
{
	uint64_t next = w->interval == 0 ? w->stop_at : w->measure_from + w->marks * w->interval;

	return w->marks > w->marks_max ? UINT64_MAX : next < w->stop_at ? next : w->stop_at;
}

void
schedule_pass(struct fg_l4 *w)
{
	while (w->now >= w->mark_at) {
		for (unsigned i = 0; i < w->apps; i++)
			note(w, (struct application *)w->app[i],
			     &((struct application *)w->app[i])->mark[w->marks]);
		w->marks++;
		w->mark_at = w->mark_at >= w->stop_at ? UINT64_MAX : next_mark(w);
	}
}

int
fg_l4_schedule(struct fg_l4 *w, uint64_t start_ns, uint64_t stop_ns, uint64_t omit_ns, uint64_t interval_ns,
	       struct fg_error *err)
{
	uint64_t intervals;

	if (stop_ns <= start_ns || omit_ns >= stop_ns - start_ns)
		return fg_error_set(err, EINVAL, "l4", "nothing is left to be measured");
	w->start_at = start_ns;
	w->stop_at = stop_ns;
	w->measure_from = w->mark_at = start_ns + omit_ns;
	w->interval = interval_ns;
	intervals = interval_ns == 0 ? 1 : (stop_ns - w->measure_from + interval_ns - 1) / interval_ns;
	w->marks = 0;
	w->marks_max = (uint32_t)intervals;
	for (unsigned i = 0; i < w->apps; i++) {
		struct application *a = (struct application *)w->app[i];

		free(a->mark);
		a->mark = calloc(intervals + 1, sizeof(*a->mark));
		if (a->mark == NULL)
			return fg_error_set(err, ENOMEM, "l4", "no memory for %lu intervals",
					    (unsigned long)intervals);
	}
	return 0;
}

static struct fg_l4_tally
difference(const struct fg_l4_tally *to, const struct fg_l4_tally *from)
{
	struct fg_l4_tally out;
	const uint64_t *a = (const uint64_t *)to, *b = (const uint64_t *)from;
	uint64_t *d = (uint64_t *)&out;

	for (size_t i = 0; i < sizeof(out) / sizeof(*d); i++)
		d[i] = a[i] - b[i];
	return out;
}

static void
read_times(const struct fg_histogram *h, struct fg_l4_times *out)
{
	if (h->count == 0)
		return;
	*out = (struct fg_l4_times){
		.count = h->count,
		.min = fg_histogram_min(h),
		.max = h->max,
		.p50 = fg_histogram_percentile(h, 0.5),
		.p90 = fg_histogram_percentile(h, 0.9),
		.p99 = fg_histogram_percentile(h, 0.99),
		.p999 = fg_histogram_percentile(h, 0.999),
		.mean = fg_histogram_mean(h),
	};
}

void
fg_l4_read(const struct fg_l4 *w, unsigned app, struct fg_l4_result *out)
{
	const struct application *a = (const struct application *)w->app[app];

	*out = (struct fg_l4_result){.total = a->base.tally, .concurrent_max = a->base.open_max};
	if (w->marks > 1) {
		out->measured = difference(&a->mark[w->marks - 1].tally, &a->mark[0].tally);
		out->measured_ns = w->mark_at == UINT64_MAX ? w->stop_at - w->measure_from
							    : (w->marks - 1) * w->interval;
	}
	if (a->first_at > 0) {
		out->first_ns = a->first_at - w->start_at;
		out->last_ns = a->last_at - w->start_at;
	}
	read_times(a->setup, &out->setup);
	read_times(a->transaction, &out->transaction);
	read_times(a->first_octet, &out->first_octet);
	read_times(a->last_octet, &out->last_octet);
	read_times(a->base.rtt, &out->rtt);
	udp_read(a, out);
}

unsigned
fg_l4_series(const struct fg_l4 *w, unsigned app, struct fg_l4_interval *out, unsigned max)
{
	const struct mark *mark = ((const struct application *)w->app[app])->mark;
	unsigned n = w->marks > 1 && w->interval > 0 ? w->marks - 1 : 0;

	for (unsigned i = 0; i < n && i < max; i++) {
		struct fg_l4_tally t = difference(&mark[i + 1].tally, &mark[i].tally);

		out[i] = (struct fg_l4_interval){
			.octets_in = t.octets_in + t.datagram_octets_in,
			.octets_out = t.octets_out,
			.transactions = t.transactions,
			.established = t.established,
			.retransmitted = mark[i + 1].retransmitted - mark[i].retransmitted,
			.datagrams_in = t.datagrams_in,
			.datagrams_out = t.datagrams_out,
			.open = mark[i + 1].open,
			.sampled = mark[i + 1].sampled,
			.cwnd = mark[i + 1].cwnd,
			.window = mark[i + 1].window,
			.flight = mark[i + 1].flight,
			.rtt_us = mark[i + 1].rtt_us,
		};
	}
	return n;
}

void
fg_l4_read_counters(const struct fg_l4 *w, struct fg_l4_counters *out)
{
	*out = w->counters;
}

uint32_t
fg_l4_open(const struct fg_l4 *w)
{
	return __atomic_load_n(&w->open, __ATOMIC_RELAXED);
}

static uint64_t
pool_octets(const struct pool *p)
{
	return (p->fresh - 1) * (uint64_t)p->size;
}

void
fg_l4_read_memory(const struct fg_l4 *w, struct fg_l4_memory *out)
{
	out->connections = w->fresh - 1;
	out->octets = out->connections * sizeof(*w->conn) + w->buckets * sizeof(*w->bucket) +
		      pool_octets(&w->ranges) + pool_octets(&w->repairs);
}

const char *
fg_l4_counter_name(unsigned i, int *severity, const char **text)
{
#define COUNTER_ROW(name, level, what) {#name, level, what},
	static const struct {
		const char *name;
		int severity;
		const char *text;
	} rows[] = {FG_L4_COUNTERS(COUNTER_ROW)};
#undef COUNTER_ROW

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return NULL;
	if (severity != NULL)
		*severity = rows[i].severity;
	if (text != NULL)
		*text = rows[i].text;
	return rows[i].name;
}

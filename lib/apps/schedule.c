/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When clients start and stop, and what was counted at those moments and at the end of each interval. Counts
 * only ever grow; a figure is the difference of what was known at two moments, and those are looked at before
 * anything that happens at the moment or after it, so no event is in two intervals or in none.
 */
#include <errno.h>
#include <stdlib.h>

#include "page_priv.h"

static void
take_snapshot(const struct fg_l4 *w, const struct application *a, struct snapshot *out)
{
	out->tally = a->base.tally;
	out->open = a->base.open;
	out->retransmitted = w->counters.segments_retransmitted;
	out->line_octets = w->counters.rx_octets;
	if (w->interval > 0)
		fg_stream_sample(w, a->base.index, &out->sample);
}

/* the next moment to look at, after the one that has come */
static uint64_t
next_snapshot(const struct fg_l4 *w)
{
	uint64_t next = w->interval == 0 ? w->stop_at : w->measure_from + w->snapshots * w->interval;

	return w->snapshots > w->snapshots_max ? UINT64_MAX : next < w->stop_at ? next : w->stop_at;
}

void
take_snapshots(struct fg_l4 *w)
{
	while (w->now >= w->snapshot_at) {
		for (unsigned i = 0; i < w->applications; i++) {
			struct application *a = (struct application *)w->app[i];

			take_snapshot(w, a, &a->snapshot[w->snapshots]);
		}
		w->snapshots++;
		w->snapshot_at = w->snapshot_at >= w->stop_at ? UINT64_MAX : next_snapshot(w);
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
	w->measure_from = w->snapshot_at = start_ns + omit_ns;
	w->interval = interval_ns;
	intervals = interval_ns == 0 ? 1 : (stop_ns - w->measure_from + interval_ns - 1) / interval_ns;
	w->snapshots = 0;
	w->snapshots_max = (uint32_t)intervals;
	for (unsigned i = 0; i < w->applications; i++) {
		struct application *a = (struct application *)w->app[i];

		free(a->snapshot);
		a->snapshot = calloc(intervals + 1, sizeof(*a->snapshot));
		if (a->snapshot == NULL)
			return fg_error_set(err, ENOMEM, "l4", "no memory for %lu intervals",
					    (unsigned long)intervals);
	}
	return 0;
}

static struct fg_l4_tally
difference(const struct fg_l4_tally *to, const struct fg_l4_tally *from)
{
#define DIFFERENCE(name, text) .name = to->name - from->name,
	struct fg_l4_tally out = {FG_L4_SUMS(DIFFERENCE)};
#undef DIFFERENCE

	for (unsigned i = 0; i < FG_L4_ENDS; i++)
		out.ended[i] = to->ended[i] - from->ended[i];
	for (unsigned i = 0; i < FG_L4_OWN_SUMS; i++)
		out.own[i] = to->own[i] - from->own[i];
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

static void
read_page(const struct page *p, struct fg_l4_page_result *out)
{
	if (p == NULL)
		return;
	*out = (struct fg_l4_page_result){.used = true, .loaded = p->loaded, .failed = p->failed};
	read_times(p->time, &out->time);
	memcpy(out->spent, p->spent, sizeof(out->spent));
}

static void
read_tls(const struct fg_l4 *w, const struct fg_app *app, struct fg_l4_tls_result *out)
{
	const struct fg_tls_context *context = fg_secure_context(w, app);

	if (context == NULL)
		return;
	out->used = true;
	out->tally = *fg_secure_tally(w, app);
	read_times(fg_secure_handshakes(w, app), &out->handshake);
	out->agreed = *fg_tls_context_agreed(context);
	out->carried_out = fg_secure_carried(w, app)->octets_out;
	out->carried_in = fg_secure_carried(w, app)->octets_in;
	out->sessions = fg_tls_context_sessions(context);
	out->reason = fg_tls_context_reason(context);
	out->key_log = fg_tls_context_key_log(context, &out->key_log_lost);
}

static void
read_quic(const struct fg_l4 *w, const struct fg_app *app, struct fg_l4_quic_result *out)
{
	struct fg_quic_read q;

	if (!fg_quic_read(w, app, &q))
		return;
	*out = (struct fg_l4_quic_result){
		.used = true,
		.tally = *q.tally,
		.agreed = *q.agreed,
		.memory = q.memory,
		.sessions = q.sessions,
		.reason = q.reason,
		.versions = q.versions,
		.key_log = q.key_log,
		.key_log_lost = q.key_log_lost,
	};
	read_times(q.handshakes, &out->handshake);
	read_times(q.gaps, &out->gap);
}

void
fg_l4_read(const struct fg_l4 *w, unsigned app, struct fg_l4_result *out)
{
	const struct application *a = (const struct application *)w->app[app];

	*out = (struct fg_l4_result){.total = a->base.tally,
				     .concurrent_max = a->base.open_max,
				     .open = a->base.open,
				     .outstanding = a->outstanding,
				     .at_least = a->at_least,
				     .off_schedule = a->off_schedule,
				     .lag_max_ns = a->lag_max_ns};
	out->hol_ns = a->hol_ns;
	memcpy(out->flow_blocked_ns, a->flow_blocked_ns, sizeof(out->flow_blocked_ns));
	if (w->snapshots > 1) {
		out->measured = difference(&a->snapshot[w->snapshots - 1].tally, &a->snapshot[0].tally);
		out->measured_ns = w->snapshot_at == UINT64_MAX ? w->stop_at - w->measure_from
								: (w->snapshots - 1) * w->interval;
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
	read_tls(w, &a->base, &out->tls);
	read_quic(w, &a->base, &out->quic);
	read_page(a->page, &out->page);
	if (a->kind->read != NULL)
		a->kind->read(a, out);
}

const char *
fg_l4_qlog(const struct fg_l4 *w, unsigned app, uint32_t i, uint64_t *lost)
{
	return fg_quic_qlog(w, w->app[app], i, lost);
}

unsigned
fg_l4_series(const struct fg_l4 *w, unsigned app, struct fg_l4_interval *out, unsigned max)
{
	const struct snapshot *from = ((const struct application *)w->app[app])->snapshot;
	unsigned n = w->snapshots > 1 && w->interval > 0 ? w->snapshots - 1 : 0;

	for (unsigned i = 0; i < n && i < max; i++, from++) {
		const struct snapshot *to = from + 1;
		struct fg_l4_tally t = difference(&to->tally, &from->tally);

		out[i] = (struct fg_l4_interval){
			.octets_in = t.octets_in + t.datagram_octets_in,
			.octets_out = t.octets_out,
			.transactions = t.transactions,
			.established = t.established,
			.retransmitted = to->retransmitted - from->retransmitted,
			.datagrams_in = t.datagrams_in,
			.datagrams_out = t.datagrams_out,
			.line_octets = to->line_octets - from->line_octets,
			.open = to->open,
			.sampled = to->sample.streams,
			.cwnd = to->sample.cwnd,
			.window = to->sample.window,
			.flight = to->sample.flight,
			.rtt_us = to->sample.rtt_us,
		};
	}
	return n;
}

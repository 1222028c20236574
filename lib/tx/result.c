/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sent frames of a stream, read after the trial from its sender.
 */
#include "tx.h"
#include "tx_inject.h"

static void
tx_inject_result(const struct tx_inject *f, struct fg_stream_result *out)
{
	out->wrong.sent = f->wrong;
	for (unsigned kind = 0; kind < FG_INJECT_KINDS; kind++)
		out->faults[kind].sent = f->kinds[kind];
	out->faults[FG_INJECT_SKIP].sent = f->skipped;
}

static void
add_part(const struct tx *all, const struct tx_stream *tx, struct fg_stream_result *out)
{
	/*
	 * of a load without an end, and of one that was stopped on command, only what has come was intended
	 */
	bool open_end = tx->stopped || tx->pace.total == UINT64_MAX;
	/* a port with launch times gets its frames early: what looks like lag is lead */
	uint64_t lag =
		tx->early ? 0 : fg_clock_span_ns(tx->clock, RTE_MAX(tx->past.worst_lag, tx->pace.worst_lag));

	out->intended += tx->past.intended + (open_end ? tx->pace.next : tx->pace.total);
	for (unsigned i = tx->present + 1; i < tx->loads && !tx->stopped; i++)
		out->intended += tx->load[i].total == UINT64_MAX ? 0 : tx->load[i].total;
	out->tx += tx->sent;
	out->octets += tx->octets;
	out->late += tx->past.late + tx->pace.late;
	out->off_schedule += tx->past.off_schedule + tx->pace.off_schedule;
	out->refused += tx->refused;
	out->no_mbuf += tx->no_mbuf;
	out->worst_lag_ns = RTE_MAX(out->worst_lag_ns, lag);
	out->own_queue_max_ns = RTE_MAX(out->own_queue_max_ns, tx_own_queue(all, tx));
}

void
tx_result(const struct tx *tx, const struct tx_stream *parts, unsigned n, struct fg_stream_result *out)
{
	struct tx_span span = tx_span(parts, n);
	uint64_t left = span.last;

	for (unsigned k = 0; k < n; k++) {
		add_part(tx, &parts[k], out);
		left = RTE_MAX(left, parts[k].left);
	}
	out->tx_wait_ns = fg_clock_span_ns(parts->clock, left - span.last);
	out->unsent = out->intended - out->tx - out->late;
	out->tx_duration_ns = fg_clock_span_ns(parts->clock, span.last - span.first);
	if (parts->inject != NULL) /* then it is of one part */
		tx_inject_result(parts->inject, out);
}

struct tx_span
tx_span(const struct tx_stream *parts, unsigned n)
{
	struct tx_span span = {parts->first, parts->last};

	for (unsigned k = 1; k < n; k++) {
		if (parts[k].sent == 0)
			continue;
		span.first = span.last == 0 ? parts[k].first : RTE_MIN(span.first, parts[k].first);
		span.last = RTE_MAX(span.last, parts[k].last);
	}
	return span;
}

uint64_t
tx_departure_ns(const struct tx_stream *tx, uint64_t number, uint64_t start)
{
	unsigned i = 0;

	if (tx->ordered || tx->shift > 0)
		return number < tx->present_first
			       ? 0
			       : fg_clock_span_ns(tx->clock,
						  fg_pace_at(&tx->pace, number - tx->present_first) - start);
	while (i + 1 < tx->loads && number >= tx->load[i].total)
		number -= tx->load[i++].total;
	return fg_clock_span_ns(tx->clock, fg_pace_at(&tx->load[i], number) - start);
}

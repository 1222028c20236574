/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports to control: a ring with one writer and one reader. What finds no room is counted. */
#include "iperf_priv.h"

static void
write_report(struct iperf *p, const struct fg_l4_iperf_report *report)
{
	struct iperf_ring *ring = &p->ring;
	uint32_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

	if (written - atomic_load_explicit(&ring->taken, memory_order_acquire) == IPERF_REPORTS) {
		ring->missed++;
		return;
	}
	ring->report[written % IPERF_REPORTS] = *report;
	ring->report[written % IPERF_REPORTS].missed = ring->missed;
	atomic_store_explicit(&ring->written, written + 1, memory_order_release);
}

bool
iperf_report_next(struct iperf *p, struct fg_l4_iperf_report *out)
{
	struct iperf_ring *ring = &p->ring;
	uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

	if (taken == atomic_load_explicit(&ring->written, memory_order_acquire))
		return false;
	*out = ring->report[taken % IPERF_REPORTS];
	atomic_store_explicit(&ring->taken, taken + 1, memory_order_release);
	return true;
}

/* requests of a client are reported even where they make no sense: then as 0 */
static double
sane(double number, double most)
{
	return number >= 0 && number <= most ? number : 0;
}

void
iperf_report_test(struct iperf *p, const struct fg_flow *f)
{
	struct fg_l4_iperf_report r = {
		.kind = FG_L4_IPERF_TEST,
		.client = !p->server,
		.ipv6 = f->ipv6,
		.udp = p->params.udp,
		.reverse = p->params.reverse,
		.both = p->params.both,
		.remote_port = f->remote_port,
		.parallel = (uint32_t)sane(p->params.parallel, UINT32_MAX),
		.length = (uint32_t)sane(p->params.length, UINT32_MAX),
		.omit_s = sane(p->params.omit_s, UINT32_MAX),
		.time_s = sane(p->params.time_s, UINT32_MAX),
		.rate_bps = sane(p->params.rate_bps, 1e15),
	};

	memcpy(r.remote, f->remote, sizeof(r.remote));
	write_report(p, &r);
}

/* no longer than a test that has ended */
static double
seconds_until(const struct iperf *p, uint64_t at)
{
	return (double)((p->end_at > 0 && at > p->end_at ? p->end_at : at) - p->running_at) * 1e-9;
}

void
iperf_report_interval(struct fg_l4 *w, struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];
		struct fg_l4_iperf_count now = iperf_count(p, s);
		struct fg_l4_iperf_report r = {
			.kind = FG_L4_IPERF_INTERVAL,
			.stream = iperf_number(i),
			.udp = p->params.udp,
			.sent = s->sends,
			.omitted = p->omitting,
			.ours = iperf_difference(&now, &s->shown),
		};

		r.ours.from_s = seconds_until(p, p->interval_from);
		r.ours.to_s = seconds_until(p, w->now);
		write_report(p, &r);
		s->shown = now;
	}
	p->interval_from = w->now;
}

void
iperf_report_end(struct fg_l4 *w, struct iperf *p)
{
	struct fg_l4_iperf_report end = {.kind = FG_L4_IPERF_END, .end = p->ending, .refusal = p->refusal};

	for (uint32_t i = 0; i < p->streams && p->running_at > 0; i++) {
		struct fg_l4_iperf_report r = {
			.kind = FG_L4_IPERF_RESULT,
			.stream = iperf_number(i),
			.udp = p->params.udp,
			.sent = p->stream[i].sends,
			.ours = iperf_result(w, p, i),
			.theirs = p->stream[i].theirs,
		};

		write_report(p, &r);
	}
	write_report(p, &end);
}

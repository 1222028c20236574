/* SPDX-License-Identifier: BSD-3-Clause */
/* A test of iperf3 while it runs, in both roles: what its streams send, and when. */
#include <math.h>

#include "iperf_priv.h"

/* how often a stream of TCP with a rate is given something to send */
static const uint64_t PACE_NS = 1000000;
static const uint64_t ENDLESS = UINT64_MAX / 4;

/*
 * Stream number @p index of those that send has its share of what the client wants to have sent. Where there
 * is omitted time, the ends do not agree on which bytes were the first, and the client alone ends the test.
 */
static uint64_t
most_octets(const struct fg_l4_iperf_test *t, uint32_t index)
{
	if (t->blocks == 0 || t->omit_s > 0)
		return ENDLESS;
	return (t->blocks / t->parallel + (index < t->blocks % t->parallel)) * t->length;
}

/* all that the stream may write now, of @p bytes in all */
static void
write_until(struct fg_l4 *w, const struct iperf *p, const struct iperf_stream *s, uint64_t octets)
{
	uint64_t written = s->conn->written - (p->server ? 0 : FG_L4_IPERF_COOKIE);

	octets = octets < s->most ? octets : s->most;
	if (octets > written)
		fg_stream_write(w, s->conn, octets - written);
}

void
iperf_run(struct fg_l4 *w, struct iperf *p)
{
	uint32_t senders = 0;

	p->running_at = w->now;
	p->omit_at = w->now + (uint64_t)(p->test.omit_s * 1e9);
	p->omitting = p->test.omit_s > 0;
	p->retransmitted = w->counters.segments_retransmitted;
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];

		s->next_at = (double)w->now;
		if (s->sends)
			s->most = most_octets(&p->test, senders++);
		if (s->conn != NULL && s->sends && p->test.rate_bps == 0)
			write_until(w, p, s, ENDLESS);
	}
}

static void
end_of_omission(struct fg_l4 *w, struct iperf *p)
{
	p->omitting = false;
	p->omit_at = w->now;
	p->retransmitted = w->counters.segments_retransmitted;
	for (uint32_t i = 0; i < p->streams; i++) {
		p->stream[i].omitted = iperf_count(p, &p->stream[i]);
		p->stream[i].jitter.mean = 0;
	}
}

/* as iperf3 keeps a rate: by whole writes, and with catching up on what the path did not take in time */
static void
pace(struct fg_l4 *w, struct iperf *p)
{
	double due = (double)(w->now - p->running_at) * 1e-9 * p->test.rate_bps / 8;

	for (uint32_t i = 0; i < p->streams; i++) {
		const struct iperf_stream *s = &p->stream[i];

		if (s->conn != NULL && s->sends)
			write_until(w, p, s, (uint64_t)(ceil(due / p->test.length) * p->test.length));
	}
}

uint64_t
iperf_go_on(struct fg_l4 *w, struct iperf *p)
{
	uint64_t next = UINT64_MAX;

	if (p->omitting && w->now >= p->omit_at)
		end_of_omission(w, p);
	if (p->test.udp) {
		next = iperf_udp_send(w, p);
	} else if (p->test.rate_bps > 0) {
		pace(w, p);
		next = w->now + PACE_NS;
	}
	return p->omitting && p->omit_at < next ? p->omit_at : next;
}

void
iperf_halt(struct fg_l4 *w, struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];

		if (s->conn == NULL || !iperf_is_frozen(p, s))
			continue;
		s->all.octets = iperf_octets(p, s);
		if (p->server && s->all.octets < s->most)
			fg_stream_write(w, s->conn, ENDLESS);
		else if (s->sends)
			fg_stream_truncate(w, s->conn);
	}
	p->end_at = w->now;
	iperf_raise(p, FLAG_HALTED);
}

void
iperf_truncate(struct fg_l4 *w, struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			fg_stream_truncate(w, p->stream[i].conn);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams of a test of iperf3, and what was counted of them. Both sides number them in the order in which
 * they were opened, those that the client sends before those that it receives. What was sent is what has
 * left, so the receiver can have all of it.
 */
#include "iperf_priv.h"

static const uint64_t LINGER_NS = 10000000000;

struct iperf_stream *
iperf_add_stream(struct iperf *p)
{
	struct iperf_stream *s = &p->stream[p->streams];
	bool first_half = p->streams < p->test.parallel;

	*s = (struct iperf_stream){.sends = (p->test.reverse || !first_half) == p->server};
	atomic_store_explicit(&p->streams_open, ++p->streams, memory_order_release);
	return s;
}

bool
iperf_is_frozen(const struct iperf *p, const struct iperf_stream *s)
{
	return s->sends || !p->server;
}

uint64_t
iperf_octets(const struct iperf *p, const struct iperf_stream *s)
{
	uint64_t octets, cookie = s->sends != p->server ? FG_L4_IPERF_COOKIE : 0;

	if (s->conn == NULL || (iperf_is_frozen(p, s) && p->end_at > 0))
		return s->all.octets;
	octets = s->sends ? fg_stream_sent(s->conn) : s->conn->received;
	return octets > cookie ? octets - cookie : 0;
}

struct fg_l4_iperf_count
iperf_count(const struct iperf *p, const struct iperf_stream *s)
{
	struct fg_l4_iperf_count c = s->all;

	c.octets = iperf_octets(p, s);
	return c;
}

static double
seconds(const struct iperf *p, uint64_t at)
{
	return (double)(at - p->running_at) * 1e-9;
}

void
iperf_show_counts(const struct fg_l4 *w, struct iperf *p)
{
	struct fg_l4_iperf_counts *c = &p->counts;

	*c = (struct fg_l4_iperf_counts){
		.omitting = p->omitting,
		.retransmits = w->counters.segments_retransmitted - p->retransmitted,
		.cubic = p->owner->base.tcp.congestion == FG_L4_CUBIC,
		.streams = p->streams,
	};
	if (p->running_at > 0) {
		c->now_s = seconds(p, p->end_at > 0 ? p->end_at : w->now); /* no longer than the test */
		c->from_s = p->omitting ? 0 : seconds(p, p->omit_at);
	}
	for (uint32_t i = 0; i < p->streams; i++) {
		const struct iperf_stream *s = &p->stream[i];
		bool later = !iperf_is_frozen(p, s) && s->arrived_at > p->end_at;

		c->stream[i] = (struct fg_l4_iperf_stream){
			.sends = s->sends,
			.open = s->conn != NULL,
			.all = iperf_count(p, s),
			.omitted = s->omitted,
			.jitter_ns = s->jitter.mean,
			/* 0: it never came to figures */
			.to_s = p->end_at == 0 || p->omitting ? 0
							      : seconds(p, later ? s->arrived_at : p->end_at),
		};
	}
}

void
iperf_release(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	if (p->control == s) {
		p->control = NULL;
	} else if (iperf_conn_of(s)->phase == PHASE_STREAM) {
		iperf_stream_of(p, s)->conn = NULL;
		fg_stream_truncate(w, s);
	}
	iperf_conn_of(s)->phase = PHASE_OTHER;
	fg_stream_timer(w, s, LINGER_NS);
	fg_stream_close(w, s);
}

void
iperf_deny(struct fg_l4 *w, struct fg_stream *s)
{
	iperf_conn_of(s)->phase = PHASE_DENIED;
	fg_stream_write(w, s, 1);
	fg_stream_close(w, s);
}

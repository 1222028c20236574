/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test of iperf3 while it runs, in both roles: what its streams send and when, and the results that are
 * sent to the peer in the end.
 */
#include <math.h>

#include "iperf_priv.h"

/* how often a stream of TCP with a rate is given something to send */
static const uint64_t PACE_NS = 1000000;
static const uint64_t ENDLESS = UINT64_MAX / 4;

static uint64_t
cookie_octets(const struct iperf *p)
{
	return p->server ? 0 : IPERF_COOKIE;
}

/*
 * Stream number @p index of those that send has its share of what the client wants to have sent. Where there
 * is omitted time, the ends do not agree on which bytes were the first, and the client alone ends the test.
 */
static uint64_t
most_octets(const struct iperf *p, uint32_t index)
{
	uint64_t blocks = (uint64_t)p->params.blocks, streams = (uint64_t)p->params.parallel;

	if (blocks == 0 || p->params.omit_s > 0)
		return ENDLESS;
	return (blocks / streams + (index < blocks % streams)) * (uint64_t)p->params.length;
}

/* all that the stream may write now, of @p octets in all */
static void
write_until(struct fg_l4 *w, const struct iperf *p, const struct iperf_stream *s, uint64_t octets)
{
	uint64_t written = s->conn->written - cookie_octets(p);

	octets = octets < s->most ? octets : s->most;
	if (octets > written)
		fg_stream_write(w, s->conn, octets - written);
}

void
iperf_run(struct fg_l4 *w, struct iperf *p)
{
	uint32_t senders = 0;

	p->running_at = w->now;
	p->omit_at = w->now + (uint64_t)(p->params.omit_s * 1e9);
	p->omitting = p->params.omit_s > 0;
	p->retransmitted = w->counters.segments_retransmitted;
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];

		s->next_at = (double)w->now;
		if (s->sends)
			s->most = most_octets(p, senders++);
		if (s->conn != NULL && s->sends && p->params.rate_bps == 0)
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
	double due = (double)(w->now - p->running_at) * 1e-9 * p->params.rate_bps / 8;

	for (uint32_t i = 0; i < p->streams; i++) {
		const struct iperf_stream *s = &p->stream[i];

		if (s->conn != NULL && s->sends)
			write_until(w, p, s, (uint64_t)(ceil(due / p->params.length) * p->params.length));
	}
}

uint64_t
iperf_go_on(struct fg_l4 *w, struct iperf *p)
{
	uint64_t next = UINT64_MAX;

	if (p->omitting && w->now >= p->omit_at)
		end_of_omission(w, p);
	if (p->params.udp) {
		next = iperf_udp_send(w, p);
	} else if (p->params.rate_bps > 0) {
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
		s->octets = iperf_octets(p, s);
		if (p->server && s->octets < s->most)
			fg_stream_write(w, s->conn, ENDLESS);
		else if (s->sends)
			fg_stream_truncate(w, s->conn);
	}
	p->end_at = w->now;
}

void
iperf_truncate(struct fg_l4 *w, struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			fg_stream_truncate(w, p->stream[i].conn);
}

bool
iperf_has_all(const struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++) {
		const struct iperf_stream *s = &p->stream[i];

		if (s->conn != NULL && !s->sends && iperf_octets(p, s) < s->omitted.octets + s->theirs.octets)
			return false;
	}
	return true;
}

static void
add_stream_results(const struct fg_l4 *w, struct iperf *p, uint32_t i)
{
	const struct iperf_stream *s = &p->stream[i];
	struct fg_l4_iperf_count r = iperf_result(w, p, i);

	/* of datagrams iperf3 reports all, and also how many of them came before the figures */
	iperf_text_add(p,
		       "%s{\"id\":%u,\"bytes\":%llu,\"retransmits\":%lld,\"jitter\":%.9f,\"errors\":%llu,"
		       "\"omitted_errors\":%llu,\"packets\":%llu,\"omitted_packets\":%llu,"
		       "\"start_time\":0,\"end_time\":%.6f}",
		       i > 0 ? "," : "", iperf_number(i), (unsigned long long)r.octets,
		       s->sends && !p->params.udp ? (long long)r.retransmits : -1, r.jitter_ns * 1e-9,
		       (unsigned long long)s->lost, (unsigned long long)s->omitted.lost,
		       (unsigned long long)s->packets, (unsigned long long)s->omitted.datagrams,
		       r.to_s - r.from_s);
}

/* what a client with --get-server-output prints */
static void
add_output(const struct fg_l4 *w, struct iperf *p)
{
	iperf_text_add(p, ",\"server_output_text\":\"Framegauge counted:\\n");
	for (uint32_t i = 0; i < p->streams; i++) {
		struct fg_l4_iperf_count r = iperf_result(w, p, i);
		double seconds = r.to_s - r.from_s;

		iperf_text_add(p, "[%3u] %s %llu bytes in %.6f s, %.6f Mbits/sec\\n", iperf_number(i),
			       p->stream[i].sends ? "sent" : "received", (unsigned long long)r.octets,
			       seconds, seconds > 0 ? (double)r.octets * 8e-6 / seconds : 0);
	}
	iperf_text_add(p, "\"");
}

void
iperf_send_results(struct fg_l4 *w, struct iperf *p)
{
	bool sends = false;

	for (uint32_t i = 0; i < p->streams; i++) {
		sends |= p->stream[i].sends;
		p->stream[i].told = iperf_result(w, p, i);
	}
	p->told = true;
	iperf_text_begin(p);
	/* our processors only poll: their load has no meaning */
	iperf_text_add(p,
		       "{\"cpu_util_total\":0,\"cpu_util_user\":0,\"cpu_util_system\":0,"
		       "\"sender_has_retransmits\":%d",
		       p->params.udp ? 0
		       : sends       ? 1
				     : -1);
	if (!p->params.udp)
		iperf_text_add(p, ",\"congestion_used\":\"%s\"",
			       p->owner->base.tcp.congestion == FG_L4_CUBIC ? "cubic" : "reno");
	iperf_text_add(p, ",\"streams\":[");
	for (uint32_t i = 0; i < p->streams; i++)
		add_stream_results(w, p, i);
	iperf_text_add(p, "]");
	if (p->params.wants_output)
		add_output(w, p);
	iperf_text_add(p, "}");
	iperf_text_end(w, p);
}

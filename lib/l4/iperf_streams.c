/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams of a test of iperf3. Both sides number them in the order in which they were opened, those that the client
 * sends before those that it receives. What was sent is what has left, so the receiver can have all of it.
 */
#include <math.h>

#include "iperf_priv.h"

static const uint64_t PACE_NS =
	1000000; /* how often a stream of TCP with a rate is given something to send */
static const uint64_t ENDLESS = UINT64_MAX / 4;

struct iperf_stream *
iperf_add_stream(struct iperf *p)
{
	struct iperf_stream *s = &p->stream[p->streams];
	bool first_half = p->streams < p->params.parallel;

	*s = (struct iperf_stream){.sends = (p->params.reverse || !first_half) == p->server};
	p->streams++;
	return s;
}

struct iperf_stream *
iperf_stream_of(struct iperf *p, const struct conn *c)
{
	return &p->stream[c->app_mark];
}

/* of a client all ends at once; what a server receives may still be on its way then */
static bool
is_frozen(const struct iperf *p, const struct iperf_stream *s)
{
	return s->sends || !p->server;
}

/* octets of the stream without the cookie, which goes from the client to the server */
static uint64_t
octets_of(const struct iperf *p, const struct iperf_stream *s)
{
	const struct conn *c = s->conn;
	uint64_t octets, cookie = s->sends != p->server ? IPERF_COOKIE : 0;

	if (c == NULL || (is_frozen(p, s) && p->end_at > 0))
		return s->octets;
	octets = c->rcv_offset;
	if (s->sends) {
		octets = c->snd_offset + flight(c);
		octets = octets < c->snd_end ? octets : c->snd_end; /* a FIN is none */
	}
	return octets > cookie ? octets - cookie : 0;
}

struct fg_l4_iperf_count
iperf_count(const struct iperf *p, const struct iperf_stream *s)
{
	return (struct fg_l4_iperf_count){
		.octets = octets_of(p, s),
		.datagrams = s->packets,
		.lost = s->lost,
		.out_of_order = s->out_of_order,
		.jitter_ns = s->jitter.mean,
	};
}

struct fg_l4_iperf_count
iperf_difference(const struct fg_l4_iperf_count *now, const struct fg_l4_iperf_count *before)
{
	struct fg_l4_iperf_count d = *now;

	d.octets -= before->octets;
	d.datagrams -= before->datagrams;
	/* what was late has not been lost: there may be less of it than before */
	d.lost = now->lost > before->lost ? now->lost - before->lost : 0;
	d.out_of_order -= before->out_of_order;
	return d;
}

static bool
is_first_sender(const struct iperf *p, uint32_t index)
{
	return p->stream[index].sends && (index == 0 || !p->stream[index - 1].sends);
}

struct fg_l4_iperf_count
iperf_result(const struct fg_l4 *w, const struct iperf *p, uint32_t index)
{
	const struct iperf_stream *s = &p->stream[index];
	struct fg_l4_iperf_count now = iperf_count(p, s), r = iperf_difference(&now, &s->omitted);
	uint64_t end = !is_frozen(p, s) && s->arrived_at > p->end_at ? s->arrived_at : p->end_at;

	if (p->told)
		return s->told;
	if (!p->params.udp && is_first_sender(p, index))
		r.retransmits = w->counters.segments_retransmitted - p->retransmitted;
	if (p->running_at == 0 || p->end_at == 0 || p->omitting)
		return r; /* it never came to figures */
	r.from_s = (double)(p->omit_at - p->running_at) * 1e-9;
	r.to_s = (double)(end - p->running_at) * 1e-9;
	return r;
}

void
iperf_run(struct fg_l4 *w, struct iperf *p)
{
	p->running_at = w->now;
	p->omit_at = w->now + (uint64_t)(p->params.omit_s * 1e9);
	p->omitting = p->params.omit_s > 0;
	p->retransmitted = w->counters.segments_retransmitted;
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];

		s->next_at = (double)w->now;
		if (s->conn != NULL && s->sends && p->params.rate_bps == 0)
			tcp_write(w, s->conn, ENDLESS);
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

/* as iperf3 keeps to a rate: whole writes, and what the path did not take in time it may catch up with */
static void
pace(struct fg_l4 *w, struct iperf *p)
{
	double due = (double)(w->now - p->running_at) * 1e-9 * p->params.rate_bps / 8, more;
	uint64_t cookie = p->server ? 0 : IPERF_COOKIE, written;

	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[i];

		if (s->conn == NULL || !s->sends)
			continue;
		written = s->conn->snd_end - cookie;
		more = due - (double)written;
		if (more > 0)
			tcp_write(w, s->conn, (uint64_t)(ceil(more / p->params.length) * p->params.length));
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

		if (s->conn == NULL || !is_frozen(p, s))
			continue;
		s->octets = octets_of(p, s);
		if (p->server)
			tcp_write(w, s->conn, ENDLESS);
		else if (s->sends)
			tcp_truncate(w, s->conn);
	}
	p->end_at = w->now;
}

void
iperf_dry_up(struct fg_l4 *w, struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			tcp_truncate(w, p->stream[i].conn);
}

bool
iperf_has_all(const struct iperf *p)
{
	for (uint32_t i = 0; i < p->streams; i++) {
		const struct iperf_stream *s = &p->stream[i];

		if (s->conn != NULL && !s->sends && octets_of(p, s) < s->omitted.octets + s->theirs.octets)
			return false;
	}
	return true;
}

static void
add_stream_results(const struct fg_l4 *w, struct iperf *p, uint32_t i)
{
	const struct iperf_stream *s = &p->stream[i];
	struct fg_l4_iperf_count r = iperf_result(w, p, i);

	/* of datagrams iperf3 says all, and beside it what of them was before the figures */
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

/* what a client with --get-server-output shows */
static void
add_words(const struct fg_l4 *w, struct iperf *p)
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
iperf_say_results(struct fg_l4 *w, struct iperf *p)
{
	bool sends = false;

	for (uint32_t i = 0; i < p->streams; i++) {
		sends |= p->stream[i].sends;
		p->stream[i].told = iperf_result(w, p, i);
	}
	p->told = true;
	iperf_text_begin(p);
	/* this side's processors do nothing but poll: their load says nothing */
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
		add_words(w, p);
	iperf_text_add(p, "}");
	iperf_text_end(w, p);
}

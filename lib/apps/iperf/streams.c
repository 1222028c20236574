/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams of a test of iperf3, and what was counted of them. Both sides number them in the order in which
 * they were opened, those that the client sends before those that it receives. What was sent is what has
 * left, so the receiver can have all of it.
 */
#include "iperf_priv.h"

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
iperf_stream_of(struct iperf *p, const struct fg_stream *s)
{
	return &p->stream[iperf_conn_of(s)->index];
}

bool
iperf_is_frozen(const struct iperf *p, const struct iperf_stream *s)
{
	return s->sends || !p->server;
}

uint64_t
iperf_octets(const struct iperf *p, const struct iperf_stream *s)
{
	uint64_t octets, cookie = s->sends != p->server ? IPERF_COOKIE : 0;

	if (s->conn == NULL || (iperf_is_frozen(p, s) && p->end_at > 0))
		return s->octets;
	octets = s->sends ? fg_stream_sent(s->conn) : s->conn->received;
	return octets > cookie ? octets - cookie : 0;
}

struct fg_l4_iperf_count
iperf_count(const struct iperf *p, const struct iperf_stream *s)
{
	return (struct fg_l4_iperf_count){
		.octets = iperf_octets(p, s),
		.datagrams = s->packets,
		.lost = s->lost,
		.out_of_order = s->out_of_order,
		.left_out = s->left_out,
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
	d.left_out -= before->left_out;
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
	uint64_t end = !iperf_is_frozen(p, s) && s->arrived_at > p->end_at ? s->arrived_at : p->end_at;

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

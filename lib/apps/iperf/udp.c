/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of iperf3. A stream begins with one that the client sends, of four bytes, and one that the
 * server answers; each then carries the time it was sent at and its number, from 1 on. There is no cookie: a
 * server takes streams only from the host that controls the test, and only while they are to be opened.
 *
 * Loss and order are counted as iperf3 counts them, so that the figures can be put side by side: by the
 * highest number so far, where a copy passes for one that is late. (UDP_STREAM judges each number by itself;
 * see ../udp.c.)
 */
#include "iperf_priv.h"

enum { SHORT_HEADER = 12, WIDE_HEADER = 16, OPENING = 4 };
static const uint64_t ASK_AGAIN_NS = 1000000000;

/* numbers in the byte order of the sender: since iperf 3.11, and before. The first pair is ours */
static const struct {
	uint8_t ask[OPENING], answer[OPENING];
} openings[] = {
	{{'9', '8', '7', '6'}, {'6', '7', '8', '9'}},
	{{'6', '7', '8', '9'}, {'9', '8', '7', '6'}},
	{{0x15, 0xcd, 0x5b, 0x07}, {0xb1, 0x68, 0xde, 0x3a}},
	{{0x07, 0x5b, 0xcd, 0x15}, {0x3a, 0xde, 0x68, 0xb1}},
};
enum { OPENINGS = sizeof(openings) / sizeof(openings[0]) };

static uint32_t
header_octets(const struct iperf *p)
{
	return p->test.wide_counters ? WIDE_HEADER : SHORT_HEADER;
}

static bool
same_flow(const struct fg_flow *a, const struct fg_flow *b)
{
	return a->remote_port == b->remote_port && a->local_port == b->local_port &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0 &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0;
}

/* most often it is the one that had the datagram before */
static struct iperf_stream *
stream_at(struct iperf *p, const struct fg_flow *f)
{
	for (uint32_t i = 0; i < p->streams; i++) {
		uint32_t at = (p->latest + i) % p->streams;

		if (same_flow(&p->stream[at].flow, f)) {
			p->latest = at;
			return &p->stream[at];
		}
	}
	return NULL;
}

static bool
send_opening(struct fg_l4 *w, const struct fg_flow *f, const uint8_t octets[OPENING])
{
	uint8_t *to = fg_datagram_room(w, f->ipv6);

	if (to == NULL)
		return false;
	memcpy(to, octets, OPENING);
	fg_datagram_send(w, f, OPENING);
	return true;
}

void
iperf_udp_open(struct fg_l4 *w, struct iperf *p)
{
	bool waits = p->asked_at != 0;

	if ((waits && w->now < p->asked_at + ASK_AGAIN_NS) || (!waits && p->streams >= p->streams_wanted) ||
	    fg_l4_room(w) == NULL)
		return;
	if (!waits)
		next_flow(p->owner, &iperf_add_stream(p)->flow);
	if (send_opening(w, &p->stream[p->streams - 1].flow, openings[0].ask))
		p->asked_at = w->now;
}

/* a client opens a stream; it asks again if the answer was lost */
static void
open_stream(struct fg_l4 *w, struct iperf *p, const struct iperf_stream *s, const struct fg_flow *flow,
	    const uint8_t *data)
{
	unsigned i = 0;

	while (i < OPENINGS - 1 && memcmp(data, openings[i].ask, OPENING) != 0)
		i++;
	if (send_opening(w, flow, openings[i].answer) && s == NULL && p->streams < p->streams_wanted)
		iperf_add_stream(p)->flow = *flow;
}

static void
answered(struct iperf *p, const struct iperf_stream *s, const uint8_t *data)
{
	if (s != &p->stream[p->streams - 1]) /* an answer to what was asked twice */
		return;
	for (unsigned i = 0; i < OPENINGS; i++)
		if (memcmp(data, openings[i].answer, OPENING) == 0)
			p->asked_at = 0;
}

static void
count_number(struct fg_l4_iperf_count *c, uint64_t number)
{
	if (number > c->datagrams) {
		c->lost += number - c->datagrams - 1;
		c->datagrams = number;
		return;
	}
	c->out_of_order++;
	c->lost -= c->lost > 0;
}

static void
count(struct fg_l4 *w, const struct iperf *p, struct iperf_stream *s, const uint8_t *data, uint32_t length)
{
	uint64_t sent_ns, number, last = s->all.datagrams;

	if (length < header_octets(p)) {
		w->counters.rx_malformed++;
		return;
	}
	sent_ns = fg_get32(data) * 1000000000ULL + fg_get32(data + 4) * 1000ULL;
	number = get_number(data + 8, header_octets(p) - 8);
	if (header_octets(p) == SHORT_HEADER) /* of 32 bits: the one next to the last, as in RFC 3550, A.1 */
		number = last + (uint64_t)(int32_t)((uint32_t)number - (uint32_t)last);
	/* no sender has such numbers, nor loses this many at once */
	if ((int64_t)number <= 0 || (number > last && number - last > INT32_MAX)) {
		w->counters.rx_malformed++;
		return;
	}
	s->all.octets += length;
	s->arrived_at = w->now;
	p->owner->base.tally.datagrams_in++;
	p->owner->base.tally.datagram_octets_in += length;
	count_number(&s->all, number);
	note_jitter(&s->jitter, w->now - sent_ns);
}

void
iperf_udp_take(struct fg_l4 *w, struct iperf *p, const struct fg_flow *flow, const uint8_t *data,
	       uint32_t length)
{
	bool takes = p->step == STEP_OPEN && p->test.udp && p->control != NULL;
	struct iperf_stream *s = stream_at(p, flow);

	if (p->server && takes && length == OPENING &&
	    memcmp(flow->remote, fg_stream_flow(p->control)->remote, sizeof(flow->remote)) == 0)
		open_stream(w, p, s, flow, data);
	else if (!p->server && s != NULL && length == OPENING)
		answered(p, s, data);
	else if (s != NULL && !s->sends && p->running_at > 0 && (p->server || p->end_at == 0))
		count(w, p, s, data, length);
}

static void
send_one(struct fg_l4 *w, struct iperf *p, struct iperf_stream *s)
{
	uint8_t *payload = fg_datagram_room(w, s->flow.ipv6);
	uint32_t header = header_octets(p), length = p->test.length;

	s->all.datagrams++;
	fg_put32(payload, (uint32_t)(w->now / 1000000000));
	fg_put32(payload + 4, (uint32_t)(w->now % 1000000000 / 1000));
	put_number(payload + 8, s->all.datagrams, header - 8);
	payload_fill(CLIENT_STREAM, s->all.datagrams, payload + header, length - header);
	fg_datagram_send(w, &s->flow, length);
	s->all.octets += length;
	p->owner->base.tally.datagrams_out++;
}

uint64_t
iperf_udp_send(struct fg_l4 *w, struct iperf *p)
{
	double gap = p->test.rate_bps == 0 ? 0 : p->test.length * 8e9 / p->test.rate_bps;
	uint64_t next = UINT64_MAX, late;

	if (fg_stream_any_waits(w)) /* control messages go before datagrams */
		return w->now;
	p->turn++; /* those that send without a rate take turns in being the first */
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[(p->turn + i) % p->streams];

		if (!s->sends)
			continue;
		late = pace_catch_up(w, &s->next_at, p->running_at, gap);
		p->owner->off_schedule += late;
		s->all.left_out += late;
		while (s->next_at <= (double)w->now) {
			if (fg_l4_room(w) == NULL)
				return w->now;
			send_one(w, p, s);
			note_departure(w, p->owner, s->next_at, gap);
			pace_next(w, &s->next_at, gap);
		}
		next = (uint64_t)s->next_at + 1 < next ? (uint64_t)s->next_at + 1 : next;
	}
	return next;
}

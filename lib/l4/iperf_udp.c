/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of iperf3. A stream begins with one that the client sends, of four octets, and one that the server answers;
 * each then carries the time it was sent at and its number, from 1 on. There is no cookie: a server takes streams only
 * from the host that controls the test, and only while they are to be opened.
 *
 * Loss and order are counted as iperf3 counts them, so that the figures can be put side by side: by the highest number
 * so far, where a copy passes for one that is late. (UDP_STREAM judges each number by itself; see app_udp.c.)
 */
#include "iperf_priv.h"

enum { SHORT_HEADER = 12, WIDE_HEADER = 16, OPENING = 4 };

/* numbers in the byte order of who sends them: since iperf 3.11, and before. The first pair is ours */
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
	return p->params.wide_counters ? WIDE_HEADER : SHORT_HEADER;
}

static bool
same_flow(const struct flow *a, const struct flow *b)
{
	return a->remote_port == b->remote_port && a->local_port == b->local_port &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0 &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0;
}

/* most often it is the one that had the datagram before */
static struct iperf_stream *
stream_at(struct iperf *p, const struct flow *f)
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
send_opening(struct fg_l4 *w, const struct flow *f, const uint8_t words[OPENING])
{
	if (frame_room(w) == NULL)
		return false;
	memcpy(frame_room(w) + frame_udp_offset(f->ipv6), words, OPENING);
	frame_udp(w, f, OPENING);
	w->counters.udp_tx++;
	return true;
}

bool
iperf_udp_open(struct fg_l4 *w, struct iperf *p, const struct flow *f)
{
	if (!send_opening(w, f, openings[0].ask))
		return false;
	p->asked_at = w->now;
	return true;
}

/* a client opens a stream; it asks again if the answer was lost */
static void
open_stream(struct fg_l4 *w, struct iperf *p, struct iperf_stream *s, const struct segment *d)
{
	unsigned i = 0;

	while (i < OPENINGS - 1 && memcmp(d->payload, openings[i].ask, OPENING) != 0)
		i++;
	if (!send_opening(w, &d->flow, openings[i].answer) || s != NULL)
		return;
	iperf_add_stream(p)->flow = d->flow;
	iperf_server_stream(w, p);
}

static void
answered(struct iperf *p, const struct iperf_stream *s, const struct segment *d)
{
	if (s != &p->stream[p->streams - 1]) /* an answer to what was asked twice */
		return;
	for (unsigned i = 0; i < OPENINGS; i++)
		if (memcmp(d->payload, openings[i].answer, OPENING) == 0)
			p->asked_at = 0;
}

static void
count_number(struct iperf_stream *s, uint64_t number)
{
	if (number > s->packets) {
		s->lost += number - s->packets - 1;
		s->packets = number;
		return;
	}
	s->out_of_order++;
	s->lost -= s->lost > 0;
}

static void
count(struct fg_l4 *w, const struct iperf *p, struct iperf_stream *s, const struct segment *d)
{
	uint64_t sent_ns, number;

	if (d->length < header_octets(p)) {
		w->counters.rx_malformed++;
		return;
	}
	sent_ns = get_number(d->payload, 4) * 1000000000 + get_number(d->payload + 4, 4) * 1000;
	number = get_number(d->payload + 8, header_octets(p) - 8);
	/* nobody sends such numbers, nor loses so many at once */
	if (number == 0 || (number > s->packets && number - s->packets > INT32_MAX)) {
		w->counters.rx_malformed++;
		return;
	}
	s->octets += d->length;
	s->arrived_at = w->now;
	p->owner->base.tally.datagrams_in++;
	p->owner->base.tally.datagram_octets_in += d->length;
	count_number(s, number);
	note_jitter(&s->jitter, w->now - sent_ns);
}

bool
iperf_datagram(struct fg_l4 *w, struct app *app, const struct segment *d)
{
	struct application *a = (struct application *)app;
	struct iperf *p = a->iperf;
	bool takes = p->state == IPERF_CREATE_STREAMS && p->params.udp && p->control != NULL;
	struct iperf_stream *s;

	if ((p->server ? d->flow.local_port : d->flow.remote_port) != a->config.port)
		return false;
	s = stream_at(p, &d->flow);
	if (p->server && takes && d->length == OPENING &&
	    memcmp(d->flow.remote, p->control->flow.remote, sizeof(d->flow.remote)) == 0)
		open_stream(w, p, s, d);
	else if (!p->server && s != NULL && d->length == OPENING)
		answered(p, s, d);
	else if (s != NULL && !s->sends && p->running_at > 0 && (p->server || p->end_at == 0))
		count(w, p, s, d);
	return true;
}

static void
send_one(struct fg_l4 *w, struct iperf *p, struct iperf_stream *s)
{
	uint8_t *payload = frame_room(w) + frame_udp_offset(s->flow.ipv6);
	uint32_t header = header_octets(p), length = (uint32_t)p->params.length;

	s->packets++;
	put_number(payload, w->now / 1000000000, 4);
	put_number(payload + 4, w->now % 1000000000 / 1000, 4);
	put_number(payload + 8, s->packets, header - 8);
	payload_fill(CLIENT_STREAM, s->packets, payload + header, length - header);
	frame_udp(w, &s->flow, length);
	s->octets += length;
	p->owner->base.tally.datagrams_out++;
	w->counters.udp_tx++;
}

uint64_t
iperf_udp_send(struct fg_l4 *w, struct iperf *p)
{
	double gap = p->params.rate_bps == 0 ? 0 : p->params.length * 8e9 / p->params.rate_bps;
	uint64_t next = UINT64_MAX;

	if (w->ready_head != 0) /* what is said about the test goes before its datagrams */
		return w->now;
	p->turn++; /* those that send without a rate take turns in being the first */
	for (uint32_t i = 0; i < p->streams; i++) {
		struct iperf_stream *s = &p->stream[(p->turn + i) % p->streams];

		if (!s->sends)
			continue;
		pace_catch_up(w, &s->next_at, p->running_at, gap);
		while (s->next_at <= (double)w->now) {
			if (frame_room(w) == NULL)
				return w->now;
			send_one(w, p, s);
			pace_next(w, &s->next_at, gap);
		}
		next = (uint64_t)s->next_at + 1 < next ? (uint64_t)s->next_at + 1 : next;
	}
	return next;
}

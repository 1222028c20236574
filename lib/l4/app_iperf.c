/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3's client, so that the far end can be an ordinary host with `iperf3 -s`. Beside the connections of the test there
 * is one that controls it: both sides tell each other by single octets how far they are, and exchange parameters and
 * results as JSON with its length in front. Each connection begins with the same cookie. What the test sends is anything,
 * so nothing of it is compared; what the server counted comes back as text, and is Lua's to read.
 *
 * All that the control connection ever sends is kept, so that it can be sent again: it is a few hundred octets.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app_priv.h"

enum { COOKIE = 37, OUT_MOST = 65536, IN_MOST = 262144, LENGTH_OCTETS = 4, CONTROL = 1, DATA = 2 };

static const uint64_t LOOK_NS = 1000000;

/* iperf3's states, as the octets that say them */
enum {
	TEST_START = 1,
	TEST_RUNNING = 2,
	TEST_END = 4,
	PARAM_EXCHANGE = 9,
	CREATE_STREAMS = 10,
	EXCHANGE_RESULTS = 13,
	DISPLAY_RESULTS = 14,
	IPERF_DONE = 16,
};

/** What is expected next on the control connection. */
enum expected { A_STATE, A_LENGTH, A_TEXT };

struct iperf {
	char out[OUT_MOST];
	char in[IN_MOST + 1];
	uint32_t queued; /* octets of `out` */
	uint32_t text;   /* octets of `in` */
	uint32_t wanted; /* of it */
	uint8_t length[LENGTH_OCTETS];
	uint8_t length_octets;
	uint8_t expected;
	uint8_t state; /* the last that the server said */
	bool opened, ended;
	uint32_t streams; /* opened so far */
	uint64_t running_at, stopped_at;
};

static struct conn *
control_of(struct fg_l4 *w, const struct application *a)
{
	for (uint32_t i = 1; i < w->fresh; i++)
		if (w->conn[i].state != CLOSED && w->conn[i].app == a->base.index &&
		    w->conn[i].app_phase == CONTROL)
			return &w->conn[i];
	return NULL;
}

static void
for_each_stream(struct fg_l4 *w, struct application *a, void (*visit)(struct fg_l4 *w, struct conn *c))
{
	for (uint32_t i = 1; i < w->fresh; i++)
		if (w->conn[i].state != CLOSED && w->conn[i].app == a->base.index &&
		    w->conn[i].app_phase == DATA)
			visit(w, &w->conn[i]);
}

/* queue octets of the control connection. @return false: there is no room, and the test is over */
static bool
say(struct fg_l4 *w, struct conn *c, const void *data, size_t octets)
{
	struct iperf *p = application_of(w, c)->iperf;

	if (p->queued + octets > OUT_MOST) {
		tcp_abort(w, c);
		return false;
	}
	memcpy(p->out + p->queued, data, octets);
	p->queued += (uint32_t)octets;
	tcp_write(w, c, octets);
	return true;
}

static void
say_text(struct fg_l4 *w, struct conn *c, const char *text, size_t octets)
{
	uint32_t length = htonl((uint32_t)octets);

	if (say(w, c, &length, sizeof(length)))
		say(w, c, text, octets);
}

static void
say_state(struct fg_l4 *w, struct conn *c, uint8_t state)
{
	say(w, c, &state, 1);
}

/* our side of the results; streams are numbered 1, 3, 4, 5 and so on */
static void
say_results(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);
	struct iperf *p = a->iperf;
	uint64_t octets = (a->config.reverse ? a->base.tally.octets_in : a->base.tally.octets_out) /
			  u32_max(p->streams, 1);
	double seconds = (double)(p->stopped_at - p->running_at) * 1e-9;
	char text[OUT_MOST / 2];
	size_t n = 0;

	n += (size_t)snprintf(text, sizeof(text),
			      "{\"cpu_util_total\":0,\"cpu_util_user\":0,\"cpu_util_system\":0,"
			      "\"sender_has_retransmits\":%d,\"streams\":[",
			      a->config.reverse ? -1 : 1);
	for (uint32_t i = 0; i < p->streams && n < sizeof(text); i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"%s{\"id\":%u,\"bytes\":%llu,\"retransmits\":%lld,\"jitter\":0,\"errors\":0,"
			"\"packets\":0,\"start_time\":0,\"end_time\":%f}",
			i > 0 ? "," : "", i == 0 ? 1 : i + 2, (unsigned long long)octets,
			(long long)(i == 0 ? w->counters.segments_retransmitted : 0), seconds);
	if (n < sizeof(text))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "]}");
	if (n >= sizeof(text))
		tcp_abort(w, c);
	else
		say_text(w, c, text, n);
}

static void
begin_stream(struct fg_l4 *w, struct conn *c)
{
	if (!application_of(w, c)->config.reverse)
		tcp_write(w, c, UINT64_MAX / 4);
}

static void
end_stream(struct fg_l4 *w, struct conn *c)
{
	tcp_close(w, c);
}

static void
follow(struct fg_l4 *w, struct conn *c, uint8_t state)
{
	struct application *a = application_of(w, c);
	struct iperf *p = a->iperf;

	p->state = state;
	switch (state) {
	case PARAM_EXCHANGE:
		say_text(w, c, a->config.params, strlen(a->config.params));
		break;
	case TEST_RUNNING:
		if (p->running_at == 0)
			for_each_stream(w, a, begin_stream);
		p->running_at = w->now;
		break;
	case EXCHANGE_RESULTS:
		say_results(w, c);
		p->length_octets = 0;
		p->expected = A_LENGTH;
		break;
	case DISPLAY_RESULTS:
		say_state(w, c, IPERF_DONE);
		for_each_stream(w, a, end_stream);
		tcp_close(w, c);
		break;
	case CREATE_STREAMS: /* iperf_poll() opens them */
	case TEST_START:
		break;
	default: /* refused, or an error of the server */
		a->base.tally.refused++;
		for_each_stream(w, a, end_stream);
		tcp_close(w, c);
	}
}

static void
take_octet(struct fg_l4 *w, struct conn *c, uint8_t octet)
{
	struct iperf *p = application_of(w, c)->iperf;

	if (p->expected == A_STATE) {
		follow(w, c, octet);
	} else if (p->expected == A_LENGTH) {
		p->length[p->length_octets++] = octet;
		if (p->length_octets < LENGTH_OCTETS)
			return;
		p->wanted = (uint32_t)p->length[0] << 24 | (uint32_t)p->length[1] << 16 |
			    (uint32_t)p->length[2] << 8 | p->length[3];
		p->expected = p->wanted > 0 ? A_TEXT : A_STATE;
	} else {
		if (p->text < IN_MOST)
			p->in[p->text++] = (char)octet;
		if (--p->wanted == 0)
			p->expected = A_STATE;
	}
}

static void
iperf_established(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);

	if (c->app_phase == CONTROL)
		say(w, c, a->config.host, COOKIE);
	else
		tcp_write(w, c, COOKIE);
	if (c->app_phase == DATA && a->iperf->state == TEST_RUNNING)
		begin_stream(w, c);
}

static bool
iperf_receive(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
	      bool early)
{
	if (c->app_phase != CONTROL)
		return true;
	if (early)
		return false;
	for (uint32_t i = 0; i < length && c->state != CLOSED; i++)
		take_octet(w, c, data[i]);
	return true;
}

static void
iperf_fill(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct application *a = application_of(w, c);

	if (c->app_phase == CONTROL) {
		memcpy(to, a->iperf->out + offset, length);
		return;
	}
	for (; length > 0 && offset < COOKIE; length--)
		*to++ = (uint8_t)a->config.host[offset++];
	memset(to, 0, length);
}

static void
iperf_eof(struct fg_l4 *w, struct conn *c)
{
	tcp_close(w, c);
}

static void
iperf_closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
}

static void
iperf_timer(struct fg_l4 *w, struct conn *c)
{
}

static bool
open_as(struct fg_l4 *w, struct application *a, uint8_t phase)
{
	struct conn *c;
	struct flow f;

	next_flow(w, a, &f);
	c = tcp_open(w, a->base.index, &f);
	if (c == NULL)
		return false;
	c->app_phase = phase;
	c->app_time = w->now;
	return true;
}

static uint64_t
iperf_poll(struct fg_l4 *w, struct app *app)
{
	struct application *a = (struct application *)app;
	struct iperf *p = a->iperf;
	struct conn *c;

	if (w->now < w->start_at)
		return w->start_at;
	if (!p->opened && w->now < w->stop_at)
		p->opened = open_as(w, a, CONTROL);
	while (p->state == CREATE_STREAMS && p->streams < a->config.connections && open_as(w, a, DATA))
		p->streams++;
	if (w->now >= w->stop_at && !p->ended) {
		p->ended = true;
		p->stopped_at = w->now;
		for_each_stream(w, a, tcp_truncate);
		c = control_of(w, a);
		if (c != NULL && p->state == TEST_RUNNING)
			say_state(w, c, TEST_END);
		else if (c != NULL)
			tcp_abort(w, c);
	}
	return w->now + LOOK_NS;
}

const struct app_ops iperf_client = {
	.established = iperf_established,
	.receive = iperf_receive,
	.eof = iperf_eof,
	.fill = iperf_fill,
	.closed = iperf_closed,
	.timer = iperf_timer,
	.poll = iperf_poll,
};

int
iperf_create(struct application *a, struct fg_error *err)
{
	if (a->config.params == NULL || a->config.host == NULL || strlen(a->config.host) != COOKIE - 1)
		return fg_error_set(err, EINVAL, "l4", "iperf3 needs parameters, and a cookie of %d octets",
				    COOKIE - 1);
	a->iperf = calloc(1, sizeof(*a->iperf));
	return a->iperf == NULL ? fg_error_set(err, ENOMEM, "l4", "no memory") : 0;
}

const char *
fg_l4_peer_results(const struct fg_l4 *w, unsigned app)
{
	const struct application *a = (const struct application *)w->app[app];

	return a->iperf == NULL ? "" : a->iperf->in;
}

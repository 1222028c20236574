/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3's client: it opens the control connection at the start, follows what the server says, and ends the
 * test when its time is over, which begins when all streams are there, or at the stop.
 */
#include "iperf_priv.h"

static const uint64_t LOOK_NS = 1000000, ASK_AGAIN_NS = 1000000000;

/* every way out: the streams are closed, and nothing more is sent */
static void
client_finish(struct fg_l4 *w, struct iperf *p, enum fg_l4_iperf_end ending)
{
	if (p->state == IPERF_CLOSING)
		return;
	p->state = IPERF_CLOSING;
	p->ending = ending;
	/* how connections ended is counted anyway */
	p->owner->base.tally.refused += ending == FG_L4_IPERF_REFUSED || ending == FG_L4_IPERF_NONSENSE;
	iperf_report_end(w, p);
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			iperf_release(w, p->stream[i].conn);
	if (p->control != NULL)
		fg_stream_close(w, p->control);
}

void
iperf_client_gone(struct fg_l4 *w, struct iperf *p)
{
	client_finish(w, p, FG_L4_IPERF_GONE);
}

void
iperf_client_fault(struct fg_l4 *w, struct iperf *p, uint32_t error)
{
	p->refusal = error;
	client_finish(w, p, FG_L4_IPERF_REFUSED);
}

void
iperf_client_text(struct fg_l4 *w, struct iperf *p)
{
	if (!iperf_read_results(p))
		client_finish(w, p, FG_L4_IPERF_NONSENSE);
}

/* a test goes one way; faults may come at any time */
static bool
is_in_turn(const struct iperf *p, uint8_t state)
{
	switch (state) {
	case IPERF_PARAM_EXCHANGE:
		return p->state == IPERF_IDLE;
	case IPERF_CREATE_STREAMS:
		return p->state == IPERF_PARAM_EXCHANGE;
	case IPERF_TEST_START:
		return p->state == IPERF_CREATE_STREAMS && p->streams == p->streams_wanted;
	case IPERF_TEST_RUNNING:
		return p->state == IPERF_TEST_START;
	case IPERF_EXCHANGE_RESULTS:
		return p->state == IPERF_TEST_RUNNING && p->ended;
	case IPERF_DISPLAY_RESULTS:
		return p->state == IPERF_EXCHANGE_RESULTS;
	default:
		return true;
	}
}

void
iperf_client_state(struct fg_l4 *w, struct iperf *p, uint8_t state)
{
	if (p->state == IPERF_CLOSING)
		return;
	if (!is_in_turn(p, state)) {
		client_finish(w, p, FG_L4_IPERF_NONSENSE);
		return;
	}
	switch (state) {
	case IPERF_PARAM_EXCHANGE:
		iperf_report_test(p, fg_stream_flow(p->control));
		iperf_text_begin(p);
		iperf_text_add(p, "%s", p->owner->config.params);
		iperf_text_end(w, p);
		break;
	case IPERF_TEST_RUNNING:
		iperf_run(w, p);
		p->deadline = w->now + (uint64_t)((p->params.omit_s + p->params.time_s) * 1e9);
		break;
	case IPERF_EXCHANGE_RESULTS:
		iperf_send_results(w, p);
		p->expected = A_LENGTH;
		break;
	case IPERF_DISPLAY_RESULTS:
		iperf_send_state(w, p, IPERF_ALL_DONE);
		client_finish(w, p, FG_L4_IPERF_DONE);
		return;
	case IPERF_CREATE_STREAMS: /* iperf_client_poll() opens them */
		p->streams_wanted = (uint32_t)p->params.parallel * (p->params.both ? 2 : 1);
		break;
	case IPERF_TEST_START:
		break;
	case IPERF_SERVER_ERROR: /* its number follows */
		p->expected = A_FAULT;
		return;
	case IPERF_ACCESS_DENIED:
		iperf_client_fault(w, p, IPERF_BUSY);
		return;
	case IPERF_SERVER_TERMINATE:
		client_finish(w, p, FG_L4_IPERF_TERMINATED);
		return;
	default:
		client_finish(w, p, FG_L4_IPERF_NONSENSE);
		return;
	}
	p->state = state;
}

/* @return the connection, NULL: not now */
static struct fg_stream *
open_as(struct fg_l4 *w, struct application *a, uint8_t phase)
{
	struct fg_stream *s;
	struct fg_flow f;

	next_flow(a, &f);
	s = fg_stream_open(w, a->base.index, &f);
	if (s == NULL)
		return NULL;
	iperf_conn_of(s)->phase = phase;
	if (phase == PHASE_CONTROL)
		fg_stream_control(w, s);
	client_of(s)->since = w->now;
	return s;
}

static void
open_tcp(struct fg_l4 *w, struct iperf *p)
{
	struct fg_stream *s;

	while (p->streams < p->streams_wanted && (s = open_as(w, p->owner, PHASE_STREAM)) != NULL) {
		iperf_conn_of(s)->index = p->streams;
		iperf_add_stream(p)->conn = s;
	}
}

/* one after the other, since a server listens for one only */
static void
open_udp(struct fg_l4 *w, struct iperf *p)
{
	bool waits = p->asked_at != 0;

	if (waits && w->now < p->asked_at + ASK_AGAIN_NS)
		return;
	if (waits) {
		iperf_udp_open(w, p, &p->stream[p->streams - 1].flow);
	} else if (p->streams < p->streams_wanted && fg_l4_room(w) != NULL) {
		struct iperf_stream *s = iperf_add_stream(p);

		next_flow(p->owner, &s->flow);
		iperf_udp_open(w, p, &s->flow);
	}
}

/* the time is over */
static void
stop(struct fg_l4 *w, struct iperf *p)
{
	p->ended = true;
	if (p->state != IPERF_TEST_RUNNING) {
		client_finish(w, p, FG_L4_IPERF_LATE);
		if (p->control != NULL)
			fg_stream_abort(w, p->control);
		return;
	}
	iperf_halt(w, p);
	iperf_send_state(w, p, IPERF_TEST_END);
}

uint64_t
iperf_client_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct iperf *p = iperf_of_app(app);
	uint64_t next = w->now + LOOK_NS, due;

	if (w->now < w->start_at)
		return w->start_at;
	if (p->state == IPERF_CLOSING)
		return UINT64_MAX;
	if (!p->opened && w->now < w->stop_at) {
		p->control = open_as(w, p->owner, PHASE_CONTROL);
		p->opened = p->control != NULL;
	}
	if (p->state == IPERF_CREATE_STREAMS)
		(p->params.udp ? open_udp : open_tcp)(w, p);
	if (!p->ended && (w->now >= w->stop_at || w->now >= p->deadline))
		stop(w, p);
	if (p->state == IPERF_TEST_RUNNING && !p->ended) {
		due = iperf_go_on(w, p);
		next = due < next ? due : next;
	}
	return next;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3's server: one test at a time, one after the other. The client leads; what it says out of turn, too late or not
 * at all ends its test, and the next client is served. What is counted of a test is told by reports (iperf_report.c).
 *
 * When the client says that the test is over, some of what it has sent is still on its way. It tells how much that was,
 * so we wait for all of it, for a second at most, and a stream's time is that of its last octet. So both sides say the
 * same number, and no goodput is of octets that have not come.
 */
#include "iperf_priv.h"

enum { UDP_HEADERS4 = 28, UDP_HEADERS6 = 48, ERROR_OCTETS = 9 };

static const uint64_t NS_PER_S = 1000000000, LOOK_NS = 1000000;
/* for each step of the client; beyond the time of the test; for what is on its way; for the last words */
static const uint64_t STEP_S = 10, GRACE_S = 30, DRAIN_S = 1, LAST_S = 5;

static void
wait_for(const struct fg_l4 *w, struct iperf *p, uint8_t state, uint64_t seconds)
{
	if (p->control == NULL) /* it was closed by what was said last: the test is finished */
		return;
	p->state = state;
	p->deadline = w->now + seconds * NS_PER_S;
}

/* the test is over, whatever came of it; the control connection may have to say something still */
static void
finish(struct fg_l4 *w, struct iperf *p, enum fg_l4_iperf_end ending)
{
	if (p->state == IPERF_CLOSING || p->state == IPERF_IDLE)
		return;
	if (p->running_at > 0 && p->end_at == 0)
		iperf_halt(w, p);
	p->ending = ending;
	iperf_report_end(w, p);
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			iperf_let_go(w, p->stream[i].conn);
	p->streams = 0;
	wait_for(w, p, IPERF_CLOSING, LAST_S);
	if (p->control == NULL || p->control->snd_offset >= p->queued) {
		if (p->control != NULL)
			iperf_let_go(w, p->control);
		p->state = IPERF_IDLE;
	} else {
		tcp_close(w, p->control);
	}
}

/* iperf3 says what is wrong by two numbers: its own, and errno */
static void
fault(struct fg_l4 *w, struct iperf *p, uint32_t error, enum fg_l4_iperf_end ending)
{
	uint8_t words[ERROR_OCTETS] = {IPERF_SERVER_ERROR};

	put_number(words + 1, error, 4);
	p->refusal = error;
	iperf_say(w, p, words, sizeof(words));
	finish(w, p, ending);
}

void
iperf_server_begin(struct fg_l4 *w, struct iperf *p, struct conn *c)
{
	iperf_forget(p);
	p->refusal = 0;
	p->control = c;
	c->app_phase = PHASE_CONTROL;
	wait_for(w, p, IPERF_COOKIE_DUE, STEP_S);
	/* the servers for both IP versions are one */
	for (unsigned i = 0; i < w->apps; i++)
		if (((struct application *)w->app[i])->iperf == p)
			w->app[i]->tcp = ((struct application *)w->app[i])->config.tcp;
}

void
iperf_server_greeted(struct fg_l4 *w, struct iperf *p)
{
	iperf_say_state(w, p, IPERF_PARAM_EXCHANGE);
	p->expected = A_LENGTH;
	wait_for(w, p, IPERF_PARAM_EXCHANGE, STEP_S);
}

static void
take_params(struct fg_l4 *w, struct iperf *p)
{
	uint32_t headers = p->control->flow.ipv6 ? UDP_HEADERS6 : UDP_HEADERS4;
	uint32_t error = iperf_read_params(&p->params, p->in, p->text, w->config.mtu - headers);

	iperf_report_test(p, &p->control->flow);
	if (error != 0) {
		fault(w, p, error, FG_L4_IPERF_REFUSED);
		return;
	}
	for (unsigned i = 0; i < w->apps; i++) {
		struct application *a = (struct application *)w->app[i];

		if (a->iperf == p)
			iperf_apply_params(&p->params, &a->config.tcp, &a->base.tcp);
	}
	p->streams_wanted = (uint32_t)p->params.parallel * (p->params.both ? 2 : 1);
	iperf_say_state(w, p, IPERF_CREATE_STREAMS);
	wait_for(w, p, IPERF_CREATE_STREAMS, STEP_S);
}

void
iperf_server_stream(struct fg_l4 *w, struct iperf *p)
{
	if (p->streams < p->streams_wanted) {
		wait_for(w, p, IPERF_CREATE_STREAMS,
			 STEP_S); /* for the next one: there may be many, and far away */
		return;
	}
	iperf_say_state(w, p, IPERF_TEST_START);
	iperf_say_state(w, p, IPERF_TEST_RUNNING);
	iperf_run(w, p);
	p->interval_from = w->now;
	p->interval_at = w->now + NS_PER_S;
	wait_for(w, p, IPERF_TEST_RUNNING,
		 p->params.time_s == 0 ? UINT32_MAX
				       : (uint64_t)(p->params.time_s + p->params.omit_s) + GRACE_S);
}

/* everything has come, or the time for it is over */
static void
say_results(struct fg_l4 *w, struct iperf *p)
{
	p->have_results = false;
	iperf_report_interval(w, p);
	iperf_say_results(w, p);
	iperf_say_state(w, p, IPERF_DISPLAY_RESULTS);
	wait_for(w, p, IPERF_DISPLAY_RESULTS, STEP_S);
}

void
iperf_server_text(struct fg_l4 *w, struct iperf *p)
{
	if (p->state == IPERF_PARAM_EXCHANGE) {
		take_params(w, p);
	} else if (!iperf_read_results(p)) {
		fault(w, p, IPERF_BAD_RESULTS, FG_L4_IPERF_NONSENSE);
	} else {
		p->have_results = true;
		iperf_dry_up(w, p);
		wait_for(w, p, IPERF_EXCHANGE_RESULTS, DRAIN_S);
	}
}

void
iperf_server_state(struct fg_l4 *w, struct iperf *p, uint8_t state)
{
	if (state == IPERF_TEST_END && p->state == IPERF_TEST_RUNNING) {
		iperf_halt(w, p);
		iperf_say_state(w, p, IPERF_EXCHANGE_RESULTS);
		p->expected = A_LENGTH;
		wait_for(w, p, IPERF_EXCHANGE_RESULTS, STEP_S);
	} else if (state == IPERF_ALL_DONE && p->state == IPERF_DISPLAY_RESULTS) {
		finish(w, p, FG_L4_IPERF_DONE);
	} else if (state == IPERF_CLIENT_TERMINATE) {
		finish(w, p, FG_L4_IPERF_TERMINATED);
	} else if (p->state != IPERF_CLOSING) {
		fault(w, p, IPERF_BAD_MESSAGE, FG_L4_IPERF_NONSENSE);
	}
}

void
iperf_server_gone(struct fg_l4 *w, struct iperf *p)
{
	if (p->state != IPERF_CLOSING)
		finish(w, p, FG_L4_IPERF_GONE);
	if (p->control != NULL)
		iperf_let_go(w, p->control);
	p->state = IPERF_IDLE;
}

/* the client has let the time for its next step go by */
static void
too_late(struct fg_l4 *w, struct iperf *p)
{
	if (p->state == IPERF_EXCHANGE_RESULTS && p->have_results)
		say_results(w, p);
	else if (p->state == IPERF_CLOSING)
		tcp_abort(w, p->control);
	else
		finish(w, p, FG_L4_IPERF_LATE);
}

static void
go_on(struct fg_l4 *w, struct iperf *p)
{
	if (w->now >= p->interval_at) {
		p->interval_at += NS_PER_S;
		iperf_report_interval(w, p);
	}
}

uint64_t
iperf_server_poll(struct fg_l4 *w, struct app *app)
{
	struct iperf *p = ((struct application *)app)->iperf;
	uint64_t next = w->now + LOOK_NS, due;

	if (&p->owner->base != app || p->state == IPERF_IDLE)
		return UINT64_MAX;
	if (atomic_load_explicit(&p->stop, memory_order_relaxed) && p->state != IPERF_CLOSING) {
		iperf_say_state(w, p, IPERF_SERVER_TERMINATE);
		finish(w, p, FG_L4_IPERF_STOPPED);
		return w->now;
	}
	if (w->now >= p->deadline)
		too_late(w, p);
	if (p->state == IPERF_TEST_RUNNING) {
		go_on(w, p);
		due = iperf_go_on(w, p);
		next = due < next ? due : next;
	} else if (p->state == IPERF_EXCHANGE_RESULTS && p->have_results && iperf_has_all(p)) {
		say_results(w, p);
	}
	return next;
}

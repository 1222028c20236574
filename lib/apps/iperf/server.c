/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3's server: one test at a time, one after the other. The client leads; what it says out of turn, too
 * late or not at all ends its test, and the next client is served. What is counted of a test is told by
 * reports (report.c).
 *
 * When the client says that the test is over, some of what it has sent is still on its way. It tells how much
 * that was, so we wait for all of it, for a second at most, and a stream's time is the time of its last
 * octet. So both sides say the same number, and no goodput is of octets that have not come.
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

/*
 * the servers for both IP versions are one: set the TCP of both as @p params ask for, NULL: as it was
 * configured
 */
static void
set_tcp(struct fg_l4 *w, const struct iperf *p, const struct iperf_params *params)
{
	for (unsigned i = 0; i < w->apps; i++) {
		struct application *a = (struct application *)w->app[i];

		if (a->kind != p->owner->kind || iperf_of_app(&a->base) != p)
			continue;
		a->base.tcp = a->config.tcp;
		if (params != NULL)
			iperf_apply_params(params, &a->base.tcp);
	}
}

/* the test is over, whatever came of it; the control connection may have to say something still */
static void
server_finish(struct fg_l4 *w, struct iperf *p, enum fg_l4_iperf_end ending)
{
	if (p->state == IPERF_CLOSING || p->state == IPERF_IDLE)
		return;
	if (p->running_at > 0 && p->end_at == 0)
		iperf_halt(w, p);
	p->ending = ending;
	iperf_report_end(w, p);
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			iperf_release(w, p->stream[i].conn);
	p->streams = 0;
	set_tcp(w, p, NULL); /* before the next client connects */
	wait_for(w, p, IPERF_CLOSING, LAST_S);
	if (p->control == NULL || p->control->acked >= p->queued) {
		if (p->control != NULL)
			iperf_release(w, p->control);
		p->state = IPERF_IDLE;
	} else {
		fg_stream_close(w, p->control);
	}
}

/* iperf3 says what is wrong by two numbers: its own, and errno */
static void
fault(struct fg_l4 *w, struct iperf *p, uint32_t error, enum fg_l4_iperf_end ending)
{
	uint8_t message[ERROR_OCTETS] = {IPERF_SERVER_ERROR};

	fg_put32(message + 1, error);
	p->refusal = error;
	iperf_send(w, p, message, sizeof(message));
	server_finish(w, p, ending);
}

void
iperf_server_begin(struct fg_l4 *w, struct iperf *p, struct fg_stream *s)
{
	iperf_reset(p);
	p->refusal = 0;
	p->control = s;
	iperf_conn_of(s)->phase = PHASE_CONTROL;
	fg_stream_control(w, s);
	wait_for(w, p, IPERF_COOKIE_DUE, STEP_S);
}

void
iperf_server_greeted(struct fg_l4 *w, struct iperf *p)
{
	iperf_send_state(w, p, IPERF_PARAM_EXCHANGE);
	p->expected = A_LENGTH;
	wait_for(w, p, IPERF_PARAM_EXCHANGE, STEP_S);
}

static void
take_params(struct fg_l4 *w, struct iperf *p)
{
	uint32_t headers = fg_stream_flow(p->control)->ipv6 ? UDP_HEADERS6 : UDP_HEADERS4;
	uint32_t error = iperf_read_params(&p->params, p->in, p->text, w->config.mtu - headers);

	iperf_report_test(p, fg_stream_flow(p->control));
	if (error != 0) {
		fault(w, p, error, FG_L4_IPERF_REFUSED);
		return;
	}
	set_tcp(w, p, &p->params);
	p->streams_wanted = (uint32_t)p->params.parallel * (p->params.both ? 2 : 1);
	iperf_send_state(w, p, IPERF_CREATE_STREAMS);
	wait_for(w, p, IPERF_CREATE_STREAMS, STEP_S);
}

void
iperf_server_stream(struct fg_l4 *w, struct iperf *p)
{
	if (p->streams < p->streams_wanted) {
		/* for the next one: there may be many, and far away */
		wait_for(w, p, IPERF_CREATE_STREAMS, STEP_S);
		return;
	}
	iperf_send_state(w, p, IPERF_TEST_START);
	iperf_send_state(w, p, IPERF_TEST_RUNNING);
	iperf_run(w, p);
	p->interval_from = w->now;
	p->interval_at = w->now + NS_PER_S;
	wait_for(w, p, IPERF_TEST_RUNNING,
		 p->params.time_s == 0 ? UINT32_MAX
				       : (uint64_t)(p->params.time_s + p->params.omit_s) + GRACE_S);
}

/* everything has come, or the time for it is over */
static void
send_results(struct fg_l4 *w, struct iperf *p)
{
	p->have_results = false;
	iperf_report_interval(w, p);
	iperf_send_results(w, p);
	iperf_send_state(w, p, IPERF_DISPLAY_RESULTS);
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
		iperf_truncate(w, p);
		wait_for(w, p, IPERF_EXCHANGE_RESULTS, DRAIN_S);
	}
}

void
iperf_server_state(struct fg_l4 *w, struct iperf *p, uint8_t state)
{
	if (state == IPERF_TEST_END && p->state == IPERF_TEST_RUNNING) {
		iperf_halt(w, p);
		iperf_send_state(w, p, IPERF_EXCHANGE_RESULTS);
		p->expected = A_LENGTH;
		wait_for(w, p, IPERF_EXCHANGE_RESULTS, STEP_S);
	} else if (state == IPERF_ALL_DONE && p->state == IPERF_DISPLAY_RESULTS) {
		server_finish(w, p, FG_L4_IPERF_DONE);
	} else if (state == IPERF_CLIENT_TERMINATE || state == IPERF_ALL_DONE) { /* or it gives up */
		server_finish(w, p, FG_L4_IPERF_TERMINATED);
	} else if (p->state != IPERF_CLOSING) {
		fault(w, p, IPERF_BAD_MESSAGE, FG_L4_IPERF_NONSENSE);
	}
}

void
iperf_server_gone(struct fg_l4 *w, struct iperf *p)
{
	if (p->state != IPERF_CLOSING)
		server_finish(w, p, FG_L4_IPERF_GONE);
	if (p->control != NULL)
		iperf_release(w, p->control);
	p->state = IPERF_IDLE;
}

/* the client has let the time for its next step go by */
static void
too_late(struct fg_l4 *w, struct iperf *p)
{
	if (p->state == IPERF_EXCHANGE_RESULTS && p->have_results)
		send_results(w, p);
	else if (p->state == IPERF_CLOSING)
		fg_stream_abort(w, p->control);
	else
		server_finish(w, p, FG_L4_IPERF_LATE);
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
iperf_server_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct iperf *p = iperf_of_app(app);
	uint64_t next = w->now + LOOK_NS, due;

	if (&p->owner->base != app || p->state == IPERF_IDLE)
		return UINT64_MAX;
	if (atomic_load_explicit(&p->stop, memory_order_relaxed) && p->state != IPERF_CLOSING) {
		iperf_send_state(w, p, IPERF_SERVER_TERMINATE);
		server_finish(w, p, FG_L4_IPERF_STOPPED);
		return w->now;
	}
	if (w->now >= p->deadline)
		too_late(w, p);
	if (p->state == IPERF_TEST_RUNNING) {
		go_on(w, p);
		due = iperf_go_on(w, p);
		next = due < next ? due : next;
	} else if (p->state == IPERF_EXCHANGE_RESULTS && p->have_results && iperf_has_all(p)) {
		send_results(w, p);
	}
	return next;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control orders is done here on the lcore, and what control is shown of it. A session begins with its
 * control connection and goes on until control ends it. What control sent last has some time to leave; the
 * next client is served then.
 */
#include "iperf_priv.h"

static const uint64_t LOOK_NS = 500000;     /* between two looks for orders */
static const uint64_t LAST_NS = 5000000000; /* for the last bytes to be acknowledged */

void
iperf_begin(struct fg_l4 *w, struct iperf *p, struct fg_stream *s)
{
	uint32_t number = atomic_load_explicit(&p->session, memory_order_relaxed);

	p->control = s;
	iperf_conn_of(s)->phase = PHASE_CONTROL;
	fg_stream_control(w, s);
	p->step = STEP_CONTROL;
	p->written = p->streams = p->streams_wanted = p->turn = p->latest = 0;
	p->running_at = p->omit_at = p->end_at = p->asked_at = 0;
	p->deadline = UINT64_MAX;
	p->omitting = false;
	p->peer[(number + 1) % 2] = *fg_stream_flow(s); /* control may still read of the session before */
	atomic_fetch_and_explicit(&p->orders, FG_L4_IPERF_STOP, memory_order_relaxed);
	atomic_store_explicit(&p->queued, 0, memory_order_relaxed);
	atomic_store_explicit(&p->received, 0, memory_order_relaxed);
	atomic_store_explicit(&p->streams_open, 0, memory_order_relaxed);
	atomic_store_explicit(&p->flags, p->server ? FLAG_CONNECTED : 0, memory_order_relaxed);
	atomic_store_explicit(&p->session, number + 1, memory_order_release);
}

/*
 * the servers for both IP versions are one: set the TCP of both as the test has it, or as it was configured
 */
static void
set_tcp(struct fg_l4 *w, const struct iperf *p, const struct fg_l4_iperf_test *test)
{
	for (unsigned i = 0; p->server && i < w->apps; i++) {
		struct application *a = (struct application *)w->app[i];
		struct fg_l4_tcp *tcp = &a->base.tcp;

		if (a->kind != p->owner->kind || iperf_of_app(&a->base) != p)
			continue;
		*tcp = a->config.tcp;
		if (test != NULL && test->window > 0)
			tcp->receive_buffer = tcp->send_buffer = test->window;
		if (test != NULL && test->mss > 0)
			tcp->mss = test->mss;
		if (test != NULL && test->congestion > 0)
			tcp->congestion = (uint8_t)(test->congestion - 1);
	}
}

static void
end(struct fg_l4 *w, struct iperf *p, bool abort)
{
	for (uint32_t i = 0; i < p->streams; i++)
		if (p->stream[i].conn != NULL)
			iperf_release(w, p->stream[i].conn);
	p->streams = 0;
	set_tcp(w, p, NULL); /* before the next client connects */
	p->step = STEP_END;
	p->deadline = w->now + LAST_NS;
	if (p->control != NULL && abort)
		fg_stream_abort(w, p->control);
	else if (p->control != NULL)
		fg_stream_close(w, p->control);
}

static void
open_streams(struct fg_l4 *w, struct iperf *p)
{
	p->test = p->wanted;
	p->test.parallel = fg_u32_min(p->test.parallel, FG_L4_IPERF_STREAMS / 2);
	p->streams_wanted = p->test.parallel * (p->test.both ? 2 : 1);
	set_tcp(w, p, &p->test);
	p->step = STEP_OPEN;
}

static void
run(struct fg_l4 *w, struct iperf *p)
{
	p->step = STEP_RUN;
	if (!p->server)
		p->deadline = w->now + (uint64_t)((p->test.omit_s + p->test.time_s) * 1e9);
	iperf_run(w, p);
}

static void
obey_control(struct fg_l4 *w, struct iperf *p)
{
	/* what is queued before the orders are read may have been sent behind RUN; with END, all was */
	uint32_t queued = atomic_load_explicit(&p->queued, memory_order_acquire);
	uint32_t orders = atomic_fetch_and_explicit(&p->orders, FG_L4_IPERF_STOP, memory_order_acq_rel);

	if (orders & FG_L4_IPERF_OPEN)
		open_streams(w, p);
	if (orders & FG_L4_IPERF_RUN)
		run(w, p);
	if (orders & (FG_L4_IPERF_HALT | FG_L4_IPERF_END) && p->step == STEP_RUN && p->end_at == 0)
		iperf_halt(w, p);
	if (orders & FG_L4_IPERF_TRUNCATE)
		iperf_truncate(w, p);
	if (orders & FG_L4_IPERF_COUNT) {
		iperf_show_counts(w, p);
		atomic_fetch_add_explicit(&p->counted, 1, memory_order_release);
	}
	p->owner->base.tally.refused += (orders & FG_L4_IPERF_REFUSED) != 0;
	if (orders & FG_L4_IPERF_END)
		queued = atomic_load_explicit(&p->queued, memory_order_acquire);
	if (p->control != NULL && queued > p->written) {
		uint32_t more = queued - p->written;

		p->written = queued;
		fg_stream_write(w, p->control, more);
	}
	if (orders & FG_L4_IPERF_END)
		end(w, p, orders & FG_L4_IPERF_ABORT);
}

/* the peer has all, or has had its time */
static void
finish_session(struct fg_l4 *w, struct iperf *p)
{
	const bool stopped = atomic_load_explicit(&p->orders, memory_order_relaxed) & FG_L4_IPERF_STOP;
	struct fg_stream *next = p->waiting;

	if (p->control != NULL && p->control->acked < p->written) {
		if (w->now >= p->deadline)
			fg_stream_abort(w, p->control);
		return;
	}
	if (p->control != NULL)
		iperf_release(w, p->control);
	p->step = STEP_NONE;
	p->waiting = NULL;
	if (next != NULL && stopped)
		iperf_deny(w, next);
	else if (next != NULL)
		iperf_begin(w, p, next);
}

/* @return the connection, NULL: not now */
static struct fg_stream *
open_connection(struct fg_l4 *w, struct application *a)
{
	struct fg_stream *s;
	struct fg_flow f;

	next_flow(a, &f);
	s = fg_stream_open(w, a->base.index, &f);
	if (s != NULL)
		client_of(s)->since = w->now;
	return s;
}

static void
open_tcp(struct fg_l4 *w, struct iperf *p)
{
	struct fg_stream *s;

	while (p->streams < p->streams_wanted && (s = open_connection(w, p->owner)) != NULL) {
		iperf_conn_of(s)->phase = PHASE_STREAM;
		iperf_conn_of(s)->index = p->streams;
		iperf_add_stream(p)->conn = s;
	}
}

static void
poll_client(struct fg_l4 *w, struct iperf *p)
{
	bool over = w->now >= w->stop_at;

	if (!p->opened && !over) {
		struct fg_stream *s = open_connection(w, p->owner);

		p->opened = s != NULL;
		if (p->opened)
			iperf_begin(w, p, s);
	}
	if (p->step == STEP_OPEN)
		(p->test.udp ? iperf_udp_open : open_tcp)(w, p);
	if (p->step == STEP_RUN && p->end_at == 0 && (over || w->now >= p->deadline))
		iperf_halt(w, p);
	if (over)
		iperf_raise(p, FLAG_OVER);
}

uint64_t
iperf_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct iperf *p = iperf_of_app(app);
	uint64_t next = w->now + LOOK_NS, due;

	if (!p->server && w->now < w->start_at)
		return w->start_at;
	if (&p->owner->base != app || (p->step == STEP_NONE && (p->server || p->opened)))
		return UINT64_MAX;
	if (p->step != STEP_NONE)
		obey_control(w, p);
	if (!p->server)
		poll_client(w, p);
	if (p->step == STEP_END)
		finish_session(w, p);
	if (p->step == STEP_RUN && p->end_at == 0) {
		due = iperf_go_on(w, p);
		next = due < next ? due : next;
	}
	return next;
}

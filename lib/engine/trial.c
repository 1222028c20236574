/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiling a trial: everything that can be decided before the first frame is decided here, so that the tasks
 * only follow. The result is an job per lcore, a list of tasks with their times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "engine_priv.h"

enum {
	MAX_STEP_US = 50, /* on the wire: longest time between two passes while something happens */
	PICK_UP_MS = 5,   /* on the TSC: time for the lcores to take up the job */
	COMPILE_ATTEMPTS = 3,
	NAP_NS = 1000000, /* a sender without work looks for orders after this time */
};
static const uint64_t SECOND_NS = 1000000000;

/* the time between passes on the wire: as told, or a burst of the port that sends most */
static uint64_t
wire_step(const struct fg_engine *e, const struct fg_trial_config *c)
{
	double fps[FG_MAX_PORTS] = {0}, step = MAX_STEP_US * 1e-6 * (double)e->clock.hz;

	if (c->step_ns > 0)
		return fg_clock_ticks(&e->clock, c->step_ns);
	for (unsigned i = 0; i < c->streams; i++)
		if (c->stream[i].tx_port < e->config.ports && c->stream[i].copies_of == 0)
			fps[c->stream[i].tx_port] += fg_stream_peak_fps(&c->stream[i]);
	for (unsigned i = 0; i < e->config.ports; i++)
		if (fps[i] > 0)
			step = RTE_MIN(step, (double)FG_BURST / fps[i] * (double)e->clock.hz);
	return (uint64_t)step;
}

/* the series of a stream, to which its sender and its receiver both write */
static int
make_series(const struct fg_engine *e, const struct trial *t, unsigned i, const struct fg_trial_config *c,
	    struct fg_error *err)
{
	const struct fg_stream_config *s = &t->split.config[i];

	if ((s->measure & FG_MEASURE_SERIES) == 0 || s->unmeasured)
		return 0;
	return fg_series_create(fg_clock_ns(&e->clock, t->tx.env.start), c->traffic_ns,
				c->series_ns == 0 ? SECOND_NS : c->series_ns, t->rx.precision.digits,
				&t->series[i], err);
}

int
trial_stream_init(struct fg_engine *e, struct trial *t, unsigned i, struct fg_error *err)
{
	const struct fg_stream_config *s = &t->split.config[i];
	const struct substream *part = &t->split.substream[i];
	const struct split_port *to = &e->port[s->rx_port].queue;
	const struct tx_place from = {e->queue[part->queue].port, part->queue, part->k, part->of};
	const struct rx_place place = {to->first, to->queues, part->k, part->of};
	int rc = tx_stream_init(&t->tx, i, s, &from, t->series[i], err);

	if (rc == 0)
		rc = rx_stream_init(&t->rx, i, s, &place, &t->tx.stream[i], t->series[i], err);
	if (rc == 0 && s->copies_of > 0) /* one queue a port: streams are not divided */
		rx_stream_follow(&t->rx, i, s->copies_of - 1);
	return rc;
}

static int
receiver_init(struct fg_engine *e, struct trial *t, unsigned queue, const struct fg_trial_config *c,
	      struct fg_error *err)
{
	unsigned port = e->queue[queue].of;
	struct rx_task_config config = {
		.idle = e->queue[queue].idle,
		.first = e->port[port].queue.first,
		.queues = e->port[port].queue.queues,
		.rings = &e->port[port].rings,
		.first_id = e->next_id,
		.sink = c->sink[port],
		.tap = c->tap[port],
		.extended = c->values,
	};

	for (unsigned i = 0; i < c->streams; i++) {
		const struct fg_stream_config *s = &c->stream[i];

		config.extended |= (rx_is_extended(s) || s->other_clock) && s->rx_port == port;
		config.mixed |= s->sizes != NULL;
	}
	return rx_task_init(&t->rx, queue, &config, err);
}

/*
 * @p ahead: on the TSC, ticks from now to the begin.
 * @return -ETIME: traffic cannot start any more when it should
 */
static int
timeline(const struct fg_engine *e, const struct fg_trial_config *c, uint64_t ahead, struct fg_job *out,
	 struct fg_error *err)
{
	struct fg_job t = {.step = e->config.time == FG_TIME_TSC ? 0 : wire_step(e, c)};
	uint64_t now = e->config.time == FG_TIME_TSC ? rte_rdtsc() + ahead : e->wire_now;

	t.begin = RTE_MAX(now, e->ready_at);
	t.start = t.begin + fg_clock_ticks(&e->clock, c->learn_ns);
	if (c->start_ns > 0) {
		uint64_t start = fg_clock_ticks(&e->clock, c->start_ns - e->clock.base_ns);

		if (start < t.start)
			return fg_error_set(err, ETIME, "trial", "it should have started %.6f s earlier",
					    (double)(t.start - start) / (double)e->clock.hz);
		t.start = start;
	}
	t.stop = t.end = UINT64_MAX;
	if (c->traffic_ns != FG_ENDLESS) {
		t.stop = t.start + fg_clock_ticks(&e->clock, c->traffic_ns);
		t.end = t.stop + fg_clock_ticks(&e->clock, c->drain_ns);
	}
	*out = t;
	return 0;
}

static int
add_task(struct fg_job *job, struct fg_task *task)
{
	/* grown by powers of two: nothing else keeps the room */
	if ((job->tasks & (job->tasks - 1)) == 0) {
		struct fg_task **grown =
			realloc(job->task, (job->tasks == 0 ? 1 : job->tasks * 2) * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		job->task = grown;
	}
	job->task[job->tasks++] = task;
	return 0;
}

/* what sends over each queue */
static int
add_senders(struct fg_engine *e, struct trial *t)
{
	for (unsigned i = 0; i < e->queues; i++) {
		int rc = tx_task_init(&t->tx, i, e->queue[i].port, NULL);

		if (rc == 0 && t->tx.task[i].port != NULL)
			rc = add_task(&t->job[e->queue[i].tx_lcore], &t->tx.task[i].task);
		if (rc != 0)
			return rc;
	}
	for (unsigned i = 0; i < e->config.ports; i++)
		tx_share_line(&t->tx, e->port[i].queue.first, e->port[i].queue.queues);
	return 0;
}

/* before the ports' own tasks: what is sent is received in the same pass */
static int
add_guests(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c)
{
	int rc = 0;

	for (unsigned i = 0; i < c->tasks && rc == 0; i++) {
		const struct fg_trial_task *wanted = &c->task[i];
		const struct queue *queue = &e->queue[e->port[wanted->port].queue.first];

		rc = add_task(&t->job[wanted->at_receive ? queue->rx_lcore : queue->tx_lcore], wanted->task);
	}
	return rc;
}

/* those that send test frames and have a gateway */
static int
add_talker(struct fg_engine *e, struct trial *t, unsigned port, const struct fg_talk *talk,
	   const struct fg_job *timeline)
{
	bool sends = false;

	for (unsigned i = 0; i < t->split.streams; i++)
		sends |= t->split.config[i].tx_port == port && !t->split.config[i].unmeasured;
	if (!sends || !e->config.port[port].has_gateway4 || (talk->query_ns == 0 && talk->update_ns == 0))
		return 0;
	t->talker[port] = talker_create(talk, &e->port[port].responder, timeline);
	if (t->talker[port] == NULL)
		return -ENOMEM;
	return add_task(&t->job[e->queue[e->port[port].queue.first].tx_lcore], &t->talker[port]->task);
}

/* what the ports say of multicast groups */
static int
add_speakers(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c,
	     const struct fg_job *timeline)
{
	const struct speaker_times times = {timeline->start, timeline->step, e->tx_time_flag,
					    e->tx_time_offset};
	unsigned count[FG_MAX_PORTS] = {0};
	int rc = 0;

	t->member = calloc(RTE_MAX(c->members, 1U), sizeof(*t->member));
	if (t->member == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < c->members && rc == 0; i++) {
		unsigned port = c->member[i].port;

		t->member[i].port = port;
		t->member[i].number = count[port]++;
		if (t->speaker[port] != NULL)
			continue;
		t->speaker[port] = speaker_create(c, port, &e->port[port].responder, &times);
		if (t->speaker[port] == NULL)
			return -ENOMEM;
		rc = add_task(&t->job[e->queue[e->port[port].queue.first].tx_lcore],
			      speaker_task(t->speaker[port]));
	}
	return rc;
}

/* what receives from a queue; and of a port's first one, the responder */
static int
add_receiver(struct fg_engine *e, struct trial *t, unsigned i, const struct fg_job *timeline, bool silent)
{
	const struct queue *queue = &e->queue[i];
	struct engine_port *port = &e->port[queue->of];
	int rc = add_task(&t->job[queue->rx_lcore], &t->rx.task[i].task);

	if (rc != 0 || i != port->queue.first)
		return rc;
	port->responder.announce_at = silent ? UINT64_MAX : timeline->begin;
	if (port->responder.hosts != NULL)
		rc = add_task(&t->job[queue->tx_lcore], hosts_task(port->responder.hosts));
	if (rc == 0 && port->responder.link != NULL)
		rc = add_task(&t->job[queue->tx_lcore], link_task(port->responder.link));
	return rc != 0 ? rc : add_task(&t->job[queue->tx_lcore], &port->responder.task);
}

void
engine_idle_tasks(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->config.lcores; i++) {
		struct fg_job *job = &e->idle[i];

		job->tasks = 0;
		for (unsigned k = 0; k < e->queues; k++) {
			struct engine_port *port = &e->port[e->queue[k].of];

			if (e->queue[k].rx_lcore == i && !port->config.port->caps.finite)
				job->task[job->tasks++] = &e->queue[k].idle->task;
			if (k != port->queue.first || e->queue[k].tx_lcore != i)
				continue;
			job->task[job->tasks++] = &port->responder.task;
			if (port->responder.hosts != NULL)
				job->task[job->tasks++] = hosts_task(port->responder.hosts);
			if (port->responder.link != NULL)
				job->task[job->tasks++] = link_task(port->responder.link);
		}
	}
}

static int
fill_jobs(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c,
	  const struct fg_job *timeline)
{
	int rc = 0;

	for (unsigned i = 0; i < e->config.lcores; i++) {
		t->job[i] = *timeline;
		t->job[i].serial = ++e->serial;
	}
	for (unsigned i = 0; i < e->config.ports && rc == 0; i++) {
		e->port[i].responder.host.addresses = c->addresses[i];
		rc = add_talker(e, t, i, &c->talk, timeline);
	}
	if (rc == 0)
		rc = add_senders(e, t);
	if (rc == 0)
		rc = add_speakers(e, t, c, timeline);
	if (rc == 0)
		rc = add_guests(e, t, c);
	for (unsigned i = 0; i < e->queues && rc == 0; i++)
		rc = add_receiver(e, t, i, timeline, c->silent);
	return rc;
}

/* by how many numbers a frame can be behind another at any port because it came over another queue */
static unsigned
queues_behind(const struct fg_engine *e)
{
	unsigned most = 0;

	for (unsigned i = 0; i < e->config.ports; i++)
		most = RTE_MAX(most, rx_queues_behind(e->config.port[i].port, e->port[i].queue.queues));
	return most;
}

static int
trial_alloc(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c, struct fg_error *err)
{
	struct rx_reach reach = {
		.drain_ns = c->drain_ns, .max_lag_ns = c->max_lag_ns, .traffic_ns = c->traffic_ns};
	struct split_port ports[FG_MAX_PORTS];

	for (unsigned i = 0; i < e->config.ports; i++) {
		ports[i] = e->port[i].queue;
		reach.line_bps = RTE_MAX(reach.line_bps, e->config.port[i].port->caps.line_rate_bps);
	}
	if (split_make(&t->split, ports, e->config.ports, c) != 0 || split_all(&t->split) > FG_MAX_STREAMS)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", c->streams);
	t->series = calloc(RTE_MAX(split_all(&t->split), 1U), sizeof(*t->series));
	if (t->series == NULL || spares_alloc(t) != 0 ||
	    tx_alloc(&t->tx, t->split.streams, c->spares, e->queues) != 0)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", c->streams);
	if (rx_alloc(&t->rx, t->split.streams, c->spares, e->queues, queues_behind(e), err) != 0)
		return -ENOMEM;
	rx_remember(&t->rx, t->split.config, t->split.streams, &reach);
	return 0;
}

static struct tx_env
env_of(struct fg_engine *e, const struct fg_trial_config *c, const struct fg_job *times)
{
	/* the free-running wire does not wait, unless nothing else ends the trial */
	bool waits = e->config.time != FG_TIME_WIRE_FREE || times->end == UINT64_MAX;

	return (struct tx_env){
		.clock = &e->clock,
		.start = times->start,
		.step = times->step,
		.nap = waits ? fg_clock_ticks(&e->clock, NAP_NS) : UINT64_MAX,
		.max_lag = fg_clock_ticks(&e->clock, c->max_lag_ns),
		.time_flag = e->tx_time_flag,
		.time_offset = e->tx_time_offset,
		.first_id = e->next_id,
		.pools = &e->pools,
	};
}

/* c: the counts of the substreams */
static int
tasks_init(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c, const struct fg_job *times,
	   struct fg_error *err)
{
	bool variation = false;
	int rc = 0;

	t->tx.env = env_of(e, c, times);
	for (unsigned i = 0; rc == 0 && i < e->queues; i++)
		rc = receiver_init(e, t, i, c, err);
	for (unsigned i = 0; rc == 0 && i < c->streams; i++) {
		rc = make_series(e, t, i, c, err);
		if (rc == 0)
			rc = trial_stream_init(e, t, i, err);
		variation |= (c->stream[i].measure & FG_MEASURE_VARIATION) != 0;
	}
	if (rc == 0 && t->split.streams > t->split.given)
		rc = rx_sums_init(&t->rx, variation, err);
	if (rc == 0 && fill_jobs(e, t, c, times) != 0)
		rc = fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", c->streams);
	return rc;
}

static int
compile(struct fg_engine *e, const struct fg_trial_config *given, uint64_t ahead, struct fg_job *times,
	struct trial **out, struct fg_error *err)
{
	struct fg_trial_config c = *given;
	struct trial *t = *out = calloc(1, sizeof(*t));
	int rc;

	if (t == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", given->streams);
	t->values = given->values;
	rc = trial_alloc(e, t, given, err);
	c.streams = t->split.streams;
	c.stream = t->split.config;
	if (rc == 0 && given->first_id != 0) {
		e->next_id = given->first_id;
		if (c.streams != given->streams)
			rc = fg_error_set(err, EINVAL, "streams",
					  "what two testers share goes over one queue");
	}
	if (rc == 0)
		rc = timeline(e, given, ahead, times, err);
	if (rc == 0)
		rc = tasks_init(e, t, &c, times, err);
	if (rc != 0)
		trial_free(e, t);
	return rc;
}

/* has it taken so long that the lcores can no longer take the trial up in time? */
static bool
is_too_late(const struct fg_engine *e, const struct fg_job *times)
{
	uint64_t now = rte_rdtsc();

	return e->config.time == FG_TIME_TSC && now >= times->begin &&
	       now + e->clock.hz / 1000 * PICK_UP_MS >= times->start;
}

int
trial_compile(struct fg_engine *e, const struct fg_trial_config *c, struct fg_error *err)
{
	uint64_t ahead = e->clock.hz / 1000 * PICK_UP_MS;
	struct trial *t = NULL;
	struct fg_job times = {0};
	int rc = trial_check(e, c, err);

	/* making buffers takes long, but only the first time */
	for (unsigned attempt = 1; rc == 0; attempt++) {
		uint64_t begun = rte_rdtsc();

		rc = compile(e, c, ahead, &times, &t, err);
		if (rc != 0 || attempt == COMPILE_ATTEMPTS || c->start_ns > 0 || !is_too_late(e, &times))
			break;
		ahead += 2 * (rte_rdtsc() - begun);
		trial_free(e, t);
	}
	if (rc != 0)
		return rc;
	e->next_id = (uint16_t)(e->next_id + split_all(&t->split));
	e->ready_at = times.end + fg_clock_ticks(&e->clock, c->settle_ns);
	e->trial = t;
	return 0;
}

void
trial_free(struct fg_engine *e, struct trial *t)
{
	if (t == NULL)
		return;
	tx_free(&t->tx);
	rx_free(&t->rx);
	for (unsigned i = 0; i < e->config.lcores; i++)
		free(t->job[i].task);
	for (unsigned i = 0; i < e->config.ports; i++)
		free(t->talker[i]);
	for (unsigned i = 0; i < e->config.ports; i++)
		speaker_free(t->speaker[i]);
	free(t->member);
	for (unsigned i = 0; t->series != NULL && i < split_all(&t->split); i++)
		fg_series_free(t->series[i]);
	free(t->series);
	spares_free(t);
	split_free(&t->split);
	free(t);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiling a trial: everything that can be decided before the first frame is decided here, so that the tasks
 * only follow. The result is an image per lcore, a list of tasks with their times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "rx_priv.h"
#include "tx_priv.h"

enum {
	MAX_STEP_US = 50, /* on the wire: longest time between two rounds while something happens */
	PICK_UP_MS = 5,   /* on the TSC: time for the lcores to take up the image */
	COMPILE_ATTEMPTS = 3,
};

static int
check_stream(const struct fg_engine *e, const struct fg_stream_config *s, struct fg_error *err)
{
	unsigned most = 0;
	const struct fg_port *port;

	if (s->tx_port >= e->config.ports || s->rx_port >= e->config.ports)
		return fg_error_set(err, EINVAL, "stream", "port %u of %u", RTE_MAX(s->tx_port, s->rx_port),
				    e->config.ports);
	port = e->config.port[s->tx_port].port;
	for (unsigned k = 0; k < (s->sizes == NULL ? 1 : s->sizes->kinds); k++) {
		const struct fg_template *frame = s->sizes == NULL ? s->frame : s->frames[k];

		if (s->sizes != NULL && frame->frame_size != s->sizes->size[k])
			return fg_error_set(err, EINVAL, "stream.size", "frame %u has %u octets, not %u", k,
					    frame->frame_size, s->sizes->size[k]);
		most = RTE_MAX(most, frame->frame_size);
	}
	if (s->faults != NULL && s->faults->oversize != NULL)
		most = RTE_MAX(most, s->faults->oversize->frame_size);
	if (most > e->config.max_frame || most > port->caps.max_frame)
		return fg_error_set(err, EMSGSIZE, port->name, "frames of %u octets: the port sends up to %u",
				    most, RTE_MIN(e->config.max_frame, port->caps.max_frame));
	return 0;
}

/* the time between rounds on the wire: as told, or a burst of the port that sends most */
static uint64_t
wire_step(const struct fg_engine *e, const struct fg_trial_config *c)
{
	double fps[FG_MAX_PORTS] = {0}, step = MAX_STEP_US * 1e-6 * (double)e->clock.hz;

	if (c->step_ns > 0)
		return clock_ticks(&e->clock, c->step_ns);
	for (unsigned i = 0; i < c->streams; i++)
		if (c->stream[i].tx_port < e->config.ports)
			fps[c->stream[i].tx_port] += parts_peak_fps(&c->stream[i]);
	for (unsigned i = 0; i < e->config.ports; i++)
		if (fps[i] > 0)
			step = RTE_MIN(step, (double)BURST / fps[i] * (double)e->clock.hz);
	return (uint64_t)step;
}

static int
stream_init(struct fg_engine *e, struct trial *t, unsigned i, const struct fg_trial_config *c,
	    const struct image *timeline, struct fg_error *err)
{
	int rc = tx_stream_init(e, t, i, c, timeline, err);

	return rc != 0 ? rc : rx_stream_init(e, t, i, c, timeline, err);
}

/* @p ahead: on the TSC, ticks from now to the begin. @return -ETIME: traffic cannot start any more when it should */
static int
timeline(const struct fg_engine *e, const struct fg_trial_config *c, uint64_t ahead, struct image *out,
	 struct fg_error *err)
{
	struct image t = {.step = e->config.time == FG_TIME_TSC ? 0 : wire_step(e, c)};
	uint64_t now = e->config.time == FG_TIME_TSC ? rte_rdtsc() + ahead : e->wire_now;

	t.begin = RTE_MAX(now, e->ready_at);
	t.start = t.begin + clock_ticks(&e->clock, c->learn_ns);
	if (c->start_ns > 0) {
		uint64_t start = clock_ticks(&e->clock, c->start_ns - e->clock.base_ns);

		if (start < t.start)
			return fg_error_set(err, ETIME, "trial", "it should have started %.6f s earlier",
					    (double)(t.start - start) / (double)e->clock.hz);
		t.start = start;
	}
	t.stop = t.end = UINT64_MAX;
	if (c->traffic_ns != FG_ENDLESS) {
		t.stop = t.start + clock_ticks(&e->clock, c->traffic_ns);
		t.end = t.stop + clock_ticks(&e->clock, c->drain_ns);
	}
	*out = t;
	return 0;
}

static int
add_task(struct image *image, struct fg_task *task)
{
	/* grown by powers of two: nothing else keeps the room */
	if ((image->tasks & (image->tasks - 1)) == 0) {
		struct fg_task **grown =
			realloc(image->task, (image->tasks == 0 ? 1 : image->tasks * 2) * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		image->task = grown;
	}
	image->task[image->tasks++] = task;
	return 0;
}

/* what sends over each lane */
static int
add_senders(struct fg_engine *e, struct trial *t, const struct image *timeline, struct fg_error *err)
{
	for (unsigned i = 0; i < e->lanes; i++) {
		int rc = tx_task_init(e, t, i, timeline, err);

		if (rc == 0)
			rc = add_task(&t->image[e->lane[i].tx_lcore], &t->tx_task[i].task);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* before the ports' own tasks: what is sent is received in the same round */
static int
add_guests(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c)
{
	int rc = 0;

	for (unsigned i = 0; i < c->tasks && rc == 0; i++) {
		const struct fg_trial_task *wanted = &c->task[i];
		const struct lane *lane = &e->lane[e->port[wanted->port].first_lane];

		rc = add_task(&t->image[wanted->at_receive ? lane->rx_lcore : lane->tx_lcore], wanted->task);
	}
	return rc;
}

/* those that send test frames and have somebody to talk to */
static int
add_talker(struct fg_engine *e, struct trial *t, unsigned port, const struct fg_talk *talk,
	   const struct image *timeline)
{
	bool sends = false;

	for (unsigned i = 0; i < t->streams; i++)
		sends |= t->config[i].tx_port == port && !t->config[i].unmeasured;
	if (!sends || !e->config.port[port].has_gateway4 || (talk->query_ns == 0 && talk->update_ns == 0))
		return 0;
	t->talker[port] = talker_create(talk, &e->port[port].responder, timeline);
	if (t->talker[port] == NULL)
		return -ENOMEM;
	return add_task(&t->image[e->lane[e->port[port].first_lane].tx_lcore], &t->talker[port]->task);
}

/* what receives from a lane; and of a port's first one, the responder */
static int
add_receiver(struct fg_engine *e, struct trial *t, unsigned i, const struct image *timeline)
{
	const struct lane *lane = &e->lane[i];
	struct engine_port *port = &e->port[lane->of];
	int rc = add_task(&t->image[lane->rx_lcore], &t->rx[i].task);

	if (rc != 0 || i != port->first_lane)
		return rc;
	port->responder.announce_at = timeline->begin;
	return add_task(&t->image[lane->tx_lcore], &port->responder.task);
}

static int
fill_images(struct fg_engine *e, struct trial *t, const struct fg_trial_config *c,
	    const struct image *timeline)
{
	int rc = 0;

	for (unsigned i = 0; i < e->config.lcores; i++) {
		t->image[i] = *timeline;
		t->image[i].serial = ++e->serial;
	}
	for (unsigned i = 0; i < e->config.ports && rc == 0; i++) {
		e->port[i].responder.host.addresses = c->addresses[i];
		rc = add_talker(e, t, i, &c->talk, timeline);
	}
	if (rc == 0)
		rc = add_senders(e, t, timeline, NULL);
	if (rc == 0)
		rc = add_guests(e, t, c);
	for (unsigned i = 0; i < e->lanes && rc == 0; i++)
		rc = add_receiver(e, t, i, timeline);
	return rc;
}

static void *
alloc_lines(unsigned n, size_t size)
{
	void *memory = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_MAX(n, 1U) * size);

	if (memory != NULL)
		memset(memory, 0, n * size);
	return memory;
}

static struct trial *
trial_alloc(struct fg_engine *e, const struct fg_trial_config *c)
{
	struct trial *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->max_lag = clock_ticks(&e->clock, c->max_lag_ns);
	if (parts_make(e, t, c) == 0 && t->streams <= FG_MAX_STREAMS) {
		t->tx = alloc_lines(t->streams, sizeof(*t->tx));
		t->tx_task = alloc_lines(e->lanes, sizeof(*t->tx_task));
		t->rx_stream = alloc_lines(t->streams, sizeof(*t->rx_stream));
		t->rx = alloc_lines(e->lanes, sizeof(*t->rx));
	}
	if (t->tx != NULL && t->tx_task != NULL && t->rx_stream != NULL && t->rx != NULL)
		return t;
	t->streams = 0; /* nothing hangs on them yet, and not all may be there */
	trial_free(e, t);
	return NULL;
}

static int
check_config(const struct fg_engine *e, const struct fg_trial_config *c, struct fg_error *err)
{
	int rc = 0;

	if (c->streams > FG_MAX_STREAMS)
		return fg_error_set(err, EINVAL, "streams", "%u streams: at most %d", c->streams,
				    FG_MAX_STREAMS);
	for (unsigned i = 0; i < c->tasks; i++)
		if (c->task[i].port >= e->config.ports)
			return fg_error_set(err, EINVAL, "tasks", "port %u of %u", c->task[i].port,
					    e->config.ports);
	for (unsigned i = 0; i < c->streams && rc == 0; i++)
		rc = check_stream(e, &c->stream[i], err);
	return rc;
}

static int
compile(struct fg_engine *e, const struct fg_trial_config *given, uint64_t ahead, struct image *times,
	struct trial **out, struct fg_error *err)
{
	struct fg_trial_config c = *given;
	struct trial *t = trial_alloc(e, given);
	int rc = 0;

	*out = t;
	if (t == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", given->streams);
	c.streams = t->streams;
	c.stream = t->config;
	if (given->first_id != 0) {
		e->next_id = given->first_id;
		if (t->streams != given->streams)
			rc = fg_error_set(err, EINVAL, "streams",
					  "what two testers share goes over one lane");
	}
	if (rc == 0)
		rc = timeline(e, given, ahead, times, err);
	for (unsigned i = 0; rc == 0 && i < e->lanes; i++)
		rc = rx_task_init(e, t, i, &c, err);
	for (unsigned i = 0; rc == 0 && i < t->streams; i++)
		rc = stream_init(e, t, i, &c, times, err);
	if (rc == 0)
		rc = rx_sums_init(t, err);
	if (rc == 0 && fill_images(e, t, &c, times) != 0)
		rc = fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", given->streams);
	if (rc != 0)
		trial_free(e, t);
	return rc;
}

/* has it taken so long that the lcores can no longer take the trial up in time? */
static bool
is_too_late(const struct fg_engine *e, const struct image *times)
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
	struct image times = {0};
	int rc = check_config(e, c, err);

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
	e->next_id = (uint16_t)(e->next_id + t->streams);
	e->ready_at = times.end + clock_ticks(&e->clock, c->settle_ns);
	e->trial = t;
	return 0;
}

void
trial_free(struct fg_engine *e, struct trial *t)
{
	if (t == NULL)
		return;
	tx_free(e, t);
	rx_free(e, t);
	for (unsigned i = 0; i < e->config.lcores; i++)
		free(t->image[i].task);
	for (unsigned i = 0; i < e->config.ports; i++)
		free(t->talker[i]);
	free(t->first);
	free(t->part);
	free(t->config);
	free(t->tx);
	free(t->tx_task);
	free(t);
}

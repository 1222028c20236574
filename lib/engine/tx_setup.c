/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is decided of sending before the first frame leaves: the departures of each stream, its frames and buffers, and
 * the loop that will send those of a port.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tx_fault.h"
#include "tx_round.h"

enum {
	NAP_NS = 1000000,
	ON_TIME_NS = 100000, /* see on_time_init() */
};

/* the frames of a load by its time, if it has no number of its own */
static uint64_t
frames_of(const struct fg_load *l)
{
	double seconds = (double)l->ns * 1e-9;

	if (l->frames > 0 || l->ns == 0)
		return l->frames;
	return l->shape == FG_LOAD_POISSON ? UINT64_MAX : (uint64_t)(l->fps * seconds + 0.5);
}

/* a port that departs frames by itself gets them before they are due, and how long before is not the load's matter */
static uint64_t
max_lag_of(const struct fg_engine *e, const struct trial *t, unsigned port, const struct fg_load *l)
{
	if (l->max_lag_ns == 0 || e->config.port[port].port->caps.launch_time)
		return t->max_lag;
	return RTE_MIN(t->max_lag, clock_ticks(&e->clock, l->max_lag_ns));
}

int
tx_pace(const struct fg_engine *e, const struct trial *t, unsigned port, const struct fg_load *l,
	const struct fg_sizes *sizes, uint64_t start, struct fg_pace *out, struct fg_error *err)
{
	uint64_t hz = e->clock.hz, ticks = clock_ticks(&e->clock, l->ns);
	int rc = fg_pace_constant(out, l->fps, hz, start, frames_of(l), max_lag_of(e, t, port, l), err);

	if (rc == 0 && l->shape == FG_LOAD_BURSTS)
		rc = fg_pace_bursts(out, l->burst, l->burst_fps, hz, err);
	if (rc == 0 && l->shape == FG_LOAD_RAMP)
		rc = fg_pace_ramp(out, l->end_fps, hz, ticks, err);
	if (rc == 0 && l->shape == FG_LOAD_POISSON)
		fg_pace_poisson(out, l->seed);
	if (rc == 0 && l->shape == FG_LOAD_SCATTER)
		fg_pace_scatter(out, l->burst_fps > 0 ? 1 - l->fps / l->burst_fps : 1, l->seed);
	if (rc == 0 && l->by_octets && sizes != NULL)
		rc = l->shape == FG_LOAD_POISSON ? fg_error_set(err, EINVAL, "stream.rate",
								"a Poisson process does not go by octets")
						 : fg_pace_octets(out, sizes, 0, l->overhead, err);
	if (rc == 0 && l->ns > 0)
		fg_pace_end(out, start + ticks);
	return rc;
}

/* when the next load begins; UINT64_MAX: never */
static uint64_t
end_of(const struct fg_engine *e, const struct fg_load *l, const struct fg_pace *pace, uint64_t start)
{
	if (l->ns > 0)
		return start + clock_ticks(&e->clock, l->ns);
	return pace->total == UINT64_MAX ? UINT64_MAX : fg_pace_at(pace, pace->total);
}

/* one pace a load; each starts when the one before it, of all that take turns in it, is over */
static int
loads_init(const struct fg_engine *e, const struct trial *t, struct tx_stream *tx,
	   const struct fg_stream_config *s, uint64_t start, struct fg_error *err)
{
	int rc;

	if (s->loads == 0)
		return fg_error_set(err, EINVAL, "stream", "no load");
	tx->loads = s->loads;
	tx->load = calloc(s->loads, sizeof(*tx->load));
	if (tx->load == NULL)
		return fg_error_set(err, ENOMEM, "stream", "no memory");
	start += (uint64_t)(s->phase * (double)e->clock.hz / s->load[0].fps);
	tx->peak_fps = parts_peak_fps(s);
	for (unsigned i = 0; i < s->loads; i++) {
		struct fg_pace *pace = &tx->load[i];

		if (start == UINT64_MAX)
			return fg_error_set(err, EINVAL, "stream", "load %u follows one without an end",
					    i + 1);
		rc = tx_pace(e, t, s->tx_port, &s->load[i], tx->sizes, start, pace, err);
		if (rc != 0)
			return rc;
		start = end_of(e, &s->load[i], pace, start);
		if (s->turn.every > 0 && !pace->even)
			return fg_error_set(err, EINVAL, "stream.turn", "only even loads can be shared");
		if (s->turn.every > 0)
			rc = fg_pace_turns(pace, s->turn.first, s->turn.take, s->turn.every, err);
		if (rc != 0)
			return rc;
	}
	tx->pace = tx->load[0];
	return 0;
}

static struct fg_template *
copy_template(const struct fg_template *frame, struct fg_error *err)
{
	struct fg_template *copy = fg_template_copy(frame);

	if (copy == NULL)
		fg_error_set(err, ENOMEM, "stream.frame", "no memory");
	return copy;
}

/* streams can share their sizes, and so do our copies */
static const struct fg_sizes *
keep_sizes(struct trial *t, unsigned i, const struct fg_trial_config *c, struct fg_error *err)
{
	const struct fg_sizes *theirs = c->stream[i].sizes;

	for (unsigned k = i; k-- > 0;)
		if (c->stream[k].sizes == theirs)
			return t->tx[k].sizes;
	return fg_sizes_copy(theirs, err);
}

static int
frames_init(struct trial *t, unsigned i, const struct fg_trial_config *c, struct fg_error *err)
{
	const struct fg_stream_config *s = &c->stream[i];
	struct tx_stream *tx = &t->tx[i];

	if (s->sizes != NULL) {
		tx->sizes = keep_sizes(t, i, c, err);
		if (tx->sizes == NULL)
			return -ENOMEM;
	}
	tx->templates = s->sizes == NULL ? 1 : s->sizes->kinds;
	tx->frames = calloc(tx->templates, sizeof(struct fg_template *));
	if (tx->frames == NULL)
		return fg_error_set(err, ENOMEM, "stream.frame", "no memory");
	for (unsigned k = 0; k < tx->templates; k++) {
		tx->frames[k] = copy_template(s->sizes == NULL ? s->frame : s->frames[k], err);
		if (tx->frames[k] == NULL)
			return -ENOMEM;
	}
	tx->frame = tx->frames[0];
	return 0;
}

int
tx_stream_init(struct fg_engine *e, struct trial *t, unsigned i, const struct fg_trial_config *c,
	       const struct image *timeline, struct fg_error *err)
{
	const struct fg_stream_config *s = &c->stream[i];
	struct tx_stream *tx = &t->tx[i];
	int rc = frames_init(t, i, c, err);

	tx->id = (uint16_t)(e->next_id + i);
	tx->number = t->part[i].k;
	tx->apart = t->part[i].of;
	tx->clock = &e->clock;
	tx->early = e->config.port[s->tx_port].port->caps.launch_time;
	tx->stopped = s->idle;
	tx->stopped_at = timeline->start;
	tx->interval_end = UINT64_MAX;
	if (rc == 0)
		rc = tx_faults_init(tx, s, e->config.port[s->tx_port].port, err);
	if (rc == 0)
		rc = tx_pool_take(e, t, t->part[i].lane, tx, err);
	if (rc == 0)
		rc = loads_init(e, t, tx, s, timeline->start, err);
	return rc;
}

/* its frames are right only when they have a CRC, or shall be wrong */
static bool
needs_more(const struct tx_stream *s)
{
	bool sealed = false;

	for (unsigned k = 0; k < s->templates; k++)
		sealed |= s->frames[k]->seal.packet != 0;
	return sealed || s->faults != NULL;
}

/*
 * When is a frame off schedule? A late frame leaves together with those that came due meanwhile. No more than a burst of
 * them is what any sender that polls makes of its schedule, and what comes within a fraction of a millisecond no buffer
 * worth the name is upset by; but where frames are far apart, two of them together are one too many.
 */
static void
on_time_init(const struct tx_task *t, struct tx_stream *const *streams, unsigned n)
{
	double fps = 0, step;
	uint64_t on_time;

	for (unsigned i = 0; i < n; i++)
		fps += streams[i]->peak_fps;
	step = (double)t->clock->hz / fps;
	on_time = (uint64_t)RTE_MAX(step, RTE_MIN(BURST * step, (double)clock_ticks(t->clock, ON_TIME_NS)));
	for (unsigned i = 0; i < n; i++) {
		streams[i]->on_time = t->lead + on_time;
		fg_pace_on_time(&streams[i]->pace, streams[i]->on_time);
	}
}

int
tx_task_init(struct fg_engine *e, struct trial *t, unsigned lane, const struct image *timeline,
	     struct fg_error *err)
{
	struct tx_task *task = &t->tx_task[lane];
	struct tx_stream **streams = calloc(t->streams + 1, sizeof(*streams));
	unsigned n = 0;
	int rc;

	if (streams == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", t->streams);
	for (unsigned i = 0; i < t->streams; i++)
		if (t->part[i].lane == lane)
			streams[n++] = &t->tx[i];
	rc = n == 0 ? 1 : tx_queue_init(&task->queue, streams, n, err);
	if (rc == 0) {
		task->port = e->lane[lane].port;
		task->clock = &e->clock;
		task->start = timeline->start;
		task->lead = task->port->caps.launch_time ? timeline->step : 0;
		/* free time does not wait, unless nothing else ends the trial */
		task->nap = e->config.time == FG_TIME_WIRE_FREE && timeline->end != UINT64_MAX
				    ? UINT64_MAX
				    : clock_ticks(&e->clock, NAP_NS);
		task->time_offset = e->tx_time_offset;
		task->time_flag = e->tx_time_flag;
		on_time_init(task, streams, n);
		task->only = n == 1 ? streams[0] : NULL;
		task->pool = streams[0]->pool;
		for (unsigned i = 1; i < n; i++)
			task->pool = streams[i]->pool == task->pool ? task->pool : NULL;
		for (unsigned i = 0; i < n; i++)
			task->more |= needs_more(streams[i]);
		rc = task->more ? 0 : tx_round_create(task, streams, n, err);
		tx_choose(task);
	}
	free(streams);
	return rc;
}

static void
tx_task_free(struct tx_task *task)
{
	tx_queue_free(&task->queue);
	tx_round_free(task->round);
	tx_round_free(task->left);
}

void
tx_free(struct fg_engine *e, struct trial *t)
{
	for (unsigned i = 0; t->tx_task != NULL && i < e->lanes; i++)
		tx_task_free(&t->tx_task[i]);
	tx_orders_free(t->orders);
	for (unsigned i = 0; i < t->streams; i++) {
		struct tx_stream *tx = &t->tx[i];
		bool shared = false;

		for (unsigned k = i; k-- > 0 && !shared;)
			shared = t->tx[k].sizes == tx->sizes;
		if (!shared)
			fg_sizes_free((struct fg_sizes *)tx->sizes);
		for (unsigned k = 0; tx->frames != NULL && k < tx->templates; k++)
			free(tx->frames[k]);
		free(tx->frames);
		free(tx->load);
		tx_faults_free(tx->faults);
	}
}

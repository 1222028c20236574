/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is decided of sending before the first frame leaves: each stream's frames and buffers, and the loop
 * that sends the frames of a port. Departures are in loads.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tx.h"
#include "tx_inject.h"
#include "tx_round_robin.h"

enum { ON_TIME_NS = 100000 /* see on_time_init() */, HUGE_PAGE = 2 << 20 };

static struct fg_template *
copy_template(const struct fg_template *frame, struct fg_error *err)
{
	struct fg_template *copy = fg_template_copy(frame);

	if (copy == NULL)
		fg_error_set(err, ENOMEM, "stream.frame", "no memory");
	return copy;
}

/* streams can share their sizes, and so do our copies; not where a stream may go before the others */
static const struct fg_sizes *
keep_sizes(const struct tx *tx, unsigned i, const struct fg_stream_config *config, struct fg_error *err)
{
	for (unsigned k = i; tx->spares == 0 && k-- > 0;)
		if (tx->stream[k].config_sizes == config->sizes)
			return tx->stream[k].sizes;
	return fg_sizes_copy(config->sizes, err);
}

/* a short header's bytes stand with the stream */
static void
head_init(struct tx_head *head, const struct fg_template *frame)
{
	const bool fits = frame->header <= TX_HEAD && frame->length >= TX_HEAD;

	memcpy(head->first, frame->bytes, fits ? TX_HEAD : 0);
	head->bytes = fits ? head->first : frame->bytes;
	head->length = frame->length;
	head->header = frame->header;
	head->varies = frame->varies;
}

static int
frames_init(struct tx *all, unsigned i, const struct fg_stream_config *s, struct fg_error *err)
{
	struct tx_stream *tx = &all->stream[i];

	if (s->sizes != NULL) {
		tx->sizes = keep_sizes(all, i, s, err);
		tx->config_sizes = s->sizes;
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
	head_init(&tx->head, tx->frame);
	return 0;
}

/* its frames are right only when they have a CRC, or have no signature, or shall be wrong */
static bool
needs_slow_path(const struct tx_stream *s)
{
	bool special = s->inject != NULL;

	for (unsigned k = 0; k < s->templates; k++)
		special |= s->frames[k]->seal.packet != 0 || s->frames[k]->signature == 0;
	return special;
}

int
tx_stream_init(struct tx *all, unsigned i, const struct fg_stream_config *s, const struct tx_place *place,
	       struct fg_series *series, struct fg_error *err)
{
	const struct tx_env *env = &all->env;
	struct tx_stream *tx = &all->stream[i];
	int rc = frames_init(all, i, s, err);

	tx->id = (uint16_t)(env->first_id + i);
	tx->queue = place->queue;
	tx->apart = place->of * RTE_MAX(s->fields_every, (uint64_t)1);
	tx->number = s->fields_first + place->k * RTE_MAX(s->fields_every, (uint64_t)1);
	tx->clock = env->clock;
	tx->early = place->port->caps.launch_time;
	tx->stopped = s->idle;
	tx->stopped_at = env->start;
	tx->sequence = tx->present_first = s->first;
	tx->series = series;
	tx->interval_end =
		series == NULL ? UINT64_MAX : fg_clock_tick_at(env->clock, fg_series_end(series, 0));
	if (rc == 0)
		rc = tx_inject_init(tx, s, place->port, err);
	tx->slow = rc == 0 && needs_slow_path(tx);
	if (rc == 0)
		rc = tx_pool_take(all, place->port, tx, err);
	if (rc == 0)
		rc = tx_loads_init(env, place->port, tx, s, err);
	return rc;
}

/*
 * When is a frame off schedule? A late frame leaves together with those that came due meanwhile. Any sender
 * that polls sends up to a burst of them together, and frames within a fraction of a millisecond fit any
 * usual buffer; but where frames are far apart, two frames together are one too many.
 */
static void
on_time_init(const struct tx_task *t, struct tx_stream *const *streams, unsigned n, double step)
{
	double most = RTE_MIN(FG_BURST * step, (double)fg_clock_ticks(t->clock, ON_TIME_NS));

	for (unsigned i = 0; i < n; i++) {
		streams[i]->on_time = t->lead + (uint64_t)RTE_MAX(step, most);
		fg_pace_on_time(&streams[i]->pace, streams[i]->on_time);
	}
}

/* where streams may be added to a queue on which nothing is sent, departures are taken to be so far apart */
enum { UNKNOWN_FPS = 100000 };

/* ticks between two departures of all streams, when all are at their fastest */
static double
least_step(const struct fg_clock *clock, struct tx_stream *const *streams, unsigned n)
{
	double fps = 0;

	for (unsigned i = 0; i < n; i++)
		fps += streams[i]->peak_fps;
	return (double)clock->hz / (fps > 0 ? fps : UNKNOWN_FPS);
}

/* the streams of a queue. @return how many */
static unsigned
streams_of(const struct tx *tx, unsigned queue, struct tx_stream **out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < tx->streams; i++)
		if (tx->stream[i].queue == queue)
			out[n++] = &tx->stream[i];
	return n;
}

static int
task_init(const struct tx *tx, struct tx_task *task, struct fg_port *port, struct tx_stream **streams,
	  unsigned n, struct fg_error *err)
{
	const struct tx_env *env = &tx->env;
	double step = least_step(env->clock, streams, n);
	int rc = tx_schedule_init(&task->schedule, streams, n, tx->spares == 0 ? 0 : tx->streams, env->start,
				  step, err);

	if (rc != 0)
		return rc;
	task->port = port;
	task->clock = env->clock;
	task->start = env->start;
	task->lead = port->caps.launch_time ? env->step : 0;
	task->nap = env->nap;
	task->time_offset = env->time_offset;
	task->time_flag = env->time_flag | port->caps.test_flag;
	task->line = tx_line_of(env->clock, &port->caps);
	on_time_init(task, streams, n, step);
	task->only = n == 1 ? streams[0] : NULL;
	task->pool = n == 0 ? NULL : streams[0]->pool;
	for (unsigned i = 1; i < n; i++)
		task->pool = streams[i]->pool == task->pool ? task->pool : NULL;
	for (unsigned i = 0; i < n; i++)
		task->slow |= streams[i]->slow;
	rc = task->slow ? 0 : tx_round_robin_create(task, streams, n, err);
	for (unsigned i = 0; i < n && task->round_robin == NULL; i++)
		if (!streams[i]->stopped)
			tx_schedule_add(&task->schedule, streams[i]);
	tx_choose(task);
	return rc;
}

int
tx_task_init(struct tx *tx, unsigned queue, struct fg_port *port, struct fg_error *err)
{
	struct tx_stream **streams = calloc(tx->streams + 1, sizeof(*streams));
	unsigned n;
	int rc = 0;

	if (streams == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", tx->streams);
	n = streams_of(tx, queue, streams);
	if (n > 0 || tx->spares > 0)
		rc = task_init(tx, &tx->task[queue], port, streams, n, err);
	free(streams);
	return rc;
}

void
tx_stream_join(const struct tx *tx, unsigned i)
{
	struct tx_stream *s = &tx->stream[i];
	struct tx_task *t = &tx->task[s->queue];
	double fps = s->peak_fps;

	/* every queue has places for all later streams, behind its first streams */
	s->place = t->schedule.streams - tx->streams + i;
	t->schedule.entry[s->place] = (struct tx_entry){.at = UINT64_MAX, .stream = s};
	for (unsigned k = 0; k < tx->streams; k++)
		if (k != i && tx->stream[k].queue == s->queue && !tx_is_retired(&tx->stream[k]))
			fps += tx->stream[k].peak_fps;
	on_time_init(t, &s, 1, (double)t->clock->hz / (fps > 0 ? fps : UNKNOWN_FPS));
}

void *
tx_alloc_lines(unsigned n, size_t size)
{
	const size_t least = RTE_MAX(n, 1U) * size;
	const bool huge = least >= HUGE_PAGE;
	const size_t line = huge ? HUGE_PAGE : RTE_CACHE_LINE_SIZE;
	const size_t bytes = RTE_ALIGN_CEIL(least, line); /* as C11 has it of aligned_alloc() */
	void *memory = aligned_alloc(line, bytes);

	if (memory != NULL && huge)
		madvise(memory, bytes, MADV_HUGEPAGE); /* without them it is only slower */
	if (memory != NULL)
		memset(memory, 0, bytes);
	return memory;
}

int
tx_alloc(struct tx *tx, unsigned streams, unsigned spares, unsigned tasks)
{
	*tx = (struct tx){
		.streams = streams + spares,
		.spares = spares,
		.tasks = tasks,
		.stream = tx_alloc_lines(streams + spares, sizeof(*tx->stream)),
		.task = tx_alloc_lines(tasks, sizeof(*tx->task)),
	};
	for (unsigned i = streams; tx->stream != NULL && i < tx->streams; i++)
		tx->stream[i].queue = TX_NO_QUEUE;
	return tx->stream == NULL || tx->task == NULL ? -ENOMEM : 0;
}

static void
stream_free(struct tx *all, unsigned i)
{
	struct tx_stream *tx = &all->stream[i];
	bool shared = false;

	for (unsigned k = i; all->spares == 0 && k-- > 0 && !shared;)
		shared = all->stream[k].sizes == tx->sizes;
	if (!shared)
		fg_sizes_free((struct fg_sizes *)tx->sizes);
	for (unsigned k = 0; tx->frames != NULL && k < tx->templates; k++)
		free(tx->frames[k]);
	free(tx->frames);
	free(tx->load);
	tx_inject_free(tx->inject);
}

void
tx_stream_clear(struct tx *tx, unsigned i)
{
	stream_free(tx, i);
	tx->stream[i] = (struct tx_stream){.queue = TX_NO_QUEUE};
}

void
tx_free(struct tx *tx)
{
	for (unsigned i = 0; tx->task != NULL && i < tx->tasks; i++) {
		tx_schedule_free(&tx->task[i].schedule);
		tx_round_robin_free(tx->task[i].round_robin);
		tx_round_robin_free(tx->task[i].left);
	}
	while (tx->orders != NULL) {
		struct tx_order *order = tx->orders;

		tx->orders = order->issued;
		free(order);
	}
	for (unsigned i = 0; tx->stream != NULL && i < tx->streams; i++)
		stream_free(tx, i);
	free(tx->stream);
	free(tx->task);
}

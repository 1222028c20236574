/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which stream is next? With ten thousand of them that must not take a look at each.
 *
 * Streams of the same rate never overtake each other: the one that has just sent is the last again. So they
 * stand in a run, of which only the front counts, and a heap finds the earliest of the runs. Ten thousand
 * streams of one rate are one run, and the next stream is simply the next; ten thousand rates are a heap of
 * as many. A stream whose rate changes leaves its run for one of its own.
 *
 * Everything is allocated beforehand: there are never more runs than streams.
 */
#include <errno.h>
#include <stdlib.h>

#include "tx_schedule.h"
#include "tx_stream.h"

/*
 * What is put down nearly always belongs far down, and which of two runs is the earlier cannot be predicted.
 * So the hole goes down to the end first, by sums in place of branches, and then up again as far as it must.
 */
static void
sift_down(struct tx_schedule *q, unsigned i)
{
	struct tx_entry *heap = q->heap, moved = heap[i];
	unsigned from = i, child;

	for (; (child = 2 * i + 2) < q->runs; i = child) {
		child -= heap[child - 1].at <= heap[child].at;
		heap[i] = heap[child];
	}
	if (child == q->runs) {
		heap[i] = heap[child - 1];
		i = child - 1;
	}
	for (; i > from && heap[(i - 1) / 2].at >= moved.at; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = moved;
	moved.run->place = i;
}

static void
sift_up(struct tx_schedule *q, unsigned i)
{
	struct tx_entry moved = q->heap[i];

	for (; i > 0 && q->heap[(i - 1) / 2].at > moved.at; i = (i - 1) / 2) {
		q->heap[i] = q->heap[(i - 1) / 2];
		q->heap[i].run->place = i;
	}
	q->heap[i] = moved;
	moved.run->place = i;
}

/*
 * Where a run is. Sifting down moves the runs that it passes to the place above theirs, and does not touch
 * them, for they are far away in memory; so a run is where it was put, or on the way from there to the top.
 */
static unsigned
find_run(const struct tx_schedule *q, const struct tx_run *run)
{
	unsigned i = run->place;

	while (q->heap[i].run != run)
		i = (i - 1) / 2;
	return i;
}

static void
remove_run(struct tx_schedule *q, unsigned i)
{
	q->heap[i].run->spare = q->spare;
	q->spare = q->heap[i].run;
	if (i == --q->runs)
		return;
	q->heap[i] = q->heap[q->runs];
	sift_down(q, i);
	sift_up(q, i);
}

static void
append(struct tx_run *run, struct tx_stream *s)
{
	s->run = run;
	s->ahead = run->back;
	s->behind = NULL;
	if (run->back != NULL)
		run->back->behind = s;
	else
		run->front = s;
	run->back = s;
}

static void
unlink_stream(struct tx_stream *s)
{
	struct tx_run *run = s->run;

	if (s->ahead != NULL)
		s->ahead->behind = s->behind;
	else
		run->front = s->behind;
	if (s->behind != NULL)
		s->behind->ahead = s->ahead;
	else
		run->back = s->ahead;
	s->run = NULL;
}

void
tx_schedule_add(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_run *run = q->spare;
	uint64_t at = fg_pace_next(&s->pace);

	if (at == UINT64_MAX)
		return;
	q->spare = run->spare;
	*run = (struct tx_run){.step = fg_pace_step(&s->pace)};
	append(run, s);
	q->heap[q->runs] = (struct tx_entry){at, run};
	sift_up(q, q->runs++);
}

void
tx_schedule_remove(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_run *run = s->run;

	if (run == NULL)
		return;
	unlink_stream(s);
	if (run->front == NULL)
		remove_run(q, find_run(q, run));
	/* else the next one's departure is not before what the entry says */
}

void
tx_schedule_rotate(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_run *run = q->heap[0].run;

	if (s != run->front) {
		run->back->behind = run->front;
		run->front->ahead = run->back;
		run->back = s->ahead;
		run->back->behind = NULL;
		run->front = s;
		s->ahead = NULL;
	}
	q->heap[0].at = fg_pace_next(&s->pace);
}

/* may it stand behind the others of the run? */
static inline bool
keeps_step(const struct tx_run *run, const struct tx_stream *s, uint64_t at)
{
	return s->pace.even && fg_pace_step(&s->pace) == run->step && at >= fg_pace_next(&run->back->pace);
}

void
tx_schedule_settle(struct tx_schedule *q)
{
	struct tx_run *run = q->heap[0].run;
	struct tx_stream *s = run->front;
	uint64_t at = fg_pace_next(&s->pace);

	if (s->behind != NULL && at <= fg_pace_next(&s->behind->pace)) {
		q->heap[0].at = at;
		sift_down(q, 0);
	} else if (s->behind != NULL) {
		unlink_stream(s);
		q->heap[0].at = fg_pace_next(&run->front->pace);
		if (at != UINT64_MAX && keeps_step(run, s, at)) {
			append(run, s);
			at = UINT64_MAX; /* it has its place */
		}
		sift_down(q, 0);
		if (at != UINT64_MAX)
			tx_schedule_add(q, s);
	} else if (at != UINT64_MAX) {
		run->step = fg_pace_step(&s->pace);
		q->heap[0].at = at;
		sift_down(q, 0);
	} else {
		s->run = NULL;
		remove_run(q, 0);
	}
}

/* those of a run side by side, each run in the order of departures */
static int
by_step(const void *a, const void *b)
{
	const struct tx_stream *s = *(struct tx_stream *const *)a, *t = *(struct tx_stream *const *)b;
	fg_u128 step = fg_pace_step(&s->pace), other = fg_pace_step(&t->pace);
	uint64_t at = fg_pace_next(&s->pace), then = fg_pace_next(&t->pace);

	if (step != other)
		return step < other ? -1 : 1;
	if (at != then)
		return at < then ? -1 : 1;
	return s < t ? -1 : s > t; /* of one array */
}

int
tx_schedule_init(struct tx_schedule *q, struct tx_stream **streams, unsigned n, struct fg_error *err)
{
	struct tx_stream **sorted = malloc(n * sizeof(*sorted));
	struct tx_stream *before = NULL;

	*q = (struct tx_schedule){
		.heap = calloc(n, sizeof(*q->heap)),
		.all = calloc(n, sizeof(*q->all)),
	};
	if (sorted == NULL || q->heap == NULL || q->all == NULL) {
		free(sorted);
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", n);
	}
	for (unsigned i = 0; i < n; i++) {
		q->all[i].spare = i + 1 < n ? &q->all[i + 1] : NULL;
		sorted[i] = streams[i];
	}
	q->spare = q->all;
	qsort(sorted, n, sizeof(*sorted), by_step);
	for (unsigned i = 0; i < n; i++) {
		struct tx_stream *s = sorted[i];

		if (s->stopped || fg_pace_next(&s->pace) == UINT64_MAX)
			continue;
		if (before != NULL && keeps_step(before->run, s, fg_pace_next(&s->pace)))
			append(before->run, s);
		else
			tx_schedule_add(q, s);
		before = s;
	}
	free(sorted);
	return 0;
}

void
tx_schedule_free(struct tx_schedule *q)
{
	free(q->heap);
	free(q->all);
}

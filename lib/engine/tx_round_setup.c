/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which streams take turns, and the way in and out of a round: what a stream's sender keeps of it stays as it was at the
 * start while the round lasts, and is worked out from what the round has done at its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tx_round.h"

enum { BLOCK = 16 }; /* octets in which headers are copied (tx_fill.h) */

static bool
is_like(const struct tx_stream *s, const struct tx_stream *first)
{
	return s->pace.even && s->loads == 1 && s->sizes == NULL && !s->whole && !s->stopped &&
	       s->faults == NULL && s->frame->varies == 0 && s->pool == first->pool &&
	       s->frame->frame_size == first->frame->frame_size && s->frame->header == first->frame->header &&
	       s->pace.next == 0 && s->pace.total == first->pace.total && s->pace.total > 0 &&
	       s->pace.max_lag == first->pace.max_lag &&
	       fg_pace_step(&s->pace) == fg_pace_step(&first->pace) &&
	       (s->series == NULL || first->series == NULL || s->interval_end == first->interval_end);
}

static bool
take_turns(struct tx_stream *const *streams, unsigned n)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!is_like(streams[i], streams[0]))
			return false;
		begin = RTE_MIN(begin, streams[i]->pace.start);
		end = RTE_MAX(end, streams[i]->pace.start);
	}
	return n > 1 && end - begin <= streams[0]->pace.step;
}

static void
fill(struct tx_round *r, unsigned k, struct tx_stream *s)
{
	struct tx_turn *turn = tx_turn_of(r, k);

	turn->start = s->pace.start;
	turn->id = s->id;
	memcpy(turn->header, s->frame->bytes, r->stride - sizeof(*turn));
	r->stream[k] = s;
	if (s->series != NULL) {
		r->with_series[r->series++] = k;
		r->interval_end = s->interval_end;
	}
	s->place = k;
	s->round = r;
}

static bool
allocate(struct tx_round *r, unsigned n, size_t header)
{
	r->stride = sizeof(struct tx_turn) + (header + BLOCK - 1) / BLOCK * BLOCK;
	r->turns = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(n * r->stride, RTE_CACHE_LINE_SIZE));
	r->stream = calloc(n, sizeof(*r->stream));
	r->first = calloc(n, sizeof(*r->first));
	r->last = calloc(n, sizeof(*r->last));
	r->with_series = calloc(n, sizeof(*r->with_series));
	if (r->turns == NULL || r->stream == NULL || r->first == NULL || r->last == NULL ||
	    r->with_series == NULL)
		return false;
	memset(r->turns, 0, n * r->stride);
	return true;
}

int
tx_round_create(struct tx_task *t, struct tx_stream *const *streams, unsigned n, struct fg_error *err)
{
	const struct tx_stream *like = streams[0];
	struct tx_stream *s;
	struct tx_round *r;
	unsigned k = 0;

	if (!take_turns(streams, n) || t->queue.runs != 1)
		return 0;
	r = calloc(1, sizeof(*r));
	if (r == NULL || !allocate(r, n, like->frame->header)) {
		tx_round_free(r);
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", n);
	}
	r->streams = n;
	r->laps = like->pace.total;
	r->step = fg_pace_step(&like->pace);
	r->max_lag = like->pace.max_lag;
	r->on_time = like->pace.on_time;
	r->frame = like->frame;
	r->pool = like->pool;
	r->interval_end = UINT64_MAX;
	for (s = t->queue.heap[0].run->front; s != NULL; s = s->behind)
		fill(r, k++, s);
	t->round = r;
	return 0;
}

void
tx_round_free(struct tx_round *r)
{
	if (r == NULL)
		return;
	free(r->turns);
	free(r->stream);
	free(r->first);
	free(r->last);
	free(r->with_series);
	free(r);
}

uint64_t
tx_sent(const struct tx_stream *s)
{
	const struct tx_round *r = __atomic_load_n(&s->round, __ATOMIC_ACQUIRE);

	if (r == NULL)
		return __atomic_load_n(&s->sent, __ATOMIC_RELAXED);
	return tx_round_sent(r, s->place, __atomic_load_n(&r->done, __ATOMIC_RELAXED));
}

uint64_t
tx_octets(const struct tx_stream *s)
{
	if (__atomic_load_n(&s->round, __ATOMIC_ACQUIRE) != NULL)
		return tx_sent(s) * s->frame->frame_size;
	return __atomic_load_n(&s->octets, __ATOMIC_RELAXED);
}

/* as it would be had it been sent by itself */
static void
settle(const struct tx_round *r, struct tx_stream *s)
{
	struct fg_pace *pace = &s->pace;

	s->sequence = tx_round_sent(r, s->place, r->done);
	s->first = r->first[s->place];
	s->last = r->last[s->place];
	if (s->series != NULL)
		s->interval_end = r->interval_end;
	pace->late = tx_turn_of(r, s->place)->skipped;
	pace->next = s->sequence + pace->late;
	pace->at = fg_pace_exact(pace, pace->next);
	pace->worst_lag = r->worst_lag;
	/* whose frames they were is not known, and one's loss may come of another's lag: an equal share for each */
	pace->off_schedule = r->off_schedule / r->streams + (s->place < r->off_schedule % r->streams);
	__atomic_store_n(&s->octets, s->sequence * s->frame->frame_size, __ATOMIC_RELAXED);
	__atomic_store_n(&s->sent, s->sequence, __ATOMIC_RELAXED);
	/* control finds the counts in the stream from now on */
	__atomic_store_n(&s->round, NULL, __ATOMIC_RELEASE);
}

void
tx_round_leave(struct tx_task *t)
{
	struct tx_round *r = t->round;

	for (unsigned k = 0; k < r->streams; k++)
		settle(r, r->stream[k]);
	tx_queue_rotate(&t->queue, r->stream[r->place]);
	t->left = r;
	t->round = NULL;
}

void
tx_settle(struct trial *t, unsigned lanes)
{
	for (unsigned i = 0; i < lanes; i++)
		if (t->tx_task[i].round != NULL)
			tx_round_leave(&t->tx_task[i]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which streams send in turn, and the way in and out of a round robin. While it lasts, what the sender keeps
 * of a stream stays as it was at the start; it is computed from what the round robin has done when that is
 * given up.
 *
 * With ten thousand streams that takes too long for one poll of a packet lcore. So nothing is computed when
 * it is given up; what it has done stands still from then on, and streams are settled some at a poll in the
 * order in which they will send, or when an order comes for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tx.h"
#include "tx_round_robin.h"

enum { BLOCK = 16 }; /* bytes in which headers are copied (tx_fill.h) */

static bool
is_like(const struct tx_stream *s, const struct tx_stream *first)
{
	return s->pace.even && s->loads == 1 && s->sizes == NULL && !s->whole && !s->stopped &&
	       s->inject == NULL && s->frame->varies == 0 && s->pool == first->pool &&
	       s->frame->frame_size == first->frame->frame_size && s->frame->header == first->frame->header &&
	       s->pace.next == 0 && s->pace.total == first->pace.total && s->pace.total > 0 &&
	       s->pace.max_lag == first->pace.max_lag &&
	       fg_pace_step(&s->pace) == fg_pace_step(&first->pace) &&
	       (s->series == NULL || first->series == NULL || s->interval_end == first->interval_end);
}

static bool
can_take_turns(struct tx_stream *const *streams, unsigned n)
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
slot_fill(struct tx_round_robin *r, unsigned k, struct tx_stream *s)
{
	struct tx_slot *slot = tx_slot_of(r, k);

	slot->start = s->pace.start;
	slot->id = s->id;
	memcpy(slot->header, s->frame->bytes, r->stride - sizeof(*slot));
	if (s->series != NULL) {
		r->with_series[r->series++] = k;
		r->interval_end = s->interval_end;
	}
	s->slot = k;
	s->round_robin = r;
}

static bool
slots_alloc(struct tx_round_robin *r, unsigned n, size_t header)
{
	r->stride = sizeof(struct tx_slot) + (header + BLOCK - 1) / BLOCK * BLOCK;
	r->slots = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(n * r->stride, RTE_CACHE_LINE_SIZE));
	r->stream = calloc(n, sizeof(*r->stream));
	r->first = calloc(n, sizeof(*r->first));
	r->last = calloc(n, sizeof(*r->last));
	r->with_series = calloc(n, sizeof(*r->with_series));
	if (r->slots == NULL || r->stream == NULL || r->first == NULL || r->last == NULL ||
	    r->with_series == NULL)
		return false;
	memset(r->slots, 0, n * r->stride);
	return true;
}

static int
by_departure(const void *a, const void *b)
{
	const struct tx_stream *s = *(struct tx_stream *const *)a, *t = *(struct tx_stream *const *)b;

	if (s->pace.start != t->pace.start)
		return s->pace.start < t->pace.start ? -1 : 1;
	return s < t ? -1 : s > t; /* of one array */
}

int
tx_round_robin_create(struct tx_task *t, struct tx_stream *const *streams, unsigned n, struct fg_error *err)
{
	const struct tx_stream *like = streams[0];
	struct tx_round_robin *r;

	if (!can_take_turns(streams, n))
		return 0;
	r = calloc(1, sizeof(*r));
	if (r == NULL || !slots_alloc(r, n, like->frame->header)) {
		tx_round_robin_free(r);
		return fg_error_set(err, ENOMEM, "streams", "no memory for %u streams", n);
	}
	memcpy(r->stream, streams, n * sizeof(*r->stream));
	qsort(r->stream, n, sizeof(*r->stream), by_departure);
	r->streams = n;
	r->cycles = like->pace.total;
	r->step = fg_pace_step(&like->pace);
	r->max_lag = like->pace.max_lag;
	r->on_time = like->pace.on_time;
	r->frame = like->frame;
	r->pool = like->pool;
	r->interval_end = UINT64_MAX;
	r->schedule = &t->schedule;
	for (unsigned k = 0; k < n; k++)
		slot_fill(r, k, r->stream[k]);
	t->round_robin = r;
	return 0;
}

void
tx_round_robin_free(struct tx_round_robin *r)
{
	if (r == NULL)
		return;
	free(r->slots);
	free(r->stream);
	free(r->first);
	free(r->last);
	free(r->with_series);
	free(r);
}

uint64_t
tx_sent(const struct tx_stream *s)
{
	const struct tx_round_robin *r = __atomic_load_n(&s->round_robin, __ATOMIC_ACQUIRE);

	if (r == NULL)
		return __atomic_load_n(&s->sent, __ATOMIC_RELAXED);
	return tx_round_robin_sent(r, s->slot, __atomic_load_n(&r->done, __ATOMIC_RELAXED));
}

uint64_t
tx_octets(const struct tx_stream *s)
{
	if (__atomic_load_n(&s->round_robin, __ATOMIC_ACQUIRE) != NULL)
		return tx_sent(s) * s->frame->frame_size;
	return __atomic_load_n(&s->octets, __ATOMIC_RELAXED);
}

/* as it would be had it been sent by itself */
static void
settle(struct tx_round_robin *r, struct tx_stream *s)
{
	struct fg_pace *pace = &s->pace;

	s->sequence = tx_round_robin_sent(r, s->slot, r->done);
	s->first = r->first[s->slot];
	s->last = r->last[s->slot];
	if (s->series != NULL)
		s->interval_end = r->interval_end;
	pace->late = tx_slot_of(r, s->slot)->skipped;
	pace->next = s->sequence + pace->late;
	pace->at = fg_pace_exact(pace, pace->next);
	pace->worst_lag = r->worst_lag;
	tx_schedule_add(r->schedule, s);
	/*
	 * their streams are unknown, and one stream's loss may follow from another's lag: an equal share for
	 * each
	 */
	pace->off_schedule = r->off_schedule / r->streams + (s->slot < r->off_schedule % r->streams);
	__atomic_store_n(&s->octets, s->sequence * s->frame->frame_size, __ATOMIC_RELAXED);
	__atomic_store_n(&s->sent, s->sequence, __ATOMIC_RELAXED);
	/* control finds the counts in the stream from now on */
	__atomic_store_n(&s->round_robin, NULL, __ATOMIC_RELEASE);
}

void
tx_round_robin_settle_stream(struct tx_stream *s)
{
	if (s->round_robin != NULL)
		settle(s->round_robin, s);
}

void
tx_round_robin_settle(struct tx_round_robin *r, unsigned n)
{
	for (; n > 0 && r->settled < r->streams; n--)
		tx_round_robin_settle_stream(r->stream[(r->slot + r->settled++) % r->streams]);
}

void
tx_round_robin_leave(struct tx_task *t)
{
	t->left = t->round_robin;
	t->round_robin = NULL;
}

void
tx_settle(struct tx *tx)
{
	for (unsigned i = 0; i < tx->tasks; i++) {
		struct tx_task *t = &tx->task[i];

		if (t->round_robin != NULL)
			tx_round_robin_leave(t);
		if (t->left != NULL)
			tx_round_robin_settle(t->left, t->left->streams);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of what a receiver counts, for the screen. The lcore makes them, a few streams at a time; control
 * reads them.
 */
#include "rx_batch.h"

enum { LIVE_SLICE = 16 }; /* streams whose counts are copied at a time */

static inline void
publish_count(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

void
rx_publish_stream(struct rx_stream *stream)
{
	const struct fg_sequence *sequence = stream->sequence;
	const struct fg_histogram *latency = stream->latency;

	publish_count(&stream->live.frames, sequence->unique);
	publish_count(&stream->live.octets, stream->octets);
	publish_count(&stream->live.missing, sequence->next - sequence->first - sequence->unique);
	publish_count(&stream->live.delay_sum, (uint64_t)latency->sum);
	publish_count(&stream->live.delay_min, fg_histogram_min(latency));
	publish_count(&stream->live.delay_max, latency->max);
	publish_count(&stream->live.duplicates, sequence->duplicates);
	publish_count(&stream->live.reordered, sequence->reordered);
	publish_count(&stream->live.first_arrival, stream->first_arrival);
	publish_count(&stream->live.last_arrival, stream->last_arrival);
}

void
rx_publish_totals(struct rx_task *t)
{
	publish_count(&t->published, t->frames);
	publish_count(&t->published_other, t->misdirected + t->unsolicited);
	publish_count(&t->published_other_octets, t->other_octets);
}

/* the totals each time, and the streams in turn, that it may not take long whatever their number */
void
rx_publish(struct fg_task *task, uint64_t now)
{
	struct rx_task *t = (struct rx_task *)task;

	rx_publish_totals(t);
	for (unsigned i = 0; i < RTE_MIN((unsigned)t->ids, (unsigned)LIVE_SLICE); i++) {
		struct rx_stream *stream = &t->streams[t->next_live];

		if (t->next_live == 0)
			t->round = now;
		if (rx_receiver(stream) == t) {
			if (t->batches != NULL && rx_batch_of(t, stream)->queue == t->queue)
				rx_batch_flush(t, stream);
			rx_publish_stream(stream);
		}
		t->next_live = t->next_live + 1 == t->ids ? 0 : t->next_live + 1;
		if (t->next_live == 0)
			__atomic_store_n(&t->copied, t->round, __ATOMIC_RELEASE); /* after the copies */
	}
}

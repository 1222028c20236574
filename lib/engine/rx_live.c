/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of what a receiver counts, for the screen. The lcore makes them, a few streams at a time; control reads them.
 */
#include "rx_note.h"

enum { LIVE_SLICE = 16 }; /* streams whose counts are copied at a time */

static inline void
copy(_Atomic uint64_t *to, uint64_t value)
{
	atomic_store_explicit(to, value, memory_order_relaxed);
}

void
rx_publish_stream(struct rx_stream *stream)
{
	const struct fg_sequence *sequence = stream->sequence;
	const struct fg_histogram *latency = stream->latency;

	copy(&stream->live.frames, sequence->unique);
	copy(&stream->live.octets, stream->octets);
	copy(&stream->live.missing, sequence->next - sequence->first - sequence->unique);
	copy(&stream->live.delay_sum, (uint64_t)latency->sum);
	copy(&stream->live.delay_min, fg_histogram_min(latency));
	copy(&stream->live.delay_max, latency->max);
}

/* the total each time, and the streams in turn, that it may not take long whatever their number */
void
rx_publish(struct fg_task *task)
{
	struct rx_task *t = (struct rx_task *)task;

	copy(&t->published.frames, t->frames);
	for (unsigned i = 0; i < RTE_MIN((unsigned)t->ids, (unsigned)LIVE_SLICE); i++) {
		struct rx_stream *stream = &t->streams[t->next_live];

		if (stream->receiver == t) {
			if (t->notes != NULL)
				rx_note_enter(t, stream);
			rx_publish_stream(stream);
		}
		t->next_live = t->next_live + 1 == t->ids ? 0 : t->next_live + 1;
	}
}

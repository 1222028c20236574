/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With many streams, the memory that the next frames touch is not in the nearest caches, and the address of
 * each cache line stands in the line before. So one line of every frame of the burst is prefetched before any
 * frame is measured, then the next line of every frame, and the waits overlap. The signature is not checked
 * here: nothing is written.
 */
#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>

#include "fg_signature.h"
#include "rx_batch.h"

/* of the stream that a frame's signature names, if it has one; else no less than there are */
static inline unsigned
place_of(const struct rx_task *t, const struct rte_mbuf *m)
{
	if (unlikely(m->data_len < FG_SIGNATURE_SIZE))
		return t->ids;
	return (uint16_t)(fg_signature_stream(rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len)) -
			  t->first_id);
}

void
rx_prefetch(const struct rx_task *t, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival,
	    bool stamped)
{
	const struct rx_stream *stream[FG_BURST];
	int64_t delay[FG_BURST];
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct rte_mbuf *m = frames[i];
		const uint8_t *end = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len);
		unsigned place = place_of(t, m);

		if (unlikely(place >= t->ids))
			continue;
		if (stamped)
			arrival = fg_clock_ns(t->clock, *RTE_MBUF_DYNFIELD(m, t->time_offset, uint64_t *));
		delay[found] = fg_signature_elapsed(arrival, fg_signature_time(end));
		stream[found] = &t->streams[place];
		rte_prefetch0(stream[found++]);
	}
	for (unsigned i = 0; i < found; i++) {
		rte_prefetch0(stream[i]->sequence);
		rte_prefetch0(stream[i]->latency);
	}
	for (unsigned i = 0; i < found; i++)
		fg_histogram_prefetch(stream[i]->latency, delay[i]);
}

/* the batch of each; and where that is full, the lines that it will be flushed to */
void
rx_prefetch_batches(const struct rx_task *t, struct rte_mbuf *const *frames, unsigned n)
{
	unsigned place[FG_BURST], found = 0, full = 0;

	for (unsigned i = 0; i < n; i++) {
		place[found] = place_of(t, frames[i]);
		if (unlikely(place[found] >= t->ids))
			continue;
		__builtin_prefetch(&t->batches[place[found++]], 1);
	}
	for (unsigned i = 0; i < found; i++) {
		const struct rx_batch *batch = &t->batches[place[i]];

		if (batch->pending < batch->limit)
			continue;
		__builtin_prefetch(&t->streams[place[i]], 1);
		__builtin_prefetch(rx_measures_sequence(&t->measures, place[i]), 1);
		__builtin_prefetch(rx_measures_latency(&t->measures, place[i]), 1);
		place[full++] = place[i];
	}
	for (unsigned i = 0; i < full; i++)
		fg_histogram_prefetch(rx_measures_latency(&t->measures, place[i]),
				      t->batches[place[i]].delay[0]);
}

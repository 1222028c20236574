/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the batches of many streams to what is kept of each: see rx_batch.h.
 */
#include "rx_batch.h"

/*
 * How many frames a batch may take before the stream is looked at again. Streams that take turns fill their
 * batches at the same time if they began together; so they are given less the first time, each another share.
 * And the next frame that is looked at more closely enters none.
 */
static uint8_t
limit_for(const struct rx_stream *stream, unsigned place, uint64_t next)
{
	uint64_t room = RX_BATCH - (next + place) % RX_BATCH;

	return (uint8_t)RTE_MIN(room, stream->next_look - next);
}

void
rx_batch_init(struct rx *rx, unsigned i, uint64_t first)
{
	const struct rx_stream *stream = &rx->stream[i];
	bool alone = stream->receiver != NULL && stream->receiver->batches != NULL && stream->sizes == NULL;

	rx->batches[i] = (struct rx_batch){
		.next = rx_batch_key(first, stream->length),
		.queue = alone ? stream->receiver->queue : RX_UNASSIGNED,
		.limit = limit_for(stream, i, first),
	};
}

void
rx_batch_flush(const struct rx_task *t, struct rx_stream *stream)
{
	struct rx_batch *batch = rx_batch_of(t, stream);

	if (batch->pending > 0) {
		fg_sequence_observe_next(stream->sequence, batch->pending);
		fg_histogram_record_all(stream->latency, batch->delay, batch->pending);
		stream->octets += batch->octets;
		stream->last_arrival = batch->last_arrival;
	}
	batch->pending = 0;
	batch->octets = 0;
	batch->limit = limit_for(stream, (unsigned)(stream - t->streams), batch->next & FG_SIGNATURE_MASK48);
}

void
rx_batch_resume(const struct rx_task *t, struct rx_stream *stream)
{
	struct rx_batch *batch = rx_batch_of(t, stream);

	batch->next = rx_batch_key(stream->sequence->next, stream->length);
	batch->last_arrival = stream->last_arrival;
	batch->longest_gap = stream->longest_gap;
	batch->limit = limit_for(stream, (unsigned)(stream - t->streams), stream->sequence->next);
}

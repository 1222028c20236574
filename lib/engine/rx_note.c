/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the notes of many streams to what is kept of each: see rx_note.h.
 */
#include "fg_signature.h"
#include "rx_note.h"

/*
 * How many frames may be noted before the stream is looked at again. Streams that take turns fill their lines at the same
 * time if they began together; so they are given less the first time, each another share. And the next frame whose delay
 * is asked for is none to be noted.
 */
static uint8_t
room_for(const struct rx_stream *stream, unsigned place, uint64_t next)
{
	uint64_t room = RX_NOTES - (next + place) % RX_NOTES;

	return (uint8_t)RTE_MIN(room, stream->next_tag - next);
}

void
rx_note_init(struct trial *t, unsigned i)
{
	const struct rx_stream *stream = &t->rx_stream[i];
	bool alone = stream->receiver != NULL && stream->receiver->notes != NULL;

	t->notes[i] = (struct rx_note){
		.next = rx_note_key(0, stream->length),
		.lane = alone ? stream->receiver->lane : RX_NOBODYS,
		.room = room_for(stream, i, 0),
	};
}

void
rx_note_enter(const struct rx_task *t, struct rx_stream *stream)
{
	struct rx_note *note = rx_note_of(t, stream);

	if (note->noted > 0) {
		fg_sequence_observe_next(stream->sequence, note->noted);
		fg_histogram_record_all(stream->latency, note->delay, note->noted);
		stream->octets += note->octets;
		stream->last_arrival = note->last_arrival;
	}
	note->noted = 0;
	note->octets = 0;
	note->room = room_for(stream, (unsigned)(stream - t->streams), note->next & FG_SIGNATURE_MASK48);
}

void
rx_note_resume(const struct rx_task *t, struct rx_stream *stream)
{
	struct rx_note *note = rx_note_of(t, stream);

	note->next = rx_note_key(stream->sequence->next, stream->length);
	note->last_arrival = stream->last_arrival;
	note->longest_gap = stream->longest_gap;
	note->room = room_for(stream, (unsigned)(stream - t->streams), stream->sequence->next);
}

void
rx_notes_settle(struct trial *t)
{
	for (unsigned i = 0; t->notes != NULL && i < t->streams; i++)
		if (t->notes[i].lane != RX_NOBODYS)
			rx_note_enter(&t->rx[t->notes[i].lane], &t->rx_stream[i]);
}

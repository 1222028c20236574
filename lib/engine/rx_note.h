/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RX_NOTE_H
#define RX_NOTE_H

#include "rx_priv.h"

/*
 * Frames of many streams. What is kept of a stream lies in four cache lines, its own, the tracker's and two of the
 * histogram, and of thousands of streams none of them is near when the next frame of a stream comes. So a frame that is
 * the next one of its stream, and after no longer a gap than there was before, is only noted: its number follows from
 * that of the last one, and what is left is its delay. A stream has a line for that. Once it is full, or a frame comes
 * that cannot be noted, all that stands there is entered where it belongs, as if it had been from the first: then the
 * four lines are touched for as many frames at once. Which of the streams have a full line in a burst is evenly spread.
 *
 * Only where a receiver has a port to itself and measures no more than the plain counts.
 */

enum {
	RX_FEW = 64,  /* streams whose lines stay in the nearest caches */
	RX_NOTES = 8, /* as many as fill up a line */
	RX_NOBODYS = UINT16_MAX,
};

/** What has come of a stream and is not entered yet. Written by the rx lcore only. */
struct rx_note {
	uint64_t next;            /* number of the next frame, and its length: rx_note_key() */
	uint64_t last_arrival;    /* ns */
	uint64_t longest_gap;     /* ns; what comes after a longer one cannot be noted */
	uint32_t octets;          /* of the frames noted, with FCS */
	uint16_t lane;            /* of the engine, that receives the stream; RX_NOBODYS: none does */
	uint8_t noted, room;      /* frames, of that many until the next has to be looked at */
	uint32_t delay[RX_NOTES]; /* ns */
} __rte_cache_aligned;

/** Number and length (without FCS) of a frame in one, so that one comparison is enough. */
static inline uint64_t
rx_note_key(uint64_t number, uint32_t length)
{
	return number | (uint64_t)length << 48;
}

static inline struct rx_note *
rx_note_of(const struct rx_task *t, const struct rx_stream *stream)
{
	return &t->notes[stream - t->streams];
}

/** Note a frame; @p length without FCS. @return false if it has to be looked at */
static inline bool
rx_note(struct rx_note *note, uint64_t number, uint64_t arrival_ns, int64_t delay, uint32_t length)
{
	uint64_t key = rx_note_key(number, length);

	if (unlikely(key != note->next || note->noted >= note->room || (uint64_t)delay > UINT32_MAX ||
		     arrival_ns - note->last_arrival > note->longest_gap))
		return false;
	note->next = key + 1;
	note->last_arrival = arrival_ns;
	note->octets += length + FG_ETHER_FCS;
	note->delay[note->noted++] = (uint32_t)delay;
	return true;
}

/* rx_note.c */

/** The line of stream @p i, whose receiver is known. */
void rx_note_init(struct trial *trial, unsigned i);
/** Enter what is noted of a stream. */
void rx_note_enter(const struct rx_task *task, struct rx_stream *stream);
/** A frame has been measured without being noted. */
void rx_note_resume(const struct rx_task *task, struct rx_stream *stream);
/** Enter what is noted of all streams; once all lcores have left the trial. */
void rx_notes_settle(struct trial *trial);

/* rx_ahead.c: have at hand what the frames of a burst will touch of many streams */
void rx_ahead(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival,
	      bool stamped);
void rx_ahead_notes(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n);

#endif

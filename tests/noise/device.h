/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device of the campaign in a process of its own: frames that came in at one side wait until they are due,
 * and leave at the other. The program around it receives and sends (veth.c, memif.c).
 *
 * NOISE_DEVICE: keys of the model. NOISE_ORDERS: page of orders. NOISE_LEDGER: file for what it counted.
 */
#ifndef NOISE_DEVICE_H
#define NOISE_DEVICE_H

#include <signal.h>

#include "ledger.h"

enum { NOISE_SLOTS = 16384, NOISE_OCTETS = 1600, NOISE_SIDES = 2 };

struct noise_slot {
	uint64_t due;
	struct noise_stream *stream;
	uint16_t length;
	uint8_t frame[NOISE_OCTETS];
};

/* from one side to the other */
struct noise_way {
	struct noise_model model;
	struct noise_slot *slot;
	uint64_t head, tail;
};

struct noise_device {
	struct noise_way way[NOISE_SIDES];
	struct noise_ledger ledger;
};

static volatile sig_atomic_t noise_ends;

static inline void
noise_end(int number)
{
	noise_ends = number;
}

static inline void
noise_device_open(struct noise_device *d)
{
	const char *text = getenv("NOISE_DEVICE");

	for (int i = 0; i < NOISE_SIDES; i++) {
		noise_model_init(&d->way[i].model, text != NULL ? text : "");
		d->way[i].slot = calloc(NOISE_SLOTS, sizeof(struct noise_slot));
		if (d->way[i].slot == NULL)
			abort();
	}
	noise_ledger_open(&d->ledger, getenv("NOISE_ORDERS"));
	signal(SIGINT, noise_end);
	signal(SIGTERM, noise_end);
}

static inline void
noise_device_close(const struct noise_device *d)
{
	noise_ledger_write(&d->ledger, getenv("NOISE_LEDGER"));
}

/* A frame came in at @p side. @param now  when it did. @param gap  for how long nobody had looked, ns */
static inline void
noise_device_take(struct noise_device *d, int side, const uint8_t *frame, unsigned length, uint64_t now,
		  uint64_t gap)
{
	struct noise_way *w = &d->way[side];
	struct noise_stream *stream = noise_stream_of(&d->ledger, frame, frame + length, now);
	struct noise_orders *o = d->ledger.orders;
	struct noise_slot *s = &w->slot[w->head % NOISE_SLOTS];
	enum noise_fate fate = NOISE_OUTAGE;

	if (!noise_within(&o->outage_from, &o->outage_until, now))
		s->due = noise_model_pass(&w->model, now, (length > 60 ? length : 60) + 4, &fate);
	if (fate == NOISE_PASSED && length <= NOISE_OCTETS && w->head - w->tail < NOISE_SLOTS) {
		s->length = (uint16_t)length;
		s->stream = stream;
		memcpy(s->frame, frame, length);
		w->head++;
	}
	if (stream != NULL) {
		stream->fate[fate]++;
		if (gap > stream->gap_ns)
			stream->gap_ns = gap;
	}
}

/* the next frame that is due to leave opposite @p side; NULL: none is */
static inline struct noise_slot *
noise_device_next(struct noise_device *d, int side, uint64_t now)
{
	struct noise_way *w = &d->way[side];
	struct noise_slot *s = &w->slot[w->tail % NOISE_SLOTS];

	if (w->tail == w->head || s->due > now)
		return NULL;
	if (s->stream != NULL && now - s->due > s->stream->gap_ns)
		s->stream->gap_ns = now - s->due;
	w->tail++;
	return s;
}

/* how long nothing will be due, ns, at most @p most */
static inline uint64_t
noise_device_rest(const struct noise_device *d, uint64_t now, uint64_t most)
{
	for (int i = 0; i < NOISE_SIDES; i++) {
		const struct noise_way *w = &d->way[i];
		uint64_t due = w->slot[w->tail % NOISE_SLOTS].due;

		if (w->tail != w->head && due < now + most)
			most = due > now ? due - now : 0;
	}
	return most;
}

#endif

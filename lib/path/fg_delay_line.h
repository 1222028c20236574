/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * Frames on their way, each with the time at which it goes on, and out they come in the order of these times.
 * Most come in that order, too, and stand in a ring; those that do not, in a heap beside it. A frame that is
 * to be passed by others waits in a queue of its own until they have come. One writer.
 */

struct fg_delay_entry {
	uint64_t time;   /* goes on */
	uint64_t turn;   /* decides between equal times */
	uint64_t number; /* in the order of coming; FG_DELAY_UNCOUNTED: not counted */
	void *frame;
};

/** Members are private but for `reordered`. */
struct fg_delay_line {
	struct fg_delay_entry *ring;
	uint64_t head, tail, mask;
	struct fg_delay_entry *heap;
	uint64_t heaped;
	struct fg_delay_hold *held;
	uint64_t held_head, held_tail;
	uint64_t turns, numbers, passed, expected;
	uint64_t capacity, in_use;
	uint64_t reordered; /* frames that came out behind a later one (RFC 4737, 3) */
};

/** A number for what is no frame of the sender's own: a copy. */
#define FG_DELAY_UNCOUNTED UINT64_MAX

/** @param capacity  frames. @return 0, -EINVAL, -ENOMEM */
int fg_delay_line_init(struct fg_delay_line *line, uint64_t capacity, struct fg_error *err);

/** Free the line's own memory, not the frames; an all-zero line is legal. */
void fg_delay_line_free(struct fg_delay_line *line);

/** Is there room for @p n more? */
static inline bool
fg_delay_line_room(const struct fg_delay_line *line, uint64_t n)
{
	return line->capacity - line->in_use >= n;
}

/** The number of the frame that has come now. */
static inline uint64_t
fg_delay_line_number(struct fg_delay_line *line)
{
	return line->numbers++;
}

/**
 * Send a frame on at @p time; others that have waited for it follow at once. There must be room.
 * @param number  fg_delay_line_number(), or FG_DELAY_UNCOUNTED
 */
void fg_delay_line_push(struct fg_delay_line *line, void *frame, uint64_t time, uint64_t number);

/** Keep a frame until @p places counted ones have been pushed, or until @p latest. There must be room. */
void fg_delay_line_hold(struct fg_delay_line *line, void *frame, uint32_t places, uint64_t latest,
			uint64_t number);

/** When the next frame goes on; UINT64_MAX: no frame. */
uint64_t fg_delay_line_next(const struct fg_delay_line *line);

/** Take the frame that fg_delay_line_next() told of. There must be one. */
void *fg_delay_line_pop(struct fg_delay_line *line);

/** Take any frame, in no order and not counted; NULL: no frame. To free them all. */
void *fg_delay_line_clear(struct fg_delay_line *line);

__END_DECLS

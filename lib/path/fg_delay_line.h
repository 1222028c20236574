/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * A line of frames, each with its release time, released in the order of these times. Most frames also enter
 * in that order, into a ring; the others enter a heap. Frames to be overtaken wait in a third queue until the
 * others have come. One writer.
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

/** The number of a copy, which is not a frame of the sender. */
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
 * Release a frame at @p time; held frames that waited for it follow at once. There must be room.
 * @param number  fg_delay_line_number(), or FG_DELAY_UNCOUNTED
 */
void fg_delay_line_push(struct fg_delay_line *line, void *frame, uint64_t time, uint64_t number);

/** Hold a frame until @p places counted frames were pushed, or until @p latest. There must be room. */
void fg_delay_line_hold(struct fg_delay_line *line, void *frame, uint32_t places, uint64_t latest,
			uint64_t number);

/** Release time of the next frame; UINT64_MAX: no frame. */
uint64_t fg_delay_line_next(const struct fg_delay_line *line);

/** Take the frame of fg_delay_line_next(). There must be one. */
void *fg_delay_line_pop(struct fg_delay_line *line);

/** Take any frame, uncounted, in any order, to free all frames; NULL: no frame. */
void *fg_delay_line_clear(struct fg_delay_line *line);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_PACE_H
#define FG_PACE_H

#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The departure clock: which frames of a stream are due. Frame i of a constant load leaves at
 * start + floor(i * hz / fps), always computed from the start in 64.64 fixed point and never accumulated, so
 * rounding cannot drift: no frame is a tick early, and none a tick late unless i * fps goes beyond 2^64. A frame
 * that could not be sent stays due, but only within max_lag: a generator that has fallen further behind may not
 * make up for it with a burst that nobody ordered. What lies beyond is forgiven and counted late.
 *
 * Several streams can share the load of a port and take turns: of every n departures each has some in a row. A
 * stream that has one of them has a constant load again, only slower; one that has more sends bursts, and frame i
 * leaves in slot i + floor(i / burst) * gap.
 *
 * Ticks are those of the task's clock (fg_engine.h). One clock per stream, one writer: the tx lcore.
 */
struct fg_pace {
	uint64_t start;     /* ticks */
	uint64_t step;      /* ticks between departures, whole */
	uint64_t step_frac; /* and in 2^-64 */
	uint64_t next;      /* number in the schedule of the next frame, sent or forgiven before it */
	uint64_t total;     /* frames in the schedule */
	uint64_t burst;     /* frames in a row; 0: no end */
	uint64_t gap;       /* departures left out after them */
	uint64_t max_lag;   /* ticks */
	uint64_t late;      /* frames forgiven */
	uint64_t worst_lag; /* ticks the most belated sent frame was behind */
};

/**
 * Constant load.
 *
 * @param fps      frames per second, above 0 and at most one per tick
 * @param hz       ticks per second
 * @param start    departure of the first frame, ticks
 * @param total    frames to send
 * @param max_lag  ticks a frame may be late and still be sent
 * @return         0 or -ERANGE
 */
int fg_pace_constant(struct fg_pace *pace, double fps, uint64_t hz, uint64_t start, uint64_t total,
		     uint64_t max_lag, struct fg_error *err);

/**
 * Leave departures to other streams: of every @p every this one keeps @p take, beginning with number @p first. Its
 * frames are numbered anew, and its total is what it kept. Where the first does not fall on a tick, frames may leave
 * a tick earlier than in the load itself. Call it before anything was sent.
 *
 * @return  0 or -ERANGE: first + take goes beyond every, or take is 0
 */
int fg_pace_turns(struct fg_pace *pace, uint64_t first, uint64_t take, uint64_t every, struct fg_error *err);

/** Which departure of the constant load belongs to frame @p i. */
static inline uint64_t
fg_pace_slot(const struct fg_pace *p, uint64_t i)
{
	return __builtin_expect(p->burst == 0, 1) ? i : i + i / p->burst * p->gap;
}

/** Departure time of frame @p i of the schedule, ticks. */
static inline uint64_t
fg_pace_at(const struct fg_pace *p, uint64_t i)
{
	i = fg_pace_slot(p, i);
	return p->start + i * p->step + (uint64_t)(((fg_u128)i * p->step_frac) >> 64);
}

/**
 * The same with 64 bits of fraction: with fg_pace_step() added, it is exactly that of the next frame, if that is of
 * the same burst. For those who want many departures and not two multiplications for each.
 */
static inline fg_u128
fg_pace_exact(const struct fg_pace *p, uint64_t i)
{
	i = fg_pace_slot(p, i);
	return ((fg_u128)(p->start + i * p->step) << 64) + (fg_u128)i * p->step_frac;
}

/** Between two departures of a burst, with 64 bits of fraction. */
static inline fg_u128
fg_pace_step(const struct fg_pace *p)
{
	return (fg_u128)p->step << 64 | p->step_frac;
}

/** Departure of the next frame; UINT64_MAX when the schedule is done. */
static inline uint64_t
fg_pace_next(const struct fg_pace *p)
{
	return p->next < p->total ? fg_pace_at(p, p->next) : UINT64_MAX;
}

/** Forgive every frame that is more than max_lag behind @p now. @return how many */
uint64_t fg_pace_forgive(struct fg_pace *pace, uint64_t now);

/**
 * Frames that should have left by @p now and have not, at most @p max. Does not advance the clock: call
 * fg_pace_commit() with what the port took.
 */
static inline unsigned
fg_pace_due(struct fg_pace *p, uint64_t now, unsigned max)
{
	uint64_t first = fg_pace_next(p);
	uint64_t behind;
	unsigned due = 1;
	fg_u128 at;

	if (first > now || max == 0)
		return 0;
	behind = now - first;
	if (__builtin_expect(behind > p->max_lag, 0)) {
		fg_pace_forgive(p, now);
		first = fg_pace_next(p);
		if (first > now)
			return 0;
		behind = now - first;
	}
	if (behind > p->worst_lag)
		p->worst_lag = behind;
	if (max > p->total - p->next)
		max = (unsigned)(p->total - p->next);
	if (fg_pace_at(p, p->next + max - 1) <= now)
		return max;
	if (p->burst != 0) {
		while (fg_pace_at(p, p->next + due) <= now)
			due++;
		return due;
	}
	for (at = fg_pace_exact(p, p->next + 1); (uint64_t)(at >> 64) <= now; at += fg_pace_step(p))
		due++;
	return due;
}

/** @p n frames have been handed to the port. */
static inline void
fg_pace_commit(struct fg_pace *p, unsigned n)
{
	p->next += n;
}

#ifdef __cplusplus
}
#endif
#endif

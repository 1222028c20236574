/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"
#include "fg_sizes.h"

__BEGIN_DECLS

/** Kind of frame @p n. */
static inline unsigned
fg_sizes_kind(const struct fg_sizes *s, uint64_t n)
{
	return s->kind[n % s->length];
}

/** Bytes with FCS of frame @p n. */
static inline unsigned
fg_sizes_of(const struct fg_sizes *s, uint64_t n)
{
	return s->size[fg_sizes_kind(s, n)];
}

/** Bytes of the first @p n frames. */
static inline uint64_t
fg_sizes_octets(const struct fg_sizes *s, uint64_t n)
{
	return n / s->length * s->octets + s->before[n % s->length];
}

/*
 * The departure clock: which frames of a stream are due. Frame i of a constant load leaves at
 * start + floor(i * hz / fps), in 64.64 fixed point, in which adding a step i times is the same as
 * multiplying, so rounding cannot drift: no frame is a tick early, and none a tick late unless i * fps goes
 * beyond 2^64. A frame that could not be sent stays due, but only within max_lag: a generator that has fallen
 * further behind may not make up for it with a burst that nobody ordered. Older frames are dropped and
 * counted late.
 *
 * Within max_lag a frame that leaves late is followed at once by those that came due meanwhile, and the
 * device sees a burst that is not in the schedule. Frames more than `on_time` behind are counted as off
 * schedule: had all others left as they did and these when they were due, a queue or a policer in the path
 * would have lost at most this number of frames more, or fewer.
 *
 * A constant load can be given another shape before anything was sent:
 *
 *   turns    Several streams share the load of a port: of every n departures each has some in a row. A stream
 *            that has one of them has a constant load again, only slower; one that has more sends bursts.
 *   bursts   Frames come in bursts of one length, at a rate of their own; every burst begins where its first
 *            frame would have left in the constant load, so the mean rate is the same.
 *   ramp     The rate grows or falls evenly with time, also from 0 and to 0.
 *   Poisson  The times between departures are independent and exponentially distributed: frames of many
 *            senders that know nothing of each other. Follows from the seed alone.
 *   scatter  Each frame leaves at a random moment of its interval, which begins where the frame would have
 *            left in the constant load and ends before the next one by as much as two frames shall be apart:
 *            as many frames, and no beat with another load. Follows from the seed alone.
 *
 * And there is the load without a frame: a pause between two loads. Where the frames differ in size,
 * constant loads, bursts and ramps can go by octets: then a frame leaves when all bytes before it, at the
 * bit rate, have had their time. At a constant bit rate the long frame is followed by the long pause; by
 * frames they would be evenly spaced, and the bit rate right only in the mean over a cycle.
 *
 * Ticks are ticks of the task's clock (fg_engine.h). One clock per stream, one writer: the tx lcore.
 */
enum fg_pace_shape { FG_PACE_CONSTANT, FG_PACE_BURSTS, FG_PACE_RAMP, FG_PACE_POISSON, FG_PACE_SCATTER };

struct fg_pace {
	/* what an even load needs: two cache lines */
	uint64_t next;      /* number in the schedule of the next frame, sent or forgiven before it */
	uint64_t total;     /* frames in the schedule */
	fg_u128 at;         /* departure of the next frame, ticks with 64 bits of fraction */
	uint64_t step;      /* ticks between departures, whole */
	uint64_t step_frac; /* and in 2^-64 */
	uint64_t on_time;   /* ticks a frame may be behind and still be on schedule; at most max_lag */
	uint64_t worst_lag; /* ticks the most belated sent frame was behind */
	bool even;          /* constant, and all frames count the same */
	enum fg_pace_shape shape;
	uint64_t start; /* ticks */
	uint64_t until; /* ticks; no frame leaves at or after it */

	uint64_t max_lag;      /* ticks */
	uint64_t late;         /* frames forgiven */
	uint64_t off_schedule; /* frames that were found due more than on_time behind */
	uint64_t judged;       /* frames before this one have been looked at for that */

	const struct fg_sizes *sizes; /* by octets: of the frames, and then a step is an octet's */
	uint64_t first;               /* place in the cycle of sizes of frame 0 */
	int overhead;                 /* bytes counted with each frame */
	uint64_t burst;               /* frames of a burst */
	fg_u128 period;               /* of bursts */
	double rate, slope; /* ramp: frames (or bytes) per tick at its beginning, and more per tick */
	uint64_t seed;      /* Poisson, scatter */
	uint64_t share;     /* scatter: of the interval, in 2^-64 */
};

/**
 * Constant load.
 *
 * @param fps      frames per second, above 0 and at most one per tick
 * @param hz       ticks per second
 * @param start    departure of the first frame, ticks
 * @param total    frames to send; UINT64_MAX: until it is ended
 * @param max_lag  ticks a frame may be late and still be sent
 * @return         0 or -ERANGE
 */
int fg_pace_constant(struct fg_pace *pace, double fps, uint64_t hz, uint64_t start, uint64_t total,
		     uint64_t max_lag, struct fg_error *err);

/** No frame leaves: a pause, which begins at @p start, ticks. */
void fg_pace_silence(struct fg_pace *pace, uint64_t start);

/**
 * Leave departures of a constant load to other streams: of every @p every this one keeps @p take, beginning
 * with number
 * @p first. Its frames are numbered anew, and its total is what it kept. Where the first does not fall on a
 * tick, frames may leave a tick earlier than in the load itself.
 *
 * @return  0 or -ERANGE: first + take goes beyond every, or take is 0
 */
int fg_pace_turns(struct fg_pace *pace, uint64_t first, uint64_t take, uint64_t every, struct fg_error *err);

/**
 * Send a constant load in bursts of @p burst frames, @p fps a second within a burst.
 * @return 0 or -ERANGE: no frames, or within a burst they would be slower than on the whole
 */
int fg_pace_bursts(struct fg_pace *pace, uint64_t burst, double fps, uint64_t hz, struct fg_error *err);

/**
 * Change the rate of a constant load, whose own rate no longer counts, evenly from @p from to @p to frames
 * per second in @p ticks. Total becomes what leaves in that time.
 * @return 0 or -ERANGE: no time, no frames, or a rate below 0 or beyond a frame a tick
 */
int fg_pace_ramp(struct fg_pace *pace, double from, double to, uint64_t hz, uint64_t ticks,
		 struct fg_error *err);

/** Make a constant load a Poisson process of the same mean rate. */
void fg_pace_poisson(struct fg_pace *pace, uint64_t seed);

/**
 * Let each frame of a constant load leave at a random moment of the first @p share of its interval, 0 to 1.
 */
void fg_pace_scatter(struct fg_pace *pace, double share, uint64_t seed);

/**
 * Let departures follow bytes. The mean rate over a cycle of sizes stays. Call it last, not for a Poisson
 * process and not after fg_pace_turns().
 *
 * @param sizes     of the stream's frames; must live as long as the pace
 * @param first     which frame of the stream is the first of this schedule
 * @param overhead  bytes that count in addition to the frame: 20 for a rate at layer 1, 0 at layer 2, less
 *                  the headers at layer 3
 * @return          0 or -ERANGE: the smallest frame would count nothing
 */
int fg_pace_octets(struct fg_pace *pace, const struct fg_sizes *sizes, uint64_t first, int overhead,
		   struct fg_error *err);

/** No frame leaves at or after @p ticks: the total becomes what does before. Frames that have left stay. */
void fg_pace_end(struct fg_pace *pace, uint64_t ticks);

/** At most @p frames leave in all. Call it when the load has its shape and its end. */
static inline void
fg_pace_limit(struct fg_pace *p, uint64_t frames)
{
	p->total = frames < p->total ? frames : p->total;
}

/** Count frames that leave more than @p ticks late as off schedule. The default counts no frame. */
static inline void
fg_pace_on_time(struct fg_pace *p, uint64_t ticks)
{
	p->on_time = ticks < p->max_lag ? ticks : p->max_lag;
}

/** Delay all remaining departures by @p ticks. */
void fg_pace_move(struct fg_pace *pace, uint64_t ticks);

/** The rest of fg_pace_exact() and fg_pace_commit(), for loads that are not even. Not called directly. */
fg_u128 fg_pace_exact_slow(const struct fg_pace *pace, uint64_t i);
void fg_pace_commit_slow(struct fg_pace *pace, uint64_t n);

/**
 * Departure of frame @p i of the schedule, ticks with 64 bits of fraction. Of a Poisson process it takes i
 * steps.
 */
static inline fg_u128
fg_pace_exact(const struct fg_pace *p, uint64_t i)
{
	if (__builtin_expect(!p->even, 0))
		return fg_pace_exact_slow(p, i);
	return ((fg_u128)(p->start + i * p->step) << 64) + (fg_u128)i * p->step_frac;
}

/** The same in whole ticks. */
static inline uint64_t
fg_pace_at(const struct fg_pace *p, uint64_t i)
{
	return (uint64_t)(fg_pace_exact(p, i) >> 64);
}

/** Between two departures of an even load, ticks with 64 bits of fraction. */
static inline fg_u128
fg_pace_step(const struct fg_pace *p)
{
	return (fg_u128)p->step << 64 | p->step_frac;
}

/**
 * What lies between the departures of a frame of that many bytes and of the next one, in a constant load; the
 * same.
 */
static inline fg_u128
fg_pace_step_of(const struct fg_pace *p, unsigned octets)
{
	return p->sizes == NULL ? fg_pace_step(p) : fg_pace_step(p) * (octets + (uint64_t)p->overhead);
}

/** Departure of the next frame; UINT64_MAX when the schedule is done. */
static inline uint64_t
fg_pace_next(const struct fg_pace *p)
{
	return p->next < p->total ? (uint64_t)(p->at >> 64) : UINT64_MAX;
}

/**
 * The next frame is more than on_time behind @p now: forgive every frame that is more than max_lag behind,
 * and count the others that are off schedule.
 */
void fg_pace_belated(struct fg_pace *pace, uint64_t now);

/**
 * Is the next frame due, after dropping those that are too late? If so, the caller must send it, because the
 * lag is noted.
 */
static inline bool
fg_pace_ready(struct fg_pace *p, uint64_t now)
{
	uint64_t next = fg_pace_next(p);

	if (next > now)
		return false;
	if (__builtin_expect(now - next > p->on_time, 0)) {
		fg_pace_belated(p, now);
		next = fg_pace_next(p);
		if (next > now)
			return false;
	}
	if (now - next > p->worst_lag)
		p->worst_lag = now - next;
	return true;
}

/** The next frame is more than max_lag behind @p now: forgive every frame that is. */
void fg_pace_forgive(struct fg_pace *pace, uint64_t now);

/**
 * As fg_pace_ready(), for a caller that takes one frame at a time: each is judged when it is its turn, and
 * the frames that are due behind it are not counted yet.
 */
static inline bool
fg_pace_ready_one(struct fg_pace *p, uint64_t now)
{
	uint64_t next = fg_pace_next(p);

	if (next > now)
		return false;
	if (__builtin_expect(now - next > p->on_time, 0)) {
		if (now - next > p->max_lag) {
			fg_pace_forgive(p, now);
			next = fg_pace_next(p);
			if (next > now)
				return false;
		}
		if (now - next > p->on_time && p->judged <= p->next) {
			p->off_schedule++;
			p->judged = p->next + 1;
		}
	}
	if (now - next > p->worst_lag)
		p->worst_lag = now - next;
	return true;
}

/**
 * Frames of an even load that should have left by @p now and have not, at most @p max. Does not advance the
 * clock: call fg_pace_commit() with what the port took.
 */
static inline unsigned
fg_pace_due(struct fg_pace *p, uint64_t now, unsigned max)
{
	const fg_u128 step = fg_pace_step(p);
	unsigned due = 1;

	if (max == 0 || !fg_pace_ready(p, now))
		return 0;
	if (max > p->total - p->next)
		max = (unsigned)(p->total - p->next);
	if (fg_pace_at(p, p->next + max - 1) <= now)
		return max;
	for (fg_u128 at = p->at + step; (uint64_t)(at >> 64) <= now; at += step)
		due++;
	return due;
}

/** @p n frames have been handed to the port. */
static inline void
fg_pace_commit(struct fg_pace *p, uint64_t n)
{
	if (__builtin_expect(!p->even, 0)) {
		fg_pace_commit_slow(p, n);
		return;
	}
	p->next += n;
	p->at += n * fg_pace_step(p);
}

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_clock.h"
#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * A worker lcore and its job. A job is a list of tasks with their times. Control compiles a job and hands it
 * over; it does not touch the job again until the lcore has left it. The hand-over is two pointers:
 *
 *    want   written by control (release), read by the lcore (acquire): all that the job leads to is there
 *           before it
 *    have   written by the lcore (release), read by control (acquire): the job that stood there before is not
 *           in use any more, what its tasks counted can be read, and it may be freed
 *
 * A job that reaches its end is left, too: then `finished` (written by the lcore, release) has its serial
 * number, which tells it from a later job at the same address.
 */

/** What one lcore does. Immutable once handed over, but for its own counts and what the tasks keep. */
struct fg_job {
	unsigned tasks;
	struct fg_task **task;
	uint64_t begin, start, stop, end; /* ticks */
	uint64_t step;                    /* on the wire: least advance of time between two passes */
	uint64_t serial;
	bool relaxed; /* nothing is measured: rest between passes */
	/* written by the lcore */
	uint64_t polls;       /* passes over all tasks */
	uint64_t longest_gap; /* the longest that a task waited for its poll, ticks */
	uint64_t stalled;     /* from start to stop: all long waits for a poll, ticks; on real ports only */
	uint64_t taken;       /* when the lcore took the job up, ticks; on real ports only */
};

/** One worker. Zero, but for id, time and clock, before fg_lcores_start(). */
struct fg_lcore {
	struct fg_job *want; /* writer: control */
	struct fg_job *have; /* writer: the lcore */
	uint64_t finished;   /* writer: the lcore; serial of the last job it left */
	uint64_t now;        /* writer: the lcore; published time, ticks */
	const struct fg_clock *clock;
	enum fg_time time;
	unsigned id; /* EAL's */
} __attribute__((aligned(64)));

/** Launch the loop on @p n workers. @return 0; -EBUSY: one is not free, no loop was started */
int fg_lcores_start(struct fg_lcore *lcores, unsigned n, struct fg_error *err);
/** Leave the loop on all of them, and wait for it. */
void fg_lcores_stop(struct fg_lcore *lcores, unsigned n);
/** Hand job k of @p jobs to lcore k; NULL: rest. */
void fg_lcores_give(struct fg_lcore *lcores, unsigned n, struct fg_job *jobs);
/** Wait until all lcores have taken up their jobs. */
void fg_lcores_await(const struct fg_lcore *lcores, unsigned n);

/** The time that an lcore has published, ticks: all tasks have been polled before it. */
static inline uint64_t
fg_lcore_now(const struct fg_lcore *l)
{
	return __atomic_load_n(&l->now, __ATOMIC_ACQUIRE);
}

/** Has an lcore come to the end of a job? Then control may read what the job's tasks have counted. */
static inline bool
fg_lcore_has_finished(const struct fg_lcore *l, const struct fg_job *job)
{
	return __atomic_load_n(&l->finished, __ATOMIC_ACQUIRE) == job->serial;
}

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's loop. It runs the job that control wants until control wants another or the job reaches its
 * end, and hands every task the time.
 *
 * On real ports that is the TSC. On the wire the loop makes the time: each pass over the tasks goes to the
 * earliest moment at which a task has something to do, but by at least one step, so that a burst is worth its
 * pass. Running free, that is all; in step with real time, the pass waits until the wall clock is there too.
 * If the processor is taken away for a while, the wire's time stands still and then catches up, pass by pass,
 * as if nothing had happened.
 */
#include <errno.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "fg_lcore.h"

enum {
	POLLS_PER_LOOK = 16,      /* on the TSC: passes between looks at `want` */
	PASSES_PER_COPY = 2048,   /* between publications of counters ... */
	COPIES_PER_SECOND = 1000, /* ... and, where a wire keeps step with the clock, at least */
	REST_NS = 50000,
	LONG_REST_NS = 1000000,
	AHEAD_NS = 100000, /* how far the wire may run ahead of real time: less is not worth a rest */
	STALL_NS = 100000, /* tasks waited longer than any poll takes: the host ran something else */
};

static struct fg_job job_quit; /* wanted: leave the loop */

static void
rest(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static inline struct fg_job *
wanted(struct fg_lcore *l)
{
	return __atomic_load_n(&l->want, __ATOMIC_ACQUIRE);
}

static void
publish(const struct fg_job *job, uint64_t now)
{
	for (unsigned i = 0; i < job->tasks; i++)
		if (job->task[i]->publish != NULL)
			job->task[i]->publish(job->task[i], now);
}

/* nobody polled between @p from and @p to: the part of it between start and stop */
static uint64_t
stalled(const struct fg_job *job, uint64_t from, uint64_t to)
{
	from = RTE_MAX(from, job->start);
	to = RTE_MIN(to, job->stop);
	return to > from ? to - from : 0;
}

/* @return when the poll was over */
static inline uint64_t
poll_at(struct fg_task *task, uint64_t now)
{
	uint64_t end;

	task->longest_wait = RTE_MAX(task->longest_wait, now - task->polled);
	task->polled = now;
	task->poll(task, now);
	end = rte_rdtsc();
	task->longest_poll = RTE_MAX(task->longest_poll, end - now);
	return end;
}

static void
begin_waiting(const struct fg_job *job, uint64_t now)
{
	for (unsigned i = 0; i < job->tasks; i++) {
		job->task[i]->polled = now;
		job->task[i]->longest_wait = job->task[i]->longest_poll = 0;
	}
}

static uint64_t
longest_wait(const struct fg_job *job, uint64_t longest)
{
	for (unsigned i = 0; i < job->tasks; i++)
		longest = RTE_MAX(longest, job->task[i]->longest_wait);
	return longest;
}

static void
run_tsc(struct fg_lcore *l, struct fg_job *job)
{
	uint64_t now = rte_rdtsc(), last = now, passes = 0;
	uint64_t stall = fg_clock_ticks(l->clock, STALL_NS);

	job->taken = now;
	begin_waiting(job, now);
	while (wanted(l) == job && now < job->end) {
		for (unsigned k = 0; k < POLLS_PER_LOOK; k++) {
			for (unsigned i = 0; i < job->tasks; i++)
				now = poll_at(job->task[i], now);
			if (job->tasks == 0)
				now = rte_rdtsc();
			if (unlikely(now - last > stall))
				job->stalled += stalled(job, last, now);
			last = now;
		}
		job->longest_gap = longest_wait(job, job->longest_gap);
		job->polls += POLLS_PER_LOOK;
		if (++passes % (PASSES_PER_COPY / POLLS_PER_LOOK) == 0) {
			publish(job, now);
			__atomic_store_n(&l->now, now, __ATOMIC_RELEASE);
		}
		if (job->relaxed)
			rest(REST_NS);
	}
}

/*
 * Rest until real time has come as far as the wire's. The wire has a time of its own, so a rest that takes
 * too long changes no figure; and the processor is free for others meanwhile.
 */
static void
keep_step(struct fg_lcore *l, const struct fg_job *job, uint64_t tsc, uint64_t now)
{
	uint64_t wire_ns = fg_clock_span_ns(l->clock, now - job->begin), real_ns;
	uint64_t ahead_ns = now < job->end ? AHEAD_NS : 0;

	while (wanted(l) == job) {
		real_ns = (uint64_t)((double)(rte_rdtsc() - tsc) * 1e9 / (double)rte_get_tsc_hz());
		if (wire_ns <= real_ns + ahead_ns)
			return;
		rest(RTE_MIN((long)(wire_ns - real_ns), (long)LONG_REST_NS));
	}
}

/* a function of its own: tests/bench counts the instructions of what is in it */
static __rte_noinline void
run_wire(struct fg_lcore *l, struct fg_job *job)
{
	const uint64_t copy_each = l->clock->hz / COPIES_PER_SECOND;
	const bool is_real = l->time == FG_TIME_WIRE_REAL;
	uint64_t tsc = rte_rdtsc(), now = job->begin, copied = now, wake, longest = 0;

	while (wanted(l) == job && now < job->end) {
		wake = job->end;
		for (unsigned i = 0; i < job->tasks; i++) {
			uint64_t next = job->task[i]->poll(job->task[i], now);

			wake = RTE_MIN(wake, next);
		}
		if (++job->polls % PASSES_PER_COPY == 0 || (is_real && now - copied >= copy_each)) {
			publish(job, now);
			copied = now;
		}
		__atomic_store_n(&l->now, now, __ATOMIC_RELEASE);
		now += job->step;
		if (now < wake)
			now = wake;
		else if (wake != job->end)
			longest = RTE_MAX(longest, now - wake);
		if (is_real)
			keep_step(l, job, tsc, now);
	}
	job->longest_gap = longest;
	__atomic_store_n(&l->now, RTE_MIN(now, job->end), __ATOMIC_RELAXED);
}

static int
lcore_run(void *arg)
{
	struct fg_lcore *l = arg;
	struct fg_job *job;
	uint64_t finished = 0;
	long idle = REST_NS;

	while ((job = wanted(l)) != &job_quit) {
		/* control may free the job before, once it reads this */
		__atomic_store_n(&l->have, job, __ATOMIC_RELEASE);
		if (job == NULL || job->serial == finished) {
			/*
			 * control waits no longer than we have rested; and thousands of streams take long to
			 * compile
			 */
			rest(idle);
			idle = RTE_MIN(2 * idle, (long)LONG_REST_NS);
			continue;
		}
		idle = REST_NS;
		if (l->time == FG_TIME_TSC)
			run_tsc(l, job);
		else
			run_wire(l, job);
		publish(job, l->now);
		finished = job->serial;
		__atomic_store_n(&l->finished, finished, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&l->have, &job_quit, __ATOMIC_RELEASE);
	return 0;
}

int
fg_lcores_start(struct fg_lcore *lcores, unsigned n, struct fg_error *err)
{
	for (unsigned i = 0; i < n; i++) {
		if (rte_eal_remote_launch(lcore_run, &lcores[i], lcores[i].id) == 0)
			continue;
		fg_lcores_stop(lcores, i);
		return fg_error_set(err, EBUSY, "host.lcores", "lcore %u is already in use", lcores[i].id);
	}
	return 0;
}

void
fg_lcores_stop(struct fg_lcore *lcores, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__atomic_store_n(&lcores[i].want, &job_quit, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < n; i++)
		rte_eal_wait_lcore(lcores[i].id);
}

void
fg_lcores_give(struct fg_lcore *lcores, unsigned n, struct fg_job *jobs)
{
	for (unsigned i = 0; i < n; i++)
		__atomic_store_n(&lcores[i].want, jobs == NULL ? NULL : &jobs[i], __ATOMIC_RELEASE);
}

/* the lcores look at `want` every few microseconds, or after their rest */
void
fg_lcores_await(const struct fg_lcore *lcores, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		while (__atomic_load_n(&lcores[i].have, __ATOMIC_ACQUIRE) != lcores[i].want)
			rte_delay_us_sleep(20);
}

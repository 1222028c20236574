/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's loop. It runs the image that control wants until control wants another or the image reaches its
 * end, and hands every task the time.
 *
 * On real ports that is the TSC. On the wire the loop makes the time: each round goes to the earliest moment at
 * which a task has something to do, but by at least one step, so that a burst is worth its round. Running free,
 * that is all; in step with real time, the round waits until the wall clock is there too. If the processor is
 * taken away for a while, the wire's time stands still and then catches up, round by round, as if nothing had
 * happened.
 */
#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "engine_priv.h"
#include "fg_wire.h"

struct image image_quit;

enum { REST_NS = 50000, LONG_REST_NS = 1000000 };

static void
rest(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static inline struct image *
wanted(struct lcore *l)
{
	return atomic_load_explicit(&l->want, memory_order_acquire);
}

static void
publish(const struct image *image)
{
	for (unsigned i = 0; i < image->tasks; i++)
		if (image->task[i]->publish != NULL)
			image->task[i]->publish(image->task[i]);
}

static void
run_tsc(struct lcore *l, struct image *image)
{
	uint64_t now = rte_rdtsc(), last = now, rounds = 0, longest = 0;

	image->taken = now;
	while (wanted(l) == image && now < image->end) {
		for (unsigned k = 0; k < POLLS_PER_LOOK; k++) {
			for (unsigned i = 0; i < image->tasks; i++) {
				now = rte_rdtsc();
				image->task[i]->poll(image->task[i], now);
			}
			now = rte_rdtsc();
			longest = RTE_MAX(longest, now - last);
			last = now;
		}
		image->longest_gap = longest;
		image->polls += POLLS_PER_LOOK;
		if (++rounds % (ROUNDS_PER_COPY / POLLS_PER_LOOK) == 0) {
			publish(image);
			atomic_store_explicit(&l->now, now, memory_order_relaxed);
		}
		if (image->relaxed)
			rest(REST_NS);
	}
}

/* wait until real time has come as far as the wire's */
static void
keep_step(struct lcore *l, const struct image *image, uint64_t tsc, uint64_t now)
{
	uint64_t ps_per_tick_q32 = (uint64_t)((double)FG_WIRE_HZ / (double)rte_get_tsc_hz() * 0x1p32);
	uint64_t ticks = (uint64_t)(((fg_u128)(now - image->begin) << 32) / ps_per_tick_q32);

	while (rte_rdtsc() - tsc < ticks && wanted(l) == image)
		rte_pause();
}

/* a function of its own: tests/bench counts the instructions of what is in it */
static __rte_noinline void
run_wire(struct lcore *l, struct image *image)
{
	uint64_t tsc = rte_rdtsc(), now = image->begin, wake, longest = 0;

	while (wanted(l) == image && now < image->end) {
		wake = image->end;
		for (unsigned i = 0; i < image->tasks; i++) {
			uint64_t next = image->task[i]->poll(image->task[i], now);

			wake = RTE_MIN(wake, next);
		}
		if (++image->polls % ROUNDS_PER_COPY == 0)
			publish(image);
		atomic_store_explicit(&l->now, now, memory_order_relaxed);
		now += image->step;
		if (now < wake)
			now = wake;
		else if (wake != image->end)
			longest = RTE_MAX(longest, now - wake);
		if (l->time == FG_TIME_WIRE_REAL)
			keep_step(l, image, tsc, now);
	}
	image->longest_gap = longest;
	atomic_store_explicit(&l->now, RTE_MIN(now, image->end), memory_order_relaxed);
}

int
lcore_run(void *arg)
{
	struct lcore *l = arg;
	struct image *image;
	uint64_t finished = 0;
	long idle = REST_NS;

	while ((image = wanted(l)) != &image_quit) {
		/* control may free the image before, once it reads this */
		atomic_store_explicit(&l->have, image, memory_order_release);
		if (image == NULL || image->serial == finished) {
			/* who waits for us waits no longer than we have; and thousands of streams take long to compile */
			rest(idle);
			idle = RTE_MIN(2 * idle, (long)LONG_REST_NS);
			continue;
		}
		idle = REST_NS;
		if (l->time == FG_TIME_TSC)
			run_tsc(l, image);
		else
			run_wire(l, image);
		publish(image);
		finished = image->serial;
		atomic_store_explicit(&l->finished, finished, memory_order_release);
	}
	atomic_store_explicit(&l->have, &image_quit, memory_order_release);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast does the time stamp counter run? DPDK's answer may be rounded to 10 MHz, which is as much as 0.2 %
 * of a processor's 2.6 GHz: a rate that far from what was asked for, and a delay that much too long. So it
 * is measured here, against the clock that the kernel keeps on the same oscillator and that is never set:
 * both are read as close together as may be, now and at the beginning, and the quotient of what went by is
 * the frequency. The uncertainty of a pair is the time between two looks at the counter, around the look at
 * the clock; an interrupt between them only makes that pair a bad one, and the best of many is kept.
 */

#include <rte_cycles.h>

#include "fg_eal.h"
#include "fg_tsc.h"

enum { TRIES = 64 };

#define MIN_NS 100000000ULL

struct pair {
	uint64_t ticks, ns;
	uint64_t width; /* ticks: between the looks before and after */
};

static struct pair first;

static struct pair
tsc_look(void)
{
	struct pair best = {.width = UINT64_MAX};

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = rte_rdtsc_precise(), ns = fg_eal_now_ns(CLOCK_MONOTONIC_RAW),
			 width = rte_rdtsc_precise() - before;

		if (width < best.width)
			best = (struct pair){before + width / 2, ns, width};
	}
	return best;
}

void
fg_tsc_begin(void)
{
	if (first.width == 0)
		first = tsc_look();
}

void
fg_tsc_measure(struct fg_tsc *out)
{
	struct pair now;

	fg_tsc_begin();
	while (fg_eal_now_ns(CLOCK_MONOTONIC_RAW) - first.ns < MIN_NS)
		rte_delay_us_sleep(1000);
	now = tsc_look();
	*out = (struct fg_tsc){
		.hz = (double)(now.ticks - first.ticks) * 1e9 / (double)(now.ns - first.ns),
		.error_ppm = (double)(now.width + first.width) / 2 / (double)(now.ticks - first.ticks) * 1e6,
		.ticks = now.ticks,
		.clock_ns = now.ns,
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs a frame of many streams that cache lines of its stream are written, on this machine and with
 * nothing else in the way: a bound for a receiver, whatever it does with them. Stream after stream gets a
 * frame, as streams of one rate do; so a line has been used by all others since it was last written.
 *
 * Build it with optimisation; it prints cycles a frame of the time stamp counter, by processor time.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <x86intrin.h>

enum { LINE = 64, HUGE_PAGE = 1 << 21, BURST = 32, MOST = 4, RUNS = 7, FRAMES = 2000000 };

struct line {
	struct line *next; /* of the same stream */
	uint64_t frames, rest[6];
};

struct layout {
	const char *name;
	unsigned lines, apart; /* of a stream, and from one stream to the next */
	bool ahead;            /* all lines of a burst are asked for before the first is used */
};

/* where the lines of a stream lie that has several: its own, the tracker's, two of the histogram */
static const unsigned offset[MOST] = {0, 3, 29, 40};

static double
processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
ticks_per_ns(void)
{
	struct timespec begin, now;
	uint64_t ticks = __rdtsc();

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec == begin.tv_sec || now.tv_nsec < begin.tv_nsec);
	return (double)(__rdtsc() - ticks) /
	       ((double)(now.tv_sec - begin.tv_sec) * 1e9 + (double)(now.tv_nsec - begin.tv_nsec));
}

/* the rest of what is done for a frame: a number of steps; each waits for the one before */
static inline uint64_t
work(uint64_t x, unsigned steps)
{
	for (; steps > 0; steps--)
		__asm__ volatile("imul $3, %0, %0" : "+r"(x));
	return x;
}

/* a frame of each stream */
static uint64_t
lap(struct line *memory, unsigned streams, const struct layout *l, unsigned steps, uint64_t x)
{
	for (unsigned i = 0; i < streams; i += BURST) {
		unsigned end = i + BURST < streams ? i + BURST : streams;

		for (unsigned k = 0; l->ahead && k < l->lines; k++)
			for (unsigned j = i; j < end; j++)
				__builtin_prefetch(&memory[j * l->apart + offset[k]], 1);
		for (unsigned j = i; j < end; j++) {
			for (struct line *line = &memory[j * l->apart]; line != NULL; line = line->next)
				line->frames += x;
			x = work(x, steps);
		}
	}
	return x;
}

static int
compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

/* ns a frame */
static double
measure(unsigned streams, const struct layout *l, unsigned steps)
{
	size_t size = ((size_t)streams * l->apart * LINE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	struct line *memory = aligned_alloc(HUGE_PAGE, size);
	unsigned laps = FRAMES / streams + 1;
	double ns[RUNS];

	if (memory == NULL)
		exit(1);
	madvise(memory, size, MADV_HUGEPAGE);
	memset(memory, 0, size);
	for (unsigned i = 0; i < streams; i++)
		for (unsigned k = 0; k + 1 < l->lines; k++)
			memory[i * l->apart + offset[k]].next = &memory[i * l->apart + offset[k + 1]];
	for (unsigned r = 0; r < RUNS; r++) {
		double begin = processor_ns();

		for (unsigned n = 0; n < laps; n++)
			lap(memory, streams, l, steps, n);
		ns[r] = (processor_ns() - begin) / ((double)laps * streams);
	}
	free(memory);
	qsort(ns, RUNS, sizeof(ns[0]), compare);
	return ns[RUNS / 2];
}

int
main(void)
{
	static const struct layout layouts[] = {
		{"a line, side by side", 1, 1, false},
		{"4 lines", 4, 89, false},
		{"4 lines, asked for ahead", 4, 89, true},
	};
	static const unsigned streams[] = {BURST, 100, 300, 1000, 3000, 10000}, steps[] = {0, 20};
	double ticks = ticks_per_ns();

	for (unsigned w = 0; w < 2; w++) {
		printf("%-28s", w == 0 ? "nothing else, streams:" : "beside other work");
		for (unsigned i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
			printf("%8u", streams[i]);
		puts("");
		for (unsigned k = 0; k < sizeof(layouts) / sizeof(layouts[0]); k++) {
			printf("%-28s", layouts[k].name);
			for (unsigned i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
				printf("%8.1f", ticks * measure(streams[i], &layouts[k], steps[w]));
			puts("");
		}
	}
	return 0;
}

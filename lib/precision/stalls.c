/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "fg_stalls.h"

struct fg_stalls {
	struct fg_task task;
	uint64_t hz, shortest; /* ticks: below it is no stall */
	uint64_t first, last;  /* rounds, ticks */
	struct fg_stalls_result seen;
};

static uint64_t
in_ns(const struct fg_stalls *s, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e9 / (double)s->hz);
}

static __rte_noinline void
stalls_note(struct fg_stalls *s, uint64_t ticks)
{
	uint64_t ns = in_ns(s, ticks), bound = 10000;
	unsigned class = 0;

	while (class + 1 < FG_STALL_CLASSES && ns >= bound) {
		bound *= 10;
		class ++;
	}
	s->seen.stalls[class]++;
	s->seen.away_ns += ns;
	s->seen.longest_ns = RTE_MAX(s->seen.longest_ns, ns);
}

static uint64_t
stalls_poll(struct fg_task *task, uint64_t now)
{
	struct fg_stalls *s = (struct fg_stalls *)task;

	if (s->last == 0)
		s->first = now;
	else if (unlikely(now - s->last >= s->shortest))
		stalls_note(s, now - s->last);
	s->last = now;
	s->seen.rounds++;
	return now;
}

int
fg_stalls_create(uint64_t hz, struct fg_stalls **out, struct fg_error *err)
{
	struct fg_stalls *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return fg_error_set(err, ENOMEM, "stalls", "no memory");
	s->task.poll = stalls_poll;
	s->hz = hz;
	s->shortest = hz / 1000000;
	*out = s;
	return 0;
}

void
fg_stalls_free(struct fg_stalls *s)
{
	free(s);
}

struct fg_task *
fg_stalls_task(struct fg_stalls *s)
{
	return &s->task;
}

void
fg_stalls_read(const struct fg_stalls *s, struct fg_stalls_result *out)
{
	*out = s->seen;
	out->duration_ns = in_ns(s, s->last - s->first);
}

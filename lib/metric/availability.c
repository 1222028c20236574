/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ten-second rule. To which time a block belongs may be known only nine blocks later, so the sums of an
 * open run, blocks that speak against the present state, are kept apart: the run is over when a block agrees
 * with the state again, or when it is long enough to change it, and then they have been part of the new state
 * all along.
 */
#include <stddef.h>

#include "fg_availability.h"

static const struct fg_block nothing = {
	.delay_min = INT64_MAX, .delay_max = INT64_MIN, .delay_p999 = INT64_MIN};

static void
sum_up(struct fg_block *sum, const struct fg_block *one)
{
	sum->sent += one->sent;
	sum->received += one->received;
	if (one->received == 0)
		return;
	sum->delay_sum += one->delay_sum;
	sum->delay_min = one->delay_min < sum->delay_min ? one->delay_min : sum->delay_min;
	sum->delay_max = one->delay_max > sum->delay_max ? one->delay_max : sum->delay_max;
	sum->delay_p999 = one->delay_p999 > sum->delay_p999 ? one->delay_p999 : sum->delay_p999;
}

void
fg_availability_init(struct fg_availability *a)
{
	*a = (struct fg_availability){.open = nothing, .up = nothing};
}

/* the open run turns out to have belonged to this state */
static void
close_run(struct fg_availability *a, bool down)
{
	if (down)
		a->unavailable += a->run;
	else
		sum_up(&a->up, &a->open);
	a->run = 0;
	a->open = nothing;
}

void
fg_availability_add(struct fg_availability *a, const struct fg_block *block)
{
	/* copies and late counts apart, more cannot be received than was sent */
	uint64_t lost = block->sent > block->received ? block->sent - block->received : 0;
	bool severe = lost > block->sent / 2;

	if (block->sent == 0)
		return;
	a->blocks++;
	a->severely_errored += severe;
	if (severe == a->down) {
		close_run(a, a->down);
		if (a->down)
			a->unavailable++;
		else
			sum_up(&a->up, block);
		return;
	}
	a->run++;
	sum_up(&a->open, block);
	if (a->run == FG_AVAILABILITY_RUN) {
		a->down = severe;
		close_run(a, a->down);
	}
}

void
fg_availability_read(const struct fg_availability *a, struct fg_availability_counts *out)
{
	struct fg_availability end = *a;

	close_run(&end, end.down);
	*out = (struct fg_availability_counts){
		.blocks = end.blocks,
		.severely_errored = end.severely_errored,
		.unavailable = end.unavailable,
		.percent = end.blocks == 0
				   ? 100
				   : 100 * (double)(end.blocks - end.unavailable) / (double)end.blocks,
		.available = end.up,
	};
	if (end.up.received == 0)
		out->available.delay_min = out->available.delay_max = out->available.delay_p999 = 0;
}

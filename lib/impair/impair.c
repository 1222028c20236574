/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to which frame. Every kind of impairment sees every frame, also those that another kind has chosen:
 * "every tenth is corrupted" is so whatever else is configured, and counts can be foretold.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "impair_priv.h"

enum { MOST_BITS = 64, MOST_PLACES = 65535, MOST_PATTERN = 64 };
static const double MOST_NS = 1e12; /* kept: a quarter of an hour */

static int
refuse(struct fg_error *err, const char *where, const char *key, double value, const char *expected)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", where, key);
	return fg_error_set(err, EINVAL, name, "%g is not %s", value, expected);
}

static int
check_chances(const struct fg_impair_config *c, const char *where, struct fg_error *err)
{
	const struct {
		const char *key;
		double value;
	} chances[] = {
		{"loss_random", c->loss.random},           {"loss_bursts.begin", c->burst_begin},
		{"loss_bursts.end", c->burst_end},         {"loss_bursts.loss", c->burst_loss},
		{"loss_bursts.between", c->burst_between}, {"reorder.random", c->reorder.random},
		{"duplicate.random", c->duplicate.random}, {"corrupt.random", c->corrupt.random},
	};

	for (unsigned i = 0; i < sizeof(chances) / sizeof(*chances); i++)
		if (!(chances[i].value >= 0 && chances[i].value <= 1))
			return refuse(err, where, chances[i].key, chances[i].value, "in 0 to 1");
	return 0;
}

static int
check_times(const struct fg_impair_config *c, const char *where, struct fg_error *err)
{
	const struct {
		const char *key;
		double value;
	} times[] = {
		{"jitter.mean", c->jitter_mean_ns},  {"jitter.deviation", c->jitter_deviation_ns},
		{"jitter.max", c->jitter_max_ns},    {"reorder.late", c->reorder_ns},
		{"duplicate.late", c->duplicate_ns},
	};

	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!(times[i].value >= 0 && times[i].value <= MOST_NS))
			return refuse(err, where, times[i].key, times[i].value, "in 0 to 1e12 ns");
	return 0;
}

static int
check_config(const struct fg_impair_config *c, const char *where, struct fg_error *err)
{
	int rc = check_chances(c, where, err);

	if (rc == 0)
		rc = check_times(c, where, err);
	if (rc != 0)
		return rc;
	if (c->loss.every > 0 && c->loss_run > c->loss.every)
		return refuse(err, where, "loss_run", c->loss_run, "at most loss_every");
	if (c->loss_pattern_length > MOST_PATTERN)
		return refuse(err, where, "loss_pattern", c->loss_pattern_length, "at most 64 frames");
	if (c->jitter_mean_ns > 0 && c->jitter == FG_JITTER_PARETO && !(c->jitter_shape > 1))
		return refuse(err, where, "jitter.shape", c->jitter_shape, "above 1");
	if (c->reorder_places > MOST_PLACES)
		return refuse(err, where, "reorder.by", c->reorder_places, "at most 65535");
	if ((c->reorder.every > 0 || c->reorder.random > 0) && c->reorder_ns == 0)
		return refuse(err, where, "reorder.late", 0, "a time to wait");
	if (c->corrupt_bits > MOST_BITS)
		return refuse(err, where, "corrupt.bits", c->corrupt_bits, "at most 64");
	return 0;
}

static struct fg_dice
dice(const struct fg_chance *chance)
{
	return (struct fg_dice){.every = chance->every, .below = impair_below(chance->random)};
}

static bool
can_strike(const struct fg_dice *d)
{
	return d->every > 0 || d->below > 0;
}

/* where the plan does not cut them: what comes beyond is rarer than one in a million, but for the Pareto tail */
static double
longest_jitter_ns(const struct fg_impair_config *c)
{
	if (c->jitter_mean_ns == 0)
		return 0;
	if (c->jitter_max_ns > 0)
		return c->jitter_max_ns;
	switch (c->jitter) {
	case FG_JITTER_UNIFORM:
		return 2 * c->jitter_mean_ns;
	case FG_JITTER_NORMAL:
		return c->jitter_mean_ns + 6 * c->jitter_deviation_ns;
	default:
		return 20 * c->jitter_mean_ns;
	}
}

int
fg_impair_init(struct fg_impair *im, const struct fg_impair_config *c, uint64_t hz, const char *where,
	       struct fg_error *err)
{
	double ticks = (double)hz / 1e9;
	int rc = check_config(c, where, err);

	if (rc != 0)
		return rc;
	*im = (struct fg_impair){
		.loss = dice(&c->loss),
		.reorder = dice(&c->reorder),
		.duplicate = dice(&c->duplicate),
		.corrupt = dice(&c->corrupt),
		.loss_run = c->loss_run == 0 ? 1 : c->loss_run,
		.pattern = c->loss_pattern,
		.pattern_length = c->loss_pattern_length,
		.burst_begin = impair_below(c->burst_begin),
		.burst_end = impair_below(c->burst_end),
		.burst_loss = impair_below(c->burst_loss),
		.burst_between = impair_below(c->burst_between),
		.jitter = c->jitter,
		.mean = c->jitter_mean_ns * ticks,
		.deviation = c->jitter_deviation_ns * ticks,
		.shape = c->jitter_shape,
		.max = longest_jitter_ns(c) * ticks,
		.jitter_reorders = c->jitter_reorders,
		.places = c->reorder_places,
		.late = (uint64_t)(c->reorder_ns * ticks),
		.copy_after = (uint64_t)(c->duplicate_ns * ticks),
		.bits = c->corrupt_bits == 0 ? 1 : c->corrupt_bits,
		.skip = c->corrupt_skip,
		.spare = c->corrupt_spare,
	};
	im->loses = can_strike(&im->loss) || im->pattern_length > 0 || im->burst_begin > 0 ||
		    im->burst_between > 0;
	im->alters = im->mean > 0 || can_strike(&im->reorder) || can_strike(&im->duplicate) ||
		     can_strike(&im->corrupt);
	fg_impair_reset(im, 0);
	return 0;
}

static void
restart(struct fg_dice *d, uint64_t random)
{
	d->count = 0;
	d->random = random;
}

void
fg_impair_reset(struct fg_impair *im, uint64_t seed)
{
	uint64_t seeds = seed;

	restart(&im->loss, seed);
	restart(&im->burst, next_random(&seeds));
	restart(&im->reorder, next_random(&seeds));
	restart(&im->duplicate, next_random(&seeds));
	restart(&im->corrupt, next_random(&seeds));
	im->jitter_random = next_random(&seeds);
	im->corrupt_random = next_random(&seeds);
	im->pattern_next = 0;
	im->bad = false;
	im->last = 0;
}

/* the last @p run frames of every n, and what the random number says */
static inline bool
strikes(struct fg_dice *d, uint64_t run)
{
	bool yes = false;

	if (d->every > 0) {
		yes = d->count >= d->every - run;
		d->count = d->count + 1 == d->every ? 0 : d->count + 1;
	}
	if (d->below > 0)
		yes |= next_random(&d->random) < d->below;
	return yes;
}

/* the state of a frame is known before its loss, and changes before the next */
static bool
lost_in_burst(struct fg_impair *im)
{
	uint64_t *random = &im->burst.random;

	if (im->bad)
		im->bad = next_random(random) >= im->burst_end;
	else
		im->bad = next_random(random) < im->burst_begin;
	return next_random(random) < (im->bad ? im->burst_loss : im->burst_between);
}

bool
fg_impair_lost(struct fg_impair *im)
{
	bool lost = strikes(&im->loss, im->loss_run);

	if (im->pattern_length > 0) {
		lost |= im->pattern >> im->pattern_next & 1;
		im->pattern_next = (im->pattern_next + 1) % im->pattern_length;
	}
	if (im->burst_begin > 0 || im->burst_between > 0)
		lost |= lost_in_burst(im);
	return lost;
}

void
fg_impair_decide(struct fg_impair *im, uint64_t time, struct fg_fate *fate)
{
	if (im->mean > 0) {
		time += impair_jitter(im);
		if (!im->jitter_reorders && time < im->last)
			time = im->last;
		im->last = time;
	}
	fate->places = 0;
	if (strikes(&im->reorder, 1)) {
		fate->places = im->places;
		time += im->late;
	}
	fate->time = time;
	fate->copy_time = time + im->copy_after;
	fate->duplicate = strikes(&im->duplicate, 1);
	fate->corrupt = strikes(&im->corrupt, 1);
}

/* a random place that is not yet among the first @p n */
static uint64_t
another_bit(uint64_t *random, uint64_t of, const uint64_t *taken, unsigned n)
{
	for (;;) {
		uint64_t bit = next_random(random) % of;
		unsigned i = 0;

		while (i < n && taken[i] != bit)
			i++;
		if (i == n)
			return bit;
	}
}

bool
fg_impair_corrupt(struct fg_impair *im, uint8_t *frame, uint32_t length)
{
	uint64_t taken[MOST_BITS], of;

	if (length <= (uint64_t)im->skip + im->spare)
		return false;
	of = 8 * (uint64_t)(length - im->skip - im->spare);
	for (unsigned i = 0; i < im->bits && i < of; i++) {
		taken[i] = another_bit(&im->corrupt_random, of, taken, i);
		frame[im->skip + taken[i] / 8] ^= (uint8_t)(1 << taken[i] % 8);
	}
	return true;
}

static double
share(const struct fg_chance *chance)
{
	return (chance->every > 0 ? 1.0 / (double)chance->every : 0) + chance->random;
}

double
fg_impair_kept(const struct fg_impair_config *c, double fps)
{
	return fps * 1e-9 * (longest_jitter_ns(c) + fmin(1, share(&c->reorder)) * c->reorder_ns);
}

double
fg_impair_copied(const struct fg_impair_config *c)
{
	return fmin(2, share(&c->duplicate) + share(&c->corrupt));
}

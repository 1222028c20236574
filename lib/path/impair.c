/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to which frame. Every kind of impairment sees every frame, also frames chosen by another kind:
 * "every tenth is corrupted" holds with any other impairment, and counts can be predicted.
 *
 * An impairment that changes bytes is a row of actions[] and a function.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fg_class.h"
#include "path_priv.h"

enum { ECN_CE = 3, MAX_BITS = 64, MAX_PLACES = 65535, MAX_PATTERN = 64 };
static const double MAX_NS = 1e12; /* kept: a quarter of an hour */

/*
 * Outputs of the generator that the seed of a reset starts, each the seed of one use. Append only: another
 * number would change the frames that a known seed chooses.
 */
enum {
	SEED_BURST,
	SEED_REORDER,
	SEED_DUPLICATE,
	SEED_CORRUPT,
	SEED_JITTER,
	SEED_CORRUPT_BITS,
	SEED_CE,
	SEED_BLEACH
};

/* a random place that is not yet among the first @p n */
static uint64_t
another_bit(uint64_t *random, uint64_t of, const uint64_t *taken, unsigned n)
{
	for (;;) {
		uint64_t bit = fg_random_next(random) % of;
		unsigned i = 0;

		while (i < n && taken[i] != bit)
			i++;
		if (i == n)
			return bit;
	}
}

static uint32_t
corrupt(const struct fg_impair_config *c, uint64_t *random, uint8_t *frame, uint32_t length,
	struct fg_path_counters *counters)
{
	uint64_t taken[MAX_BITS], of;
	unsigned bits = c->corrupt_bits == 0 ? 1 : c->corrupt_bits;

	if (length <= (uint64_t)c->corrupt_skip + c->corrupt_spare)
		return length;
	of = 8 * (uint64_t)(length - c->corrupt_skip - c->corrupt_spare);
	for (unsigned i = 0; i < bits && i < of; i++) {
		taken[i] = another_bit(random, of, taken, i);
		frame[c->corrupt_skip + taken[i] / 8] ^= (uint8_t)(1 << taken[i] % 8);
	}
	counters->corrupted++;
	return length;
}

/* @return whether the packet was ECN-capable and its code point changed */
static bool
set_ecn(uint8_t *frame, uint32_t length, unsigned value)
{
	unsigned ecn = fg_class_read(frame, length).ecn;

	if (ecn == 0 || ecn == value)
		return false;
	fg_class_mark(frame, length, FG_MARK_ECN, value);
	return true;
}

static uint32_t
mark_ce(const struct fg_impair_config *c, uint64_t *random, uint8_t *frame, uint32_t length,
	struct fg_path_counters *counters)
{
	counters->ce_marked += set_ecn(frame, length, ECN_CE);
	return length;
}

static uint32_t
bleach(const struct fg_impair_config *c, uint64_t *random, uint8_t *frame, uint32_t length,
       struct fg_path_counters *counters)
{
	counters->bleached += set_ecn(frame, length, 0);
	return length;
}

static const struct action {
	const char *key;                 /* in the plan */
	size_t trigger;                  /* in the configuration */
	unsigned trigger_seed, own_seed; /* draws for the trigger, for the change */
	/** @return bytes that are left */
	uint32_t (*change)(const struct fg_impair_config *config, uint64_t *random, uint8_t *frame,
			   uint32_t length, struct fg_path_counters *counters);
} actions[FG_IMPAIR_ACTIONS] = {
	[FG_IMPAIR_CORRUPT] = {"corrupt.random", offsetof(struct fg_impair_config, corrupt), SEED_CORRUPT,
			       SEED_CORRUPT_BITS, corrupt},
	[FG_IMPAIR_CE] = {"mark_ce.random", offsetof(struct fg_impair_config, mark_ce), SEED_CE, SEED_CE,
			  mark_ce},
	[FG_IMPAIR_BLEACH] = {"bleach.random", offsetof(struct fg_impair_config, bleach), SEED_BLEACH,
			      SEED_BLEACH, bleach},
};

static const struct fg_trigger *
trigger_of(const struct fg_impair_config *c, unsigned action)
{
	return (const struct fg_trigger *)((const char *)c + actions[action].trigger);
}

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
		{"duplicate.random", c->duplicate.random},
	};

	for (unsigned i = 0; i < sizeof(chances) / sizeof(*chances); i++)
		if (!(chances[i].value >= 0 && chances[i].value <= 1))
			return refuse(err, where, chances[i].key, chances[i].value, "in 0 to 1");
	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++) {
		double random = trigger_of(c, i)->random;

		if (!(random >= 0 && random <= 1))
			return refuse(err, where, actions[i].key, random, "in 0 to 1");
	}
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
		if (!(times[i].value >= 0 && times[i].value <= MAX_NS))
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
	if (c->loss_pattern_length > MAX_PATTERN)
		return refuse(err, where, "loss_pattern", c->loss_pattern_length, "at most 64 frames");
	if (c->jitter_mean_ns > 0 && c->jitter == FG_JITTER_PARETO && !(c->jitter_shape > 1))
		return refuse(err, where, "jitter.shape", c->jitter_shape, "above 1");
	if (c->reorder_places > MAX_PLACES)
		return refuse(err, where, "reorder.by", c->reorder_places, "at most 65535");
	if ((c->reorder.every > 0 || c->reorder.random > 0) && c->reorder_ns == 0)
		return refuse(err, where, "reorder.late", 0, "a time to wait");
	if (c->corrupt_bits > MAX_BITS)
		return refuse(err, where, "corrupt.bits", c->corrupt_bits, "at most 64");
	return 0;
}

/*
 * default limits: larger values are rarer than one in a million, except in the Pareto tail
 */
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
		.config = *c,
		.loss = fg_trigger_start(&c->loss, 0),
		.reorder = fg_trigger_start(&c->reorder, 0),
		.duplicate = fg_trigger_start(&c->duplicate, 0),
		.burst_begin = fg_random_limit(c->burst_begin),
		.burst_end = fg_random_limit(c->burst_end),
		.burst_loss = fg_random_limit(c->burst_loss),
		.burst_between = fg_random_limit(c->burst_between),
		.mean = round(c->jitter_mean_ns * ticks),
		.deviation = c->jitter_deviation_ns * ticks,
		.max = round(longest_jitter_ns(c) * ticks),
		.late = (uint64_t)llround(c->reorder_ns * ticks),
		.copy_after = (uint64_t)llround(c->duplicate_ns * ticks),
	};
	if (c->loss_run == 0)
		im->config.loss_run = 1;
	im->loses = fg_trigger_is_set(&c->loss) || c->loss_pattern_length > 0 || im->burst_begin > 0 ||
		    im->burst_between > 0;
	im->alters = im->mean > 0 || fg_trigger_is_set(&c->reorder) || fg_trigger_is_set(&c->duplicate);
	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++) {
		im->action[i] = fg_trigger_start(trigger_of(c, i), 0);
		im->alters |= fg_trigger_is_set(trigger_of(c, i));
	}
	fg_impair_reset(im, 0);
	return 0;
}

static void
restart(struct fg_trigger_state *d, uint64_t random)
{
	d->count = 0;
	d->random = random;
}

void
fg_impair_reset(struct fg_impair *im, uint64_t seed)
{
	restart(&im->loss, seed);
	restart(&im->burst, fg_random_at(seed, SEED_BURST));
	restart(&im->reorder, fg_random_at(seed, SEED_REORDER));
	restart(&im->duplicate, fg_random_at(seed, SEED_DUPLICATE));
	im->jitter_random = fg_random_at(seed, SEED_JITTER);
	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++) {
		restart(&im->action[i], fg_random_at(seed, actions[i].trigger_seed));
		im->action_random[i] = fg_random_at(seed, actions[i].own_seed);
	}
	im->pattern_next = 0;
	im->bad = false;
	im->last = 0;
}

/* the state of a frame is known before its loss, and changes before the next */
static bool
lost_in_burst(struct fg_impair *im)
{
	uint64_t *random = &im->burst.random;

	if (im->bad)
		im->bad = fg_random_next(random) >= im->burst_end;
	else
		im->bad = fg_random_next(random) < im->burst_begin;
	return fg_random_next(random) < (im->bad ? im->burst_loss : im->burst_between);
}

bool
fg_impair_lost(struct fg_impair *im)
{
	bool lost = fg_trigger_fires(&im->loss, im->config.loss_run);

	if (im->config.loss_pattern_length > 0) {
		lost |= im->config.loss_pattern >> im->pattern_next & 1;
		im->pattern_next = (im->pattern_next + 1) % im->config.loss_pattern_length;
	}
	if (im->burst_begin > 0 || im->burst_between > 0)
		lost |= lost_in_burst(im);
	return lost;
}

void
fg_impair_decide(struct fg_impair *im, uint64_t time, struct fg_verdict *verdict)
{
	if (im->mean > 0) {
		time += impair_jitter(im);
		if (!im->config.jitter_reorders && time < im->last)
			time = im->last;
		im->last = time;
	}
	verdict->places = 0;
	if (fg_trigger_fires(&im->reorder, 1)) {
		verdict->places = im->config.reorder_places;
		time += im->late;
	}
	verdict->time = time;
	verdict->copy_time = time + im->copy_after;
	verdict->duplicate = fg_trigger_fires(&im->duplicate, 1);
	verdict->actions = 0;
	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++)
		verdict->actions |= (uint32_t)fg_trigger_fires(&im->action[i], 1) << i;
}

uint32_t
fg_impair_change(struct fg_impair *im, uint32_t which, uint8_t *frame, uint32_t length,
		 struct fg_path_counters *counters)
{
	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++)
		if (which >> i & 1)
			length = actions[i].change(&im->config, &im->action_random[i], frame, length,
						   counters);
	return length;
}

double
fg_impair_kept(const struct fg_impair_config *c, double fps)
{
	return fps * 1e-9 * (longest_jitter_ns(c) + fmin(1, fg_trigger_share(&c->reorder)) * c->reorder_ns);
}

double
fg_impair_copied(const struct fg_impair_config *c)
{
	double copied = fg_trigger_share(&c->duplicate);

	for (unsigned i = 0; i < FG_IMPAIR_ACTIONS; i++)
		copied += fg_trigger_share(trigger_of(c, i));
	return fmin(2, copied);
}

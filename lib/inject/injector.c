/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frame departs next. Every kind of error sees every number, in order, also the numbers that another
 * kind has chosen: "every seventh is dropped" is true whatever else is configured. A delayed number waits in
 * a ring. All numbers of one kind wait for equally many departures, so the ring is in the order of departure.
 * When a ring is full, frames depart on time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fg_inject.h"

enum { LATE_KINDS = 2 }; /* FG_INJECT_REORDER, FG_INJECT_DELAY */

/* one kind of error, and when it is injected */
struct rule {
	struct fg_trigger_state trigger;
	uint64_t run;
	uint64_t left; /* of a run at random */
	uint64_t limit;
	uint32_t kind; /* bit */
};

struct waiting {
	uint64_t number, until; /* the departure that it makes */
	uint32_t kinds;
};

struct ring {
	struct waiting *frame;
	uint64_t places, size, head, tail;
};

struct fg_injector {
	struct rule rule[FG_INJECT_KINDS];
	unsigned active;
	uint64_t number; /* the next to be looked at */
	uint64_t departures, right;
	struct ring ring[LATE_KINDS];
	bool repeat; /* the frame before departs again */
	uint64_t repeated;
	uint32_t repeated_kinds;
};

static const char *const names[FG_INJECT_KINDS] = {
	"skip",      "duplicate", "reorder", "delay", "ip_checksum", "l4_checksum",
	"ip_length", "l4_length", "payload", "fcs",   "runt",        "oversize",
};

static int
refuse_kind(struct fg_error *err, const char *where, unsigned kind, const char *what)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", where, names[kind]);
	return fg_error_set(err, EINVAL, name, "%s", what);
}

static int
check(const struct fg_inject_rule *c, const char *where, unsigned kind, struct fg_error *err)
{
	if (!(c->trigger.random >= 0 && c->trigger.random <= 1))
		return refuse_kind(err, where, kind, "a probability is not in 0 to 1");
	if (c->trigger.every > 0 && c->run > c->trigger.every)
		return refuse_kind(err, where, kind, "a longer run than frames from one to the next");
	if (c->run > FG_INJECT_MAX_RUN)
		return refuse_kind(err, where, kind, "more than 1024 in a row");
	if (kind == FG_INJECT_SKIP && (c->trigger.every == 1 || c->run == c->trigger.every) &&
	    c->trigger.every > 0 && c->limit == 0)
		return refuse_kind(err, where, kind, "leaves no frame");
	if (kind == FG_INJECT_SKIP && c->trigger.random > 0.5)
		return refuse_kind(err, where, kind, "drops more than half of the frames at random");
	if (c->places > FG_INJECT_MAX_PLACES)
		return refuse_kind(err, where, kind, "more than 1024 places late");
	return 0;
}

static int
add(struct fg_injector *f, const struct fg_inject_rule *c, unsigned kind, uint64_t seed, struct fg_error *err)
{
	struct rule *rule = &f->rule[f->active];

	if (!fg_trigger_is_set(&c->trigger))
		return 0;
	*rule = (struct rule){
		.trigger = fg_trigger_start(&c->trigger, seed),
		.run = c->run == 0 ? 1 : c->run,
		.limit = c->limit == 0 ? UINT64_MAX : c->limit,
		.kind = 1U << kind,
	};
	f->active++;
	if (kind == FG_INJECT_REORDER || kind == FG_INJECT_DELAY) {
		struct ring *ring = &f->ring[kind - FG_INJECT_REORDER];

		ring->places = c->places == 0 ? 1 : c->places;
		ring->size = ring->places + rule->run;
		ring->frame = calloc(ring->size, sizeof(*ring->frame));
		if (ring->frame == NULL)
			return fg_error_set(err, ENOMEM, names[kind], "no memory");
	}
	return 0;
}

int
fg_injector_create(const struct fg_inject_config *c, const char *where, struct fg_injector **out,
		   struct fg_error *err)
{
	struct fg_injector *f = calloc(1, sizeof(*f));
	uint64_t seeds = c->seed;
	int rc = f == NULL ? fg_error_set(err, ENOMEM, where, "no memory") : 0;

	for (unsigned kind = 0; kind < FG_INJECT_KINDS && rc == 0; kind++) {
		rc = check(&c->rule[kind], where, kind, err);
		if (rc == 0)
			rc = add(f, &c->rule[kind], kind, fg_random_next(&seeds), err);
	}
	if (rc != 0) {
		fg_injector_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

void
fg_injector_free(struct fg_injector *f)
{
	if (f == NULL)
		return;
	for (unsigned i = 0; i < LATE_KINDS; i++)
		free(f->ring[i].frame);
	free(f);
}

static bool
is_injected(struct rule *r)
{
	bool yes = fg_trigger_counts(&r->trigger, r->run);

	if (r->left > 0) {
		r->left--;
		yes = true;
	} else if (fg_trigger_draws(&r->trigger)) {
		r->left = r->run - 1;
		yes = true;
	}
	if (!yes || r->limit == 0)
		return false;
	r->limit--;
	return true;
}

/* what happens to the next number */
static uint32_t
look_at_next(struct fg_injector *f)
{
	uint32_t kinds = 0;

	for (unsigned i = 0; i < f->active; i++)
		kinds |= is_injected(&f->rule[i]) ? f->rule[i].kind : 0;
	/* a runt has no other field left to make wrong */
	if (kinds & 1U << FG_INJECT_RUNT)
		kinds &= ~FG_INJECT_MALFORMED | 1U << FG_INJECT_RUNT | 1U << FG_INJECT_FCS;
	f->number++;
	return kinds;
}

static bool
wait_for_later(struct fg_injector *f, uint32_t *kinds)
{
	for (unsigned i = 0; i < LATE_KINDS; i++) {
		struct ring *ring = &f->ring[i];

		if ((*kinds & 1U << (FG_INJECT_REORDER + i)) == 0)
			continue;
		if (ring->head - ring->tail < ring->size) {
			*kinds &= ~(1U << (FG_INJECT_REORDER + (1 - i))); /* one way of being late */
			ring->frame[ring->head++ % ring->size] =
				(struct waiting){f->number - 1, f->departures + ring->places, *kinds};
			return true;
		}
		*kinds &= ~(1U << (FG_INJECT_REORDER + i));
	}
	return false;
}

/* a frame that has waited long enough */
static bool
waited(struct fg_injector *f, struct waiting *out)
{
	for (unsigned i = 0; i < LATE_KINDS; i++) {
		struct ring *ring = &f->ring[i];

		if (ring->head != ring->tail && ring->frame[ring->tail % ring->size].until <= f->departures) {
			*out = ring->frame[ring->tail++ % ring->size];
			return true;
		}
	}
	return false;
}

static uint64_t
next_on_time(struct fg_injector *f, struct waiting *out)
{
	uint64_t skipped = 0;

	for (;;) {
		uint32_t kinds = look_at_next(f);

		if (kinds & 1U << FG_INJECT_SKIP) {
			skipped++;
		} else if (!wait_for_later(f, &kinds)) {
			*out = (struct waiting){.number = f->number - 1, .kinds = kinds};
			return skipped;
		}
	}
}

void
fg_injector_next(struct fg_injector *f, struct fg_departure *out)
{
	const uint32_t again = 1U << FG_INJECT_DUPLICATE;
	struct waiting frame = {.number = f->repeated, .kinds = f->repeated_kinds | again};

	out->skipped = 0;
	if (f->repeat) {
		f->repeat = false;
	} else {
		if (!waited(f, &frame))
			out->skipped = next_on_time(f, &frame);
		f->repeat = (frame.kinds & again) != 0;
		f->repeated = frame.number;
		f->repeated_kinds = frame.kinds & FG_INJECT_MALFORMED;
		frame.kinds &= ~again;
	}
	out->number = frame.number;
	out->kinds = frame.kinds;
	out->rank = f->right;
	f->right += (frame.kinds & FG_INJECT_MALFORMED) == 0;
	f->departures++;
}

uint64_t
fg_injector_reach(const struct fg_injector *f)
{
	return f->number;
}

uint64_t
fg_injector_patience(const struct fg_injector *f)
{
	/* its own time, and the time of all that may be due together, each perhaps twice */
	return 2 * (f->ring[0].size + f->ring[1].size) + f->ring[0].places + f->ring[1].places + 2;
}

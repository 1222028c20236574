/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frame departs next. Every kind of fault sees every number, in their order, also those that another kind has
 * chosen: "every seventh is left out" is so whatever else is configured. A number that is to be late waits in a ring;
 * all of one kind wait for equally many departures, so the ring is in the order in which they go. Where more would wait
 * than a ring has room for, frames go on time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fg_fault.h"
#include "impair_priv.h"

enum { LATE_KINDS = 2 }; /* FG_FAULT_REORDER, FG_FAULT_DELAY */

/* when one kind strikes */
struct strikes {
	uint64_t every, count, run;
	uint64_t below, random;
	uint64_t left; /* of a run at random */
	uint64_t most;
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

struct fg_faults {
	struct strikes strikes[FG_FAULTS];
	unsigned active;
	uint64_t number; /* the next to be looked at */
	uint64_t departures, right;
	struct ring ring[LATE_KINDS];
	bool repeat; /* the frame before departs again */
	uint64_t repeated;
	uint32_t repeated_kinds;
};

static const char *const names[FG_FAULTS] = {
	"skip",      "duplicate", "reorder", "delay", "ip_checksum", "l4_checksum",
	"ip_length", "l4_length", "payload", "fcs",   "runt",        "oversize",
};

static int
refuse(struct fg_error *err, const char *where, unsigned kind, const char *what)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", where, names[kind]);
	return fg_error_set(err, EINVAL, name, "%s", what);
}

static int
check(const struct fg_fault_config *c, const char *where, unsigned kind, struct fg_error *err)
{
	if (!(c->chance.random >= 0 && c->chance.random <= 1))
		return refuse(err, where, kind, "a probability is not in 0 to 1");
	if (c->chance.every > 0 && c->run > c->chance.every)
		return refuse(err, where, kind, "a longer run than frames from one to the next");
	if (c->run > FG_FAULT_MOST_RUN)
		return refuse(err, where, kind, "more than 1024 in a row");
	if (kind == FG_FAULT_SKIP && (c->chance.every == 1 || c->run == c->chance.every) &&
	    c->chance.every > 0 && c->most == 0)
		return refuse(err, where, kind, "leaves no frame");
	if (kind == FG_FAULT_SKIP && c->chance.random > 0.5)
		return refuse(err, where, kind, "leaves out more than half of the frames at random");
	if (c->places > FG_FAULT_MOST_PLACES)
		return refuse(err, where, kind, "more than 1024 places late");
	return 0;
}

static int
add(struct fg_faults *f, const struct fg_fault_config *c, unsigned kind, uint64_t random,
    struct fg_error *err)
{
	struct strikes *s = &f->strikes[f->active];

	*s = (struct strikes){
		.every = c->chance.every,
		.below = impair_below(c->chance.random),
		.run = c->run == 0 ? 1 : c->run,
		.random = random,
		.most = c->most == 0 ? UINT64_MAX : c->most,
		.kind = 1U << kind,
	};
	if (s->every == 0 && s->below == 0)
		return 0;
	f->active++;
	if (kind == FG_FAULT_REORDER || kind == FG_FAULT_DELAY) {
		struct ring *ring = &f->ring[kind - FG_FAULT_REORDER];

		ring->places = c->places == 0 ? 1 : c->places;
		ring->size = ring->places + s->run;
		ring->frame = calloc(ring->size, sizeof(*ring->frame));
		if (ring->frame == NULL)
			return fg_error_set(err, ENOMEM, names[kind], "no memory");
	}
	return 0;
}

int
fg_faults_create(const struct fg_faults_config *c, const char *where, struct fg_faults **out,
		 struct fg_error *err)
{
	struct fg_faults *f = calloc(1, sizeof(*f));
	uint64_t seeds = c->seed;
	int rc = f == NULL ? fg_error_set(err, ENOMEM, where, "no memory") : 0;

	for (unsigned kind = 0; kind < FG_FAULTS && rc == 0; kind++) {
		rc = check(&c->fault[kind], where, kind, err);
		if (rc == 0)
			rc = add(f, &c->fault[kind], kind, next_random(&seeds), err);
	}
	if (rc != 0) {
		fg_faults_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

void
fg_faults_free(struct fg_faults *f)
{
	if (f == NULL)
		return;
	for (unsigned i = 0; i < LATE_KINDS; i++)
		free(f->ring[i].frame);
	free(f);
}

static bool
happens(struct strikes *s)
{
	bool yes = false;

	if (s->every > 0) {
		yes = s->count >= s->every - s->run;
		s->count = s->count + 1 == s->every ? 0 : s->count + 1;
	}
	if (s->below > 0 && s->left > 0) {
		s->left--;
		yes = true;
	} else if (s->below > 0 && next_random(&s->random) < s->below) {
		s->left = s->run - 1;
		yes = true;
	}
	if (!yes || s->most == 0)
		return false;
	s->most--;
	return true;
}

/* what happens to the next number */
static uint32_t
look_at_next(struct fg_faults *f)
{
	uint32_t kinds = 0;

	for (unsigned i = 0; i < f->active; i++)
		kinds |= happens(&f->strikes[i]) ? f->strikes[i].kind : 0;
	/* of a runt, nothing is left that could be wrong besides */
	if (kinds & 1U << FG_FAULT_RUNT)
		kinds &= ~FG_FAULTS_WRONG | 1U << FG_FAULT_RUNT | 1U << FG_FAULT_FCS;
	f->number++;
	return kinds;
}

static bool
wait_for_later(struct fg_faults *f, uint32_t *kinds)
{
	for (unsigned i = 0; i < LATE_KINDS; i++) {
		struct ring *ring = &f->ring[i];

		if ((*kinds & 1U << (FG_FAULT_REORDER + i)) == 0)
			continue;
		if (ring->head - ring->tail < ring->size) {
			*kinds &= ~(1U << (FG_FAULT_REORDER + (1 - i))); /* one way of being late */
			ring->frame[ring->head++ % ring->size] =
				(struct waiting){f->number - 1, f->departures + ring->places, *kinds};
			return true;
		}
		*kinds &= ~(1U << (FG_FAULT_REORDER + i));
	}
	return false;
}

/* a frame that has waited long enough */
static bool
waited(struct fg_faults *f, struct waiting *out)
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
next_on_time(struct fg_faults *f, struct waiting *out)
{
	uint64_t skipped = 0;

	for (;;) {
		uint32_t kinds = look_at_next(f);

		if (kinds & 1U << FG_FAULT_SKIP) {
			skipped++;
		} else if (!wait_for_later(f, &kinds)) {
			*out = (struct waiting){.number = f->number - 1, .kinds = kinds};
			return skipped;
		}
	}
}

void
fg_faults_next(struct fg_faults *f, struct fg_departure *out)
{
	const uint32_t again = 1U << FG_FAULT_DUPLICATE;
	struct waiting frame = {.number = f->repeated, .kinds = f->repeated_kinds | again};

	out->skipped = 0;
	if (f->repeat) {
		f->repeat = false;
	} else {
		if (!waited(f, &frame))
			out->skipped = next_on_time(f, &frame);
		f->repeat = (frame.kinds & again) != 0;
		f->repeated = frame.number;
		f->repeated_kinds = frame.kinds & FG_FAULTS_WRONG;
		frame.kinds &= ~again;
	}
	out->number = frame.number;
	out->kinds = frame.kinds;
	out->rank = f->right;
	f->right += (frame.kinds & FG_FAULTS_WRONG) == 0;
	f->departures++;
}

uint64_t
fg_faults_reach(const struct fg_faults *f)
{
	return f->number;
}

uint64_t
fg_faults_patience(const struct fg_faults *f)
{
	/* its own time, and that of all that may be due together, each perhaps twice */
	return 2 * (f->ring[0].size + f->ring[1].size) + f->ring[0].places + f->ring[1].places + 2;
}

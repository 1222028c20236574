/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line from a card's clock to the time stamp counter is three numbers. Control writes them into the one
 * of two places that is not in use, and then publishes it; an lcore that has read a place makes sure that
 * it was not given up meanwhile. It reads again only if control has looked twice in that time, so neither
 * side waits, even if the other loses its processor.
 *
 * The pace is that since the first look, so that it becomes the better known the longer the port is open.
 * What one look is wrong by is half the time it took: the card is asked over the bus, a microsecond or so,
 * and may have answered at its beginning or end.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "../fg_port_stamps.h"

enum { TRIES = 8, FIRST_MS = 20 };

static const double FASTEST_CHANGE = 1e-4; /* of a clock's pace, relative; more is no oscillator's */

struct look {
	uint64_t card, tsc;
	uint64_t error; /* ticks of the TSC, either way */
};

/* tsc + (stamp - card) * pace */
struct line {
	_Atomic uint64_t card, tsc, error;
	_Atomic double pace;
};

struct fg_port_stamps {
	int (*read)(void *of, uint64_t *ticks);
	void *of;
	struct look first, last;
	uint64_t worst; /* error that was promised since the trial began, ticks of the TSC */
	uint64_t jumps;
	int offset;
	uint64_t flag;
	struct line line[2];
	_Atomic uint64_t version; /* line[version & 1] is in use */
};

static int
look(const struct fg_port_stamps *s, struct look *best)
{
	best->error = UINT64_MAX;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = rte_rdtsc_precise(), card, width;
		int rc = s->read(s->of, &card);

		if (rc != 0)
			return rc;
		width = rte_rdtsc_precise() - before;
		if ((width + 1) / 2 < best->error)
			*best = (struct look){card, before + width / 2, (width + 1) / 2};
	}
	return 0;
}

/* ticks of the TSC in one of the card's, between two looks */
static double
pace_between(const struct look *a, const struct look *b)
{
	return (double)(b->tsc - a->tsc) / (double)(b->card - a->card);
}

/* how far the pace may be off, relative */
static double
pace_error(const struct look *a, const struct look *b)
{
	return (double)(a->error + b->error) / (double)(b->tsc - a->tsc);
}

/* go on from the last look. @p error: bound of what is turned until the next one */
static void
use(struct fg_port_stamps *s, uint64_t error)
{
	uint64_t next = atomic_load_explicit(&s->version, memory_order_relaxed) + 1;
	struct line *line = &s->line[next & 1];

	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->card, s->last.card, memory_order_relaxed);
	atomic_store_explicit(&line->tsc, s->last.tsc, memory_order_relaxed);
	atomic_store_explicit(&line->error, error, memory_order_relaxed);
	atomic_store_explicit(&line->pace, pace_between(&s->first, &s->last), memory_order_relaxed);
	atomic_store_explicit(&s->version, next, memory_order_release);
	s->worst = error > s->worst ? error : s->worst;
}

/* is a sample where the line through those before predicts it, as far as they are known? */
static bool
agrees(const struct fg_port_stamps *s, const struct look *now)
{
	double since = (double)(now->tsc - s->last.tsc);
	double expected = (double)(int64_t)(now->card - s->last.card) * pace_between(&s->first, &s->last);
	double allowed = (double)(now->error + s->last.error) +
			 since * (pace_error(&s->first, &s->last) + FASTEST_CHANGE);

	return fabs(expected - since) <= allowed;
}

/* of a stamp taken until the next look, if that is as far from this one as this one from the last */
static uint64_t
promise(const struct fg_port_stamps *s, uint64_t since)
{
	return s->last.error + (uint64_t)ceil((double)since * pace_error(&s->first, &s->last));
}

/* two looks, from which the pace follows */
static int
learn(struct fg_port_stamps *s)
{
	int rc = look(s, &s->first);

	if (rc != 0)
		return rc;
	rte_delay_us_sleep(FIRST_MS * 1000);
	rc = look(s, &s->last);
	if (rc != 0)
		return rc;
	if (s->last.card - s->first.card < FIRST_MS * 1000 || s->last.card < s->first.card)
		return -ERANGE;
	use(s, promise(s, s->last.tsc - s->first.tsc));
	return 0;
}

int
fg_port_stamps_create(int (*read)(void *of, uint64_t *ticks), void *of, struct fg_port_stamps **out)
{
	struct fg_port_stamps *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->read = read;
	s->of = of;
	rc = rte_mbuf_dyn_rx_timestamp_register(&s->offset, &s->flag) == 0 ? learn(s) : -rte_errno;
	if (rc != 0) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
fg_port_stamps_free(struct fg_port_stamps *s)
{
	free(s);
}

void
fg_port_stamps_look(struct fg_port_stamps *s)
{
	struct look now;
	uint64_t since;

	if (look(s, &now) != 0)
		return;
	if (!agrees(s, &now)) {
		s->jumps++;
		learn(s);
		return;
	}
	since = now.tsc - s->last.tsc;
	s->last = now;
	use(s, promise(s, since));
}

void
fg_port_stamps_begin(struct fg_port_stamps *s)
{
	s->worst = 0;
	fg_port_stamps_look(s);
}

void
fg_port_stamps_read(const struct fg_port_stamps *s, struct fg_port_stamps_state *out)
{
	out->error_ns = (uint64_t)ceil((double)s->worst * 1e9 / (double)rte_get_tsc_hz());
	out->jumps = s->jumps;
}

struct plain_line {
	uint64_t card, tsc, error;
	double pace;
};

static struct plain_line
line_now(const struct fg_port_stamps *s)
{
	uint64_t version = atomic_load_explicit(&s->version, memory_order_acquire), before;
	struct plain_line line;

	do {
		const struct line *place = &s->line[version & 1];

		before = version;
		line.card = atomic_load_explicit(&place->card, memory_order_relaxed);
		line.tsc = atomic_load_explicit(&place->tsc, memory_order_relaxed);
		line.error = atomic_load_explicit(&place->error, memory_order_relaxed);
		line.pace = atomic_load_explicit(&place->pace, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		version = atomic_load_explicit(&s->version, memory_order_acquire);
	} while (version != before);
	return line;
}

unsigned
fg_port_stamps_turn(const struct fg_port_stamps *s, struct rte_mbuf **frames, unsigned n)
{
	const struct plain_line line = line_now(s);
	uint64_t now = rte_rdtsc(), oldest = rte_get_tsc_hz() + line.error;
	unsigned bad = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t *stamp = RTE_MBUF_DYNFIELD(frames[i], s->offset, uint64_t *);
		double since = (double)(int64_t)(*stamp - line.card) * line.pace;
		bool known = (frames[i]->ol_flags & s->flag) != 0 && fabs(since) < 0x1p62;
		uint64_t tsc = known ? line.tsc + (uint64_t)(int64_t)since : 0;

		if (!known || now + line.error - tsc > oldest) {
			tsc = now;
			bad++;
		}
		*stamp = tsc;
	}
	return bad;
}

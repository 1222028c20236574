/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lane sends what.
 *
 * A port with one lane sends all its streams over it. With several, and at least as many streams, whole streams are
 * dealt to the lanes so that each has its share of the frames. With fewer streams than lanes each stream is divided:
 * of N lanes, lane k sends the frames k, k + N, k + 2N, ... of the one schedule, as streams that take turns do. Each
 * such part is a stream of its own to those who send, carry and receive it, with an id and numbers without gaps, and so
 * with exact counts; only the results are put together again.
 *
 * What cannot take turns stays whole: loads that are not even, frames of several sizes or with errors on purpose, several
 * frames in a row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

static bool
is_divisible(const struct fg_stream_config *s)
{
	for (unsigned i = 0; i < s->loads; i++)
		if (s->load[i].shape != FG_LOAD_CONSTANT)
			return false;
	return s->sizes == NULL && s->faults == NULL && (s->turn.every == 0 || s->turn.take == 1);
}

/* frames per second that a stream sends at most: within a burst, if it sends bursts */
double
parts_peak_fps(const struct fg_stream_config *s)
{
	double peak = 0;

	for (unsigned k = 0; k < s->loads; k++) {
		const struct fg_load *l = &s->load[k];

		peak = RTE_MAX(peak, RTE_MAX(l->fps, l->end_fps));
		if (l->shape == FG_LOAD_BURSTS)
			peak = RTE_MAX(peak, l->burst_fps);
	}
	return s->turn.every > 0 && s->turn.take == 1 ? peak / (double)s->turn.every : peak;
}

static unsigned
streams_of(const struct fg_trial_config *c, unsigned port)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->streams; i++)
		n += c->stream[i].tx_port == port;
	return n;
}

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* of the tagged frames, those that part @p k of @p n sends, by its own numbers */
static void
divide_tags(struct fg_stream_config *s, unsigned k, unsigned n)
{
	uint64_t every = s->tag_every, again = every == 0 ? 1 : n / common_divisor(every, n), first = 0;
	unsigned tags = s->tags;

	while (first < again && (s->tag_first + first * every) % n != k)
		first++;
	if (first == again || first >= tags) {
		s->tags = 0;
		return;
	}
	s->tag_first = (s->tag_first + first * every) / n;
	s->tag_every = every * again / n;
	s->tags = every == 0 ? tags : (unsigned)((tags - 1 - first) / again + 1);
}

static struct fg_stream_config
part_config(const struct fg_stream_config *whole, unsigned k, unsigned n)
{
	struct fg_stream_config part = *whole;

	if (n == 1)
		return part;
	if (part.turn.every == 0)
		part.turn = (struct fg_turn){0, 1, 1};
	part.turn.first += k * part.turn.every;
	part.turn.every *= n;
	divide_tags(&part, k, n);
	return part;
}

/* the lane of a port that has the least to send so far */
static unsigned
idlest(const struct engine_port *port, const double *fps)
{
	unsigned best = port->first_lane;

	for (unsigned i = best + 1; i < port->first_lane + port->lanes; i++)
		if (fps[i] < fps[best])
			best = i;
	return best;
}

static void
deal(const struct fg_engine *e, struct trial *t, const struct fg_trial_config *c)
{
	double fps[RTE_DIM(e->lane)] = {0};
	unsigned made = 0;

	for (unsigned i = 0; i < c->streams; i++) {
		const struct engine_port *port = &e->port[c->stream[i].tx_port];
		unsigned n = t->first[i + 1] - t->first[i];

		for (unsigned k = 0; k < n; k++, made++) {
			unsigned lane = n > 1 ? port->first_lane + k : idlest(port, fps);

			t->part[made] = (struct part){.lane = lane, .k = k, .of = n};
			t->config[made] = part_config(&c->stream[i], k, n);
			fps[lane] += parts_peak_fps(&t->config[made]);
		}
	}
}

int
parts_make(const struct fg_engine *e, struct trial *t, const struct fg_trial_config *c)
{
	unsigned few[FG_MAX_PORTS];

	for (unsigned i = 0; i < e->config.ports; i++)
		few[i] = streams_of(c, i) < e->port[i].lanes ? e->port[i].lanes : 1;
	t->first = calloc(c->streams + 1, sizeof(*t->first));
	if (t->first == NULL)
		return -ENOMEM;
	t->given = c->streams;
	for (unsigned i = 0; i < c->streams; i++)
		t->first[i + 1] = t->first[i] + (is_divisible(&c->stream[i]) ? few[c->stream[i].tx_port] : 1);
	t->streams = t->first[c->streams];
	t->part = calloc(RTE_MAX(t->streams, 1U), sizeof(*t->part));
	t->config = calloc(RTE_MAX(t->streams, 1U), sizeof(*t->config));
	if (t->part == NULL || t->config == NULL)
		return -ENOMEM;
	deal(e, t, c);
	return 0;
}

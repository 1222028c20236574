/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue sends what.
 *
 * A port with one queue sends all its streams over it. With several, and at least as many streams, whole
 * streams are dealt to the queues so that each has its share of the frames. With fewer streams than queues
 * each stream is divided: of N queues, queue k sends the frames k, k + N, k + 2N, ... of the one schedule, as
 * streams that take turns do. Each such substream is a stream of its own for the code that sends, carries and
 * receives it, with an id and numbers without gaps, and so with exact counts; only the results are put
 * together again.
 *
 * What cannot take turns stays whole: loads that are not even, frames of several sizes or with errors on
 * purpose, several frames in a row. So does what is counted by values, for which each part would have room of
 * its own: a value could be counted in one and not in another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "split_priv.h"

static bool
is_divisible(const struct fg_stream_config *s)
{
	for (unsigned i = 0; i < s->loads; i++)
		if (s->load[i].shape != FG_LOAD_CONSTANT)
			return false;
	return s->sizes == NULL && s->faults == NULL && s->values == NULL &&
	       (s->turn.every == 0 || s->turn.take == 1);
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

/* of the tagged frames, those that substream @p k of @p n sends, by its own numbers */
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

/* the queue of a port that has the least to send so far */
static unsigned
idlest(const struct split_port *port, const double *fps)
{
	unsigned best = port->first;

	for (unsigned i = best + 1; i < port->first + port->queues; i++)
		if (fps[i] < fps[best])
			best = i;
	return best;
}

static void
deal(struct split *s, const struct split_port *ports, const struct fg_trial_config *c)
{
	double fps[FG_MAX_PORTS * FG_MAX_QUEUES] = {0};
	unsigned made = 0;

	for (unsigned i = 0; i < c->streams; i++) {
		const struct split_port *port = &ports[c->stream[i].tx_port];
		unsigned n = split_parts(s, i);

		for (unsigned k = 0; k < n; k++, made++) {
			unsigned queue = n > 1 ? port->first + k : idlest(port, fps);

			s->substream[made] = (struct substream){.queue = queue, .k = k, .of = n};
			s->config[made] = part_config(&c->stream[i], k, n);
			fps[queue] += fg_stream_peak_fps(&s->config[made]);
		}
	}
}

int
split_make(struct split *s, const struct split_port *ports, unsigned n, const struct fg_trial_config *c)
{
	unsigned few[FG_MAX_PORTS];

	*s = (struct split){
		.given = c->streams,
		.spares = c->spares,
		.first = calloc(c->streams + c->spares + 1, sizeof(*s->first)),
	};
	if (s->first == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		few[i] = streams_of(c, i) < ports[i].queues ? ports[i].queues : 1;
	for (unsigned i = 0; i < c->streams; i++)
		s->first[i + 1] = s->first[i] + (is_divisible(&c->stream[i]) ? few[c->stream[i].tx_port] : 1);
	s->streams = s->first[c->streams];
	for (unsigned i = 0; i < c->spares; i++)
		s->first[c->streams + i + 1] = s->streams + i + 1;
	s->substream = calloc(RTE_MAX(split_all(s), 1U), sizeof(*s->substream));
	s->config = calloc(RTE_MAX(split_all(s), 1U), sizeof(*s->config));
	if (s->substream == NULL || s->config == NULL)
		return -ENOMEM;
	deal(s, ports, c);
	return 0;
}

void
split_free(struct split *s)
{
	free(s->first);
	free(s->substream);
	free(s->config);
}

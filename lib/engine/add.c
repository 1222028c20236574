/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that come and go while a trial runs. Control makes a stream in the room of another (spares.c) as
 * for any trial, while no lcore looks at it; the order TX_ADD lets the sender know of it. To go, a stream is
 * first retired by its sender, and then forgotten by the receivers.
 */
#include <errno.h>

#include "engine_priv.h"

/* the first substream of a stream; they are of one part wherever it matters here */
static unsigned
slot_of(const struct trial *t, unsigned stream)
{
	return t->split.first[stream];
}

/* of a stream that no lcore is in any more */
static void
clear(struct trial *t, unsigned i)
{
	t->spares.octets[t->split.config[i].rx_port] += t->rx.stream[i].octets;
	tx_stream_clear(&t->tx, i);
	rx_stream_clear(&t->rx, i);
	t->split.config[i] = (struct fg_stream_config){0};
	t->spares.slot[i].state = GONE;
}

/* the queue of a port that sends the fewest streams */
static unsigned
idlest_queue(const struct fg_engine *e, unsigned port)
{
	const struct split_port *p = &e->port[port].queue;
	unsigned best = p->first, least = UINT32_MAX;

	for (unsigned q = p->first; q < p->first + p->queues; q++) {
		unsigned n = 0;

		for (unsigned i = 0; i < split_all(&e->trial->split); i++)
			n += e->trial->tx.stream[i].queue == q;
		if (n < least) {
			least = n;
			best = q;
		}
	}
	return best;
}

static int
check(const struct fg_engine *e, const struct fg_stream_config *c, struct fg_error *err)
{
	if (e->trial == NULL || !e->running)
		return fg_error_set(err, ENOENT, "stream", "no trial runs");
	if (c->measure != 0 || c->faults != NULL || c->latest_ns > 0 || c->tags > 0 || c->other_clock)
		return fg_error_set(err, EINVAL, "stream", "an added stream is measured by plain counts");
	if (c->values != NULL && !e->trial->values)
		return fg_error_set(err, EINVAL, "stream.values", "the trial began without");
	if (c->copies_of > 0 && !spares_has(e->trial, c->copies_of - 1))
		return fg_error_set(err, EINVAL, "stream", "copies of stream %u, which is not there",
				    c->copies_of - 1);
	if (c->copies_of > 0 &&
	    (e->port[c->tx_port].queue.queues > 1 || e->port[c->rx_port].queue.queues > 1))
		return fg_error_set(err, EINVAL, "stream", "copies come over one queue of a port");
	return trial_check_stream(e, c, err);
}

/* compile a stream into a slot of its own */
static int
make(struct fg_engine *e, unsigned i, const struct fg_stream_config *config, struct fg_error *err)
{
	struct trial *t = e->trial;

	t->split.substream[i] = (struct substream){.queue = idlest_queue(e, config->tx_port), .of = 1};
	t->split.config[i] = *config;
	t->split.config[i].idle = true; /* until the sender knows of it */
	if (config->copies_of > 0)
		t->split.config[i].copies_of = slot_of(t, config->copies_of - 1) + 1;
	return trial_stream_init(e, t, i, err);
}

int
fg_engine_stream_add(struct fg_engine *e, const struct fg_stream_config *config, unsigned *stream,
		     struct fg_error *err)
{
	int rc = check(e, config, err);
	struct trial *t = e->trial;
	unsigned i = 0;

	if (rc == 0)
		rc = spares_take(e, &i, err);
	if (rc != 0)
		return rc;
	if (t->spares.slot[i].state == FORGOTTEN)
		clear(t, i);
	rc = make(e, i, config, err);
	if (rc != 0) {
		rx_stream_forget(&t->rx, i);
		clear(t, i);
		spares_give(t, i);
		return rc;
	}
	for (*stream = 0; slot_of(t, *stream) != i;)
		++*stream;
	t->spares.slot[i].state = THERE;
	tx_stream_join(&t->tx, i);
	rc = engine_order(e, *stream, TX_ADD, NULL, err);
	return rc == 0 && !config->idle ? fg_engine_stream_start(e, *stream, err) : rc;
}

int
fg_engine_stream_retire(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = engine_find_stream(e, stream, err);

	return rc != 0 ? rc : engine_order(e, stream, TX_RETIRE, NULL, err);
}

bool
fg_engine_stream_retired(const struct fg_engine *e, unsigned stream)
{
	const struct split *split = &e->trial->split;

	for (unsigned i = split->first[stream]; i < split->first[stream + 1]; i++)
		if (!tx_is_retired(&e->trial->tx.stream[i]))
			return false;
	return true;
}

int
fg_engine_stream_forget(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = engine_find_stream(e, stream, err);

	if (rc == 0 && !fg_engine_stream_retired(e, stream))
		rc = fg_error_set(err, EBUSY, "stream", "stream %u is not retired", stream);
	if (rc == 0)
		spares_forget(e, stream);
	return rc;
}

unsigned
fg_engine_stream_room(const struct fg_engine *e)
{
	return e->trial == NULL || !e->running ? 0 : e->trial->spares.n;
}

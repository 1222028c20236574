/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control over streams while they run: an order for each substream, with all that its sender needs to follow
 * it.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "engine_priv.h"

/* substreams obey so soon: 100 us, in which all lcores will see the order */
enum { TOGETHER_HZ = 10000 };

int
engine_order(struct fg_engine *e, unsigned stream, enum tx_command command, const struct fg_pace *pace,
	     struct fg_error *err)
{
	const struct split *split = &e->trial->split;
	unsigned n = split_parts(split, stream);
	/* on the processor's time, where alone there are several queues */
	uint64_t from = n == 1 ? 0 : rte_rdtsc() + e->clock.hz / TOGETHER_HZ;
	struct tx_order *order[FG_MAX_QUEUES];

	for (unsigned k = 0; k < n; k++) {
		order[k] = calloc(1, sizeof(*order[k]));
		if (order[k] == NULL) {
			while (k-- > 0)
				free(order[k]);
			return fg_error_set(err, ENOMEM, "stream", "no memory");
		}
		order[k]->stream = &e->trial->tx.stream[split->first[stream] + k];
		order[k]->command = command;
		order[k]->from = from;
		if (pace != NULL)
			order[k]->pace = pace[k];
	}
	for (unsigned k = 0; k < n; k++)
		tx_give(&e->trial->tx, order[k]);
	return 0;
}

int
engine_find_stream(const struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	return e->trial == NULL || !spares_has(e->trial, stream)
		       ? fg_error_set(err, ENOENT, "stream", "there is no stream %u", stream)
		       : 0;
}

int
fg_engine_stream_start(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = engine_find_stream(e, stream, err);

	return rc != 0 ? rc : engine_order(e, stream, TX_START, NULL, err);
}

int
fg_engine_stream_stop(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = engine_find_stream(e, stream, err);

	return rc != 0 ? rc : engine_order(e, stream, TX_STOP, NULL, err);
}

/* the departures of a load, for a substream of @p n */
static int
pace_of(const struct fg_engine *e, unsigned substream, unsigned n, const struct fg_load *load,
	struct fg_pace *out, struct fg_error *err)
{
	const struct trial *t = e->trial;
	const struct fg_stream_config *c = &t->split.config[substream];
	int rc = tx_pace(&t->tx.env, e->config.port[c->tx_port].port, load, t->tx.stream[substream].sizes, 0,
			 out, err);

	if (rc != 0 || n == 1)
		return rc;
	if (!out->even)
		return fg_error_set(err, EINVAL, "stream.load",
				    "only an even load can be shared by the %u queues that send the stream",
				    n);
	return fg_pace_turns(out, c->turn.first, c->turn.take, c->turn.every, err);
}

int
fg_engine_stream_load(struct fg_engine *e, unsigned stream, const struct fg_load *load, struct fg_error *err)
{
	struct fg_pace pace[FG_MAX_QUEUES];
	unsigned n;
	int rc = engine_find_stream(e, stream, err);

	if (rc != 0)
		return rc;
	n = split_parts(&e->trial->split, stream);
	for (unsigned k = 0; k < n && rc == 0; k++)
		rc = pace_of(e, e->trial->split.first[stream] + k, n, load, &pace[k], err);
	return rc != 0 ? rc : engine_order(e, stream, TX_LOAD, pace, err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is decided of a stream's sending before the first frame leaves: its departures, its buffers, and the loop that
 * will send it.
 */
#include <errno.h>
#include <stdlib.h>

#include "tx_priv.h"

/* one pace a load; each starts when the one before it, of all that take turns in it, is over */
static int
loads_init(const struct fg_engine *e, struct tx_task *tx, const struct fg_stream_config *s, uint64_t start,
	   uint64_t max_lag, struct fg_error *err)
{
	if (s->loads == 0)
		return fg_error_set(err, EINVAL, "stream", "no load");
	tx->loads = s->loads;
	tx->load = calloc(s->loads, sizeof(*tx->load));
	if (tx->load == NULL)
		return fg_error_set(err, ENOMEM, "stream", "no memory");
	for (unsigned i = 0; i < s->loads; i++) {
		struct fg_pace *pace = &tx->load[i];
		int rc = fg_pace_constant(pace, s->load[i].fps, e->clock.hz, start, s->load[i].frames,
					  max_lag, err);

		if (rc != 0)
			return rc;
		start = fg_pace_at(pace, pace->total);
		if (s->turn.every > 0)
			rc = fg_pace_turns(pace, s->turn.first, s->turn.take, s->turn.every, err);
		if (rc != 0)
			return rc;
	}
	tx->pace = tx->load[0];
	return 0;
}

int
tx_init(struct fg_engine *e, struct trial *t, unsigned i, const struct fg_trial_config *c,
	const struct image *timeline, struct fg_error *err)
{
	const struct fg_stream_config *s = &c->stream[i];
	struct fg_port *port = e->config.port[s->tx_port].port;
	struct tx_task *tx = &t->tx[i];
	int rc = tx_pool_take(e, t, s->tx_port, s->frame, &tx->pool, err);

	if (rc == 0)
		rc = loads_init(e, tx, s, timeline->start, clock_ticks(&e->clock, c->max_lag_ns), err);
	if (rc != 0)
		return rc;
	tx->task.poll = tx_choose(port->caps.launch_time, s->frame->varies > 0);
	tx->task.publish = tx_publish;
	tx->port = port;
	tx->frame = tx_template_copy(s->frame, err);
	if (tx->frame == NULL)
		return -ENOMEM;
	tx->clock = &e->clock;
	tx->lead = port->caps.launch_time ? timeline->step : 0;
	tx->time_offset = e->tx_time_offset;
	tx->time_flag = e->tx_time_flag;
	tx->id = (uint16_t)(e->next_id + i);
	return 0;
}

void
tx_free(struct tx_task *tx)
{
	free(tx->load);
	free(tx->frame);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop that sends a queue's streams. It is chosen before the first frame, and again when an order has
 * changed the streams; so a loop makes no decision per frame that is the same for all frames.
 */
#include "tx_task.h"

/* frames that depart at equal distances, or as their bytes do */
static bool
is_even(const struct fg_pace *p, bool mixed)
{
	return p->even || (mixed && p->shape == FG_PACE_CONSTANT);
}

static bool
is_plain(const struct tx_stream *s)
{
	for (unsigned i = s->present + 1; i < s->loads; i++)
		if (!is_even(&s->load[i], s->mixed))
			return false;
	return is_even(&s->pace, s->mixed) && !s->whole && !s->stopped;
}

void
tx_choose(struct tx_task *t)
{
	bool launch = t->port->caps.launch_time;

	if (t->round_robin != NULL)
		t->task.poll = tx_round_robin_poller(launch);
	else if (!t->slow && t->only != NULL && is_plain(t->only) && t->waiting == 0)
		t->task.poll = tx_single_poller(launch, t->only->frame->varies > 0, t->only->mixed);
	else
		t->task.poll = tx_scheduled_poller(launch, t->slow, t->left != NULL && !t->slow);
}

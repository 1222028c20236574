/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control over streams while they run. Control puts an order at the head of a list with one atomic exchange; the lcore,
 * which looks at that pointer once a poll and finds NULL nearly always, takes the whole list with another, and does what
 * it says, first come, first served, some at a poll so that the others' frames need not wait. What an order needs was
 * worked out by control; the lcore only puts it into place. Obeyed orders are freed by control when it gives the next.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "tx_round.h"

enum {
	ORDERS_A_POLL = 16,
	TOGETHER_HZ =
		10000, /* parts of a stream obey so soon: 100 us, in which all lanes will see the order */
};

/* the whole list, the right way round */
static struct tx_order *
take_all(struct tx_task *t)
{
	struct tx_order *list = atomic_exchange_explicit(&t->orders, NULL, memory_order_acquire),
			*turned = NULL;

	while (list != NULL) {
		struct tx_order *next = list->next;

		list->next = turned;
		turned = list;
		list = next;
	}
	return turned;
}

/* @p begin: from when on frames can be influenced */
static void
obey(struct tx_task *t, struct tx_stream *s, const struct tx_order *order, uint64_t begin)
{
	tx_queue_remove(&t->queue, s);
	switch (order->command) {
	case TX_START:
		if (s->stopped && begin > s->stopped_at) {
			fg_pace_move(&s->pace, begin - s->stopped_at);
			s->shift += begin - s->stopped_at;
		}
		s->stopped = false;
		break;
	case TX_STOP:
		s->stopped_at = s->stopped ? s->stopped_at : begin;
		s->stopped = true;
		break;
	case TX_LOAD:
		tx_leave_load(s, s->pace.next);
		s->pace = order->pace;
		s->pace.first = s->sequence;
		fg_pace_on_time(&s->pace, s->on_time);
		fg_pace_move(&s->pace, begin);
		s->loads = 0; /* those that would have followed are given up */
		s->ordered = true;
		s->stopped_at = begin;
		break;
	}
	if (!s->stopped)
		tx_queue_add(&t->queue, s);
}

uint64_t
tx_obey(struct tx_task *t, uint64_t now)
{
	if (t->todo == NULL)
		t->todo = take_all(t);
	if (t->round != NULL)
		tx_round_leave(t);
	for (unsigned i = 0; i < ORDERS_A_POLL && t->todo != NULL; i++) {
		struct tx_order *order = t->todo;

		t->todo = order->next;
		obey(t, order->stream, order, RTE_MAX(RTE_MAX(now + t->lead, t->start), order->from));
		atomic_store_explicit(&order->obeyed, true, memory_order_release);
	}
	tx_choose(t);
	return now;
}

/* @return the orders not yet obeyed */
static struct tx_order *
free_obeyed(struct tx_order *issued)
{
	struct tx_order *left = NULL;

	while (issued != NULL) {
		struct tx_order *order = issued;

		issued = order->issued;
		if (atomic_load_explicit(&order->obeyed, memory_order_acquire)) {
			free(order);
		} else {
			order->issued = left;
			left = order;
		}
	}
	return left;
}

void
tx_orders_free(struct tx_order *issued)
{
	while (issued != NULL) {
		struct tx_order *order = issued;

		issued = order->issued;
		free(order);
	}
}

/* to the lane that sends stream @p i */
static void
give_one(struct fg_engine *e, unsigned i, struct tx_order *order)
{
	struct trial *t = e->trial;
	struct tx_task *task = &t->tx_task[t->part[i].lane];

	order->stream = &t->tx[i];
	order->issued = t->orders;
	t->orders = order;
	order->next = atomic_load_explicit(&task->orders, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&task->orders, &order->next, order,
						      memory_order_release, memory_order_relaxed))
		;
}

/* to all parts of a stream; @p pace has a turn for each of them */
static int
give(struct fg_engine *e, unsigned stream, enum tx_command command, const struct fg_pace *pace,
     struct fg_error *err)
{
	unsigned first = e->trial->first[stream], n = parts_of(e->trial, stream);
	/* on the processor's time, where alone there are several lanes */
	uint64_t from = n == 1 ? 0 : rte_rdtsc() + e->clock.hz / TOGETHER_HZ;
	struct tx_order *order[FG_MAX_QUEUES];

	for (unsigned k = 0; k < n; k++) {
		order[k] = calloc(1, sizeof(*order[k]));
		if (order[k] == NULL) {
			while (k-- > 0)
				free(order[k]);
			return fg_error_set(err, ENOMEM, "stream", "no memory");
		}
		order[k]->command = command;
		order[k]->from = from;
		if (pace != NULL)
			order[k]->pace = pace[k];
	}
	e->trial->orders = free_obeyed(e->trial->orders);
	for (unsigned k = 0; k < n; k++)
		give_one(e, first + k, order[k]);
	return 0;
}

static int
find(const struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	return e->trial == NULL || stream >= e->trial->given
		       ? fg_error_set(err, ENOENT, "stream", "there is no stream %u", stream)
		       : 0;
}

int
fg_engine_stream_start(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = find(e, stream, err);

	return rc != 0 ? rc : give(e, stream, TX_START, NULL, err);
}

int
fg_engine_stream_stop(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	int rc = find(e, stream, err);

	return rc != 0 ? rc : give(e, stream, TX_STOP, NULL, err);
}

int
fg_engine_stream_load(struct fg_engine *e, unsigned stream, const struct fg_load *load, struct fg_error *err)
{
	const struct trial *t = e->trial;
	struct fg_pace pace[FG_MAX_QUEUES];
	unsigned first, n;
	int rc = find(e, stream, err);

	if (rc != 0)
		return rc;
	first = t->first[stream];
	n = parts_of(t, stream);
	for (unsigned k = 0; k < n && rc == 0; k++) {
		const struct fg_turn *turn = &t->config[first + k].turn;

		rc = tx_pace(e, t, t->config[first].tx_port, load, t->tx[first].sizes, 0, &pace[k], err);
		if (rc == 0 && n > 1 && !pace[k].even)
			rc = fg_error_set(
				err, EINVAL, "stream.load",
				"only an even load can be shared by the %u queues that send the stream", n);
		if (rc == 0 && n > 1)
			rc = fg_pace_turns(&pace[k], turn->first, turn->take, turn->every, err);
	}
	return rc != 0 ? rc : give(e, stream, TX_LOAD, pace, err);
}

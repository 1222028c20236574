/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control over streams while they run. Control puts an order at the head of a list with one atomic exchange; the lcore,
 * which looks at that pointer once a poll and finds NULL nearly always, takes the whole list with another, and does what
 * it says, first come, first served, some at a poll so that the others' frames need not wait. What an order needs was
 * worked out by control; the lcore only puts it into place. Obeyed orders are freed by control when it gives the next.
 */
#include <errno.h>
#include <stdlib.h>

#include "tx_priv.h"

enum { ORDERS_A_POLL = 16 };

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
	for (unsigned i = 0; i < ORDERS_A_POLL && t->todo != NULL; i++) {
		struct tx_order *order = t->todo;

		t->todo = order->next;
		obey(t, order->stream, order, RTE_MAX(now + t->lead, t->start));
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

static int
give(struct fg_engine *e, unsigned stream, enum tx_command command, const struct fg_pace *pace,
     struct fg_error *err)
{
	struct trial *t = e->trial;
	struct tx_task *task;
	struct tx_order *order;

	if (t == NULL || stream >= t->streams)
		return fg_error_set(err, ENOENT, "stream", "there is no stream %u", stream);
	order = calloc(1, sizeof(*order));
	if (order == NULL)
		return fg_error_set(err, ENOMEM, "stream", "no memory");
	order->stream = &t->tx[stream];
	order->command = command;
	if (pace != NULL)
		order->pace = *pace;
	t->orders = free_obeyed(t->orders);
	order->issued = t->orders;
	t->orders = order;
	task = &t->tx_task[lane_of(e, t, stream)];
	order->next = atomic_load_explicit(&task->orders, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&task->orders, &order->next, order,
						      memory_order_release, memory_order_relaxed))
		;
	return 0;
}

int
fg_engine_stream_start(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	return give(e, stream, TX_START, NULL, err);
}

int
fg_engine_stream_stop(struct fg_engine *e, unsigned stream, struct fg_error *err)
{
	return give(e, stream, TX_STOP, NULL, err);
}

int
fg_engine_stream_load(struct fg_engine *e, unsigned stream, const struct fg_load *load, struct fg_error *err)
{
	struct fg_pace pace;
	int rc;

	if (e->trial == NULL || stream >= e->trial->streams)
		return fg_error_set(err, ENOENT, "stream", "there is no stream %u", stream);
	rc = tx_pace(e, load, e->trial->tx[stream].sizes, 0, e->trial->max_lag, &pace, err);
	return rc != 0 ? rc : give(e, stream, TX_LOAD, &pace, err);
}

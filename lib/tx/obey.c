/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders to streams while they run. Control puts an order at the head of a list with one atomic exchange; the
 * lcore looks at that pointer once a poll and finds NULL nearly always. Else it takes the whole list with
 * another exchange and follows it, first come, first served, some orders at a poll so that the frames of
 * other streams need not wait. Control has worked out what an order needs; the lcore only puts it into place.
 * Control frees obeyed orders when it gives the next.
 */
#include <stdlib.h>

#include "tx.h"
#include "tx_round_robin.h"

enum { ORDERS_A_POLL = 16 };

/* the whole list, the first order first */
static struct tx_order *
take_all(struct tx_task *t)
{
	struct tx_order *list = __atomic_exchange_n(&t->orders, NULL, __ATOMIC_ACQUIRE), *turned = NULL;

	while (list != NULL) {
		struct tx_order *next = list->next;

		list->next = turned;
		turned = list;
		list = next;
	}
	return turned;
}

/* a stream is one of the queue's now; what was chosen for the others may not do for it */
static void
add(struct tx_task *t, struct tx_stream *s)
{
	struct tx_stream *only = t->only;

	t->only = NULL;
	if (only != NULL) { /* its loop has not looked at the schedule */
		tx_schedule_remove(&t->schedule, only);
		if (!only->stopped)
			tx_schedule_add(&t->schedule, only);
	}
	t->pool = s->pool == t->pool ? t->pool : NULL;
	if (!t->slow && s->slow) {
		/* there is no slow path for what a round robin has left */
		if (t->left != NULL)
			tx_round_robin_settle(t->left, t->left->streams);
		t->slow = true;
	}
}

/* a stream goes: also what waits of it is not sent any more */
static void
retire(struct tx_task *t, struct tx_stream *s)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->waiting; i++) {
		if (t->due[i].stream == s)
			s->past.late++;
		else
			t->due[kept++] = t->due[i];
	}
	t->waiting = kept;
	t->only = t->only == s ? NULL : t->only;
	s->stopped = true;
	__atomic_store_n(&s->retired, true, __ATOMIC_RELEASE);
}

/* @p begin: from when on frames can be influenced */
static void
obey(struct tx_task *t, struct tx_stream *s, const struct tx_order *order, uint64_t begin)
{
	tx_round_robin_settle_stream(s);
	tx_schedule_remove(&t->schedule, s);
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
		tx_keep_limit(s);
		s->pace.first = s->sequence;
		fg_pace_on_time(&s->pace, s->on_time);
		fg_pace_move(&s->pace, begin);
		s->loads = 0; /* those that would have followed are given up */
		s->ordered = true;
		s->stopped_at = begin;
		break;
	case TX_ADD:
		add(t, s);
		break;
	case TX_RETIRE:
		retire(t, s);
		return; /* control may have made another one of it already */
	}
	if (!s->stopped)
		tx_schedule_add(&t->schedule, s);
}

uint64_t
tx_obey(struct tx_task *t, uint64_t now)
{
	if (t->todo == NULL)
		t->todo = take_all(t);
	if (t->round_robin != NULL)
		tx_round_robin_leave(t);
	for (unsigned i = 0; i < ORDERS_A_POLL && t->todo != NULL; i++) {
		struct tx_order *order = t->todo;

		t->todo = order->next;
		obey(t, order->stream, order, RTE_MAX(RTE_MAX(now + t->lead, t->start), order->from));
		__atomic_store_n(&order->obeyed, true, __ATOMIC_RELEASE);
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
		if (__atomic_load_n(&order->obeyed, __ATOMIC_ACQUIRE)) {
			free(order);
		} else {
			order->issued = left;
			left = order;
		}
	}
	return left;
}

void
tx_give(struct tx *tx, struct tx_order *order)
{
	struct tx_task *task = &tx->task[order->stream->queue];

	order->issued = free_obeyed(tx->orders);
	tx->orders = order;
	order->next = __atomic_load_n(&task->orders, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&task->orders, &order->next, order, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

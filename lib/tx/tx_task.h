/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The task that sends all streams of one queue. Control compiles it, the tx lcore alone writes it afterwards.
 * Which of the loops polls it is chosen by what there is to send (choose.c), and anew when an order has
 * changed that (obey.c):
 *
 *    single.c       one stream, evenly paced
 *    round_robin.c  streams of one rate and one length, in turn
 *    scheduled.c    any streams, in the order of their departures; the slow path of it makes errors and CRCs
 *
 * Orders are the one thing that passes from control to the lcore while frames fly. Control puts an order at
 * the head of `orders` (release); the lcore takes the whole list (acquire), so it sees what an order holds.
 * It sets `obeyed` (release) when it will not look at the order again, and control frees those for which it
 * reads that (acquire).
 */
#include "fg_burst.h"
#include "fg_port.h"
#include "fg_task.h"
#include "tx_line.h"
#include "tx_schedule.h"
#include "tx_stream.h"

/** Orders of control to a stream. */
enum tx_command { TX_START, TX_STOP, TX_LOAD, TX_ADD, TX_RETIRE };
struct tx_order {
	struct tx_order *next;   /* of the task's */
	struct tx_order *issued; /* of control's */
	struct tx_stream *stream;
	enum tx_command command;
	uint64_t from;       /* ticks; no earlier: all substreams obey at one time. 0: now */
	struct fg_pace pace; /* TX_LOAD: as if it began at 0 */
	bool obeyed;         /* writer: the lcore */
};

struct tx_task {
	struct fg_task task;
	struct fg_port *port; /* the queue; NULL: nothing is sent there */
	const struct fg_clock *clock;
	/* the last one first. Writers: control, which adds, the lcore, which takes all */
	struct tx_order *orders;
	struct tx_order *todo; /* those taken, the first one first */
	uint64_t lead;         /* ticks that frames are handed over before they depart */
	uint64_t start;        /* ticks; of traffic */
	uint64_t nap;          /* ticks after which a task without work looks for orders */
	uint64_t time_flag;
	int time_offset;          /* of the launch time in the mbuf */
	struct tx_stream *only;   /* the queue's stream, if it has but one */
	struct tx_line line;      /* of the port */
	unsigned first, queues;   /* of the port; if they share the line */
	uint64_t longest_frame;   /* ticks that one of all streams holds the whole line, at most */
	bool slow;                /* some stream's frames need more than to be filled and varied */
	struct rte_mempool *pool; /* of all streams, if it is the same */
	struct tx_schedule schedule;
	struct tx_round_robin *round_robin; /* of all streams; NULL: each goes its own way ... */
	struct tx_round_robin *left;        /* ... and did not before */
	unsigned waiting;                   /* frames that were due before, and that the port did not take */
	struct tx_due due[FG_BURST];
} __rte_cache_aligned;

typedef uint64_t (*tx_poller)(struct fg_task *task, uint64_t now);

/* choose.c: the loop for a queue, by what it has to send now */
void tx_choose(struct tx_task *task);
/*
 * single.c, scheduled.c, round_robin.c: the loops. @p launch: the port departs frames at the time in their
 * buffers
 */
tx_poller tx_single_poller(bool launch, bool vary, bool mix);
tx_poller tx_scheduled_poller(bool launch, bool slow, bool settling);
tx_poller tx_round_robin_poller(bool launch);

/* obey.c: do what control wants, once all that is due at @p now has gone. @return when to be polled next */
uint64_t tx_obey(struct tx_task *task, uint64_t now);

static inline bool
tx_ordered(const struct tx_task *t)
{
	return __atomic_load_n(&t->orders, __ATOMIC_RELAXED) != NULL || t->todo != NULL;
}

/** When a task whose next frame departs at @p next wants to be polled, ticks. */
static inline uint64_t
tx_wake(const struct tx_task *t, uint64_t next, uint64_t now)
{
	uint64_t look = t->nap == UINT64_MAX ? UINT64_MAX : now + t->nap;

	return next == UINT64_MAX ? look : RTE_MIN(next - t->lead, look);
}

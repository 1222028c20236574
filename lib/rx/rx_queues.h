/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Several queues of a port receive frames of one stream; one of them measures it. That is the queue at which
 * its first frame arrived, so that a flow which a card always puts into the same queue is measured where it
 * arrives; but the substreams of a stream that was divided are dealt to the queues, for they are one flow,
 * and the work should be divided, too.
 *
 * A frame that arrives at another queue is stamped and freed there. What has to be known of it goes to the
 * queue that measures, over a ring with one producer and one consumer. So every count stays exact, as long as
 * the ring has room; if not, the frame is counted as dropped by the tester. Only the order is lost: of frames
 * of two queues it is not known which one arrived first.
 */
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "rx_task.h"

enum { RX_RECORDS = 4096 }; /* room in a ring: 4 ms at a million frames per second */

/** What the queue that measures a stream has to know of a frame that arrived at another. */
struct rx_record {
	struct fg_signature signature;
	uint64_t arrival_ns;
	uint32_t octets;           /* without FCS */
	struct rx_payload payload; /* if that is asked for; the same */
	uint16_t codepoints;
	uint64_t value;
};

/** How a queue is joined with the others of its port. Written by its rx lcore only. */
struct rx_queues {
	unsigned queues;                                          /* of the port */
	struct rte_ring *to[FG_MAX_QUEUES], *from[FG_MAX_QUEUES]; /* each queue; NULL: itself */
	uint64_t passed, taken;                                   /* records */
	uint64_t overflow;                                        /* those that found no room */
	unsigned holds[FG_MAX_QUEUES];
	struct rx_record held[FG_MAX_QUEUES][FG_BURST]; /* of the present burst */
};

/** Put a record aside for queue @p to. At most a burst of them between two rx_queues_hand_over(). */
static inline struct rx_record *
rx_queues_hold(struct rx_queues *q, unsigned to)
{
	return &q->held[to][q->holds[to]++];
}

/** Hand over what was put aside. */
static inline void
rx_queues_hand_over(struct rx_queues *q)
{
	for (unsigned k = 0; k < q->queues; k++) {
		unsigned n = q->holds[k], gone;

		if (n == 0)
			continue;
		gone = rte_ring_sp_enqueue_burst_elem(q->to[k], q->held[k], sizeof(q->held[k][0]), n, NULL);
		q->passed += gone;
		q->overflow += n - gone;
		q->holds[k] = 0;
	}
}

/* queues.c */

/** The rings between the queues of a port, from trial to trial: from queue i to queue k. */
struct rx_rings {
	struct rte_ring *ring[FG_MAX_QUEUES][FG_MAX_QUEUES];
};

/** Make them, if the port has several queues. @return 0 or -ENOMEM */
int rx_rings_open(struct rx_rings *rings, const struct fg_port *port, unsigned queues, struct fg_error *err);
void rx_rings_close(struct rx_rings *rings);
/** Join the receiver of the port's queue @p k in a trial with its others. @return 0 or -ENOMEM */
int rx_queues_init(struct rx_task *task, const struct rx_rings *rings, unsigned k, unsigned queues);
/** By how many numbers a frame can be behind at a port at most because it came over another queue. */
unsigned rx_queues_behind(const struct fg_port *port, unsigned queues);

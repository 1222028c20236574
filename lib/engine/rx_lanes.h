/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RX_LANES_H
#define RX_LANES_H

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "fg_signature.h"
#include "rx_priv.h"

/*
 * Several lanes of a port receive frames of one stream; one of them measures it. That is the lane at which its first
 * frame arrived, so that a flow which a card always puts into the same queue is measured where it arrives; but the parts
 * of a stream that was divided are dealt to the lanes, for they are one flow, and the work should be divided, too.
 *
 * A frame that arrives at another lane is stamped and freed there. What has to be known of it goes to the lane that
 * measures, over a ring with one producer and one consumer. So every count stays exact, as long as the ring has room; if
 * not, the frame is counted as dropped by the tester. Only the order is lost: of frames of two queues nobody knows which
 * one arrived first.
 */

enum { RX_RECORDS = 4096 }; /* room in a ring: 4 ms at a million frames per second */

/** What the lane that measures a stream has to know of a frame that arrived at another. */
struct rx_record {
	struct fg_signature signature;
	uint64_t arrival_ns;
	uint32_t octets;           /* without FCS */
	struct rx_payload payload; /* if that is asked for; the same */
	uint16_t mark;
};

/** How a lane is joined with the others of its port. Written by its rx lcore only. */
struct rx_lanes {
	unsigned lanes;                                           /* of the port */
	struct rte_ring *to[FG_MAX_QUEUES], *from[FG_MAX_QUEUES]; /* each lane; NULL: itself */
	uint64_t passed, taken;                                   /* records */
	uint64_t overflow;                                        /* those that found no room */
	unsigned holds[FG_MAX_QUEUES];
	struct rx_record held[FG_MAX_QUEUES][BURST]; /* of the present burst */
};

/** Put a record aside for lane @p to. At most a burst of them between two rx_lanes_hand_over(). */
static inline struct rx_record *
rx_lanes_hold(struct rx_lanes *l, unsigned to)
{
	return &l->held[to][l->holds[to]++];
}

/** Hand over what was put aside. */
static inline void
rx_lanes_hand_over(struct rx_lanes *l)
{
	for (unsigned k = 0; k < l->lanes; k++) {
		unsigned n = l->holds[k], gone;

		if (n == 0)
			continue;
		gone = rte_ring_sp_enqueue_burst_elem(l->to[k], l->held[k], sizeof(l->held[k][0]), n, NULL);
		l->passed += gone;
		l->overflow += n - gone;
		l->holds[k] = 0;
	}
}

/* rx_lanes.c */

/** Rings between the lanes of a port, which has several. @return 0 or -ENOMEM */
int rx_lanes_open(struct fg_engine *engine, unsigned port, unsigned serial, struct fg_error *err);
void rx_lanes_close(struct fg_engine *engine);
/** Join the receiver of lane @p lane in a trial with the others of its port. @return 0 or -ENOMEM */
int rx_lanes_init(const struct fg_engine *engine, struct trial *trial, unsigned lane);
/** Who measures stream @p i, as far as that is known before it arrives. */
const struct rx_task *rx_lanes_receiver(const struct fg_engine *engine, const struct trial *trial,
					unsigned i);
/** By how many numbers a frame can be behind at any port only because it came over another queue. */
unsigned rx_lanes_behind(const struct fg_engine *engine);
/** Once all lcores have left a trial: measure what they have not yet told each other. */
void rx_lanes_settle(struct fg_engine *engine);

#endif

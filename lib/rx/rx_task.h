/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The task that receives from one queue of a port. Control compiles it; the rx lcore alone writes it
 * afterwards. The frames of a stream are counted by the one task that is its receiver;
 * tasks of the queues of one port tell each other over rings (rx_queues.h), and share nothing else.
 */
#include <rte_ring.h>

#include "fg_burst.h"
#include "fg_port.h"
#include "fg_task.h"
#include "rx_stream.h"

struct rx_batch;
struct rx_queues;

/** Trackers and histograms of all streams, one stream after the other. */
struct rx_measures {
	uint8_t *first;
	size_t each, sequence; /* octets: of a stream, and of its tracker, with which it begins */
	uint8_t *numbers;      /* behind them: which numbers of each stream came ... */
	size_t least;          /* ... in these bytes; where that is not enough, see struct rx_stream */
};

static inline struct fg_sequence *
rx_measures_sequence(const struct rx_measures *m, unsigned i)
{
	return (struct fg_sequence *)(void *)(m->first + i * m->each);
}

static inline struct fg_histogram *
rx_measures_latency(const struct rx_measures *m, unsigned i)
{
	return (struct fg_histogram *)(void *)(m->first + i * m->each + m->sequence);
}

/**
 * The tap of a port that stays from trial to trial. The lcore of the port's first queue is the only one in
 * it; the other lcores pass their received frames on to that one, over rings. Control takes a tap away
 * (rx_tap_remove()) and then waits until no lcore looks at it; no lcore ever waits.
 */
struct rx_tap {
	struct fg_tap *tap;                     /* NULL: none. Writer: control */
	struct rte_ring *passed[FG_MAX_QUEUES]; /* from each queue but the first; NULL: there is but one */
	struct {
		bool looking; /* writer: the queue's lcore */
	} __rte_cache_aligned queue[FG_MAX_QUEUES];
};

struct rx_task {
	struct fg_task task;
	struct fg_port *port; /* the queue */
	const struct fg_clock *clock;
	struct rx_stream *streams; /* of the trial, by id - first_id */
	uint16_t first_id, ids;
	uint16_t queue;           /* of the engine's, which */
	uint16_t nth;             /* of the port's, which */
	struct rx_batch *batches; /* of the streams; NULL: they are few */
	struct rx_measures measures;
	int time_offset;
	uint64_t time_flag;
	struct rte_ring *to_responder;
	struct fg_sink *sink; /* NULL: none */
	bool took;            /* the sink has, in this poll */
	struct fg_tap *tap;   /* of the trial; NULL: none */
	struct rx_tap *standing;
	uint64_t frames, misdirected, unsolicited;
	struct rx_rejected *rejected; /* by stream */
	const struct rx_task *home;   /* first queue of the port */
	struct rx_queues *queues;     /* the others of the port; NULL: it is the only one */
	uint64_t kind[FG_NET_KINDS];
	unsigned next_live;    /* stream whose counts are to be copied next ... */
	uint64_t round;        /* ... and when the first was */
	uint64_t other_octets; /* of misdirected and unsolicited frames, with FCS */
	/* copies that control reads at any time, on a line of their own: of `frames`, and of the others */
	uint64_t published __rte_cache_aligned;
	uint64_t published_other, published_other_octets;
	uint64_t copied; /* ticks: all streams' copies are at least as new */
} __rte_cache_aligned;

/** The receiver of streams that belong to no queue yet. */
extern const struct rx_task rx_unassigned;
/** The receiver of streams that another tester receives. */
extern const struct rx_task rx_elsewhere;

typedef uint64_t (*rx_poller)(struct fg_task *task, uint64_t now);

/**
 * The loop of a queue.
 * @param stamped   the port says when a frame arrived
 * @param extended  some stream is measured by more than the plain counts
 * @param queues    the port has more queues
 * @param many      there are many streams, and batches for them
 */
rx_poller rx_choose(bool stamped, bool extended, bool queues, bool many);

/** Measure all that other queues have passed on. */
void rx_take_all_passed(struct rx_task *rx);

/* tap.c */

static inline bool
rx_is_tapped(const struct rx_task *t)
{
	return t->tap != NULL || __atomic_load_n(&t->standing->tap, __ATOMIC_RELAXED) != NULL;
}

/** Show frames to the taps, or pass them on. */
void rx_show(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival,
	     bool stamped);

/** Show what other queues have passed on, if there is a tap. Called by the lcore of the first queue. */
void rx_show_passed(const struct rx_task *task);

/* live.c */
void rx_publish_totals(struct rx_task *task);
void rx_publish(struct fg_task *task, uint64_t now);

/* prefetch.c: fetch what the frames of a burst will touch of many streams */
void rx_prefetch(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival,
		 bool stamped);
void rx_prefetch_batches(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n);

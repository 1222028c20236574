/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_PRIV_H
#define TX_PRIV_H

#include "engine_priv.h"
#include "fg_pace.h"

/** Transmit one stream. Everything here is written by the tx lcore only. */
struct tx_task {
	struct task task;
	struct fg_port *port;
	struct rte_mempool *pool;
	struct fg_template *frame; /* a copy of our own */
	const struct clock *clock;
	struct fg_pace pace;  /* of the present load */
	struct fg_pace *load; /* all loads; those behind us as they ended */
	unsigned loads, present;
	struct tx_task *peer; /* the next stream that this task sends, too; see tx_join() */
	uint64_t lead;        /* ticks that frames are handed over before they depart */
	uint64_t sequence;    /* of the next frame */
	int time_offset;      /* of the launch time in the mbuf */
	uint64_t time_flag;
	uint16_t id; /* in the signature */
	uint64_t refused, no_mbuf;
	uint64_t first, last; /* departures, ticks */
	struct published published;
} __rte_cache_aligned;

/** Buffers of the streams of a port that have the same payload: it is written once, the headers for each frame. */
struct stream_pool {
	struct rte_mempool *pool;
	struct fg_template *content; /* a copy of what the buffers hold; NULL: nothing yet */
	unsigned port;
};

/** The loop for a stream: does the port depart frames by itself, do fields change? */
typedef uint64_t (*tx_poller)(struct task *task, uint64_t now);
tx_poller tx_choose(bool launch, bool vary);
/** On a port that departs frames by itself one task sends all streams: @p leader now sends those of @p peer, too. */
void tx_join(struct tx_task *leader, struct tx_task *peer);
void tx_publish(struct task *task);
/** Buffers for a stream's frames: those of another stream of the trial if they will do. */
int tx_pool_take(struct fg_engine *engine, struct trial *trial, unsigned port,
		 const struct fg_template *frame, struct rte_mempool **out, struct fg_error *err);
void tx_pools_free(struct fg_engine *engine);
struct fg_template *tx_template_copy(const struct fg_template *frame, struct fg_error *err);
/** Compile what stream @p i sends, by the clock that starts with @p timeline. */
int tx_init(struct fg_engine *engine, struct trial *trial, unsigned i, const struct fg_trial_config *config,
	    const struct image *timeline, struct fg_error *err);
void tx_free(struct tx_task *tx);

/** What was sent of a stream; after the trial. */
void tx_result(const struct tx_task *tx, struct fg_stream_result *out);
/** When frame @p number was due, ns since @p start; as long as none was late that is when it left. */
uint64_t tx_departure_ns(const struct tx_task *tx, uint64_t number, uint64_t start);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What control does with the senders of a trial: make them, give orders, read results. All of it belongs to
 * the control thread, and the results to the time after the trial.
 *
 * The names of this library and of lib/rx begin with tx_ and rx_: only lib/engine uses them.
 */
#include "fg_stream_config.h"
#include "fg_stream_result.h"
#include "tx_task.h"

/**
 * Buffers of the streams of a queue that have the same payload: it is written once, the headers for each
 * frame.
 */
struct tx_pool {
	uint16_t length[TX_MIX_SIZES]; /* of the frames that use it, if there are several; 0: no more */
	struct rte_mempool *pool;
	struct fg_template *content; /* a copy of what the buffers hold; NULL: nothing */
	unsigned queue;
};

/** All pools: made when first needed, kept for the next trials, for making one is slow. */
struct tx_pools {
	struct tx_pool *pool;
	unsigned n;
	uint32_t buffers, max_frame; /* of each */
};

/** What all senders of a trial go by. */
struct tx_env {
	const struct fg_clock *clock;
	uint64_t start;   /* of traffic, ticks */
	uint64_t step;    /* ticks; least advance of a clock that does not wait */
	uint64_t nap;     /* ticks; see struct tx_task */
	uint64_t max_lag; /* ticks a frame may be overdue and still be sent */
	uint64_t time_flag;
	int time_offset;   /* of the launch time in the mbuf */
	uint16_t first_id; /* of the first stream */
	struct tx_pools *pools;
};

/** The senders of a trial. */
struct tx {
	struct tx_env env;
	unsigned streams, tasks;
	unsigned spares; /* the last of the streams, which may be added while the trial runs */
	struct tx_stream *stream;
	struct tx_task *task;    /* one a queue */
	struct tx_order *orders; /* given, and not known to be obeyed */
	unsigned pools;          /* of env.pools, from the first on, that the trial uses */
};

/** Which frames of a stream are sent where: k, k + of, k + 2 of, ... */
struct tx_place {
	struct fg_port *port; /* the queue */
	unsigned queue;       /* of the engine's */
	unsigned k, of;
};

/**
 * Whole cache lines for @p n things of a size, all 0; to be freed. Large tables lie in huge pages, where the
 * kernel has them. NULL without memory.
 */
void *tx_alloc_lines(unsigned n, size_t size);
/** Room for senders, @p spares of them for later, with env still to be filled in. @return 0 or -ENOMEM */
int tx_alloc(struct tx *tx, unsigned streams, unsigned spares, unsigned tasks);
/** Also valid for partly made senders. */
void tx_free(struct tx *tx);

/** Compile what stream @p i sends. @p series  NULL: none is kept */
int tx_stream_init(struct tx *tx, unsigned i, const struct fg_stream_config *config,
		   const struct tx_place *place, struct fg_series *series, struct fg_error *err);
/** Give back what a stream has, so that another one can be in its place; no lcore may look at it. */
void tx_stream_clear(struct tx *tx, unsigned i);
/** Make stream @p i, which is ready, one of its queue's, before tx_give(TX_ADD). */
void tx_stream_join(const struct tx *tx, unsigned i);
/**
 * The task of a queue, once its streams are ready; its port stays NULL without streams.
 * @return 0 or -ENOMEM
 */
int tx_task_init(struct tx *tx, unsigned queue, struct fg_port *port, struct fg_error *err);
/** Let every stream have its own counts again; the trial has ended. */
void tx_settle(struct tx *tx);

/* loads.c */

/** The departures of a single load at a port. */
int tx_pace(const struct tx_env *env, const struct fg_port *port, const struct fg_load *load,
	    const struct fg_sizes *sizes, uint64_t start, struct fg_pace *out, struct fg_error *err);
/** The departures of all loads of a stream whose frames are ready. */
int tx_loads_init(const struct tx_env *env, const struct fg_port *port, struct tx_stream *tx,
		  const struct fg_stream_config *config, struct fg_error *err);

/* pool.c: buffers for a stream's frames: another stream's buffers if they will do */
int tx_pool_take(struct tx *tx, const struct fg_port *port, struct tx_stream *stream, struct fg_error *err);
void tx_pools_free(struct tx_pools *pools);

/* obey.c */

/** Give an order, that calloc() has made, to the sender of its stream. */
void tx_give(struct tx *tx, struct tx_order *order);

/* line.c */

/** The line of a port, all of it one queue's. */
struct tx_line tx_line_of(const struct fg_clock *clock, const struct fg_port_caps *caps);
/** All queues from @p first on belong to one port: tell their tasks, which are ready, what others send. */
void tx_share_line(struct tx *tx, unsigned first, unsigned queues);
/** How long frames of a stream waited in its port at most, ns; at any time. */
uint64_t tx_own_queue(const struct tx *tx, const struct tx_stream *stream);

/* result.c */

/** What was sent of a stream that is of @p n substreams. */
void tx_result(const struct tx *tx, const struct tx_stream *parts, unsigned n, struct fg_stream_result *out);

/** Its first and last departure, ticks; 0 without any. */
struct tx_span {
	uint64_t first, last;
};
struct tx_span tx_span(const struct tx_stream *parts, unsigned n);
/** When frame @p number was due, ns since @p start; as long as none was late that is when it left. */
uint64_t tx_departure_ns(const struct tx_stream *stream, uint64_t number, uint64_t start);

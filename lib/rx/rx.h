/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What control does with the receivers of a trial: make them, and read results when it has ended. All of it
 * belongs to the control thread.
 */
#include "fg_stream_config.h"
#include "rx_queues.h"
#include "rx_task.h"
#include "tx.h"

/** How precisely each stream is measured. */
struct rx_precision {
	unsigned streams;                 /* at most */
	unsigned digits;                  /* of percentiles */
	unsigned window, points, kept;    /* at least: numbers, discontinuities, delays for IPDV */
	unsigned numbers_mib, delays_mib; /* at most, of all streams together */
};

/** How long a stream has to be remembered (windows.c). */
struct rx_reach {
	uint64_t drain_ns;              /* frames without a T_max of their own may be under way so long */
	uint64_t max_lag_ns;            /* and their sender so late */
	uint64_t traffic_ns;            /* FG_ENDLESS: without end, and loads may change */
	uint64_t line_bps;              /* of the fastest port; 0: none has any */
	uint64_t numbers_ns, delays_ns; /* how long the budgets reach */
};

/** The receivers of a trial. */
struct rx {
	unsigned streams, tasks;
	unsigned spares; /* of the streams, the last ones: they may join while the trial runs */
	struct rx_stream *stream;
	struct rx_task *task; /* one a queue of the engine's */
	struct rx_precision precision;
	struct rx_reach reach;
	struct rx_measures measures;
	struct rx_batch *batches;           /* NULL: the streams are few */
	uint8_t *memory;                    /* of both */
	struct fg_histogram *sum_latency;   /* for the results of streams in parts: NULL without any */
	struct fg_variation *sum_variation; /* the same */
};

/** Where a stream should arrive. */
struct rx_place {
	unsigned first, queues; /* of the port, of the engine's */
	unsigned k, of;         /* of the substream (tx.h) */
};

/** A queue in a trial. */
struct rx_task_config {
	const struct rx_task *idle; /* the task between trials */
	unsigned first, queues;     /* of the port, of the engine's */
	const struct rx_rings *rings;
	bool extended;     /* some stream that should arrive there is measured by more than plain counts */
	bool mixed;        /* some stream has frames of several sizes */
	uint16_t first_id; /* of the first stream */
	struct fg_sink *sink;
	struct fg_tap *tap;
};

/**
 * Room for receivers.
 * @param spares  of them for later
 * @param behind  numbers by which a frame can be behind another that came over another queue
 * @return 0 or -ENOMEM
 */
int rx_alloc(struct rx *rx, unsigned streams, unsigned spares, unsigned tasks, unsigned behind,
	     struct fg_error *err);
/**
 * How far back the streams of the trial are remembered, which are the first @p n; before rx_stream_init().
 * Without it each has the least. @p reach  without numbers_ns and delays_ns
 */
void rx_remember(struct rx *rx, const struct fg_stream_config *stream, unsigned n,
		 const struct rx_reach *reach);
/** What every stream has at least, and the share of stream @p i. */
struct rx_window rx_window_least(const struct rx *rx);
struct rx_window rx_window_of(const struct rx *rx, unsigned i, const struct fg_stream_config *stream);
/** How many numbers of it are known by the errors that they have on purpose. */
unsigned rx_window_of_faults(const struct rx *rx, const struct rx_window *window);
/** Make the tracker of stream @p i. @return 0 or -ENOMEM: never with the least */
int rx_window_alloc(const struct rx *rx, unsigned i, const struct rx_window *window, uint64_t first,
		    struct fg_error *err);
/** Also valid for partly made receivers. */
void rx_free(struct rx *rx);

/**
 * Fill in the rest of the receiver of the port's queue @p k between trials: port, clock, time stamps,
 * responder and tap are set. @return 0 or -ENOMEM
 */
int rx_idle_init(struct rx_task *task, unsigned k, unsigned queues);
/** NULL is legal. */
void rx_idle_free(struct rx_task *task);
int rx_task_init(struct rx *rx, unsigned queue, const struct rx_task_config *config, struct fg_error *err);
/** Is more measured of a stream than the plain counts? */
bool rx_is_extended(const struct fg_stream_config *config);
/** Compile what is measured of stream @p i, that @p sent sends. @p series  NULL: none is kept */
int rx_stream_init(struct rx *rx, unsigned i, const struct fg_stream_config *config,
		   const struct rx_place *place, const struct tx_stream *sent, struct fg_series *series,
		   struct fg_error *err);
/** Stream @p i measures copies of what stream @p of sends, at its own port. After rx_stream_init(). */
void rx_stream_follow(struct rx *rx, unsigned i, unsigned of);
/**
 * From now on frames of stream @p i are not looked at. Once no lcore does any more (the caller knows), it may
 * be cleared, and another one be in its place.
 */
void rx_stream_forget(struct rx *rx, unsigned i);
void rx_stream_clear(struct rx *rx, unsigned i);
/** Room to put the results of substreams together. */
int rx_sums_init(struct rx *rx, bool variation, struct fg_error *err);

/**
 * Once all lcores have left the trial: measure what they have not yet told each other, and flush all batches.
 */
void rx_settle(struct rx *rx);

/** What a tap of a port with several queues needs. @return 0 or -ENOMEM */
int rx_tap_open(struct rx_tap *standing, const struct fg_port *port, unsigned queues, struct fg_error *err);
void rx_tap_close(struct rx_tap *standing);
/** Take the tap of a port away: when this returns, no lcore is in it. */
void rx_tap_remove(struct rx_tap *standing);

/**
 * What was received of the stream that is of @p n substreams from @p first on; after tx_result().
 * @param start  of traffic, ticks
 */
void rx_result(struct rx *rx, const struct tx *tx, unsigned first, unsigned n, uint64_t start,
	       struct fg_stream_result *out);
/** The histogram of its delays, until the next call of either. */
const struct fg_histogram *rx_delays(struct rx *rx, unsigned first, unsigned n);
/** With which codepoints its frames arrived. @return how many combinations; the first @p max are in @p out */
unsigned rx_codepoints(const struct rx_stream *parts, unsigned n, struct fg_codepoints *out, unsigned max);
/** With which values; at any time. Times are of the clock. @param other  frames whose values were too many */
unsigned rx_values(const struct rx_stream *parts, unsigned n, struct fg_value *out, unsigned max,
		   struct fg_value *other);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The engine as control has it: ports and lcores, and the trial that runs or ran last. Everything here is
 * written by the control thread. What lcores write they write in their tasks and jobs, which control does not
 * touch while it has handed them over (fg_lcore.h).
 */
#include "fg_engine.h"
#include "fg_lcore.h"
#include "hosts_priv.h"
#include "link_priv.h"
#include "rx.h"
#include "speaker_priv.h"
#include "split_priv.h"
#include "tx.h"

/** A queue of a port, which one lcore sends to and one receives from. */
struct queue {
	struct fg_port *port; /* the queue */
	unsigned of;          /* index of the port it belongs to */
	unsigned tx_lcore, rx_lcore;
	struct rx_task *idle; /* receives between trials: no streams */
};

/** A port's counts in a trial, and their difference from ours. */
struct account {
	struct fg_port_counters before, after; /* at the start of the trial, and at its end */
	/* excess of the NIC's count over ours since the port was opened: known at the start, ... */
	int64_t tx_gap, rx_gap;
	int64_t tx_unaccounted, rx_unaccounted; /* ... and further excess at the end */
	bool link_down;                         /* at the end */
	uint64_t tx_waiting;                    /* test frames that a pause held back, then */
};

struct engine_port {
	struct responder responder; /* first: aligned like a task */
	struct fg_engine *engine;
	struct fg_engine_port config;
	struct split_port queue; /* of the engine's */
	struct rte_ring *to_responder;
	struct rx_rings rings; /* between its queues */
	struct rx_tap standing;
	struct account account;
	uint64_t replies_before; /* the same */
	uint64_t jumps_before;   /* of the card's clock; the same */
};

/** Is a stream in the room of a substream? */
struct spare {
	enum { THERE, GONE, FORGOTTEN } state;
	uint64_t pass; /* of the lcores, in which it was forgotten */
};

/** Room for streams that are added while a trial runs: see spares.c. Written by control. */
struct spares {
	struct spare *slot; /* of each substream */
	unsigned *free;     /* free substreams, the longest free first; a ring */
	unsigned first, n;  /* of them */
	uint64_t pass, seen[FG_MAX_LCORES];
	/* bytes with FCS received by removed streams, of each port */
	uint64_t octets[FG_MAX_PORTS];
};

/** Its streams are substreams of those that were given. */
struct trial {
	struct split split;
	struct spares spares;
	struct tx tx;
	struct rx rx;
	struct fg_series **series; /* of each stream; NULL: none is kept. Written by its tx and its rx */
	struct talker *talker[FG_MAX_PORTS];   /* NULL: the port has none */
	struct speaker *speaker[FG_MAX_PORTS]; /* the same */
	struct place {                         /* of each membership */
		unsigned port, number;         /* among the port's queues */
	} * member;
	struct fg_job job[FG_MAX_LCORES];
	bool values; /* streams that are added may be counted by values */
};

struct fg_engine {
	struct fg_engine_config config;
	struct fg_clock clock;
	struct engine_port port[FG_MAX_PORTS];
	struct queue queue[FG_MAX_PORTS * FG_MAX_QUEUES]; /* port by port */
	unsigned queues;
	struct fg_lcore lcore[FG_MAX_LCORES];
	struct fg_job idle[FG_MAX_LCORES];
	struct tx_pools pools;
	struct trial *trial; /* the running or last one */
	bool running;
	uint64_t wire_now;   /* where the wire's time stands between trials */
	uint64_t looked_at;  /* what ports do by themselves, ticks of the TSC */
	uint64_t counted_at; /* their counters, the same */
	uint64_t ready_at;   /* the last trial's end and settling time, ticks */
	uint64_t serial;     /* of the last job made */
	/*
	 * stream ids differ from trial to trial, so that a straggler is not taken for a frame of the next one
	 */
	uint16_t next_id;
	int tx_time_offset, rx_time_offset;
	uint64_t tx_time_flag, rx_time_flag;
};

/** Rest the lcores while no trial runs, to change data that idle lcores also read. */
void engine_rest(struct fg_engine *engine);
/** Rebuild the idle jobs, while the lcores rest. */
void engine_idle_tasks(struct fg_engine *engine);
/** Resume the idle jobs between trials; lcores of the wire always rest. */
void engine_idle(struct fg_engine *engine);

/** Check a trial's configuration. @return 0, -EINVAL, -EMSGSIZE */
int trial_check(const struct fg_engine *engine, const struct fg_trial_config *config, struct fg_error *err);
/** The same for one stream. */
int trial_check_stream(const struct fg_engine *engine, const struct fg_stream_config *stream,
		       struct fg_error *err);
/* spares.c */
int spares_alloc(struct trial *trial);
void spares_free(struct trial *trial);
/** Is there a stream of that number? */
bool spares_has(const struct trial *trial, unsigned stream);
/** The room that has been free for longest. @return 0, -EAGAIN, -ENOSPC */
int spares_take(struct fg_engine *engine, unsigned *slot, struct fg_error *err);
void spares_give(struct trial *trial, unsigned slot);
/** No frame of a stream is measured any more. */
void spares_forget(struct fg_engine *engine, unsigned stream);
/* trial.c */
/** Compile substream @p i, after the split. */
int trial_stream_init(struct fg_engine *engine, struct trial *trial, unsigned i, struct fg_error *err);
int trial_compile(struct fg_engine *engine, const struct fg_trial_config *config, struct fg_error *err);
void trial_free(struct fg_engine *engine, struct trial *trial);

/* orders.c */

/** @return 0, -ENOENT: there is no such stream */
int engine_find_stream(const struct fg_engine *engine, unsigned stream, struct fg_error *err);
/* to all substreams of a stream; @p pace has one for each of them. @return 0 or -ENOMEM */
int engine_order(struct fg_engine *engine, unsigned stream, enum tx_command command,
		 const struct fg_pace *pace, struct fg_error *err);

/* account.c: before a trial, of a port, and when it has ended; both while the lcores run idle jobs */
void account_open(struct account *account, struct fg_port *port);
void account_close(struct fg_engine *engine);
/** fg_port.left of @p port, a struct engine_port. */
void account_left(void *port, const struct rte_mbuf *m, uint64_t time);
/*
 * While a trial runs: counters of a card have 32 bits and stop at the last value, at 14.88 Mfps after 288
 * seconds, unless somebody reads them
 */
void account_keep(struct fg_engine *engine, uint64_t now);

/* series.c: the part of a stream's result that follows from its series, if it has one */
void series_result(const struct fg_engine *engine, unsigned stream, struct fg_stream_result *out);

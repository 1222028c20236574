/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENGINE_PRIV_H
#define ENGINE_PRIV_H

#include <stdatomic.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "fg_engine.h"
#include "fg_frame.h"
#include "fg_int128.h"
#include "fg_metric.h"
#include "fg_net.h"
#include "fg_port.h"

enum {
	BURST = 32,             /* frames handed to or taken from a port at a time */
	POLLS_PER_LOOK = 16,    /* on the TSC: rounds between looks at `want` */
	ROUNDS_PER_COPY = 2048, /* between publications of counters */
};

/** Ticks of the task's clock, and what they are in nanoseconds: of the wire's time, or of CLOCK_MONOTONIC_RAW. */
struct clock {
	uint64_t hz;
	uint64_t ns_per_tick_q64; /* both clocks tick faster than 1 GHz */
	uint64_t base_ns;         /* the time of tick 0, modulo 2^64 */
};

/** So many ticks, in nanoseconds. */
static inline uint64_t
clock_span_ns(const struct clock *c, uint64_t ticks)
{
	return (uint64_t)(((fg_u128)ticks * c->ns_per_tick_q64) >> 64);
}

/** The time at a tick. */
static inline uint64_t
clock_ns(const struct clock *c, uint64_t tick)
{
	return c->base_ns + clock_span_ns(c, tick);
}

static inline uint64_t
clock_ticks(const struct clock *c, uint64_t ns)
{
	return (uint64_t)((fg_u128)ns * c->hz / 1000000000);
}

/* clock.c: the wire's, and that of the time stamp counter, as far as it is known by now */
void clock_of_wire(struct clock *c);
void clock_of_tsc(struct clock *c);

/** A counter that its lcore publishes and control reads. */
struct published {
	_Atomic uint64_t frames; /* writer: the task's lcore */
} __rte_cache_aligned;

/** Give frames back: at once, if they are of one pool and nothing special, as those of a trial are. */
static inline void
free_burst(struct rte_mbuf **frames, unsigned n)
{
	struct rte_mempool *pool = frames[0]->pool;

	for (unsigned i = 0; i < n; i++) {
		const struct rte_mbuf *m = frames[i];

		if (unlikely(m->pool != pool || m->nb_segs != 1 || !RTE_MBUF_DIRECT(m) ||
			     rte_mbuf_refcnt_read(m) != 1)) {
			rte_pktmbuf_free_bulk(frames, n);
			return;
		}
	}
	rte_mempool_put_bulk(pool, (void **)frames, n);
}

/** Keeps up with the neighbours of one port. Lives on the tx lcore, since it sends. */
struct responder {
	struct fg_task task;
	struct fg_port *port;
	struct rte_mempool *pool;
	struct rte_ring *from_rx;
	const struct clock *clock;
	struct fg_host host;
	uint32_t tag; /* 0: none */
	uint8_t gateway4[4], gateway6[16];
	bool has_gateway4, has_gateway6;
	uint64_t announce_at; /* ticks; UINT64_MAX: done. Written by control before the image starts */
	/* writer: the tx lcore; control reads the MAC after seeing the flag */
	uint8_t mac4[6], mac6[6];
	_Atomic bool known4, known6;
	uint32_t asked; /* request of the last management query; 0: none yet. Writer: the tx lcore */
	_Atomic uint64_t replies; /* to them, verified; writer: the tx lcore */
};

/** Says to the device what is no test frame, during a trial. Written by the tx lcore only. */
struct talker {
	struct fg_task task;
	struct responder *responder; /* of the same port and lcore: has its addresses and sends */
	struct fg_snmp_query query;
	uint64_t next_query, query_every, next_update, update_every, until; /* ticks */
	uint64_t queries, updates;                                          /* sent */
};

/** What one lcore does in a trial. Immutable once handed over, but for its own counts and those of the tasks. */
struct image {
	unsigned tasks;
	struct fg_task **task;
	uint64_t begin, start, stop, end; /* ticks */
	uint64_t step;                    /* on the wire: least advance of time between two rounds */
	uint64_t serial;                  /* tells it from a later one at the same address */
	bool relaxed;                     /* nothing is measured: rest between rounds */
	uint64_t polls,
		longest_gap; /* rounds, and the longest a task waited for its turn; writer: the lcore */
	uint64_t taken;      /* up by the lcore, ticks; real ports only. Writer: the lcore */
};

/** One worker. */
struct lcore {
	struct image *_Atomic want; /* writer: control */
	struct image *_Atomic have; /* writer: the lcore */
	_Atomic uint64_t finished;  /* writer: the lcore; serial of the last image it left */
	_Atomic uint64_t now;       /* writer: the lcore; published time */
	const struct clock *clock;
	enum fg_time time;
	unsigned id;
} __rte_cache_aligned;

extern struct image image_quit; /* wanted: leave the loop */

struct rx_task;

/** Who looks at what a port receives, and goes on doing so from trial to trial. */
struct standing_tap {
	struct fg_tap *_Atomic tap; /* NULL: nobody. Writer: control */
	/* held by a lane while a tap looks, this one or the trial's; only other lanes of the port wait for it */
	rte_spinlock_t look;
};

/** A queue of a port, which one lcore sends to and one receives from. */
struct lane {
	struct fg_port *port; /* the queue */
	unsigned of;          /* index of the port it belongs to */
	unsigned tx_lcore, rx_lcore;
	struct rx_task *idle_rx;            /* between trials: no streams */
	struct rte_ring *to[FG_MAX_QUEUES]; /* the other lanes of the port (rx_lanes.h) */
};

struct engine_port {
	struct responder responder; /* first: aligned like a task */
	struct fg_engine_port config;
	unsigned first_lane, lanes; /* of the engine's */
	struct rte_ring *to_responder;
	struct standing_tap standing;
	struct fg_port_counters before; /* at the start of the trial */
	uint64_t replies_before;        /* the same */
	uint64_t jumps_before;          /* of the card's clock; the same */
};

struct rx_stream;
struct stream_pool;
struct tx_stream;
struct tx_task;
struct tx_order;

/** What one lane sends of a stream: all of it, or every so many frames of it. */
struct part {
	unsigned lane;
	unsigned k, of; /* frames k, k + of, k + 2 of, ... */
};

/** Streams are those of the engine, one a part of those that were given. */
struct trial {
	unsigned given, streams;
	unsigned *
		first; /* [i]: the first one of those that stream i was made into; [given]: how many there are */
	struct part *part;
	struct fg_stream_config *config; /* its load and frame pointers are not valid any more */
	struct tx_stream *tx;
	struct tx_task *tx_task; /* one a lane */
	struct tx_order *orders; /* given, and not known to be obeyed */
	uint64_t max_lag;        /* ticks */
	struct rx_stream *rx_stream;
	uint8_t *measures;                   /* what they point to */
	struct rx_note *notes;               /* there; NULL: they are few */
	struct rx_task *rx;                  /* one a lane */
	struct fg_histogram *sum_latency;    /* for the results of streams in parts: NULL without any */
	struct fg_variation *sum_variation;  /* the same */
	struct talker *talker[FG_MAX_PORTS]; /* NULL: this port says nothing */
	unsigned pools;                      /* of the engine's, from the first on, that it uses */
	struct image image[FG_MAX_LCORES];
};

struct fg_engine {
	struct fg_engine_config config;
	struct clock clock;
	struct engine_port port[FG_MAX_PORTS];
	struct lane lane[FG_MAX_PORTS * FG_MAX_QUEUES]; /* port by port */
	unsigned lanes;
	struct lcore lcore[FG_MAX_LCORES];
	struct image idle[FG_MAX_LCORES];
	struct stream_pool *pool; /* made when first needed, kept for the next trials */
	unsigned pools;
	struct trial *trial; /* the running or last one */
	bool running;
	uint64_t wire_now;  /* where the wire's time stands between trials */
	uint64_t looked_at; /* what ports do by themselves, ticks of the TSC */
	uint64_t ready_at;  /* the last trial's end and settling time, ticks */
	uint64_t serial;    /* of the last image made */
	uint16_t
		next_id; /* stream ids differ from trial to trial, so that a straggler is not taken for ours */
	int tx_time_offset, rx_time_offset;
	uint64_t tx_time_flag, rx_time_flag;
};

/** Into how many parts stream @p i of those given was made. */
static inline unsigned
parts_of(const struct trial *t, unsigned i)
{
	return t->first[i + 1] - t->first[i];
}

int lcore_run(void *lcore);

uint64_t responder_poll(struct fg_task *task, uint64_t now);
/** A buffer and where its frame begins; NULL when there is none. */
uint8_t *responder_buffer(struct responder *r, struct rte_mbuf **m);
void responder_send(struct responder *r, struct rte_mbuf *m, size_t length, uint64_t now);
/** What a port says in the trial of that timeline. @return NULL without memory */
struct talker *talker_create(const struct fg_talk *talk, struct responder *responder,
			     const struct image *timeline);

/* parts.c: divide what is given among the lanes: first, part, config and their numbers. @return 0 or -ENOMEM */
int parts_make(const struct fg_engine *engine, struct trial *trial, const struct fg_trial_config *config);
/** Frames per second that a stream sends at most. */
double parts_peak_fps(const struct fg_stream_config *stream);

/* tx_round_setup.c: let every stream have its own counts again; the trial has ended */
void tx_settle(struct trial *trial, unsigned lanes);

/* trial.c */
int trial_compile(struct fg_engine *engine, const struct fg_trial_config *config, struct fg_error *err);
void trial_free(struct fg_engine *engine, struct trial *trial);

#endif

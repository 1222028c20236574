/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_PRIV_H
#define TX_PRIV_H

#include "engine_priv.h"
#include "fg_pace.h"
#include "series_priv.h"
#include "tx_queue.h"

/**
 * A stream as its sender knows it. Written by the tx lcore only; control may read the counts of frames and octets at
 * any time, the rest when the trial has ended.
 */
struct tx_stream {
	struct fg_pace pace;             /* of the present load */
	uint64_t sequence;               /* of the next frame */
	uint64_t sent, octets;           /* frames, and their octets with FCS */
	const struct fg_template *frame; /* if all are of one size */
	struct rte_mempool *pool;
	uint16_t id;        /* in the signature */
	bool whole;         /* the buffers hold nothing yet: a frame is written whole */
	bool mixed;         /* or the longest of several: a frame has to be mended (tx_mix.h) */
	bool stopped;       /* on command */
	struct tx_run *run; /* in the queue; NULL: in none */
	struct tx_stream *ahead, *behind;
	struct tx_round *round; /* in which it takes turns, and which counts for it; NULL: none */
	unsigned place;         /* there */

	const struct fg_sizes *sizes; /* NULL: all frames are of one size */
	struct fg_template **frames;  /* of each size */
	unsigned templates;
	struct fg_pace *load; /* all loads, as they were to begin */
	unsigned loads, present;
	uint64_t shift;         /* ticks by which stops have put off the loads */
	uint64_t stopped_at;    /* ticks; if stopped */
	uint64_t present_first; /* sequence number of the first frame of the present load */
	bool ordered;           /* a load of control's has taken the place of those planned */
	struct {
		uint64_t intended, late, off_schedule, worst_lag;
	} past;           /* of the loads behind us */
	double peak_fps;  /* of all loads */
	uint64_t on_time; /* ticks a frame may be behind and still be on schedule */
	uint64_t number,
		apart; /* of a part: its first frame's number in the stream, and from one to the next */
	uint64_t refused, no_mbuf;
	uint64_t first, last;  /* departures, ticks */
	uint64_t interval_end; /* of the series, ticks; UINT64_MAX: none is kept */
	struct series *series;
	const struct clock *clock;
	bool early;               /* frames are handed over before they depart */
	struct tx_faults *faults; /* NULL: all is right */
} __rte_cache_aligned;

/** The template of a stream's frame @p number. */
static inline struct fg_template *
tx_template(const struct tx_stream *s, uint64_t number)
{
	return s->frames[s->sizes == NULL ? 0 : fg_sizes_kind(s->sizes, number)];
}

/** What control wants of a stream; obeyed at the next poll. */
enum tx_command { TX_START, TX_STOP, TX_LOAD };
struct tx_order {
	struct tx_order *next;   /* of the task's */
	struct tx_order *issued; /* of control's */
	struct tx_stream *stream;
	enum tx_command command;
	uint64_t from;       /* ticks; no earlier: all parts of a stream obey at one time. 0: now */
	struct fg_pace pace; /* TX_LOAD: as if it began at 0 */
	_Atomic bool obeyed; /* writer: the lcore; then it may be freed */
};

/** A frame that is due. */
struct tx_due {
	struct tx_stream *stream;
	uint64_t at; /* its departure, ticks */
};

/** Transmit all streams of one lane. Written by the tx lcore only. */
struct tx_task {
	struct fg_task task;
	struct fg_port *port;
	const struct clock *clock;
	struct tx_order
		*_Atomic orders; /* the last one first; control puts them in, the lcore takes them all */
	struct tx_order *todo;   /* those it has taken, the first one first */
	uint64_t lead;           /* ticks that frames are handed over before they depart */
	uint64_t start;          /* ticks; of traffic */
	uint64_t nap;            /* ticks after which a task without work looks for orders */
	uint64_t time_flag;
	int time_offset;          /* of the launch time in the mbuf */
	struct tx_stream *only;   /* the lane's stream, if it has but one */
	bool more;                /* some stream's frames need more than to be filled and varied */
	struct rte_mempool *pool; /* of all streams, if it is the same */
	struct tx_queue queue;
	struct tx_round *round; /* of all streams; NULL: each goes its own way ... */
	struct tx_round *left;  /* ... and did not before */
	unsigned waiting;       /* frames that were due before, and that the port did not take */
	struct tx_due due[BURST];
} __rte_cache_aligned;

enum { TX_MIX_SIZES = 8 }; /* up to which it pays to keep the longest frame in the buffers */

/** Buffers of the streams of a lane that have the same payload: it is written once, the headers for each frame. */
struct stream_pool {
	uint16_t length[TX_MIX_SIZES]; /* of the frames that use it, if there are several; 0: no more */
	struct rte_mempool *pool;
	struct fg_template *content; /* a copy of what the buffers hold; NULL: nothing */
	unsigned lane;
};

/* tx_pool.c: buffers for a stream's frames: those of another stream of the trial if they will do */
int tx_pool_take(struct fg_engine *engine, struct trial *trial, unsigned lane, struct tx_stream *stream,
		 struct fg_error *err);
void tx_pools_free(struct fg_engine *engine);

/* tx_setup.c: compile what stream @p i sends, by the clock that starts with @p timeline */
int tx_stream_init(struct fg_engine *engine, struct trial *trial, unsigned i,
		   const struct fg_trial_config *config, const struct image *timeline, struct fg_error *err);
/** The task of a lane, once its streams are ready. @return 0; 1: nothing is sent there; -ENOMEM */
int tx_task_init(struct fg_engine *engine, struct trial *trial, unsigned lane, const struct image *timeline,
		 struct fg_error *err);
void tx_free(struct fg_engine *engine, struct trial *trial);

/* tx_setup.c: the departures of a load at a port */
int tx_pace(const struct fg_engine *engine, const struct trial *trial, unsigned port,
	    const struct fg_load *load, const struct fg_sizes *sizes, uint64_t start, struct fg_pace *out,
	    struct fg_error *err);

/* tx.c: the loop for a port, by what it has to send now */
void tx_choose(struct tx_task *task);
/* tx_many.c */
uint64_t tx_many_now(struct fg_task *task, uint64_t now);
uint64_t tx_many_launch(struct fg_task *task, uint64_t now);
/** The same where a stream needs more. */
uint64_t tx_more_now(struct fg_task *task, uint64_t now);
uint64_t tx_more_launch(struct fg_task *task, uint64_t now);

/* tx_order.c: do what control wants, once all that is due at @p now has gone. @return when to be polled next */
uint64_t tx_obey(struct tx_task *task, uint64_t now);
void tx_orders_free(struct tx_order *issued);

static inline bool
tx_ordered(struct tx_task *t)
{
	return atomic_load_explicit(&t->orders, memory_order_relaxed) != NULL || t->todo != NULL;
}

/** When a task whose next frame departs at @p next wants to be polled, ticks. */
static inline uint64_t
tx_wake(const struct tx_task *t, uint64_t next, uint64_t now)
{
	uint64_t look = t->nap == UINT64_MAX ? UINT64_MAX : now + t->nap;

	return next == UINT64_MAX ? look : RTE_MIN(next - t->lead, look);
}

/** What went before counts as it is, and another load begins. */
static inline void
tx_leave_load(struct tx_stream *s, uint64_t intended)
{
	s->past.intended += intended;
	s->past.late += s->pace.late;
	s->past.off_schedule += s->pace.off_schedule;
	s->past.worst_lag = RTE_MAX(s->past.worst_lag, s->pace.worst_lag);
	s->present_first = s->sequence;
}

/** Turn to the next load when the present one is done. */
static inline void
tx_next_load(struct tx_stream *s)
{
	while (unlikely(s->pace.next >= s->pace.total) && s->present + 1 < s->loads) {
		tx_leave_load(s, s->pace.total);
		s->pace = s->load[++s->present];
		fg_pace_on_time(&s->pace, s->on_time);
		fg_pace_move(&s->pace, s->shift);
	}
}

/* tx_round_setup.c */

/** Frames of a stream that have gone; at any time. */
uint64_t tx_sent(const struct tx_stream *stream);
/** Their octets with FCS. */
uint64_t tx_octets(const struct tx_stream *stream);

/* tx_result.c */

/** What was sent of a stream that is of @p n parts; after the trial. */
void tx_result(const struct tx_stream *parts, unsigned n, struct fg_stream_result *out);
/** Its first and last departure, ticks; 0 without any. */
struct tx_span {
	uint64_t first, last;
};
struct tx_span tx_span(const struct tx_stream *parts, unsigned n);
/** When frame @p number was due, ns since @p start; as long as none was late that is when it left. */
uint64_t tx_departure_ns(const struct tx_stream *stream, uint64_t number, uint64_t start);

#endif

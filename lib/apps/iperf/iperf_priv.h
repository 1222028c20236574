/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of iperf3 share, both roles. Each file calls those above it in this list and no others:
 *
 *   streams.c  the streams of a test and what was counted of them
 *   udp.c      datagrams
 *   run.c      a test while it runs
 *   orders.c   what control orders and is shown
 *   iperf.c    the kind: what happens to connections and datagrams
 *
 * Fields are the lcore's, unless their comment names another writer.
 */
#pragma once

#include <stdatomic.h>

#include "../app_priv.h"
#include "../fg_l4_iperf.h"

enum { IPERF_MAX_OUT = 131072, IPERF_MAX_IN = 262144, IPERF_DENIED = 0xff };

/** What a connection is to iperf3. WAITING: for the end of the session whose peer has gone. */
enum iperf_phase { PHASE_OTHER, PHASE_CONTROL, PHASE_GREETING, PHASE_STREAM, PHASE_DENIED, PHASE_WAITING };

/** iperf3's own of a connection. */
struct iperf_conn {
	struct client_stream client; /* first */
	uint32_t index;              /* of the stream */
	uint8_t phase;               /* enum iperf_phase */
};

static_assert(sizeof(struct iperf_conn) <= FG_STREAM_AREA, "the area of a stream");

/** How far a session is. */
enum iperf_step { STEP_NONE, STEP_CONTROL, STEP_OPEN, STEP_RUN, STEP_END };

/** What control is shown of a session. */
enum iperf_flag { FLAG_CONNECTED = 1, FLAG_HALTED = 2, FLAG_GONE = 4, FLAG_OVER = 8 };

struct iperf_stream {
	struct fg_stream *conn; /* of TCP, while it is there */
	struct fg_flow flow;    /* of UDP */
	bool sends;             /* this side does */
	uint64_t most;          /* of TCP that sends: bytes, unless the test ends before */
	uint64_t arrived_at;    /* ns: last payload */
	double next_at;         /* ns: when its next datagram is due */
	struct jitter jitter;
	struct fg_l4_iperf_count all, omitted; /* `all.octets` of TCP: when it is over */
};

struct iperf {
	struct application *owner; /* of two servers that are one, IPv4 and IPv6, the first */
	bool server;
	uint8_t step; /* enum iperf_step */
	bool opened;  /* client: the control connection was */

	/* the control connection: all that it ever sends is kept, so that it can be sent again */
	struct fg_stream *control, *waiting;
	uint32_t written;        /* bytes of `out` that are on their way */
	char in[IPERF_MAX_IN];   /* `received` of them can be read */
	char out[IPERF_MAX_OUT]; /* by control, `queued` of them; the lcore's from END to the next session */
	_Atomic uint32_t queued; /* as `out` */
	_Atomic uint32_t received; /* these are shown to control */
	_Atomic uint32_t session, streams_open, counted;
	_Atomic uint32_t flags;           /* enum iperf_flag */
	_Atomic uint32_t orders;          /* enum fg_l4_iperf_order: set by control, cleared by the lcore */
	struct fg_flow peer[2];           /* of session n: n % 2, written before `session` is n */
	struct fg_l4_iperf_test wanted;   /* by control, before OPEN */
	struct fg_l4_iperf_counts counts; /* the lcore's from COUNT until `counted`; then control's */

	/* the test */
	struct fg_l4_iperf_test test;
	struct iperf_stream stream[FG_L4_IPERF_STREAMS];
	uint32_t streams, streams_wanted;
	uint32_t turn, latest;                /* the first to send; the last that received a datagram */
	uint64_t running_at, omit_at, end_at; /* ns; figures are of the time from omit_at on */
	uint64_t deadline;                    /* ns: client, the end of its test; then of the last bytes */
	uint64_t asked_at;                    /* client: when the datagram that opens a stream was sent */
	uint64_t retransmitted;               /* of the worker, at omit_at */
	bool omitting;
};

struct iperf_application {
	struct application app; /* first */
	struct iperf *iperf;
	bool joined; /* it is another application's */
};

static inline struct iperf *
iperf_of_app(const struct fg_app *app)
{
	return ((const struct iperf_application *)app)->iperf;
}

static inline struct iperf *
iperf_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return iperf_of_app(w->app[s->app]);
}

static inline struct iperf_conn *
iperf_conn_of(const struct fg_stream *s)
{
	return (struct iperf_conn *)client_of(s);
}

static inline struct iperf_stream *
iperf_stream_of(struct iperf *p, const struct fg_stream *s)
{
	return &p->stream[iperf_conn_of(s)->index];
}

/** Show control that something has come true. */
static inline void
iperf_raise(struct iperf *p, enum iperf_flag flag)
{
	atomic_fetch_or_explicit(&p->flags, flag, memory_order_release);
}

/* streams.c */
/** The next stream: client and server count them alike, those that the client sends first. */
struct iperf_stream *iperf_add_stream(struct iperf *p);
/** Does it end with the test? Of a client all do; what a server receives may still be on its way then. */
bool iperf_is_frozen(const struct iperf *p, const struct iperf_stream *s);
/** Bytes of a stream without the cookie, which goes from the client to the server. */
uint64_t iperf_octets(const struct iperf *p, const struct iperf_stream *s);
/** What was counted of a stream since its beginning, omitted time and all. */
struct fg_l4_iperf_count iperf_count(const struct iperf *p, const struct iperf_stream *s);
/** For control: what was counted of all until now. */
void iperf_show_counts(const struct fg_l4 *w, struct iperf *p);
/** A connection's part in the test is over; it may linger for a while, but sends nothing more. */
void iperf_release(struct fg_l4 *w, struct fg_stream *s);
/** A server has no test for the client that has connected. */
void iperf_deny(struct fg_l4 *w, struct fg_stream *s);

/* udp.c */
/** A datagram has come. */
void iperf_udp_take(struct fg_l4 *w, struct iperf *p, const struct fg_flow *flow, const uint8_t *data,
		    uint32_t length);
uint64_t iperf_udp_send(struct fg_l4 *w, struct iperf *p);
/** Client: open what is still to be opened, one after the other, since a server listens for one only. */
void iperf_udp_open(struct fg_l4 *w, struct iperf *p);

/* run.c */
/** All streams begin. */
void iperf_run(struct fg_l4 *w, struct iperf *p);
/** Send what is due, begin the figures when the omitted time is over. @return when there is more to do */
uint64_t iperf_go_on(struct fg_l4 *w, struct iperf *p);
/**
 * The time is over: what is sent from now on does not count. Our client sends no more. Our server does until
 * TRUNCATE: the client reads whole blocks, from wherever it was, and reads no message before it has one.
 */
void iperf_halt(struct fg_l4 *w, struct iperf *p);
void iperf_truncate(struct fg_l4 *w, struct iperf *p);

/* orders.c */
/** A session begins with its control connection. */
void iperf_begin(struct fg_l4 *w, struct iperf *p, struct fg_stream *s);
uint64_t iperf_poll(struct fg_l4 *w, struct fg_app *app);

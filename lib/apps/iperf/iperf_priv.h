/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both roles of iperf3 share. Each file calls those above it in this list and no others:
 *
 *   json.c     as much JSON as a peer may send
 *   streams.c  the streams of a test and what was counted of them
 *   params.c   what a client asks of a server; what either side has counted
 *   report.c   what is reported to control
 *   control.c  what is sent on the control connection
 *   udp.c      datagrams
 *   run.c      a test while it runs
 *   client.c   our client, to `iperf3 -s`
 *   server.c   our server, for `iperf3 -c`
 *   iperf.c    the kind: what happens to connections and datagrams
 */
#ifndef IPERF_PRIV_H
#define IPERF_PRIV_H

#include <stdatomic.h>

#include "../app_priv.h"
#include "../fg_l4_iperf.h"
#include "json_priv.h"

enum {
	IPERF_COOKIE = 37,
	IPERF_LENGTH_OCTETS = 4, /* in front of a text */
	IPERF_MAX_OUT = 131072,
	IPERF_MAX_IN = 262144,
	IPERF_MAX_PARALLEL = 128,
	IPERF_MAX_STREAMS = 2 * IPERF_MAX_PARALLEL,
};

/** iperf3's states, as the octets that say them. */
enum iperf_state {
	IPERF_IDLE = 0, /* ours: there is no test */
	IPERF_TEST_START = 1,
	IPERF_TEST_RUNNING = 2,
	IPERF_TEST_END = 4,
	IPERF_PARAM_EXCHANGE = 9,
	IPERF_CREATE_STREAMS = 10,
	IPERF_SERVER_TERMINATE = 11,
	IPERF_CLIENT_TERMINATE = 12,
	IPERF_EXCHANGE_RESULTS = 13,
	IPERF_DISPLAY_RESULTS = 14,
	IPERF_ALL_DONE = 16,
	IPERF_COOKIE_DUE = 32, /* ours: before anything was said */
	IPERF_CLOSING = 33,    /* ours: after all was said */
	IPERF_SERVER_ERROR = 0xfe,
	IPERF_ACCESS_DENIED = 0xff,
};

/** What is wrong, by iperf3's numbers. */
enum iperf_error {
	IPERF_BAD_DURATION = 5,
	IPERF_BAD_STREAMS = 6,
	IPERF_BAD_MSS = 10,
	IPERF_NO_SCTP = 18,
	IPERF_BAD_UDP_LENGTH = 20,
	IPERF_BAD_MESSAGE = 110,
	IPERF_BUSY = 121,
	IPERF_BAD_PARAMS = 114,
	IPERF_BAD_RESULTS = 117,
	IPERF_BAD_CONGESTION = 134,
};

/** What a connection is to iperf3. */
enum iperf_phase { PHASE_OTHER, PHASE_CONTROL, PHASE_GREETING, PHASE_STREAM, PHASE_DENIED };

/** iperf3's own of a connection. */
struct iperf_conn {
	struct client_stream client; /* first */
	uint32_t index;              /* of the stream */
	uint8_t phase;               /* enum iperf_phase */
};

static_assert(sizeof(struct iperf_conn) <= FG_STREAM_AREA, "the area of a stream");

/** What is expected next on the control connection. */
enum iperf_expected { A_STATE, A_LENGTH, A_TEXT, A_FAULT };

/** What a client asks for. */
struct iperf_params {
	bool udp, sctp, reverse, both, wide_counters, wants_output;
	bool other_congestion; /* of a name that we do not know */
	uint8_t congestion;    /* 1 + enum fg_l4_congestion; 0: not said */
	double parallel, length, omit_s, time_s, rate_bps, mss, window;
	double octets, blocks; /* TCP: to be sent by all streams together; 0: until the test ends */
};

struct iperf_stream {
	struct fg_stream *conn;               /* of TCP, while it is there */
	struct fg_flow flow;                  /* of UDP */
	bool sends;                           /* this side does */
	uint64_t octets;                      /* since its beginning; of TCP, when it is over */
	uint64_t packets, lost, out_of_order; /* of UDP */
	uint64_t arrived_at;                  /* ns: last payload */
	struct jitter jitter;
	uint64_t most;                           /* of TCP that sends: bytes, unless the test ends before */
	double next_at;                          /* ns: when its next datagram is due */
	uint64_t left_out;                       /* datagrams that were due too long ago to be sent */
	struct fg_l4_iperf_count omitted, shown; /* when figures began, and at the last interval */
	struct fg_l4_iperf_count theirs;         /* what the peer said in the end */
	struct fg_l4_iperf_count told;           /* what the peer was told, if it was */
};

enum { IPERF_REPORTS = 1024 };

/** Reports on their way to control: one writes, one reads. */
struct iperf_ring {
	struct fg_l4_iperf_report report[IPERF_REPORTS];
	_Atomic uint32_t written; /* by the lcore */
	_Atomic uint32_t taken;   /* by control */
	uint64_t missed;
};

struct iperf {
	struct application *owner; /* of two servers that are one, IPv4 and IPv6, the first */
	bool server;

	/* the control connection: all that it ever sends is kept, so that it can be sent again */
	struct fg_stream *control;
	char out[IPERF_MAX_OUT], in[IPERF_MAX_IN + 1];
	uint32_t queued, text_begin; /* octets of `out`; where the text begins that is being written */
	bool too_long;               /* it did not fit */
	uint32_t text, wanted;       /* octets of `in`, and still to come */
	uint8_t length[4], length_octets, expected;
	char cookie[IPERF_COOKIE];

	/* the test */
	uint8_t state;
	struct iperf_params params;
	struct iperf_stream stream[IPERF_MAX_STREAMS];
	uint32_t streams, streams_wanted;
	uint32_t turn, latest;                /* who sends first; whose datagram came last */
	uint64_t running_at, omit_at, end_at; /* ns; figures are of the time from omit_at on */
	uint64_t retransmitted;               /* of the worker, at omit_at */
	bool omitting;
	bool told; /* the peer has our results: they no longer change */

	/* of the client */
	bool opened, ended;
	uint64_t asked_at; /* when the datagram that opens a stream was sent */

	uint64_t deadline; /* client: end of its test; server: of the client's next step */

	/* of the server */
	uint64_t interval_at, interval_from;
	bool have_results; /* the client's; ours are not said yet */
	uint8_t ending;    /* enum fg_l4_iperf_end */
	uint32_t refusal;
	_Atomic bool stop; /* by control */
	struct iperf_ring ring;
};

struct iperf_application {
	struct application app; /* first */
	struct iperf *iperf;
	bool joined; /* that is another's */
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

/* streams.c */
static inline uint32_t
iperf_number(uint32_t index)
{
	return index == 0 ? 1 : index + 2; /* so iperf3 has always done */
}
/** The next stream: client and server count them alike, those that the client sends first. */
struct iperf_stream *iperf_add_stream(struct iperf *p);
struct iperf_stream *iperf_stream_of(struct iperf *p, const struct fg_stream *s);
/** Does it end with the test? Of a client all do; what a server receives may still be on its way then. */
bool iperf_is_frozen(const struct iperf *p, const struct iperf_stream *s);
/** Octets of a stream without the cookie, which goes from the client to the server. */
uint64_t iperf_octets(const struct iperf *p, const struct iperf_stream *s);
/** What was counted of a stream since its beginning, omitted time and all. */
struct fg_l4_iperf_count iperf_count(const struct iperf *p, const struct iperf_stream *s);
/** And of the test proper. */
struct fg_l4_iperf_count iperf_result(const struct fg_l4 *w, const struct iperf *p, uint32_t index);
struct fg_l4_iperf_count iperf_difference(const struct fg_l4_iperf_count *now,
					  const struct fg_l4_iperf_count *before);

/* params.c */
/** @return 0, or what is wrong (enum iperf_error) */
uint32_t iperf_read_params(struct iperf_params *out, const char *text, size_t octets, uint32_t longest);
/** What the peer counted, to the streams. @return whether it could be read */
bool iperf_read_results(struct iperf *p);
/** The server's TCP, as the client wants it for its test. */
void iperf_apply_params(const struct iperf_params *params, struct fg_l4_tcp *tcp);

/* report.c */
void iperf_report_test(struct iperf *p, const struct fg_flow *f);
void iperf_report_interval(struct fg_l4 *w, struct iperf *p);
void iperf_report_end(struct fg_l4 *w, struct iperf *p);
/** By control: the next report. @return false: no report is left */
bool iperf_report_next(struct iperf *p, struct fg_l4_iperf_report *out);

/* control.c */
/** A connection's part in the test is over; it may linger for a while, but sends nothing more. */
void iperf_release(struct fg_l4 *w, struct fg_stream *s);
/** Queue octets of the control connection. */
void iperf_send(struct fg_l4 *w, struct iperf *p, const void *data, size_t octets);
void iperf_send_state(struct fg_l4 *w, struct iperf *p, uint8_t state);
/** A text of several pieces, with its length in front. */
void iperf_text_begin(struct iperf *p);
void iperf_text_add(struct iperf *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void iperf_text_end(struct fg_l4 *w, struct iperf *p);
/** Before another test: nothing has been sent yet. */
void iperf_reset(struct iperf *p);

/* udp.c */
/** A datagram has come; @p opened: the server has one stream more by it. */
void iperf_udp_take(struct fg_l4 *w, struct iperf *p, const struct fg_flow *flow, const uint8_t *data,
		    uint32_t length, bool *opened);
uint64_t iperf_udp_send(struct fg_l4 *w, struct iperf *p);
/** Ask for a stream. @return false: there is no room now */
bool iperf_udp_open(struct fg_l4 *w, struct iperf *p, const struct fg_flow *f);

/* run.c */
/** All streams begin. */
void iperf_run(struct fg_l4 *w, struct iperf *p);
/**
 * Send what is due at a rate, and begin the figures when the omitted time is over. @return when there is more
 * to do
 */
uint64_t iperf_go_on(struct fg_l4 *w, struct iperf *p);
/**
 * The time is over: what is sent from now on does not count. Our client sends no more. Our server does until
 * it has the client's results: the client reads whole blocks, from wherever it was, and reads no message
 * before it has one.
 */
void iperf_halt(struct fg_l4 *w, struct iperf *p);
void iperf_truncate(struct fg_l4 *w, struct iperf *p);
/** Our results, as the peer wants them. They are reported, too: later data do not count. */
void iperf_send_results(struct fg_l4 *w, struct iperf *p);
/** Has everything come that the sender reports to have sent? */
bool iperf_has_all(const struct iperf *p);

/* client.c */
uint64_t iperf_client_poll(struct fg_l4 *w, struct fg_app *app);
/** The server sends a state; an error; a text of it is whole; the control connection is over. */
void iperf_client_state(struct fg_l4 *w, struct iperf *p, uint8_t state);
void iperf_client_fault(struct fg_l4 *w, struct iperf *p, uint32_t error);
void iperf_client_text(struct fg_l4 *w, struct iperf *p);
void iperf_client_gone(struct fg_l4 *w, struct iperf *p);

/* server.c */
uint64_t iperf_server_poll(struct fg_l4 *w, struct fg_app *app);
/**
 * The first connection of a test; its cookie is here; the client sends a state; a text of it is whole; it is
 * over.
 */
void iperf_server_begin(struct fg_l4 *w, struct iperf *p, struct fg_stream *s);
void iperf_server_greeted(struct fg_l4 *w, struct iperf *p);
void iperf_server_state(struct fg_l4 *w, struct iperf *p, uint8_t state);
void iperf_server_text(struct fg_l4 *w, struct iperf *p);
void iperf_server_gone(struct fg_l4 *w, struct iperf *p);
/** There is one stream more. */
void iperf_server_stream(struct fg_l4 *w, struct iperf *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * iperf3 (kind IPERF), both roles, as control drives them. A session is one connection that controls a test.
 * The lcore carries its bytes, opens or takes the streams of the test, sends and counts; what the bytes mean
 * is known to control alone (framegauge.tester.iperf3.session in Lua), which reads them, answers, and gives
 * orders. Neither waits for the other.
 *
 * The lcore halts the figures by itself, as control would be late: a client when its time is over, both roles
 * when the peer says anything on the control connection while the streams run.
 */

struct fg_l4;

enum {
	FG_L4_IPERF_COOKIE = 37,
	FG_L4_IPERF_STREAMS = 256, /* of a test, both directions */
};

/** A test, as its streams need to know it. */
struct fg_l4_iperf_test {
	char cookie[FG_L4_IPERF_COOKIE]; /* that each stream of TCP begins with */
	bool udp, reverse, both;         /* reverse: the server sends; both: both do */
	bool wide_counters;              /* datagrams have numbers of 64 bits */
	uint8_t congestion;              /* server: 1 + enum fg_l4_congestion; 0: as configured */
	uint16_t mss;                    /* server; 0: as configured */
	uint32_t window;                 /* server: bytes of both buffers of a stream; 0: as configured */
	uint32_t parallel;               /* streams in each direction, 1 to 128; no more are opened */
	uint32_t length;       /* bytes of a datagram or write, at least 1; a datagram's header fits */
	double rate_bps;       /* of each stream; 0: as fast as it goes */
	double omit_s, time_s; /* time_s: client; the server's client ends the test */
	uint64_t blocks;       /* TCP: writes of all streams that send; 0: until the end */
};

/** Orders for a session that control has seen begin; each but COUNT once. They are done in this order. */
enum fg_l4_iperf_order {
	FG_L4_IPERF_OPEN = 1,     /* the streams of a test */
	FG_L4_IPERF_RUN = 2,      /* they begin; before what is sent after the order */
	FG_L4_IPERF_HALT = 4,     /* the figures, if they are not over */
	FG_L4_IPERF_TRUNCATE = 8, /* what is not sent yet will not be */
	FG_L4_IPERF_COUNT = 16,   /* for fg_l4_iperf_read() */
	FG_L4_IPERF_REFUSED = 32, /* client: there is no test; counts as a bad response */
	FG_L4_IPERF_END = 64,     /* of the session, when what was sent before has left */
	FG_L4_IPERF_ABORT = 128,  /* with END: the control connection is reset */
	FG_L4_IPERF_STOP = 256,   /* server: no further session; this order stays */
};

struct fg_l4_iperf_state {
	uint32_t session;  /* number of the last one, from 1; 0: there was no session */
	uint32_t streams;  /* that are open */
	uint32_t counted;  /* orders COUNT that were done */
	uint32_t received; /* bytes on the control connection */
	bool connected;    /* the control connection is established */
	bool halted;       /* the figures are over */
	bool gone;         /* the control connection is over: no byte follows the `received` ones */
	bool over;         /* client: the time of the trial is over */
	bool ipv6;
	uint8_t remote[16]; /* the other end; IPv4 as ::ffff:a.b.c.d */
	uint16_t remote_port;
};

/** Bytes and datagrams of a stream. Datagrams are 0 of TCP. */
struct fg_l4_iperf_count {
	uint64_t octets;             /* payload */
	uint64_t datagrams;          /* sent; of a receiver, the highest number that came */
	uint64_t lost, out_of_order; /* as iperf3 counts: a copy counts as out of order */
	uint64_t left_out;           /* of a sender: datagrams that were due and too late to be sent */
};

struct fg_l4_iperf_stream {
	bool sends;                            /* this side does */
	bool open;                             /* TCP: its connection is */
	struct fg_l4_iperf_count all, omitted; /* since the beginning; and until the figures began */
	double jitter_ns;                      /* RFC 3550, 6.4.1; RFC 1889 */
	double to_s;                           /* end of its figures; 0: not known yet */
};

/** What was counted at one moment. Times are seconds since the test began. */
struct fg_l4_iperf_counts {
	double now_s, from_s; /* the moment; begin of the figures */
	bool omitting;        /* they have not begun */
	uint64_t retransmits; /* segments of all streams since then */
	bool cubic;           /* congestion control is; else reno */
	uint32_t streams;
	struct fg_l4_iperf_stream stream[FG_L4_IPERF_STREAMS];
};

/* All functions are control's, at any time; @p app is the index of an application of kind IPERF. */

void fg_l4_iperf_look(const struct fg_l4 *l4, unsigned app, struct fg_l4_iperf_state *out);
/** All bytes of the session, `received` of them, until the next session. */
const char *fg_l4_iperf_received(const struct fg_l4 *l4, unsigned app);
/**
 * Send bytes on the control connection. Not after END.
 * @return false: more than a session can have
 */
bool fg_l4_iperf_send(struct fg_l4 *l4, unsigned app, const void *data, uint32_t octets);
/** @param test  with OPEN, else NULL */
void fg_l4_iperf_order(struct fg_l4 *l4, unsigned app, uint32_t orders, const struct fg_l4_iperf_test *test);
/** What the last order COUNT was for, once it is done and until the next one is given. */
const struct fg_l4_iperf_counts *fg_l4_iperf_read(const struct fg_l4 *l4, unsigned app);

__END_DECLS

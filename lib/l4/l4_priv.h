/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of lib/l4 share: the connection, the worker that owns it, the application that uses it. All of it
 * belongs to one lcore. Times are nanoseconds of the engine's clock unless called ticks.
 */
#ifndef L4_PRIV_H
#define L4_PRIV_H

#include <arpa/inet.h>
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fg_endpoint.h"
#include "fg_l4_app.h"
#include "fg_net.h"

enum {
	LINE = 64,       /* octets of the processor's cache */
	TICK_SHIFT = 16, /* a tick of the timers is 2^16 ns, 66 us; 32 bits of them last 3 days */
	MIN_MSS = 48,    /* of a peer: 40 octets of options and 8 of payload, as Linux has it */
	DUP_THRESH = 3,  /* RFC 5681 */
	MAX_RANGES = 255,
	MAX_RESENT = 64,
	MAX_SACKS = 4,
	OPENED_SHIFT = 10, /* struct conn.opened_at counts 2^10 ns */
	RTT_SHIFT = 6,     /* and rtt_from 2^6: the longest is 275 s */
};

static const uint64_t NS_PER_MS = 1000000;

enum tcp_flag {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_RST = 0x04,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
	TCP_ECE = 0x40,
	TCP_CWR = 0x80,
};

enum tcp_state {
	CLOSED,
	SYN_SENT,
	SYN_RECEIVED,
	ESTABLISHED,
	FIN_WAIT_1,
	FIN_WAIT_2,
	CLOSE_WAIT,
	CLOSING,
	LAST_ACK,
	TIME_WAIT,
};

enum {
	ECN_NOT = 0,
	ECN_ECT0 = 2,
	ECN_CE = 3,
};

/* of struct conn.flags */
enum {
	USE_TS = 1 << 0,       /* both sides sent time stamps */
	USE_SACK = 1 << 1,     /* both sides permit SACK */
	USE_ECN = 1 << 2,      /* agreed (RFC 3168, 6.1.1) */
	ECN_ECHO = 1 << 3,     /* we saw CE: say ECE until CWR comes */
	ECN_CWR = 1 << 4,      /* say CWR with the next new data */
	FIN_WANTED = 1 << 5,   /* the application has written all */
	ACK_NOW = 1 << 6,      /* an acknowledgement is owed at once */
	ACK_LATER = 1 << 7,    /* and this one may wait for the delayed-ACK timer */
	TIMING = 1 << 8,       /* rtt_seq is being timed */
	PROBING = 1 << 9,      /* the peer's window is closed or silly, and nothing is in flight: probe it */
	PROBE_OUT = 1 << 10,   /* an octet beyond the window has been sent */
	READY = 1 << 11,       /* in the list of connections that may have something to send */
	IN_RECOVERY = 1 << 12, /* fast recovery */
	IN_LOSS = 1 << 13,     /* after a retransmission time-out */
	FIRST_RETRANSMIT = 1 << 14, /* recovery was entered: one segment goes out whatever the window */
	RESCUED = 1 << 15,     /* the rescue retransmission of this recovery is spent (RFC 6675, NextSeg 4) */
	PASSIVE = 1 << 16,     /* opened by the peer */
	CLOSED_TOLD = 1 << 19, /* the application knows that the connection is over */
	SYN_ECN = 1 << 20,     /* our SYN asked for ECN */
	TAIL_NOW = 1 << 17,    /* a tail-loss probe is due (RFC 8985, 7) */
	TAIL_OUT = 1 << 18,    /* one is on the way; see tail_end */
	KEEPALIVE = 1 << 21,   /* the timer that runs is the keep-alive timer */
	RECOVER_VALID = 1 << 22, /* snd_una is not beyond `recover` (RFC 6582, 3.2) */
	USE_SCALE = 1 << 23,     /* both sides sent a window scale */
	FIN_SENT = 1 << 24,      /* and snd_nxt is behind it */
	ECN_ROUND = 1 << 26,     /* ECN has reduced the window; not again before `recover` is acknowledged */
	APP_POST = 1 << 28,      /* the application's own, of HTTP */
	APP_HEAD = 1 << 29,
	APP_CLOSE = 1 << 30,
	APP_CHUNKED = 1 << 25,
	PROBE_NOW = 1 << 27, /* a window or keep-alive probe is due */
};

static const uint32_t APP_EXPECTS = 1U << 31; /* beyond what an enumerator holds */

/** Sequence numbers from .. to - 1. */
struct range {
	uint32_t from, to;
};

/** A sorted set of ranges that neither overlap nor touch. */
struct ranges {
	uint32_t next_free;
	uint32_t latest; /* what was added last began here */
	uint32_t fin;    /* number of the FIN, if it has come */
	bool has_fin;
	uint32_t count;
	struct range at[MAX_RANGES];
};

/** Numbers from .. to - 1 that were sent again, when, and what was the next new number then. */
struct resent {
	uint32_t from, to, mark, at; /* us */
};

/** CUBIC's own (RFC 9438); NewReno needs none. */
struct cubic {
	uint32_t w_max; /* octets */
	uint32_t w_est; /* octets */
	uint32_t epoch; /* ms, when it began; 0: none runs */
	uint32_t k;     /* ms */
};

/** The first slow start's own (RFC 9406). */
struct hystart {
	uint32_t round_end;         /* the round ends when more is acknowledged */
	uint16_t last_ms, least_ms; /* least round trips of the round before and of this one */
	uint16_t baseline_ms;       /* when it became cautious */
	uint8_t samples, rounds;    /* of this round; since it is cautious, 0: it is not */
};

/** What a sender needs only while something is missing at its peer, and for a round trip after. */
struct repair {
	uint32_t next_free;
	/* board.c */
	uint32_t edge; /* what lies below, the peer has not, and was not sent again, is lost */
	uint32_t reorder_edge, reorder_at; /* that will be the edge, at this time, us */
	uint32_t delivered_seq;            /* the highest number that arrived at its first sending */
	uint32_t delivered_at;  /* the latest retransmission that arrived was sent at this time, us */
	uint32_t delivered_end; /* and ended before this number */
	bool again_delivered;   /* there is one */
	bool waits;             /* reorder_edge is set */
	uint32_t twice_round;   /* the reordering window has grown; not again before this is acknowledged */
	uint32_t resents;       /* sorted, none overlaps another */
	struct resent resent[MAX_RESENT];
	/* recovery.c: proportional rate reduction (RFC 6937) */
	uint32_t prr_delivered, prr_out, recover_flight;
	uint32_t
		again_round; /* a lost retransmission has reduced the window; not again before this has come */
	/* undo.c */
	bool undo, spurious, has_resent;
	uint32_t undo_cwnd, undo_ssthresh, undo_until;
	uint32_t resent_segments, resent_ts; /* ms, of the first */
	struct cubic undo_cubic;
	struct ranges has; /* last: not cleared */
};

/** Two ends and the way there: what a connection, a received segment and a frame to be sent have in common. */
struct flow {
	uint8_t local[16], remote[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t local_port, remote_port;
	uint8_t mac[6]; /* of the next hop, or who sent the segment on this link */
	bool ipv6;
};

/** What the headers of a segment say; what they do not say is not set, but for what tells so. */
struct segment {
	struct flow flow; /* local: the destination */
	uint64_t hash;    /* of the flow; table.c */
	uint8_t protocol;
	uint8_t ecn;
	uint8_t flags;
	const uint8_t *payload; /* of ICMP: all of the message */
	uint32_t length;        /* of the payload */
	uint32_t seq, ack;
	uint16_t window; /* not scaled */
	/* options */
	bool has_mss, has_scale, has_ts, sack_permitted;
	uint8_t scale;
	uint16_t mss;
	uint32_t tsval, tsecr;
	unsigned sacks;
	struct range sack[MAX_SACKS];
};

/** What a segment to be sent says, besides its flow. */
struct tcp_fields {
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags, ecn;
	size_t options, payload; /* octets, written already */
};

/**
 * A connection: four cache lines, of which the first two are what every segment needs. There is no buffer: what is
 * sent follows from the position in the stream, and what arrives is judged by it.
 */
struct conn {
	/* --- line 0: who, and what is expected */
	struct flow flow;
	uint32_t hash_next;
	uint32_t flags;
	uint32_t rcv_nxt;
	uint32_t rcv_edge; /* first number beyond the window we have told of */
	uint32_t ts_recent;

	/* --- line 1: what is under way */
	uint32_t snd_una, snd_nxt, snd_wnd;
	uint32_t cwnd, ssthresh;
	uint16_t mss; /* payload of a full segment with the options each carries */
	uint8_t snd_scale : 4, rcv_scale : 4;
	uint8_t unacked; /* full segments received since the last ACK went out */
	uint64_t
		snd_offset; /* position of snd_una in the stream; the FIN counts as one octet behind the last */
	uint64_t rcv_offset; /* position of rcv_nxt */
	uint64_t snd_end;    /* octets that the application has written */
	uint32_t last_ack;   /* rcv_nxt of the last segment that left */
	uint32_t snd_wl1, snd_wl2;
	uint8_t state;
	uint8_t app; /* index */
	uint8_t dupacks, backoff;

	/* --- line 2: timers, RTT, recovery */
	uint32_t timer_next, timer_prev, timer_at; /* wheel.c; in ticks */
	uint32_t rexmt_at, delack_at, app_at;      /* deadlines, ticks; 0: off */
	uint32_t srtt, rttvar, rto;                /* us */
	uint32_t rtt_seq;                          /* acknowledged: the timed segment is */
	uint32_t rtt_from;                         /* in RTT_NS */
	uint32_t min_rtt;                          /* us; 0: not known */
	uint32_t tail_end;                         /* snd_nxt behind the tail-loss probe */
	uint32_t recover;                          /* recovery ends when this is acknowledged */
	uint32_t high_rxt;                         /* sent again up to here in this recovery */
	uint32_t max_wnd;                          /* largest the peer has told of */

	/* --- line 3: the rest */
	uint32_t repair;       /* index; 0: nothing is missing at the peer */
	uint32_t holding;      /* index of the ranges that we have beyond rcv_nxt; 0: none */
	uint32_t ts_recent_at; /* ms */
	uint32_t last_send;    /* tick */
	uint32_t ready_next;
	uint8_t shrunk : 1;     /* the MSS was reduced for want of answers */
	uint8_t timer : 2;      /* what runs while there is something in flight: enum timer */
	uint8_t reordered : 1;  /* segments have passed each other on this path */
	uint8_t limited : 1;    /* the congestion window is what kept new octets back last */
	uint8_t tail_again : 1; /* the tail-loss probe was no new segment */
	uint8_t syn_due : 1;    /* a SYN or SYN-ACK is to leave; one may have left before */
	uint8_t unanswered;     /* time-outs since the peer was last heard of */
	uint8_t app_phase;
	uint8_t reorder_more : 3; /* the reordering window is so many times longer (RFC 8985, 6.2) */
	uint8_t reorder_left : 5; /* and for so many recoveries */
	union {
		struct hystart hystart; /* while ssthresh is UINT32_MAX */
		struct cubic cubic;
		uint32_t credit; /* NewReno: octets acknowledged in congestion avoidance */
	};
	uint32_t small_end; /* behind the last segment that was not full */
	uint32_t opened_at; /* client: when, in OPENED_NS */
	uint64_t app_time;  /* when what is being measured began */
	union {
		uint64_t app_mark; /* a position in the stream, or what is left to do: the application's */
		struct {
			uint32_t older, newer; /* before the connection is established; half_open.c */
		};
	};
};

static_assert(sizeof(struct conn) == 256, "a connection is four cache lines");
static_assert(offsetof(struct conn, snd_una) == 64, "line 1");
static_assert(offsetof(struct conn, timer_next) == 128, "line 2");
static_assert(offsetof(struct conn, repair) == 192, "line 3");

/** What rexmt_at is while something is in flight. */
enum timer {
	TIMER_RTO,
	TIMER_REORDER, /* RFC 8985, 6.2, step 5 */
	TIMER_TAIL,    /* RFC 8985, 7.2 */
};

enum { WHEEL_LEVELS = 4, WHEEL_SLOTS = 256 };

struct wheel {
	uint32_t now;  /* tick that has been dealt with */
	uint32_t next; /* none has a slot to be emptied before; if `some` */
	bool running, some;
	uint32_t head[WHEEL_LEVELS][WHEEL_SLOTS];
	uint64_t used[WHEEL_LEVELS][WHEEL_SLOTS / 64]; /* a bit for each slot that is not empty */
};

/** Things of one size; number 0 is nobody. Their first word is the pool's while they are free. */
struct pool {
	uint8_t *at;
	size_t size;
	uint32_t count, fresh, free; /* never used from `fresh` on */
};

struct app_ops;

/** An application as TCP and UDP see it; each kind of application begins with it. */
struct app {
	const struct app_ops *ops;
	struct fg_l4_tcp tcp;
	uint8_t index;
	bool listens, udp;        /* takes connections; takes datagrams */
	uint8_t local[16];        /* the first of our addresses */
	uint32_t locals;          /* how many there are from there on */
	uint16_t port;            /* that it listens on */
	uint32_t open, open_max;  /* connections that are not over, TIME_WAIT excepted */
	struct fg_histogram *rtt; /* NULL: not recorded */
	struct fg_l4_tally tally;
};

struct fg_l4 {
	struct fg_endpoint endpoint; /* first: the worker is the endpoint */
	struct fg_l4_config config;
	uint64_t now;
	struct fg_burst *out;                       /* of the call that is running */
	struct conn *conn;                          /* conn[0] is nobody, so that 0 can mean none */
	uint32_t fresh, free_head, free_tail, open; /* never used from `fresh` on */
	uint32_t given;                             /* in the free list */
	uint32_t *bucket, buckets;                  /* a power of two */
	uint64_t secret[2];                         /* of the hash and of initial sequence numbers */
	uint32_t ts_offset;
	uint32_t ready_head, ready_tail;
	uint32_t half_open, half_open_oldest, half_open_newest; /* passive, in SYN_RECEIVED */
	uint64_t cookie_minute;                                 /* when the last SYN cookie was sent */
	struct wheel wheel;
	struct pool ranges, repairs;
	struct range
		twice; /* what has just come a second time, for the next ACK (RFC 2883); empty: nothing */
	uint32_t *challenged; /* by connection: tick until which its challenge ACKs are used up; input.c */
	struct fg_l4_counters counters;
	uint64_t start_at, stop_at, measure_from; /* of all clients */
	uint64_t mark_at, interval;               /* when counts are looked at next; schedule.c */
	uint32_t marks, marks_max;
	struct app **app;
	unsigned apps;
};

/** What a kind of application does when something happens to its connection. None of them opens a connection. */
struct app_ops {
	void (*established)(struct fg_l4 *w, struct conn *c);
	/**
	 * Payload from @p offset of the stream. In order unless @p early.
	 * @return false: it cannot be used now and counts as not received
	 */
	bool (*receive)(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data,
			uint32_t length, bool early);
	void (*arrived)(struct fg_l4 *w, struct conn *c); /* rcv_offset has moved; may be NULL */
	void (*stop)(struct fg_l4 *w, struct conn *c);    /* the time of a client is over; may be NULL */
	void (*eof)(struct fg_l4 *w, struct conn *c);     /* the peer has sent all */
	void (*acked)(struct fg_l4 *w, struct conn *c);   /* snd_offset has moved; may be NULL */
	/** All that was written has left, or waits: write more? @return whether there is more; may be NULL */
	bool (*more)(struct fg_l4 *w, struct conn *c);
	void (*fill)(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length);
	/** It is over; the connection must not be touched after. Called once, also when TIME_WAIT begins. */
	void (*closed)(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
	void (*timer)(struct fg_l4 *w, struct conn *c);
	/** Open what is to be opened. @return when to be polled next */
	uint64_t (*poll)(struct fg_l4 *w, struct app *app);
	/** A datagram for the application's addresses. @return whether its port is the application's, too */
	bool (*datagram)(struct fg_l4 *w, struct app *app, const struct segment *s);
};

static inline bool
seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool
seq_le(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

static inline uint32_t
u32_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t
u32_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint32_t
flight(const struct conn *c)
{
	return c->snd_nxt - c->snd_una;
}

static inline uint32_t
now_us(const struct fg_l4 *w)
{
	return (uint32_t)(w->now / 1000);
}

static inline uint32_t
now_ms(const struct fg_l4 *w)
{
	return (uint32_t)(w->now / NS_PER_MS);
}

/** Octets written that have not been sent yet, the FIN included. */
static inline uint64_t
tcp_unsent(const struct conn *c)
{
	uint64_t fin = c->flags & FIN_WANTED ? 1 : 0;

	return c->snd_end + fin - (c->snd_offset + flight(c));
}

/** Is what happens now part of the figures? */
static inline bool
is_measured(const struct fg_l4 *w)
{
	return w->now >= w->measure_from && w->now < w->stop_at;
}

static inline bool
app_owns(const struct app *app, const uint8_t address[16])
{
	uint32_t first, wanted;

	memcpy(&first, app->local + 12, 4);
	memcpy(&wanted, address + 12, 4);
	return memcmp(app->local, address, 12) == 0 && ntohl(wanted) - ntohl(first) < app->locals;
}

#endif

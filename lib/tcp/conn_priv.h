/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection, its state while segments are missing, and the worker that owns it. All of it is written by
 * the lcore that polls the worker. Times are nanoseconds of the engine's clock unless called ticks.
 */
#pragma once

#include "fg_pool.h"
#include "fg_stream.h"

enum {
	LINE = 64,       /* bytes of the processor's cache */
	TICK_SHIFT = 16, /* a tick of the timers: 2^16 ns; 32 bits last 3 days */
	MIN_MSS = 48,    /* of a peer: 40 bytes of options and 8 of payload */
	DUP_THRESH = 3,  /* RFC 5681 */
	MAX_RANGES = 255,
	MAX_RETRANSMISSIONS = 64,
	MAX_SACKS = 4,
	RTT_SHIFT = 6,     /* struct conn.rtt_from counts 2^6 ns: the longest is 275 s */
	TS_AGE_SHIFT = 16, /* struct conn.ts_recent_at counts 2^16 ms: up to 49 days */
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
	USE_TS = 1 << 0,            /* both sides sent time stamps */
	USE_SACK = 1 << 1,          /* both sides permit SACK */
	USE_ECN = 1 << 2,           /* agreed (RFC 3168, 6.1.1) */
	USE_SCALE = 1 << 3,         /* both sides sent a window scale */
	PASSIVE = 1 << 4,           /* opened by the peer */
	READY = 1 << 5,             /* in the list of connections that may have something to send */
	ACK_NOW = 1 << 6,           /* an acknowledgement is owed at once */
	ACK_LATER = 1 << 7,         /* and this one may wait for the delayed-ACK timer */
	TIMING = 1 << 8,            /* rtt_seq is being timed */
	PROBING = 1 << 9,           /* the peer's window is closed and nothing is in flight */
	PROBE_NOW = 1 << 10,        /* a window or keep-alive probe is due */
	PROBE_OUT = 1 << 11,        /* a byte beyond the window has been sent */
	KEEPALIVE = 1 << 12,        /* the timer that runs is the keep-alive timer */
	IN_RECOVERY = 1 << 13,      /* fast recovery */
	IN_LOSS = 1 << 14,          /* after a retransmission time-out */
	FIRST_RETRANSMIT = 1 << 15, /* one segment of this recovery goes out in any case */
	RESCUED = 1 << 16,          /* this recovery has had its rescue (RFC 6675, NextSeg 4) */
	RECOVER_VALID = 1 << 17,    /* snd_una is not beyond `recover` (RFC 6582, 3.2) */
	TLP_NOW = 1 << 18,          /* a tail-loss probe is due (RFC 8985, 7) */
	TLP_OUT = 1 << 19,          /* one is on the way; see tlp_end */
	SYN_ECN = 1 << 20,          /* our SYN asked for ECN */
	ECN_ECHO = 1 << 21,         /* CE was seen: send ECE until CWR comes */
	ECN_CWR = 1 << 22,          /* send CWR with the next new data */
	ECN_ROUND = 1 << 23,        /* ECN has reduced the window of this round trip */
	FIN_SENT = 1 << 24,         /* and snd_nxt is behind it */
	CLOSED_REPORTED = 1 << 25,  /* the application knows that the connection is over */
	SYN_AGAIN = 1 << 26,        /* the peer knew the ports, and the SYN was sent again at once */
	CONTROLS = 1 << 27,         /* fg_stream_control() was called */
	RESET_AT_END = 1 << 28,     /* send an RST in place of the FIN */
	RESET_NOW = 1 << 29,        /* the RST is due */
	UNREAD = 1 << 30,           /* the application has not read all before rcv_nxt: ranges.read */
};

/** Sequence numbers from .. to - 1. */
struct range {
	uint32_t from, to;
};

/** A sorted set of ranges that neither overlap nor touch. */
struct ranges {
	uint32_t next_free;
	uint32_t latest; /* start of the latest addition */
	uint32_t fin;    /* number of the FIN, if it has come */
	uint32_t read;   /* if UNREAD: first number that the application has not read */
	bool has_fin;
	uint32_t count;
	uint32_t kept, kept_last; /* payload of some of it, in order: struct kept; 0: none */
	uint32_t kept_news;       /* block of the latest payload; 0: unknown */
	struct range at[MAX_RANGES];
};

enum { KEPT = 2024 };

/** Out-of-order payload. */
struct kept {
	uint32_t next; /* first: the pool's while it is free */
	uint32_t seq, length;
	uint64_t since; /* when the latest of it arrived */
	uint8_t data[KEPT];
};

/** Numbers from .. to - 1 that were retransmitted, at a time, us, when snd_nxt was next_seq. */
struct retransmission {
	uint32_t from, to, next_seq, at;
};

/** CUBIC's own (RFC 9438); NewReno needs none. */
struct cubic {
	uint32_t w_max; /* bytes */
	uint32_t w_est; /* bytes */
	uint32_t epoch; /* ms, start of the epoch; 0: no epoch */
	uint32_t k;     /* ms */
};

/** The first slow start's own (RFC 9406). */
struct hystart {
	uint32_t round_end;         /* the round ends when more is acknowledged */
	uint16_t last_ms, least_ms; /* least round trips of the round before and of this one */
	uint16_t baseline_ms;       /* when conservative slow start began */
	uint8_t samples, rounds;    /* samples of this round; rounds of conservative slow start, 0: not in
				     * it */
};

/** Sender state while segments are missing at the peer, and for a round trip after. */
struct loss_state {
	uint32_t next_free;
	/* scoreboard.c */
	uint32_t edge;                     /* lost: missing below it and not retransmitted */
	uint32_t reorder_edge, reorder_at; /* the next edge, and its time, us */
	uint32_t delivered_seq;            /* highest number that arrived without retransmission */
	uint32_t delivered_at;             /* us: transmit time of the latest segment that arrived */
	uint32_t delivered_end;            /* end of that segment */
	bool again_delivered;              /* there is one */
	bool waits;                        /* reorder_edge is set */
	uint32_t twice_round;              /* the reordering window does not grow again before it */
	uint32_t retransmissions;          /* sorted, none overlaps another */
	struct retransmission retransmission[MAX_RETRANSMISSIONS];
	/* recovery.c: proportional rate reduction (RFC 6937) */
	uint32_t prr_delivered, prr_out, recover_flight;
	/* a lost retransmission has reduced the window; not again before this number is acknowledged */
	uint32_t again_round;
	/* undo.c */
	bool undo, spurious, has_retransmitted;
	uint32_t undo_cwnd, undo_ssthresh, undo_until;
	uint32_t retransmitted_segments, retransmitted_ts; /* ms, of the first */
	struct cubic undo_cubic;
	struct ranges has; /* last: not cleared */
};

/** The header fields of a received segment; absent ones are not set. */
struct segment {
	struct fg_flow flow; /* local: the destination */
	uint64_t hash;       /* of the flow; table.c */
	uint8_t protocol;
	uint8_t ecn;
	uint8_t flags;
	bool checked;           /* the port verified the checksum */
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

/** The fields of a segment to send, without its flow. */
struct tcp_fields {
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags, ecn;
	uint16_t segment;        /* payload bytes per frame when the port segments; 0: all */
	size_t options, payload; /* bytes, written already */
};

/**
 * A connection: four cache lines. A segment with payload touches all of them. There is no buffer: the
 * position in the stream determines the payload to send and to expect.
 */
struct conn {
	/* --- line 0: the two ends, and what is expected */
	struct fg_flow flow;
	uint32_t hash_next;
	uint32_t flags;
	uint32_t rcv_nxt;
	uint32_t rcv_edge; /* first number beyond the advertised window */
	uint32_t ts_recent;

	/* --- line 1: what is under way */
	uint32_t snd_una, snd_nxt, snd_wnd;
	uint32_t cwnd, ssthresh;
	uint16_t mss; /* payload of a full segment with the options each carries */
	uint8_t snd_scale : 4, rcv_scale : 4;
	uint8_t unacked;    /* full segments received since the last ACK went out */
	uint32_t last_ack;  /* rcv_nxt of the last segment that left */
	uint32_t snd_wl1;   /* SND.WL2 is not kept: no older ACK is used */
	uint32_t ts_offset; /* ms by which our time stamps are ahead of the clock */
	uint8_t state;
	uint8_t dupacks, backoff;
	uint8_t shrunk : 1;    /* the MSS was reduced because of time-outs */
	uint8_t timer : 2;     /* enum timer: the timer that runs while data are in flight */
	uint8_t reordered : 1; /* reordering was seen on this path */
	uint8_t limited : 1;   /* the congestion window was the last limit for new bytes */
	uint8_t tlp_again : 1; /* the tail-loss probe was no new segment */
	uint8_t syn_due : 1;   /* a SYN or SYN-ACK is to be sent, perhaps again */
	uint32_t ready_next;
	uint32_t small_end; /* behind the last segment that was not full */
	union {
		struct hystart hystart; /* while ssthresh is UINT32_MAX */
		struct cubic cubic;
		uint32_t credit; /* NewReno: bytes acknowledged in congestion avoidance */
	};

	/* --- line 2: timers, RTT, recovery */
	uint32_t timer_next, timer_prev, timer_at; /* wheel.c; in ticks */
	uint32_t rexmt_at, delack_at, app_at;      /* deadlines, ticks; 0: off */
	uint32_t srtt, rttvar, rto;                /* us */
	uint32_t rtt_seq;                          /* the timed segment ends here */
	uint32_t rtt_from;                         /* in units of 2^RTT_SHIFT ns */
	uint32_t min_rtt;                          /* us; 0: not known */
	uint32_t tlp_end;                          /* snd_nxt behind the tail-loss probe */
	uint32_t recover;                          /* recovery ends when this is acknowledged */
	uint32_t high_rxt;                         /* retransmitted up to here in this recovery */
	uint32_t max_wnd;                          /* largest the peer has told of */

	/* --- line 3: the rest, and what the application sees */
	uint32_t loss;            /* index of its struct loss_state; 0: nothing is missing */
	uint32_t holding;         /* index of the ranges that we have beyond rcv_nxt; 0: none */
	uint32_t last_send;       /* tick */
	uint16_t ts_recent_at;    /* in units of 2^TS_AGE_SHIFT ms */
	uint8_t unanswered;       /* time-outs since the last segment of the peer */
	uint8_t reorder_more : 3; /* factor of the reordering window (RFC 8985, 6.2) */
	uint8_t reorder_left : 5; /* recoveries until the factor is reset */
	struct fg_stream stream;
};

static_assert(sizeof(struct conn) == 256, "a connection is four cache lines");
static_assert(offsetof(struct conn, snd_una) == 64, "line 1");
static_assert(offsetof(struct conn, timer_next) == 128, "line 2");
static_assert(offsetof(struct conn, loss) == 192, "line 3");

/** What rexmt_at is while something is in flight. */
enum timer {
	TIMER_RTO,
	TIMER_REORDER, /* RFC 8985, 6.2, step 5 */
	TIMER_TLP,     /* RFC 8985, 7.2 */
};

enum { WHEEL_LEVELS = 4, WHEEL_SLOTS = 256 };

struct wheel {
	uint32_t now;  /* last processed tick */
	uint32_t next; /* earliest slot to be emptied; if `some` */
	bool running, some;
	uint32_t head[WHEEL_LEVELS][WHEEL_SLOTS];
	uint64_t used[WHEEL_LEVELS][WHEEL_SLOTS / 64]; /* a bit for each slot that is not empty */
};

struct worker {
	struct fg_l4 l4;                            /* first: what applications see */
	struct conn *conn;                          /* conn[0] is nobody, so that 0 can mean none */
	uint32_t fresh, free_head, free_tail, open; /* never used from `fresh` on */
	uint32_t given;                             /* in the free list */
	uint32_t *bucket, buckets;                  /* a power of two */
	uint64_t secret[3]; /* of the hash and of initial sequence numbers; of time stamps */
	uint32_t ready_head, ready_tail;
	uint32_t half_open, half_open_oldest, half_open_newest; /* passive, in SYN_RECEIVED */
	uint64_t cookie_minute;                                 /* when the last SYN cookie was sent */
	struct wheel wheel;
	struct fg_pool ranges, losses, kept;
	struct range twice;   /* bytes that came a second time, for the next ACK (RFC 2883) */
	uint32_t *challenged; /* send.c: by connection, time of the next challenge ACK */
	uint32_t reset_next;  /* reset.c: next entry of the slab to reset; read by control, too */
};

static inline struct worker *
own(const struct fg_l4 *w)
{
	return (struct worker *)(uintptr_t)w;
}

static inline struct conn *
conn_of(const struct fg_stream *s)
{
	return (struct conn *)((uintptr_t)s - offsetof(struct conn, stream));
}

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

/** For struct conn.ts_recent_at. */
static inline uint16_t
ts_age(const struct fg_l4 *w)
{
	return (uint16_t)(w->now / (NS_PER_MS << TS_AGE_SHIFT));
}

/** Bytes written that have not been sent yet, the FIN included. */
static inline uint64_t
tcp_unsent(const struct conn *c)
{
	return c->stream.written + c->stream.ended - (c->stream.acked + flight(c));
}

static inline bool
app_owns(const struct fg_app *app, const uint8_t address[16])
{
	uint32_t first, wanted;

	memcpy(&first, app->local + 12, 4);
	memcpy(&wanted, address + 12, 4);
	return memcmp(app->local, address, 12) == 0 && ntohl(wanted) - ntohl(first) < app->locals;
}

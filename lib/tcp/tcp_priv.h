/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of TCP do for each other:
 *
 * Each file calls those above it in this list and no others, so it can be read from the top:
 *
 *   ranges.c      sets of sequence numbers
 *   kept.c        payload that waits for its turn
 *   segment.c     bytes of a frame -> struct segment, with every length and checksum checked
 *   table.c       connections by address and port; taken from and given back to a slab
 *   ready.c       which connections may have something to send
 *   wheel.c       timers
 *   options.c     TCP options, read and written
 *   header.c      headers around a payload
 *   send.c        one segment
 *   hystart.c     when the first slow start ends (RFC 9406)
 *   congestion.c  how much may be in flight: NewReno and CUBIC (cubic.c)
 *   undo.c        spurious recoveries (RFC 3522, 3708, 4015)
 *   tlp.c         tail-loss probes (RFC 8985, 7)
 *   rtt.c         round trips and the timers that follow from them (RFC 6298)
 *   scoreboard.c  what the peer has, what was retransmitted, what is lost (RFC 2018, 8985)
 *   recovery.c    what to retransmit and how fast (RFC 5681, 6582, 6675, 6937, 3042)
 *   half_open.c   limit of half-open connections
 *   state.c       open, accept, abort, end; what is reported to the application
 *   cookie.c      answers to SYNs beyond that limit (RFC 4987)
 *   ack.c         effects of an acknowledgement: RTT, window, flight
 *   receive.c     payload and FIN in and out of order, when to acknowledge
 *   timeout.c     what happens when a timer ends
 *   input.c       a segment arrives (RFC 9293, 3.10.7)
 *   output.c      what may be sent now
 *   stream.c      what applications call (fg_stream.h)
 *   icmp.c        what ICMP reports of segments and datagrams of ours (RFC 5927)
 *   worker.c      the endpoint
 */
#pragma once

#include "conn_priv.h"

/* segment.c */
/** @return false: not to be used, and counted why */
bool segment_read(const struct fg_arrival *in, struct segment *s, struct fg_l4_counters *counters);

/* options.c */
void options_read(const uint8_t *option, size_t length, struct segment *s);
/** Payload of a segment without options that we announce. */
uint16_t options_own_mss(const struct fg_l4 *w, const struct conn *c);
/** Write options. @return bytes */
size_t options_syn(const struct fg_l4 *w, const struct conn *c, uint8_t *to);
size_t options_plain(const struct fg_l4 *w, const struct conn *c, uint8_t *to, bool with_sacks);

/* icmp.c */
/** An ICMP or ICMPv6 message that no application accepts. */
void icmp_error(struct fg_l4 *w, const struct segment *s);

/* table.c */
int table_create(struct fg_l4 *w, struct fg_error *err);
void table_free(struct fg_l4 *w);
/** The hash of a flow, for all functions with a hash. */
uint64_t table_hash(const struct fg_l4 *w, const struct fg_flow *f);
struct conn *table_find(const struct fg_l4 *w, const struct fg_flow *f, uint64_t hash);
/** A connection of a flow, in state CLOSED, the rest zero; NULL when all are taken. */
struct conn *table_take(struct fg_l4 *w, const struct fg_flow *f, uint64_t hash);
/** Remove the connection from the hash. */
void table_remove(struct fg_l4 *w, struct conn *c);
/** Free the connection's entry. */
void table_give(struct fg_l4 *w, struct conn *c);

/**
 * The timestamp offset of a flow (RFC 7323, 7.1). Timestamps continue from an earlier connection of the same
 * flow while the secret lasts, and reveal nothing of other flows.
 */
static inline uint32_t
ts_offset_of(const struct fg_l4 *w, uint64_t hash)
{
	return (uint32_t)((hash ^ own(w)->secret[2]) * 0x9e3779b97f4a7c15 >> 32);
}

static inline struct ranges *
held_of(const struct fg_l4 *w, const struct conn *c)
{
	return c->holding == 0 ? NULL : (struct ranges *)own(w)->ranges.at + c->holding;
}

/** Bytes that are acknowledged and wait for the application. */
static inline uint32_t
unread(const struct fg_l4 *w, const struct conn *c)
{
	return c->flags & UNREAD ? c->rcv_nxt - held_of(w, c)->read : 0;
}

static inline struct kept *
kept_at(const struct fg_l4 *w, uint32_t i)
{
	return (struct kept *)own(w)->kept.at + i;
}

static inline struct loss_state *
loss_of(const struct fg_l4 *w, const struct conn *c)
{
	return c->loss == 0 ? NULL : (struct loss_state *)own(w)->losses.at + c->loss;
}

static inline uint32_t
conn_index(const struct fg_l4 *w, const struct conn *c)
{
	return (uint32_t)(c - own(w)->conn);
}

/**
 * Prefetch the cache lines of a connection for a segment or a timer, so that the waits overlap.
 */
static inline void
conn_fetch(const struct conn *c)
{
	for (unsigned at = 0; at < sizeof(*c); at += LINE)
		__builtin_prefetch((const uint8_t *)c + at, 1);
}

/** Prefetch the hash line of a flow, then its connection. */
static inline void
table_fetch(const struct fg_l4 *w, uint64_t hash)
{
	__builtin_prefetch(&own(w)->bucket[hash & (own(w)->buckets - 1)]);
}

static inline void
table_fetch_first(const struct fg_l4 *w, uint64_t hash)
{
	uint32_t index = own(w)->bucket[hash & (own(w)->buckets - 1)];

	if (index != 0)
		conn_fetch(&own(w)->conn[index]);
}

/* ranges.c */
/** Add a range. @return bytes that are new in the set; UINT32_MAX when there is no room for it */
uint32_t ranges_add(struct ranges *set, uint32_t from, uint32_t to);
/** Forget everything before @p from. */
void ranges_cut(struct ranges *set, uint32_t from);
/** Bytes of the set (NULL: empty) within from .. to - 1, and of these numbers those that are not in it. */
uint32_t ranges_within(const struct ranges *set, uint32_t from, uint32_t to);
uint32_t ranges_missing(const struct ranges *set, uint32_t from, uint32_t to);
/** The first numbers from @p from on and below @p edge that are not in the set. @return false: none */
bool ranges_gap(const struct ranges *set, uint32_t from, uint32_t edge, uint32_t *begin, uint32_t *end);

/* kept.c */
/**
 * Keep payload missing in the set, and add its numbers. @return false: not all of it; the reason is counted
 */
bool kept_add(struct fg_l4 *w, struct ranges *held, uint32_t seq, const uint8_t *payload, uint32_t length);
/** The first kept byte of @p from to @p to; earlier payload is discarded. */
uint32_t kept_begin(struct fg_l4 *w, struct ranges *held, uint32_t from, uint32_t to);
/** Free all kept payload. */
void held_free(struct fg_l4 *w, struct conn *c);

/* wheel.c */
void wheel_start(struct wheel *wheel, uint64_t now);
/** Deadlines of the connection have changed. */
void timer_update(struct fg_l4 *w, struct conn *c);
void timer_stop(struct fg_l4 *w, struct conn *c);
/** Advance the time: call @p expired for each connection with a deadline that may be due. */
void wheel_advance(struct fg_l4 *w, void (*expired)(struct fg_l4 *w, struct conn *c));
/** When wheel_advance() may have something to do, ns. */
uint64_t wheel_due(const struct fg_l4 *w);
static inline uint32_t
tick_after(const struct fg_l4 *w, uint64_t ns)
{
	uint32_t tick = (uint32_t)((w->now + ns + (1U << TICK_SHIFT) - 1) >> TICK_SHIFT);

	return tick == 0 ? 1 : tick; /* 0 says off */
}

/* ready.c */
void ready_append(struct fg_l4 *w, struct conn *c);
/** The connection may have something to send: put it at the end of the list, unless it is there. */
static inline void
tcp_ready(struct fg_l4 *w, struct conn *c)
{
	if (!(c->flags & READY))
		ready_append(w, c);
}
/** Take the first of the list; NULL: it is empty. */
static inline struct conn *
ready_take(struct fg_l4 *w)
{
	struct conn *c = &own(w)->conn[own(w)->ready_head];

	if (own(w)->ready_head == 0)
		return NULL;
	own(w)->ready_head = c->ready_next;
	c->flags &= ~(uint32_t)READY;
	return c;
}

/* state.c */
static inline const struct fg_l4_tcp *
tcp_of(const struct fg_l4 *w, const struct conn *c)
{
	return &w->app[c->stream.app]->tcp;
}

/* @p buffer, unless the connection controls others */
static inline uint32_t
buffer_of(const struct fg_l4 *w, const struct conn *c, uint32_t buffer)
{
	return c->flags & CONTROLS ? w->app[c->stream.app]->control_buffer : buffer;
}

static inline const struct fg_app_ops *
ops_of(const struct fg_l4 *w, const struct conn *c)
{
	return w->app[c->stream.app]->ops;
}

struct conn *tcp_open(struct fg_l4 *w, unsigned app, const struct fg_flow *f);
/** Reset the connection, which ends as @p end. */
void tcp_abort(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
/** The connection is over: report it to the application and give it back. */
void tcp_end(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
void tcp_time_wait(struct fg_l4 *w, struct conn *c);
/** The handshake is over. */
void tcp_established(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** A SYN for a listening application; half_open_has_room() is true. */
void tcp_accept(struct fg_l4 *w, unsigned app, const struct segment *s);
/**
 * Establish a connection from a SYN cookie: @p s is its SYN, the number is our SYN-ACK's. NULL: no room.
 */
struct conn *tcp_accept_confirmed(struct fg_l4 *w, unsigned app, const struct segment *s, uint32_t sequence);
/** Options of our SYN-ACK to a SYN. */
void tcp_agree(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** Set the options agreed on by the two SYNs. */
void tcp_negotiate(struct fg_l4 *w, struct conn *c, const struct segment *s);

/* half_open.c */
void half_open_add(struct fg_l4 *w, struct conn *c);
void half_open_remove(struct fg_l4 *w, struct conn *c);
/** Is there room for one more? */
bool half_open_has_room(const struct fg_l4 *w);
/** If the table is full, the oldest half-open connection, to be replaced by an established one; else NULL. */
struct conn *half_open_oldest(const struct fg_l4 *w);

/* cookie.c */
/** Answer a SYN with a cookie. */
void cookie_send(struct fg_l4 *w, unsigned app, const struct segment *s);
/**
 * Verify the cookie of an ACK without a connection. @return the established connection; NULL: no cookie, or
 * no room
 */
struct conn *cookie_take(struct fg_l4 *w, unsigned app, const struct segment *s);

/* input.c */
/** @p s with the hash of its flow */
void tcp_input(struct fg_l4 *w, struct segment *s);

/* ack.c */
static inline void
tcp_take_window(struct conn *c, const struct segment *s)
{
	c->snd_wnd = (uint32_t)s->window << (s->flags & TCP_SYN ? 0 : c->snd_scale);
	c->max_wnd = fg_u32_max(c->max_wnd, c->snd_wnd);
	c->snd_wl1 = s->seq;
}

/** @return false: ignore the segment */
bool tcp_ack(struct fg_l4 *w, struct conn *c, const struct segment *s);

/* receive.c */
/** Payload and FIN of a segment that lies in the window, at least in part. */
void tcp_receive(struct fg_l4 *w, struct conn *c, struct segment *s);
/** Offer UNREAD payload to the application. */
void tcp_receive_kept(struct fg_l4 *w, struct conn *c);

/* scoreboard.c */
/** @return the connection's loss state, created if absent; NULL: no room */
struct loss_state *scoreboard_need(struct fg_l4 *w, struct conn *c);
/** Read the SACK option. @return bytes that the peer has not acknowledged before */
uint32_t scoreboard_sack(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** Everything before @p ack has arrived. @return bytes not acknowledged before */
uint32_t scoreboard_cut(struct fg_l4 *w, struct conn *c, uint32_t ack);
/** Detect losses by arrivals and time. @return whether more is lost than before */
bool scoreboard_detect(struct fg_l4 *w, struct conn *c);
/** After a time-out: mark all unacknowledged data as lost. */
void scoreboard_all_lost(struct conn *c, struct loss_state *r);
/** Note numbers that were retransmitted. */
void scoreboard_sent(const struct fg_l4 *w, const struct conn *c, struct loss_state *r, uint32_t from,
		     uint32_t to);
/** Is there room to remember one more? */
bool scoreboard_room(struct loss_state *r);
/** Retransmitted bytes below the edge that have not arrived. */
uint32_t scoreboard_retransmitted(const struct loss_state *r);
/** The first numbers from snd_una on and below the edge that are lost. @return false: none */
bool scoreboard_gap(const struct conn *c, const struct loss_state *r, uint32_t *begin, uint32_t *end);

/* undo.c */
/** The window is about to be reduced. */
void undo_prepare(const struct conn *c, struct loss_state *r);
void undo_sent(const struct fg_l4 *w, const struct conn *c, struct loss_state *r);
/** The peer has received these bytes twice (RFC 2883). */
void undo_twice(const struct conn *c, struct loss_state *r, uint32_t octets);
/** Undo the reduction if the retransmission was spurious. */
void undo_check(struct fg_l4 *w, struct conn *c, struct loss_state *r, const struct segment *s,
		bool advanced);

/* tlp.c  */
/** Time after which a tail-loss probe is to go, us; 0: none. */
uint32_t tlp_after(const struct fg_l4 *w, const struct conn *c);
/** An acknowledgement while a probe is out. */
void tlp_acked(struct fg_l4 *w, struct conn *c, const struct segment *s, bool advanced);

/* recovery.c */
void recovery_duplicate(struct fg_l4 *w, struct conn *c);
void recovery_advance(struct fg_l4 *w, struct conn *c);
/** An acknowledgement of these bytes was processed (@p s is NULL: a timer expired). */
void recovery_review(struct fg_l4 *w, struct conn *c, const struct segment *s, uint32_t delivered,
		     bool advanced);
void recovery_timeout(struct fg_l4 *w, struct conn *c);
/** Retransmit all data in flight, from the beginning. */
void recovery_restart(struct fg_l4 *w, struct conn *c);
/** A segment was sent: @p again, or new. */
void recovery_sent(const struct fg_l4 *w, struct conn *c, uint32_t from, uint32_t length, bool again);
/** Estimate of the bytes in the network (RFC 6675, SetPipe). */
uint32_t recovery_pipe(const struct fg_l4 *w, const struct conn *c);
/**
 * The next retransmission: numbers *from to *to - 1, perhaps more than a segment. @return false: nothing
 */
bool recovery_next(const struct fg_l4 *w, const struct conn *c, uint32_t *from, uint32_t *to);
/** The next rescue retransmission, without lost or new data (RFC 6675, NextSeg 3 and 4). */
bool recovery_rescue(const struct fg_l4 *w, struct conn *c, uint32_t *from, uint32_t *to);

/* rtt.c */
void rtt_sample(const struct fg_l4 *w, struct conn *c, uint64_t ns);
/** From rtt_from until now, of a segment that was sent once. */
void rtt_timed(const struct fg_l4 *w, struct conn *c);
/** The reordering timer: detect losses again at this time. */
void reorder_start(struct fg_l4 *w, struct conn *c, uint32_t after_us);
void rexmt_start(struct fg_l4 *w, struct conn *c);
static inline void
rexmt_stop(struct conn *c)
{
	c->rexmt_at = 0;
	c->timer = TIMER_RTO;
	c->flags &= ~(uint32_t)(KEEPALIVE | PROBING);
}
/** Start or stop the retransmission, probe or keep-alive timer by the connection's state. */
void rexmt_review(struct fg_l4 *w, struct conn *c);
/** Effect of a lost SYN on the time-out (RFC 6298, 5.7). */
void rto_after_handshake(struct conn *c);

/* timeout.c */
/** A deadline of the connection may have come. */
void timer_expired(struct fg_l4 *w, struct conn *c);
/** A router has reported the MTU of the path (RFC 1191, RFC 8201). */
void tcp_path_mtu(struct fg_l4 *w, struct conn *c, uint32_t mtu);

/* congestion.c */
void congestion_init(const struct fg_l4 *w, struct conn *c);
void congestion_acked(const struct fg_l4 *w, struct conn *c, uint32_t acked, uint32_t flight_before);
/** Congestion was met: set ssthresh. @p timeout: by a retransmission time-out */
void congestion_met(const struct fg_l4 *w, struct conn *c, bool timeout);

/* output.c */
/**
 * Send what may be sent. @return false: more to send, but the burst is full or the connection's turn is over
 */
bool tcp_output(struct fg_l4 *w, struct conn *c);

/* send.c */
/** A segment without payload. @return false when there is no room */
bool tcp_send_control(struct fg_l4 *w, struct conn *c, uint8_t flags, uint32_t seq);
/**
 * The number of a segment without payload. A peer that has shrunk its window ignores segments beyond it, also
 * ACK and RST (RFC 9293, 3.10.7.4). It may be unable to announce a part of a scaled unit.
 */
static inline uint32_t
tcp_bare_seq(const struct conn *c)
{
	uint32_t beyond = flight(c) > c->snd_wnd && c->state >= ESTABLISHED ? flight(c) - c->snd_wnd : 0;

	return c->snd_nxt - (beyond >> c->snd_scale == 0 ? 0 : beyond);
}

/** Acknowledge. */
bool tcp_send_ack(struct fg_l4 *w, struct conn *c);
/** Numbers seq .. seq + length - 1 of the stream; the FIN may be the last. @return false: no room */
bool tcp_send_data(struct fg_l4 *w, struct conn *c, uint32_t seq, uint32_t length);
/** A challenge ACK, at a limited rate (RFC 5961, 7). */
void tcp_challenge(struct fg_l4 *w, struct conn *c);
/** An RST for a segment that has no connection (RFC 9293, 3.10.7.1). */
void tcp_reject(struct fg_l4 *w, const struct segment *s);

/* header.c */
enum { TCP_HEADER = 20 };
/** Where in a frame the headers of IP end. */
static inline size_t
frame_ip_end(bool ipv6)
{
	return sizeof(struct fg_ether) + (ipv6 ? sizeof(struct fg_ipv6) : sizeof(struct fg_ipv4));
}
/** Write headers and checksums around the payload in place, and add the frame to the burst. */
void frame_tcp(struct fg_l4 *w, const struct fg_flow *f, const struct tcp_fields *t);

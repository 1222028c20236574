/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of TCP do for each other:
 *
 *   segment.c     octets of a frame -> struct segment, with every length and checksum checked
 *   options.c     TCP options, read and written
 *   table.c       connections by address and port; taken from and given back to a slab
 *   wheel.c       timers
 *   state.c       open, close, abort; what is told to the application
 *   half_open.c   what a flood of SYNs may take up
 *   cookie.c      how the others are answered (RFC 4987)
 *   input.c       a segment arrives (RFC 9293, 3.10.7)
 *   ack.c         what an acknowledgement acknowledges: RTT, window, flight
 *   receive.c     payload and FIN in and out of order, when to acknowledge
 *   board.c       what the peer has, what was sent again, what is lost (RFC 2018, 8985)
 *   recovery.c    what to send again and how fast (RFC 5681, 6582, 6675, 6937, 3042)
 *   undo.c        what was not lost at all (RFC 3522, 3708, 4015)
 *   tail.c        tail-loss probes (RFC 8985, 7)
 *   timeout.c     retransmission time-outs, probes, keep-alive (RFC 6298)
 *   congestion.c  how much may be in flight: NewReno and CUBIC
 *   hystart.c     when the first slow start ends (RFC 9406)
 *   output.c      what may be sent now; header.c writes it
 */
#ifndef TCP_PRIV_H
#define TCP_PRIV_H

#include "l4_priv.h"

/* worker.c */
/** A worker without applications. @return 0 or -ENOMEM */
int worker_create(const struct fg_l4_config *config, struct fg_l4 **out, struct fg_error *err);
/** The applications' own memory is not the worker's. NULL is legal. */
void worker_free(struct fg_l4 *w);
/** The next random number of a sequence that begins with any @p state. */
uint64_t draw(uint64_t *state);

/* segment.c */
static inline void
address_of_ipv4(const uint8_t ipv4[4], uint8_t out[16])
{
	memset(out, 0, 10);
	memset(out + 10, 0xff, 2);
	memcpy(out + 12, ipv4, 4);
}

/** @return false: not to be used, and counted why */
bool segment_read(const uint8_t *frame, size_t length, struct segment *s, struct fg_l4_counters *counters);

/* options.c */
void options_read(const uint8_t *option, size_t length, struct segment *s);
size_t options_syn(const struct fg_l4 *w, const struct conn *c, uint8_t *to);
size_t options_plain(const struct fg_l4 *w, const struct conn *c, uint8_t *to, bool with_sacks);

/* table.c */
int table_create(struct fg_l4 *w, struct fg_error *err);
void table_free(struct fg_l4 *w);
/** Where a flow's connection is looked for; all that take a hash take this one's. */
uint64_t table_hash(const struct fg_l4 *w, const struct flow *f);
struct conn *table_find(const struct fg_l4 *w, const struct flow *f, uint64_t hash);
/** A connection of a flow, in state CLOSED, the rest zero; NULL when all are taken. */
struct conn *table_take(struct fg_l4 *w, const struct flow *f, uint64_t hash);
/** Nobody finds the connection any more. */
void table_remove(struct fg_l4 *w, struct conn *c);
/** Its place may be another's. */
void table_give(struct fg_l4 *w, struct conn *c);
/** @return 0 when all are taken; what is in it is what was in it */
uint32_t pool_take(struct pool *p);
void pool_give(struct pool *p, uint32_t *index);

static inline struct ranges *
held_of(const struct fg_l4 *w, const struct conn *c)
{
	return c->holding == 0 ? NULL : (struct ranges *)w->ranges.at + c->holding;
}

static inline struct repair *
repair_of(const struct fg_l4 *w, const struct conn *c)
{
	return c->repair == 0 ? NULL : (struct repair *)w->repairs.at + c->repair;
}

static inline uint32_t
conn_index(const struct fg_l4 *w, const struct conn *c)
{
	return (uint32_t)(c - w->conn);
}

/** Ask for the lines of a connection that a segment or a timer will need, so that the waits for them overlap. */
static inline void
conn_fetch(const struct conn *c)
{
	for (unsigned at = 0; at < sizeof(*c); at += LINE)
		__builtin_prefetch((const uint8_t *)c + at, 1);
}

/** Ask for the line of the table where a flow is looked for, and then for the connection that is there. */
static inline void
table_fetch(const struct fg_l4 *w, uint64_t hash)
{
	__builtin_prefetch(&w->bucket[hash & (w->buckets - 1)]);
}

static inline void
table_fetch_first(const struct fg_l4 *w, uint64_t hash)
{
	uint32_t index = w->bucket[hash & (w->buckets - 1)];

	if (index != 0)
		conn_fetch(&w->conn[index]);
}

/* ranges.c */
/** Add a range. @return octets that are new in the set; UINT32_MAX when there is no room for it */
uint32_t ranges_add(struct ranges *set, uint32_t from, uint32_t to);
/** Forget everything before @p from. */
void ranges_cut(struct ranges *set, uint32_t from);
/** Octets of the set (NULL: empty) within from .. to - 1, and of these numbers those that are not in it. */
uint32_t ranges_within(const struct ranges *set, uint32_t from, uint32_t to);
uint32_t ranges_missing(const struct ranges *set, uint32_t from, uint32_t to);
/** The first numbers from @p from on and below @p edge that are not in the set. @return false: none */
bool ranges_gap(const struct ranges *set, uint32_t from, uint32_t edge, uint32_t *begin, uint32_t *end);

/* wheel.c */
void wheel_start(struct wheel *wheel, uint64_t now);
/** Deadlines of the connection have changed. */
void timer_update(struct fg_l4 *w, struct conn *c);
void timer_stop(struct fg_l4 *w, struct conn *c);
void wheel_advance(struct fg_l4 *w);
/** When wheel_advance() may have something to do, ns. */
uint64_t wheel_due(const struct fg_l4 *w);
uint32_t tick_after(const struct fg_l4 *w, uint64_t ns);

/* state.c */
static inline const struct fg_l4_tcp *
tcp_of(const struct fg_l4 *w, const struct conn *c)
{
	return &w->app[c->app]->tcp;
}

static inline const struct app_ops *
ops_of(const struct fg_l4 *w, const struct conn *c)
{
	return w->app[c->app]->ops;
}

struct conn *tcp_open(struct fg_l4 *w, unsigned app, const struct flow *f);
/** The application has so many octets more to send, which fill() will write. */
void tcp_write(struct fg_l4 *w, struct conn *c, uint64_t octets);
/** What is not sent yet will not be. */
void tcp_truncate(struct fg_l4 *w, struct conn *c);
/** The application has written all. */
void tcp_close(struct fg_l4 *w, struct conn *c);
void tcp_abort(struct fg_l4 *w, struct conn *c);
/** The same, but it ended otherwise. */
void tcp_abort_as(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
/** The connection is over: tell the application and give it back. */
void tcp_end(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
void tcp_time_wait(struct fg_l4 *w, struct conn *c);
/** The handshake is over. */
void tcp_established(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** A SYN for a listening application. */
void tcp_accept(struct fg_l4 *w, unsigned app, const struct segment *s);
/** One whose SYN, @p s, had been forgotten; our SYN-ACK with this number is confirmed. NULL: there is no room. */
struct conn *tcp_accept_confirmed(struct fg_l4 *w, unsigned app, const struct segment *s, uint32_t sequence);
/** What our SYN-ACK says to a SYN. */
void tcp_agree(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** What the two SYNs agree on. */
void tcp_negotiate(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** What we announce as our MSS: payload of a segment without options. */
uint16_t tcp_own_mss(const struct fg_l4 *w, const struct conn *c);
void tcp_ready(struct fg_l4 *w, struct conn *c);

/* half_open.c */
void half_open_add(struct fg_l4 *w, struct conn *c);
void half_open_remove(struct fg_l4 *w, struct conn *c);
/** Is there room for one more? */
bool half_open_has_room(const struct fg_l4 *w);
/** If the table is full, the oldest gives way to one that is confirmed. */
void half_open_make_room(struct fg_l4 *w);

/* cookie.c */
/** Answer a SYN and forget it. */
void cookie_send(struct fg_l4 *w, unsigned app, const struct segment *s);
/** An ACK of no connection: of one that was forgotten? @return it, established; NULL: no, or there is no room */
struct conn *cookie_take(struct fg_l4 *w, unsigned app, const struct segment *s);

/* input.c */
/** @p s with the hash of its flow */
void tcp_input(struct fg_l4 *w, struct segment *s);
/** An ACK in answer to something dubious, at a limited rate (RFC 5961, 7). */
void tcp_challenge(struct fg_l4 *w, struct conn *c);

/* ack.c */
/** @return false: the segment is not to be used */
bool tcp_ack(struct fg_l4 *w, struct conn *c, const struct segment *s);
void tcp_take_window(struct conn *c, const struct segment *s);

/* receive.c */
/** Payload and FIN of a segment that lies in the window, at least in part. */
void tcp_receive(struct fg_l4 *w, struct conn *c, struct segment *s);

/* board.c */
/** @return what the connection knows of its losses, made if it is not there; NULL: no room */
struct repair *board_need(struct fg_l4 *w, struct conn *c);
/** Read the SACK option. @return octets of which it is news that the peer has them */
uint32_t board_sack(struct fg_l4 *w, struct conn *c, const struct segment *s);
/** Everything before @p ack has arrived. @return octets of which that is news */
uint32_t board_cut(struct fg_l4 *w, struct conn *c, uint32_t ack);
/** What is found to be lost by what has arrived and by the time? @return more than before */
bool board_detect(struct fg_l4 *w, struct conn *c);
/** Everything that the peer has not is lost: after a time-out. */
void board_all_lost(struct conn *c, struct repair *r);
/** Numbers that were sent again are under way once more. */
void board_sent(const struct fg_l4 *w, const struct conn *c, struct repair *r, uint32_t from, uint32_t to);
/** Is there room to remember one more? */
bool board_room(struct repair *r);
/** What was sent again and has not arrived, below the edge. */
uint32_t board_resent(const struct repair *r);
/** The first numbers from snd_una on and below the edge that are lost. @return false: none */
bool board_gap(const struct conn *c, const struct repair *r, uint32_t *begin, uint32_t *end);

/* undo.c */
/** The window is about to be reduced. */
void undo_prepare(const struct conn *c, struct repair *r);
void undo_sent(const struct fg_l4 *w, const struct conn *c, struct repair *r);
/** The peer has got so many octets twice (RFC 2883). */
void undo_twice(const struct conn *c, struct repair *r, uint32_t octets);
/** Was what was sent again not lost at all? Then take it back. */
void undo_check(struct fg_l4 *w, struct conn *c, struct repair *r, const struct segment *s, bool advanced);

/* tail.c */
/** Time after which a tail-loss probe is to go, us; 0: none. */
uint32_t tail_after(const struct fg_l4 *w, const struct conn *c);
void tail_acked(struct fg_l4 *w, struct conn *c, const struct segment *s, bool advanced);

/* recovery.c */
void recovery_duplicate(struct fg_l4 *w, struct conn *c);
void recovery_advance(struct fg_l4 *w, struct conn *c);
/** An acknowledgement has been read, by which so many octets were delivered (@p s is NULL: a timer ended). */
void recovery_review(struct fg_l4 *w, struct conn *c, const struct segment *s, uint32_t delivered,
		     bool advanced);
void recovery_timeout(struct fg_l4 *w, struct conn *c);
/** All that is in flight is to be sent again, from the beginning. */
void recovery_restart(struct fg_l4 *w, struct conn *c);
/** A segment was sent: @p again, or new. */
void recovery_sent(const struct fg_l4 *w, struct conn *c, uint32_t from, uint32_t length, bool again);
/** Octets in the network as far as we can tell (RFC 6675, SetPipe). */
uint32_t recovery_pipe(const struct fg_l4 *w, const struct conn *c);
/** What is to be sent again next: numbers *from to *to - 1, perhaps more than a segment. @return false: nothing */
bool recovery_next(const struct fg_l4 *w, const struct conn *c, uint32_t *from, uint32_t *to);
/** And when there is neither that nor anything new (RFC 6675, NextSeg 3 and 4). */
bool recovery_rescue(const struct fg_l4 *w, struct conn *c, uint32_t *from, uint32_t *to);

/* timeout.c */
void rtt_sample(const struct fg_l4 *w, struct conn *c, uint64_t ns);
/** From rtt_from until now, of a segment that was sent once. */
void rtt_timed(const struct fg_l4 *w, struct conn *c);
/** The reordering timer: detect losses again at this time. */
void reorder_start(struct fg_l4 *w, struct conn *c, uint32_t after_us);
void rexmt_start(struct fg_l4 *w, struct conn *c);
void rexmt_stop(struct conn *c);
/** Start or stop what the state of the connection asks for: retransmission, probe or keep-alive timer. */
void rexmt_review(struct fg_l4 *w, struct conn *c);
void timer_expired(struct fg_l4 *w, struct conn *c);
/** What a lost SYN leaves behind (RFC 6298, 5.7). */
void rto_after_handshake(struct conn *c);
/** Somebody on the path says what fits through (RFC 1191, RFC 8201). */
void tcp_path_mtu(struct fg_l4 *w, struct conn *c, uint32_t mtu);

/* congestion.c */
void congestion_init(const struct fg_l4 *w, struct conn *c);
void congestion_acked(const struct fg_l4 *w, struct conn *c, uint32_t acked, uint32_t flight_before);
/** Congestion was met: set ssthresh. @p timeout: by a retransmission time-out */
void congestion_met(const struct fg_l4 *w, struct conn *c, bool timeout);

/* output.c */
/** Send what may be sent. @return false: the burst is full, or others shall have their turn, and there is more */
bool tcp_output(struct fg_l4 *w, struct conn *c);

/* send.c */
/** A segment without payload. @return false when there is no room */
bool tcp_send_control(struct fg_l4 *w, struct conn *c, uint8_t flags, uint32_t seq);
/** Numbers seq .. seq + length - 1 of the stream, of which the FIN may be the last. @return false: no room */
bool tcp_send_data(struct fg_l4 *w, struct conn *c, uint32_t seq, uint32_t length);
/** An RST for a segment that has no connection (RFC 9293, 3.10.7.1). */
void tcp_refuse(struct fg_l4 *w, const struct segment *s);

/* header.c */
/** Where the next frame goes; NULL when the burst is full. */
static inline uint8_t *
frame_room(const struct fg_l4 *w)
{
	return w->out->frames < w->out->rooms ? w->out->room[w->out->frames] : NULL;
}

/** Where in a frame options and payload begin. */
size_t frame_tcp_offset(bool ipv6);
size_t frame_udp_offset(bool ipv6);
/** Write headers and checksums around what is in place; the frame is then the next of the burst. */
void frame_tcp(struct fg_l4 *w, const struct flow *f, const struct tcp_fields *t);
void frame_udp(struct fg_l4 *w, const struct flow *f, size_t payload);

/* payload.c */
void payload_init(void);
/** Octets from @p offset of the stream @p seed. At most 65535. */
void payload_fill(uint32_t seed, uint64_t offset, uint8_t *to, uint32_t length);
/** @return how many octets differ from what should stand there */
uint32_t payload_wrong(uint32_t seed, uint64_t offset, const uint8_t *data, uint32_t length);

#endif

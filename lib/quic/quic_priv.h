/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a connection and of an application's share of all of them. Control makes the latter; from then
 * on only the lcore that polls the worker writes to them.
 *
 *   frames.c    the frames of a packet, read
 *   losses.c    what was lost, sent again and spurious, by the frames that left and came
 *   extents.c   how far each stream has left
 *   ecn.c       marks of the path (ECN), and whether it lets them through
 *   session.c   GnuTLS: credentials, one handshake, the key log
 *   tickets.c   sessions that are resumed
 *   zero_rtt.c  what is sent and read before the handshake is over (0-RTT)
 *   ids.c       connection IDs: made, and connections found by them
 *   due.c       which connection has to act next
 *   ready.c     which may have something to send
 *   callbacks.c what libngtcp2 calls
 *   conn.c      one connection: made and ended
 *   addresses.c the addresses of a path, as libngtcp2 has them
 *   paths.c     which path it is on
 *   moves.c     a client takes another port
 *   output.c    what leaves
 *   qlog.c      logs of the first connections
 *   input.c     what arrives, also what has no connection yet
 *   stream.c    what applications with one stream a connection call
 *   streams.c   and those with several
 *   quic.c      made and freed; what control reads
 */
#pragma once

#include "fg_heap.h"
#include "fg_metric.h"
#include "fg_pool.h"
#include "fg_quic_layer.h"
#include "ngtcp2_priv.h"

enum {
	ID_BYTES = 8,
	PATHS_LEFT = 8,
	FIRST_ID_BYTES = 18,
	SECRET = 32,
	LAST_WORDS = 128,
	REASON = 160,
	VERSIONS = 128
};

enum quic_phase {
	NOBODY,  /* the slot is free */
	SHAKING, /* the handshake is under way */
	OPEN,    /* it is over */
	LEAVING, /* the application is done with it; CONNECTION_CLOSE is still to be sent */
	CLOSING, /* that was sent, and is sent again to a peer that goes on (RFC 9000, 10.2.1) */
};

/** A packet's share of a stream; of packets that are not acknowledged yet, in the order they left. */
struct sent {
	uint64_t packet, offset;
	int64_t stream;
	uint32_t length;
	bool acked, lost;
};

/** Of a stream; behind the last byte that ever left, 0: this place is free. */
struct extent {
	int64_t id;
	uint64_t end;
};

struct extents {
	struct extent *at;
	uint32_t size, used;
};

/** What losses.c knows of a connection. */
struct losses {
	struct sent *sent; /* a ring; `first` is the oldest, `next` where the next goes: both only grow */
	uint64_t first, next, size;
	struct extents extents;
	uint64_t last_packet; /* number of the packet that left last, plus 1 */
};

/** What ecn.c knows of a connection. Numbers are of packets with 1-RTT keys. */
struct ecn {
	uint64_t next;     /* of the next datagram's first packet */
	uint64_t from, to; /* packets that left marked last, in a row; the latter is not one of them */
	uint64_t ect0, ce; /* as the peer counted last */
	uint64_t largest;  /* that it has acknowledged */
	bool marks, gap;   /* the last datagram was marked; one was not */
	bool failed;       /* the path that the marks of these were for */
};

/** What paths.c knows of a connection of a server. */
struct paths {
	struct fg_flow there; /* where datagrams came from that were not of the connection's path ... */
	uint64_t left_until;  /* until then nothing is read of paths that were left */
	uint32_t left[PATHS_LEFT];
	uint8_t lefts;
	uint8_t elsewhere; /* ... in a row */
	uint8_t id;        /* which of our IDs its last one was for */
	uint8_t kept_ecn;
	uint8_t *kept; /* the last of them, which is not read yet; NULL: all were */
	uint32_t kept_length;
	uint64_t kept_until; /* then the client is followed there */
};

/** What moves.c knows of a connection of a client. */
struct moves {
	uint64_t at;      /* the last time */
	uint16_t to;      /* the port that nothing has come to yet; 0: none */
	uint16_t outside; /* the port that libngtcp2 does not know of; 0: none */
};

struct carrier;
struct qlog;

struct quic {
	struct fg_stream stream; /* first: what the application sees */
	struct carrier *carrier;
	ngtcp2_conn *conn;
	gnutls_session_t session; /* until the handshake is confirmed */
	ngtcp2_crypto_conn_ref ref;
	struct fg_flow flow; /* the path that it is on */
	struct losses losses;
	struct ecn ecn;
	struct paths paths;
	struct moves moves;
	ngtcp2_cid first_id;   /* where a client's first packets go; of a client: its server's reset token */
	uint32_t id_next;      /* in the table of those */
	uint32_t tag;          /* is part of all IDs, so that they are of this connection alone */
	uint32_t ready_next;   /* in the queue of those that may have something to send */
	uint32_t due_place;    /* in the heap, from 1; 0: none */
	uint64_t due, app_at;  /* when it has to act; UINT64_MAX: not */
	uint64_t began;        /* the first Initial */
	int64_t id;            /* of the stream; -1: none yet */
	uint64_t sent;         /* of the stream, handed to libngtcp2 */
	uint64_t keys_from;    /* number of the first packet with the keys of now */
	uint8_t key_phase;     /* bit of the header of what leaves */
	uint8_t phase;         /* enum quic_phase */
	uint8_t ids;           /* that were made */
	bool ready;            /* in that queue */
	bool announced;        /* the peer knows of the stream */
	bool fin_sent, eof;    /* the ends of both directions */
	bool heard, confirmed; /* the peer has answered; so has its TLS, and ours is not needed any more */
	bool known, over;      /* the application knows of it; and that it is over */
	bool begun;            /* and that streams may be used */
	bool has_ticket;       /* of a client: one came */
	bool may_be_early;     /* of a client: its session allows early data */
	bool is_reset;         /* of a client: its server knows nothing of it */
	bool limited;          /* of several streams: by the window of the connection */
	bool is_early;         /* streams may be used before the handshake is over */
	uint64_t early;        /* bytes that were sent or came so */
	ngtcp2_ccerr why;      /* we close; without CONNECTION_CLOSE */
	uint32_t came;         /* datagrams while closing */
	uint32_t qlog;         /* its log, from 1; 0: none */
	uint8_t last_words_length;
	uint8_t last_words[LAST_WORDS];
};

/** The application of the layer: what the worker polls. */
struct carrier {
	struct fg_app base; /* first */
	struct fg_app *above;
	struct fg_quic_config config;
	char server_name[256];
	uint8_t alpn[256]; /* each name behind its length */
	unsigned alpn_length;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	gnutls_datum_t ticket_key;  /* of a server that gives tickets */
	gnutls_anti_replay_t guard; /* of a server that takes early data */
	struct ticket *ticket;      /* of a client that resumes: a stack */
	uint32_t tickets;
	ngtcp2_mem memory;
	struct fg_heap taken;   /* memory of libngtcp2 */
	uint8_t secret[SECRET]; /* of Retry tokens */
	uint64_t random;
	struct fg_pool pool; /* of struct quic */
	uint32_t *heap;      /* of connections */
	uint32_t heaped;
	uint32_t *bucket, buckets; /* connections by first_id */
	uint64_t resets_from;      /* a second of stateless resets ... */
	uint32_t resets;           /* ... that were sent in it */
	uint32_t ready_first, ready_last, under_way;
	struct fg_quic_tally tally;
	struct fg_histogram *handshakes, *gaps;
	struct fg_tls_agreed agreed;
	char reason[REASON], versions[VERSIONS];
	char *log;
	size_t log_used, log_room;
	uint64_t log_lost;
	struct qlog *qlog;
	uint32_t qlogs; /* that were begun */
};

extern const struct fg_app_ops quic_ops;
extern const struct fg_layer quic_layer;

static inline struct quic *
quic_at(const struct carrier *c, uint32_t i)
{
	return (struct quic *)(uintptr_t)(c->pool.at + i * c->pool.size);
}

static inline struct quic *
quic_of(struct fg_stream *s)
{
	return (struct quic *)s;
}

static inline uint32_t
index_of(const struct quic *q)
{
	return (uint32_t)(((const uint8_t *)q - q->carrier->pool.at) / q->carrier->pool.size);
}

static inline const struct fg_app_ops *
ops_above(const struct quic *q)
{
	return q->carrier->above->ops;
}

/* frames.c */
struct frame {
	uint64_t type;
	int64_t stream;                        /* STREAM */
	uint64_t offset, length;               /* STREAM */
	uint64_t largest, first_range, ranges; /* ACK */
	uint64_t ecn[3];                       /* ACK_ECN: ECT(0), ECT(1), CE */
	const uint8_t *range, *end;
};
/** Read the frame at *at and go behind it. @return false: no frame, or it is malformed */
bool frame_read(const uint8_t **at, const uint8_t *end, struct frame *out);
/** Of an ACK: the next range of numbers, the greatest first. @return false: there are no more */
bool frame_next_range(struct frame *f, uint64_t *low, uint64_t *high);

static inline bool
frame_is_stream(const struct frame *f)
{
	return f->type >= 0x08 && f->type <= 0x0f;
}

static inline bool
frame_counts_ecn(const struct frame *f)
{
	return f->type == 0x03;
}

static inline bool
frame_is_ack(const struct frame *f)
{
	return f->type == 0x02 || frame_counts_ecn(f);
}

/* extents.c */
/** At least one byte of a stream leaves, up to @p end. @return behind the last one that had left before */
uint64_t extent_move(struct extents *e, int64_t id, uint64_t end);
/** The stream is over. */
void extent_forget(struct extents *e, int64_t id);

/* losses.c */
/** A packet with 1-RTT keys leaves; its frames, and its header with the length of its number. */
void losses_sent(struct quic *q, const uint8_t *frames, size_t length, const uint8_t *header,
		 size_t header_length);
/** One has come. */
void losses_received(struct quic *q, const uint8_t *frames, size_t length);
void losses_free(struct quic *q);

/* ecn.c */
/** A datagram leaves. */
void ecn_left(struct quic *q, uint8_t ecn);
/** One has come. */
void ecn_came(const struct quic *q, uint8_t ecn);
/** An ACK has, and acknowledges that many more packets with payload that left marked. */
void ecn_acked(struct quic *q, const struct frame *ack, uint64_t packets);
/** A packet of the handshake has. */
void ecn_shaken(struct quic *q, const uint8_t *frames, size_t length);

/* session.c */
int credentials_create(struct carrier *c, struct fg_error *err);
void credentials_free(struct carrier *c);
/** @return NULL: GnuTLS has no memory */
gnutls_session_t session_create(struct quic *q);
/** Note what was agreed on. */
void session_note(const struct quic *q);
static inline struct quic *
session_owner(gnutls_session_t session)
{
	return ((ngtcp2_crypto_conn_ref *)gnutls_session_get_ptr(session))->user_data;
}

/* tickets.c */
struct ticket;
/** @return 0 or an error of GnuTLS */
int tickets_create(struct carrier *c);
void tickets_free(struct carrier *c);
/** Flags of gnutls_init(). */
unsigned tickets_flags(const struct carrier *c);
/** Of a session that has not begun. @return 0 or an error of GnuTLS */
int tickets_configure(struct quic *q, gnutls_session_t session);
/** Of a server whose handshake is over. */
void tickets_send(const struct quic *q);
/** Does a client wait for one? */
bool tickets_expected(const struct quic *q);

/* zero_rtt.c */
/** A client that may let its application begin early does. @return false: that has ended it */
bool zero_rtt_begin(struct fg_l4 *w, struct quic *q);
/** Bytes of the stream left, perhaps early. */
void zero_rtt_sent(struct quic *q, uint64_t octets);
/** Bytes have come early. */
void zero_rtt_came(struct fg_l4 *w, struct quic *q, uint64_t octets);
/** Bytes of streams that may leave. */
uint64_t zero_rtt_room(const struct quic *q);
/** The handshake is over; *refused: the early data was rejected. @return 0 or an error of libngtcp2 */
int zero_rtt_settle(struct quic *q, bool *refused);

/* ids.c */
uint64_t random_word(struct carrier *c);
void random_fill(struct carrier *c, uint8_t *to, size_t length);
/** A new ID of a connection. */
void id_make(struct quic *q, ngtcp2_cid *out);
/** @return NULL: the ID is of no connection */
struct quic *id_find(const struct carrier *c, const uint8_t *id, size_t length);
/** Add the first ID of a client, which it chose itself. */
void first_id_add(struct quic *q, const ngtcp2_cid *id);
void first_id_remove(struct quic *q);

/* due.c */
/** It has to act at @p at, and not when it had to before; UINT64_MAX: not at all. */
void due_set(struct quic *q, uint64_t at);
/** @return UINT64_MAX: nobody has to act */
uint64_t due_next(const struct carrier *c);
struct quic *due_first(const struct carrier *c);

/* callbacks.c */
extern const ngtcp2_callbacks callbacks;

/* conn.c */
/**
 * A connection of a client, or with @p hd of a server.
 * @param original  where the client sent its first packet; NULL: it is this one, and there was no Retry
 * @return          NULL: no room or no memory
 */
struct quic *conn_create(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow,
			 const ngtcp2_pkt_hd *hd, const ngtcp2_cid *original);
/** Its application learns of it. */
void conn_announce(struct quic *q);
/** And, once, that it may use it. */
void conn_begin(struct fg_l4 *w, struct quic *q);
/** A client has its ticket, and need not wait any more. */
void conn_has_ticket(const struct fg_l4 *w, struct quic *q);
/** Report the end of the connection to the application, once. */
void conn_over(struct fg_l4 *w, struct quic *q, enum fg_l4_end end);
/** Its stream is over: leave at once, or wait for the peer to do so. */
void conn_finish(struct fg_l4 *w, struct quic *q, enum fg_l4_end end);
/** Something of its stream ended: of a client, perhaps all of it. */
void conn_check_finished(struct fg_l4 *w, struct quic *q);
/** CONNECTION_CLOSE has been made: only that is kept, until then. */
void conn_close(struct quic *q, uint64_t until);
/** Nothing is left of it. */
void conn_free(struct fg_l4 *w, struct quic *q);
/** It is to end, with an error of libngtcp2; 0: because the application is done with it. */
void conn_leave(struct fg_l4 *w, struct quic *q, int liberr);
/** The same with an error of the application's, which says why. */
void conn_fail(struct fg_l4 *w, struct quic *q, uint64_t code, const char *reason);
/** The peer has closed it. */
void conn_drained(struct fg_l4 *w, struct quic *q);
/** When it has to act next, by the application and by libngtcp2. */
void conn_schedule(const struct fg_l4 *w, struct quic *q);
/** It has to act now. */
void conn_act(struct fg_l4 *w, struct quic *q);

/* addresses.c */
/** The two ends of a flow, in libngtcp2's words. */
void path_of(const struct fg_flow *flow, ngtcp2_path_storage *out);
/** The flow of a datagram that is to take this path of a connection: a peer's port or address may change. */
struct fg_flow flow_of(const struct quic *q, const ngtcp2_path *path);

/** libngtcp2 calls back for this connection: of the lcore's thread, set before each call of it. */
struct calling {
	struct fg_l4 *w;
	struct quic *q;
};
extern _Thread_local struct calling calling;

static inline ngtcp2_conn *
conn_call(struct fg_l4 *w, struct quic *q)
{
	calling = (struct calling){w, q};
	return q->conn;
}

/* ready.c */
/** It may have something to send. */
void ready_put(struct quic *q);

/* paths.c */
enum path_choice { PATH_DROP, PATH_READ, PATH_WAIT };
/** The path by which a datagram came, as libngtcp2 is to see it, and whether the datagram is read now. */
enum path_choice path_choose(const struct fg_l4 *w, struct quic *q, const struct fg_flow *flow,
			     const uint8_t *data, uint32_t length, ngtcp2_path_storage *out);
/** Keep a datagram that waits. @return false: there is no memory */
bool path_keep(const struct fg_l4 *w, struct quic *q, const uint8_t *data, uint32_t length);
/** Nothing is kept any more. @return what was, which is the caller's; NULL: nothing */
uint8_t *path_take_kept(struct quic *q);
/** It was read. */
void path_note(const struct fg_l4 *w, struct quic *q);
/** One was validated, or was not. */
void path_settled(const struct fg_l4 *w, struct quic *q, const ngtcp2_path *path, bool valid);

/* moves.c */
/** A client may have to take another port. */
void move(const struct fg_l4 *w, struct quic *q);
/** A datagram has come to one. */
void move_note(const struct fg_l4 *w, struct quic *q, const struct fg_flow *flow);

/* output.c */
/** Serve those that may, in turn. @return whether any is left */
bool output_all(struct fg_l4 *w, struct carrier *c);

/* streams.c: of an application with several streams on a connection */
static inline const struct fg_quic_streams *
streams_of(const struct quic *q)
{
	return ops_above(q)->streams;
}
/** @return as write_one(): bytes of a datagram with what streams have to send */
ngtcp2_ssize streams_write(struct fg_l4 *w, struct quic *q, uint8_t *to, ngtcp2_path *path,
			   ngtcp2_pkt_info *info);
/** A stream of the peer's is over: there may be another one. */
void streams_renew(struct quic *q, int64_t id);

/* qlog.c */
/** @return false: there is no memory */
bool qlogs_create(struct carrier *c);
void qlogs_free(struct carrier *c);
/** A connection is made: it may be one of those with a log. @param original  as set_qlog() takes it */
void qlog_begin(struct quic *q, ngtcp2_settings *settings, const ngtcp2_cid *original);

/* input.c */
/** Read what was kept, and with @p follow from where it came. @return false: that has ended the connection */
bool input_kept(struct fg_l4 *w, struct quic *q, bool follow);
bool input_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		    uint32_t length);
/**
 * ICMP quotes an Initial of ours. A connection ends by it if nothing of its server ever came, and if both
 * connection IDs are the Initial's: an attacker may know the addresses and ports, and send such a
 * message, too (RFC 9000, 14.2.1).
 */
bool input_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		       uint32_t length);

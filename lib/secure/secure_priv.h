/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a secured stream, of an application with TLS, and of the worker's share of all of it. Control
 * makes them; from then on only the lcore that polls the worker writes to them.
 *
 *   secure.c     made and freed; what control reads
 *   outbox.c     what is to be sent, by position: literal bytes and runs of records
 *   inbox.c      what has arrived: held until records are whole
 *   record.c     what a record says
 *   handshake.c  from a TCP connection to a stream that is established, and failures
 *   early.c      what is sent and read before that (0-RTT)
 *   life.c       how a stream begins, and how each side ends it
 *   stream.c     what applications call, and what TCP does
 */
#pragma once

#include "fg_metric.h"
#include "fg_pool.h"
#include "fg_secure_layer.h"

enum { BLOCK = 2048, CELL = 256, CACHE = 64, MAX_CARRIERS = 16 };

/* struct secured.flags */
enum {
	CONNECTED = 1 << 0,      /* TCP is established */
	ESTABLISHED = 1 << 1,    /* and so is TLS */
	FAILED = 1 << 2,         /* an alert ended it: nothing is read or written any more */
	CLOSE_SENT = 1 << 3,     /* close_notify */
	CLOSE_RECEIVED = 1 << 4, /* close_notify of the peer, or FIN */
	CAN_WRITE = 1 << 5,      /* there are keys to send with: from then on, of early data before */
	BEGUN = 1 << 6,          /* the application knows it as established */
	TICKETS_LATE = 1 << 7,   /* of a client whose early data is answered before its tickets come */
};

/** A stream of an application, and all that TLS knows of it. */
struct secured {
	struct fg_stream plain;             /* first: what the application sees */
	uint64_t id;                        /* never used before; 0: not in use */
	uint64_t began;                     /* ns: the handshake */
	struct fg_tls_handshake *handshake; /* while it is under way; of a client that wants tickets longer */
	const struct fg_tls_suite *suite;   /* NULL: not known yet */
	struct fg_tls_keys out, in;
	uint8_t out_secret[FG_TLS_MAX_SECRET], in_secret[FG_TLS_MAX_SECRET];
	uint64_t out_next, in_next;     /* numbers of records */
	uint64_t laid_out;              /* plaintext before this position has its records */
	uint64_t read_at;               /* where in what TCP received the next record begins */
	uint64_t in_order;              /* up to here no gap was open, or note_closed() has seen it closed */
	uint32_t first_span, last_span; /* of the outbox; 0: it is empty */
	uint32_t first_block, last_block; /* of the inbox */
	uint32_t message_left;            /* bytes of a handshake message that goes on in the next record */
	uint32_t full;                    /* plaintext of a full record */
	uint32_t early;                   /* bytes that left or came early; of a client, that were offered */
	uint8_t flags, empty, warnings;   /* records in a row without data; alerts that were ignored */
	bool early_waits;                 /* early data came that the application cannot use now */
};

/** A part of the outbox. */
struct span {
	uint32_t next;   /* first: the pool's while it is free */
	uint32_t block;  /* literal bytes; 0: records of data */
	uint32_t length; /* of them */
	bool ends_keys;  /* a KeyUpdate: what lies before it is sealed with the keys behind it in the block */
	struct fg_tls_run run; /* of literal bytes: at; and the data behind them, plain and number */
};

struct block {
	uint32_t next;   /* first: the pool's while it is free */
	uint64_t number; /* of the inbox: position / BLOCK */
	/* of the inbox: when the latest of each CELL bytes arrived beyond a gap; 0: some of it did not */
	uint64_t since[BLOCK / CELL];
	uint64_t closed[BLOCK / CELL]; /* and when the gap was closed */
	uint8_t data[BLOCK];
};

enum { OLD_KEYS = BLOCK - sizeof(struct fg_tls_keys) };

/** A record that was sealed last of the streams that share its place. */
struct sealed {
	uint64_t id, at;
	uint32_t length;
	uint8_t data[FG_TLS_MAX_RECORD];
};

/** Of a worker. */
struct secure {
	struct secured *stream; /* by the number of the TCP connection */
	uint32_t streams, highest;
	struct fg_pool spans, blocks;
	struct fg_tls_crypto *crypto;
	struct sealed *cache;
	uint64_t ids, octets; /* of memory, as the worker knows it */
	uint32_t under_way;   /* handshakes */
	uint8_t record[FG_TLS_MAX_RECORD], room[FG_TLS_MAX_RECORD];
};

/** The application of the layer: what TCP sees. */
struct carrier {
	struct fg_app base; /* first */
	struct secure *all;
	struct fg_app *above;
	struct fg_secure_config config;
	struct fg_tls_context *context;
	struct fg_secure_tally tally;
	struct fg_histogram *handshakes;
};

extern const struct fg_app_ops secure_ops;
extern const struct fg_layer secure_layer;

static inline struct carrier *
carrier_of(const struct fg_l4 *w, const struct fg_stream *tcp)
{
	return (struct carrier *)w->app[tcp->app];
}

static inline struct secured *
secured_of(const struct fg_l4 *w, const struct fg_stream *tcp)
{
	return &carrier_of(w, tcp)->all->stream[fg_stream_number(w, tcp)];
}

static inline struct carrier *
carrier_below(const struct fg_l4 *w, const struct fg_stream *plain)
{
	return (struct carrier *)w->app[w->app[plain->app]->below];
}

static inline struct fg_stream *
tcp_below(const struct fg_l4 *w, const struct fg_stream *plain)
{
	return fg_stream_at(w,
			    (uint32_t)((const struct secured *)plain - carrier_below(w, plain)->all->stream));
}

static inline const struct fg_app_ops *
ops_above(const struct fg_l4 *w, const struct secured *t)
{
	return w->app[t->plain.app]->ops;
}

static inline struct span *
span_at(const struct secure *all, uint32_t i)
{
	return (struct span *)(void *)all->spans.at + i;
}

static inline struct block *
block_at(const struct secure *all, uint32_t i)
{
	return (struct block *)(void *)all->blocks.at + i;
}

/** Of what is read. */
enum outcome {
	TAKEN,
	STAYS, /* the application cannot use it now */
	OVER   /* nothing more is read from the stream, which may be no more */
};

/* outbox.c */
/** Send these bytes as they stand. @return false: no room, and the stream was aborted */
bool outbox_literal(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data,
		    size_t length);
/** Send a short message in a record of its own, sealed as soon as there are keys. */
bool outbox_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, uint8_t type,
		   const uint8_t *message, uint32_t length);
/** Make records of what is written, as far as the keys last. */
void outbox_lay_out(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
/** Records of data that have not begun to leave are gone. */
void outbox_cut(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
bool outbox_key_update(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
/** Position in the plaintext before which the peer has all. */
uint64_t outbox_acked(const struct fg_l4 *w, struct secured *t, const struct fg_stream *tcp);
void outbox_fill(struct fg_l4 *w, struct fg_stream *tcp, uint64_t offset, uint8_t *to, uint32_t length);
void outbox_free(struct secure *all, struct secured *t);

/* life.c */
/** All is written and laid out: send close_notify and close. */
void secure_finish(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
/** A stream of an application of the layer, over connection @p tcp. */
struct secured *secure_take(struct fg_l4 *w, struct carrier *c, const struct fg_stream *tcp);
/** Keys to send with, from a handshake. */
void secure_can_write(struct carrier *c, struct secured *t, const struct fg_stream *tcp,
		      const struct fg_tls_taken *taken);
/** Report to the application, once, that the stream is established. @return false: the stream is over */
bool secure_begin(struct fg_l4 *w, struct secured *t);
/** Data for it. */
enum outcome secure_data(struct fg_l4 *w, struct secured *t, const uint8_t *data, uint32_t length);
/** The peer has sent all. */
void secure_eof(struct fg_l4 *w, struct secured *t);

/* inbox.c */
bool inbox_receive(struct fg_l4 *w, struct fg_stream *tcp, uint64_t offset, const uint8_t *data,
		   uint32_t length, bool early);
/** Take the records that are whole. */
void inbox_arrived(struct fg_l4 *w, struct fg_stream *tcp);
void inbox_free(struct secure *all, struct secured *t);

/* record.c */
/** A whole record has arrived. */
enum outcome record_take(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *record,
			 uint32_t length);

/* handshake.c */
void handshake_begin(struct fg_l4 *w, struct fg_stream *tcp);
enum outcome handshake_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp,
			      const uint8_t *record, uint32_t length);
void handshake_free(struct secure *all, struct secured *t);
/** Answer by an alert and close. */
void secure_fail(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, int alert);

/* early.c */
/** The first step of a client, with what it writes first, if that can leave early. */
enum fg_tls_step early_begin(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
/** Of a server: process early data of the last handshake step. */
enum outcome early_take(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp);
/** Of a client: whether the server accepted the early data is known. */
void early_settle(struct carrier *c, struct secured *t);
/** Send records written by libssl behind our own records, unknown to libssl. @return false: aborted */
bool early_output(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data,
		  size_t length);

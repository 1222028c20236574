/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DNS over UDP (RFC 1035, EDNS by RFC 6891) and over TCP (RFC 7766), client and server. What goes over TCP
 * goes through TLS as well (RFC 7858), by the same code. What a message is lies next to this folder, since
 * DNS over HTTPS needs it, too: dns_message_priv.h.
 *
 *   dns.c        the kinds; over UDP the client matches answers with its queries, the server answers
 *   inbox.c      messages of a stream, each behind its length, however they are cut
 *   conn.c       connections: what both sides keep of them
 *   client.c, server.c  the two sides over TCP
 *   again.c      queries whose answers were truncated over UDP
 */
#pragma once

#include "../dns_message_priv.h"
#include "../requests_priv.h"
#include "fg_pool.h"

enum { DNS_SALT = 0x9e37 /* of ids */ };

/** The message of a stream that has come in part, in blocks of a pool. */
struct dns_inbox {
	uint32_t first_block, last_block;
	uint32_t have;   /* bytes of it, with its length field */
	uint16_t length; /* as far as it has come */
};

/** Of a client: a query that waits for its answer. */
struct dns_asked {
	uint32_t next;   /* first: the pool's while it is free */
	uint64_t number; /* of the connection's queries, from 0 */
	uint64_t since;
};

/** Of a server: an answer that the peer does not have yet, as what it follows from. */
struct dns_reply {
	uint32_t next;   /* first */
	uint32_t bytes;  /* with the prefix */
	uint64_t at;     /* position in the stream */
	uint64_t serial; /* among all of the worker */
	int rcode;
	struct dns_query query;
	uint8_t question[DNS_NAME_MAX + 4];
};

/* struct dns_conn.flags */
enum {
	DNS_OVER = 1 << 0,  /* nothing is read any more */
	DNS_TIMED = 1 << 1, /* the timer runs */
	DNS_READY = 1 << 2, /* in the ring of those that can take a query that is due */
	DNS_AGAIN = 1 << 3, /* it asks once more what was truncated over UDP */
};

struct dns_conn {
	uint32_t next; /* first: the pool's while it is free */
	uint32_t flags;
	struct dns_inbox inbox;
	uint32_t first, last, waiting; /* struct dns_asked or struct dns_reply, in order of sending */
	uint64_t since;                /* server: when the last query came; client: has been ready */
	/* client */
	uint64_t asked;    /* queries sent */
	uint64_t given_up; /* of these all before this number have been answered or given up */
	uint32_t question; /* the first one's */
	uint16_t salt;     /* of ids */
	uint32_t next_ready, previous_ready;
	struct fg_stream *stream;
	uint32_t slot; /* DNS_AGAIN: which waits for it, */
	uint64_t slot_number;
	/* server */
	uint32_t recent; /* the answer that was filled in last */
	uint64_t end;    /* position behind what is to be written */
};

/** Either side. What is for streams is behind what datagrams need. */
struct dns {
	struct requests requests; /* first */
	struct fg_l4_dns config;
	struct dns_questions questions; /* client */
	uint8_t *expected;              /* client: the answer of our server */
	uint8_t cookie[DNS_COOKIE_MAX]; /* client: its own, and the server's behind it */
	uint32_t cookie_bytes;          /* 0: it sends none */
	uint64_t *resent; /* client, with cookies: by slot, the query that was sent again last */
	const struct request_ops *queries;
	uint32_t queued;      /* queries that are to be asked again over TCP */
	uint32_t queue_first; /* in the ring of them, which has as many places as there are slots */
	uint32_t *queue;      /* slots */
	uint64_t *again;      /* by slot: number of the last query that was to be asked again */
	struct fg_pool conns, entries,
		blocks; /* connection 0 is the head of the ring of those that are ready */
	uint32_t entries_taken, blocks_taken;
	uint64_t octets;    /* of the pools, as far as the worker knows */
	uint8_t *whole;     /* a message that came in parts */
	uint64_t begun;     /* client: connections */
	uint8_t *made;      /* server: the answer that was made last, with its prefix */
	uint64_t made_last; /* its serial */
	uint64_t serials;
};

/** A stream's own: of both sides. */
struct dns_area {
	struct client_stream client; /* first */
	uint32_t conn;
};

static_assert(sizeof(struct dns_area) <= FG_STREAM_AREA, "the area of a stream");

static inline struct dns *
dns_of(const struct application *a)
{
	return (struct dns *)(uintptr_t)a;
}

static inline struct dns_conn *
dns_conn_at(const struct dns *d, uint32_t i)
{
	return (struct dns_conn *)(void *)d->conns.at + i;
}

static inline struct dns_conn *
dns_conn_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return dns_conn_at(dns_of(application_of(w, s)),
			   ((const struct dns_area *)(const void *)s->area)->conn);
}

static inline void
dns_note(struct application *a, enum dns_sum sum)
{
	a->base.tally.own[sum]++;
}

static inline struct dns_judge
dns_judge_of(struct application *a)
{
	return (struct dns_judge){&dns_of(a)->config, dns_of(a)->expected, &a->base.tally, a->base.tally.own};
}

/* inbox.c */
enum { DNS_BLOCK = 252 };
struct dns_block {
	uint32_t next; /* first: the pool's while it is free */
	uint8_t data[DNS_BLOCK];
};
/** Hand on each message that is whole. @return false: there is no room for the rest, and nothing was read */
bool dns_inbox_read(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length,
		    void (*take)(struct fg_l4 *w, struct fg_stream *s, const uint8_t *message,
				 uint32_t length));
void dns_inbox_free(struct dns *d, struct dns_inbox *in);

/* conn.c */
int dns_streams_create(struct dns *d, struct fg_error *err);
void dns_streams_free(struct dns *d);
/** Note what a stream needs. @return NULL: there is no room, and it was aborted */
struct dns_conn *dns_begin(struct fg_l4 *w, struct fg_stream *s);
/** What the connection had is given back. */
void dns_end(struct fg_l4 *w, struct fg_stream *s);
/** An entry more at the end of the connection's list. @return NULL: there are no more */
void *dns_append(struct fg_l4 *w, struct dns *d, struct dns_conn *c);
/** Entry @p i is taken off, which stands behind entry @p before; 0: it is the first. */
void dns_remove(struct dns *d, struct dns_conn *c, uint32_t before, uint32_t i);

/* again.c */
/** A datagram with the answer to what waits in a slot was truncated. @return whether it is asked again */
bool dns_ask_again_later(struct dns *d, uint32_t slot, uint64_t number);
/** Do so. @return when there is more to do */
uint64_t dns_ask_again(struct fg_l4 *w, struct dns *d);

/* client.c */
/** Send what is due, where queries have a rate; and open connections. @return when there is more to do */
uint64_t dns_client_poll(struct fg_l4 *w, struct fg_app *app);
void dns_client_established(struct fg_l4 *w, struct fg_stream *s);
bool dns_client_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
			uint32_t length, bool early);
void dns_client_go_on(struct fg_l4 *w, struct fg_stream *s);
void dns_client_stop(struct fg_l4 *w, struct fg_stream *s);
void dns_client_eof(struct fg_l4 *w, struct fg_stream *s);
void dns_client_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
void dns_client_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end);
void dns_client_timer(struct fg_l4 *w, struct fg_stream *s);

#define DNS_STREAM_CLIENT                                                                                  \
	.established = dns_client_established, .receive = dns_client_receive, .arrived = dns_client_go_on, \
	.eof = dns_client_eof, .fill = dns_client_fill, .closed = dns_client_closed,                       \
	.timer = dns_client_timer, .connected = note_connected

/* server.c */
void dns_server_established(struct fg_l4 *w, struct fg_stream *s);
bool dns_server_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
			uint32_t length, bool early);
void dns_server_flush(struct fg_l4 *w, struct fg_stream *s);
void dns_server_acked(struct fg_l4 *w, struct fg_stream *s);
void dns_server_eof(struct fg_l4 *w, struct fg_stream *s);
void dns_server_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
void dns_server_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end);
void dns_server_timer(struct fg_l4 *w, struct fg_stream *s);

#define DNS_STREAM_SERVER                                                                                  \
	.established = dns_server_established, .receive = dns_server_receive, .arrived = dns_server_flush, \
	.eof = dns_server_eof, .acked = dns_server_acked, .fill = dns_server_fill,                         \
	.closed = dns_server_closed, .timer = dns_server_timer

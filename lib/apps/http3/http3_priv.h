/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP/3 (RFC 9114), client and server, over the streams of a QUIC connection (struct fg_quic_streams).
 * libnghttp3 makes and reads frames and fields (QPACK, RFC 9204), and says which stream is next. Our own
 * fields are from the static table or literals, so they do not depend on what was sent before; a peer may
 * use a table of 4,096 bytes. Bodies are sent from where they lie and checked as they come; nothing is kept
 * of them.
 *
 *   conn.c     connections and exchanges: taken, given back, ended; what libnghttp3 calls
 *   streams.c  what QUIC calls: bytes of streams from and to libnghttp3
 *   client.c, server.c
 *   flood.c    requests that nobody waits for, sent on purpose; and when there are too many of them
 *   http3.c    the kind
 *
 * All of it is written by the lcore that polls the worker; control makes and frees it.
 */
#pragma once

#include <nghttp3/nghttp3.h>

#include "../fields_priv.h"
#include "../page_priv.h"
#include "fg_heap.h"
#include "fg_pool.h"

enum { H3_TABLE = 4096, H3_BLOCKED = 16, H3_FIELDS_MAX = 65536, H3_REQUEST_FIELDS = 7, H3_PATH = 3 };

/** A request and its response, on a stream. */
struct h3_exchange {
	uint32_t next, previous; /* of the connection; `next` is the pool's while it is free */
	int64_t id;              /* of the stream */
	struct fields fields;    /* of the head that is being read */
	uint64_t since;          /* of a client: the request was sent */
	uint64_t blocked;        /* note_blocked() */
	uint64_t length;         /* of the peer's body: Content-Length, if sized */
	uint64_t received;       /* so far */
	uint32_t body, left;     /* of ours: all, and to be handed to libnghttp3 */
	uint32_t wanted, object; /* of a client: bytes of the response; of a page: which object it is */
	bool sized, unwanted, any, is_post, is_head;
	bool over; /* the message of the peer is whole, or will not be */
};

/* struct h3_conn.flags */
enum {
	H3_OVER = 1 << 0,    /* nothing is sent or read any more */
	H3_LEAVING = 1 << 1, /* GOAWAY has come: no further requests */
	H3_PAUSED = 1 << 2,  /* of a client: the timer runs */
};

struct h3_conn {
	uint32_t next; /* the pool's while it is free */
	uint32_t flags;
	nghttp3_conn *http;
	struct fg_l4 *w;
	struct fg_stream *stream;
	uint32_t first, last; /* exchanges */
	uint32_t active;      /* of them those that are not over */
	uint32_t requests;    /* of a client: sent */
	uint32_t load;        /* and of a page: page_begin() */
	uint64_t blocked;     /* note_blocked() */
	int64_t unwanted;   /* of a client that floods: the stream that is reset next; 0: there is no such */
	bool unwanted_left; /* some of it, so the server learns of the reset */
	uint64_t second;    /* of a server: a second ... */
	uint32_t resets;    /* ... and the requests that were reset in it */
};

/** What the two sides do differently. */
struct h3_role {
	bool is_client;
	/** A head is whole. */
	void (*head)(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x);
	/** The peer has sent all of it. */
	void (*over)(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x);
	/** It failed. */
	void (*failed)(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x, enum message_sum why);
	/** Something of the connection has come, and libnghttp3 may be called. */
	void (*go_on)(struct fg_l4 *w, struct fg_stream *s);
};

/** Either side. */
struct http3 {
	struct application app; /* first */
	const struct h3_role *role;
	struct fg_pool conns, exchanges;
	struct fg_heap heap; /* of libnghttp3 */
	uint64_t octets;     /* of it and of the pools, as far as the worker knows */
	nghttp3_mem memory;
	uint32_t streams;                      /* at a time on a connection */
	nghttp3_nv request[H3_REQUEST_FIELDS]; /* of a client */
	uint32_t request_fields;
	char length[16];         /* Content-Length of it */
	double flood_at;         /* of a client: when the next request of a flood is due, ns */
	uint64_t asked, flooded; /* those, and of them that were reset */
};

/** A stream's own: of both sides. */
struct h3_area {
	struct client_stream client; /* first */
	uint32_t conn;
};

static_assert(sizeof(struct h3_area) <= FG_STREAM_AREA, "the area of a stream");

static inline struct http3 *
http3_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct http3 *)application_of(w, s);
}

/** @return connection number 0, which is over, without one */
static inline struct h3_conn *
h3_conn_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct h3_conn *)(void *)http3_of(w, s)->conns.at +
	       ((const struct h3_area *)(const void *)s->area)->conn;
}

static inline struct h3_exchange *
h3_exchange_at(const struct http3 *a, uint32_t i)
{
	return (struct h3_exchange *)(void *)a->exchanges.at + i;
}

/** What a client's connection loads; NULL: no page. */
static inline struct page_load *
h3_load_of(const struct http3 *a, const struct h3_conn *c)
{
	return c->load == 0 ? NULL : page_load_at(a->app.page, c->load);
}

static inline nghttp3_nv
h3_field(const char *name, const char *value)
{
	return (nghttp3_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			    strlen(value), NGHTTP3_NV_FLAG_NO_COPY_NAME | NGHTTP3_NV_FLAG_NO_COPY_VALUE};
}

/* conn.c */
/** The connection is there. @return NULL: it was aborted */
struct h3_conn *h3_begin(struct fg_l4 *w, struct fg_stream *s);
/** As of struct app_kind. */
void h3_note_unblocked(struct fg_l4 *w, struct fg_stream *s);
void h3_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end);
/** Nothing is left of it, and nobody is told of its exchanges. */
void h3_forget(struct fg_l4 *w, struct fg_stream *s);
/** Of a client. */
void h3_refused(struct fg_l4 *w, struct fg_stream *s);
/** @return NULL: there is no room */
struct h3_exchange *h3_take(struct http3 *a, struct h3_conn *c, int64_t id);
void h3_give(struct http3 *a, struct h3_conn *c, struct h3_exchange *x);
/** The peer's message is over. */
void h3_end(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x);
/** It fails, and does not wait for anything more. */
void h3_drop(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x, enum message_sum why);
/** The connection fails by an error of libnghttp3. */
void h3_fail(struct fg_l4 *w, struct fg_stream *s, int error);
/** The same by a code of RFC 9114, 8.1. */
void h3_fail_by(struct fg_l4 *w, struct fg_stream *s, uint64_t code, const char *why);
/** The connection ends without an error. */
void h3_leave(struct fg_l4 *w, struct fg_stream *s);
/** Bytes of a body of ours, for libnghttp3. */
nghttp3_ssize h3_read_body(nghttp3_conn *http, int64_t id, nghttp3_vec *to, size_t room, uint32_t *flags,
			   void *conn, void *exchange);

/* client.c */
/** As of struct app_kind. */
uint32_t h3_waits(struct fg_l4 *w, const struct fg_stream *s,
		  void (*note)(struct fg_l4 *w, struct application *a, uint64_t since));

/* flood.c */
/** poll() of a client that floods. */
uint64_t h3_flood_poll(struct fg_l4 *w, struct fg_app *app);
/** As of struct fg_quic_streams. */
void h3_flood_left(struct fg_l4 *w, struct fg_stream *s);
/** Of a server: a request was reset. More than 1,000 in a second end the connection. */
void h3_count_reset(struct fg_l4 *w, struct fg_stream *s);

/* streams.c */
extern const struct fg_quic_streams h3_streams;

extern const struct h3_role h3_client_role, h3_server_role;
extern const struct fg_app_ops h3_client_ops, h3_server_ops;

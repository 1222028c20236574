/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP/2 (RFC 9113), client and server. Frames are our own, since what is sent must follow from its position:
 * a retransmission is made anew, and nothing is kept of a body. Fields are read by nghttp2 (HPACK, RFC 7541),
 * unless a block says what the last one said; ours are made at set-up, without a table.
 *
 *   frame.c    reads frames, whichever way they are cut
 *   control.c  frames that are about the connection or about windows
 *   fields.c   blocks of fields
 *   message.c  from frames to requests and responses, of both sides
 *   outbox.c   what is to be sent, by position
 *   conn.c     connections and exchanges: taken, found, given back
 *   flood.c    frames that nobody needs, sent on purpose
 *   doh.c      DNS over HTTPS: what requests and bodies are then
 *   client.c, server.c
 *   http2.c    the kind
 *
 * All of it is written by the lcore that polls the worker; control makes and frees it.
 */
#pragma once

#include <nghttp2/nghttp2.h>

#include "../fields_priv.h"
#include "../page_priv.h"
#include "fg_heap.h"
#include "fg_pool.h"

enum {
	H2_HEADER = 9,        /* bytes of a frame's header */
	H2_FRAME_MAX = 16384, /* payload of a frame, either way */
	H2_WINDOW = 65535,    /* initial values of the protocol */
	H2_WINDOW_MAX = 0x7fffffff,
	H2_TABLE = 4096, /* bytes of a peer's table of fields */
	H2_PART = 9,     /* the most bytes that are read as one number or several */
	H2_RESETS = 64,  /* streams that we have reset last, on which frames may still come */
	H2_CONTROLS = 17,
};

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_TYPES,
};

/* struct h2_conn.frame.flags */
enum { H2_END_STREAM = 1, H2_ACK = 1, H2_END_HEADERS = 4, H2_PADDED = 8, H2_HAS_PRIORITY = 0x20 };

enum h2_error {
	H2_NO_ERROR,
	H2_PROTOCOL_ERROR,
	H2_INTERNAL_ERROR,
	H2_FLOW_CONTROL_ERROR,
	H2_SETTINGS_TIMEOUT,
	H2_STREAM_CLOSED,
	H2_FRAME_SIZE_ERROR,
	H2_REFUSED_STREAM,
	H2_CANCEL,
	H2_COMPRESSION_ERROR,
	H2_CONNECT_ERROR,
	H2_ENHANCE_YOUR_CALM,
};

/** A request and its response: a stream of HTTP/2. */
struct h2_exchange {
	uint32_t next, previous; /* of the connection; `next` is the pool's while it is free */
	uint32_t id;
	int32_t window;          /* bytes that the peer takes */
	int32_t credit;          /* and that it may send */
	uint32_t left;           /* bytes of our body to be sent */
	uint32_t body;           /* and all of it */
	uint32_t wanted, object; /* of a client: bytes of the response; of a page: which object it is */
	bool sends_head, head_read, sized, unwanted, any, again, receives, is_post, is_head;
	uint64_t since;            /* of a client: the request was sent */
	uint64_t blocked;          /* note_blocked() */
	uint64_t read_at;          /* when bytes of the stream were read last */
	uint64_t length, received; /* of the peer's body: Content-Length, bytes so far */
	/* of DNS over HTTPS: the peer's message; ours, which is in `own` unless it is a query */
	uint8_t *came, *own;
	const uint8_t *message;
	uint32_t came_bytes;
	uint8_t response; /* enum h2_response */
};

/** A part of what was written and is not acknowledged. */
struct h2_span {
	uint32_t next; /* the pool's while it is free */
	uint32_t id;   /* of the stream, or of the first of requests */
	uint64_t at;   /* position */
	uint64_t octets;
	uint32_t head;    /* bytes of HEADERS before the data; of the first of requests that are all alike */
	uint32_t body;    /* where in the body the data begins */
	uint32_t data;    /* its bytes, without headers of frames */
	uint8_t kind;     /* of outbox.c */
	bool ends;        /* the last frame ends the stream */
	uint8_t response; /* enum h2_response */
	uint8_t *own;     /* of DNS over HTTPS: memory of `text` */
	union {
		uint8_t literal[H2_CONTROLS];
		struct {
			const uint8_t *text;
			uint32_t length; /* Content-Length of a response; of DNS over HTTPS: which query */
		};
	};
};

/** Responses of a server. */
enum h2_response { H2_PAYLOAD, H2_DNS, H2_BAD_REQUEST, H2_NOT_FOUND, H2_UNSUPPORTED, H2_NO_ROOM };

/** The frame that is being read. */
struct h2_frame {
	uint32_t id, body, pad; /* bytes still to come of its payload, and of its padding */
	uint8_t type, flags;
	uint8_t phase, have, want;
	uint8_t part[H2_PART];
};

/* struct h2_conn.flags */
enum {
	H2_OVER = 1 << 0,       /* nothing is read any more */
	H2_GONE = 1 << 1,       /* the stream below is over */
	H2_BEGUN = 1 << 2,      /* the first SETTINGS have come */
	H2_SETTLED = 1 << 3,    /* and ours have been acknowledged */
	H2_LEAVING = 1 << 4,    /* GOAWAY has come: no further requests */
	H2_PEER_ENDED = 1 << 5, /* FIN */
	H2_REFUSING = 1 << 6,   /* streams were refused or reset, and are not noted any more */
	H2_PAUSED = 1 << 7,     /* of a client: the timer runs */
};

enum h2_flood { H2_PINGS, H2_SETTINGS_FRAMES, H2_RESET_FRAMES, H2_EMPTY_FRAMES, H2_FLOODS };

struct h2_conn {
	uint32_t next; /* the pool's while it is free */
	uint32_t flags;
	struct h2_frame frame;
	struct fields fields;  /* of the block that is being read */
	uint32_t block, parts; /* its bytes, its CONTINUATIONs; */
	uint32_t block_id;     /* and whose it is; 0: none is under way */
	bool block_ends;       /* END_STREAM was on its HEADERS */
	uint16_t table;        /* bytes of the peer's table, which is empty unless there is an inflater */
	nghttp2_hd_inflater *inflater;
	uint32_t first, last, active; /* exchanges */
	uint32_t first_reset, last_reset, resets;
	uint32_t last_id;              /* the highest so far, of a client: of ours */
	uint32_t requests, again;      /* of a client: sent, refused and to be sent once more */
	uint32_t load;                 /* and of a page: page_begin() */
	uint32_t streams_max;          /* at a time, says the peer */
	int32_t window, stream_window; /* bytes that the peer takes, and at the begin of a stream */
	int32_t credit, stream_credit; /* ours */
	uint32_t first_span, last_span, recent_span;
	uint64_t end;                /* position behind what is laid out */
	uint64_t blocked;            /* note_blocked() */
	uint64_t held_from, held_to; /* what is being read of a payload: as of struct fg_held */
	uint64_t second;             /* in which the frames below are counted */
	uint16_t flood[H2_FLOODS];
	/* of a server of DNS over HTTPS, of the block: on the heap; the body is a message of DNS */
	uint8_t *path;
	uint32_t path_bytes;
	bool is_message;
};

/** What the two sides do differently. */
struct h2_role {
	bool is_client;
	/** A head is whole, of exchange @p x, which a server has just made. */
	void (*head)(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x);
	/** The peer has sent all of it. The exchange may be gone afterwards. */
	void (*over)(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x);
	/** It failed; it is given back by the caller. */
	void (*failed)(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, enum message_sum why);
	/** What could be sent has been laid out. */
	void (*sent)(struct fg_l4 *w, struct fg_stream *s);
};

/** The last block that changed nothing but what it says. */
struct h2_seen {
	struct fields fields;
	uint32_t octets;
	uint16_t table;
	uint8_t text[512];
};

/** Either side. */
struct http2 {
	struct application app; /* first */
	const struct h2_role *role;
	struct fg_pool conns, exchanges, spans;
	nghttp2_mem memory;
	nghttp2_hd_inflater *spare; /* with an empty table */
	struct h2_seen seen;
	struct fg_heap heap;  /* of nghttp2 */
	uint64_t octets;      /* of it and of the pools, as far as the worker knows */
	uint8_t opening[128]; /* what a connection begins with */
	uint32_t opening_octets;
	uint8_t *request; /* of a client: HEADERS; of a page each object's, all as long */
	uint32_t request_octets;
	uint32_t streams; /* at a time on a connection */
	int32_t window;   /* that we offer */
	double flood_at;  /* of a client: when the next frame of a flood is due, ns */
	uint64_t flooded; /* of these frames */
	struct doh *doh;  /* NULL: no DNS over HTTPS */
	uint64_t most;    /* of it: bytes of the heap at which nothing more is taken in */
};

/** A stream's own: of both sides. */
struct h2_area {
	struct client_stream client; /* first */
	uint32_t conn;
};

static_assert(sizeof(struct h2_area) <= FG_STREAM_AREA, "the area of a stream");

static inline struct http2 *
http2_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct http2 *)application_of(w, s);
}

static inline struct h2_conn *
h2_conn_at(const struct http2 *a, uint32_t i)
{
	return (struct h2_conn *)(void *)a->conns.at + i;
}

static inline struct h2_conn *
h2_conn_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return h2_conn_at(http2_of(w, s), ((const struct h2_area *)(const void *)s->area)->conn);
}

static inline struct h2_exchange *
h2_exchange_at(const struct http2 *a, uint32_t i)
{
	return (struct h2_exchange *)(void *)a->exchanges.at + i;
}

static inline struct h2_span *
h2_span_at(const struct http2 *a, uint32_t i)
{
	return (struct h2_span *)(void *)a->spans.at + i;
}

static inline bool
h2_serves_dns(const struct http2 *a)
{
	return a->doh != NULL && !a->role->is_client;
}

/** Memory of DNS over HTTPS. @return NULL: there is no memory, or all that it may have is taken */
static inline void *
h2_more(struct http2 *a, void *memory, size_t size)
{
	return a->heap.octets + size > a->most ? NULL : fg_heap_change(memory, size, &a->heap);
}

/** What a client's connection loads; NULL: no page. */
static inline struct page_load *
h2_load_of(const struct http2 *a, const struct h2_conn *c)
{
	return c->load == 0 ? NULL : page_load_at(a->app.page, c->load);
}

static inline void
h2_note(struct fg_l4 *w, const struct fg_stream *s, enum message_sum what)
{
	application_of(w, s)->base.tally.own[what]++;
}

/* conn.c */
/** The connection is there. @return NULL: there is no room, and it was aborted */
struct h2_conn *h2_begin(struct fg_l4 *w, struct fg_stream *s);
void h2_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end);
/** As of struct app_kind. */
void h2_note_unblocked(struct fg_l4 *w, struct fg_stream *s);
/** What the connection has in pools and on the heap is given back. */
void h2_give_all(struct http2 *a, struct h2_conn *c);
/** @return NULL: there is no room */
struct h2_exchange *h2_take(struct fg_l4 *w, struct fg_stream *s, uint32_t id);
struct h2_exchange *h2_find(const struct http2 *a, const struct h2_conn *c, uint32_t id);
/** Was it reset by us not long ago? */
bool h2_was_reset(const struct http2 *a, const struct h2_conn *c, uint32_t id);
void h2_give(struct http2 *a, struct h2_conn *c, struct h2_exchange *x);
/** Move the exchange to the end of the list. */
void h2_rotate(struct http2 *a, struct h2_conn *c, struct h2_exchange *x);
/** The stream fails by our RST_STREAM. */
void h2_reset(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, enum h2_error code);
/** The connection fails by our GOAWAY and FIN. */
void h2_fail(struct fg_l4 *w, struct fg_stream *s, enum h2_error code);
/** The connection ends without an error. */
void h2_leave(struct fg_l4 *w, struct fg_stream *s);
/** All exchanges fail. */
void h2_drop_all(struct fg_l4 *w, struct fg_stream *s, enum message_sum why);

/* outbox.c: nothing is sent before h2_flush() */
void h2_send_text(struct fg_l4 *w, struct fg_stream *s, const void *text, uint32_t octets);
/** A frame with up to eight bytes of payload. */
void h2_send_control(struct fg_l4 *w, struct fg_stream *s, uint8_t type, uint8_t flags, uint32_t id,
		     uint64_t payload, uint32_t octets);
/** A head of ours, and a part of the body behind it; where @p data is 0 only the head. */
void h2_send(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, uint32_t data);
/** Of a body, with the headers of its frames. */
uint64_t h2_data_octets(uint32_t data);
void h2_flush(struct fg_l4 *w, struct fg_stream *s);
void h2_acked(struct fg_l4 *w, struct fg_stream *s);
void h2_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
void h2_give_spans(struct http2 *a, struct h2_conn *c);

/* frame.c */
bool h2_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
		bool early);
/** What to expect first: a server the preface of a client, a client a frame. */
void h2_frame_begin(struct h2_conn *c, bool is_server);

/* control.c; a part is whole, or the frame is over. @return H2_NO_ERROR, or how the connection fails */
enum h2_error h2_control_part(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c);
enum h2_error h2_control_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c);
/** What the peer may send gets as large as it was, when half of it is used. */
void h2_renew(struct fg_l4 *w, struct fg_stream *s, uint32_t id, int32_t *credit, int32_t full);
/** Count such a frame. @return false: too many in this second */
enum h2_error h2_count(const struct fg_l4 *w, struct h2_conn *c, enum h2_flood what);

/* flood.c */
/** poll() of a client that floods. */
uint64_t h2_flood_poll(struct fg_l4 *w, struct fg_app *app);

/* message.c */
enum h2_error h2_headers_begin(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c);
enum h2_error h2_headers_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c);
enum h2_error h2_data_begin(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, uint32_t payload);
void h2_data(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, const uint8_t *data, uint32_t length);
void h2_data_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c);
/** refill(): heads, and of the bodies what the windows allow, a frame of each stream in turn. */
bool h2_refill(struct fg_l4 *w, struct fg_stream *s);

/* fields.c */
/** The next bytes of a block. @return whether they can be read */
bool h2_fields_read(struct http2 *a, struct h2_conn *c, const uint8_t *data, uint32_t length, bool last);
void h2_fields_free(nghttp2_hd_inflater **inflater);
/** Of a server of DNS over HTTPS: what is kept of the block is not needed any more. */
void h2_fields_forget(struct http2 *a, struct h2_conn *c);
extern const char h2_dns_type[];
enum { H2_REQUEST_MORE = 64 /* bytes in addition to path and host */ };
/** @return bytes */
uint32_t h2_write_request(const struct fg_l4_app *config, const char *path, uint8_t *to);
enum { H2_RESPONSE_MAX = 80 };
/** A frame of HEADERS. @return its bytes */
uint32_t h2_write_response(uint32_t id, uint32_t length, bool ends, uint8_t what,
			   uint8_t to[H2_RESPONSE_MAX]);
/** A field with a name of the static table. */
uint8_t *h2_put_field(uint8_t *to, uint8_t name, const char *value, size_t length);
uint8_t *h2_put_header(uint8_t *to, uint32_t octets, uint8_t type, uint8_t flags, uint32_t id);

/* doh.c */
enum { DOH_HEAD_MAX = 2048 };
int doh_check(const struct fg_l4_app *config, struct fg_error *err);
int doh_create(struct http2 *a, struct fg_error *err);
void doh_free(struct http2 *a);
/** The next query is this request's. */
void doh_ask(struct http2 *a, struct h2_exchange *x);
/** @return bytes of its frame of HEADERS */
uint32_t doh_write_head(const struct http2 *a, uint32_t id, uint32_t question, uint8_t to[DOH_HEAD_MAX]);
bool doh_is_answer(struct fg_l4 *w, struct http2 *a, const struct h2_exchange *x);
/** Of a server: the request of the block begins; it is whole. */
void doh_begin(struct fg_l4 *w, struct http2 *a, const struct h2_conn *c, struct h2_exchange *x);
/** @return false: there is no room for it */
bool doh_answer(struct fg_l4 *w, struct http2 *a, struct h2_exchange *x);
/** A part of the peer's body. @return MESSAGE_LENGTH: it gets too long; MESSAGE_CUT: there is no room */
enum message_sum doh_take(struct fg_l4 *w, struct http2 *a, struct h2_exchange *x, const uint8_t *data,
			  uint32_t length);
/** The next bytes of ours, for a span. @return false: no memory */
bool doh_piece(struct http2 *a, const struct h2_exchange *x, struct h2_span *span, uint32_t data);
void doh_give(struct http2 *a, struct h2_exchange *x);

extern const struct h2_role h2_client_role, h2_server_role;
extern const struct fg_app_ops h2_client_ops, h2_server_ops;
/** As of struct app_kind. */
uint32_t h2_waits(struct fg_l4 *w, const struct fg_stream *s,
		  void (*note)(struct fg_l4 *w, struct application *a, uint64_t since));

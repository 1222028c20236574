/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP/1.1 (RFC 9112), client and server.
 *
 *   head.c    heads, byte by byte
 *   chunks.c  the chunked transfer coding
 *   client.c, server.c
 *   page.c    a client that loads pages
 *   http.c    the kinds, and what both sides share
 *
 * What is known of the message that is being read lies in the area of its stream: struct http_client and
 * struct http_server.
 */
#pragma once

#include "../page_priv.h"

#define HTTP_NUMBER_MAX 4000000000U
#define HTTP_UNSIZED    UINT32_MAX /* length: none was given */

/* struct http_head.state from HTTP_BODY on: the head is over, and how the end of the body is known */
enum {
	HTTP_BODY = 0x80,      /* by its length */
	HTTP_UNTIL_END = 0xa0, /* by the end of the connection */
	HTTP_CHUNKS = 0x90,    /* in chunks: with enum http_chunk in the low bits */
	HTTP_UNWANTED = 0x40,  /* and with this: not what was asked for, so not checked */
};

/** What is known of the head that is being read; http_begin(): nothing yet, and only then is the state 0. */
struct http_head {
	union {
		struct {
			uint32_t number; /* in the first line: status, or what the path asks for */
			uint32_t length; /* Content-Length, or HTTP_UNSIZED */
		};
		/*
		 * of a client, when the head is over: where the body ends; of one that lasts until the end,
		 * begins
		 */
		uint64_t mark;
		struct {
			uint32_t chunked_octets; /* and in chunks: bytes of data so far */
			uint32_t chunk_left;     /* of this chunk still to come */
		};
	};
	uint8_t state;
	uint8_t post : 1;    /* of a request: with a body */
	uint8_t head : 1;    /* of a request: without one in the answer */
	uint8_t close : 1;   /* the connection ends with this message */
	uint8_t chunked : 1; /* Transfer-Encoding: the body is in chunks */
	uint8_t expects : 1; /* Expect: the body waits for 100 (Continue) */
	uint8_t over : 1;    /* of a client: it has counted the response */
	uint8_t any : 1;     /* the same: it knows nothing of the body */
	uint8_t part : 1;    /* our response is one of `number` bytes, and begins at `length` */
} __attribute__((packed, aligned(2)));

#define HTTP_RANGE_OPEN    UINT32_MAX
#define HTTP_RANGE_IGNORED (UINT32_MAX - 1)

/** The range that a request asks for; without a first byte, a number of the last ones. */
struct http_range {
	uint32_t first, last; /* both HTTP_RANGE_OPEN, or _IGNORED: all */
};

/** A client's own of a stream. */
struct http_client {
	struct client_stream client; /* first; `since`: the request was sent; of a page: http_place_of() */
	struct http_head head;
} __attribute__((packed, aligned(2)));

/**
 * A server's: the request, and where the response begins; "100 Continue" (RFC 9110, 10.1.1) lies right before
 * it.
 */
struct http_server {
	union {
		uint64_t response_at;
		struct http_range range; /* while the head of a request is read */
	};
	struct http_head head;
} __attribute__((packed, aligned(2)));

static_assert(sizeof(struct http_client) <= FG_STREAM_AREA, "the area of a stream");
static_assert(sizeof(struct http_server) <= FG_STREAM_AREA, "the area of a stream");

static inline void
http_begin(struct http_head *h)
{
	*h = (struct http_head){.length = HTTP_UNSIZED};
}

/** Read on; @p r is NULL of a response. @return bytes of the head: all, unless the state is HTTP_BODY now */
uint32_t http_read(struct http_head *h, struct http_range *r, const uint8_t *data, uint32_t length);

/** The last head that came in one piece. */
struct http_seen {
	struct http_head head;
	struct http_range range;
	uint32_t octets; /* 0: there was none */
	uint8_t text[512];
};

/** The same, but a head like that in @p seen is not read. */
uint32_t http_read_again(struct http_seen *seen, struct http_head *h, struct http_range *r,
			 const uint8_t *data, uint32_t length);

/** Where in a body of chunks (RFC 9112, 7.1) one is. */
enum http_chunk {
	CHUNK_BEGIN, /* before the first digit of a size */
	CHUNK_SIZE,
	CHUNK_EXTENSION, /* to the end of the size's line */
	CHUNK_DATA,
	CHUNK_END,     /* the line end behind the data */
	CHUNK_TRAILER, /* at the begin of a line behind the last chunk, and within one */
	CHUNK_FIELD,
	CHUNK_OVER,
	CHUNK_BROKEN,
};

/** Zeroed: before the first chunk. */
struct http_chunks {
	uint32_t left; /* bytes of this chunk still to come */
	uint32_t body; /* bytes of data so far */
	uint8_t at;    /* enum http_chunk */
};

/**
 * Read on, to where data begins or ends at most.
 * @param is_data  out: whether what was read is data, all of it, or none
 * @return         bytes read: none when all is over or broken
 */
uint32_t http_chunks_read(struct http_chunks *k, const uint8_t *data, uint32_t length, bool *is_data);

/** Either side. */
struct http {
	struct application app; /* first */
	char *request;          /* client: head of each request, of each object of a page. NULL: a server */
	char *last;             /* and of the last one of a connection, which is as long */
	uint32_t request_head;
	struct http_seen seen; /* what the peers send */
};

static inline struct http *
http_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct http *)application_of(w, s);
}

/** Bytes of our server's response with such a body, which is a part of one or all. */
uint32_t http_response_octets(uint32_t body, bool part);
/** tally.own: what was wrong with responses, by status, of another length, cut off. */
enum http_sum { HTTP_4XX, HTTP_5XX, HTTP_OTHER, HTTP_LENGTH, HTTP_CUT };

/** A connection of a page. */
struct http_place {
	struct fg_stream *stream; /* NULL: no stream */
	uint64_t opened_at;
	uint32_t object; /* that was asked for last */
	uint8_t state;   /* of page.c */
};

/** A page that is being loaded, and its place in the list of pages for which something has come. */
struct http_visit {
	uint32_t load; /* page_begin(); 0: none */
	uint32_t next_changed;
	bool changed;
	uint64_t due; /* page_look() */
};

/** The client of a page: config.connections visits, each with as many places as it may have connections. */
struct http_page {
	struct http http; /* first */
	struct http_visit *visit;
	struct http_place *place;
	uint32_t changed; /* the first of the list, from 1 on */
	uint64_t due;     /* the earliest of all visits */
};

/** Where the connection belongs to, NULL: to no page any more. */
static inline struct http_place *
http_place_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	uint64_t number = client_of(s)->since;

	return number == 0 ? NULL : &((struct http_page *)http_of(w, s))->place[number - 1];
}

/** Bytes of the body that the client has asked for. */
static inline uint32_t
http_wanted(const struct fg_l4 *w, const struct fg_stream *s)
{
	const struct application *a = application_of(w, s);

	return a->page == NULL ? a->config.response : a->page->object[http_place_of(w, s)->object].octets;
}

/* client.c */
extern const struct fg_app_ops http_client_ops;
/** What a client of pages does, too. */
bool http_client_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
			 uint32_t length, bool early);
/** Is the response complete, if its end is known before the connection's end? */
bool http_is_whole(const struct fg_stream *s);
/** As of struct app_kind. */
uint32_t http_waits(struct fg_l4 *w, const struct fg_stream *s,
		    void (*note)(struct fg_l4 *w, struct application *a, uint64_t since));
/** Has the page failed? Then count it. */
bool http_is_broken(struct fg_l4 *w, struct fg_stream *s);
/** The server has sent all: does the response end so? If not, it is counted as cut off. */
bool http_ends_so(struct fg_l4 *w, struct fg_stream *s);
int http_create(struct application *a, struct fg_error *err);
void http_free(struct application *a);
void http_octets(const struct fg_l4_app *app, uint32_t *request, uint32_t *response);

/* page.c */
extern const struct fg_app_ops http_page_ops;
uint32_t http_page_waits(struct fg_l4 *w, const struct fg_stream *s,
			 void (*note)(struct fg_l4 *w, struct application *a, uint64_t since));
int http_page_check(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err);
int http_page_create(struct application *a, struct fg_error *err);
void http_page_free(struct application *a);

/* server.c */
extern const struct fg_app_ops http_server_ops;

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HTTP_PRIV_H
#define HTTP_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define HTTP_NUMBER_MAX 4000000000U
#define HTTP_UNSIZED    UINT32_MAX /* length: none was given */

/* struct http_head.state from HTTP_BODY on: the head is over, and how the end of the body is known */
enum {
	HTTP_BODY = 0x80,      /* by its length */
	HTTP_UNTIL_END = 0xa0, /* by the end of the connection */
	HTTP_CHUNKS = 0x90,    /* in chunks: with enum http_chunk in the low bits */
	HTTP_UNWANTED = 0x40,  /* and with this: it is not what was asked for, and not looked at */
};

/** What is known of the head that is being read; http_begin(): nothing yet, and only then is the state 0. */
struct http_head {
	uint32_t number; /* in the second word of the first line: status, or what the path asks for */
	uint32_t length; /* Content-Length, or HTTP_UNSIZED */
	uint8_t state;
	bool post; /* of a request: with a body; head: without one in the answer */
	bool head;
	bool close;   /* the connection ends with this message */
	bool chunked; /* Transfer-Encoding: the body is in chunks */
	bool expects; /* Expect: the body waits for 100 (Continue) */
};

static inline void
http_begin(struct http_head *h)
{
	*h = (struct http_head){.length = HTTP_UNSIZED};
}

/** Read on. @return octets that belong to the head: all, unless the state is HTTP_BODY now */
uint32_t http_read(struct http_head *h, const uint8_t *data, uint32_t length);

/** The last head that came in one piece. */
struct http_seen {
	struct http_head head;
	uint32_t octets; /* 0: there was none */
	uint8_t text[512];
};

/** The same, but a head like that in @p seen is not read. */
uint32_t http_read_again(struct http_seen *seen, struct http_head *h, const uint8_t *data, uint32_t length);

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
	uint32_t left; /* octets of this chunk still to come */
	uint32_t body; /* octets of data so far */
	uint8_t at;    /* enum http_chunk */
};

/**
 * Read on, to where data begins or ends at most.
 * @param is_data  out: whether what was read is data, all of it, or none
 * @return         octets read: none when all is over or broken
 */
uint32_t http_chunks_read(struct http_chunks *k, const uint8_t *data, uint32_t length, bool *is_data);

#endif

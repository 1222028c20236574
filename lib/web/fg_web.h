/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * HTTP for the control thread, without a thread of its own.
 *
 * libmicrohttpd does the protocol. Its epoll descriptor is polled by the program's event loop, which then
 * calls fg_web_poll(). No function calls back: whole requests wait in a queue until fg_web_next() takes them,
 * and each may be answered at any later time; its connection is suspended until then. So a request can be
 * handled by a coroutine that waits for a trial.
 *
 * One listener is one struct fg_web; a program may have several. All functions are for the thread that has
 * made it.
 */

struct fg_web;
struct fg_web_request;

struct fg_web_config {
	/* "127.0.0.1:8080", "[::1]:0" (0: any free port), "localhost:8080" or "unix:PATH" (mode 0600) */
	const char *address;
	const char *certificate;  /* PEM; NULL: no TLS */
	const char *key;          /* PEM */
	uint32_t max_connections; /* most connections; then those idle longest are closed */
	uint32_t head_ms;  /* a connection without a whole head of a request is closed after this time */
	uint32_t body_ms;  /* for the body behind it; also for an answer that the client does not read */
	uint64_t max_body; /* bytes of a request, where fg_web_limit() gives no other */
	/* the answer to a larger one, and its type; must live until fg_web_close() */
	const char *too_large, *too_large_type;
};

/** Texts for fg_web_config: a certificate and its key. */
struct fg_web_pem {
	char certificate[2048], key[1024];
};

/**
 * Make a self-signed certificate of this host, valid for ten years, with a P-256 key.
 * @return 0 or -EIO
 */
int fg_web_self_signed(struct fg_web_pem *out, struct fg_error *err);

/**
 * Listen.
 * @return 0 or a negative errno; the error names the address
 */
int fg_web_open(const struct fg_web_config *config, struct fg_web **out, struct fg_error *err);

/** Accept bodies of @p max_body bytes at paths that begin with @p prefix. @return 0, -ENOMEM, -ENOSPC */
int fg_web_limit(struct fg_web *web, const char *prefix, uint64_t max_body);

/** An epoll descriptor: readable when a client wants something. After answers and pushes poll, too. */
int fg_web_descriptor(const struct fg_web *web);

/** The port that it listens on; 0: a Unix socket. */
uint16_t fg_web_port(const struct fg_web *web);

/** Do what can be done without waiting. @return ms after which to call again, too; -1: no such time */
int32_t fg_web_poll(struct fg_web *web);

/** The contents of a request; live as long as the request. */
struct fg_web_about {
	const char *method;
	const char *path; /* decoded, without the query */
	const char *peer; /* "127.0.0.1", "unix" */
	const char *body;
	size_t size;
};

/** Take the next whole request. @return NULL: none waits; else to be given to fg_web_release() at the end */
struct fg_web_request *fg_web_next(struct fg_web *web, struct fg_web_about *about);

enum fg_web_kind { FG_WEB_HEADERS, FG_WEB_QUERY };

struct fg_web_value {
	const char *name;
	const char *value; /* decoded; "" where a query has none */
};

/** Headers or arguments of the query of a request. @return how many were stored */
size_t fg_web_values(const struct fg_web_request *request, enum fg_web_kind kind, struct fg_web_value *out,
		     size_t max);

/**
 * Answer a request, once. Headers and body are copied.
 * @return 0, -EPIPE the client is gone, -EALREADY, -EINVAL a header that HTTP does not have, -ENOMEM
 */
int fg_web_answer(struct fg_web_request *request, uint32_t status, const struct fg_web_value *headers,
		  size_t n, const char *body, size_t size);

/** Begin an answer whose body follows in pieces by fg_web_push(). @return as fg_web_answer() */
int fg_web_stream(struct fg_web_request *request, uint32_t status, const struct fg_web_value *headers,
		  size_t n);

/** Append to a stream. @return bytes that the client has not taken yet, -EPIPE it is gone, -ENOMEM */
int64_t fg_web_push(struct fg_web_request *request, const char *text, size_t size);

/**
 * Release a request. A stream ends behind what was pushed; a request without an answer is answered with
 * 500.
 */
void fg_web_release(struct fg_web_request *request);

/** Stop to listen and close all connections. Requests that were taken stay until they are released. */
void fg_web_close(struct fg_web *web);

__END_DECLS

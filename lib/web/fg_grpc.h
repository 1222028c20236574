/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * gRPC for the control thread: HTTP/2 without TLS, by prior knowledge, without a thread of its own.
 *
 * nghttp2 does the protocol; messages stay bytes. As with fg_web, an epoll descriptor is polled by the
 * program's event loop, no function calls back, and a call that has come whole may be answered at any later
 * time. A body is the sequence of length-prefixed messages of gRPC's protocol, in both directions: unary
 * calls and streams differ in their number only.
 *
 * All functions are for the thread that has made the listener.
 */

struct fg_grpc;
struct fg_grpc_call;

struct fg_grpc_config {
	const char *address;      /* as fg_web_config */
	uint32_t max_connections; /* further ones wait until one ends */
	uint32_t begin_ms; /* a connection that has not begun to speak HTTP/2 is closed after this time */
	uint32_t body_ms;  /* also a connection with an incomplete request or an unread answer */
	/*
	 * a client idle for this time gets a PING, because its host may have disappeared. Without an answer
	 * the connection is closed after body_ms more
	 */
	uint32_t idle_ms;
	uint64_t max_body; /* bytes of a request; all requests together: four times this number */
};

/**
 * Listen.
 * @return 0 or a negative errno; the error names the address
 */
int fg_grpc_open(const struct fg_grpc_config *config, struct fg_grpc **out, struct fg_error *err);

/** An epoll descriptor: readable when a client wants something. */
int fg_grpc_descriptor(const struct fg_grpc *grpc);

/** The port that it listens on; 0: a Unix socket. */
uint16_t fg_grpc_port(const struct fg_grpc *grpc);

/** Do what can be done without waiting. @return ms after which to call again, too; -1: no such time */
int32_t fg_grpc_poll(struct fg_grpc *grpc);

/** The request of a call; lives as long as the call. */
struct fg_grpc_about {
	const char *path; /* "/package.Service/Method" */
	const char *body;
	size_t size;
};

/** Take the next whole call. @return NULL: none waits; else to be given to fg_grpc_release() at the end */
struct fg_grpc_call *fg_grpc_next(struct fg_grpc *grpc, struct fg_grpc_about *about);

/** Does the client still wait (connected, not cancelled, before its deadline)? */
bool fg_grpc_is_awaited(const struct fg_grpc_call *call);

/**
 * Answer a call, once. All is copied.
 * @param status   of gRPC; if it is not 0, there is no body
 * @param message  with a status, percent-encoded; may be empty
 * @return 0, -EPIPE the client is gone, -EALREADY, -ENOMEM
 */
int fg_grpc_answer(struct fg_grpc_call *call, uint32_t status, const char *message, const char *body,
		   size_t size);

/** Release a call. One without an answer is answered as an internal error. */
void fg_grpc_release(struct fg_grpc_call *call);

/** Stop to listen and close all connections. Calls that were taken stay until they are released. */
void fg_grpc_close(struct fg_grpc *grpc);

__END_DECLS

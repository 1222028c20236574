/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the files of the gRPC server share: grpc.c has sockets and times, grpc_session.c the conversation on a
 * connection, grpc_call.c a call and its answer. Everything is written by the control thread alone.
 */
#include <sys/queue.h>

#include <nghttp2/nghttp2.h>

#include "fg_grpc.h"

enum { GRPC_EXHAUSTED = 8, GRPC_INTERNAL = 13 }; /* statuses */

struct fg_grpc {
	int listener, epoll;
	uint16_t port;
	char *path; /* of a Unix socket */
	struct fg_grpc_config config;
	nghttp2_session_callbacks *callbacks;
	LIST_HEAD(, grpc_connection) connections;
	uint32_t n_connections;
	bool accepts;
	uint64_t held;                     /* bytes of bodies of requests */
	STAILQ_HEAD(, fg_grpc_call) whole; /* calls not taken yet */
	int64_t looked_ms;
};

struct grpc_connection {
	LIST_ENTRY(grpc_connection) next;
	struct fg_grpc *grpc;
	nghttp2_session *session;
	int fd;
	bool begun;
	const uint8_t *unsent; /* nghttp2's, until it is asked for more */
	size_t n_unsent;
	bool awaits_room; /* in the socket */
	int64_t since_ms; /* it has not begun, or what is unsent was not taken */
	int64_t heard_ms; /* the client sent something */
	bool asked;       /* PING sent since then */
	LIST_HEAD(, fg_grpc_call) calls;
};

/**
 * A call and its answer. It belongs to its connection while `connection` is not NULL, and to the caller while
 * `taken`; it is freed when both have released it.
 */
struct fg_grpc_call {
	STAILQ_ENTRY(fg_grpc_call) queue;
	LIST_ENTRY(fg_grpc_call) next;
	struct fg_grpc *grpc; /* NULL: the caller alone has it */
	struct grpc_connection *connection;
	int32_t id;
	char *path;
	char *body;
	size_t size, room;
	bool is_post, is_grpc;
	bool whole, queued, taken, answered;
	int64_t since_ms;    /* it began, or was answered */
	int64_t deadline_ms; /* the client's; 0: none */
	char *answer;
	size_t answer_size, sent;
};

/** Take ownership of a socket and start HTTP/2. @return 0 or a negative errno, with the socket closed */
int connection_open(struct fg_grpc *grpc, int fd);

/** Read and write what is possible. @return whether the connection goes on */
bool connection_turn(struct grpc_connection *connection);

/** Write what is possible. @return whether the connection goes on */
bool connection_flush(struct grpc_connection *connection);

/** Send a PING to an idle client. @return whether the connection goes on */
bool connection_ask(struct grpc_connection *connection, int64_t now);

/** Has the connection timed out? */
bool connection_is_overdue(const struct grpc_connection *connection, int64_t now);

void connection_close(struct grpc_connection *connection);

/** @return 0 or -ENOMEM */
int session_callbacks(nghttp2_session_callbacks **out);

/** A client begins a call. @return NULL: out of memory */
struct fg_grpc_call *call_begin(struct grpc_connection *connection, int32_t id);

/** A field of its header. @return 0 or -ENOMEM */
int call_header(struct fg_grpc_call *call, const char *name, const char *value, size_t length);

/** A piece of its body. @return 0 or -ENOMEM */
int call_append(struct fg_grpc_call *call, const uint8_t *data, size_t size);

/** Its request is whole. @return 0 or -ENOMEM */
int call_whole(struct fg_grpc_call *call);

/** As fg_grpc_answer(), but the caller writes the answer to the socket. */
int call_answer(struct fg_grpc_call *call, uint32_t status, const char *message, const char *body,
		size_t size);

/** The caller releases it. */
void call_release(struct fg_grpc_call *call);

/** Its connection, or the client, has released it. */
void call_lost(struct fg_grpc_call *call);

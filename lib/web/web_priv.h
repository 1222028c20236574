/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the files of lib/web share. Everything here is written by the control thread alone, some of it from
 * libmicrohttpd's callbacks, which run inside of fg_web_poll() and fg_web_close().
 */
#include <sys/queue.h>

#include <microhttpd.h>

#include "fg_web.h"

/**
 * A request and its answer. It belongs to libmicrohttpd while `connection` is not NULL, and to the caller
 * while `taken`; it is freed when both have released it.
 */
struct fg_web_request {
	STAILQ_ENTRY(fg_web_request) next; /* in the queue of whole requests */
	struct MHD_Connection *connection;
	char *path;
	char method[16];
	char peer[64];
	char *body;
	size_t size, room;
	uint64_t max_body;
	bool too_large; /* its body, which is then read and dropped */
	bool taken, suspended, queued;
	struct MHD_Response *response;
	uint32_t status;
	bool is_stream, ended;
	struct {
		char *data;
		size_t first, after, room;
	} unread; /* of a stream */
};

/** Give the request its first or next piece of a body. @return 0 or -ENOMEM */
int request_append(struct fg_web_request *request, const char *data, size_t size);

/** Let the connection rest until there is an answer, or more of one. */
void request_suspend(struct fg_web_request *request);

/** The connection has ended, whatever the reason. */
void request_lost(struct fg_web_request *request);

/** Give up a request that its connection waits with, at the end of the listener. */
void request_abandon(struct fg_web_request *request);

/** A body of @p room bytes that grows by doubling. @return 0 or -ENOMEM */
int grow(char **data, size_t *room, size_t wanted);

/**
 * A listening socket at an address.
 * @param path  set to a copy of the path of a Unix socket, to be unlinked and freed; else NULL
 * @return      the descriptor or a negative errno
 */
int listen_at(const char *address, char **path, struct fg_error *err);

/** The port of a socket; 0: it has none. */
uint16_t port_of(int fd);

/** Milliseconds of a monotonic clock. */
int64_t now_ms(void);

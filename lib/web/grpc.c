/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listener of gRPC: it accepts connections, serves each, and checks once a second for connections that
 * have timed out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grpc_priv.h"
#include "web_priv.h"

enum { LOOK_MS = 1000, MAX_EVENTS = 64 };

/* Stop polling the listener while no further connection is possible, or it would stay readable. */
static void
accept_more(struct fg_grpc *grpc, bool wanted)
{
	struct epoll_event event = {.events = wanted ? EPOLLIN : 0, .data.ptr = NULL};

	if (grpc->accepts != wanted)
		epoll_ctl(grpc->epoll, EPOLL_CTL_MOD, grpc->listener, &event);
	grpc->accepts = wanted;
}

static void
accept_connections(struct fg_grpc *grpc)
{
	while (grpc->n_connections < grpc->config.max_connections) {
		int fd = accept4(grpc->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
			break; /* no descriptor, no memory: again in a second */
		if (fd >= 0)
			connection_open(grpc, fd);
	}
	accept_more(grpc, false);
}

static void
close_overdue(struct fg_grpc *grpc)
{
	struct grpc_connection *connection, *next;
	int64_t now = now_ms();

	if (now - grpc->looked_ms < LOOK_MS)
		return;
	grpc->looked_ms = now;
	for (connection = LIST_FIRST(&grpc->connections); connection != NULL; connection = next) {
		next = LIST_NEXT(connection, next);
		if (connection_is_overdue(connection, now) || !connection_ask(connection, now))
			connection_close(connection);
	}
	accept_more(grpc, grpc->n_connections < grpc->config.max_connections);
}

int32_t
fg_grpc_poll(struct fg_grpc *grpc)
{
	struct epoll_event events[MAX_EVENTS];
	int n;

	n = epoll_wait(grpc->epoll, events, MAX_EVENTS, 0);
	for (int i = 0; i < n; i++) {
		struct grpc_connection *connection = events[i].data.ptr;

		if (connection == NULL)
			accept_connections(grpc);
		else if (!connection_turn(connection))
			connection_close(connection);
	}
	close_overdue(grpc); /* when what they have sent was read */
	return n == MAX_EVENTS ? 0 : LIST_EMPTY(&grpc->connections) && grpc->accepts ? -1 : LOOK_MS;
}

static int
listen_for_calls(struct fg_grpc *grpc, struct fg_error *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	grpc->listener = listen_at(grpc->config.address, &grpc->path, err);
	if (grpc->listener < 0)
		return grpc->listener;
	grpc->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (grpc->epoll < 0 || epoll_ctl(grpc->epoll, EPOLL_CTL_ADD, grpc->listener, &event) != 0)
		return fg_error_set(err, errno, grpc->config.address, "no epoll: %s", strerror(errno));
	grpc->accepts = true;
	grpc->port = port_of(grpc->listener);
	return session_callbacks(&grpc->callbacks) == 0
		       ? 0
		       : fg_error_set(err, ENOMEM, grpc->config.address, "out of memory");
}

int
fg_grpc_open(const struct fg_grpc_config *config, struct fg_grpc **out, struct fg_error *err)
{
	struct fg_grpc *grpc = calloc(1, sizeof(*grpc));
	int rc;

	*out = NULL;
	if (grpc == NULL)
		return fg_error_set(err, ENOMEM, config->address, "out of memory");
	grpc->config = *config;
	grpc->listener = grpc->epoll = -1;
	LIST_INIT(&grpc->connections);
	STAILQ_INIT(&grpc->whole);
	rc = listen_for_calls(grpc, err);
	if (rc != 0) {
		fg_grpc_close(grpc);
		return rc;
	}
	grpc->config.address = NULL; /* the caller's */
	*out = grpc;
	return 0;
}

int
fg_grpc_descriptor(const struct fg_grpc *grpc)
{
	return grpc->epoll;
}

uint16_t
fg_grpc_port(const struct fg_grpc *grpc)
{
	return grpc->port;
}

int
fg_grpc_answer(struct fg_grpc_call *call, uint32_t status, const char *message, const char *body, size_t size)
{
	int rc = call_answer(call, status, message, body, size);

	if (call->connection != NULL && !connection_flush(call->connection))
		connection_close(call->connection);
	return rc;
}

void
fg_grpc_release(struct fg_grpc_call *call)
{
	if (!call->answered)
		fg_grpc_answer(call, GRPC_INTERNAL, "no answer", NULL, 0);
	call_release(call);
}

void
fg_grpc_close(struct fg_grpc *grpc)
{
	if (grpc == NULL)
		return;
	while (!LIST_EMPTY(&grpc->connections))
		connection_close(LIST_FIRST(&grpc->connections));
	if (grpc->listener >= 0)
		close(grpc->listener);
	if (grpc->epoll >= 0)
		close(grpc->epoll);
	if (grpc->path != NULL)
		unlink(grpc->path);
	nghttp2_session_callbacks_del(grpc->callbacks);
	free(grpc->path);
	free(grpc);
}

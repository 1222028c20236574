/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection of a gRPC client: bytes between its socket and nghttp2, and what nghttp2 reports of them.
 *
 * A connection that fails is closed by the caller, never inside of one of nghttp2's callbacks.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grpc_priv.h"
#include "web_priv.h"

enum {
	MAX_CALLS = 100,                     /* at a time on a connection */
	CALL_WINDOW = 1024 * 1024,           /* bytes that a client may send ahead, on a call */
	CONNECTION_WINDOW = 4 * 1024 * 1024, /* and on all of them */
	MAX_HEADER = 16 * 1024,              /* bytes of a header */
	BLOCK = 64 * 1024,
	BLOCKS_PER_TURN = 16,
};

static struct fg_grpc_call *
call_of(nghttp2_session *session, int32_t id)
{
	return nghttp2_session_get_stream_user_data(session, id);
}

static int
on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct fg_grpc_call *call;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	call = call_begin(user, frame->hd.stream_id);
	if (call == NULL)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
	return 0;
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
	  const uint8_t *value, size_t value_length, uint8_t flags, void *user)
{
	struct fg_grpc_call *call = call_of(session, frame->hd.stream_id);

	(void)name_length;
	(void)flags;
	(void)user;
	/* nghttp2 ends both by a zero */
	if (call != NULL && call_header(call, (const char *)name, (const char *)value, value_length) != 0)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	return 0;
}

static int
on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t size, void *user)
{
	struct fg_grpc_call *call = call_of(session, id);

	(void)flags;
	(void)user;
	return call == NULL || call_append(call, data, size) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int
on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct grpc_connection *connection = user;
	struct fg_grpc_call *call = call_of(session, frame->hd.stream_id);
	bool has_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

	connection->begun = true;
	if (call == NULL || !has_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
		return 0;
	return call_whole(call) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* An answer to a request that is not whole yet: the rest of it is not read. */
static int
on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	const struct fg_grpc_call *call = call_of(session, frame->hd.stream_id);

	(void)user;
	if (call == NULL || call->whole || frame->hd.type != NGHTTP2_HEADERS ||
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
		return 0;
	return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, call->id, NGHTTP2_NO_ERROR) == 0
		       ? 0
		       : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int
on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
	struct fg_grpc_call *call = call_of(session, id);

	(void)code;
	(void)user;
	if (call != NULL)
		call_lost(call);
	return 0;
}

int
session_callbacks(nghttp2_session_callbacks **out)
{
	if (nghttp2_session_callbacks_new(out) != 0)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_begin_headers_callback(*out, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(*out, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*out, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(*out, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(*out, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(*out, on_stream_close);
	return 0;
}

static int
begin_session(struct grpc_connection *connection)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_CALLS},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, CALL_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER},
	};
	size_t n = sizeof(settings) / sizeof(settings[0]);

	if (nghttp2_session_server_new(&connection->session, connection->grpc->callbacks, connection) != 0 ||
	    nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, n) != 0 ||
	    nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0,
						  CONNECTION_WINDOW) != 0)
		return -ENOMEM;
	return 0;
}

int
connection_open(struct fg_grpc *grpc, int fd)
{
	struct grpc_connection *connection = calloc(1, sizeof(*connection));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
	int on = 1;

	if (connection == NULL) {
		close(fd);
		return -ENOMEM;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	connection->grpc = grpc;
	connection->fd = fd;
	connection->since_ms = connection->heard_ms = now_ms();
	LIST_INIT(&connection->calls);
	LIST_INSERT_HEAD(&grpc->connections, connection, next);
	grpc->n_connections++;
	if (begin_session(connection) == 0 && epoll_ctl(grpc->epoll, EPOLL_CTL_ADD, fd, &event) == 0 &&
	    connection_flush(connection))
		return 0;
	connection_close(connection);
	return -ENOMEM;
}

void
connection_close(struct grpc_connection *connection)
{
	struct fg_grpc_call *call;

	while ((call = LIST_FIRST(&connection->calls)) != NULL)
		call_lost(call);
	nghttp2_session_del(connection->session);
	close(connection->fd);
	LIST_REMOVE(connection, next);
	connection->grpc->n_connections--;
	free(connection);
}

/* Poll the socket for output while there is data to send. */
static void
await_room(struct grpc_connection *connection, bool wanted)
{
	struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = connection};

	if (connection->awaits_room != wanted)
		epoll_ctl(connection->grpc->epoll, EPOLL_CTL_MOD, connection->fd, &event);
	connection->awaits_room = wanted;
}

/* @return bytes that nghttp2 has to send to the client; negative: nghttp2 failed */
static ssize_t
next_unsent(struct grpc_connection *connection)
{
	ssize_t n;

	if (connection->n_unsent > 0)
		return (ssize_t)connection->n_unsent;
	n = nghttp2_session_mem_send(connection->session, &connection->unsent);
	connection->n_unsent = n > 0 ? (size_t)n : 0;
	return n;
}

bool
connection_flush(struct grpc_connection *connection)
{
	ssize_t n;

	while ((n = next_unsent(connection)) > 0) {
		ssize_t taken = send(connection->fd, connection->unsent, (size_t)n, MSG_NOSIGNAL);

		if (taken < 0 && errno == EAGAIN) {
			await_room(connection, true);
			return true;
		}
		if (taken < 0 && errno != EINTR)
			return false;
		if (taken > 0) {
			connection->unsent += taken;
			connection->n_unsent -= (size_t)taken;
			connection->since_ms = now_ms();
		}
	}
	await_room(connection, false);
	return n == 0 && (nghttp2_session_want_read(connection->session) != 0 ||
			  nghttp2_session_want_write(connection->session) != 0);
}

bool
connection_turn(struct grpc_connection *connection)
{
	static uint8_t block[BLOCK];

	for (int i = 0; i < BLOCKS_PER_TURN; i++) {
		ssize_t n = recv(connection->fd, block, sizeof(block), 0);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (n < 0)
			break;
		connection->heard_ms = now_ms();
		connection->asked = false;
		if (nghttp2_session_mem_recv(connection->session, block, (size_t)n) != n) {
			connection_flush(connection); /* send GOAWAY with the reason, if possible */
			return false;
		}
	}
	return connection_flush(connection);
}

bool
connection_ask(struct grpc_connection *connection, int64_t now)
{
	if (connection->asked || now - connection->heard_ms <= connection->grpc->config.idle_ms)
		return true;
	connection->asked = true;
	return nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL) == 0 &&
	       connection_flush(connection);
}

bool
connection_is_overdue(const struct grpc_connection *connection, int64_t now)
{
	const struct fg_grpc_config *config = &connection->grpc->config;
	const struct fg_grpc_call *call;

	if (!connection->begun && now - connection->since_ms > config->begin_ms)
		return true;
	if (connection->n_unsent > 0 && now - connection->since_ms > config->body_ms)
		return true;
	if (connection->asked && now - connection->heard_ms > (int64_t)config->idle_ms + config->body_ms)
		return true;
	LIST_FOREACH(call, &connection->calls, next)
	if ((!call->whole || call->answered) && now - call->since_ms > config->body_ms)
		return true;
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listener: what libmicrohttpd calls, and the clock that closes connections which send nothing whole.
 *
 * libmicrohttpd's own time-out begins anew with each byte, so that a client that sends one a second would
 * keep its connection for ever. Here each connection has a time by which a whole head must have come, and
 * another one for the body; they are looked at once a second. Where all connections are taken, those that
 * have waited longest for a head or a body go at once: else a flood of them would keep out clients that send
 * requests.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web_priv.h"

enum { MAX_LIMITS = 16, LOOK_MS = 1000, CONNECTION_MEMORY = 32 * 1024 };
enum { SHED = 8 }; /* a full listener closes one of SHED connections at a time */

enum reading { HEAD, BODY, NOTHING };

struct connection {
	TAILQ_ENTRY(connection) next;
	struct fg_web *web;
	struct MHD_Connection *mhd;
	struct fg_web_request *request; /* whose head has come; NULL: none */
	enum reading reading;
	int64_t since_ms;
};

struct fg_web {
	struct MHD_Daemon *daemon;
	int epoll;
	uint16_t port;
	char *path; /* of a Unix socket */
	struct fg_web_config config;
	TAILQ_HEAD(, connection) connections; /* by since_ms, the oldest first */
	uint32_t n_connections;
	STAILQ_HEAD(, fg_web_request) whole; /* requests not taken yet */
	int64_t looked_ms;
	struct {
		char *prefix;
		uint64_t max_body;
	} limits[MAX_LIMITS];
	size_t n_limits;
	char complaint[256]; /* libmicrohttpd's last */
};

static void
keep_complaint(void *cls, const char *format, va_list arguments)
{
	struct fg_web *web = cls;

	vsnprintf(web->complaint, sizeof(web->complaint), format, arguments);
	web->complaint[strcspn(web->complaint, "\r\n")] = '\0';
}

static void
await(struct connection *connection, enum reading what)
{
	connection->reading = what;
	connection->since_ms = now_ms();
	TAILQ_REMOVE(&connection->web->connections, connection, next);
	TAILQ_INSERT_TAIL(&connection->web->connections, connection, next);
}

static void
notice_connection(void *cls, struct MHD_Connection *mhd, void **context,
		  enum MHD_ConnectionNotificationCode code)
{
	struct fg_web *web = cls;
	struct connection *connection = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		connection = calloc(1, sizeof(*connection));
		*context = connection;
		if (connection == NULL)
			return;
		connection->web = web;
		connection->mhd = mhd;
		TAILQ_INSERT_TAIL(&web->connections, connection, next);
		await(connection, HEAD);
		web->n_connections++;
	} else if (connection != NULL) {
		TAILQ_REMOVE(&web->connections, connection, next);
		web->n_connections--;
		free(connection);
	}
}

static struct connection *
connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static void
name_peer(struct MHD_Connection *mhd, char *out, size_t room)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info != NULL ? info->client_addr : NULL;
	socklen_t length = address != NULL && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
									     : sizeof(struct sockaddr_in);

	if (address == NULL || address->sa_family == AF_UNIX ||
	    getnameinfo(address, length, out, (socklen_t)room, NULL, 0, NI_NUMERICHOST) != 0)
		snprintf(out, room, "unix");
}

/* The longest prefix decides. */
static uint64_t
limit_of(const struct fg_web *web, const char *path)
{
	uint64_t limit = web->config.max_body;
	size_t longest = 0;

	for (size_t i = 0; i < web->n_limits; i++) {
		size_t length = strlen(web->limits[i].prefix);

		if (length >= longest && strncmp(path, web->limits[i].prefix, length) == 0) {
			longest = length;
			limit = web->limits[i].max_body;
		}
	}
	return limit;
}

static enum MHD_Result
answer_too_large(const struct fg_web *web, struct MHD_Connection *mhd)
{
	const char *text = web->config.too_large;
	struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
									MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, web->config.too_large_type);
	if (result == MHD_YES)
		result = MHD_queue_response(mhd, MHD_HTTP_CONTENT_TOO_LARGE, response);
	MHD_destroy_response(response);
	return result;
}

/* The client sends its body only when it is asked for it. */
static bool
waits_for_100(struct MHD_Connection *mhd)
{
	const char *expect = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);

	return expect != NULL && strcasecmp(expect, "100-continue") == 0;
}

/*
 * The head has come. A body with a Content-Length above the limit gets no 100 (Continue); one that still
 * comes is read and discarded, because a close with unread bytes may lose the answer (RST).
 */
static enum MHD_Result
begin_request(struct fg_web *web, struct MHD_Connection *mhd, const char *path, const char *method,
	      void **context)
{
	const char *length =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct connection *connection = connection_of(mhd);
	struct fg_web_request *request;
	bool too_large;

	if (connection == NULL)
		return MHD_NO;
	too_large = length != NULL && strtoull(length, NULL, 10) > limit_of(web, path);
	if (too_large && waits_for_100(mhd))
		return answer_too_large(web, mhd);
	request = calloc(1, sizeof(*request));
	if (request == NULL)
		return MHD_NO;
	request->path = strdup(path);
	if (request->path == NULL) {
		free(request);
		return MHD_NO;
	}
	request->connection = mhd;
	request->max_body = limit_of(web, path);
	request->too_large = too_large;
	snprintf(request->method, sizeof(request->method), "%s", method);
	name_peer(mhd, request->peer, sizeof(request->peer));
	connection->request = request;
	*context = request;
	await(connection, BODY);
	return MHD_YES;
}

/* libmicrohttpd calls it with the head, with each piece of the body, at the end, and after resuming. */
static enum MHD_Result
take_request(void *cls, struct MHD_Connection *mhd, const char *path, const char *method, const char *version,
	     const char *data, size_t *size, void **context)
{
	struct fg_web *web = cls;
	struct fg_web_request *request = *context;

	(void)version;
	if (request == NULL)
		return begin_request(web, mhd, path, method, context);
	if (*size > 0) {
		int rc = request_append(request, data, *size);

		*size = 0;
		return rc == 0 ? MHD_YES : MHD_NO;
	}
	if (request->response != NULL)
		return MHD_queue_response(mhd, request->status, request->response);
	if (request->too_large)
		return answer_too_large(web, mhd);
	if (request->ended)
		return MHD_NO;
	if (!request->queued) {
		request->queued = true;
		STAILQ_INSERT_TAIL(&web->whole, request, next);
		connection_of(mhd)->reading = NOTHING;
	}
	request_suspend(request);
	return MHD_YES;
}

static void
notice_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
	struct connection *connection = connection_of(mhd);
	struct fg_web_request *request = *context;

	(void)cls;
	(void)code;
	if (connection != NULL) {
		connection->request = NULL;
		await(connection, HEAD);
	}
	*context = NULL;
	if (request != NULL)
		request_lost(request);
}

static int
start_daemon(struct fg_web *web, int fd, struct fg_error *err)
{
	const struct fg_web_config *config = &web->config;
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)config->certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)config->key},
		{MHD_OPTION_END, 0, NULL},
	};
	const union MHD_DaemonInfo *info;

	if (config->certificate != NULL)
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	web->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, take_request, web, MHD_OPTION_EXTERNAL_LOGGER, keep_complaint, web,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->max_connections,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)(config->body_ms / 1000), MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, notice_connection, web, MHD_OPTION_NOTIFY_COMPLETED,
		notice_completed, web, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (web->daemon == NULL)
		return fg_error_set(err, EINVAL, config->address, "cannot serve: %s", web->complaint);
	info = MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	web->epoll = info != NULL ? info->epoll_fd : -1;
	return web->epoll >= 0 ? 0 : fg_error_set(err, ENOTSUP, config->address, "no epoll");
}

int
fg_web_open(const struct fg_web_config *config, struct fg_web **out, struct fg_error *err)
{
	struct fg_web *web;
	int fd, rc;

	*out = NULL;
	if (config->certificate != NULL &&
	    (config->key == NULL || MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES))
		return fg_error_set(err, ENOTSUP, config->address,
				    "TLS needs a key, and a libmicrohttpd with TLS");
	web = calloc(1, sizeof(*web));
	if (web == NULL)
		return fg_error_set(err, ENOMEM, config->address, "out of memory");
	web->config = *config;
	TAILQ_INIT(&web->connections);
	STAILQ_INIT(&web->whole);
	fd = listen_at(config->address, &web->path, err);
	rc = fd < 0 ? fd : start_daemon(web, fd, err);
	if (rc != 0) {
		if (fd >= 0 && web->daemon == NULL)
			close(fd);
		fg_web_close(web);
		return rc;
	}
	web->port = port_of(fd);
	/* the texts are the caller's */
	web->config.address = web->config.certificate = web->config.key = NULL;
	*out = web;
	return 0;
}

int
fg_web_limit(struct fg_web *web, const char *prefix, uint64_t max_body)
{
	char *copy;

	if (web->n_limits == MAX_LIMITS)
		return -ENOSPC;
	copy = strdup(prefix);
	if (copy == NULL)
		return -ENOMEM;
	web->limits[web->n_limits].prefix = copy;
	web->limits[web->n_limits++].max_body = max_body;
	return 0;
}

int
fg_web_descriptor(const struct fg_web *web)
{
	return web->epoll;
}

uint16_t
fg_web_port(const struct fg_web *web)
{
	return web->port;
}

/* libmicrohttpd sees its end, and closes it. */
static void
shut(struct connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	connection->reading = NOTHING; /* once is enough */
	if (info != NULL)
		shutdown(info->connect_fd, SHUT_RDWR);
}

static void
shut_overdue(struct fg_web *web)
{
	const uint32_t patience_ms[] = {[HEAD] = web->config.head_ms, [BODY] = web->config.body_ms};
	struct connection *connection;
	int64_t now = now_ms();

	if (now - web->looked_ms < LOOK_MS)
		return;
	web->looked_ms = now;
	TAILQ_FOREACH(connection, &web->connections, next)
	if (connection->reading != NOTHING && now - connection->since_ms > patience_ms[connection->reading])
		shut(connection);
}

/* Where it is full. Viewers, and clients that wait for an answer, stay. @return whether there will be room */
static bool
make_room(struct fg_web *web)
{
	uint32_t wanted =
		web->n_connections < web->config.max_connections ? 0 : web->n_connections / SHED + 1;
	struct connection *connection;
	bool made = false;

	TAILQ_FOREACH(connection, &web->connections, next)
	if (wanted > 0 && connection->reading != NOTHING) {
		shut(connection);
		wanted--;
		made = true;
	}
	return made;
}

int32_t
fg_web_poll(struct fg_web *web)
{
	bool was_full = web->n_connections >= web->config.max_connections;
	MHD_UNSIGNED_LONG_LONG wait;

	shut_overdue(web);
	MHD_run(web->daemon);
	/* libmicrohttpd accepts again only when it is called once more */
	if (make_room(web) || (was_full && web->n_connections < web->config.max_connections))
		return 0;
	if (MHD_get_timeout(web->daemon, &wait) == MHD_YES && wait < LOOK_MS)
		return (int32_t)wait;
	return TAILQ_EMPTY(&web->connections) ? -1 : LOOK_MS;
}

struct fg_web_request *
fg_web_next(struct fg_web *web, struct fg_web_about *about)
{
	struct fg_web_request *request = STAILQ_FIRST(&web->whole);

	if (request == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&web->whole, next);
	request->taken = true;
	*about = (struct fg_web_about){
		.method = request->method,
		.path = request->path,
		.peer = request->peer,
		.body = request->body,
		.size = request->size,
	};
	return request;
}

void
fg_web_close(struct fg_web *web)
{
	struct connection *connection;

	if (web == NULL)
		return;
	/* libmicrohttpd may not be stopped while a connection is suspended */
	TAILQ_FOREACH(connection, &web->connections, next)
	if (connection->request != NULL)
		request_abandon(connection->request);
	if (web->daemon != NULL)
		MHD_stop_daemon(web->daemon);
	if (web->path != NULL)
		unlink(web->path);
	for (size_t i = 0; i < web->n_limits; i++)
		free(web->limits[i].prefix);
	free(web->path);
	free(web);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of gRPC: its request, and its answer.
 *
 * An answer is a header, messages, and a status in the trailer. One that has no messages is a header alone,
 * with the status in it ("trailers-only").
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grpc_priv.h"
#include "web_priv.h"

enum { HTTP_OK = 200, HTTP_UNSUPPORTED_MEDIA_TYPE = 415 };
enum { MAX_DIGITS = 8 };  /* of a time in a header */
enum { HELD_BODIES = 4 }; /* of the largest size, at a time */

static const char CONTENT_TYPE[] = "application/grpc";

struct fg_grpc_call *
call_begin(struct grpc_connection *connection, int32_t id)
{
	struct fg_grpc_call *call = calloc(1, sizeof(*call));

	if (call == NULL)
		return NULL;
	call->grpc = connection->grpc;
	call->connection = connection;
	call->id = id;
	call->since_ms = now_ms();
	LIST_INSERT_HEAD(&connection->calls, call, next);
	return call;
}

static void
free_body(struct fg_grpc_call *call)
{
	if (call->grpc != NULL)
		call->grpc->held -= call->room;
	free(call->body);
	call->body = NULL;
	call->size = call->room = 0;
}

static void
free_unheld(struct fg_grpc_call *call)
{
	if (call->connection != NULL || call->taken)
		return;
	free_body(call);
	free(call->answer);
	free(call->path);
	free(call);
}

void
call_lost(struct fg_grpc_call *call)
{
	if (call->queued)
		STAILQ_REMOVE(&call->grpc->whole, call, fg_grpc_call, queue);
	call->queued = false;
	LIST_REMOVE(call, next);
	call->connection = NULL;
	if (call->taken) { /* the listener may go before it */
		call->grpc->held -= call->room;
		call->grpc = NULL;
	}
	free_unheld(call);
}

/* "100m" -> ms; 0: it is no time */
static int64_t
read_timeout(const char *text)
{
	static const struct {
		char unit;
		int64_t per_ms, ms;
	} units[] = {{'H', 1, 3600000}, {'M', 1, 60000}, {'S', 1, 1000},
		     {'m', 1, 1},       {'u', 1000, 1},  {'n', 1000000, 1}};
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > MAX_DIGITS || text[digits] == '\0' || text[digits + 1] != '\0')
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == text[digits])
			return strtoll(text, NULL, 10) * units[i].ms / units[i].per_ms + 1;
	return 0;
}

int
call_header(struct fg_grpc_call *call, const char *name, const char *value, size_t length)
{
	int64_t timeout;

	if (strcmp(name, ":method") == 0)
		call->is_post = strcmp(value, "POST") == 0;
	if (strcmp(name, "content-type") == 0)
		call->is_grpc = strncmp(value, CONTENT_TYPE, sizeof(CONTENT_TYPE) - 1) == 0;
	timeout = strcmp(name, "grpc-timeout") == 0 ? read_timeout(value) : 0;
	if (timeout > 0)
		call->deadline_ms = now_ms() + timeout;
	if (strcmp(name, ":path") != 0 || call->path != NULL)
		return 0;
	call->path = strndup(value, length);
	return call->path != NULL ? 0 : -ENOMEM;
}

static nghttp2_nv
field(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			    strlen(value), NGHTTP2_NV_FLAG_NONE};
}

/* A header alone. */
static int
answer_status(struct fg_grpc_call *call, uint32_t http, uint32_t status, const char *message)
{
	nghttp2_session *session = call->connection->session;
	char code[16], http_code[16];
	nghttp2_nv fields[5];
	size_t n = 0;

	snprintf(http_code, sizeof(http_code), "%u", http);
	snprintf(code, sizeof(code), "%u", status);
	fields[n++] = field(":status", http_code);
	fields[n++] = field("content-type", CONTENT_TYPE);
	fields[n++] = field("grpc-status", code);
	fields[n++] = field("grpc-accept-encoding", "identity");
	if (*message != '\0')
		fields[n++] = field("grpc-message", message);
	call->answered = true;
	call->since_ms = now_ms();
	return nghttp2_submit_response(session, call->id, fields, n, NULL) == 0 ? 0 : -ENOMEM;
}

int
call_append(struct fg_grpc_call *call, const uint8_t *data, size_t size)
{
	struct fg_grpc *grpc = call->grpc;
	size_t before = call->room;
	int rc;

	if (call->answered)
		return 0;
	if (size > grpc->config.max_body - call->size ||
	    grpc->held + size > HELD_BODIES * grpc->config.max_body) {
		free_body(call);
		return answer_status(call, HTTP_OK, GRPC_EXHAUSTED, "the request is too large");
	}
	rc = grow(&call->body, &call->room, call->size + size);
	if (rc != 0)
		return rc;
	grpc->held += call->room - before;
	memcpy(call->body + call->size, data, size);
	call->size += size;
	return 0;
}

int
call_whole(struct fg_grpc_call *call)
{
	call->whole = true;
	if (call->answered)
		return 0;
	if (!call->is_post || !call->is_grpc)
		return answer_status(call, HTTP_UNSUPPORTED_MEDIA_TYPE, GRPC_INTERNAL, "this is no gRPC");
	call->queued = true;
	STAILQ_INSERT_TAIL(&call->grpc->whole, call, queue);
	return 0;
}

struct fg_grpc_call *
fg_grpc_next(struct fg_grpc *grpc, struct fg_grpc_about *about)
{
	struct fg_grpc_call *call = STAILQ_FIRST(&grpc->whole);

	if (call == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&grpc->whole, queue);
	call->queued = false;
	call->taken = true;
	*about = (struct fg_grpc_about){.path = call->path, .body = call->body, .size = call->size};
	return call;
}

bool
fg_grpc_is_awaited(const struct fg_grpc_call *call)
{
	return call->connection != NULL && (call->deadline_ms == 0 || now_ms() < call->deadline_ms);
}

/* nghttp2 asks for the next piece of an answer. */
static ssize_t
read_answer(nghttp2_session *session, int32_t id, uint8_t *out, size_t max, uint32_t *flags,
	    nghttp2_data_source *source, void *user)
{
	struct fg_grpc_call *call = source->ptr;
	nghttp2_nv status = field("grpc-status", "0");
	size_t n = call->answer_size - call->sent;

	(void)user;
	if (n > max)
		n = max;
	if (n > 0)
		memcpy(out, call->answer + call->sent, n);
	call->sent += n;
	if (call->sent == call->answer_size) {
		*flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		if (nghttp2_submit_trailer(session, id, &status, 1) != 0)
			return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return (ssize_t)n;
}

static int
answer_body(struct fg_grpc_call *call, const char *body, size_t size)
{
	nghttp2_nv fields[] = {field(":status", "200"), field("content-type", CONTENT_TYPE)};
	nghttp2_data_provider provider = {.source.ptr = call, .read_callback = read_answer};

	call->answer = malloc(size > 0 ? size : 1);
	if (call->answer == NULL)
		return -ENOMEM;
	memcpy(call->answer, body, size);
	call->answer_size = size;
	call->answered = true;
	call->since_ms = now_ms();
	return nghttp2_submit_response(call->connection->session, call->id, fields, 2, &provider) == 0
		       ? 0
		       : -ENOMEM;
}

int
call_answer(struct fg_grpc_call *call, uint32_t status, const char *message, const char *body, size_t size)
{
	if (call->connection == NULL)
		return -EPIPE;
	if (call->answered)
		return -EALREADY;
	return status == 0 ? answer_body(call, body, size) : answer_status(call, HTTP_OK, status, message);
}

void
call_release(struct fg_grpc_call *call)
{
	call->taken = false;
	if (call->connection != NULL)
		free_body(call);
	free_unheld(call);
}

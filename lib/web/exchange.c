/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request and its answer, from the side of the caller.
 *
 * libmicrohttpd takes an answer only inside of its own callback. So an answer is prepared here and the
 * connection resumed; the callback in web.c then finds it. A stream is an answer whose body libmicrohttpd
 * asks for piece by piece; while there is nothing to send, its connection rests and costs nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "web_priv.h"

enum { FIRST_ROOM = 4096, BLOCK = 16 * 1024 };

int
grow(char **data, size_t *room, size_t wanted)
{
	size_t size = *room > 0 ? *room : FIRST_ROOM;
	char *more;

	if (wanted <= *room)
		return 0;
	while (size < wanted)
		size *= 2;
	more = realloc(*data, size);
	if (more == NULL)
		return -ENOMEM;
	*data = more;
	*room = size;
	return 0;
}

int
request_append(struct fg_web_request *request, const char *data, size_t size)
{
	int rc;

	if (request->too_large || size > request->max_body - request->size) {
		request->too_large = true;
		return 0;
	}
	rc = grow(&request->body, &request->room, request->size + size);
	if (rc == 0) {
		memcpy(request->body + request->size, data, size);
		request->size += size;
	}
	return rc;
}

/* free it if nobody holds it any more */
static void
request_free(struct fg_web_request *request)
{
	if (request->connection != NULL || request->taken)
		return;
	if (request->response != NULL)
		MHD_destroy_response(request->response);
	free(request->unread.data);
	free(request->body);
	free(request->path);
	free(request);
}

void
request_suspend(struct fg_web_request *request)
{
	request->suspended = true;
	MHD_suspend_connection(request->connection);
}

static void
resume(struct fg_web_request *request)
{
	if (!request->suspended)
		return;
	request->suspended = false;
	MHD_resume_connection(request->connection);
}

void
request_abandon(struct fg_web_request *request)
{
	request->ended = true;
	resume(request);
}

void
request_lost(struct fg_web_request *request)
{
	request->connection = NULL;
	request_free(request);
}

static enum MHD_Result
store_value(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct {
		struct fg_web_value *out;
		size_t n, max;
	} *values = cls;

	(void)kind;
	if (values->n == values->max)
		return MHD_NO;
	values->out[values->n++] = (struct fg_web_value){name, value != NULL ? value : ""};
	return MHD_YES;
}

size_t
fg_web_values(const struct fg_web_request *request, enum fg_web_kind kind, struct fg_web_value *out,
	      size_t max)
{
	struct {
		struct fg_web_value *out;
		size_t n, max;
	} values = {out, 0, max};

	if (request->connection != NULL)
		MHD_get_connection_values(request->connection,
					  kind == FG_WEB_HEADERS ? MHD_HEADER_KIND : MHD_GET_ARGUMENT_KIND,
					  store_value, &values);
	return values.n;
}

/* Takes @p response over, also when it fails. */
static int
give(struct fg_web_request *request, uint32_t status, const struct fg_web_value *headers, size_t n,
     struct MHD_Response *response)
{
	int rc = 0;

	if (response == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n && rc == 0; i++)
		if (MHD_add_response_header(response, headers[i].name, headers[i].value) != MHD_YES)
			rc = -EINVAL;
	if (rc == 0 && request->connection == NULL)
		rc = -EPIPE;
	if (rc == 0 && request->response != NULL)
		rc = -EALREADY;
	if (rc != 0) {
		MHD_destroy_response(response);
		return rc;
	}
	request->response = response;
	request->status = status;
	resume(request);
	return 0;
}

int
fg_web_answer(struct fg_web_request *request, uint32_t status, const struct fg_web_value *headers, size_t n,
	      const char *body, size_t size)
{
	return give(request, status, headers, n,
		    MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY));
}

/* libmicrohttpd asks for the next piece of a stream. */
static ssize_t
read_stream(void *cls, uint64_t position, char *out, size_t max)
{
	struct fg_web_request *request = cls;
	size_t n = request->unread.after - request->unread.first;

	(void)position;
	if (n > max)
		n = max;
	if (n == 0 && request->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		request_suspend(request);
		return 0;
	}
	memcpy(out, request->unread.data + request->unread.first, n);
	request->unread.first += n;
	if (request->unread.first == request->unread.after)
		request->unread.first = request->unread.after = 0;
	return (ssize_t)n;
}

int
fg_web_stream(struct fg_web_request *request, uint32_t status, const struct fg_web_value *headers, size_t n)
{
	int rc = give(request, status, headers, n,
		      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, request, NULL));

	request->is_stream = request->is_stream || rc == 0;
	return rc;
}

int64_t
fg_web_push(struct fg_web_request *request, const char *text, size_t size)
{
	int rc;

	if (request->connection == NULL || !request->is_stream || request->ended)
		return -EPIPE;
	/* 0 bytes is legal: a query for the number of unread bytes */
	rc = grow(&request->unread.data, &request->unread.room, request->unread.after + size);
	if (rc != 0)
		return rc;
	if (size > 0)
		memcpy(request->unread.data + request->unread.after, text, size);
	request->unread.after += size;
	resume(request);
	return (int64_t)(request->unread.after - request->unread.first);
}

void
fg_web_release(struct fg_web_request *request)
{
	static const char text[] = "no answer\n";

	if (request->response == NULL)
		fg_web_answer(request, MHD_HTTP_INTERNAL_SERVER_ERROR, NULL, 0, text, sizeof(text) - 1);
	request->ended = true;
	request->taken = false;
	if (request->connection != NULL)
		resume(request);
	request_free(request);
}

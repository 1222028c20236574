/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP/1.1 (RFC 9112), client and server, GET, HEAD and POST, connections kept or closed. All heads that one side
 * sends have the same length, so where an octet of the stream belongs follows from its position: on the client's side
 * because all requests are alike, on the server's because only one response is under way at a time. A request that
 * comes before the response to the one before it has been acknowledged is not taken, and comes again.
 *
 * Of the connection's own state the server uses app_time for what the request says (number, length of the body still
 * to come) and app_mark for where the response begins; the client app_mark for what the head says, and then for where
 * the body ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app_priv.h"
#include "http_priv.h"

static void
load(const struct conn *c, uint64_t words, struct http_head *h)
{
	*h = (struct http_head){
		.number = (uint32_t)words,
		.length = (uint32_t)(words >> 32),
		.state = c->app_phase,
		.post = c->flags & APP_POST,
		.head = c->flags & APP_HEAD,
		.close = c->flags & APP_CLOSE,
	};
}

static uint64_t
store(struct conn *c, const struct http_head *h)
{
	c->app_phase = h->state;
	c->flags &= ~(uint32_t)(APP_POST | APP_HEAD | APP_CLOSE);
	c->flags |= (h->post ? APP_POST : 0) | (h->head ? APP_HEAD : 0) | (h->close ? APP_CLOSE : 0);
	return (uint64_t)h->length << 32 | h->number;
}

/* part of a message of a head and a body of the stream's octets */
static void
fill_message(const char *head, uint32_t head_length, uint32_t stream, uint64_t position, uint8_t *to,
	     uint32_t length)
{
	uint32_t part = 0;

	if (position < head_length) {
		part = u32_min(length, (uint32_t)(head_length - position));
		memcpy(to, head + position, part);
		position += part;
	}
	if (part < length)
		payload_fill(stream, position - head_length, to + part, length - part);
}

static void
nothing(struct fg_l4 *w, struct conn *c)
{
}

static void
closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
}

/* --- the server */

/* both of one length: a shorter value is filled up with blanks, which end it (RFC 9110, 5.5) */
static const char head_keep[] =
	"HTTP/1.1 200 OK\r\nServer: framegauge\r\nContent-Type: application/octet-stream\r\n"
	"Connection: keep-alive\r\nContent-Length: ";
static const char head_close[] =
	"HTTP/1.1 200 OK\r\nServer: framegauge\r\nContent-Type: application/octet-stream\r\n"
	"Connection: close     \r\nContent-Length: ";
enum { DIGITS = 10, HEAD_FIXED = sizeof(head_keep) - 1, HEAD_OCTETS = HEAD_FIXED + DIGITS + 4 };

static_assert(sizeof(head_keep) == sizeof(head_close), "where the body begins does not depend on the head");

/* the length has ten places, so that the head has always the same */
static void
response_head(char head[HEAD_OCTETS], uint32_t body, bool close)
{
	char *p = head + HEAD_FIXED + DIGITS;

	memcpy(head, close ? head_close : head_keep, HEAD_FIXED);
	memcpy(p, "\r\n\r\n", 4);
	do
		*--p = (char)('0' + body % 10);
	while ((body /= 10) > 0);
	memset(head + HEAD_FIXED, ' ', (size_t)(p - head - HEAD_FIXED));
}

static void
respond(struct fg_l4 *w, struct conn *c, struct http_head *h)
{
	if (h->post)
		h->number = 0;
	c->app_mark = c->snd_end;
	h->state = 0;
	h->length = 0;
	tcp_write(w, c, HEAD_OCTETS + (h->head ? 0 : h->number));
	if (h->close)
		tcp_close(w, c);
}

static void
server_fill(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	char head[HEAD_OCTETS];
	struct http_head h;

	load(c, c->app_time, &h);
	response_head(head, h.number, h.close);
	fill_message(head, HEAD_OCTETS, SERVER_STREAM, offset - c->app_mark, to, length);
}

/* @return octets of the body that came with this */
static uint32_t
take_body(struct fg_l4 *w, struct conn *c, struct http_head *h, const uint8_t *data, uint32_t length)
{
	uint32_t part = h->post ? u32_min(h->length, length) : 0;

	h->length -= h->post ? part : 0;
	if (!h->post || h->length == 0) {
		application_of(w, c)->base.tally.transactions++;
		respond(w, c, h);
	}
	return part;
}

static bool
server_receive(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
	       bool early)
{
	struct http_head h;
	uint32_t used = 0;

	if (early || (c->app_phase == 0 && (flight(c) > 0 || tcp_unsent(c) > 0)))
		return c->flags &
		       FIN_WANTED; /* we have said the last word: whatever comes is nothing to us */
	load(c, c->app_time, &h);
	if (h.state == 0)
		h = (struct http_head){0};
	if (h.state != HTTP_BODY)
		used = http_read(&h, data, length);
	if (h.state == HTTP_BODY)
		used += take_body(w, c, &h, data + used, length - used);
	/* more in the same segment is the next request already: this connection ends here, the peer asks again */
	if (used < length && !h.close) {
		h.close = true;
		tcp_close(w, c);
	}
	c->app_time = store(c, &h);
	return true;
}

static void
server_eof(struct fg_l4 *w, struct conn *c)
{
	tcp_close(w, c);
}

const struct app_ops http_server = {
	.established = nothing,
	.receive = server_receive,
	.eof = server_eof,
	.fill = server_fill,
	.closed = closed,
	.timer = nothing,
};

/* --- the client */

static uint32_t
request_octets(const struct application *a)
{
	return a->request_head + a->config.request;
}

static void
send_request(struct fg_l4 *w, struct conn *c)
{
	struct http_head h = {0};

	c->app_mark = store(c, &h);
	c->app_time = w->now;
	tcp_write(w, c, request_octets(application_of(w, c)));
}

static void
client_established(struct fg_l4 *w, struct conn *c)
{
	note_time(w, application_of(w, c)->setup, c->app_time);
	if (w->now >= w->stop_at)
		tcp_close(w, c);
	else
		send_request(w, c);
}

static void
client_fill(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct application *a = application_of(w, c);

	fill_message(a->request, a->request_head, CLIENT_STREAM, offset % request_octets(a), to, length);
}

static void
refuse(struct fg_l4 *w, struct conn *c)
{
	application_of(w, c)->base.tally.refused++;
	tcp_abort(w, c);
}

static void
check_body(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length)
{
	const struct fg_l4_app *config = &application_of(w, c)->config;
	uint64_t begin = c->app_mark - config->response;

	if (offset + length > c->app_mark) /* nobody asked for that */
		w->counters.wrong_octets += offset + length - c->app_mark;
	else if (!config->any_body)
		w->counters.wrong_octets += payload_wrong(SERVER_STREAM, offset - begin, data, length);
}

static bool
client_receive(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
	       bool early)
{
	const struct fg_l4_app *config = &application_of(w, c)->config;
	struct http_head h;
	uint32_t used;

	if (c->app_phase == HTTP_BODY) {
		check_body(w, c, offset, data, length);
		return true;
	}
	if (early)
		return false;
	if (offset == 0)
		note_first_octet(w, c);
	load(c, c->app_mark, &h);
	used = http_read(&h, data, length);
	c->app_mark = store(c, &h);
	if (h.state != HTTP_BODY)
		return true;
	if (h.number != 200 || h.length != config->response) {
		refuse(w, c);
		return true;
	}
	c->app_mark = offset + used + h.length;
	check_body(w, c, offset + used, data + used, length - used);
	return true;
}

static bool
is_whole(const struct conn *c)
{
	return c->app_phase == HTTP_BODY && c->rcv_offset >= c->app_mark;
}

static void
client_arrived(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);
	uint64_t requests;

	if (!is_whole(c) || c->flags & FIN_WANTED)
		return;
	requests = c->snd_end / request_octets(a);
	a->base.tally.transactions++;
	note_time(w, a->transaction, c->app_time);
	if (requests == 1)
		note_last_octet(w, c);
	next_request(w, c, requests, c->flags & APP_CLOSE, send_request);
}

static void
client_timer(struct fg_l4 *w, struct conn *c)
{
	if (w->now >= w->stop_at)
		tcp_close(w, c);
	else
		send_request(w, c);
}

static void
client_stop(struct fg_l4 *w, struct conn *c)
{
	if (c->state >= ESTABLISHED && is_whole(c))
		tcp_close(w, c);
}

static void
client_eof(struct fg_l4 *w, struct conn *c)
{
	if (!(c->flags & FIN_WANTED))
		application_of(w, c)->base.tally.refused++; /* in the middle of a response, or before it */
	tcp_close(w, c);
}

const struct app_ops http_client = {
	.established = client_established,
	.receive = client_receive,
	.arrived = client_arrived,
	.eof = client_eof,
	.fill = client_fill,
	.closed = closed,
	.timer = client_timer,
	.poll = client_poll,
	.stop = client_stop,
};

/* @return its length, or -1: there is no memory. NULL: only the length is asked for */
static int
request_head(const struct fg_l4_app *config, char **out)
{
	static const char form[] =
		"%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: framegauge\r\nAccept: */*\r\n%s\r\n";
	const char *method = config->request > 0 ? "POST" : "GET";
	char length[48] = "";

	if (config->request > 0)
		snprintf(length, sizeof(length), "Content-Length: %u\r\n", config->request);
	return out == NULL ? snprintf(NULL, 0, form, method, config->path, config->host, length)
			   : asprintf(out, form, method, config->path, config->host, length);
}

void
fg_l4_http_octets(const struct fg_l4_app *app, uint32_t *request, uint32_t *response)
{
	*request = (uint32_t)request_head(app, NULL) + app->request;
	*response = HEAD_OCTETS + app->response;
}

int
http_create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->config;
	int n;

	if (config->path == NULL || config->host == NULL)
		return fg_error_set(err, EINVAL, "l4", "a request needs a path and a host");
	n = request_head(config, &a->request);
	if (n < 0) {
		a->request = NULL;
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	}
	a->request_head = (uint32_t)n;
	return 0;
}

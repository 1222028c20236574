/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of HTTP/1.1: GET, HEAD or POST, over and over. The body of a response is known by its length, comes in
 * chunks, or lasts as long as the connection (RFC 9112, 6.3), and is compared octet by octet with what our server would
 * have sent. A response that is not what was asked for is read to its end and counted by what was wrong with it; the
 * connection goes on, as a browser's does.
 *
 * Of the connection's own state app_time has when the request was sent; app_mark what the head says, and then where
 * the body ends, of chunks how far they have come, and where it begins if it lasts until the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app_priv.h"
#include "http_priv.h"

enum { OK = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

static uint32_t
request_octets(const struct application *a)
{
	return a->request_head + a->config.request;
}

static void
send_request(struct fg_l4 *w, struct conn *c)
{
	struct http_head h;

	http_begin(&h);
	c->app_mark = http_store(c, &h);
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

	http_fill(a->request, a->request_head, CLIENT_STREAM, offset % request_octets(a), to, length);
}

/* count a response that is not what was asked for; @p what is one of its tally's causes */
static void
refuse(struct fg_l4 *w, const struct conn *c, uint64_t *what)
{
	application_of(w, c)->base.tally.refused++;
	(*what)++;
}

static void
refuse_status(struct fg_l4 *w, const struct conn *c, uint32_t status)
{
	struct fg_l4_tally *t = &application_of(w, c)->base.tally;

	refuse(w, c, status >= 500 ? &t->http_5xx : status >= 400 ? &t->http_4xx : &t->http_other);
}

static void
refuse_length(struct fg_l4 *w, struct conn *c)
{
	refuse(w, c, &application_of(w, c)->base.tally.http_length);
	c->app_phase |= HTTP_UNWANTED;
}

/* octets of the body from position @p at in it */
static void
check_body(struct fg_l4 *w, const struct conn *c, uint64_t at, const uint8_t *data, uint32_t length)
{
	if (!(c->app_phase & HTTP_UNWANTED) && !application_of(w, c)->config.any_body)
		w->counters.wrong_octets += payload_wrong(SERVER_STREAM, at, data, length);
}

/* is a body of so many octets what was asked for? */
static bool
is_wanted(const struct fg_l4_app *config, uint32_t length)
{
	return config->any_body || length == config->response;
}

/* the head is over; the body begins at @p offset of the stream */
static void
begin_body(struct fg_l4 *w, struct conn *c, const struct http_head *h, uint64_t offset)
{
	const struct fg_l4_app *config = &application_of(w, c)->config;
	bool none = config->head || h->number == NO_CONTENT || h->number == NOT_MODIFIED;

	if (none || (!h->chunked && h->length != HTTP_UNSIZED)) {
		c->app_phase = HTTP_BODY;
		c->app_mark = offset + (none ? 0 : h->length);
	} else if (h->chunked) {
		c->app_phase = HTTP_CHUNKS;
		c->app_mark = 0;
	} else {
		c->app_phase = HTTP_UNTIL_END;
		c->app_mark = offset;
	}
	if (h->number != OK) {
		refuse_status(w, c, h->number);
		c->app_phase |= HTTP_UNWANTED;
	} else if (h->length != HTTP_UNSIZED && !h->chunked && !is_wanted(config, h->length)) {
		refuse_length(w, c);
	}
}

static uint8_t
chunk_of(const struct conn *c)
{
	return (c->app_phase & ~HTTP_UNWANTED) - HTTP_CHUNKS;
}

static bool
is_in_chunks(const struct conn *c)
{
	return (c->app_phase & HTTP_CHUNKS) == HTTP_CHUNKS;
}

static bool
lasts_until_end(const struct conn *c)
{
	return (c->app_phase & HTTP_UNTIL_END) == HTTP_UNTIL_END;
}

static void
take_chunks(struct fg_l4 *w, struct conn *c, const uint8_t *data, uint32_t length)
{
	struct http_chunks k = {(uint32_t)(c->app_mark >> 32), (uint32_t)c->app_mark, chunk_of(c)};
	bool over = k.at == CHUNK_OVER, is_data;

	while (length > 0) {
		uint32_t body = k.body, n = http_chunks_read(&k, data, length, &is_data);

		if (n == 0)
			break;
		if (is_data)
			check_body(w, c, body, data, n);
		data += n;
		length -= n;
	}
	w->counters.wrong_octets += length; /* nobody asked for that */
	c->app_phase = (uint8_t)(HTTP_CHUNKS + k.at) | (c->app_phase & HTTP_UNWANTED);
	c->app_mark = (uint64_t)k.left << 32 | k.body;
	if (k.at == CHUNK_OVER && !over && !(c->app_phase & HTTP_UNWANTED) &&
	    !is_wanted(&application_of(w, c)->config, k.body))
		refuse_length(w, c);
}

/* @return false: it cannot be used now */
static bool
take_body(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length, bool early)
{
	uint64_t begin = c->app_mark;

	if (is_in_chunks(c)) {
		if (early)
			return false;
		take_chunks(w, c, data, length);
		return true;
	}
	if (!lasts_until_end(c)) {
		if (offset + length > c->app_mark) { /* nobody asked for that */
			w->counters.wrong_octets += offset + length - c->app_mark;
			return true;
		}
		begin -= application_of(w, c)->config.response;
	}
	check_body(w, c, offset - begin, data, length);
	return true;
}

static bool
client_receive(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
	       bool early)
{
	struct http_head h;
	uint32_t used = 0;

	if (c->app_phase >= HTTP_BODY)
		return take_body(w, c, offset, data, length, early);
	if (early)
		return false;
	if (offset == 0)
		note_first_octet(w, c);
	http_load(c, c->app_mark, &h);
	used = http_read_again(&application_of(w, c)->seen, &h, data, length);
	while (h.state == HTTP_BODY && h.number < OK) { /* there is another one to come (RFC 9110, 15.2) */
		http_begin(&h);
		used += http_read(&h, data + used, length - used);
	}
	c->app_mark = http_store(c, &h);
	if (h.state != HTTP_BODY)
		return true;
	begin_body(w, c, &h, offset + used);
	return used == length || take_body(w, c, offset + used, data + used, length - used, false);
}

/* Is the response here, as far as its end can be known before that of the connection? */
static bool
is_whole(const struct conn *c)
{
	if (c->app_phase < HTTP_BODY || lasts_until_end(c))
		return false;
	return is_in_chunks(c) ? chunk_of(c) == CHUNK_OVER : c->rcv_offset >= c->app_mark;
}

/* @return how many requests were sent on this connection */
static uint64_t
count_response(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);
	uint64_t requests = c->snd_end / request_octets(a);

	if (!(c->app_phase & HTTP_UNWANTED)) {
		a->base.tally.transactions++;
		note_time(w, a->transaction, c->app_time);
		if (requests == 1)
			note_last_octet(w, c);
	}
	return requests;
}

static void
client_arrived(struct fg_l4 *w, struct conn *c)
{
	if (c->flags & FIN_WANTED)
		return;
	if (is_in_chunks(c) && chunk_of(c) == CHUNK_BROKEN) {
		refuse(w, c, &application_of(w, c)->base.tally.http_cut);
		tcp_close(w, c);
	} else if (is_whole(c)) {
		next_request(w, c, count_response(w, c), c->flags & APP_CLOSE, send_request);
	}
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
	struct application *a = application_of(w, c);

	if (c->flags & FIN_WANTED || is_whole(c)) {
		tcp_close(w, c); /* the server has waited long enough for another request */
		return;
	}
	if (lasts_until_end(c)) {
		if (!(c->app_phase & HTTP_UNWANTED) &&
		    !is_wanted(&a->config, (uint32_t)(c->rcv_offset - c->app_mark)))
			refuse_length(w, c);
		count_response(w, c);
	} else {
		refuse(w, c, &a->base.tally.http_cut);
	}
	tcp_close(w, c);
}

const struct app_ops http_client = {
	.established = client_established,
	.receive = client_receive,
	.arrived = client_arrived,
	.eof = client_eof,
	.fill = client_fill,
	.closed = http_closed,
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
	const char *method = config->head ? "HEAD" : config->request > 0 ? "POST" : "GET";
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
	*response = http_response_octets(app->head ? 0 : app->response);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of HTTP/1.1: GET, HEAD or POST, over and over. The body of a response is known by its length,
 * comes in chunks, or lasts as long as the connection (RFC 9112, 6.3), and is compared byte by byte with
 * what our server would have sent. A response that is not what was asked for is read to its end and counted
 * by what was wrong with it; the connection goes on, as a browser's does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_priv.h"

enum { FINAL = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

static struct http_head *
head_of(const struct fg_stream *s)
{
	return &((struct http_client *)client_of(s))->head;
}

static uint32_t
request_octets(const struct http *a)
{
	return a->request_head + a->app.config.request;
}

/* how many were sent on this connection */
static uint64_t
requests_sent(const struct fg_l4 *w, const struct fg_stream *s)
{
	return s->written / request_octets(http_of(w, s));
}

static void
http_send_request(struct fg_l4 *w, struct fg_stream *s)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;

	http_begin(head_of(s));
	client_of(s)->since = w->now;
	if (config->half_close && requests_sent(w, s) + 1 == config->requests)
		write_last(w, s, request_octets(http_of(w, s)));
	else
		fg_stream_write(w, s, request_octets(http_of(w, s)));
}

/* nothing that comes now is the answer to a request */
static bool
awaits_nothing(const struct fg_l4 *w, const struct fg_stream *s)
{
	return s->ended && (!application_of(w, s)->config.half_close || head_of(s)->over);
}

static void
client_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	if (w->now < w->stop_at) {
		http_send_request(w, s);
		return;
	}
	head_of(s)->over = true; /* nothing was requested */
	fg_stream_close(w, s);
}

static void
client_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct http *a = http_of(w, s);
	uint32_t each = request_octets(a);
	uint64_t before = offset / each;

	payload_fill_behind(before + 1 == a->app.config.requests ? a->last : a->request, a->request_head,
			    CLIENT_STREAM, offset - before * each, to, length);
}

/* count a response that is not what was asked for */
static void
refuse(struct fg_l4 *w, const struct fg_stream *s, enum http_sum why)
{
	struct fg_l4_tally *t = &application_of(w, s)->base.tally;

	t->refused++;
	t->own[why]++;
}

static void
refuse_length(struct fg_l4 *w, struct fg_stream *s)
{
	refuse(w, s, HTTP_LENGTH);
	head_of(s)->state |= HTTP_UNWANTED;
}

/* bytes of the body from position @p at in it */
static void
check_body(struct fg_l4 *w, const struct fg_stream *s, uint64_t at, const uint8_t *data, uint32_t length)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;

	if (!(head_of(s)->state & HTTP_UNWANTED) && !config->any_body && !head_of(s)->any)
		w->counters.wrong_octets +=
			payload_wrong(SERVER_STREAM, config->range_first + at, data, length);
}

/* is a body of this length the requested one? */
static bool
is_wanted(const struct fg_l4 *w, const struct fg_stream *s, uint32_t length)
{
	return application_of(w, s)->config.any_body || head_of(s)->any || length == http_wanted(w, s);
}

/* the head is over; the body begins at @p offset of the stream */
static void
begin_body(struct fg_l4 *w, struct fg_stream *s, uint64_t offset)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;
	struct http_head *h = head_of(s);
	uint32_t status = h->number, length = h->length;
	bool none = config->head || status == NO_CONTENT || status == NOT_MODIFIED;

	if (none || (!h->chunked && length != HTTP_UNSIZED)) {
		h->mark = offset + (none ? 0 : length);
	} else if (h->chunked) {
		h->state = HTTP_CHUNKS;
		h->mark = 0;
	} else {
		h->state = HTTP_UNTIL_END;
		h->mark = offset;
	}
	h->any = status != usual_status(config);
	if (!status_is_good(config, status)) {
		refuse(w, s, status >= 500 ? HTTP_5XX : status >= 400 ? HTTP_4XX : HTTP_OTHER);
		h->state |= HTTP_UNWANTED;
	} else if (length != HTTP_UNSIZED && !h->chunked && !is_wanted(w, s, length)) {
		refuse_length(w, s);
	}
}

static uint8_t
chunk_of(const struct fg_stream *s)
{
	return (head_of(s)->state & ~HTTP_UNWANTED) - HTTP_CHUNKS;
}

static bool
is_in_chunks(const struct fg_stream *s)
{
	return (head_of(s)->state & HTTP_CHUNKS) == HTTP_CHUNKS;
}

static bool
lasts_until_end(const struct fg_stream *s)
{
	return (head_of(s)->state & HTTP_UNTIL_END) == HTTP_UNTIL_END;
}

static void
take_chunks(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length)
{
	struct http_head *h = head_of(s);
	struct http_chunks k = {h->chunk_left, h->chunked_octets, chunk_of(s)};
	bool over = k.at == CHUNK_OVER, is_data;

	while (length > 0) {
		uint32_t body = k.body, n = http_chunks_read(&k, data, length, &is_data);

		if (n == 0)
			break;
		if (is_data)
			check_body(w, s, body, data, n);
		data += n;
		length -= n;
	}
	w->counters.wrong_octets += length; /* nobody asked for that */
	h->state = (uint8_t)(HTTP_CHUNKS + k.at) | (h->state & HTTP_UNWANTED);
	h->chunk_left = k.left;
	h->chunked_octets = k.body;
	if (k.at == CHUNK_OVER && !over && !(head_of(s)->state & HTTP_UNWANTED) && !is_wanted(w, s, k.body))
		refuse_length(w, s);
}

/* @return false: it cannot be used now */
static bool
take_body(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	  bool early)
{
	uint64_t begin = head_of(s)->mark;

	if (is_in_chunks(s)) {
		if (early)
			return false;
		take_chunks(w, s, data, length);
		return true;
	}
	if (!lasts_until_end(s)) {
		if (offset + length > head_of(s)->mark) { /* nobody asked for that */
			w->counters.wrong_octets += offset + length - head_of(s)->mark;
			return true;
		}
		begin -= http_wanted(w, s);
	}
	check_body(w, s, offset - begin, data, length);
	return true;
}

bool
http_client_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
		    uint32_t length, bool early)
{
	struct http_head *h = head_of(s);
	uint32_t used = 0;

	if (h->state >= HTTP_BODY)
		return take_body(w, s, offset, data, length, early);
	if (early)
		return false;
	if (offset == 0)
		note_first_octet(w, s);
	used = http_read_again(&http_of(w, s)->seen, h, NULL, data, length);
	while (h->state == HTTP_BODY &&
	       h->number < FINAL) { /* there is another one to come (RFC 9110, 15.2) */
		http_begin(h);
		used += http_read(h, NULL, data + used, length - used);
	}
	if (h->state != HTTP_BODY)
		return true;
	begin_body(w, s, offset + used);
	return used == length || take_body(w, s, offset + used, data + used, length - used, false);
}

bool
http_is_whole(const struct fg_stream *s)
{
	if (head_of(s)->state < HTTP_BODY || lasts_until_end(s))
		return false;
	return is_in_chunks(s) ? chunk_of(s) == CHUNK_OVER : s->received >= head_of(s)->mark;
}

/* @return how many requests were sent on this connection */
static uint64_t
count_response(struct fg_l4 *w, struct fg_stream *s)
{
	uint64_t requests = requests_sent(w, s);

	head_of(s)->over = true;
	if (!(head_of(s)->state & HTTP_UNWANTED)) {
		note_transaction(w, s);
		if (requests == 1)
			note_last_octet(w, s);
	}
	return requests;
}

bool
http_is_broken(struct fg_l4 *w, struct fg_stream *s)
{
	bool broken = is_in_chunks(s) && chunk_of(s) == CHUNK_BROKEN;

	if (broken) {
		refuse(w, s, HTTP_CUT);
		head_of(s)->over = true;
	}
	return broken;
}

bool
http_ends_so(struct fg_l4 *w, struct fg_stream *s)
{
	if (!lasts_until_end(s)) {
		refuse(w, s, HTTP_CUT);
		return false;
	}
	if (!(head_of(s)->state & HTTP_UNWANTED) &&
	    !is_wanted(w, s, (uint32_t)(s->received - head_of(s)->mark)))
		refuse_length(w, s);
	return true;
}

static void
client_arrived(struct fg_l4 *w, struct fg_stream *s)
{
	if (awaits_nothing(w, s))
		return;
	if (http_is_broken(w, s))
		fg_stream_close(w, s);
	else if (http_is_whole(s))
		next_request(w, s, count_response(w, s), head_of(s)->close, http_send_request);
}

static void
client_stop(struct fg_l4 *w, struct fg_stream *s)
{
	if (fg_stream_is_established(w, s) && http_is_whole(s))
		client_close(w, s);
}

uint32_t
http_waits(struct fg_l4 *w, const struct fg_stream *s,
	   void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	if (http_is_whole(s) || awaits_nothing(w, s) || !fg_stream_is_established(w, s))
		return 0;
	if (note != NULL)
		note(w, application_of(w, s), client_of(s)->since);
	return 1;
}

static void
client_timer(struct fg_l4 *w, struct fg_stream *s)
{
	if (w->now >= w->stop_at)
		client_stop(w, s);
	else
		http_send_request(w, s);
}

static void
client_eof(struct fg_l4 *w, struct fg_stream *s)
{
	/* otherwise the server has waited long enough for another request */
	if (!awaits_nothing(w, s) && !http_is_whole(s) && http_ends_so(w, s))
		count_response(w, s);
	head_of(s)->over = true;
	fg_stream_close(w, s);
}

const struct fg_app_ops http_client_ops = {
	.established = client_established,
	.receive = http_client_receive,
	.arrived = client_arrived,
	.eof = client_eof,
	.fill = client_fill,
	.timer = client_timer,
	.poll = client_poll,
	.stop = client_stop,
	.connected = note_connected,
	.early = true,
};

/*
 * The last request of a connection announces its end (RFC 9112, 9.6), so that the server's FIN comes with the
 * response, unless the client is to end it alone. Blanks make it as long as the others. @return its length,
 * or -1: there is no memory. NULL: only the length is asked for
 */
static int
request_head(const struct fg_l4_app *config, const char *path, bool last, char **out)
{
	static const char form[] =
		"%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: framegauge\r\nAccept: */*\r\n%s%s\r\n";
	const char *method = config->head ? "HEAD" : config->request > 0 ? "POST" : "GET";
	const char *connection = config->requests == 0 || config->hold || config->tcp.reset ? ""
				 : last ? "Connection: close     \r\n"
					: "Connection: keep-alive\r\n";
	char more[64] = "";

	if (config->request > 0)
		snprintf(more, sizeof(more), "Content-Length: %u\r\n", config->request);
	else if (config->range != NULL)
		snprintf(more, sizeof(more), "Range: bytes=%.40s\r\n", config->range);
	return out == NULL ? snprintf(NULL, 0, form, method, path, config->host, connection, more)
			   : asprintf(out, form, method, path, config->host, connection, more);
}

void
http_octets(const struct fg_l4_app *app, uint32_t *request, uint32_t *response)
{
	*request = (uint32_t)request_head(app, app->path, false, NULL) + app->request;
	*response = http_response_octets(app->head ? 0 : app->response, app->range != NULL);
}

void
http_free(struct application *a)
{
	free(((struct http *)a)->request);
	free(((struct http *)a)->last);
}

/* one behind the other */
static int
make_requests_of_page(struct http *h, struct fg_error *err)
{
	const struct page *page = h->app.page;
	char *one = NULL;

	h->request_head = (uint32_t)request_head(&h->app.config, page->path[0], false, NULL);
	h->request = malloc((size_t)page->objects * h->request_head);
	for (uint32_t i = 0; h->request != NULL && i < page->objects; i++, free(one)) {
		if (request_head(&h->app.config, page->path[i], false, &one) < 0)
			return fg_error_set(err, ENOMEM, "l4", "no memory");
		memcpy(h->request + (size_t)i * h->request_head, one, h->request_head);
	}
	return h->request != NULL ? 0 : fg_error_set(err, ENOMEM, "l4", "no memory");
}

int
http_create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->config;
	struct http *h = (struct http *)a;
	int n;

	if (config->server)
		return 0;

	if (config->path == NULL || config->host == NULL)
		return fg_error_set(err, EINVAL, "l4", "a request needs a path and a host");
	if (a->page != NULL)
		return make_requests_of_page(h, err);
	n = request_head(config, config->path, false, &h->request);
	if (n < 0 || request_head(config, config->path, true, &h->last) < 0)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	h->request_head = (uint32_t)n;
	return 0;
}

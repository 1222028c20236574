/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind HTTP2: its parts, and what both sides send first. */
#include <errno.h>
#include <stdlib.h>

#include "http2_priv.h"

enum { STREAMS = 32, SERVER_STREAMS = 256, STREAMS_MAX = 1000 };
enum { MOST_EXCHANGES = 1 << 22, SPANS_A_CONNECTION = 8, MIN_SPANS = 1024 };
enum setting { HEADER_TABLE_SIZE = 1, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE };

static uint8_t *
put_setting(uint8_t *to, enum setting which, uint32_t value)
{
	put_number(to, which, 2);
	put_number(to + 2, value, 4);
	return to + 6;
}

/* the preface of a client, SETTINGS, and the window of the connection */
static void
write_opening(struct http2 *a)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	uint8_t *p = a->opening, *settings;

	if (a->role->is_client) {
		memcpy(p, preface, sizeof(preface) - 1);
		p += sizeof(preface) - 1;
	}
	settings = p;
	p += H2_HEADER;
	if (a->role->is_client) {
		p = put_setting(p, HEADER_TABLE_SIZE, 0);
		p = put_setting(p, ENABLE_PUSH, 0);
	} else {
		p = put_setting(p, MAX_CONCURRENT_STREAMS, a->streams);
	}
	p = put_setting(p, INITIAL_WINDOW_SIZE, (uint32_t)a->window);
	h2_put_header(settings, (uint32_t)(p - settings) - H2_HEADER, H2_SETTINGS, 0, 0);
	if (a->window > H2_WINDOW) {
		p = h2_put_header(p, 4, H2_WINDOW_UPDATE, 0, 0);
		put_number(p, (uint64_t)a->window - H2_WINDOW, 4);
		p += 4;
	}
	a->opening_octets = (uint32_t)(p - a->opening);
}

static int
make_request(struct http2 *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->app.config;
	const struct page *page = a->app.page;
	uint32_t n = page == NULL ? 1 : page->objects;
	size_t path = page == NULL ? strlen(config->path) : PAGE_PATH, at = 0;

	a->request = calloc(n, H2_HEADER + H2_REQUEST_MORE + path + strlen(config->host));
	if (a->request == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	for (uint32_t i = 0; i < n; i++, at += a->request_octets) {
		uint32_t octets = h2_write_request(config, page == NULL ? config->path : page->path[i],
						   a->request + at + H2_HEADER);

		h2_put_header(a->request + at, octets, H2_HEADERS,
			      H2_END_HEADERS | (config->request > 0 ? 0 : H2_END_STREAM), 0);
		a->request_octets = H2_HEADER + octets;
	}
	return 0;
}

/* frames and all */
static void
http2_octets(const struct fg_l4_app *config, uint32_t *request, uint32_t *response)
{
	uint8_t scratch[H2_RESPONSE_MAX],
		*head = malloc(H2_HEADER + H2_REQUEST_MORE + strlen(config->path) + strlen(config->host));

	*request = *response = 0;
	if (head == NULL)
		return;
	*request = H2_HEADER + h2_write_request(config, config->path, head) +
		   (uint32_t)h2_data_octets(config->request);
	*response = h2_write_response(1, config->response, false, H2_PAYLOAD, scratch) +
		    (uint32_t)h2_data_octets(config->head ? 0 : config->response);
	free(head);
}

static int
http2_check(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err)
{
	if (config->flood != FG_L4_FLOOD_NONE && config->flood_per_s <= 0)
		return fg_error_set(err, EINVAL, "l4.http", "a flood of %g frames/s", config->flood_per_s);
	if (config->streams > STREAMS_MAX || config->window > H2_WINDOW_MAX)
		return fg_error_set(err, EINVAL, "l4.http", "%u streams, a window of %u octets",
				    config->streams, config->window);
	if (!config->server && (config->path == NULL || config->host == NULL ||
				strlen(config->path) + strlen(config->host) > H2_FRAME_MAX / 2))
		return fg_error_set(err, EINVAL, "l4", "a request needs a path and a host");
	return 0;
}

static const struct app_kind http2;

static int
http2_create(struct application *app, struct fg_error *err)
{
	struct http2 *a = (struct http2 *)app;
	const struct fg_l4_app *config = &app->config;
	bool server = config->server;
	uint32_t streams = config->streams > 0 ? config->streams : STREAMS, conns = app->room;
	uint64_t exchanges;

	a->role = server ? &h2_server_role : &h2_client_role;
	a->streams = server ? fg_u32_max(streams, SERVER_STREAMS) : streams;
	a->window = config->window > 0 ? (int32_t)config->window : H2_WINDOW_MAX;
	a->memory = (nghttp2_mem){&a->heap, fg_heap_take, fg_heap_give, fg_heap_zeros, fg_heap_change};
	exchanges = (uint64_t)conns * (a->streams + H2_RESETS);
	if (exchanges > MOST_EXCHANGES)
		exchanges = MOST_EXCHANGES;
	write_opening(a);
	if (!fg_pool_create(&a->conns, conns, sizeof(struct h2_conn)) ||
	    !fg_pool_create(&a->exchanges, (uint32_t)exchanges, sizeof(struct h2_exchange)) ||
	    !fg_pool_create(&a->spans, MIN_SPANS + SPANS_A_CONNECTION * conns + (uint32_t)exchanges,
			    sizeof(struct h2_span)))
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u connections of HTTP/2", conns);
	h2_conn_at(a, 0)->flags = H2_OVER | H2_GONE; /* nobody's */
	if (app->kind != &http2)
		return doh_create(a, err);
	return server ? 0 : make_request(a, err);
}

static void
http2_free(struct application *app)
{
	struct http2 *a = (struct http2 *)app;

	for (uint32_t i = 1; i < a->conns.fresh; i++)
		h2_give_all(a, h2_conn_at(a, i));
	h2_fields_free(&a->spare);
	fg_pool_free(&a->conns);
	fg_pool_free(&a->exchanges);
	fg_pool_free(&a->spans);
	free(a->request);
	doh_free(a);
}

static void
http2_read(const struct application *app, struct fg_l4_result *out)
{
	out->flooded = ((const struct http2 *)app)->flooded;
}

static const struct app_kind http2 = {
	"HTTP2",
	.streams = true,
	.gathers = true,
	.resets_at_once = true,
	.secures = true,
	.pages = true,
	.size = sizeof(struct http2),
	.client = &h2_client_ops,
	.server = &h2_server_ops,
	.own = MESSAGE_SUMS,
	.octets = http2_octets,
	.check = http2_check,
	.create = http2_create,
	.free = http2_free,
	.read = http2_read,
	.waits = h2_waits,
	.note_unblocked = h2_note_unblocked,
};

static int
https_check(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err)
{
	int rc = http2_check(config, mtu, err);

	return rc != 0 ? rc : doh_check(config, err);
}

/* DNS over HTTPS */
static const struct app_kind doh = {
	"DOH",
	.streams = true,
	.gathers = true,
	.secures = true,
	.size = sizeof(struct http2),
	.client = &h2_client_ops,
	.server = &h2_server_ops,
	/* of HTTP, then of DNS */
	.own = {"http_4xx",     "http_5xx",          "http_other",       "http_length", "http_cut",
		"stream_reset", "malformed_message", "connection_error", "goaway",      "noerror",
		"nxdomain",     "servfail",          "other_rcode",      "truncated",   "mismatched",
		"late",         "duplicates",        "unexpected",       "malformed",   "cut",
		"queries"},
	.check = https_check,
	.create = http2_create,
	.free = http2_free,
	.waits = h2_waits,
	.note_unblocked = h2_note_unblocked,
};

const struct app_kind *const app_kinds_of_http2[] = {&http2, &doh, NULL};

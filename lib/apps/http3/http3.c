/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind HTTP3: its parts, and the requests of a client. */
#include <errno.h>
#include <stdio.h>

#include "http3_priv.h"

enum { STREAMS = 32, STREAMS_MAX = 1000, MOST_EXCHANGES = 1 << 22, MORE_EXCHANGES = 64 };

static int
http3_check(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err)
{
	if (config->quic == NULL)
		return fg_error_set(err, EINVAL, "l4", "HTTP3 goes through QUIC alone");
	if (config->flood != FG_L4_FLOOD_NONE &&
	    (config->flood != FG_L4_FLOOD_RST || config->flood_per_s <= 0))
		return fg_error_set(err, EINVAL, "l4.http", "HTTP3 has a flood of resets alone");
	if (config->streams > STREAMS_MAX)
		return fg_error_set(err, EINVAL, "l4.http", "%u streams", config->streams);
	if (!config->server && (config->path == NULL || config->host == NULL ||
				strlen(config->path) + strlen(config->host) > H3_FIELDS_MAX / 2))
		return fg_error_set(err, EINVAL, "l4", "a request needs a path and a host");
	return 0;
}

static void
h3_make_request(struct http3 *a)
{
	const struct fg_l4_app *config = &a->app.config;
	const char *method = config->head ? "HEAD" : config->request > 0 ? "POST" : "GET";
	const nghttp3_nv fields[] = {
		h3_field(":method", method),          h3_field(":scheme", "https"),
		h3_field(":authority", config->host), h3_field(":path", config->path),
		h3_field("user-agent", "framegauge"), h3_field("accept", "*/*"),
	};

	memcpy(a->request, fields, sizeof(fields));
	a->request_fields = sizeof(fields) / sizeof(fields[0]);
	if (config->request == 0)
		return;
	snprintf(a->length, sizeof(a->length), "%u", config->request);
	a->request[a->request_fields++] = h3_field("content-length", a->length);
}

static int
http3_create(struct application *app, struct fg_error *err)
{
	struct http3 *a = (struct http3 *)app;
	const struct fg_l4_app *config = &app->config;
	uint32_t conns = app->room, at_once = config->streams > 0 ? config->streams : STREAMS;
	uint64_t exchanges;

	a->role = config->server ? &h3_server_role : &h3_client_role;
	a->streams = at_once;
	a->memory = (nghttp3_mem){&a->heap, fg_heap_take, fg_heap_give, fg_heap_zeros, fg_heap_change};
	if (config->server)
		at_once = fg_u32_max(at_once, config->quic->streams);
	/* a stream that has come whole is not over until all of ours was acknowledged */
	exchanges = (uint64_t)conns * (2 * at_once + MORE_EXCHANGES);
	if (exchanges > MOST_EXCHANGES)
		exchanges = MOST_EXCHANGES;
	if (!fg_pool_create(&a->conns, conns, sizeof(struct h3_conn)) ||
	    !fg_pool_create(&a->exchanges, (uint32_t)exchanges, sizeof(struct h3_exchange)))
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u connections of HTTP/3", conns);
	((struct h3_conn *)(void *)a->conns.at)->flags = H3_OVER; /* nobody's */
	if (!config->server)
		h3_make_request(a);
	return 0;
}

static void
http3_free(struct application *app)
{
	struct http3 *a = (struct http3 *)app;

	for (uint32_t i = 1; i < a->conns.fresh; i++) {
		struct h3_conn *c = (struct h3_conn *)(void *)a->conns.at + i;

		if (c->http != NULL)
			nghttp3_conn_del(c->http);
	}
	fg_pool_free(&a->conns);
	fg_pool_free(&a->exchanges);
}

static void
http3_read(const struct application *app, struct fg_l4_result *out)
{
	out->flooded = ((const struct http3 *)app)->flooded;
}

static const struct app_kind http3 = {
	"HTTP3",
	.streams = true,
	.secures = true,
	.pages = true,
	.size = sizeof(struct http3),
	.client = &h3_client_ops,
	.server = &h3_server_ops,
	.own = MESSAGE_SUMS,
	.check = http3_check,
	.create = http3_create,
	.free = http3_free,
	.read = http3_read,
	.waits = h3_waits,
	.note_unblocked = h3_note_unblocked,
};

const struct app_kind *const app_kinds_of_http3[] = {&http3, NULL};

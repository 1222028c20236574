/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of HTTP/3: GET and HEAD of a path that ends in a number, which is answered with that number of
 * bytes, and POST, whose body is read and whose answer has none. A connection ends when the client ends it.
 */
#include <stdio.h>

#include "http3_priv.h"

static void
h3_server_established(struct fg_l4 *w, struct fg_stream *s)
{
	if (h3_begin(w, s) != NULL)
		fg_stream_ready(w, s);
}

static void
h3_server_head(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	x->body = x->is_post ? 0 : x->fields.number;
}

static void
h3_server_over(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	const nghttp3_data_reader body = {h3_read_body};
	char length[16] = "";
	nghttp3_nv fields[] = {h3_field(":status", "200"), h3_field("server", "framegauge"),
			       h3_field("content-type", "application/octet-stream"),
			       h3_field("content-length", length)};

	fields[3].valuelen = (size_t)snprintf(length, sizeof(length), "%u", x->body);
	fields[3].flags = NGHTTP3_NV_FLAG_NO_COPY_NAME;
	x->left = x->is_head ? 0 : x->body;
	if (nghttp3_conn_submit_response(h3_conn_of(w, s)->http, x->id, fields, 4,
					 x->left > 0 ? &body : NULL) == 0)
		application_of(w, s)->base.tally.transactions++;
}

static void
h3_server_failed(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x, enum message_sum why)
{
	application_of(w, s)->base.tally.own[why]++;
}

static void
h3_server_go_on(struct fg_l4 *w, struct fg_stream *s)
{
	fg_stream_ready(w, s);
}

const struct h3_role h3_server_role = {false, h3_server_head, h3_server_over, h3_server_failed,
				       h3_server_go_on};

const struct fg_app_ops h3_server_ops = {
	.established = h3_server_established,
	.closed = h3_closed,
	.streams = &h3_streams,
	.early = true,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection has to send, from the first byte that is not acknowledged to the last that was laid out:
 * a list of spans; TCP reads any part of them, once or again. Requests that follow each other share
 * a span, and so do frames of one body.
 */
#include "http2_priv.h"

enum kind {
	TEXT,     /* of the application, or a constant */
	CONTROL,  /* a short frame */
	REQUESTS, /* heads alone, each of `head` bytes, with ids two apart */
	MESSAGE,  /* a head, unless `head` is 0, then data */
};

static struct h2_span *
append_span(struct fg_l4 *w, struct fg_stream *s, uint8_t kind, uint64_t octets)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	struct h2_span *span;
	uint32_t i;

	if (c->flags & H2_GONE)
		return NULL;
	i = fg_pool_take(&a->spans);
	if (i == 0) {
		w->counters.no_spans++;
		fg_stream_abort(w, s);
		return NULL;
	}
	span = h2_span_at(a, i);
	*span = (struct h2_span){.at = c->end, .octets = octets, .kind = kind};
	c->end += octets;
	if (c->last_span == 0)
		c->first_span = c->recent_span = i;
	else
		h2_span_at(a, c->last_span)->next = i;
	c->last_span = i;
	return span;
}

void
h2_send_text(struct fg_l4 *w, struct fg_stream *s, const void *text, uint32_t octets)
{
	struct h2_span *span = append_span(w, s, TEXT, octets);

	if (span != NULL)
		span->text = text;
}

void
h2_send_control(struct fg_l4 *w, struct fg_stream *s, uint8_t type, uint8_t flags, uint32_t id,
		uint64_t payload, uint32_t octets)
{
	struct h2_span *span = append_span(w, s, CONTROL, H2_HEADER + octets);

	if (span != NULL)
		put_number(h2_put_header(span->literal, octets, type, flags, id), payload, octets);
}

uint64_t
h2_data_octets(uint32_t data)
{
	return data + (uint64_t)H2_HEADER * ((data + H2_FRAME_MAX - 1) / H2_FRAME_MAX);
}

static uint32_t
octets_of_head(const struct http2 *a, const struct h2_exchange *x)
{
	uint8_t scratch[DOH_HEAD_MAX];

	if (!a->role->is_client)
		return h2_write_response(x->id, x->body, false, x->response, scratch);
	return a->doh != NULL ? doh_write_head(a, x->id, x->object, scratch) : a->request_octets;
}

/* does this go on what the last span has? */
static struct h2_span *
joins_span(const struct http2 *a, const struct h2_conn *c, const struct h2_exchange *x, uint32_t data)
{
	struct h2_span *span = c->last_span == 0 ? NULL : h2_span_at(a, c->last_span);

	if (span == NULL || a->doh != NULL)
		return NULL;
	if (x->sends_head)
		return span->kind == REQUESTS && data == 0 && x->left == 0 &&
				       x->id == span->id + 2 * (uint32_t)(span->octets / span->head)
			       ? span
			       : NULL;
	return span->kind == MESSAGE && span->id == x->id && span->data % H2_FRAME_MAX == 0 ? span : NULL;
}

void
h2_send(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, uint32_t data)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	struct h2_span *span = joins_span(a, c, x, data);
	uint32_t head = x->sends_head ? octets_of_head(a, x) : 0;
	uint64_t octets = head + h2_data_octets(data);

	if (span == NULL) {
		bool requests = head > 0 && a->role->is_client && x->left == 0 && a->doh == NULL;

		span = append_span(w, s, requests ? REQUESTS : MESSAGE, 0);
		if (span == NULL)
			return;
		span->id = x->id;
		span->head = head;
		span->response = x->response;
		span->length = a->doh != NULL && a->role->is_client ? x->object : x->body;
		span->body = x->body - x->left;
		if (a->doh != NULL && data > 0 && !doh_piece(a, x, span, data)) {
			w->counters.no_spans++;
			fg_stream_abort(w, s);
			return;
		}
	}
	span->octets += octets;
	c->end += octets;
	span->data += data;
	x->sends_head = false;
	x->left -= data;
	x->window -= (int32_t)data;
	c->window -= (int32_t)data;
	span->ends = x->left == 0;
}

void
h2_flush(struct fg_l4 *w, struct fg_stream *s)
{
	const struct h2_conn *c = h2_conn_of(w, s);

	if (!(c->flags & H2_GONE) && !s->ended && c->end > s->written)
		fg_stream_write(w, s, c->end - s->written);
}

void
h2_acked(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);

	while (c->first_span != 0) {
		const struct h2_span *span = h2_span_at(a, c->first_span);
		uint32_t next = span->next;

		/* the last one may still get longer */
		if (span->at + span->octets > s->acked)
			return;
		if (c->recent_span == c->first_span)
			c->recent_span = next;
		fg_heap_give(span->own, &a->heap);
		fg_pool_give(&a->spans, &c->first_span);
		c->first_span = next;
	}
	c->last_span = 0;
}

void
h2_give_spans(struct http2 *a, struct h2_conn *c)
{
	while (c->first_span != 0) {
		uint32_t next = h2_span_at(a, c->first_span)->next;

		fg_heap_give(h2_span_at(a, c->first_span)->own, &a->heap);
		fg_pool_give(&a->spans, &c->first_span);
		c->first_span = next;
	}
	c->last_span = c->recent_span = 0;
}

/* --- bytes */

static uint32_t
copy(uint8_t *to, const uint8_t *from, uint32_t octets, uint64_t offset, uint32_t length)
{
	uint32_t n = fg_u32_min(length, (uint32_t)(octets - offset));

	memcpy(to, from + offset, n);
	return n;
}

/* of a client; of a page stream number @p id is of the object of that request */
static const uint8_t *
request_of(const struct http2 *a, const struct h2_conn *c, uint32_t id)
{
	const struct page_load *load = h2_load_of(a, c);

	return a->request + (load == NULL ? 0 : (size_t)a->request_octets * load->object[id / 2].nth);
}

static uint32_t
fill_head(const struct http2 *a, const struct h2_conn *c, const struct h2_span *span, uint32_t id,
	  uint32_t offset, uint8_t *to, uint32_t length)
{
	uint8_t response[DOH_HEAD_MAX], number[4];
	uint32_t n;

	if (!a->role->is_client) {
		h2_write_response(id, span->length, span->ends && span->data == 0, span->response, response);
		return copy(to, response, span->head, offset, length);
	}
	if (a->doh != NULL) {
		doh_write_head(a, id, span->length, response);
		return copy(to, response, span->head, offset, length);
	}
	n = copy(to, request_of(a, c, id), span->head, offset, length);
	put_number(number, id, 4);
	for (uint32_t i = 0; i < sizeof(number); i++)
		if (5 + i >= offset && 5 + i < offset + n)
			to[5 + i - offset] = number[i];
	return n;
}

/* a part of one frame of data */
static uint32_t
fill_data(const struct http2 *a, const struct h2_span *span, uint64_t offset, uint8_t *to, uint32_t length)
{
	uint32_t before = (uint32_t)(offset / (H2_HEADER + H2_FRAME_MAX)) * H2_FRAME_MAX;
	uint32_t within = (uint32_t)(offset % (H2_HEADER + H2_FRAME_MAX));
	uint32_t octets = fg_u32_min(span->data - before, H2_FRAME_MAX), n;
	uint8_t header[H2_HEADER];

	if (within < H2_HEADER) {
		h2_put_header(header, octets, H2_DATA,
			      span->ends && before + octets == span->data ? H2_END_STREAM : 0, span->id);
		return copy(to, header, H2_HEADER, within, length);
	}
	within -= H2_HEADER;
	n = fg_u32_min(length, octets - within);
	if (span->text != NULL) {
		memcpy(to, span->text + before + within, n);
		return n;
	}
	payload_fill(a->role->is_client ? CLIENT_STREAM : SERVER_STREAM,
		     (uint64_t)span->body + before + within, to, n);
	return n;
}

/* bytes from @p offset of a span. @return how many: bytes of one frame, or of a part of it */
static uint32_t
fill_span(const struct http2 *a, const struct h2_conn *c, const struct h2_span *span, uint64_t offset,
	  uint8_t *to, uint32_t length)
{
	switch (span->kind) {
	case TEXT:
		return copy(to, span->text, (uint32_t)span->octets, offset, length);
	case CONTROL:
		return copy(to, span->literal, (uint32_t)span->octets, offset, length);
	case REQUESTS:
		return fill_head(a, c, span, span->id + 2 * (uint32_t)(offset / span->head),
				 (uint32_t)(offset % span->head), to, length);
	default:
		return offset < span->head ? fill_head(a, c, span, span->id, (uint32_t)offset, to, length)
					   : fill_data(a, span, offset - span->head, to, length);
	}
}

void
h2_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	uint32_t i = c->recent_span, n;

	if (i == 0 || h2_span_at(a, i)->at > offset)
		i = c->first_span;
	for (; length > 0; offset += n, to += n, length -= n) {
		const struct h2_span *span = h2_span_at(a, i);

		while (span->at + span->octets <= offset) {
			i = span->next;
			span = h2_span_at(a, i);
		}
		n = fill_span(a, c, span, offset - span->at, to, length);
	}
	c->recent_span = i;
}

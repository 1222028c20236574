/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads frames (RFC 9113, 4), whichever way they are cut into segments. What is short is collected in the
 * connection until it is whole: the header, the bytes before a padded payload, the numbers of a control
 * frame. Data and blocks of fields are handed on as they come.
 */
#include "http2_priv.h"

/* struct h2_frame.phase */
enum {
	PREFACE,
	HEADER,
	PART,    /* before the payload proper, or a control frame's numbers */
	PAYLOAD, /* with its padding */
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE_OCTETS = sizeof(preface) - 1 };
static const char refusal[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/* RFC 9113, 6; and how much a frame of each type holds */
enum stream { NEVER, ALWAYS, EITHER };
static const struct rule {
	uint8_t stream; /* is it about one? */
	uint8_t part;   /* bytes that are read at once */
	bool exact;     /* and nothing else */
} rules[] = {
	[H2_DATA] = {ALWAYS, 0, false},         [H2_HEADERS] = {ALWAYS, 0, false},
	[H2_PRIORITY] = {ALWAYS, 5, true},      [H2_RST_STREAM] = {ALWAYS, 4, true},
	[H2_SETTINGS] = {NEVER, 6, false},      [H2_PUSH_PROMISE] = {ALWAYS, 4, false},
	[H2_PING] = {NEVER, 8, true},           [H2_GOAWAY] = {NEVER, 8, false},
	[H2_WINDOW_UPDATE] = {EITHER, 4, true}, [H2_CONTINUATION] = {ALWAYS, 0, false},
};

static void
expect(struct h2_frame *f, uint8_t phase, uint8_t octets)
{
	f->phase = phase;
	f->have = 0;
	f->want = octets;
}

void
h2_frame_begin(struct h2_conn *c, bool is_server)
{
	expect(&c->frame, is_server ? PREFACE : HEADER, is_server ? PREFACE_OCTETS : H2_HEADER);
}

/* H14, H15 of what is known from the header alone */
static enum h2_error
check_header(const struct h2_conn *c, uint32_t length)
{
	const struct h2_frame *f = &c->frame;
	const struct rule *r;

	if (length > H2_FRAME_MAX)
		return H2_FRAME_SIZE_ERROR;
	if (!(c->flags & H2_BEGUN) && (f->type != H2_SETTINGS || f->flags & H2_ACK))
		return H2_PROTOCOL_ERROR;
	if ((c->block_id != 0) != (f->type == H2_CONTINUATION) || (c->block_id != 0 && c->block_id != f->id))
		return H2_PROTOCOL_ERROR;
	if (f->type >= H2_TYPES)
		return H2_NO_ERROR;
	r = &rules[f->type];
	if ((r->stream == ALWAYS && f->id == 0) || (r->stream == NEVER && f->id != 0) ||
	    f->type == H2_PUSH_PROMISE)
		return H2_PROTOCOL_ERROR;
	if (r->exact ? length != r->part : f->type != H2_SETTINGS && length < r->part)
		return H2_FRAME_SIZE_ERROR;
	if (f->type == H2_SETTINGS && (f->flags & H2_ACK ? length > 0 : length % r->part != 0))
		return H2_FRAME_SIZE_ERROR;
	return H2_NO_ERROR;
}

/* bytes before the payload proper: how much padding there is, a priority, which is not looked at */
static uint8_t
prefix_of(const struct h2_frame *f)
{
	uint8_t n = f->type <= H2_HEADERS && f->flags & H2_PADDED;

	return f->type == H2_HEADERS && f->flags & H2_HAS_PRIORITY ? n + 5 : n;
}

static enum h2_error
frame_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	struct h2_frame *f = &c->frame;

	expect(f, HEADER, H2_HEADER);
	switch (f->type) {
	case H2_DATA:
		h2_data_over(w, s, c);
		return H2_NO_ERROR;
	case H2_HEADERS:
	case H2_CONTINUATION:
		return f->flags & H2_END_HEADERS ? h2_headers_over(w, s, c) : H2_NO_ERROR;
	default:
		return f->type < H2_TYPES ? h2_control_over(w, s, c) : H2_NO_ERROR;
	}
}

/* the payload begins, or goes on behind a part of it */
static enum h2_error
payload_goes_on(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	struct h2_frame *f = &c->frame;
	bool has_block = f->type == H2_HEADERS || f->type == H2_CONTINUATION;

	if (f->type == H2_SETTINGS && f->body > 0) {
		expect(f, PART, rules[H2_SETTINGS].part);
		return H2_NO_ERROR;
	}
	f->phase = PAYLOAD;
	f->have = f->want = 0;
	if (has_block && f->body == 0 && f->flags & H2_END_HEADERS &&
	    !h2_fields_read(http2_of(w, s), c, NULL, 0, true))
		return H2_COMPRESSION_ERROR;
	return f->body + f->pad == 0 ? frame_over(w, s, c) : H2_NO_ERROR;
}

static enum h2_error
header_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	struct h2_frame *f = &c->frame;
	uint32_t length = (uint32_t)get_number(f->part, 3);
	enum h2_error error;
	uint8_t part;

	f->type = f->part[3];
	f->flags = f->part[4];
	f->id = (uint32_t)get_number(f->part + 5, 4) & H2_WINDOW_MAX;
	f->body = length;
	f->pad = 0;
	error = check_header(c, length);
	if (error == H2_NO_ERROR && (f->type == H2_HEADERS || f->type == H2_CONTINUATION))
		error = h2_headers_begin(w, s, c);
	else if (error == H2_NO_ERROR && f->type == H2_DATA)
		error = h2_data_begin(w, s, c, length);
	if (error != H2_NO_ERROR || c->flags & H2_OVER)
		return error;
	part = f->type <= H2_HEADERS ? prefix_of(f) : f->type < H2_TYPES ? rules[f->type].part : 0;
	if (part == 0 || (f->type == H2_SETTINGS && length == 0))
		return payload_goes_on(w, s, c);
	if (part > length)
		return H2_FRAME_SIZE_ERROR;
	expect(f, PART, part);
	return H2_NO_ERROR;
}

static enum h2_error
part_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	struct h2_frame *f = &c->frame;
	enum h2_error error = H2_NO_ERROR;

	f->body -= f->want;
	if (f->type > H2_HEADERS) {
		error = h2_control_part(w, s, c);
	} else if (f->flags & H2_PADDED) {
		f->pad = f->part[0];
		if (f->pad > f->body)
			return H2_PROTOCOL_ERROR;
		f->body -= f->pad;
	}
	return error != H2_NO_ERROR || c->flags & H2_OVER ? error : payload_goes_on(w, s, c);
}

/* a peer with another protocol; HTTP/1.1 gets an answer that says so */
static void
refuse_preface(struct fg_l4 *w, struct fg_stream *s)
{
	h2_note(w, s, MESSAGE_FAULTY);
	if (http2_of(w, s)->app.base.layer == NULL)
		h2_send_text(w, s, refusal, sizeof(refusal) - 1);
	h2_leave(w, s);
}

static uint32_t
read_preface(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, const uint8_t *data, uint32_t length)
{
	struct h2_frame *f = &c->frame;
	uint32_t n = fg_u32_min(length, (uint32_t)(f->want - f->have));

	if (memcmp(preface + f->have, data, n) != 0) {
		refuse_preface(w, s);
		return length;
	}
	f->have += (uint8_t)n;
	if (f->have == f->want) {
		h2_send_text(w, s, http2_of(w, s)->opening, http2_of(w, s)->opening_octets);
		expect(f, HEADER, H2_HEADER);
	}
	return n;
}

static uint32_t
read_part(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, const uint8_t *data, uint32_t length,
	  enum h2_error *error)
{
	struct h2_frame *f = &c->frame;
	uint32_t n = fg_u32_min(length, (uint32_t)(f->want - f->have));

	memcpy(f->part + f->have, data, n);
	f->have += (uint8_t)n;
	if (f->have == f->want)
		*error = f->phase == HEADER ? header_over(w, s, c) : part_over(w, s, c);
	return n;
}

static uint32_t
read_payload(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, const uint8_t *data, uint32_t length,
	     enum h2_error *error)
{
	struct h2_frame *f = &c->frame;
	uint32_t n = fg_u32_min(length, f->body);

	f->body -= n;
	c->held_to = 0;
	if (w->held != NULL &&
	    !w->held->waited(w->held, (uint32_t)(data - w->held->data), &c->held_from, &c->held_to))
		c->held_to = 0;
	if (n > 0 && f->type == H2_DATA) {
		h2_data(w, s, c, data, n);
	} else if (n > 0 && (f->type == H2_HEADERS || f->type == H2_CONTINUATION)) {
		c->block += n;
		if (!h2_fields_read(http2_of(w, s), c, data, n, f->body == 0 && f->flags & H2_END_HEADERS))
			*error = H2_COMPRESSION_ERROR;
	} else if (n == 0) {
		n = fg_u32_min(length, f->pad);
		f->pad -= n;
	}
	if (*error == H2_NO_ERROR && f->body + f->pad == 0)
		*error = frame_over(w, s, c);
	return n;
}

bool
h2_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	   bool early)
{
	struct h2_conn *c = h2_conn_of(w, s);
	enum h2_error error = H2_NO_ERROR;

	if (early)
		return false;
	while (length > 0 && !(c->flags & H2_OVER)) {
		uint32_t n;

		if (c->frame.phase == PREFACE)
			n = read_preface(w, s, c, data, length);
		else if (c->frame.phase == PAYLOAD)
			n = read_payload(w, s, c, data, length, &error);
		else
			n = read_part(w, s, c, data, length, &error);
		if (error != H2_NO_ERROR)
			h2_fail(w, s, error);
		data += n;
		length -= n;
	}
	return true;
}

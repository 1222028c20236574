/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of HTTP/1.1: GET and HEAD of a path that ends in a number, which is answered with that number of
 * bytes or with the requested range of them, and POST, whose body is read, by its length or
 * in chunks; the answer has no body. Requests for several ranges are answered whole, as RFC 9110, 14.2
 * allows. A request that comes before the response to the one before it has been acknowledged is not taken,
 * and comes again.
 */
#include <stdio.h>

#include "http_priv.h"

/* both of one length: a shorter value is filled up with blanks, which end it (RFC 9110, 5.5) */
static const char head_keep[] =
	"HTTP/1.1 200 OK\r\nServer: framegauge\r\nContent-Type: application/octet-stream\r\n"
	"Connection: keep-alive\r\nContent-Length: ";
static const char head_close[] =
	"HTTP/1.1 200 OK\r\nServer: framegauge\r\nContent-Type: application/octet-stream\r\n"
	"Connection: close     \r\nContent-Length: ";
enum { DIGITS = 10, HEAD_FIXED = sizeof(head_keep) - 1, HEAD_OCTETS = HEAD_FIXED + DIGITS + 4 };

/* of a part; numbers have ten digits, so that each head has the same length */
static const char head_part[] =
	"HTTP/1.1 %-25s\r\nServer: framegauge\r\nContent-Type: application/octet-stream\r\n"
	"Connection: %-10s\r\nContent-Range: %-38.38s\r\nContent-Length: %10u\r\n\r\n";
enum { PART_OCTETS = 205 };

static const char head_continue[] = "HTTP/1.1 100 Continue\r\n\r\n";
enum { CONTINUE_OCTETS = sizeof(head_continue) - 1 };

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

static struct http_server *
server_of(const struct fg_stream *s)
{
	return (struct http_server *)(uintptr_t)s->area;
}

/* @return bytes of the part that is under way */
static uint32_t
body_of(const struct fg_stream *s)
{
	return (uint32_t)(s->written - server_of(s)->response_at) - PART_OCTETS;
}

/* which part is it? @return false: all is meant */
static bool
find_part(const struct http_range *r, uint32_t whole, uint32_t *first, uint32_t *octets)
{
	uint32_t last = r->last == HTTP_RANGE_OPEN ? HTTP_NUMBER_MAX : r->last;

	if (r->first == HTTP_RANGE_IGNORED || (r->first != HTTP_RANGE_OPEN && last < r->first))
		return false;
	*first = r->first != HTTP_RANGE_OPEN ? r->first : whole - fg_u32_min(last, whole);
	*octets = *first < whole ? fg_u32_min(last, whole - 1) - *first + 1 : 0;
	if (r->first == HTTP_RANGE_OPEN && *first < whole)
		*octets = whole - *first;
	return true;
}

/* the head of a response with a part; 416 where there is no such part (RFC 9110, 15.5.17) */
static void
part_head(char head[PART_OCTETS + 1], const struct http_head *h, uint32_t octets)
{
	char range[48];

	if (octets > 0)
		snprintf(range, sizeof(range), "bytes %010u-%010u/%010u", h->length, h->length + octets - 1,
			 h->number);
	else
		snprintf(range, sizeof(range), "bytes */%010u", h->number);
	snprintf(head, PART_OCTETS + 1, head_part,
		 octets > 0 ? "206 Partial Content" : "416 Range Not Satisfiable",
		 h->close ? "close" : "keep-alive", range, octets);
}

static void
send_response(struct fg_l4 *w, struct fg_stream *s, struct http_head *h, uint32_t octets)
{
	application_of(w, s)->base.tally.transactions++;
	server_of(s)->response_at = s->written;
	h->state = 0;
	fg_stream_write(w, s, octets);
	if (h->close)
		fg_stream_close(w, s);
}

static void
respond(struct fg_l4 *w, struct fg_stream *s, struct http_head *h)
{
	if (h->post)
		h->number = 0;
	h->length = 0;
	send_response(w, s, h, HEAD_OCTETS + (h->head ? 0 : h->number));
}

/* to a request without a body, if it asks for a part */
static void
respond_part(struct fg_l4 *w, struct fg_stream *s, struct http_head *h, const struct http_range *r)
{
	uint32_t first, octets;

	if (h->head || h->post || h->state != HTTP_BODY || h->length > 0 ||
	    !find_part(r, h->number, &first, &octets))
		return;
	h->part = true;
	h->length = first;
	send_response(w, s, h, PART_OCTETS + octets);
}

/* bytes of a response with a part from @p at in it */
static void
fill_part(const struct fg_stream *s, uint32_t at, uint8_t *to, uint32_t length)
{
	const struct http_head *h = &server_of(s)->head;
	char head[PART_OCTETS + 1];
	uint32_t n = at < PART_OCTETS ? fg_u32_min(PART_OCTETS - at, length) : 0;

	if (n > 0) {
		part_head(head, h, body_of(s));
		memcpy(to, head + at, n);
	}
	if (length > n)
		payload_fill(SERVER_STREAM, (uint64_t)h->length + at + n - PART_OCTETS, to + n, length - n);
}

static void
server_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	char head[HEAD_OCTETS];
	const struct http_head *h = &server_of(s)->head;

	if (h->part) {
		fill_part(s, (uint32_t)(offset - server_of(s)->response_at), to, length);
		return;
	}
	if (offset < server_of(s)->response_at) {
		uint32_t left = (uint32_t)(server_of(s)->response_at - offset),
			 part = fg_u32_min(left, length);

		memcpy(to, head_continue + CONTINUE_OCTETS - left, part);
		offset += part;
		to += part;
		length -= part;
	}
	if (length == 0)
		return;
	response_head(head, h->number, h->close);
	payload_fill_behind(head, HEAD_OCTETS, SERVER_STREAM, offset - server_of(s)->response_at, to, length);
}

/* the head of a request is over: is there a body, and does it wait for a word of ours? */
static void
begin_request_body(struct fg_l4 *w, struct fg_stream *s, struct http_head *h, bool has_come)
{
	if (h->length == HTTP_UNSIZED)
		h->length = 0;
	if (h->chunked) {
		h->state = HTTP_CHUNKS;
		h->number = h->length = 0;
	}
	server_of(s)->response_at = s->written;
	if (h->expects && !h->close && !has_come && (h->chunked || h->length > 0)) {
		server_of(s)->response_at += CONTINUE_OCTETS;
		fg_stream_write(w, s, CONTINUE_OCTETS);
	}
}

/* @return bytes used: all, unless the body is over, or broken */
static uint32_t
take_request_chunks(struct http_head *h, const uint8_t *data, uint32_t length)
{
	struct http_chunks k = {.left = h->length, .at = h->state - HTTP_CHUNKS};
	uint32_t used = 0, n;
	bool is_data;

	do {
		n = http_chunks_read(&k, data + used, length - used, &is_data);
		used += n;
	} while (n > 0 && used < length);
	h->length = k.left;
	h->state = HTTP_CHUNKS + k.at;
	return used;
}

/* @return bytes of the body that came with this */
static uint32_t
take_request_body(struct fg_l4 *w, struct fg_stream *s, struct http_head *h, const uint8_t *data,
		  uint32_t length)
{
	uint32_t part;

	if (h->state == HTTP_BODY) {
		part = fg_u32_min(h->length, length);
		h->length -= part;
	} else {
		part = take_request_chunks(h, data, length);
	}
	if (h->state == HTTP_BODY ? h->length == 0 : h->state == HTTP_CHUNKS + CHUNK_OVER)
		respond(w, s, h);
	return part;
}

static bool
server_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	       bool early)
{
	struct http_head *h = &server_of(s)->head;
	struct http_range r = {HTTP_RANGE_OPEN, HTTP_RANGE_OPEN};
	uint32_t used = 0;

	if (s->ended) /* the last response has been written: nothing more is read */
		return true;
	if (early || (h->state == 0 && s->acked < s->written))
		return false;
	if (h->state == 0)
		http_begin(h);
	else
		r = server_of(s)->range;
	if (h->state < HTTP_BODY) {
		used = http_read_again(&http_of(w, s)->seen, h, &r, data, length);
		if (h->state == HTTP_BODY) {
			begin_request_body(w, s, h, used < length);
			if (r.first != HTTP_RANGE_OPEN || r.last != HTTP_RANGE_OPEN)
				respond_part(w, s, h, &r);
		} else {
			server_of(s)->range = r;
		}
	}
	if (h->state >= HTTP_BODY)
		used += take_request_body(w, s, h, data + used, length - used);
	if (h->state == HTTP_CHUNKS + CHUNK_BROKEN) {
		fg_stream_abort(w, s);
		return true;
	}
	/*
	 * more in the same segment is the next request already: this connection ends here, the peer asks
	 * again
	 */
	if (used < length && !h->close) {
		h->close = true;
		fg_stream_close(w, s);
	}
	return true;
}

const struct fg_app_ops http_server_ops = {
	.receive = server_receive,
	.eof = fg_stream_close,
	.fill = server_fill,
	.early = true,
};

uint32_t
http_response_octets(uint32_t body, bool part)
{
	return (part ? PART_OCTETS : HEAD_OCTETS) + body;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What client and server of HTTP/1.1 (RFC 9112) have in common. All heads that one side sends have the same length, so
 * where an octet of the stream belongs follows from its position: on the client's side because all requests are alike,
 * on the server's because only one response is under way at a time.
 *
 * What is known of the message that is being read stands in the connection's own state: in app_phase how far it has
 * been read, the rest in flags and in two words that client and server keep where they have room.
 */
#include "app_priv.h"
#include "http_priv.h"

void
http_load(const struct conn *c, uint64_t words, struct http_head *h)
{
	*h = (struct http_head){
		.number = (uint32_t)words,
		.length = (uint32_t)(words >> 32),
		.state = c->app_phase,
		.post = c->flags & APP_POST,
		.head = c->flags & APP_HEAD,
		.close = c->flags & APP_CLOSE,
		.chunked = c->flags & APP_CHUNKED,
		.expects = c->flags & APP_EXPECTS,
	};
}

uint64_t
http_store(struct conn *c, const struct http_head *h)
{
	c->app_phase = h->state;
	c->flags &= ~((uint32_t)(APP_POST | APP_HEAD | APP_CLOSE | APP_CHUNKED) | APP_EXPECTS);
	c->flags |= (h->post ? APP_POST : 0) | (h->head ? APP_HEAD : 0) | (h->close ? APP_CLOSE : 0) |
		    (h->chunked ? APP_CHUNKED : 0);
	c->flags |= h->expects ? APP_EXPECTS : 0;
	return (uint64_t)h->length << 32 | h->number;
}

void
http_fill(const char *head, uint32_t head_length, uint32_t stream, uint64_t position, uint8_t *to,
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

void
http_nothing(struct fg_l4 *w, struct conn *c)
{
}

void
http_closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
}

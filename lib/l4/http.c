/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heads of HTTP/1.1 messages (RFC 9112), octet by octet, so that it does not matter how they are cut into segments.
 * Of a request only the method, the number in its path and the length of its body matter, of a response the status
 * and the length; and of both, whether the connection ends with it. The state is one octet: which part, and within it
 * how far a name has been matched.
 */
#include <string.h>

#include "http_priv.h"

enum {
	PART = 0xc0,
	FIRST_LINE = 0x00,
	FIELDS = 0x40,
	OTHER = 0x20 /* of FIELDS: matching the second name */
};
enum { SKIP = 0x1f, VALUE = 0x1e }; /* of FIELDS: to the end of the line; digits of the length */

static const char length_name[] = "content-length:";
static const char close_name[] = "connection: close";

static uint32_t
add_digit(uint32_t number, uint8_t c)
{
	return number > HTTP_NUMBER_MAX / 10 ? HTTP_NUMBER_MAX : number * 10 + (c - '0');
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* "GET /1000 HTTP/1.1", "HTTP/1.1 200 OK": the number is in the second word; the state counts the words */
static void
first_line(struct http_head *h, uint8_t c)
{
	uint8_t word = h->state;

	if (c == '\n')
		h->state = FIELDS;
	else if (c == ' ')
		h->state = word < 2 ? word + 1 : word;
	else if (word == 0) { /* of GET, HEAD, POST; in a response it means nothing */
		h->post |= c == 'P';
		h->head |= c == 'H';
	} else if (word == 1 && is_digit(c))
		h->number = add_digit(h->number, c);
	else if (word == 2 && c == '0')
		h->close = true; /* HTTP/1.0 */
}

static bool
matches(const char *name, uint8_t at, uint8_t c)
{
	return name[at] == (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* @return true: the line was empty, and so the head is over */
static bool
field(struct http_head *h, uint8_t c)
{
	uint8_t at = h->state & 0x1f;
	bool other = h->state & OTHER;

	if (c == '\r')
		return false;
	if (c == '\n') {
		bool empty = at == 0;

		h->state = FIELDS;
		return empty;
	}
	if (at == SKIP)
		return false;
	if (at == VALUE) {
		if (is_digit(c))
			h->length = add_digit(h->length, c);
		return false;
	}
	if (!other && !matches(length_name, at, c) && at < 4)
		other = true; /* what has matched so far is the same in both names */
	if (!matches(other ? close_name : length_name, at, c)) {
		h->state = FIELDS | SKIP;
		return false;
	}
	at++;
	if (!other && length_name[at] == '\0')
		at = VALUE;
	if (other && close_name[at] == '\0') {
		h->close = true;
		at = SKIP;
	}
	h->state = (uint8_t)(FIELDS | (other ? OTHER : 0) | at);
	return false;
}

uint32_t
http_read(struct http_head *h, const uint8_t *data, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		if (h->state == (FIELDS | SKIP)) { /* most of a head is nothing to us */
			const uint8_t *end = memchr(data + i, '\n', length - i);

			if (end == NULL)
				return length;
			i = (uint32_t)(end - data);
		}
		if ((h->state & PART) == FIRST_LINE) {
			first_line(h, data[i]);
		} else if (field(h, data[i])) {
			h->state = HTTP_BODY;
			return i + 1;
		}
	}
	return length;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heads of HTTP/1.1 messages (RFC 9112), byte by byte, so that it does not matter how they are cut into
 * segments. Of a request only the method, the number in its path, a range of it and its body's framing
 * matter, of a response the status and the framing; and of both, whether the connection ends with it. The
 * state is one octet: which part, and within it how far a field has been matched.
 *
 * The heads that one side gets are mostly equal. One that is like the last that came whole says the same.
 */
#include "http_priv.h"

enum {
	WORD = 0x03,
	RESPONSE = 0x04,
	BEGUN = 0x08
}; /* of the first line: how many words are over; a '/' was in the first one; there was a byte */
enum { FIELDS = 0x10 }; /* and from here on where in the names one is */

/* The fields that matter, the second behind the "con" of the first; a blank stands for any number of them. */
static const char names[] = "content-length:nection: closetransfer-encoding:expect:range: bytes=if-range:";
enum { /* where each ends, and the next begins */
       LENGTH = sizeof("content-length:") - 1,
       CLOSE = LENGTH + sizeof("nection: close") - 1,
       ENCODING = CLOSE + sizeof("transfer-encoding:") - 1,
       EXPECT = ENCODING + sizeof("expect:") - 1,
       RANGE = EXPECT + sizeof("range: bytes=") - 1,
       IF_RANGE = RANGE + sizeof("if-range:") - 1,
       OPTION = CLOSE - sizeof("close"), /* the blank before an option of Connection, which is a list */
       OTHER = IF_RANGE + 1,             /* in another option of it */
       VALUE,                            /* digits of the length */
       FIRST,                            /* of a range */
       LAST,
       SKIP, /* to the end of the line */
};

static_assert(FIELDS + SKIP < HTTP_BODY, "where in them one is has room in the state");

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

/* "GET /1000 HTTP/1.1", "HTTP/1.1 200 OK": the number is in the second word */
static void
first_line(struct http_head *h, uint8_t c)
{
	uint8_t word = h->state & WORD;

	h->state |= BEGUN;
	if (c == '\n') {
		h->state = FIELDS;
	} else if (c == ' ') {
		h->state += word < 2;
	} else if (word == 0 && c == '/') {
		h->state |= RESPONSE;
		h->post = h->head = false;
	} else if (word == 0 && !(h->state & RESPONSE)) { /* of GET, HEAD, POST */
		h->post |= c == 'P';
		h->head |= c == 'H';
	} else if (word == 1 && is_digit(c)) {
		h->number = add_digit(h->number, c);
	} else if (word == (h->state & RESPONSE ? 0 : 2) && c == '0') {
		h->close = true; /* HTTP/1.0 */
	}
}

/* @return where in the names one is behind the byte; SKIP: it is another field */
static uint8_t
match(uint8_t at, uint8_t c)
{
	if (at == OTHER)
		return c == ',' ? OPTION : OTHER;
	if (c >= 'A' && c <= 'Z')
		c |= 'a' - 'A';
	if (names[at] == ' ') {
		if (c == ' ' || c == '\t')
			return at;
		at++;
	}
	if (at == 0 && c != names[0])
		at = c == names[CLOSE]      ? CLOSE
		     : c == names[ENCODING] ? ENCODING
		     : c == names[EXPECT]   ? EXPECT
					    : RANGE;
	else if (at == 3 && c != names[3])
		at = LENGTH;
	if (c == names[at])
		return at + 1;
	return at < OPTION || at >= CLOSE ? SKIP : c == ',' ? OPTION : OTHER;
}

static void
ignore(struct http_range *r)
{
	r->first = r->last = HTTP_RANGE_IGNORED;
}

/* of a range; several of them, or another text, are answered with all (RFC 9110, 14.2) */
static uint8_t
range(struct http_range *r, uint8_t at, uint8_t c)
{
	uint32_t *number = at == FIRST ? &r->first : &r->last;

	if (is_digit(c)) {
		*number = add_digit(*number == HTTP_RANGE_OPEN ? 0 : *number, c);
		return at;
	}
	if (c == '-' && at == FIRST)
		return LAST;
	ignore(r);
	return SKIP;
}

/* a field that matters has been found. @return what becomes of the rest of its line */
static uint8_t
found(struct http_head *h, struct http_range *r, uint8_t at)
{
	switch (at) {
	case RANGE:
		if (r == NULL || r->first != HTTP_RANGE_OPEN || r->last != HTTP_RANGE_OPEN)
			return SKIP;
		return FIRST;
	case IF_RANGE: /* our resources have no validators, so no condition matches */
		if (r != NULL)
			ignore(r);
		return SKIP;
	case LENGTH:
		h->length = 0;
		return VALUE;
	case CLOSE:
		h->close = true;
		return SKIP;
	case ENCODING: /* the last coding is always this one (RFC 9112, 6.1) */
		h->chunked = true;
		return SKIP;
	case EXPECT: /* there is but one to be expected (RFC 9110, 10.1.1) */
		h->expects = true;
		return SKIP;
	default:
		return at;
	}
}

/* @return true: the line was empty, and so the head is over */
static bool
field(struct http_head *h, struct http_range *r, uint8_t c)
{
	uint8_t at = h->state - FIELDS;

	if (c == '\r')
		return false;
	if (c == '\n') {
		if (at == FIRST)
			ignore(r);
		h->state = FIELDS;
		return at == 0;
	}
	if (at == VALUE && is_digit(c))
		h->length = add_digit(h->length, c);
	if (at == FIRST || at == LAST)
		h->state = (uint8_t)(FIELDS + range(r, at, c));
	else if (at < VALUE)
		h->state = (uint8_t)(FIELDS + found(h, r, match(at, c)));
	return false;
}

uint32_t
http_read(struct http_head *h, struct http_range *r, const uint8_t *data, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		if (h->state == FIELDS + SKIP) { /* most of a head is skipped */
			const uint8_t *end = memchr(data + i, '\n', length - i);

			if (end == NULL)
				return length;
			i = (uint32_t)(end - data);
		}
		if (h->state < FIELDS) {
			first_line(h, data[i]);
		} else if (field(h, r, data[i])) {
			h->state = HTTP_BODY;
			return i + 1;
		}
	}
	return length;
}

uint32_t
http_read_again(struct http_seen *seen, struct http_head *h, struct http_range *r, const uint8_t *data,
		uint32_t length)
{
	bool begins = h->state == 0;
	uint32_t used;

	if (begins && seen->octets > 0 && seen->octets <= length &&
	    memcmp(data, seen->text, seen->octets) == 0) {
		*h = seen->head;
		if (r != NULL)
			*r = seen->range;
		return seen->octets;
	}
	used = http_read(h, r, data, length);
	if (begins && h->state == HTTP_BODY && used <= sizeof(seen->text)) {
		memcpy(seen->text, data, used);
		seen->octets = used;
		seen->head = *h;
		if (r != NULL)
			seen->range = *r;
	}
	return used;
}

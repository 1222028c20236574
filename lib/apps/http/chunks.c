/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chunked transfer coding (RFC 9112, 7.1), byte by byte as the head is: a size in hexadecimal and
 * perhaps an extension, that number of bytes, a line end; at last a size of zero, and lines of trailers
 * until an empty one. A size of more than eight digits, or of none, breaks it.
 */
#include "http_priv.h"

enum { LARGEST = UINT32_MAX >> 4 };

static int
hexadecimal(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint8_t
size(struct http_chunks *k, uint8_t c)
{
	int digit = hexadecimal(c);

	if (digit >= 0) {
		if (k->left > LARGEST)
			return CHUNK_BROKEN;
		k->left = k->left << 4 | (uint32_t)digit;
		return CHUNK_SIZE;
	}
	return k->at == CHUNK_BEGIN ? CHUNK_BROKEN : CHUNK_EXTENSION;
}

static uint8_t
framing(struct http_chunks *k, uint8_t c)
{
	switch (k->at) {
	case CHUNK_BEGIN:
	case CHUNK_SIZE:
		k->at = size(k, c);
		if (k->at != CHUNK_EXTENSION)
			return k->at;
		/* fall through */
	case CHUNK_EXTENSION:
		return c != '\n' ? CHUNK_EXTENSION : k->left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
	case CHUNK_END:
		return c == '\n' ? CHUNK_BEGIN : c == '\r' ? CHUNK_END : CHUNK_BROKEN;
	case CHUNK_TRAILER:
		return c == '\n' ? CHUNK_OVER : c == '\r' ? CHUNK_TRAILER : CHUNK_FIELD;
	default:
		return c == '\n' ? CHUNK_TRAILER : CHUNK_FIELD;
	}
}

uint32_t
http_chunks_read(struct http_chunks *k, const uint8_t *data, uint32_t length, bool *is_data)
{
	uint32_t n = 0;

	*is_data = k->at == CHUNK_DATA;
	if (*is_data) {
		n = k->left < length ? k->left : length;
		k->left -= n;
		k->body += n;
		k->at = k->left == 0 ? CHUNK_END : CHUNK_DATA;
		return n;
	}
	while (n < length && k->at != CHUNK_DATA && k->at < CHUNK_OVER)
		k->at = framing(k, data[n++]);
	return n;
}

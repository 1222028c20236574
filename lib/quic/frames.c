/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a packet in the clear (RFC 9000, 19), as far as their lengths and what the figures need. Most are
 * a number of integers and no more, which a table says; a peer's may be anything, so nothing is read beyond
 * the packet.
 */
#include "quic_priv.h"

enum {
	PADDING = 0x00,
	CRYPTO = 0x06,
	NEW_TOKEN = 0x07,
	NEW_CONNECTION_ID = 0x18,
	PATH_CHALLENGE = 0x1a,
	PATH_RESPONSE = 0x1b,
	CLOSE = 0x1c,
	CLOSE_BY_APPLICATION = 0x1d,
	LAST_TYPE = 0x1e,
	CHALLENGE = 8,
	TOKEN = 16,
	HAS_LENGTH = 2, /* bits of a STREAM frame's type */
	HAS_OFFSET = 4,
};

/* integers at the begin of a frame, behind its type; the last one counts the bytes that follow, perhaps */
static const struct {
	uint8_t integers;
	bool counted;
} shapes[LAST_TYPE + 1] = {
	[0x02] = {4, false}, [0x03] = {4, false},  [0x04] = {3, false},
	[0x05] = {2, false}, [CRYPTO] = {2, true}, [NEW_TOKEN] = {1, true},
	[0x10] = {1, false}, [0x11] = {2, false},  [0x12] = {1, false},
	[0x13] = {1, false}, [0x14] = {1, false},  [0x15] = {2, false},
	[0x16] = {1, false}, [0x17] = {1, false},  [NEW_CONNECTION_ID] = {2, false},
	[0x19] = {1, false}, [CLOSE] = {3, true},  [CLOSE_BY_APPLICATION] = {2, true},
};

/* an integer of variable length (RFC 9000, 16) */
static bool
read_integer(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	size_t length;

	if (*at == end)
		return false;
	length = (size_t)1 << (**at >> 6);
	if ((size_t)(end - *at) < length)
		return false;
	*out = *(*at)++ & 0x3f;
	while (--length > 0)
		*out = *out << 8 | *(*at)++;
	return true;
}

static bool
skip(const uint8_t **at, const uint8_t *end, uint64_t length)
{
	if ((uint64_t)(end - *at) < length)
		return false;
	*at += length;
	return true;
}

static bool
read_stream(const uint8_t **at, const uint8_t *end, struct frame *out)
{
	uint64_t id;

	if (!read_integer(at, end, &id) || (out->type & HAS_OFFSET && !read_integer(at, end, &out->offset)))
		return false;
	out->stream = (int64_t)id;
	out->length = (uint64_t)(end - *at);
	if (out->type & HAS_LENGTH && !read_integer(at, end, &out->length))
		return false;
	return skip(at, end, out->length);
}

static bool
read_ack(const uint8_t **at, const uint8_t *end, const uint64_t *integer, struct frame *out)
{
	uint64_t value;

	out->largest = integer[0];
	out->ranges = integer[2];
	out->first_range = integer[3];
	out->range = *at;
	for (uint64_t i = 0; i < 2 * out->ranges; i++)
		if (!read_integer(at, end, &value))
			return false;
	out->end = *at;
	for (unsigned i = 0; frame_counts_ecn(out) && i < 3; i++)
		if (!read_integer(at, end, &out->ecn[i]))
			return false;
	return out->first_range <= out->largest;
}

bool
frame_read(const uint8_t **at, const uint8_t *end, struct frame *out)
{
	uint64_t integer[4] = {0};
	unsigned n;

	*out = (struct frame){0};
	if (!read_integer(at, end, &out->type) || out->type > LAST_TYPE)
		return false;
	if (frame_is_stream(out))
		return read_stream(at, end, out);
	n = shapes[out->type].integers;
	for (unsigned i = 0; i < n; i++)
		if (!read_integer(at, end, &integer[i]))
			return false;
	if (shapes[out->type].counted && !skip(at, end, integer[n - 1]))
		return false;
	switch (out->type) {
	case PADDING:
		while (*at < end && **at == PADDING)
			++*at;
		return true;
	case NEW_CONNECTION_ID:
		return *at < end && skip(at, end, 1UL + **at) && skip(at, end, TOKEN);
	case PATH_CHALLENGE:
	case PATH_RESPONSE:
		return skip(at, end, CHALLENGE);
	default:
		return !frame_is_ack(out) || read_ack(at, end, integer, out);
	}
}

bool
frame_next_range(struct frame *f, uint64_t *low, uint64_t *high)
{
	uint64_t gap, length;

	if (f->first_range != UINT64_MAX) {
		*high = f->largest;
		*low = f->largest - f->first_range;
		f->largest = *low; /* from now on where the last range began */
		f->first_range = UINT64_MAX;
		return true;
	}
	if (f->ranges == 0 || !read_integer(&f->range, f->end, &gap) ||
	    !read_integer(&f->range, f->end, &length) || f->largest < gap + 2 ||
	    f->largest - gap - 2 < length)
		return false;
	f->ranges--;
	*high = f->largest - gap - 2;
	*low = *high - length;
	f->largest = *low;
	return true;
}

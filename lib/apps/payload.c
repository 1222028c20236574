/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is sent, as a function of stream and position: a window that slides over a table of random bytes. The
 * table's length is a prime, so a byte that ends up elsewhere in the stream is found out unless it was
 * moved by a multiple of 65521; the stream's seed says where the window begins. To write is to copy, to check
 * is to compare.
 */
#include "app_priv.h"

enum { PERIOD = 65521, LONGEST = 65535 };

static uint8_t table[PERIOD + LONGEST];

/*
 * The same bytes in every process, or the two ends would differ. Called by control before an lcore needs
 * them.
 */
void
payload_init(void)
{
	uint32_t x = 2463534242;

	for (unsigned i = 0; i < PERIOD; i++) { /* xorshift32 (Marsaglia) */
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		table[i] = (uint8_t)(x >> 24);
	}
	for (unsigned i = PERIOD; i < sizeof(table); i++)
		table[i] = table[i - PERIOD];
}

static const uint8_t *
at(uint32_t seed, uint64_t offset)
{
	return table + (seed + offset) % PERIOD;
}

void
payload_fill(uint32_t seed, uint64_t offset, uint8_t *to, uint32_t length)
{
	memcpy(to, at(seed, offset), length);
}

uint32_t
payload_wrong(uint32_t seed, uint64_t offset, const uint8_t *data, uint32_t length)
{
	const uint8_t *expected = at(seed, offset);
	uint32_t wrong = 0;

	if (memcmp(data, expected, length) == 0)
		return 0;
	for (uint32_t i = 0; i < length; i++)
		wrong += data[i] != expected[i];
	return wrong;
}

static bool
check_octets(struct fg_l4 *w, uint32_t stream, uint64_t offset, const uint8_t *data, uint32_t length)
{
	w->counters.wrong_octets += payload_wrong(stream, offset, data, length);
	return true;
}

bool
receive_of_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
		  bool early)
{
	if (offset == 0 && !early)
		note_first_octet(w, s);
	return check_octets(w, SERVER_STREAM, offset, data, length);
}

bool
receive_of_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
		  bool early)
{
	return check_octets(w, CLIENT_STREAM, offset, data, length);
}

void
fill_by_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	payload_fill(CLIENT_STREAM, offset, to, length);
}

void
fill_by_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	payload_fill(SERVER_STREAM, offset, to, length);
}

const uint8_t *
place_of_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length, uint32_t *together)
{
	*together = fg_u32_min(length, LONGEST);
	return at(CLIENT_STREAM, offset);
}

const uint8_t *
place_of_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length, uint32_t *together)
{
	*together = fg_u32_min(length, LONGEST);
	return at(SERVER_STREAM, offset);
}

void
payload_fill_behind(const char *head, uint32_t head_length, uint32_t seed, uint64_t position, uint8_t *to,
		    uint32_t length)
{
	uint32_t part = 0;

	if (position < head_length) {
		part = fg_u32_min(length, (uint32_t)(head_length - position));
		memcpy(to, head + position, part);
		position += part;
	}
	if (part < length)
		payload_fill(seed, position - head_length, to + part, length - part);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4: see fg_siphash.h. */
#include "fg_siphash.h"

enum { WORD = sizeof(uint64_t) };

static uint64_t
rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void
sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

/* up to a word, lowest byte first */
static uint64_t
word_at(const uint8_t *at, size_t bytes)
{
	uint64_t word = 0;

	for (size_t i = 0; i < bytes; i++)
		word |= (uint64_t)at[i] << (8 * i);
	return word;
}

uint64_t
fg_siphash(const void *key, const void *data, size_t bytes)
{
	const uint64_t k0 = word_at(key, WORD), k1 = word_at((const uint8_t *)key + WORD, WORD);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			 k1 ^ 0x7465646279746573};
	const uint8_t *at = data;

	for (size_t left = bytes;; at += WORD, left -= WORD) {
		uint64_t m = left >= WORD ? word_at(at, WORD) : word_at(at, left) | (uint64_t)bytes << 56;

		v[3] ^= m;
		sip_round(v);
		sip_round(v);
		v[0] ^= m;
		if (left < WORD)
			break;
	}
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

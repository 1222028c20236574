/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IMPAIR_PRIV_H
#define IMPAIR_PRIV_H

#include "fg_impair.h"

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) */
static inline uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/** What a random number must be below to strike with a probability. */
static inline uint64_t
impair_below(double probability)
{
	return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 0x1p64);
}

/** The next jitter, ticks. */
uint64_t impair_jitter(struct fg_impair *impair);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): the same numbers for
 * the same seed on every machine, so a run can be repeated. It can be read in order or at any index, because
 * output i depends on the seed and i alone. Not for secrets.
 */
#include <stdint.h>

#define FG_RANDOM_STEP 0x9e3779b97f4a7c15ULL

/** The bits of @p z, mixed: the output function of splitmix64. */
static inline uint64_t
fg_random_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/** Output @p index (from 0) of the generator that @p seed starts. */
static inline uint64_t
fg_random_at(uint64_t seed, uint64_t index)
{
	return fg_random_mix(seed + (index + 1) * FG_RANDOM_STEP);
}

/** The next output; @p state starts as the seed. */
static inline uint64_t
fg_random_next(uint64_t *state)
{
	return fg_random_mix(*state += FG_RANDOM_STEP);
}

/** The limit that a random number is below with @p probability, 0 to 1. */
static inline uint64_t
fg_random_limit(double probability)
{
	return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 0x1p64);
}

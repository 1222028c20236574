/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field programs at work. vary.c computes all that does not depend on the frame number: the position of the
 * bytes, and their weight in each checksum. A checksum is a sum modulo 65535 (RFC 1071), so the weight is one
 * factor: 1 or 256 by the place in the word, negative if the range covers only an inner checksum of the
 * bytes. A frame's checksum is the constant sum plus the new values by their factors: no field is read back,
 * and each checksum is folded once for all fields.
 *
 * A burst is processed field by field, not frame by frame. So each loop is short, without branches, with its
 * constants in registers. All loops except the one that writes to the frames work on lanes of 32 bits,
 * several frames at once. A longer field is two lanes, whose sum is the same, since 2^32 is 1 modulo 65535.
 * Counting values, as most are, are computed in lanes; values from lists, random or held values one by one.
 * Lanes are padded to whole vectors, so that no loop has a remainder.
 */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "fg_int128.h"
#include "fg_random.h"
#include "fg_vary.h"
#include "frame_priv.h"

enum { LANES = 8 };
_Static_assert(FG_VARY_BURST % LANES == 0, "bursts are whole vectors");

/* n modulo the program's count by its reciprocal, which makes the quotient exact or one too small */
static inline uint64_t
modulo_count(const struct fg_vary *v, uint64_t n)
{
	uint64_t rest = n - (uint64_t)(((fg_u128)n * v->reciprocal) >> 64) * v->count;

	return rest >= v->count ? rest - v->count : rest;
}

/* value k, at its place in the bytes */
static inline uint64_t
value_at(const struct fg_vary *v, const uint64_t *list, uint64_t k)
{
	return ((list != NULL ? list[k] : v->first + v->step * k) << v->shift) & v->mask;
}

/* the number of the value drawn at an index */
static inline uint64_t
draw(const struct fg_vary *v, uint64_t index)
{
	return (uint64_t)(((fg_u128)fg_random_at(v->seed, index) * v->count) >> 64);
}

/* a value for each frame, one after the other */
static void
count_through(const struct fg_vary *v, const uint64_t *list, uint64_t number, uint64_t *part, unsigned n)
{
	uint64_t k = modulo_count(v, number);

	for (unsigned i = 0; i < n;) {
		unsigned end = v->count - k < n - i ? i + (unsigned)(v->count - k) : n;
		uint64_t value = (v->first + v->step * k) << v->shift, step = v->step << v->shift;

		if (list == NULL)
			for (; i < end; i++, value += step)
				part[i] = value & v->mask;
		else
			for (; i < end; i++, k++)
				part[i] = value_at(v, list, k);
		k = 0;
	}
}

/* values that are held for several frames, or present in one of several */
static void
hold_each(const struct fg_vary *v, const uint64_t *list, uint64_t number, uint64_t *part, unsigned n)
{
	uint64_t index = number / v->period, since = number % v->period;

	for (unsigned i = 0; i < n; i++) {
		part[i] = v->sparse && since != 0
				  ? v->kept
				  : value_at(v, list, v->random ? draw(v, index) : modulo_count(v, index));
		if (++since == v->period) {
			since = 0;
			index++;
		}
	}
}

static void
find_values(const struct fg_vary *v, uint64_t number, uint64_t *part, unsigned n)
{
	const uint64_t *list =
		v->list == 0 ? NULL : (const uint64_t *)(const void *)((const uint8_t *)v + v->list);

	if (v->period != 1)
		hold_each(v, list, number, part, n);
	else if (!v->random)
		count_through(v, list, number, part, n);
	else
		for (unsigned i = 0; i < n; i++)
			part[i] = value_at(v, list, draw(v, number + i));
}

/* Frames of a burst, rounded up to whole vectors; the surplus is not used. */
static inline unsigned
lanes_of(unsigned n)
{
	return (n + LANES - 1) / LANES * LANES;
}

/*
 * write some bytes of a lane, most significant first, and the bytes next to them; a constant number of them
 */
static inline __attribute__((always_inline)) void
store(const uint32_t *big, size_t offset, uint8_t *const *data, unsigned n, unsigned octets)
{
	unsigned i = 0;

	for (; i + 4 <= n; i += 4) {
		memcpy(data[i] + offset, &big[i], octets);
		memcpy(data[i + 1] + offset, &big[i + 1], octets);
		memcpy(data[i + 2] + offset, &big[i + 2], octets);
		memcpy(data[i + 3] + offset, &big[i + 3], octets);
	}
	for (; i < n; i++)
		memcpy(data[i] + offset, &big[i], octets);
}

static inline void
store_octets(const uint32_t *big, size_t offset, unsigned octets, uint8_t *const *data, unsigned n)
{
	switch (octets) {
	case 1:
		return store(big, offset, data, n, 1);
	case 2:
		return store(big, offset, data, n, 2);
	case 3:
		return store(big, offset, data, n, 3);
	default:
		return store(big, offset, data, n, 4);
	}
}

static inline void
write_lane(const uint32_t *lane, uint32_t rest, size_t offset, unsigned octets, uint8_t *const *data,
	   unsigned n)
{
	uint32_t big[FG_VARY_BURST];

	for (unsigned i = 0; i < lanes_of(n); i++)
		big[i] = htobe32((lane[i] | rest) << (32 - 8 * octets));
	store_octets(big, offset, octets, data, n);
}

/* add a lane to the checksums that cover the field */
static inline void
add_lane(const struct fg_template *t, const struct fg_vary *v, const uint32_t *lane,
	 uint32_t (*sum)[FG_VARY_BURST], unsigned n)
{
	uint32_t words[FG_VARY_BURST];

	for (unsigned i = 0; i < lanes_of(n); i++)
		words[i] = (lane[i] & 0xffff) + (lane[i] >> 16);
	for (unsigned j = 0; j < t->checksums; j++) {
		const uint32_t factor = v->factor[j];

		if (factor == 1)
			for (unsigned i = 0; i < lanes_of(n); i++)
				sum[j][i] += words[i];
		else if (factor != 0)
			for (unsigned i = 0; i < lanes_of(n); i++) {
				uint64_t product = (uint64_t)words[i] * factor;

				sum[j][i] += (uint32_t)((product & 0xffff) + (product >> 16 & 0xffff) +
							(product >> 32));
			}
	}
}

/* other bits of the bytes also change */
static void
merge(const struct fg_vary *v, const uint64_t *part, uint8_t *const *data, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned o = 0; o < v->octets; o++) {
			unsigned up = 8 * (v->octets - 1u - o);
			uint8_t *at = data[i] + v->offset + o;

			*at = (uint8_t)((*at & ~(v->mask >> up)) | part[i] >> up);
		}
}

/* a field of any kind: values one by one, in one or two lanes */
static void
vary_any(const struct fg_template *t, const struct fg_vary *v, uint64_t number,
	 uint32_t (*sum)[FG_VARY_BURST], uint8_t *const *data, unsigned n)
{
	const unsigned beyond = v->octets > 4 ? v->octets - 4u : 0;
	uint32_t low[FG_VARY_BURST] = {0}, high[FG_VARY_BURST] = {0};
	uint64_t part[FG_VARY_BURST];

	find_values(v, number, part, n);
	for (unsigned i = 0; i < n; i++)
		low[i] = (uint32_t)part[i];
	if (beyond > 0)
		for (unsigned i = 0; i < n; i++)
			high[i] = (uint32_t)(part[i] >> 32);
	if (v->shared) {
		merge(v, part, data, n);
	} else {
		write_lane(low, (uint32_t)v->rest, v->offset + beyond, v->octets - beyond, data, n);
		if (beyond > 0)
			write_lane(high, (uint32_t)(v->rest >> 32), v->offset, beyond, data, n);
	}
	add_lane(t, v, low, sum, n);
	if (beyond > 0)
		add_lane(t, v, high, sum, n);
}

/*
 * Counting values that do not wrap: one loop, without stores in between. The number of checksums is a
 * constant; the second checksum may be absent.
 */
static inline __attribute__((always_inline)) void
count_lanes(const struct fg_vary *v, uint64_t k, uint32_t (*sum)[FG_VARY_BURST], uint32_t *big, unsigned n,
	    unsigned checksums)
{
	const uint32_t mask = (uint32_t)v->mask, rest = (uint32_t)v->rest, up = 32 - 8 * v->octets;
	const uint32_t step = (uint32_t)(v->step << v->shift), factor = v->factor[0], other = v->factor[1];
	uint32_t value = (uint32_t)((v->first + v->step * k) << v->shift);

	for (unsigned i = 0; i < lanes_of(n); i++, value += step) {
		uint32_t lane = value & mask, words = (lane & 0xffff) + (lane >> 16);

		big[i] = htobe32((lane | rest) << up);
		if (checksums > 0)
			sum[0][i] += words * factor;
		if (checksums > 1)
			sum[1][i] += words * other;
	}
}

/* @return false: take the general way */
static inline bool
vary_counting(const struct fg_template *t, const struct fg_vary *v, uint64_t number,
	      uint32_t (*sum)[FG_VARY_BURST], uint8_t *const *data, unsigned n)
{
	uint32_t big[FG_VARY_BURST];
	uint64_t k;

	if (!v->plain)
		return false;
	k = modulo_count(v, number);
	if (v->count - k < n)
		return false;
	if (t->checksums == 0)
		count_lanes(v, k, sum, big, n, 0);
	else if (t->checksums == 1)
		count_lanes(v, k, sum, big, n, 1);
	else
		count_lanes(v, k, sum, big, n, 2);
	store_octets(big, v->offset, v->octets, data, n);
	return true;
}

static void
write_checksums(const struct fg_vary_checksum *c, const uint32_t *sum, uint8_t *const *data, unsigned n)
{
	const uint32_t instead_of_zero = c->never_zero ? 0xffff : 0;
	const size_t offset = c->offset;
	uint32_t big[FG_VARY_BURST];

	for (unsigned i = 0; i < lanes_of(n); i++) {
		uint32_t s = (sum[i] & 0xffff) + (sum[i] >> 16);

		s = (s & 0xffff) + (s >> 16);
		s = ~s & 0xffff;
		s |= s == 0 ? instead_of_zero : 0;
		big[i] = htobe32(s << 16);
	}
	store(big, offset, data, n, 2);
}

void
fg_vary_burst(const struct fg_template *t, uint64_t number, uint8_t *const *data, unsigned n)
{
	const struct fg_vary *v = fg_template_programs(t), *end = v + t->varies;
	uint32_t sum[FG_MAX_CHECKSUMS][FG_VARY_BURST];

	for (unsigned j = 0; j < t->checksums; j++)
		for (unsigned i = 0; i < lanes_of(n); i++)
			sum[j][i] = t->checksum[j].base;
	for (; v < end; v++)
		if (!vary_counting(t, v, number, sum, data, n))
			vary_any(t, v, number, sum, data, n);
	for (unsigned j = 0; j < t->checksums; j++)
		write_checksums(&t->checksum[j], sum[j], data, n);
}

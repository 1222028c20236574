/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field programs at work. All that does not depend on the number of the frame was worked out when the template was made
 * (vary.c): where the octets stand, and by what a change of them changes each checksum. A checksum is a sum modulo 65535
 * (RFC 1071), so that is one factor: 1 or 256 by the place in its word, below 0 where only an inner checksum, which
 * makes up for the change, is covered. A frame's checksum is then that of a frame without the changing octets, plus
 * their new values by their factors: nothing is read back, and each is folded once, however many fields change.
 *
 * A burst is gone through field by field and not frame by frame. So each loop is short, has its constants in registers
 * and no decision in it, and the processor adds several frames at once.
 */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "fg_int128.h"
#include "fg_vary.h"
#include "frame_priv.h"

/* n modulo the program's count by its reciprocal, which makes the quotient exact or one too small */
static inline uint64_t
modulo_count(const struct fg_vary *v, uint64_t n)
{
	uint64_t rest = n - (uint64_t)(((fg_u128)n * v->reciprocal) >> 64) * v->count;

	return rest >= v->count ? rest - v->count : rest;
}

/* the k-th value, where it belongs in the octets */
static inline uint64_t
value_at(const struct fg_vary *v, const uint64_t *list, uint64_t k)
{
	return ((list != NULL ? list[k] : v->first + v->step * k) << v->shift) & v->mask;
}

/* the number of the value that splitmix64 draws as its index-th */
static inline uint64_t
draw(const struct fg_vary *v, uint64_t index)
{
	uint64_t z = v->seed + (index + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (uint64_t)(((fg_u128)z * v->count) >> 64);
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

/* values that last for several frames, or are there in one of several */
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

/* so many octets of a number, most significant first; a constant number of them */
static inline __attribute__((always_inline)) void
store(const struct fg_vary *v, const uint64_t *part, uint8_t *const *data, unsigned n, unsigned octets)
{
	const uint64_t rest = v->rest;
	const size_t offset = v->offset;

	for (unsigned i = 0; i < n; i++) {
		uint64_t big = htobe64((part[i] | rest) << (64 - 8 * octets));

		memcpy(data[i] + offset, &big, octets);
	}
}

/* beside other bits that change, too */
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

static void
write_octets(const struct fg_vary *v, const uint64_t *part, uint8_t *const *data, unsigned n)
{
	if (v->shared) {
		merge(v, part, data, n);
		return;
	}
	switch (v->octets) {
	case 1:
		return store(v, part, data, n, 1);
	case 2:
		return store(v, part, data, n, 2);
	case 3:
		return store(v, part, data, n, 3);
	case 4:
		return store(v, part, data, n, 4);
	case 5:
		return store(v, part, data, n, 5);
	case 6:
		return store(v, part, data, n, 6);
	case 7:
		return store(v, part, data, n, 7);
	default:
		return store(v, part, data, n, 8);
	}
}

/* sums of the 16-bit words, of at most 18 bits */
static void
fold(const uint64_t *part, uint32_t *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t p = (part[i] & 0xffffffff) + (part[i] >> 32);

		words[i] = (uint32_t)((p & 0xffff) + (p >> 16));
	}
}

static void
add(uint32_t *sum, const uint32_t *words, uint32_t factor, unsigned n)
{
	if (factor == 1)
		for (unsigned i = 0; i < n; i++)
			sum[i] += words[i];
	else
		for (unsigned i = 0; i < n; i++) {
			uint64_t product = (uint64_t)words[i] * factor;

			sum[i] += (uint32_t)((product & 0xffff) + (product >> 16 & 0xffff) + (product >> 32));
		}
}

static void
write_checksums(const struct fg_vary_checksum *c, const uint32_t *sum, uint8_t *const *data, unsigned n)
{
	const uint32_t instead_of_zero = c->never_zero ? 0xffff : 0;
	const size_t offset = c->offset;
	uint16_t checksum[FG_VARY_BURST];

	for (unsigned i = 0; i < n; i++) {
		uint32_t s = (sum[i] & 0xffff) + (sum[i] >> 16);

		s = (s & 0xffff) + (s >> 16);
		s = ~s & 0xffff;
		s |= s == 0 ? instead_of_zero : 0;
		checksum[i] = htobe16((uint16_t)s);
	}
	for (unsigned i = 0; i < n; i++)
		memcpy(data[i] + offset, &checksum[i], 2);
}

void
fg_vary_burst(const struct fg_template *t, uint64_t number, uint8_t *const *data, unsigned n)
{
	const struct fg_vary *v = fg_template_programs(t), *end = v + t->varies;
	uint32_t words[FG_VARY_BURST], sum[FG_MAX_CHECKSUMS][FG_VARY_BURST];
	uint64_t part[FG_VARY_BURST];

	for (unsigned j = 0; j < t->checksums; j++)
		for (unsigned i = 0; i < n; i++)
			sum[j][i] = t->checksum[j].base;
	for (; v < end; v++) {
		find_values(v, number, part, n);
		write_octets(v, part, data, n);
		if (t->checksums == 0)
			continue;
		fold(part, words, n);
		for (unsigned j = 0; j < t->checksums; j++)
			if (v->factor[j] != 0)
				add(sum[j], words, v->factor[j], n);
	}
	for (unsigned j = 0; j < t->checksums; j++)
		write_checksums(&t->checksum[j], sum[j], data, n);
}

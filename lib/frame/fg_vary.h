/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_VARY_H
#define FG_VARY_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fg_frame.h"
#include "fg_int128.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Field programs: how header fields change from frame to frame. What a frame carries follows from its number alone,
 * so frames can be made again, and on any lcore. Where a field stands, how wide it is and which checksums cover it
 * was worked out when the template was made; here bytes are changed and those checksums mended by the difference
 * (RFC 1624), never computed again.
 */

/** Of frame @p n, the value of the field: first + step * k. */
static inline uint64_t
fg_vary_value(const struct fg_vary *v, uint64_t n)
{
	uint64_t z;

	n /= v->every;
	if (!v->random)
		return v->first + v->step * (n % v->count);
	/* the n-th output of splitmix64 */
	z = v->seed + (n + 1) * 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return v->first + v->step * (uint64_t)(((fg_u128)z * v->count) >> 64);
}

/** Replace 16-bit words that sum to @p old by others that sum to @p new_ under the checksum at @p at. */
static inline void
fg_vary_mend(uint8_t *at, uint64_t old, uint64_t new_, bool never_zero)
{
	uint16_t checksum;
	uint64_t sum;

	memcpy(&checksum, at, 2);
	sum = (uint64_t)(uint16_t)~be16toh(checksum) + (0xffff - old) + new_;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	checksum = (uint16_t)~sum;
	if (checksum == 0 && never_zero)
		checksum = 0xffff;
	checksum = htobe16(checksum);
	memcpy(at, &checksum, 2);
}

/** One's complement sum of the four 16-bit words of a 64-bit number, folded. */
static inline uint64_t
fg_vary_sum(uint64_t value)
{
	value = (value >> 32) + (value & 0xffffffff);
	value = (value >> 16) + (value & 0xffff);
	value = (value >> 16) + (value & 0xffff);
	return (value >> 16) + (value & 0xffff);
}

/** Make frame @p n of what holds the template's header: one field. */
static inline void
fg_vary_apply(const struct fg_vary *v, uint8_t *frame, uint64_t n)
{
	uint64_t old = 0, new_;

	if (n % v->every != 0)
		return;
	/* the octets of the field, right-aligned as a big-endian number */
	memcpy((uint8_t *)&old + 8 - v->octets, frame + v->offset, v->octets);
	old = be64toh(old);
	new_ = (old & ~v->mask) | ((fg_vary_value(v, n) << v->shift) & v->mask);
	for (unsigned i = 0; i < v->checksums; i++) {
		/* a field that ends on an even offset ends with the high octet of a word */
		unsigned up = 8 * ((v->offset + v->octets) & 1);

		fg_vary_mend(frame + v->checksum[i], fg_vary_sum(old << up), fg_vary_sum(new_ << up),
			     v->never_zero[i]);
	}
	new_ = htobe64(new_);
	memcpy(frame + v->offset, (uint8_t *)&new_ + 8 - v->octets, v->octets);
}

#ifdef __cplusplus
}
#endif
#endif

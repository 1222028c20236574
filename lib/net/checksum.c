/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum. Sums are kept in 64 bits and in memory order, so words need no swapping; a result
 * leaves room to add 2^30 more. The result is in network order because the sum is independent of byte order
 * (RFC 1071, 2 (B)).
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_checksum.h"

/* words of any even length add up to the same, since 2^16 is 1 here; so is 2^64, and the carry comes round */
static inline uint64_t
plus(uint64_t sum, const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	sum += word;
	return sum + (sum < word);
}

uint64_t
fg_checksum_add(uint64_t sum, const void *data, size_t length)
{
	const uint8_t *p = data;
	uint32_t four;
	uint16_t two;

	for (size_t n = length / 16; n > 0; n--, p += 16)
		sum = plus(plus(sum, p), p + 8);
	if (length & 8) {
		sum = plus(sum, p);
		p += 8;
	}
	sum = (sum & UINT32_MAX) + (sum >> 32);
	if (length & 4) {
		memcpy(&four, p, 4);
		sum += four;
		p += 4;
	}
	if (length & 2) {
		memcpy(&two, p, 2);
		sum += two;
		p += 2;
	}
	if (length & 1) {
		two = 0;
		memcpy(&two, p, 1);
		sum += two;
	}
	return sum;
}

uint64_t
fg_checksum_pseudo6(const struct fg_ipv6 *ip, uint8_t protocol, uint32_t length)
{
	uint32_t tail[2] = {htonl(length), htonl(protocol)};

	return fg_checksum_add(fg_checksum_add(0, ip->src, 32), tail, sizeof(tail));
}

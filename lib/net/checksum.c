/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum. Sums are kept in 64 bits and in memory order, so words need no swapping and 2^32
 * octets cannot overflow; only finish() folds. The result is in network order because the sum is independent
 * of byte order (RFC 1071, 2 (B)).
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_net.h"

uint64_t
fg_checksum_add(uint64_t sum, const void *data, size_t length)
{
	const uint8_t *p = data;
	uint16_t word;
	uint32_t two[2];

	/* words of 32 bits add up to the same, since 2^16 is 1 here */
	for (; length >= 8; p += 8, length -= 8) {
		memcpy(two, p, 8);
		sum += (uint64_t)two[0] + two[1];
	}
	for (; length >= 2; p += 2, length -= 2) {
		memcpy(&word, p, 2);
		sum += word;
	}
	if (length == 1) {
		word = 0;
		memcpy(&word, p, 1);
		sum += word;
	}
	return sum;
}

uint16_t
fg_checksum_finish(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint64_t
fg_checksum_pseudo4(const struct fg_ipv4 *ip, uint8_t protocol, uint16_t length)
{
	return fg_checksum_add(0, ip->src, 8) + htons(protocol) + htons(length);
}

uint64_t
fg_checksum_pseudo6(const struct fg_ipv6 *ip, uint8_t protocol, uint32_t length)
{
	uint32_t tail[2] = {htonl(length), htonl(protocol)};

	return fg_checksum_add(fg_checksum_add(0, ip->src, 32), tail, sizeof(tail));
}

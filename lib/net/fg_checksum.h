/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <arpa/inet.h>
#include <string.h>

#include "fg_net.h"

__BEGIN_DECLS

/*
 * The Internet checksum. A sum is made of parts by fg_checksum_add() and the pseudo-headers, and finished.
 */

/** One's complement sum of @p length bytes, added to @p sum (RFC 1071). Not folded, not inverted. */
uint64_t fg_checksum_add(uint64_t sum, const void *data, size_t length);

/**
 * Fold and invert a sum: the checksum in network byte order, ready to store. Adding the sum rotated by half
 * its width leaves the folded sum, with the end-around carry, in the upper half.
 */
static inline uint16_t
fg_checksum_finish(uint64_t sum)
{
	uint32_t half;

	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t) ~(half >> 16);
}

/** Sum of the IPv4 pseudo-header (RFC 768) for an upper protocol of @p length bytes. */
static inline uint64_t
fg_checksum_pseudo4(const struct fg_ipv4 *ip, uint8_t protocol, uint16_t length)
{
	uint32_t src, dst;

	memcpy(&src, ip->src, 4);
	memcpy(&dst, ip->dst, 4);
	return (uint64_t)src + dst + htons(protocol) + htons(length);
}

/** Sum of the IPv6 pseudo-header (RFC 8200, 8.1). */
uint64_t fg_checksum_pseudo6(const struct fg_ipv6 *ip, uint8_t protocol, uint32_t length);

__END_DECLS

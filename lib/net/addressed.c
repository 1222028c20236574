/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To which address a neighbour sends. With thousands of addresses a host finds the frame's address first, and
 * verifies the rest of the frame afterwards.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

static int
about6(const struct fg_ipv6 *ip, size_t length, uint8_t address[16])
{
	const struct fg_neighbour *nd = (const struct fg_neighbour *)(ip + 1);
	bool asks = length >= sizeof(*ip) + NET_ND_MIN && ip->next_header == FG_IP_ICMPV6 &&
		    nd->icmp.type == NET_SOLICITATION;

	memcpy(address, asks ? nd->target : ip->dst, 16);
	return 6;
}

int
fg_net_addressed(const uint8_t *frame, size_t length, size_t tags, uint8_t address[16])
{
	const uint8_t *content = frame + FG_ETHER_HEADER + tags;
	uint16_t type;

	if (length < FG_ETHER_HEADER + tags + sizeof(struct fg_ipv4))
		return 0;
	length -= FG_ETHER_HEADER + tags;
	memcpy(&type, content - sizeof(type), sizeof(type));
	memset(address, 0, 16);
	switch (ntohs(type)) {
	case FG_ETHER_ARP:
		if (length < sizeof(struct fg_arp))
			return 0;
		memcpy(address, ((const struct fg_arp *)content)->target_ip, 4);
		return 4;
	case FG_ETHER_IPV4:
		memcpy(address, ((const struct fg_ipv4 *)content)->dst, 4);
		return 4;
	case FG_ETHER_IPV6:
		return length < sizeof(struct fg_ipv6)
			       ? 0
			       : about6((const struct fg_ipv6 *)content, length, address);
	default:
		return 0;
	}
}

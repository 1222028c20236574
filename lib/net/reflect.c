/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame sent back where it came from: source and destination change places in each header. The checksums
 * sum addresses and ports in any order, so they do not change, right or wrong.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_net.h"

enum { PORTS = 4, IPV4_FRAGMENT_OFFSET = 0x1fff };

static inline void
swap(uint8_t *a, uint8_t *b, size_t n)
{
	uint8_t keep[16];

	memcpy(keep, a, n);
	memcpy(a, b, n);
	memcpy(b, keep, n);
}

static void
swap_ports(uint8_t protocol, uint8_t *header, size_t length)
{
	if (length >= PORTS && (protocol == FG_IP_UDP || protocol == FG_IP_TCP || protocol == FG_IP_SCTP))
		swap(header, header + PORTS / 2, PORTS / 2);
}

static bool
reflect_ipv4(uint8_t *packet, size_t length)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)packet;
	size_t header;

	if (length < sizeof(*ip))
		return false;
	header = 4u * (ip->version_ihl & 15u);
	if (header < sizeof(*ip) || length < header || ip->protocol == FG_IP_ICMP)
		return false;
	swap(ip->src, ip->dst, sizeof(ip->src));
	if ((ntohs(ip->fragment) & IPV4_FRAGMENT_OFFSET) == 0)
		swap_ports(ip->protocol, packet + header, length - header);
	return true;
}

static bool
reflect_ipv6(uint8_t *packet, size_t length)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)packet;

	if (length < sizeof(*ip) || ip->next_header == FG_IP_ICMPV6)
		return false;
	swap(ip->src, ip->dst, sizeof(ip->src));
	swap_ports(ip->next_header, packet + sizeof(*ip), length - sizeof(*ip));
	return true;
}

bool
fg_net_reflect(uint8_t *frame, size_t length)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	size_t at;
	uint16_t type;
	bool goes = true;

	/* a frame to a group is not sent back: its source would become a group */
	if (length < sizeof(*ether) || ((ether->dst[0] | ether->src[0]) & 1) != 0)
		return false;
	at = fg_net_type_at(frame, length) + 2;
	type = fg_get16(frame + at - 2);
	if (type == FG_ETHER_ARP || fg_net_is_tag(type))
		return false;
	if (type == FG_ETHER_IPV4)
		goes = reflect_ipv4(frame + at, length - at);
	else if (type == FG_ETHER_IPV6)
		goes = reflect_ipv6(frame + at, length - at);
	if (goes)
		swap(ether->dst, ether->src, sizeof(ether->dst));
	return goes;
}

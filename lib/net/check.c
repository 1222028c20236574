/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a message from a neighbour well-formed? */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

bool
net_is_arp(const struct fg_arp *arp)
{
	return arp->hardware == htons(1) && arp->protocol == htons(FG_ETHER_IPV4) &&
	       arp->hardware_length == 6 && arp->protocol_length == 4;
}

size_t
net_icmpv6(const struct fg_ether *ether, size_t length)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(ether + 1);
	const struct fg_icmp *icmp = (const struct fg_icmp *)(ip + 1);
	size_t payload;

	if (length < sizeof(*ether) + sizeof(*ip) + sizeof(*icmp) || ether->type != htons(FG_ETHER_IPV6) ||
	    ntohl(ip->version_class_flow) >> 28 != 6 || ip->next_header != FG_IP_ICMPV6)
		return 0;
	payload = ntohs(ip->payload_length);
	if (payload < sizeof(*icmp) || sizeof(*ether) + sizeof(*ip) + payload > length ||
	    fg_checksum_finish(fg_checksum_add(fg_checksum_pseudo6(ip, FG_IP_ICMPV6, (uint32_t)payload), icmp,
					       payload)) != 0)
		return 0;
	return payload;
}

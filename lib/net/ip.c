/* SPDX-License-Identifier: BSD-3-Clause */
/* Write and verify the headers of all messages of a host. */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum { IPV4_FRAGMENT = 0x3fff, LEAST = 8 /* bytes of the shortest message: ICMP, UDP */ };

bool
net_is_arp(const struct fg_arp *arp)
{
	return arp->hardware == htons(1) && arp->protocol == htons(FG_ETHER_IPV4) &&
	       arp->hardware_length == 6 && arp->protocol_length == 4;
}

size_t
net_ipv4(const struct fg_ether *ether, size_t length, uint8_t protocol)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(ether + 1);
	size_t total;

	if (length < sizeof(*ether) + sizeof(*ip) + LEAST || ether->type != htons(FG_ETHER_IPV4) ||
	    ip->version_ihl != 0x45 || ip->protocol != protocol || (ip->fragment & htons(IPV4_FRAGMENT)) != 0)
		return 0;
	total = ntohs(ip->length);
	if (total < sizeof(*ip) + LEAST || sizeof(*ether) + total > length ||
	    fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip))) != 0)
		return 0;
	return total - sizeof(*ip);
}

size_t
net_icmp(const struct fg_ether *ether, size_t length)
{
	const void *icmp = (const struct fg_ipv4 *)(ether + 1) + 1;
	size_t content = net_ipv4(ether, length, FG_IP_ICMP);

	return content > 0 && fg_checksum_finish(fg_checksum_add(0, icmp, content)) == 0 ? content : 0;
}

size_t
net_icmpv6(const struct fg_ether *ether, size_t length)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(ether + 1);
	size_t payload;

	if (length < sizeof(*ether) + sizeof(*ip) + LEAST || ether->type != htons(FG_ETHER_IPV6) ||
	    ntohl(ip->version_class_flow) >> 28 != 6 || ip->next_header != FG_IP_ICMPV6)
		return 0;
	payload = ntohs(ip->payload_length);
	if (payload < LEAST || sizeof(*ether) + sizeof(*ip) + payload > length ||
	    fg_checksum_finish(fg_checksum_add(fg_checksum_pseudo6(ip, FG_IP_ICMPV6, (uint32_t)payload),
					       ip + 1, payload)) != 0)
		return 0;
	return payload;
}

void
net_put_ether(const struct fg_host *host, const uint8_t to[6], uint16_t type, struct fg_ether *ether)
{
	memcpy(ether->dst, to, 6);
	memcpy(ether->src, host->mac, 6);
	ether->type = htons(type);
}

void
fg_ipv4_finish(struct fg_ipv4 *ip, const uint8_t src[4], const uint8_t dst[4], size_t header, size_t content)
{
	ip->version_ihl = (uint8_t)(0x40 | header / 4);
	ip->length = htons((uint16_t)(header + content));
	memcpy(ip->src, src, 4);
	memcpy(ip->dst, dst, 4);
	ip->checksum = 0;
	ip->checksum = fg_checksum_finish(fg_checksum_add(0, ip, header));
}

void
net_put_checksum(void *message, uint64_t pseudo, size_t length)
{
	struct fg_icmp *icmp = message;

	icmp->checksum = 0;
	icmp->checksum = fg_checksum_finish(fg_checksum_add(pseudo, message, length));
}

void
fg_ipv6_put(struct fg_ipv6 *ip, const uint8_t src[16], const uint8_t dst[16], uint8_t next, uint8_t hops,
	    size_t payload)
{
	*ip = (struct fg_ipv6){.version_class_flow = htonl(6U << 28),
			       .payload_length = htons((uint16_t)payload),
			       .next_header = next,
			       .hop_limit = hops};
	memcpy(ip->src, src, 16);
	memcpy(ip->dst, dst, 16);
}

void
net_finish_icmpv6(const struct fg_ipv6 *ip, void *message, size_t length)
{
	net_put_checksum(message, fg_checksum_pseudo6(ip, FG_IP_ICMPV6, (uint32_t)length), length);
}

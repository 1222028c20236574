/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams over IPv4: the tester's management queries and routing updates. */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum { TTL = 10 }; /* as the test frames of RFC 2544 */

size_t
net_udp(const struct fg_host *host, const struct net_udp *o, uint8_t *frame)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	struct fg_ipv4 *ip = (struct fg_ipv4 *)(ether + 1);
	struct fg_udp *udp = (struct fg_udp *)(ip + 1);
	uint16_t length = (uint16_t)(sizeof(*udp) + o->content);

	memcpy(ether->dst, o->mac, 6);
	memcpy(ether->src, host->mac, 6);
	ether->type = htons(FG_ETHER_IPV4);
	*ip = (struct fg_ipv4){
		.version_ihl = 0x45,
		.length = htons((uint16_t)(sizeof(*ip) + length)),
		.ttl = TTL,
		.protocol = FG_IP_UDP,
	};
	memcpy(ip->src, host->ipv4, 4);
	memcpy(ip->dst, o->address, 4);
	ip->checksum = fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip)));
	*udp = (struct fg_udp){
		.src = htons(o->from),
		.dst = htons(o->to),
		.length = htons(length),
	};
	udp->checksum =
		fg_checksum_finish(fg_checksum_add(fg_checksum_pseudo4(ip, FG_IP_UDP, length), udp, length));
	if (udp->checksum == 0) /* 0 means no checksum */
		udp->checksum = 0xffff;
	return sizeof(*ether) + sizeof(*ip) + length;
}

size_t
net_udp_content(const struct fg_host *host, uint16_t port, const uint8_t *frame, size_t length)
{
	const struct fg_ether *ether = (const struct fg_ether *)frame;
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(ether + 1);
	const struct fg_udp *udp = (const struct fg_udp *)(ip + 1);
	size_t total, octets;

	if (length < NET_UDP_CONTENT || ether->type != htons(FG_ETHER_IPV4) || !host->has_ipv4 ||
	    ip->version_ihl != 0x45 || ip->protocol != FG_IP_UDP || (ip->fragment & htons(0x3fff)) != 0 ||
	    memcmp(ip->dst, host->ipv4, 4) != 0 || udp->dst != htons(port))
		return 0;
	total = ntohs(ip->length);
	octets = ntohs(udp->length);
	if (octets < sizeof(*udp) || sizeof(*ip) + octets > total || sizeof(*ether) + total > length ||
	    fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip))) != 0 ||
	    (udp->checksum != 0 &&
	     fg_checksum_finish(fg_checksum_add(fg_checksum_pseudo4(ip, FG_IP_UDP, (uint16_t)octets), udp,
						octets)) != 0))
		return 0;
	return octets - sizeof(*udp);
}

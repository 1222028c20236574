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

	net_put_ether(host, o->mac, FG_ETHER_IPV4, ether);
	*ip = (struct fg_ipv4){.ttl = TTL, .protocol = FG_IP_UDP};
	fg_ipv4_finish(ip, host->ipv4, o->address, sizeof(*ip), length);
	*udp = (struct fg_udp){.src = htons(o->from), .dst = htons(o->to), .length = htons(length)};
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
	size_t bytes;

	if (length < NET_UDP_CONTENT || !host->has_ipv4 || memcmp(ip->dst, host->ipv4, 4) != 0 ||
	    udp->dst != htons(port))
		return 0;
	bytes = ntohs(udp->length);
	if (bytes < sizeof(*udp) || bytes > net_ipv4(ether, length, FG_IP_UDP) ||
	    (udp->checksum != 0 &&
	     fg_checksum_finish(
		     fg_checksum_add(fg_checksum_pseudo4(ip, FG_IP_UDP, (uint16_t)bytes), udp, bytes)) != 0))
		return 0;
	return bytes - sizeof(*udp);
}

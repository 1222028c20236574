/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answering for the tester's own addresses. A router under test asks for the MAC of its next hop, and a
 * person who pings the tester expects a reply; both must be served or the device has nowhere to send the test
 * frames. A question is turned into its answer in place: the same buffer goes back out.
 *
 * A damaged question gets no answer: its checksums are computed anew, so an answer would hide what the device
 * did to it.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

/* the last four bytes count up, as IPv4 addresses do */
static bool
is_within(const struct fg_host *host, const uint8_t *first, const uint8_t *address, size_t length)
{
	uint32_t a, b;

	memcpy(&a, first + length - 4, 4);
	memcpy(&b, address + length - 4, 4);
	return memcmp(first, address, length - 4) == 0 &&
	       ntohl(b) - ntohl(a) < (host->addresses == 0 ? 1 : host->addresses);
}

static bool
owns4(const struct fg_host *host, const uint8_t address[4])
{
	return is_within(host, host->ipv4, address, 4);
}

static bool
owns6(const struct fg_host *host, const uint8_t address[16])
{
	return is_within(host, host->ipv6, address, 16);
}

static void
turn_around(const struct fg_host *host, struct fg_ether *ether)
{
	memcpy(ether->dst, ether->src, 6);
	memcpy(ether->src, host->mac, 6);
}

static size_t
answer_arp(const struct fg_host *host, struct fg_ether *ether, size_t length)
{
	struct fg_arp *arp = (struct fg_arp *)(ether + 1);
	uint8_t asked[4];

	if (length < sizeof(*ether) + sizeof(*arp) || !host->has_ipv4 || !net_is_arp(arp) ||
	    arp->operation != htons(1) || !owns4(host, arp->target_ip) || owns4(host, arp->sender_ip))
		return 0;
	arp->operation = htons(2);
	memcpy(asked, arp->target_ip, 4);
	memcpy(arp->target_mac, arp->sender_mac, 6);
	memcpy(arp->target_ip, arp->sender_ip, 4);
	memcpy(arp->sender_mac, host->mac, 6);
	memcpy(arp->sender_ip, asked, 4);
	turn_around(host, ether);
	return sizeof(*ether) + sizeof(*arp);
}

static size_t
answer_ipv4(const struct fg_host *host, struct fg_ether *ether, size_t length)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)(ether + 1);
	struct fg_icmp *icmp = (struct fg_icmp *)(ip + 1);
	size_t content = host->has_ipv4 ? net_icmp(ether, length) : 0;
	struct fg_ipv4 asked;

	if (content == 0 || !owns4(host, ip->dst) || icmp->type != FG_ICMP_ECHO)
		return 0;
	asked = *ip;
	icmp->type = FG_ICMP_ECHO_REPLY;
	net_put_checksum(icmp, 0, content);
	ip->ttl = 64;
	fg_ipv4_finish(ip, asked.dst, asked.src, sizeof(*ip), content);
	turn_around(host, ether);
	return sizeof(*ether) + sizeof(*ip) + content;
}

/* RFC 4861, 7.2.4 */
static size_t
answer_solicitation(const struct fg_host *host, struct fg_ether *ether, size_t payload)
{
	static const uint8_t unspecified[16], all_nodes[16] = {0xff, 0x02, [15] = 1};
	static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);
	struct fg_neighbour *nd = (struct fg_neighbour *)(ip + 1);
	bool addressed = memcmp(ip->src, unspecified, 16) != 0;

	/* the option may be missing: a solicitation has at least 24 bytes, the advertisement 32 */
	if (payload < NET_ND_MIN || ip->hop_limit != 255 || nd->icmp.code != 0 || !owns6(host, nd->target))
		return 0;
	nd->icmp.type = NET_ADVERTISEMENT;
	nd->icmp.rest = htonl(addressed ? NET_ND_SOLICITED | NET_ND_OVERRIDE : NET_ND_OVERRIDE);
	nd->option_type = 2;
	nd->option_length = 1;
	memcpy(nd->option_mac, host->mac, 6);
	memcpy(ip->dst, addressed ? ip->src : all_nodes, 16);
	memcpy(ip->src, nd->target, 16);
	ip->payload_length = htons(sizeof(*nd));
	net_finish_icmpv6(ip, nd, sizeof(*nd));
	turn_around(host, ether);
	if (!addressed) /* the sender has no address yet: it checks whether ours is free */
		memcpy(ether->dst, all_nodes_mac, 6);
	return sizeof(*ether) + sizeof(*ip) + sizeof(*nd);
}

static size_t
answer_ipv6(const struct fg_host *host, struct fg_ether *ether, size_t length)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);
	struct fg_icmp *icmp = (struct fg_icmp *)(ip + 1);
	size_t payload = net_icmpv6(ether, length);
	uint8_t asked[16];

	if (payload == 0 || !host->has_ipv6)
		return 0;
	if (icmp->type == NET_SOLICITATION)
		return answer_solicitation(host, ether, payload);
	if (icmp->type != FG_ICMPV6_ECHO || !owns6(host, ip->dst))
		return 0;
	icmp->type = FG_ICMPV6_ECHO_REPLY;
	memcpy(asked, ip->dst, 16);
	memcpy(ip->dst, ip->src, 16);
	memcpy(ip->src, asked, 16);
	ip->hop_limit = 64;
	net_finish_icmpv6(ip, icmp, payload);
	turn_around(host, ether);
	return sizeof(*ether) + sizeof(*ip) + payload;
}

size_t
fg_net_answer(const struct fg_host *host, uint8_t *frame, size_t length)
{
	struct fg_ether *ether = (struct fg_ether *)frame;

	if (length < sizeof(*ether))
		return 0;
	switch (ntohs(ether->type)) {
	case FG_ETHER_ARP:
		return answer_arp(host, ether, length);
	case FG_ETHER_IPV4:
		return answer_ipv4(host, ether, length);
	case FG_ETHER_IPV6:
		return answer_ipv6(host, ether, length);
	default:
		return 0;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolving a neighbour's MAC, over IPv4 (ARP, RFC 826) and IPv6 (Neighbor Discovery, RFC 4861), and
 * announcing the tester's own, which is also the learning frame of RFC 2544, 23.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

size_t
fg_net_ask_ipv4(const struct fg_host *host, const uint8_t target[4], uint8_t *out)
{
	struct fg_ether *ether = (struct fg_ether *)out;
	struct fg_arp *arp = (struct fg_arp *)(ether + 1);

	net_put_ether(host, broadcast, FG_ETHER_ARP, ether);
	*arp = (struct fg_arp){
		.hardware = htons(1),
		.protocol = htons(FG_ETHER_IPV4),
		.hardware_length = 6,
		.protocol_length = 4,
		.operation = htons(1),
	};
	memcpy(arp->sender_mac, host->mac, 6);
	memcpy(arp->sender_ip, host->ipv4, 4);
	memcpy(arp->target_ip, target, 4);
	return sizeof(*ether) + sizeof(*arp);
}

/* to a group of the link */
static size_t
neighbour_message(const struct fg_host *host, uint8_t type, const uint8_t to[16], const uint8_t target[16],
		  uint8_t *out)
{
	const uint8_t mac[6] = {0x33, 0x33, to[12], to[13], to[14], to[15]};
	struct fg_ether *ether = (struct fg_ether *)out;
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);
	struct fg_neighbour *nd = (struct fg_neighbour *)(ip + 1);
	bool asks = type == NET_SOLICITATION;

	net_put_ether(host, mac, FG_ETHER_IPV6, ether);
	fg_ipv6_put(ip, host->ipv6, to, FG_IP_ICMPV6, 255, sizeof(*nd));
	*nd = (struct fg_neighbour){.icmp = {.type = type, .rest = asks ? 0 : htonl(NET_ND_OVERRIDE)},
				    .option_type = asks ? 1 : 2,
				    .option_length = 1};
	memcpy(nd->target, target, 16);
	memcpy(nd->option_mac, host->mac, 6);
	net_finish_icmpv6(ip, nd, sizeof(*nd));
	return sizeof(*ether) + sizeof(*ip) + sizeof(*nd);
}

size_t
fg_net_ask_ipv6(const struct fg_host *host, const uint8_t target[16], uint8_t *out)
{
	/* solicited-node group: ff02::1:ff and the last 24 bits (RFC 4291, 2.7.1) */
	const uint8_t group[16] = {
		0xff, 2, [11] = 1, [12] = 0xff, [13] = target[13], [14] = target[14], [15] = target[15]};

	return neighbour_message(host, NET_SOLICITATION, group, target, out);
}

size_t
fg_net_announce_ipv6(const struct fg_host *host, uint8_t *out)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};

	return neighbour_message(host, NET_ADVERTISEMENT, all_nodes, host->ipv6, out);
}

bool
fg_net_learn_ipv4(const uint8_t *frame, size_t length, const uint8_t address[4], uint8_t mac[6])
{
	const struct fg_ether *ether = (const struct fg_ether *)frame;
	const struct fg_arp *arp = (const struct fg_arp *)(ether + 1);

	if (length < sizeof(*ether) + sizeof(*arp) || ether->type != htons(FG_ETHER_ARP) ||
	    !net_is_arp(arp) || memcmp(arp->sender_ip, address, 4) != 0)
		return false;
	memcpy(mac, arp->sender_mac, 6);
	return true;
}

bool
fg_net_learn_ipv6(const uint8_t *frame, size_t length, const uint8_t address[16], uint8_t mac[6])
{
	const struct fg_ether *ether = (const struct fg_ether *)frame;
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(ether + 1);
	const struct fg_neighbour *nd = (const struct fg_neighbour *)(ip + 1);
	size_t payload = net_icmpv6(ether, length);
	bool has_option;

	if (payload < NET_ND_MIN || ip->hop_limit != 255 || nd->icmp.type != NET_ADVERTISEMENT ||
	    nd->icmp.code != 0 || memcmp(nd->target, address, 16) != 0)
		return false;
	/* an advertisement without the option answers a unicast question: the sender is the neighbour */
	has_option = payload >= sizeof(*nd) && nd->option_type == 2 && nd->option_length == 1;
	memcpy(mac, has_option ? nd->option_mac : ether->src, 6);
	return true;
}

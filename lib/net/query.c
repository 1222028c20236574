/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking for and learning a neighbour's MAC, over IPv4 (ARP, RFC 826) and IPv6 (Neighbor Discovery, RFC
 * 4861), and announcing our own, which is also the learning frame of RFC 2544, 23.
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

	memcpy(ether->dst, broadcast, 6);
	memcpy(ether->src, host->mac, 6);
	ether->type = htons(FG_ETHER_ARP);
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

/* everything but the destination, which differs between asking and announcing */
static size_t
neighbour_message(const struct fg_host *host, uint8_t type, const uint8_t target[16], uint8_t *out)
{
	struct fg_ether *ether = (struct fg_ether *)out;
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);
	struct fg_neighbour *nd = (struct fg_neighbour *)(ip + 1);

	memcpy(ether->src, host->mac, 6);
	ether->type = htons(FG_ETHER_IPV6);
	ether->dst[0] = ether->dst[1] = 0x33;
	memcpy(ether->dst + 2, ip->dst + 12, 4);
	ip->version_class_flow = htonl(6U << 28);
	ip->payload_length = htons(sizeof(*nd));
	ip->next_header = FG_IP_ICMPV6;
	ip->hop_limit = 255;
	memcpy(ip->src, host->ipv6, 16);
	*nd = (struct fg_neighbour){.icmp.type = type, .option_length = 1};
	nd->option_type = type == NET_SOLICITATION ? 1 : 2;
	nd->icmp.rest = type == NET_SOLICITATION ? 0 : htonl(NET_ND_OVERRIDE);
	memcpy(nd->target, target, 16);
	memcpy(nd->option_mac, host->mac, 6);
	nd->icmp.checksum = fg_checksum_finish(
		fg_checksum_add(fg_checksum_pseudo6(ip, FG_IP_ICMPV6, sizeof(*nd)), nd, sizeof(*nd)));
	return sizeof(*ether) + sizeof(*ip) + sizeof(*nd);
}

size_t
fg_net_ask_ipv6(const struct fg_host *host, const uint8_t target[16], uint8_t *out)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(out + FG_ETHER_HEADER);

	/* solicited-node group: ff02::1:ff and the last 24 bits (RFC 4291, 2.7.1) */
	memcpy(ip->dst, "\xff\x02\0\0\0\0\0\0\0\0\0\x01\xff", 13);
	memcpy(ip->dst + 13, target + 13, 3);
	return neighbour_message(host, NET_SOLICITATION, target, out);
}

size_t
fg_net_announce_ipv6(const struct fg_host *host, uint8_t *out)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(out + FG_ETHER_HEADER);

	memcpy(ip->dst, "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	return neighbour_message(host, NET_ADVERTISEMENT, host->ipv6, out);
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

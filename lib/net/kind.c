/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kind of frame is this? If unsolicited frames arrive, a user needs to know their sender: a bridge
 * (STP, LACP, LLDP), a host (ARP, ND), or a congested device (pause). Tags are skipped.
 */
#include "fg_net.h"

enum { TYPE_LLDP = 0x88cc, TYPE_SLOW = 0x8809, TYPE_CONTROL = 0x8808, TYPE_MPLS = 0x8847 };
enum { LENGTHS = 0x0600, LLC_STP = 0x42, SLOW_LACP = 1 };
enum { ND_FIRST = 133, ND_LAST = 137, MLD_FIRST = 130, MLD_LAST = 132, MLD2_REPORT = 143 };

static enum fg_net_kind
kind_of_ipv4(const uint8_t *packet, size_t length)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)packet;

	if (length < sizeof(*ip))
		return FG_NET_KIND_IPV4;
	if (ip->protocol == FG_IP_ICMP)
		return FG_NET_KIND_ICMP;
	return ip->protocol == FG_IP_IGMP ? FG_NET_KIND_MEMBERSHIP : FG_NET_KIND_IPV4;
}

static enum fg_net_kind
kind_of_ipv6(const uint8_t *packet, size_t length)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)packet;
	size_t at = sizeof(*ip);
	uint8_t next, type;

	if (length < at)
		return FG_NET_KIND_IPV6;
	next = ip->next_header;
	if (next == FG_IP_HOP_BY_HOP && length > at + 1) { /* MLD has a router alert */
		next = packet[at];
		at += (packet[at + 1] + (size_t)1) * 8;
	}
	if (next != FG_IP_ICMPV6 || length <= at)
		return FG_NET_KIND_IPV6;
	type = packet[at];
	if (type >= ND_FIRST && type <= ND_LAST)
		return FG_NET_KIND_ND;
	if ((type >= MLD_FIRST && type <= MLD_LAST) || type == MLD2_REPORT)
		return FG_NET_KIND_MEMBERSHIP;
	return FG_NET_KIND_ICMP;
}

enum fg_net_kind
fg_net_kind(const uint8_t *frame, size_t length)
{
	size_t at = fg_net_type_at(frame, length);
	const uint8_t *inside;
	uint16_t type;

	if (length < at + 2)
		return FG_NET_KIND_OTHER;
	type = fg_get16(frame + at);
	inside = frame + at + 2;
	length -= at + 2;
	switch (type) {
	case FG_ETHER_ARP:
		return FG_NET_KIND_ARP;
	case FG_ETHER_IPV4:
		return kind_of_ipv4(inside, length);
	case FG_ETHER_IPV6:
		return kind_of_ipv6(inside, length);
	case TYPE_MPLS:
		return FG_NET_KIND_MPLS;
	case TYPE_LLDP:
		return FG_NET_KIND_LLDP;
	case TYPE_CONTROL:
		return FG_NET_KIND_PAUSE;
	case TYPE_SLOW:
		return length > 0 && inside[0] == SLOW_LACP ? FG_NET_KIND_LACP : FG_NET_KIND_OTHER;
	default:
		return type < LENGTHS && length > 0 && inside[0] == LLC_STP ? FG_NET_KIND_STP
									    : FG_NET_KIND_OTHER;
	}
}

const char *
fg_net_kind_name(enum fg_net_kind kind)
{
	static const char *const names[FG_NET_KINDS] = {
		[FG_NET_KIND_TEST] = "test",   [FG_NET_KIND_ARP] = "arp",
		[FG_NET_KIND_ND] = "nd",       [FG_NET_KIND_ICMP] = "icmp",
		[FG_NET_KIND_IPV4] = "ipv4",   [FG_NET_KIND_IPV6] = "ipv6",
		[FG_NET_KIND_MPLS] = "mpls",   [FG_NET_KIND_LLDP] = "lldp",
		[FG_NET_KIND_STP] = "stp",     [FG_NET_KIND_LACP] = "lacp",
		[FG_NET_KIND_PAUSE] = "pause", [FG_NET_KIND_MEMBERSHIP] = "membership",
		[FG_NET_KIND_OTHER] = "other",
	};

	return kind < FG_NET_KINDS ? names[kind] : NULL;
}

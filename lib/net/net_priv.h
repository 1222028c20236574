/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_checksum.h"

/* Neighbor Discovery (RFC 4861), for solicitations and advertisements */
enum {
	NET_SOLICITATION = 135,
	NET_ADVERTISEMENT = 136,
	NET_ND_MIN = sizeof(struct fg_neighbour) - 8, /* bytes of a message without option */
	NET_ND_SOLICITED = 0x40000000,
	NET_ND_OVERRIDE = 0x20000000,
};

enum { NET_UDP_CONTENT = FG_ETHER_HEADER + sizeof(struct fg_ipv4) + sizeof(struct fg_udp) };

/** The destination of a datagram, whose payload is in the frame at NET_UDP_CONTENT. */
struct net_udp {
	const uint8_t *mac, *address;
	uint16_t from, to;
	size_t content; /* bytes */
};

/** Write the headers of a datagram from @p host. @return bytes of the frame */
size_t net_udp(const struct fg_host *host, const struct net_udp *datagram, uint8_t *frame);

/** Payload bytes of an undamaged IPv4 datagram for @p port of @p host; else 0. */
size_t net_udp_content(const struct fg_host *host, uint16_t port, const uint8_t *frame, size_t length);

/** Is this ARP for IPv4 over Ethernet? */
bool net_is_arp(const struct fg_arp *arp);

/** Payload bytes of an IPv4 packet without options, if it is whole and of @p protocol; else 0. */
size_t net_ipv4(const struct fg_ether *ether, size_t length, uint8_t protocol);

/** Bytes of the ICMP or ICMPv6 message in a frame; 0: no such message, or it is cut short or damaged. */
size_t net_icmp(const struct fg_ether *ether, size_t length);
size_t net_icmpv6(const struct fg_ether *ether, size_t length);

void net_put_ether(const struct fg_host *host, const uint8_t to[6], uint16_t type, struct fg_ether *ether);

/** Write the checksum of a message of ICMP or IGMP. @param pseudo  sum of a pseudo-header, or 0 */
void net_put_checksum(void *message, uint64_t pseudo, size_t length);

/** Write the checksum of an ICMPv6 message, behind extension headers or not. */
void net_finish_icmpv6(const struct fg_ipv6 *ip, void *message, size_t length);

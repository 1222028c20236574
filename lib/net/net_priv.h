/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NET_PRIV_H
#define NET_PRIV_H

#include "fg_net.h"

/* Neighbor Discovery (RFC 4861), as needed for asking and for answering */
enum {
	NET_SOLICITATION = 135,
	NET_ADVERTISEMENT = 136,
	NET_ND_MIN = sizeof(struct fg_neighbour) - 8, /* octets of a message without option */
	NET_ND_SOLICITED = 0x40000000,
	NET_ND_OVERRIDE = 0x20000000,
};

/** Is this ARP of IPv4 over Ethernet, the only kind there is? */
bool net_is_arp(const struct fg_arp *arp);

/** Octets of the ICMPv6 message in a frame; 0 when there is none or it is cut short or damaged. */
size_t net_icmpv6(const struct fg_ether *ether, size_t length);

#endif

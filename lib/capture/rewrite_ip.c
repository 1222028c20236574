/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An IP packet: its addresses, the hops of a routing header or an option, and addresses in messages about
 * addresses. These are errors of ICMP, which quote the packet they are about, neighbour discovery, and
 * memberships of groups.
 *
 * An address is in the sum of the IPv4 header, and, as part of the pseudo-header, in the sum of the
 * transport; that stands in the first fragment only, and in IPv6 behind extension headers. Where a routing
 * header names the last hop, that is what is summed up, and not the destination. What is in a tunnel stays as
 * it is.
 */
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "rewrite_priv.h"

enum { MIN_IPV4 = 20, IPV6_HEADER = 40, MIN_ICMP = 8, QUOTE = 256 };
enum { DCCP = 33, UDP_LITE = 136 };
enum { RECORD_ROUTE = 7, LOOSE_ROUTE = 131, STRICT_ROUTE = 137, MAX_IPV4_HEADER = 60 }; /* options, RFC 791 */
enum { ICMP_QUENCH = 4, ICMP_REDIRECT = 5, ICMP_TIME_EXCEEDED = 11, ICMP_PARAMETER_PROBLEM = 12 };
enum {
	ROUTER_SOLICITATION = 133,
	ROUTER_ADVERTISEMENT,
	NEIGHBOUR_SOLICITATION,
	NEIGHBOUR_ADVERTISEMENT,
	REDIRECT
};
enum { SOURCE_MAC = 1, TARGET_MAC = 2, PREFIX = 3, REDIRECTED = 4, NAME_SERVERS = 25 }; /* options */
enum { IGMP_QUERY = 0x11, IGMP_V1 = 0x12, IGMP_V2 = 0x16, IGMP_LEAVE = 0x17, IGMP_V3 = 0x22 };
enum { MLD_QUERY = 130, MLD_REPORT = 131, MLD_DONE = 132, MLD_V2 = 143 };
enum { ROUTING_SOURCE = 0, ROUTING_MOBILE = 2, ROUTING_SEGMENTS = 4 }; /* kinds of routing headers */

static bool
is_udp(uint8_t protocol)
{
	return protocol == FG_IP_UDP || protocol == UDP_LITE;
}

/* what sums up an address besides the header it is in; NULL: nothing that is there */
static uint8_t *
transport_checksum(uint8_t protocol, uint8_t *payload, size_t length)
{
	size_t at = protocol == FG_IP_TCP                  ? 16
		    : is_udp(protocol) || protocol == DCCP ? 6
		    : protocol == FG_IP_ICMPV6             ? 2
							   : SIZE_MAX;

	if (at == SIZE_MAX || length < at + 2)
		return NULL;
	if (is_udp(protocol) && fg_get16(payload + at) == 0)
		return NULL; /* no packet */
	return payload + at;
}

/* a sum of zero is written so, where zero means that the frame has no sum */
static void
avoid_zero(uint8_t protocol, uint8_t *sum)
{
	if (sum != NULL && is_udp(protocol) && fg_get16(sum) == 0)
		fg_put16(sum, 0xffff);
}

/* groups and the sources of each, as reports have them */
static void
rewrite_records(struct rewriting *c, uint8_t *at, size_t length, uint8_t octets, uint8_t *sum)
{
	const size_t head = 4U + octets;

	while (length >= head) {
		size_t sources = fg_get16(at + 2), rest = at[1] * 4U;

		rewrite_address(c, at + 4, octets, NULL, sum);
		at += head;
		length -= head;
		for (; sources > 0 && length >= octets; sources--, at += octets, length -= octets)
			rewrite_address(c, at, octets, NULL, sum);
		if (rest > length)
			return;
		at += rest;
		length -= rest;
	}
}

static void
rewrite_igmp(struct rewriting *c, uint8_t *igmp, size_t length)
{
	const size_t sources = 12;

	if (length < MIN_ICMP)
		return;
	switch (igmp[0]) {
	case IGMP_V3:
		rewrite_records(c, igmp + 8, length - 8, 4, igmp + 2);
		return;
	case IGMP_QUERY:
	case IGMP_V1:
	case IGMP_V2:
	case IGMP_LEAVE:
		rewrite_address(c, igmp + 4, 4, NULL, igmp + 2);
		break;
	default:
		return;
	}
	for (size_t at = sources; igmp[0] == IGMP_QUERY && at + 4 <= length; at += 4)
		rewrite_address(c, igmp + at, 4, NULL, igmp + 2);
}

/*
 * A route in an option. Its last hop is where the packet goes while hops are left, so that is what the
 * transport sums up; the packet's destination is the next hop. A route that is recorded has no hops yet from
 * its pointer on.
 *
 * @return whether hops are left
 */
static bool
rewrite_hops4(struct rewriting *c, uint8_t *option, size_t length, uint8_t *sum)
{
	const bool left = option[0] != RECORD_ROUTE && option[2] + 3U <= length;

	for (size_t at = 3; at + 4 <= length && (option[0] != RECORD_ROUTE || at + 4 < option[2]); at += 4)
		rewrite_address(c, option + at, 4, NULL, left && at + 8 > length ? sum : NULL);
	return left;
}

static bool
rewrite_options4(struct rewriting *c, uint8_t *ip, size_t header, uint8_t *sum)
{
	uint8_t old[MAX_IPV4_HEADER];
	bool left = false;

	memcpy(old, ip, header);
	for (size_t at = MIN_IPV4, n; at < header && ip[at] != 0; at += n) {
		n = ip[at] == 1 ? 1 : at + 1 < header ? ip[at + 1] : 0;
		if (n == 0 || at + n > header)
			break;
		if (n >= 3 && (ip[at] == RECORD_ROUTE || ip[at] == LOOSE_ROUTE || ip[at] == STRICT_ROUTE))
			left |= rewrite_hops4(c, ip + at, n, sum);
	}
	rewrite_mend(ip + 10, old, ip, header); /* an option may begin at an odd byte */
	return left;
}

static void
rewrite_header4(struct rewriting *c, uint8_t *ip, size_t length, size_t header)
{
	const bool first = (fg_get16(ip + 6) & 0x1fff) == 0;
	uint8_t *sum = NULL;
	bool has_further;

	if (first && ip[9] != FG_IP_ICMPV6)
		sum = transport_checksum(ip[9], ip + header, length - header);
	has_further = rewrite_options4(c, ip, header, sum);
	rewrite_address(c, ip + 12, 4, ip + 10, sum);
	rewrite_address(c, ip + 16, 4, ip + 10, has_further ? NULL : sum);
	avoid_zero(ip[9], sum);
}

/* bytes of the header of an IPv4 packet; 0: no IPv4 packet */
static size_t
header4(const uint8_t *ip, size_t length)
{
	const size_t header = length < MIN_IPV4 ? 0 : (ip[0] & 0xf) * 4U;

	return header < MIN_IPV4 || header > length ? 0 : header;
}

/* what stands behind the extension headers of a packet */
struct behind {
	uint8_t protocol;
	size_t at;        /* bytes from the beginning of the packet */
	size_t routing;   /* the same, of the first routing header; 0: none */
	bool first;       /* of the fragments; or a whole packet */
	bool has_further; /* hops in a routing header */
};

static struct behind
behind_extensions(const uint8_t *ip, size_t length)
{
	struct behind b = {.protocol = ip[6], .at = IPV6_HEADER, .first = true};

	while (b.at + 8 <= length) {
		const uint8_t *header = ip + b.at;

		switch (b.protocol) {
		case FG_IP_ROUTING:
			b.routing = b.routing > 0 ? b.routing : b.at;
			b.has_further |= header[3] > 0; /* segments left */
							/* fall through */
		case FG_IP_HOP_BY_HOP:
		case FG_IP_DESTINATION_OPTIONS:
			b.at += (header[1] + 1U) * 8;
			break;
		case FG_IP_AUTHENTICATION:
			b.at += (header[1] + 2U) * 4;
			break;
		case FG_IP_FRAGMENT:
			b.first &= (fg_get16(header + 2) & 0xfff8) == 0;
			b.at += 8;
			break;
		default:
			return b;
		}
		b.protocol = header[0];
		if (!b.first) /* what follows is the rest of a payload */
			return b;
	}
	return b;
}

/* @param sum  that contains the last hop instead of the destination; NULL: the packet has no sum */
static void
rewrite_hops(struct rewriting *c, uint8_t *header, size_t length, uint8_t *sum)
{
	const bool segments = header[2] == ROUTING_SEGMENTS;
	size_t hops = header[1] / 2, last;

	if (!segments && header[2] != ROUTING_SOURCE && header[2] != ROUTING_MOBILE)
		return;
	if (segments && header[4] + 1U < hops)
		hops = header[4] + 1U;  /* options follow */
	last = segments ? 0 : hops - 1; /* segments are listed from the last to the first */
	for (size_t i = 0; i < hops && 8 + 16 * (i + 1) <= length; i++)
		rewrite_address(c, header + 8 + 16 * i, 16, NULL, i == last ? sum : NULL);
}

static struct behind
rewrite_header6(struct rewriting *c, uint8_t *ip, size_t length)
{
	const struct behind b = behind_extensions(ip, length);
	uint8_t *sum = NULL;

	if (b.first && b.at < length)
		sum = transport_checksum(b.protocol, ip + b.at, length - b.at);
	rewrite_address(c, ip + 8, 16, NULL, sum);
	rewrite_address(c, ip + 24, 16, NULL, b.has_further ? NULL : sum);
	if (b.routing > 0)
		rewrite_hops(c, ip + b.routing, length - b.routing, b.has_further ? sum : NULL);
	avoid_zero(b.protocol, sum);
	return b;
}

/* the packet that an error is about: its headers, as far as they are there */
static void
rewrite_quote(struct rewriting *c, uint8_t *quote, size_t length, int version, uint8_t *sum)
{
	const size_t n = (length < QUOTE ? length : (size_t)QUOTE) & ~(size_t)1;
	const size_t header = version == 4 ? header4(quote, n) : 0;
	uint8_t old[QUOTE];

	memcpy(old, quote, n);
	if (header > 0)
		rewrite_header4(c, quote, n, header);
	else if (version == 6 && n >= IPV6_HEADER)
		rewrite_header6(c, quote, n);
	rewrite_mend(sum, old, quote, n);
}

static void
rewrite_icmp(struct rewriting *c, uint8_t *icmp, size_t length)
{
	if (length < MIN_ICMP)
		return;
	switch (icmp[0]) {
	case ICMP_REDIRECT:
		/* the better router */
		rewrite_address(c, icmp + 4, 4, NULL, icmp + 2);
		/* fall through */
	case FG_ICMP_UNREACHABLE:
	case ICMP_QUENCH:
	case ICMP_TIME_EXCEEDED:
	case ICMP_PARAMETER_PROBLEM:
		rewrite_quote(c, icmp + 8, length - 8, 4, icmp + 2);
	}
}

static void
rewrite_option(struct rewriting *c, uint8_t *option, size_t length, uint8_t *sum)
{
	switch (option[0]) {
	case SOURCE_MAC:
	case TARGET_MAC:
		rewrite_mac(c, option + 2, sum);
		break;
	case PREFIX:
		if (length >= 32)
			rewrite_address(c, option + 16, 16, NULL, sum);
		break;
	case REDIRECTED:
		rewrite_quote(c, option + 8, length - 8, 6, sum);
		break;
	case NAME_SERVERS:
		for (size_t at = 8; at + 16 <= length; at += 16)
			rewrite_address(c, option + at, 16, NULL, sum);
	}
}

static void
rewrite_options(struct rewriting *c, uint8_t *icmp, size_t at, size_t length)
{
	while (at + 8 <= length) {
		const size_t octets = icmp[at + 1] * 8U;

		if (octets == 0 || at + octets > length)
			return;
		rewrite_option(c, icmp + at, octets, icmp + 2);
		at += octets;
	}
}

/* a node listens to a group that ends like its address (RFC 4291, 2.7.1) */
static void
follow_target(uint8_t *destination, const uint8_t *old, const uint8_t *target, uint8_t *sum)
{
	static const uint8_t solicited[13] = {0xff, 2, [11] = 1, [12] = 0xff};
	uint8_t before[4];

	if (memcmp(destination, solicited, 13) != 0 || memcmp(destination + 13, old + 13, 3) != 0)
		return;
	memcpy(before, destination + 12, 4);
	memcpy(destination + 13, target + 13, 3);
	rewrite_mend(sum, before, destination + 12, 4);
}

static void
rewrite_discovery(struct rewriting *c, uint8_t *ip, uint8_t *icmp, size_t length)
{
	const size_t target = 8, about = 24;
	uint8_t old[16];

	if (icmp[0] == ROUTER_SOLICITATION)
		rewrite_options(c, icmp, 8, length);
	if (icmp[0] == ROUTER_ADVERTISEMENT)
		rewrite_options(c, icmp, 16, length);
	if (icmp[0] < NEIGHBOUR_SOLICITATION || length < target + 16)
		return;
	memcpy(old, icmp + target, sizeof(old));
	rewrite_address(c, icmp + target, 16, NULL, icmp + 2);
	if (icmp[0] == NEIGHBOUR_SOLICITATION)
		follow_target(ip + 24, old, icmp + target, icmp + 2);
	if (icmp[0] == REDIRECT && length >= about + 16)
		rewrite_address(c, icmp + about, 16, NULL, icmp + 2);
	rewrite_options(c, icmp, icmp[0] == REDIRECT ? about + 16 : about, length);
}

static void
rewrite_icmpv6(struct rewriting *c, uint8_t *ip, uint8_t *icmp, size_t length)
{
	const size_t group = 8, sources = 28;

	if (length < MIN_ICMP)
		return;
	if (icmp[0] < 128) /* errors */
		rewrite_quote(c, icmp + 8, length - 8, 6, icmp + 2);
	else if (icmp[0] >= ROUTER_SOLICITATION && icmp[0] <= REDIRECT)
		rewrite_discovery(c, ip, icmp, length);
	else if (icmp[0] == MLD_V2)
		rewrite_records(c, icmp + 8, length - 8, 16, icmp + 2);
	else if (icmp[0] >= MLD_QUERY && icmp[0] <= MLD_DONE && length >= group + 16)
		rewrite_address(c, icmp + group, 16, NULL, icmp + 2);
	for (size_t at = sources; icmp[0] == MLD_QUERY && at + 16 <= length; at += 16)
		rewrite_address(c, icmp + at, 16, NULL, icmp + 2);
}

static void
note_destination(struct rewriting *c, const uint8_t *address, uint8_t octets)
{
	c->destination = address;
	c->destination_octets = octets;
	memcpy(c->old_destination, address, octets);
}

/* without the padding of the frame; where a card has cut the packet later, it has no length */
static size_t
without_padding(size_t length, size_t says, size_t least)
{
	return says >= least && says < length ? says : length;
}

void
rewrite_ipv4(struct rewriting *c, uint8_t *ip, size_t length)
{
	const size_t header = header4(ip, length);

	if (header == 0)
		return;
	length = without_padding(length, fg_get16(ip + 2), header);
	note_destination(c, ip + 16, 4);
	rewrite_header4(c, ip, length, header);
	if ((fg_get16(ip + 6) & 0x1fff) != 0)
		return;
	if (ip[9] == FG_IP_ICMP)
		rewrite_icmp(c, ip + header, length - header);
	else if (ip[9] == FG_IP_IGMP)
		rewrite_igmp(c, ip + header, length - header);
}

void
rewrite_ipv6(struct rewriting *c, uint8_t *ip, size_t length)
{
	struct behind b;

	if (length < IPV6_HEADER)
		return;
	length = without_padding(length, IPV6_HEADER + (size_t)fg_get16(ip + 4), IPV6_HEADER + 1);
	note_destination(c, ip + 24, 16);
	b = rewrite_header6(c, ip, length);
	if (b.first && b.protocol == FG_IP_ICMPV6 && b.at < length)
		rewrite_icmpv6(c, ip, ip + b.at, length - b.at);
}

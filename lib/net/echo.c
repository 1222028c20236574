/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ping: echo requests of ICMP (RFC 792) and ICMPv6 (RFC 4443, 4.1), and their replies. The identifier and the
 * number of a request come back in its reply, so that a sender of requests from several addresses tells the
 * replies apart.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum { CONTENT = 32, MESSAGE = sizeof(struct fg_icmp) + CONTENT, TTL = 64 };

static void
fill(const struct fg_echo *echo, uint8_t type, struct fg_icmp *icmp)
{
	*icmp = (struct fg_icmp){.type = type,
				 .rest = htonl((uint32_t)echo->identifier << 16 | echo->number)};
	memset(icmp + 1, 0, CONTENT);
}

static size_t
request4(const struct fg_host *host, const struct fg_echo *echo, struct fg_ether *ether)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)(ether + 1);

	net_put_ether(host, echo->mac, FG_ETHER_IPV4, ether);
	*ip = (struct fg_ipv4){.id = htons(echo->number), .ttl = TTL, .protocol = FG_IP_ICMP};
	fg_ipv4_finish(ip, host->ipv4, echo->to, sizeof(*ip), MESSAGE);
	fill(echo, FG_ICMP_ECHO, (struct fg_icmp *)(ip + 1));
	net_put_checksum(ip + 1, 0, MESSAGE);
	return sizeof(*ether) + sizeof(*ip) + MESSAGE;
}

static size_t
request6(const struct fg_host *host, const struct fg_echo *echo, struct fg_ether *ether)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);

	net_put_ether(host, echo->mac, FG_ETHER_IPV6, ether);
	fg_ipv6_put(ip, host->ipv6, echo->to, FG_IP_ICMPV6, TTL, MESSAGE);
	fill(echo, FG_ICMPV6_ECHO, (struct fg_icmp *)(ip + 1));
	net_finish_icmpv6(ip, ip + 1, MESSAGE);
	return sizeof(*ether) + sizeof(*ip) + MESSAGE;
}

size_t
fg_net_echo(const struct fg_host *host, const struct fg_echo *echo, uint8_t *out)
{
	return (host->has_ipv4 ? request4 : request6)(host, echo, (struct fg_ether *)out);
}

static bool
is_reply(const struct fg_echo *echo, const struct fg_icmp *icmp, uint8_t type)
{
	return icmp->type == type && icmp->code == 0 &&
	       icmp->rest == htonl((uint32_t)echo->identifier << 16 | echo->number);
}

static bool
replies4(const struct fg_host *host, const struct fg_echo *echo, const struct fg_ether *ether, size_t length)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(ether + 1);

	return net_icmp(ether, length) != 0 && memcmp(ip->dst, host->ipv4, 4) == 0 &&
	       memcmp(ip->src, echo->to, 4) == 0 &&
	       is_reply(echo, (const struct fg_icmp *)(ip + 1), FG_ICMP_ECHO_REPLY);
}

static bool
replies6(const struct fg_host *host, const struct fg_echo *echo, const struct fg_ether *ether, size_t length)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(ether + 1);

	return net_icmpv6(ether, length) != 0 && memcmp(ip->dst, host->ipv6, 16) == 0 &&
	       memcmp(ip->src, echo->to, 16) == 0 &&
	       is_reply(echo, (const struct fg_icmp *)(ip + 1), FG_ICMPV6_ECHO_REPLY);
}

bool
fg_net_echo_replies(const struct fg_host *host, const struct fg_echo *echo, const uint8_t *frame,
		    size_t length)
{
	return (host->has_ipv4 ? replies4 : replies6)(host, echo, (const struct fg_ether *)frame, length);
}

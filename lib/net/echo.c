/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking whether an address answers (ping): echo requests of ICMP (RFC 792) and ICMPv6 (RFC 4443, 4.1), and
 * their replies. The identifier and the number of a request come back in its reply, so that a sender of
 * requests from several addresses tells the replies apart.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum { CONTENT = 32, TTL = 64 };

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
	struct fg_icmp *icmp = (struct fg_icmp *)(ip + 1);

	ether->type = htons(FG_ETHER_IPV4);
	*ip = (struct fg_ipv4){
		.version_ihl = 0x45,
		.length = htons(sizeof(*ip) + sizeof(*icmp) + CONTENT),
		.id = htons(echo->number),
		.ttl = TTL,
		.protocol = FG_IP_ICMP,
	};
	memcpy(ip->src, host->ipv4, 4);
	memcpy(ip->dst, echo->to, 4);
	ip->checksum = fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip)));
	fill(echo, FG_ICMP_ECHO, icmp);
	icmp->checksum = fg_checksum_finish(fg_checksum_add(0, icmp, sizeof(*icmp) + CONTENT));
	return sizeof(*ether) + sizeof(*ip) + sizeof(*icmp) + CONTENT;
}

static size_t
request6(const struct fg_host *host, const struct fg_echo *echo, struct fg_ether *ether)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)(ether + 1);
	struct fg_icmp *icmp = (struct fg_icmp *)(ip + 1);
	const uint32_t payload = sizeof(*icmp) + CONTENT;

	ether->type = htons(FG_ETHER_IPV6);
	ip->version_class_flow = htonl(6U << 28);
	ip->payload_length = htons((uint16_t)payload);
	ip->next_header = FG_IP_ICMPV6;
	ip->hop_limit = TTL;
	memcpy(ip->src, host->ipv6, 16);
	memcpy(ip->dst, echo->to, 16);
	fill(echo, FG_ICMPV6_ECHO, icmp);
	icmp->checksum = fg_checksum_finish(
		fg_checksum_add(fg_checksum_pseudo6(ip, FG_IP_ICMPV6, payload), icmp, payload));
	return sizeof(*ether) + sizeof(*ip) + payload;
}

size_t
fg_net_echo(const struct fg_host *host, const struct fg_echo *echo, uint8_t *out)
{
	struct fg_ether *ether = (struct fg_ether *)out;

	memcpy(ether->dst, echo->mac, 6);
	memcpy(ether->src, host->mac, 6);
	return host->has_ipv4 ? request4(host, echo, ether) : request6(host, echo, ether);
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
	const struct fg_icmp *icmp = (const struct fg_icmp *)(ip + 1);
	size_t total;

	if (length < sizeof(*ether) + sizeof(*ip) + sizeof(*icmp) || ether->type != htons(FG_ETHER_IPV4) ||
	    ip->version_ihl != 0x45 || ip->protocol != FG_IP_ICMP || (ip->fragment & htons(0x3fff)) != 0 ||
	    memcmp(ip->dst, host->ipv4, 4) != 0 || memcmp(ip->src, echo->to, 4) != 0)
		return false;
	total = ntohs(ip->length);
	return total >= sizeof(*ip) + sizeof(*icmp) && sizeof(*ether) + total <= length &&
	       is_reply(echo, icmp, FG_ICMP_ECHO_REPLY) &&
	       fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip))) == 0 &&
	       fg_checksum_finish(fg_checksum_add(0, icmp, total - sizeof(*ip))) == 0;
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
	const struct fg_ether *ether = (const struct fg_ether *)frame;

	return host->has_ipv4 ? replies4(host, echo, ether, length) : replies6(host, echo, ether, length);
}

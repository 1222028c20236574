/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the outside in: MAC addresses, tag, IP addresses. An address is in the sum of the IPv4 header, and, as
 * part of the pseudo-header, in that of TCP, UDP and ICMPv6; the latter stands in the first fragment only,
 * and in IPv6 behind extension headers. Where a routing header names the last hop, that is what is summed up,
 * and not the destination.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "fg_rewrite.h"

enum { MACS = 12, TAG = 4, MIN_IPV4 = 20, IPV6_HEADER = 40 };
enum { MIN_ARP = 28, ARP_SENDER = 14, ARP_TARGET = 24 };

/* RFC 1624, equation 3 */
static void
mend(uint8_t *checksum, const uint8_t *old, const uint8_t *new_, size_t n)
{
	uint64_t sum = (uint16_t)~fg_get16(checksum);

	for (size_t i = 0; i < n; i += 2)
		sum += (uint16_t)~fg_get16(old + i) + (uint64_t)fg_get16(new_ + i);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	fg_put16(checksum, (uint16_t)~sum);
}

static bool
is_in(const struct fg_move *m, const uint8_t *address)
{
	unsigned whole = m->prefix / 8, rest = m->prefix % 8;

	return memcmp(address, m->from, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ m->from[whole]) >> (8 - rest)) == 0);
}

static void
move(const struct fg_move *m, uint8_t *address)
{
	unsigned whole = m->prefix / 8, rest = m->prefix % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	memcpy(address, m->to, whole);
	if (rest > 0)
		address[whole] = (uint8_t)((address[whole] & ~mask) | (m->to[whole] & mask));
}

/* what sums up an address besides the header it is in; NULL: nothing that is there */
static uint8_t *
transport_checksum(uint8_t protocol, uint8_t *payload, size_t length)
{
	size_t at = protocol == FG_IP_TCP      ? 16
		    : protocol == FG_IP_UDP    ? 6
		    : protocol == FG_IP_ICMPV6 ? 2
					       : SIZE_MAX;

	if (at == SIZE_MAX || length < at + 2)
		return NULL;
	if (protocol == FG_IP_UDP && fg_get16(payload + at) == 0)
		return NULL; /* there is none */
	return payload + at;
}

static void
change(const struct fg_rewrite *r, uint8_t *address, uint8_t octets, uint8_t *header_sum,
       uint8_t *transport_sum)
{
	uint8_t old[16];

	memcpy(old, address, octets);
	for (unsigned i = 0; i < r->moves; i++) {
		if (r->move[i].octets != octets || !is_in(&r->move[i], address))
			continue;
		move(&r->move[i], address);
		if (header_sum != NULL)
			mend(header_sum, old, address, octets);
		if (transport_sum != NULL)
			mend(transport_sum, old, address, octets);
		return;
	}
}

static void
rewrite_ipv4(const struct fg_rewrite *r, uint8_t *ip, size_t length)
{
	size_t header = length < MIN_IPV4 ? 0 : (ip[0] & 0xf) * 4U;
	bool first = length >= MIN_IPV4 && (fg_get16(ip + 6) & 0x1fff) == 0;
	uint8_t *sum = NULL;

	if (header < MIN_IPV4 || header > length)
		return;
	if (first && ip[9] != FG_IP_ICMPV6)
		sum = transport_checksum(ip[9], ip + header, length - header);
	change(r, ip + 12, 4, ip + 10, sum);
	change(r, ip + 16, 4, ip + 10, sum);
	if (sum != NULL && ip[9] == FG_IP_UDP && fg_get16(sum) == 0)
		fg_put16(sum, 0xffff);
}

/* what stands behind the extension headers of a packet */
struct behind {
	uint8_t protocol;
	size_t at;        /* octets from the beginning of the packet */
	bool first;       /* of the fragments; or there are none */
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
	}
	return b;
}

static void
rewrite_ipv6(const struct fg_rewrite *r, uint8_t *ip, size_t length)
{
	struct behind b;
	uint8_t *sum = NULL;

	if (length < IPV6_HEADER)
		return;
	b = behind_extensions(ip, length);
	if (b.first && b.at < length)
		sum = transport_checksum(b.protocol, ip + b.at, length - b.at);
	change(r, ip + 8, 16, NULL, sum);
	change(r, ip + 24, 16, NULL, b.has_further ? NULL : sum);
	if (sum != NULL && b.protocol == FG_IP_UDP && fg_get16(sum) == 0)
		fg_put16(sum, 0xffff);
}

/* of Ethernet and IPv4, the only kind there is */
static void
rewrite_arp(const struct fg_rewrite *r, uint8_t *arp, size_t length)
{
	if (length < MIN_ARP || fg_get16(arp + 2) != FG_ETHER_IPV4 || arp[4] != 6 || arp[5] != 4)
		return;
	change(r, arp + ARP_SENDER, 4, NULL, NULL);
	change(r, arp + ARP_TARGET, 4, NULL, NULL);
}

static size_t
change_tag(const struct fg_rewrite *r, uint8_t *frame, size_t length)
{
	bool tagged = fg_net_is_tag(fg_get16(frame + MACS)) && length >= FG_ETHER_HEADER + TAG;

	if (r->vlan == FG_VLAN_REMOVE && tagged) {
		memmove(frame + MACS, frame + MACS + TAG, length - MACS - TAG);
		return length - TAG;
	}
	if (r->vlan != FG_VLAN_SET)
		return length;
	if (!tagged) {
		memmove(frame + MACS + TAG, frame + MACS, length - MACS);
		fg_put16(frame + MACS, FG_ETHER_VLAN);
		fg_put16(frame + MACS + 2, 0);
		length += TAG;
	}
	fg_put16(frame + MACS + 2, (uint16_t)((fg_get16(frame + MACS + 2) & 0xf000) | r->vlan_id));
	return length;
}

size_t
fg_rewrite_apply(const struct fg_rewrite *r, uint8_t *frame, size_t length)
{
	size_t at = MACS;

	if (length < FG_ETHER_HEADER)
		return length;
	if (r->has_destination_mac)
		memcpy(frame, r->destination_mac, 6);
	if (r->has_source_mac)
		memcpy(frame + 6, r->source_mac, 6);
	length = change_tag(r, frame, length);
	while (at + 2 <= length && fg_net_is_tag(fg_get16(frame + at)))
		at += TAG;
	if (at + 2 > length || r->moves == 0)
		return length;
	if (fg_get16(frame + at) == FG_ETHER_IPV4)
		rewrite_ipv4(r, frame + at + 2, length - at - 2);
	else if (fg_get16(frame + at) == FG_ETHER_ARP)
		rewrite_arp(r, frame + at + 2, length - at - 2);
	else if (fg_get16(frame + at) == FG_ETHER_IPV6)
		rewrite_ipv6(r, frame + at + 2, length - at - 2);
	return length;
}

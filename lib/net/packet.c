/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a frame's IP packet is. A device may push or pop tags and labels, fragment the packet, or reply with
 * an ICMP error that quotes it: the outer headers show which.
 */
#include <arpa/inet.h>

#include "fg_bytes.h"
#include "fg_net.h"

enum { TYPE_QINQ_OLD = 0x9100, TYPE_MPLS = 0x8847, TYPE_MPLS_UPSTREAM = 0x8848, TYPE_PPPOE = 0x8864 };
enum {
	LABEL = 4,
	LABEL_BOTTOM = 1,
	PPPOE = 8,
	EXTENSION = 8,
	IPV4_FRAGMENT = 0x3fff,
	IPV6_FRAGMENT = 0xfff9
};

/* up to the EtherType of the payload. @return bytes before the payload; 0: the frame is truncated */
static size_t
skip_tags(const uint8_t *frame, size_t length, uint16_t *type)
{
	size_t at = FG_ETHER_HEADER;

	for (; at + FG_NET_TAG <= length; at += FG_NET_TAG) {
		*type = fg_get16(frame + at - 2);
		if (*type != FG_ETHER_VLAN && *type != FG_ETHER_QINQ && *type != TYPE_QINQ_OLD)
			return at;
	}
	return 0;
}

static size_t
skip_labels(const uint8_t *frame, size_t length, size_t at)
{
	while (at + LABEL <= length) {
		at += LABEL;
		if (frame[at - 2] & LABEL_BOTTOM)
			break;
	}
	return at;
}

static bool
find_ipv4(const uint8_t *frame, size_t length, size_t at, struct fg_net_packet *out)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(frame + at);
	size_t header;

	if (length < at + sizeof(*ip))
		return false;
	header = 4u * (ip->version_ihl & 15u);
	if (header < sizeof(*ip) || length < at + header)
		return false;
	*out = (struct fg_net_packet){.version = 4,
				      .protocol = ip->protocol,
				      .fragment = (ntohs(ip->fragment) & IPV4_FRAGMENT) != 0,
				      .header = at,
				      .content = at + header};
	return true;
}

static bool
find_ipv6(const uint8_t *frame, size_t length, size_t at, struct fg_net_packet *out)
{
	struct fg_net_packet p = {.version = 6, .header = at, .content = at + sizeof(struct fg_ipv6)};

	if (length < p.content)
		return false;
	p.protocol = ((const struct fg_ipv6 *)(frame + at))->next_header;
	while (p.protocol == FG_IP_HOP_BY_HOP || p.protocol == FG_IP_ROUTING ||
	       p.protocol == FG_IP_FRAGMENT || p.protocol == FG_IP_DESTINATION_OPTIONS) {
		const uint8_t *extension = frame + p.content;

		if (length < p.content + EXTENSION)
			return false;
		p.fragment |= p.protocol == FG_IP_FRAGMENT && (fg_get16(extension + 2) & IPV6_FRAGMENT) != 0;
		p.content +=
			p.protocol == FG_IP_FRAGMENT ? EXTENSION : (extension[1] + (size_t)1) * EXTENSION;
		p.protocol = extension[0];
		if (p.fragment)
			break; /* the payload need not begin with a header */
	}
	*out = p;
	return p.content <= length;
}

static bool
is_error(const struct fg_net_packet *p, uint8_t type)
{
	if (p->protocol == FG_IP_ICMPV6)
		return p->version == 6 && type < 128;
	/* unreachable, source quench, redirect, time exceeded, parameter problem */
	return p->version == 4 && p->protocol == FG_IP_ICMP &&
	       (type == 3 || type == 4 || type == 5 || type == 11 || type == 12);
}

void
fg_net_find_packet(const uint8_t *frame, size_t length, struct fg_net_packet *out)
{
	uint16_t type = 0;
	size_t at = skip_tags(frame, length, &type);
	bool more = true;

	*out = (struct fg_net_packet){0};
	if (type == TYPE_MPLS || type == TYPE_MPLS_UPSTREAM)
		at = skip_labels(frame, length, at);
	else if (type == TYPE_PPPOE)
		at += PPPOE;
	else if (type != FG_ETHER_IPV4 && type != FG_ETHER_IPV6)
		return;
	while (more && at > 0 && at < length) {
		more = frame[at] >> 4 == 4   ? find_ipv4(frame, length, at, out)
		       : frame[at] >> 4 == 6 ? find_ipv6(frame, length, at, out)
					     : false;
		at = out->content;
		more = more && !out->fragment && (out->protocol == FG_IP_IPV4 || out->protocol == FG_IP_IPV6);
	}
	out->error = out->version != 0 && !out->fragment && out->content < length &&
		     is_error(out, frame[out->content]);
}

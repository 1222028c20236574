/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an OAM message stands in a frame, and the headers around it. Fragments, extension headers, options
 * of IPv4 and tunnels are no place for one: a measurement of a path sends whole packets.
 */
#include <arpa/inet.h>

#include "fg_checksum.h"
#include "oam_priv.h"

enum { VERSION_IHL = 0x45, FRAGMENT = 0x3fff };

static uint64_t
pseudo_header(const uint8_t *frame, const struct oam_message *m, size_t octets)
{
	return m->version == 4 ? fg_checksum_pseudo4((const struct fg_ipv4 *)(frame + m->ip), FG_IP_UDP,
						     (uint16_t)octets)
			       : fg_checksum_pseudo6((const struct fg_ipv6 *)(frame + m->ip), FG_IP_UDP,
						     (uint32_t)octets);
}

static bool
find_ipv4(const uint8_t *frame, size_t length, struct oam_message *m)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(frame + m->ip);

	if (length < m->ip + sizeof(*ip) || ip->version_ihl != VERSION_IHL || ip->protocol != FG_IP_UDP ||
	    (ip->fragment & htons(FRAGMENT)) != 0 || m->ip + ntohs(ip->length) > length ||
	    fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip))) != 0)
		return false;
	m->version = 4;
	m->ttl = ip->ttl;
	m->tos = ip->tos;
	m->udp = m->ip + sizeof(*ip);
	m->length = ntohs(ip->length) < sizeof(*ip) ? 0 : ntohs(ip->length) - sizeof(*ip);
	return true;
}

static bool
find_ipv6(const uint8_t *frame, size_t length, struct oam_message *m)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(frame + m->ip);

	if (length < m->ip + sizeof(*ip) || ip->next_header != FG_IP_UDP ||
	    m->ip + sizeof(*ip) + ntohs(ip->payload_length) > length)
		return false;
	m->version = 6;
	m->ttl = ip->hop_limit;
	m->tos = (uint8_t)(ntohl(ip->version_class_flow) >> 20);
	m->udp = m->ip + sizeof(*ip);
	m->length = ntohs(ip->payload_length);
	return true;
}

/* @param m  length: bytes of the IP packet behind its header */
static bool
find_content(const uint8_t *frame, struct oam_message *m)
{
	const struct fg_udp *udp = (const struct fg_udp *)(frame + m->udp);
	size_t octets;

	if (m->length < sizeof(*udp))
		return false;
	octets = ntohs(udp->length);
	if (octets < sizeof(*udp) || octets > m->length || (udp->checksum == 0 && m->version == 6))
		return false;
	m->at = m->udp + sizeof(*udp);
	m->length = octets - sizeof(*udp);
	return udp->checksum == 0 ||
	       fg_checksum_finish(fg_checksum_add(pseudo_header(frame, m, octets), udp, octets)) == 0;
}

uint16_t
oam_type(const uint8_t *frame, size_t length)
{
	size_t at = fg_net_type_at(frame, length);

	return length < at + 2 ? 0 : fg_get16(frame + at);
}

bool
oam_find(const uint8_t *frame, size_t length, struct oam_message *out)
{
	struct oam_message m = {0};
	size_t at = fg_net_type_at(frame, length) + 2;

	if (length < at)
		return false;
	m.ip = at;
	switch (fg_get16(frame + at - 2)) {
	case FG_ETHER_CFM:
		*out = (struct oam_message){.at = at, .length = length - at};
		return true;
	case FG_ETHER_IPV4:
		if (!find_ipv4(frame, length, &m) || !find_content(frame, &m))
			return false;
		break;
	case FG_ETHER_IPV6:
		if (!find_ipv6(frame, length, &m) || !find_content(frame, &m))
			return false;
		break;
	default:
		return false;
	}
	*out = m;
	return true;
}

size_t
oam_finish(uint8_t *frame, const struct oam_message *m, size_t length)
{
	struct fg_udp *udp = (struct fg_udp *)(frame + m->udp);
	size_t octets = sizeof(*udp) + length;

	if (m->version == 0)
		return m->at + length;
	if (m->version == 4) {
		struct fg_ipv4 *ip = (struct fg_ipv4 *)(frame + m->ip);

		ip->length = htons((uint16_t)(sizeof(*ip) + octets));
		ip->checksum = 0;
		ip->checksum = fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip)));
	} else {
		((struct fg_ipv6 *)(frame + m->ip))->payload_length = htons((uint16_t)octets);
	}
	udp->length = htons((uint16_t)octets);
	udp->checksum = 0;
	udp->checksum = fg_checksum_finish(fg_checksum_add(pseudo_header(frame, m, octets), udp, octets));
	if (udp->checksum == 0) /* 0 means no checksum */
		udp->checksum = 0xffff;
	return m->at + length;
}

bool
oam_is_y1731(const uint8_t *message, size_t length, uint8_t opcode, uint8_t fields)
{
	/* the byte behind the fields is the first of a TLV; the end TLV, too, has one */
	return length > (size_t)Y1731_FIELDS + fields && message[Y1731_OPCODE] == opcode &&
	       message[Y1731_TLV_OFFSET] >= fields &&
	       length > (size_t)Y1731_FIELDS + message[Y1731_TLV_OFFSET];
}

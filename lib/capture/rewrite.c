/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the outside in: MAC addresses, tag, and the outermost IP packet or ARP, behind whatever stands in
 * front of it: tags, LLC and SNAP, PPPoE, MPLS. The MAC address of a group follows its IP address.
 */
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "rewrite_priv.h"

enum { MACS = 12, TAG = 4 };
enum { MIN_ARP = 28, ARP_SENDER = 14, ARP_TARGET = 24 };
enum { OLD_QINQ = 0x9100, REVERSE_ARP = 0x8035, PPPOE = 0x8864, MPLS = 0x8847, MPLS_UPSTREAM = 0x8848 };
enum { LONGEST_LENGTH = 1500, SNAP = 6, LABEL = 4, PPPOE_HEADER = 6, PPP_IPV4 = 0x0021, PPP_IPV6 = 0x0057 };

static bool
is_tag(uint16_t type)
{
	return fg_net_is_tag(type) || type == OLD_QINQ;
}

/* of Ethernet and IPv4, the only kind there is */
static void
rewrite_arp(struct rewriting *c, uint8_t *arp, size_t length)
{
	if (length < MIN_ARP || fg_get16(arp + 2) != FG_ETHER_IPV4 || arp[4] != 6 || arp[5] != 4)
		return;
	rewrite_address(c, arp + ARP_SENDER, 4, NULL, NULL);
	rewrite_address(c, arp + ARP_TARGET, 4, NULL, NULL);
	rewrite_mac(c, arp + ARP_SENDER - 6, NULL);
	rewrite_mac(c, arp + ARP_TARGET - 6, NULL);
}

static size_t
change_tag(const struct fg_rewrite *r, uint8_t *frame, size_t length)
{
	bool tagged = is_tag(fg_get16(frame + MACS)) && length >= FG_ETHER_HEADER + TAG;

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

/* behind labels there is no EtherType: only a packet that has the right length is taken for one */
static uint16_t
behind_labels(const uint8_t *frame, size_t length, size_t *at)
{
	const uint8_t *packet;
	size_t left;

	while (*at + LABEL <= length && (frame[*at + 2] & 1) == 0)
		*at += LABEL;
	*at += LABEL;
	if (*at + 8 > length)
		return 0;
	packet = frame + *at;
	left = length - *at;
	if (packet[0] >> 4 == 4 && fg_get16(packet + 2) <= left)
		return FG_ETHER_IPV4;
	return packet[0] >> 4 == 6 && 40U + fg_get16(packet + 4) <= left ? FG_ETHER_IPV6 : 0;
}

static uint16_t
behind_pppoe(const uint8_t *frame, size_t length, size_t *at)
{
	uint16_t protocol;

	if (*at + PPPOE_HEADER + 2 > length)
		return 0;
	protocol = fg_get16(frame + *at + PPPOE_HEADER);
	*at += PPPOE_HEADER + 2;
	if (protocol >> 8 & 1) { /* of one byte (RFC 1661, 6.5) */
		protocol >>= 8;
		--*at;
	}
	return protocol == PPP_IPV4 ? FG_ETHER_IPV4 : protocol == PPP_IPV6 ? FG_ETHER_IPV6 : 0;
}

/* @param at  gets where the outermost packet begins @return its EtherType, 0: an unknown one */
static uint16_t
find_packet(const uint8_t *frame, size_t length, size_t *at)
{
	static const uint8_t snap[SNAP] = {0xaa, 0xaa, 3};
	uint16_t type;

	*at = MACS;
	while (*at + 2 <= length && is_tag(fg_get16(frame + *at)))
		*at += TAG;
	if (*at + 2 > length)
		return 0;
	type = fg_get16(frame + *at);
	*at += 2;
	if (type <= LONGEST_LENGTH) {
		if (*at + SNAP + 2 > length || memcmp(frame + *at, snap, SNAP) != 0)
			return 0;
		type = fg_get16(frame + *at + SNAP);
		*at += SNAP + 2;
	}
	if (type == PPPOE)
		return behind_pppoe(frame, length, at);
	return type == MPLS || type == MPLS_UPSTREAM ? behind_labels(frame, length, at) : type;
}

/* RFC 1112, 6.4, and RFC 2464, 7 @return false: no group */
static bool
mac_of_group(const uint8_t *address, uint8_t octets, uint8_t mac[6])
{
	if (octets == 4) {
		memcpy(mac, (const uint8_t[]){1, 0, 0x5e, address[1] & 0x7f, address[2], address[3]}, 6);
		return address[0] >> 4 == 0xe;
	}
	memcpy(mac, (const uint8_t[]){0x33, 0x33}, 2);
	memcpy(mac + 2, address + 12, 4);
	return address[0] == 0xff;
}

static void
follow_group(const struct rewriting *c, uint8_t *frame)
{
	uint8_t old[6], new_[6];

	if (c->destination != NULL && !c->how->has_destination_mac &&
	    mac_of_group(c->old_destination, c->destination_octets, old) &&
	    mac_of_group(c->destination, c->destination_octets, new_) && memcmp(frame, old, 6) == 0)
		memcpy(frame, new_, 6);
}

static void
rewrite_packet(struct rewriting *c, uint8_t *frame, size_t length)
{
	size_t at;
	const uint16_t type = find_packet(frame, length, &at);

	if (type == FG_ETHER_IPV4)
		rewrite_ipv4(c, frame + at, length - at);
	else if (type == FG_ETHER_ARP || type == REVERSE_ARP)
		rewrite_arp(c, frame + at, length - at);
	else if (type == FG_ETHER_IPV6)
		rewrite_ipv6(c, frame + at, length - at);
	follow_group(c, frame);
}

size_t
fg_rewrite_apply(const struct fg_rewrite *r, uint8_t *frame, size_t length, struct fg_rewrite_found *found)
{
	struct rewriting c = {.how = r, .found = found};

	if (length < FG_ETHER_HEADER)
		return length;
	memcpy(c.old_destination_mac, frame, 6);
	memcpy(c.old_source_mac, frame + 6, 6);
	if (r->has_destination_mac)
		memcpy(frame, r->destination_mac, 6);
	if (r->has_source_mac)
		memcpy(frame + 6, r->source_mac, 6);
	length = change_tag(r, frame, length);
	if (r->moves > 0 || r->has_source_mac || r->has_destination_mac)
		rewrite_packet(&c, frame, length);
	if (found != NULL && r->moves > 0 && !c.moved)
		found->unmoved++;
	return length;
}

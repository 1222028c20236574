/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the receiver reads out of a frame: tags, packet type, and whether its check sums are right (7.1.6,
 * 7.1.11).
 */
#include <string.h>

#include "nic.h"

#define STATUS_UDP_CHECKED (1u << 4)
#define STATUS_L4_CHECKED  (1u << 5)
#define STATUS_IP_CHECKED  (1u << 6)
#define STATUS_OUTER_TAG   (1u << 9)
#define ERROR_L4           (1u << 30)
#define ERROR_IP           (1u << 31)
#define TYPE_IPV4          0x010u
#define TYPE_IPV4_OPTIONS  0x020u
#define TYPE_IPV6          0x040u
#define TYPE_TCP           0x100u
#define TYPE_UDP           0x200u
#define TYPE_SCTP          0x400u
#define EXTENDED_VLAN      (1u << 26) /* CTRL_EXT */

static unsigned
be16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

uint32_t
nic_sum(const uint8_t *data, uint32_t length, uint32_t sum)
{
	for (; length > 1; length -= 2, data += 2)
		sum += be16(data);
	return length != 0 ? sum + ((uint32_t)data[0] << 8) : sum;
}

uint16_t
nic_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The FCS of IEEE 802.3, in the order in which its bytes lie behind the frame on this machine */
uint32_t
nic_crc(const uint8_t *data, uint32_t length)
{
	static uint32_t row[256];
	uint32_t crc = UINT32_MAX;

	if (row[1] == 0)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int bit = 0; bit < 8; bit++)
				c = (c & 1) ? 0xEDB88320u ^ c >> 1 : c >> 1;
			row[i] = c;
		}
	while (length-- > 0)
		crc = row[(crc ^ *data++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void
parse_tags(struct nic_card *card, struct nic_packet *p)
{
	unsigned at = 12;
	bool extended = *nic_at(card, NIC_CTRL_EXT) & EXTENDED_VLAN;

	if (extended && p->length >= 22 && be16(p->data + at) == *nic_at(card, NIC_EXVET) >> 16) {
		p->status |= STATUS_OUTER_TAG;
		at += 4;
	}
	p->tag_at = at;
	p->vlan = -1;
	if (p->length >= at + 6 && be16(p->data + at) == (*nic_at(card, NIC_VLNCTRL) & 0xffff)) {
		p->vlan = (int)be16(p->data + at + 2);
		at += 4;
	}
	p->ethertype = (uint16_t)be16(p->data + at);
	p->l2_length = at + 2;
}

static void
parse_l4(struct nic_packet *p, int protocol)
{
	if (p->length < p->l2_length + p->l3_length + 8)
		return;
	p->l4 = p->ip + p->l3_length;
	p->protocol = protocol;
	switch (protocol) {
	case 6:
		p->packet_type |= TYPE_TCP;
		break;
	case 17:
		p->packet_type |= TYPE_UDP;
		break;
	case 132:
		p->packet_type |= TYPE_SCTP;
		break;
	default:
		p->protocol = 0;
		break;
	}
}

void
nic_parse(struct nic_card *card, struct nic_packet *p)
{
	parse_tags(card, p);
	p->ip = p->data + p->l2_length;
	if (p->ethertype == 0x0800 && p->length >= p->l2_length + 20) {
		p->version = 4;
		p->l3_length = (p->ip[0] & 15u) * 4;
		p->packet_type = p->l3_length > 20 ? TYPE_IPV4_OPTIONS : TYPE_IPV4;
		if ((be16(p->ip + 6) & 0x3fff) == 0)
			parse_l4(p, p->ip[9]);
	} else if (p->ethertype == 0x86dd && p->length >= p->l2_length + 40) {
		p->version = 6;
		p->l3_length = 40;
		p->packet_type = TYPE_IPV6;
		parse_l4(p, p->ip[6]);
	}
}

void
nic_check_sums(struct nic_packet *p)
{
	uint32_t length, sum;

	if (p->version == 4) {
		p->status |= STATUS_IP_CHECKED;
		if (nic_fold(nic_sum(p->ip, p->l3_length, 0)) != 0xffff)
			p->errors |= ERROR_IP;
	}
	if (p->protocol != 6 && p->protocol != 17)
		return;
	length = p->version == 4 ? be16(p->ip + 2) - p->l3_length : be16(p->ip + 4);
	if (p->l4 + length > p->data + p->length || length < 8)
		return;
	if (p->protocol == 17 && be16(p->l4 + 6) == 0)
		return;
	sum = p->version == 4 ? nic_sum(p->ip + 12, 8, 0) : nic_sum(p->ip + 8, 32, 0);
	sum = nic_sum(p->l4, length, sum + (uint32_t)p->protocol + length);
	p->status |= STATUS_L4_CHECKED | (p->protocol == 17 ? STATUS_UDP_CHECKED : 0);
	if (nic_fold(sum) != 0xffff)
		p->errors |= ERROR_L4;
}

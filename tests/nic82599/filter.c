/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames the card takes, and into which queue (7.1.2): EtherType filters, then 5-tuple filters, then
 * the flow director's perfect filters over receive-side scaling, and queue 0 for the rest. Not modelled:
 * SYN filter, priorities of 5-tuple filters, the flow director's signature mode and IPv6, pools of virtual
 * machines.
 */
#include <arpa/inet.h>
#include <string.h>

#include "nic.h"

#define FCTRL_MULTICAST   (1u << 8)
#define FCTRL_UNICAST     (1u << 9)
#define FCTRL_BROADCAST   (1u << 10)
#define VLNCTRL_FILTER    (1u << 30)
#define ETQF_ENABLE       (1u << 31)
#define ETQS_ENABLE       (1u << 31)
#define FTQF_ENABLE       (1u << 31)
#define FDIR_PERFECT      (1u << 4)
#define FDIR_REPORT       (1u << 5)
#define FDIRCMD_DROP      (1u << 9)
#define STATUS_FLOW_MATCH (1u << 2)
#define TYPE_L2           0x8000u
#define RSS_TYPE_FLOW     15u

static uint32_t
be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* As it lies in memory: the byte order of those registers that hold addresses */
static uint32_t
raw32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool
is_own_address(struct nic_card *card, const uint8_t *mac)
{
	for (unsigned i = 0; i < 128; i++) {
		uint32_t low = *nic_at(card, NIC_RAL + 8 * i), high = *nic_at(card, NIC_RAH + 8 * i);

		if (high >> 31 && low == raw32(mac) && (high & 0xffff) == ((uint32_t)mac[5] << 8 | mac[4]))
			return true;
	}
	return false;
}

static bool
accepts_address(struct nic_card *card, const uint8_t *mac)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint32_t control = *nic_at(card, NIC_FCTRL),
		 hash = ((uint32_t)mac[4] >> 4 | (uint32_t)mac[5] << 4) & 0xfff;

	if (memcmp(mac, broadcast, 6) == 0)
		return control & FCTRL_BROADCAST;
	if (!(mac[0] & 1))
		return (control & FCTRL_UNICAST) || is_own_address(card, mac);
	if (control & FCTRL_MULTICAST)
		return true;
	return (*nic_at(card, NIC_MCSTCTRL) & 1u << 2) &&
	       (*nic_at(card, NIC_MTA + 4 * (hash >> 5)) >> (hash & 31) & 1);
}

bool
nic_accepts(struct nic_card *card, const struct nic_packet *p)
{
	unsigned vlan = (unsigned)p->vlan & 0xfff;

	if (!accepts_address(card, p->data))
		return false;
	return p->vlan < 0 || !(*nic_at(card, NIC_VLNCTRL) & VLNCTRL_FILTER) ||
	       (*nic_at(card, NIC_VFTA + 4 * (vlan >> 5)) >> (vlan & 31) & 1);
}

/* @return whether an EtherType filter matched; the queue only if that filter names one */
static bool
match_ethertype(struct nic_card *card, struct nic_packet *p, unsigned *queue)
{
	for (unsigned i = 0; i < 8; i++) {
		uint32_t filter = *nic_at(card, NIC_ETQF + 4 * i), action = *nic_at(card, NIC_ETQS + 4 * i);

		if (!(filter & ETQF_ENABLE) || p->ethertype != (filter & 0xffff))
			continue;
		p->packet_type = TYPE_L2 | i << 4;
		if (action & ETQS_ENABLE)
			*queue = action >> 16 & 0x7f;
		return true;
	}
	return false;
}

static bool
matches_five_tuple(struct nic_card *card, const struct nic_packet *p, unsigned i)
{
	uint32_t filter = *nic_at(card, NIC_FTQF + 4 * i), mask = filter >> 25 & 31;
	uint32_t ports = *nic_at(card, NIC_SDPQF + 4 * i);
	unsigned protocol = p->protocol == 6 ? 0 : p->protocol == 17 ? 1 : p->protocol == 132 ? 2 : 3;

	if (!(filter & FTQF_ENABLE) || p->version != 4)
		return false;
	if (!(mask & 1) && *nic_at(card, NIC_SAQF + 4 * i) != raw32(p->ip + 12))
		return false;
	if (!(mask & 2) && *nic_at(card, NIC_DAQF + 4 * i) != raw32(p->ip + 16))
		return false;
	if (!(mask & 4) && (p->l4 == NULL || memcmp(&ports, p->l4, 2) != 0))
		return false;
	if (!(mask & 8) && (p->l4 == NULL || memcmp((const char *)&ports + 2, p->l4 + 2, 2) != 0))
		return false;
	return (mask & 16) || (filter & 3) == protocol;
}

/* Port masks have the bits of each half in reverse order (driver) */
static uint32_t
reverse_halves(uint32_t value)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < 16; i++)
		out |= (value >> i & 1) << (15 - i) | (value >> (16 + i) & 1) << (31 - i);
	return out;
}

static bool
matches_flow(struct nic_card *card, const struct nic_packet *p, const struct nic_flow *flow)
{
	uint32_t masked = *nic_at(card, NIC_FDIRM), ports = 0, mask = 0, flex = 0;
	unsigned type = p->protocol == 17 ? 1 : p->protocol == 6 ? 2 : p->protocol == 132 ? 3 : 0;
	unsigned at = (*nic_at(card, NIC_FDIRCTRL) >> 16 & 0x1f) * 2;

	if (!flow->used || ((flow->source ^ raw32(p->ip + 12)) & ~*nic_at(card, NIC_FDIRSIP4M)) ||
	    ((flow->destination ^ raw32(p->ip + 16)) & ~*nic_at(card, NIC_FDIRDIP4M)))
		return false;
	if (!(masked & 1u << 3) && (flow->command >> 5 & 3) != type)
		return false;
	if (type == 1 || type == 2) {
		ports = (be32(p->l4) & 0xffff) << 16 | be32(p->l4) >> 16;
		mask = reverse_halves(~*nic_at(card, type == 1 ? NIC_FDIRUDPM : NIC_FDIRTCPM));
	}
	if ((flow->ports ^ ports) & mask)
		return false;
	if (!(masked & 1) && (flow->vlan & 0xfff) != (p->vlan < 0 ? 0u : (unsigned)p->vlan & 0xfff))
		return false;
	if (at + 1 < p->length)
		flex = (uint32_t)p->data[at + 1] << 8 | p->data[at];
	return (masked & 1u << 4) || flow->vlan >> 16 == flex;
}

static const struct nic_flow *
find_flow(struct nic_card *card, const struct nic_packet *p)
{
	uint32_t control = *nic_at(card, NIC_FDIRCTRL);

	if ((control & 3) == 0 || !(control & FDIR_PERFECT) || p->version != 4)
		return NULL;
	for (unsigned i = 0; i < card->flows; i++)
		if (matches_flow(card, p, &card->flow[i]))
			return &card->flow[i];
	return NULL;
}

/* 7.1.2.8.1: Toeplitz over what MRQC names for this kind of packet */
static uint32_t
toeplitz(const uint8_t *key, const uint8_t *input, unsigned length)
{
	uint32_t hash = 0, window = be32(key);

	for (unsigned i = 0; i < length; i++)
		for (int bit = 7; bit >= 0; bit--) {
			if (input[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (key[i + 4] >> bit & 1);
		}
	return hash;
}

static uint32_t
rss_type(uint32_t enabled, const struct nic_packet *p)
{
	if (p->version == 4) {
		if (p->protocol == 6 && (enabled & 1))
			return 1;
		if (p->protocol == 17 && (enabled & 1u << 6))
			return 7;
		return (enabled & 1u << 1) ? 2 : 0;
	}
	if (p->protocol == 6 && (enabled & 1u << 5))
		return 3;
	if (p->protocol == 17 && (enabled & 1u << 7))
		return 8;
	return (enabled & 1u << 4) ? 5 : 0;
}

static void
spread(struct nic_card *card, struct nic_packet *p, unsigned *queue)
{
	uint32_t control = *nic_at(card, NIC_MRQC);
	uint8_t input[36];
	unsigned length = p->version == 4 ? 8 : 32;

	if ((control & 15) != 1 || p->version == 0)
		return;
	p->rss_type = rss_type(control >> 16, p);
	if (p->rss_type == 0)
		return;
	memcpy(input, p->ip + (p->version == 4 ? 12 : 8), length);
	if (p->rss_type == 1 || p->rss_type == 3 || p->rss_type >= 7) {
		memcpy(input + length, p->l4, 4);
		length += 4;
	}
	p->hash = toeplitz((const uint8_t *)nic_at(card, NIC_RSSRK), input, length);
	*queue = ((const uint8_t *)nic_at(card, NIC_RETA))[p->hash & 127] & 15;
}

bool
nic_choose_queue(struct nic_card *card, struct nic_packet *p, unsigned *queue)
{
	const struct nic_flow *flow;

	*queue = 0;
	if (match_ethertype(card, p, queue))
		return true;
	for (unsigned i = 0; i < 128; i++)
		if (matches_five_tuple(card, p, i)) {
			*queue = *nic_at(card, NIC_L34TIMIR + 4 * i) >> 21 & 0x7f;
			return true;
		}
	spread(card, p, queue);
	flow = find_flow(card, p);
	if (*nic_at(card, NIC_FDIRCTRL) & 3)
		nic_count(card, flow != NULL ? NIC_FDIRMATCH : NIC_FDIRMISS, 1);
	if (flow == NULL)
		return true;
	*queue = flow->command >> 16 & 0x7f;
	if (*nic_at(card, NIC_FDIRCTRL) & FDIR_REPORT) {
		p->status |= STATUS_FLOW_MATCH;
		p->rss_type = RSS_TYPE_FLOW;
		p->hash = flow->hash & 0xffff0000u;
	}
	return !(flow->command & FDIRCMD_DROP);
}

static struct nic_flow *
place_for(struct nic_card *card)
{
	for (unsigned i = 0; i < card->flows; i++)
		if (!card->flow[i].used)
			return &card->flow[i];
	return card->flows < NIC_FILTERS ? &card->flow[card->flows++] : NULL;
}

static struct nic_flow *
flow_by_hash(struct nic_card *card, uint32_t hash)
{
	for (unsigned i = 0; i < card->flows; i++)
		if (card->flow[i].used && card->flow[i].hash == hash)
			return &card->flow[i];
	return NULL;
}

/*
 * FDIRCMD: add, remove or query the filter of FDIRHASH (8.2.3.21.19). The command reads back as none when
 * it is done.
 */
void
nic_flow_command(struct nic_card *card, uint32_t command)
{
	uint32_t hash = *nic_at(card, NIC_FDIRHASH);
	struct nic_flow *flow = flow_by_hash(card, hash);

	if ((command & 3) == 1) {
		if (flow == NULL) {
			flow = place_for(card);
			nic_count(card, NIC_FDIRFREE, UINT32_MAX);
		}
		if (flow != NULL)
			*flow = (struct nic_flow){*nic_at(card, NIC_FDIRIPSA),
						  *nic_at(card, NIC_FDIRIPDA),
						  *nic_at(card, NIC_FDIRPORT),
						  *nic_at(card, NIC_FDIRVLAN),
						  hash,
						  command,
						  true};
		nic_count(card, flow != NULL ? NIC_FDIRUSTAT : NIC_FDIRFSTAT, 1);
	} else if ((command & 3) == 2) {
		nic_count(card, flow != NULL ? NIC_FDIRUSTAT : NIC_FDIRFSTAT, 1u << 16);
		if (flow != NULL) {
			flow->used = false;
			nic_count(card, NIC_FDIRFREE, 1);
		}
	} else if ((command & 3) == 3)
		command = (command & ~4u) | (flow != NULL ? 4 : 0);
	*nic_at(card, NIC_FDIRCMD) = command & ~3u;
}

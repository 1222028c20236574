/* SPDX-License-Identifier: BSD-3-Clause */
/* The template of a session's probes: headers, and all of the message that is the same in each. */
#include <arpa/inet.h>
#include <string.h>

#include "oam_probe_priv.h"

enum { MAC = 6, VERSION_IHL = 0x45, IPV6_VERSION = 0x60000000 };

static void
make_ip(const struct fg_oam_sender_config *c, uint8_t *frame, struct oam_message *place)
{
	struct fg_udp *udp;

	place->version = c->ipv6 ? 6 : 4;
	place->ip = FG_ETHER_HEADER;
	place->udp = place->ip + (c->ipv6 ? sizeof(struct fg_ipv6) : sizeof(struct fg_ipv4));
	place->at = place->udp + sizeof(*udp);
	if (c->ipv6) {
		struct fg_ipv6 *ip = (struct fg_ipv6 *)(frame + place->ip);

		ip->version_class_flow = htonl(IPV6_VERSION | (uint32_t)c->dscp << 22);
		ip->next_header = FG_IP_UDP;
		ip->hop_limit = c->ttl;
		memcpy(ip->src, c->host.ipv6, 16);
		memcpy(ip->dst, c->peer, 16);
	} else {
		struct fg_ipv4 *ip = (struct fg_ipv4 *)(frame + place->ip);

		ip->version_ihl = VERSION_IHL;
		ip->tos = (uint8_t)(c->dscp << 2);
		ip->protocol = FG_IP_UDP;
		ip->ttl = c->ttl;
		memcpy(ip->src, c->host.ipv4, 4);
		memcpy(ip->dst, c->peer, 4);
	}
	udp = (struct fg_udp *)(frame + place->udp);
	udp->src = htons(c->from);
	udp->dst = htons(c->to);
}

/* opcode, bytes of fields, version */
static const struct {
	uint8_t opcode, fields, version;
} FORMATS[] = {
	[FG_OAM_LOOPBACK] = {Y1731_LBM, Y1731_LB_FIELDS, 0},
	[FG_OAM_DELAY] = {Y1731_DMM, Y1731_DM_FIELDS, 1},
	[FG_OAM_SYNTHETIC] = {Y1731_SLM, Y1731_SL_FIELDS, 0},
	[FG_OAM_LOSS] = {Y1731_LMM, Y1731_LM_FIELDS, 0},
};

/* a data TLV makes up the size, where one fits; the end TLV is a zero */
static void
make_y1731(const struct fg_oam_sender_config *c, uint8_t *frame, const struct oam_message *place)
{
	uint8_t *message = frame + place->at;
	size_t tlv = (size_t)Y1731_FIELDS + FORMATS[c->test].fields;
	size_t left = place->length - tlv;

	message[Y1731_LEVEL] = (uint8_t)(c->level << 5 | FORMATS[c->test].version);
	message[Y1731_OPCODE] = FORMATS[c->test].opcode;
	message[Y1731_TLV_OFFSET] = FORMATS[c->test].fields;
	if (c->test == FG_OAM_SYNTHETIC) {
		fg_put16(message + Y1731_SL_SOURCE, c->mep);
		fg_put32(message + Y1731_SL_ID, c->id);
	}
	if (left <= Y1731_TLV_HEADER + 1)
		return;
	left -= Y1731_TLV_HEADER + 1;
	message[tlv] = Y1731_TLV_DATA;
	fg_put16(message + tlv + 1, (uint16_t)left);
	for (size_t i = 0; i < left; i++)
		message[tlv + Y1731_TLV_HEADER + i] = (uint8_t)i;
}

size_t
oam_make_probe(const struct fg_oam_sender_config *c, uint8_t *frame, struct oam_message *place)
{
	bool udp = oam_is_over_udp(c->test);
	size_t least = udp ? c->test == FG_OAM_STAMP ? STAMP_BASE : TWAMP_REPLY
			   : (size_t)Y1731_FIELDS + FORMATS[c->test].fields + 1;

	memcpy(frame, c->mac, MAC);
	memcpy(frame + MAC, c->host.mac, MAC);
	fg_put16(frame + (size_t)2 * MAC, udp ? c->ipv6 ? FG_ETHER_IPV6 : FG_ETHER_IPV4 : FG_ETHER_CFM);
	place->at = FG_ETHER_HEADER;
	if (udp)
		make_ip(c, frame, place);
	if (c->frame_size > FG_FRAME_MAX || c->frame_size < place->at + least + FG_ETHER_FCS)
		return place->at + least + FG_ETHER_FCS;
	place->length = c->frame_size - FG_ETHER_FCS - place->at;
	if (!udp)
		make_y1731(c, frame, place);
	if (c->test == FG_OAM_STAMP) {
		fg_put16(frame + place->at + STAMP_SSID, c->ssid);
		oam_stamp_pad(frame + place->at, place->length);
	}
	return 0;
}

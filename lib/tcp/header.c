/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers, written around a payload that is in place already. The IPv4 identification is 0, since nothing we
 * send may be fragmented (DF is set; RFC 6864).
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_checksum.h"
#include "tcp_priv.h"

enum { TTL = 64, DONT_FRAGMENT = 0x4000 };

struct tcp_header {
	uint16_t src, dst;
	uint32_t seq, ack;
	uint8_t offset, flags;
	uint16_t window, checksum, urgent;
} __attribute__((packed));

struct udp_header {
	uint16_t src, dst, length, checksum;
} __attribute__((packed));

/* @return the sum of the pseudo-header */
static inline uint64_t
put_ip(const struct fg_l4 *w, uint8_t *frame, const struct fg_flow *f, uint8_t protocol, uint8_t ecn,
       size_t upper)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	struct fg_ipv4 *ip4 = (struct fg_ipv4 *)(ether + 1);
	struct fg_ipv6 *ip6 = (struct fg_ipv6 *)(ether + 1);
	uint64_t pseudo;

	memcpy(ether->dst, f->mac, 6);
	memcpy(ether->src, w->config.mac, 6);
	ether->type = htons(f->ipv6 ? FG_ETHER_IPV6 : FG_ETHER_IPV4);
	if (f->ipv6) {
		ip6->version_class_flow = htonl(6U << 28 | (uint32_t)ecn << 20);
		ip6->payload_length = htons((uint16_t)upper);
		ip6->next_header = protocol;
		ip6->hop_limit = TTL;
		memcpy(ip6->src, f->local, 16);
		memcpy(ip6->dst, f->remote, 16);
		return fg_checksum_pseudo6(ip6, protocol, (uint32_t)upper);
	}
	*ip4 = (struct fg_ipv4){
		.version_ihl = 0x45,
		.tos = ecn,
		.length = htons((uint16_t)(sizeof(*ip4) + upper)),
		.fragment = htons(DONT_FRAGMENT),
		.ttl = TTL,
		.protocol = protocol,
	};
	memcpy(ip4->src, f->local + 12, 4);
	memcpy(ip4->dst, f->remote + 12, 4);
	pseudo = fg_checksum_pseudo4(ip4, protocol, (uint16_t)upper);
	/* the pseudo-header has the addresses, the protocol, and the length without this header */
	ip4->checksum = fg_checksum_finish(pseudo + htons(sizeof(*ip4)) + htons((uint16_t)(0x4500 | ecn)) +
					   htons(DONT_FRAGMENT) + htons(TTL << 8));
	return pseudo;
}

/* the frame is whole: it is the next of the burst; short ones are padded as a NIC would */
static inline void
put_frame(struct fg_l4 *w, uint8_t *frame, size_t length, uint16_t segment)
{
	const size_t least = FG_ETHER_MIN - FG_ETHER_FCS;

	if (length < least) {
		memset(frame + length, 0, least - length);
		length = least;
	}
	w->out->segment[w->out->frames] = segment;
	w->out->length[w->out->frames++] = (uint16_t)length;
	w->counters.tx_frames++;
}

void
frame_tcp(struct fg_l4 *w, const struct fg_flow *f, const struct tcp_fields *t)
{
	uint8_t *frame = fg_l4_room(w);
	size_t before = frame_ip_end(f->ipv6);
	struct tcp_header *tcp = (struct tcp_header *)(frame + before);
	size_t upper = TCP_HEADER + t->options + t->payload;
	uint64_t sum = put_ip(w, frame, f, FG_IP_TCP, t->ecn, upper);

	*tcp = (struct tcp_header){
		.src = htons(f->local_port),
		.dst = htons(f->remote_port),
		.seq = htonl(t->seq),
		.ack = htonl(t->ack),
		.offset = (uint8_t)((TCP_HEADER + t->options) / 4 << 4),
		.flags = t->flags,
		.window = htons(t->window),
	};
	if (t->segment != 0)
		tcp->checksum = (uint16_t)~fg_checksum_finish(sum);
	else
		tcp->checksum = fg_checksum_finish(fg_checksum_add(sum, tcp, upper));
	put_frame(w, frame, before + upper, t->segment);
}

uint8_t *
fg_datagram_room(const struct fg_l4 *w, bool ipv6)
{
	uint8_t *frame = fg_l4_room(w);

	return frame == NULL ? NULL : frame + frame_ip_end(ipv6) + sizeof(struct udp_header);
}

/* @return its header, in the room for the next frame */
static const struct udp_header *
put_udp(const struct fg_l4 *w, const struct fg_flow *f, size_t upper, uint8_t ecn)
{
	uint8_t *frame = fg_l4_room(w);
	struct udp_header *udp = (struct udp_header *)(frame + frame_ip_end(f->ipv6));
	uint64_t sum = put_ip(w, frame, f, FG_IP_UDP, ecn, upper);

	*udp = (struct udp_header){htons(f->local_port), htons(f->remote_port), htons((uint16_t)upper), 0};
	udp->checksum = fg_checksum_finish(fg_checksum_add(sum, udp, upper));
	if (udp->checksum == 0)
		udp->checksum = 0xffff; /* RFC 768 */
	return udp;
}

void
fg_datagram_send_ecn(struct fg_l4 *w, const struct fg_flow *f, uint32_t payload, uint8_t ecn)
{
	size_t upper = sizeof(struct udp_header) + payload;

	put_udp(w, f, upper, ecn);
	put_frame(w, fg_l4_room(w), frame_ip_end(f->ipv6) + upper, 0);
	w->counters.udp_tx++;
}

void
fg_datagram_send(struct fg_l4 *w, const struct fg_flow *f, uint32_t payload)
{
	fg_datagram_send_ecn(w, f, payload, ECN_NOT);
}

bool
fg_datagram_has_header(const struct fg_l4 *w, const struct fg_flow *f, uint32_t payload,
		       const uint8_t *header)
{
	return memcmp(put_udp(w, f, sizeof(struct udp_header) + payload, ECN_NOT), header,
		      sizeof(struct udp_header)) == 0;
}

void
fg_echo_send(struct fg_l4 *w, const struct fg_flow *f, bool request, uint32_t id, uint32_t payload)
{
	uint8_t *frame = fg_l4_room(w);
	size_t before = frame_ip_end(f->ipv6), upper = sizeof(struct fg_icmp) + payload;
	struct fg_icmp *icmp = (struct fg_icmp *)(frame + before);
	uint64_t sum = put_ip(w, frame, f, f->ipv6 ? FG_IP_ICMPV6 : FG_IP_ICMP, ECN_NOT, upper);

	*icmp = (struct fg_icmp){.rest = htonl(id)};
	icmp->type = f->ipv6   ? request ? FG_ICMPV6_ECHO : FG_ICMPV6_ECHO_REPLY
		     : request ? FG_ICMP_ECHO
			       : FG_ICMP_ECHO_REPLY;
	/* ICMP has no pseudo-header */
	icmp->checksum = fg_checksum_finish(fg_checksum_add(f->ipv6 ? sum : 0, icmp, upper));
	put_frame(w, frame, before + upper, 0);
}

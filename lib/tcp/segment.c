/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parse headers. All lengths are verified before use: IP and TCP lengths against the frame, header lengths
 * against their minimum, options against their header; then the checksums. Padding behind the IP packet is
 * cut off. Fragments are not reassembled: we send none, and announce an MSS that needs none. A port that
 * merges segments verifies the checksum of each.
 */
#include "fg_bytes.h"
#include "fg_checksum.h"
#include "tcp_priv.h"

enum { UDP_HEADER = 8, MORE_OR_OFFSET = 0x3fff };

/* without options, in line */
static inline uint64_t
sum_of_header(const struct fg_ipv4 *ip)
{
	uint32_t word[5];

	memcpy(word, ip, sizeof(word));
	return (uint64_t)word[0] + word[1] + word[2] + word[3] + word[4];
}

/* @return bytes of the upper protocol behind *at; 0: not to be used */
static size_t
read_ipv4(const uint8_t **at, size_t length, struct segment *s, uint64_t *sum, struct fg_l4_counters *n)
{
	const struct fg_ipv4 *ip = (const struct fg_ipv4 *)*at;
	size_t header = length < sizeof(*ip) ? 0 : (size_t)(ip->version_ihl & 15) * 4;
	size_t total = length < sizeof(*ip) ? 0 : ntohs(ip->length);

	if (header < sizeof(*ip) || ip->version_ihl >> 4 != 4 || total > length || total <= header) {
		n->rx_malformed++;
		return 0;
	}
	if (fg_checksum_finish(header == sizeof(*ip) ? sum_of_header(ip) : fg_checksum_add(0, ip, header)) !=
	    0) {
		n->rx_bad_checksum++;
		return 0;
	}
	if (ntohs(ip->fragment) & MORE_OR_OFFSET) {
		n->rx_fragments++;
		return 0;
	}
	fg_address_of_ipv4(ip->dst, s->flow.local);
	fg_address_of_ipv4(ip->src, s->flow.remote);
	s->protocol = ip->protocol;
	s->ecn = ip->tos & 3;
	*sum = fg_checksum_pseudo4(ip, ip->protocol, (uint16_t)(total - header));
	*at += header;
	return total - header;
}

static size_t
read_ipv6(const uint8_t **at, size_t length, struct segment *s, uint64_t *sum, struct fg_l4_counters *n)
{
	const struct fg_ipv6 *ip = (const struct fg_ipv6 *)*at;
	size_t payload;

	if (length < sizeof(*ip) || **at >> 4 != 6 || ntohs(ip->payload_length) > length - sizeof(*ip)) {
		n->rx_malformed++;
		return 0;
	}
	payload = ntohs(ip->payload_length);
	memcpy(s->flow.local, ip->dst, 16);
	memcpy(s->flow.remote, ip->src, 16);
	s->flow.ipv6 = true;
	s->protocol = ip->next_header;
	s->ecn = ntohl(ip->version_class_flow) >> 20 & 3;
	*sum = fg_checksum_pseudo6(ip, ip->next_header, (uint32_t)payload);
	*at += sizeof(*ip);
	return payload;
}

static bool
read_tcp(const uint8_t *p, size_t length, struct segment *s)
{
	size_t header;

	if (length < TCP_HEADER)
		return false;
	header = (size_t)(p[12] >> 4) * 4;
	if (header < TCP_HEADER || header > length)
		return false;
	s->flow.remote_port = fg_get16(p);
	s->flow.local_port = fg_get16(p + 2);
	s->seq = fg_get32(p + 4);
	s->ack = fg_get32(p + 8);
	s->flags = p[13];
	s->window = fg_get16(p + 14);
	options_read(p + TCP_HEADER, header - TCP_HEADER, s);
	s->payload = p + header;
	s->length = (uint32_t)(length - header);
	return true;
}

static bool
read_udp(const uint8_t *p, size_t length, struct segment *s)
{
	if (length < UDP_HEADER || fg_get16(p + 4) < UDP_HEADER || fg_get16(p + 4) > length)
		return false;
	s->flow.remote_port = fg_get16(p);
	s->flow.local_port = fg_get16(p + 2);
	s->payload = p + UDP_HEADER;
	s->length = fg_get16(p + 4) - UDP_HEADER;
	return true;
}

static bool
read_upper(const uint8_t *at, size_t length, uint64_t sum, struct segment *s, struct fg_l4_counters *n)
{
	/* a UDP checksum of 0 means no checksum (RFC 768); not over IPv6 */
	bool none =
		s->protocol == FG_IP_UDP && !s->flow.ipv6 && length >= UDP_HEADER && fg_get16(at + 6) == 0;

	if (s->protocol == FG_IP_ICMP || s->protocol == FG_IP_ICMPV6) {
		s->payload = at;
		s->length = (uint32_t)length;
		if (s->protocol == FG_IP_ICMP)
			sum = 0; /* no pseudo-header */
	} else if (!(s->protocol == FG_IP_TCP ? read_tcp(at, length, s) : read_udp(at, length, s))) {
		n->rx_malformed++;
		return false;
	}
	if (!none && !s->checked && fg_checksum_finish(fg_checksum_add(sum, at, length)) != 0) {
		n->rx_bad_checksum++;
		return false;
	}
	return true;
}

bool
segment_read(const struct fg_arrival *in, struct segment *s, struct fg_l4_counters *n)
{
	const struct fg_ether *ether = (const struct fg_ether *)in->frame;
	const uint8_t *at = in->frame + sizeof(*ether);
	size_t length = in->length, upper = 0;
	uint64_t sum = 0;

	s->checked = in->checked;
	s->flow.ipv6 = false;
	s->flow.local_port = s->flow.remote_port = 0; /* ICMP has none */
	s->has_mss = s->has_scale = s->has_ts = s->sack_permitted = false;
	s->sacks = 0;
	if (length >= sizeof(*ether) && ether->type == htons(FG_ETHER_IPV4))
		upper = read_ipv4(&at, length - sizeof(*ether), s, &sum, n);
	else if (length >= sizeof(*ether) && ether->type == htons(FG_ETHER_IPV6))
		upper = read_ipv6(&at, length - sizeof(*ether), s, &sum, n);
	else
		n->rx_not_ours++;
	if (upper == 0)
		return false;
	if (s->protocol != FG_IP_TCP && s->protocol != FG_IP_UDP && s->protocol != FG_IP_ICMP &&
	    s->protocol != FG_IP_ICMPV6) {
		n->rx_not_ours++;
		return false;
	}
	memcpy(s->flow.mac, ether->src, 6);
	return read_upper(at, upper, sum, s, n);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The RST that a firewall sends in the name of an end host. */
#include <string.h>

#include "fg_bytes.h"
#include "fg_checksum.h"
#include "connections_priv.h"
#include "firewall_priv.h"

enum {
	TCP_OCTETS = 20,
	SEQUENCE_AT = 4,
	ACK_AT = 8,
	OFFSET_AT = 12,
	FLAGS_AT = 13,
	WINDOW_AT = 14,
	CHECKSUM_AT = 16,
	URGENT_AT = 18,
};

/*
 * To the sender: the segment's acknowledgement number is the RST's sequence number, and the segment is
 * acknowledged. To the receiver: the RST has the segment's sequence number.
 */
static void
set_numbers(uint8_t *tcp, const struct segment *s, bool back)
{
	uint32_t sequence = fg_get32(tcp + SEQUENCE_AT), ack = fg_get32(tcp + ACK_AT);
	uint32_t takes = s->payload_octets + !!(s->tcp_flags & TCP_SYN) + !!(s->tcp_flags & TCP_FIN);

	if (back) {
		fg_put32(tcp + SEQUENCE_AT, s->tcp_flags & TCP_ACK ? ack : 0);
		fg_put32(tcp + ACK_AT, sequence + takes);
	}
	tcp[FLAGS_AT] = TCP_RST | (back || (s->tcp_flags & TCP_ACK) ? TCP_ACK : 0);
	tcp[OFFSET_AT] = TCP_OCTETS / 4 << 4;
	memset(tcp + WINDOW_AT, 0, TCP_OCTETS - WINDOW_AT);
}

size_t
firewall_rst(uint8_t *frame, size_t length, bool back)
{
	struct segment s;
	uint8_t *tcp;
	uint64_t sum;
	uint16_t checksum;

	if (!segment_find(frame, length, &s))
		return length;
	tcp = frame + s.content;
	set_numbers(tcp, &s, back);
	if (s.tuple.version == 4) {
		struct fg_ipv4 *ip = (struct fg_ipv4 *)(frame + s.header);
		size_t header = s.content - s.header;

		fg_put16((uint8_t *)&ip->length, (uint16_t)(header + TCP_OCTETS));
		ip->checksum = 0;
		ip->checksum = fg_checksum_finish(fg_checksum_add(0, ip, header));
		sum = fg_checksum_pseudo4(ip, FG_IP_TCP, TCP_OCTETS);
	} else {
		struct fg_ipv6 *ip = (struct fg_ipv6 *)(frame + s.header);
		size_t extensions = s.content - s.header - sizeof(*ip);

		fg_put16((uint8_t *)&ip->payload_length, (uint16_t)(extensions + TCP_OCTETS));
		sum = fg_checksum_pseudo6(ip, FG_IP_TCP, TCP_OCTETS);
	}
	checksum = fg_checksum_finish(fg_checksum_add(sum, tcp, TCP_OCTETS));
	memcpy(tcp + CHECKSUM_AT, &checksum, sizeof(checksum));
	length = s.content + TCP_OCTETS;
	if (back)
		fg_net_reflect(frame, length); /* swapped addresses and ports do not change a checksum */
	return length;
}

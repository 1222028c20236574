/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a frame that a stateful device uses: addresses, ports, TCP flags, payload length. */
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "connections_priv.h"

enum {
	UDP_HEADER = 8,
	TCP_HEADER = 20,
	TCP_OFFSET_AT = 12, /* in words, upper half of the byte */
	TCP_FLAGS_AT = 13,
};

static bool
find_transport(const uint8_t *frame, size_t length, struct segment *s)
{
	const uint8_t *transport = frame + s->content;
	size_t header = UDP_HEADER;

	if (s->content + UDP_HEADER > length)
		return false;
	memcpy(&s->tuple.from_port, transport, 2);
	memcpy(&s->tuple.to_port, transport + 2, 2);
	if (s->tuple.protocol == FG_IP_TCP) {
		if (s->content + TCP_HEADER > length)
			return false;
		header = 4U * (transport[TCP_OFFSET_AT] >> 4);
		s->tcp_flags = transport[TCP_FLAGS_AT];
	}
	s->payload = s->content + header;
	return s->payload <= length;
}

bool
segment_find(const uint8_t *frame, size_t length, struct segment *s)
{
	struct fg_net_packet packet;
	size_t end;

	fg_net_find_packet(frame, length, &packet);
	if (packet.version == 0 || packet.fragment ||
	    (packet.protocol != FG_IP_TCP && packet.protocol != FG_IP_UDP))
		return false;
	*s = (struct segment){.header = packet.header, .content = packet.content};
	s->tuple.version = packet.version;
	s->tuple.protocol = packet.protocol;
	if (packet.version == 4) {
		const struct fg_ipv4 *ip = (const struct fg_ipv4 *)(frame + packet.header);

		memcpy(s->tuple.from, ip->src, sizeof(ip->src));
		memcpy(s->tuple.to, ip->dst, sizeof(ip->dst));
		end = packet.header + fg_get16((const uint8_t *)&ip->length);
	} else {
		const struct fg_ipv6 *ip = (const struct fg_ipv6 *)(frame + packet.header);

		memcpy(s->tuple.from, ip->src, sizeof(ip->src));
		memcpy(s->tuple.to, ip->dst, sizeof(ip->dst));
		end = packet.header + sizeof(*ip) + fg_get16((const uint8_t *)&ip->payload_length);
	}
	if (end > length || !find_transport(frame, length, s) || s->payload > end)
		return false;
	s->payload_octets = (uint32_t)(end - s->payload);
	return true;
}

struct tuple
tuple_back(const struct tuple *tuple)
{
	struct tuple back = *tuple;

	memcpy(back.from, tuple->to, sizeof(back.from));
	memcpy(back.to, tuple->from, sizeof(back.to));
	back.from_port = tuple->to_port;
	back.to_port = tuple->from_port;
	return back;
}

bool
connection_ends(struct connection *c, unsigned side, const struct segment *s)
{
	bool both = c->fin == 3;

	if (s->tuple.protocol != FG_IP_TCP)
		return false;
	if (s->tcp_flags & TCP_FIN)
		c->fin |= (uint8_t)(1 << side);
	return (s->tcp_flags & TCP_RST) || (both && !(s->tcp_flags & TCP_FIN));
}

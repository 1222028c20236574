/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device as a router. It owns the gateway addresses of the plan and answers ARP, Neighbor
 * Discovery, echo and SNMP for them. It forwards frames that are sent to its MAC: it decrements the time to
 * live, updates the checksum, and addresses the frame to the host that it has seen on the other side. There
 * are two sides, so it needs no routing table. A VLAN tag stays as it is: the router is in every VLAN, and
 * keeps them apart. A device that reflects also answers for its addresses, and sends back the frames that a
 * router would forward, with any destination MAC.
 */
#include <arpa/inet.h>
#include <string.h>

#include "device_priv.h"

/* what is sent to the router itself is not passed on */
static bool
forward_ipv4(const struct fg_host *router, struct fg_ipv4 *ip)
{
	uint32_t sum;

	if (ip->ttl <= 1 || (router->has_ipv4 && memcmp(ip->dst, router->ipv4, 4) == 0))
		return false;
	/* RFC 1624: the word with the TTL fell by 0x0100, so the checksum rises by it, end-around */
	ip->ttl--;
	sum = ip->checksum + (uint32_t)htons(0x0100);
	ip->checksum = (uint16_t)(sum + (sum >= 0xffff));
	return true;
}

static bool
forward_ipv6(const struct fg_host *router, struct fg_ipv6 *ip)
{
	if (ip->hop_limit <= 1 || (router->has_ipv6 && memcmp(ip->dst, router->ipv6, 16) == 0))
		return false;
	ip->hop_limit--;
	return true;
}

static bool
forward(struct side *side, struct fg_ether *ether, size_t length)
{
	static const uint8_t nobody[6];
	struct side *out = side->other;
	bool alive = false;

	if (memcmp(out->neighbour, nobody, 6) == 0)
		return false;
	if (ether->type == htons(FG_ETHER_IPV4) && length >= sizeof(*ether) + sizeof(struct fg_ipv4))
		alive = forward_ipv4(&side->router, (struct fg_ipv4 *)(ether + 1));
	else if (ether->type == htons(FG_ETHER_IPV6) && length >= sizeof(*ether) + sizeof(struct fg_ipv6))
		alive = forward_ipv6(&side->router, (struct fg_ipv6 *)(ether + 1));
	if (!alive)
		return false;
	memcpy(ether->src, out->router.mac, 6);
	memcpy(ether->dst, out->neighbour, 6);
	return true;
}

/* as an SNMP agent: bytes and up time, which the device does not count, are 0 */
static size_t
answer_query(struct side *side, uint8_t *frame, size_t length)
{
	const struct fg_device_counters *in = &side->direction.counters,
					*out = &side->other->direction.counters;
	uint32_t values[FG_SNMP_OBJECTS] = {
		0, 0, 0, (uint32_t)in->received, (uint32_t)(out->forwarded + in->answered),
	};

	return fg_net_snmp_answer(&side->router, values, frame, length);
}

static enum wire_route
route_untagged(struct side *side, uint8_t *frame, size_t *length, size_t room)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	bool ours = memcmp(ether->dst, side->router.mac, 6) == 0;
	size_t answer;

	memcpy(side->neighbour, ether->src, 6);
	if (side->sink == side ? fg_net_reflect(frame, *length) : ours && forward(side, ether, *length))
		return WIRE_FORWARD;
	if ((!ours && (ether->dst[0] & 1) == 0) || room < FG_ANSWER_ROOM)
		return WIRE_DROP;
	answer = fg_net_answer(&side->router, frame, *length);
	if (answer == 0 && room >= FG_DATAGRAM_ROOM)
		answer = answer_query(side, frame, *length);
	if (answer == 0)
		return WIRE_DROP;
	*length = answer;
	return WIRE_ANSWER;
}

enum wire_route
wire_route(struct side *side, uint8_t *frame, size_t *length, size_t room)
{
	uint32_t tag = fg_net_untag(frame, *length);
	enum wire_route route;

	if (tag == 0)
		return route_untagged(side, frame, length, room);
	*length -= FG_NET_TAG;
	route = route_untagged(side, frame + FG_NET_TAG, length, room - FG_NET_TAG);
	*length += FG_NET_TAG;
	fg_net_tag(frame, tag);
	return route;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tunnels of the reference switch, one to each port: IP in IP and GRE. A packet to the switch's end of a
 * tunnel is decapsulated if the inner packet is for a group; packets to groups leave encapsulated, for the
 * tester's end. The switch answers ARP and ND for its ends, and sends to the source MAC address of the last
 * frame. Membership reports are not encapsulated.
 *
 * The tester's buffers stay as they are, because it uses them again: the switch changes copies.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_membership.h"
#include "fg_net.h"
#include "line_priv.h"
#include "mcast_priv.h"

enum { GRE = 4, GRE_KEY = 4, HOPS = 64, IPV4_PLAIN = 0x45, IPV6_PLAIN = 0x60 };
static const uint16_t KEY_PRESENT = 0x2000, DONT_FRAGMENT = 0x4000;

/* a packet in a frame */
struct packet {
	uint32_t at; /* bytes before it */
	uint32_t length, header;
	unsigned version;
	uint8_t protocol;
	const uint8_t *dst;
};

/* @return false: not an IP packet without options, or truncated */
static bool
find_packet(const struct rte_mbuf *m, uint32_t at, struct packet *out)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *) + at;

	if (at + sizeof(struct fg_ipv4) <= m->data_len && ip[0] == IPV4_PLAIN)
		*out = (struct packet){at,
				       fg_get16(ip + offsetof(struct fg_ipv4, length)),
				       sizeof(struct fg_ipv4),
				       4,
				       ((const struct fg_ipv4 *)ip)->protocol,
				       ((const struct fg_ipv4 *)ip)->dst};
	else if (at + sizeof(struct fg_ipv6) <= m->data_len && ip[0] == IPV6_PLAIN)
		*out = (struct packet){at,
				       fg_get16(ip + offsetof(struct fg_ipv6, payload_length)) +
					       (uint32_t)sizeof(struct fg_ipv6),
				       sizeof(struct fg_ipv6),
				       6,
				       ((const struct fg_ipv6 *)ip)->next_header,
				       ((const struct fg_ipv6 *)ip)->dst};
	else
		return false;
	return at + out->length <= m->data_len;
}

static bool
find_outer_packet(const struct rte_mbuf *m, struct packet *out)
{
	uint32_t at = FG_ETHER_HEADER + line_octets_of_tags(m);
	uint16_t type = fg_get16(rte_pktmbuf_mtod(m, const uint8_t *) + at - 2);

	return (type == FG_ETHER_IPV4 || type == FG_ETHER_IPV6) && find_packet(m, at, out);
}

/* bytes behind the outer IP header */
static uint32_t
wrap_octets(enum fg_switch_wrap wrap)
{
	return wrap == FG_SWITCH_GRE ? GRE : wrap == FG_SWITCH_GRE_WITH_KEY ? GRE + GRE_KEY : 0;
}

static uint8_t
wrap_protocol(enum fg_switch_wrap wrap, unsigned version)
{
	if (wrap != FG_SWITCH_IP_IN_IP)
		return FG_IP_GRE;
	return version == 4 ? FG_IP_IPV4 : FG_IP_IPV6;
}

static void
put_gre(const struct fg_switch_tunnels *t, unsigned version, uint8_t *at)
{
	if (t->out == FG_SWITCH_IP_IN_IP)
		return;
	fg_put16(at, t->out == FG_SWITCH_GRE_WITH_KEY ? KEY_PRESENT : 0);
	fg_put16(at + 2, version == 4 ? FG_ETHER_IPV4 : FG_ETHER_IPV6);
	if (t->out == FG_SWITCH_GRE_WITH_KEY)
		fg_put32(at + GRE, t->key);
}

static bool
is_gre(const struct fg_switch_tunnels *t, unsigned version, const uint8_t *at)
{
	bool key = t->in == FG_SWITCH_GRE_WITH_KEY;

	return t->in == FG_SWITCH_IP_IN_IP ||
	       (fg_get16(at) == (key ? KEY_PRESENT : 0) &&
		fg_get16(at + 2) == (version == 4 ? FG_ETHER_IPV4 : FG_ETHER_IPV6) &&
		(!key || fg_get32(at + GRE) == t->key));
}

static void
put_ipv4(const struct fg_switch_tunnel *t, uint8_t protocol, uint32_t length, uint8_t *at)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)at;

	*ip = (struct fg_ipv4){.fragment = htons(DONT_FRAGMENT), .ttl = HOPS, .protocol = protocol};
	fg_ipv4_finish(ip, t->near.ipv4, t->far_ipv4, sizeof(*ip), length);
}

static void
put_ipv6(const struct fg_switch_tunnel *t, uint8_t protocol, uint32_t length, uint8_t *at)
{
	fg_ipv6_put((struct fg_ipv6 *)at, t->near.ipv6, t->far_ipv6, protocol, HOPS, length);
}

uint32_t
tunnel_growth(const struct fg_switch *s, const struct rte_mbuf *m)
{
	enum fg_switch_wrap wrap = s->config.tunnels.out;
	struct packet p;

	if (wrap == FG_SWITCH_NOT_WRAPPED || !find_outer_packet(m, &p) ||
	    !mcast_reaches_far(p.version, p.dst) || p.protocol == FG_IP_IGMP ||
	    p.protocol == FG_IP_HOP_BY_HOP)
		return 0;
	return p.header + wrap_octets(wrap);
}

void
tunnel_wrap(struct fg_switch *s, unsigned egress, struct rte_mbuf *m)
{
	const struct fg_switch_tunnels *t = &s->config.tunnels;
	const struct fg_switch_tunnel *tunnel = &t->port[egress];
	struct packet p;
	uint32_t behind = wrap_octets(t->out), growth;
	uint8_t protocol, *frame;

	if (!find_outer_packet(m, &p))
		return;
	protocol = wrap_protocol(t->out, p.version);
	growth = p.header + behind;
	rte_pktmbuf_trim(m, (uint16_t)(m->data_len - p.at - p.length)); /* padding */
	frame = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)growth);
	memmove(frame, frame + growth, p.at);
	memcpy(frame, s->member[egress].neighbour, sizeof(s->member[egress].neighbour));
	memcpy(frame + 6, tunnel->near.mac, sizeof(tunnel->near.mac));
	(p.version == 4 ? put_ipv4 : put_ipv6)(tunnel, protocol, behind + p.length, frame + p.at);
	put_gre(t, p.version, frame + p.at + p.header);
}

/* is a packet for the switch's end of a port's tunnel, with its encapsulation? */
static bool
is_wrapped(const struct fg_switch *s, unsigned in, const struct rte_mbuf *m, const struct packet *p)
{
	const struct fg_switch_tunnels *t = &s->config.tunnels;
	const struct fg_host *near = &t->port[in].near;
	uint32_t behind = wrap_octets(t->in);

	return t->in != FG_SWITCH_NOT_WRAPPED && p->protocol == wrap_protocol(t->in, p->version) &&
	       memcmp(p->dst, p->version == 4 ? near->ipv4 : near->ipv6, p->version == 4 ? 4 : 16) == 0 &&
	       p->length >= p->header + behind &&
	       is_gre(t, p->version, rte_pktmbuf_mtod(m, const uint8_t *) + p->at + p->header);
}

/* @return false: no inner packet for a group */
static bool
unwrap(struct fg_switch *s, unsigned in, struct rte_mbuf **m)
{
	struct packet outside, inside;
	struct rte_mbuf *copy;
	uint32_t removed;
	uint8_t *frame;

	if (!find_outer_packet(*m, &outside) || !is_wrapped(s, in, *m, &outside))
		return false;
	removed = outside.header + wrap_octets(s->config.tunnels.in);
	if (!find_packet(*m, outside.at + removed, &inside) || inside.version != outside.version ||
	    !mcast_reaches_far(inside.version, inside.dst))
		return false;
	copy = line_copy(s, in, *m);
	if (copy == NULL)
		return false;
	rte_pktmbuf_trim(copy, (uint16_t)(copy->data_len - inside.at - inside.length));
	frame = rte_pktmbuf_mtod(copy, uint8_t *);
	memmove(frame + removed, frame, outside.at);
	frame = (uint8_t *)rte_pktmbuf_adj(copy, (uint16_t)removed);
	fg_membership_mac(inside.version == 4 ? FG_IGMPV2 : FG_MLDV1, inside.dst, frame);
	memcpy(frame + 6, s->config.tunnels.port[in].near.mac, 6);
	rte_pktmbuf_free(*m);
	*m = copy;
	return true;
}

/* @return the reply to a request for an address of the switch's end of a tunnel; NULL: not such a request */
static struct rte_mbuf *
answer_to(struct fg_switch *s, unsigned in, const struct rte_mbuf *question)
{
	struct rte_mbuf *m;
	size_t length;

	if (question->data_len > FG_ANSWER_ROOM)
		return NULL;
	m = rte_pktmbuf_alloc(s->copies);
	if (m == NULL) {
		s->member[in].port_counters.rx_no_mbuf++;
		return NULL;
	}
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_mtod(question, const uint8_t *),
	       question->data_len);
	length = fg_net_answer(&s->config.tunnels.port[in].near, rte_pktmbuf_mtod(m, uint8_t *),
			       question->data_len);
	if (length == 0 || rte_pktmbuf_append(m, (uint16_t)length) == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->ol_flags = 0;
	return m;
}

bool
tunnel_open(struct fg_switch *s, unsigned in, struct rte_mbuf **m, struct rte_mbuf **answer)
{
	const uint8_t *frame = rte_pktmbuf_mtod(*m, const uint8_t *);
	bool ours = memcmp(frame, s->config.tunnels.port[in].near.mac, 6) == 0;
	/* broadcasts (ARP) and solicitations of neighbours */
	bool to_all = (frame[0] & 1) != 0 && (frame[0] == 0xff || frame[2] == 0xff);

	*answer = NULL;
	memcpy(s->member[in].neighbour, frame + 6, sizeof(s->member[in].neighbour));
	if (ours && unwrap(s, in, m))
		return true;
	if (ours || to_all)
		*answer = answer_to(s, in, *m);
	return !ours && *answer == NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that ICMP and ICMPv6 report. Each message quotes the head of a packet, and can be forged, so the
 * packet has to be in flight (RFC 5927): a TCP segment by its number, a datagram by its payload, which its
 * application verifies. A message may reduce TCP's path MTU, and end a request in a datagram; a connection of
 * TCP never ends by one (RFC 5927, 5).
 */
#include "fg_bytes.h"
#include "tcp_priv.h"

enum { ICMP_HEADER = 8, TOO_BIG_CODE = 4, LEAST = 8 /* bytes that are quoted behind the header of IP */ };

/** What a message quotes. */
struct quote {
	struct fg_flow flow; /* of the packet: local is its source */
	uint8_t protocol;
	const uint8_t *upper;
	uint32_t length; /* of that, as much as there is */
};

static bool
read_quote(const struct segment *s, struct quote *q)
{
	const uint8_t *ip = s->payload + ICMP_HEADER;
	uint32_t header = s->flow.ipv6 ? sizeof(struct fg_ipv6) : sizeof(struct fg_ipv4);

	if (s->length < ICMP_HEADER + header + LEAST || (!s->flow.ipv6 && ip[0] != 0x45))
		return false;
	*q = (struct quote){.flow.ipv6 = s->flow.ipv6, .protocol = s->flow.ipv6 ? ip[6] : ip[9]};
	if (q->flow.ipv6) {
		memcpy(q->flow.local, ip + 8, 16);
		memcpy(q->flow.remote, ip + 24, 16);
	} else {
		fg_address_of_ipv4(ip + 12, q->flow.local);
		fg_address_of_ipv4(ip + 16, q->flow.remote);
	}
	q->upper = ip + header;
	q->length = s->length - ICMP_HEADER - header;
	if (q->protocol == FG_IP_TCP || q->protocol == FG_IP_UDP) {
		q->flow.local_port = fg_get16(q->upper);
		q->flow.remote_port = fg_get16(q->upper + 2);
	}
	return true;
}

/* fragmentation needed (RFC 1191), or packet too big (RFC 8201) */
static void
too_big(struct fg_l4 *w, const struct quote *q, uint32_t mtu)
{
	struct conn *c;

	if (q->protocol != FG_IP_TCP)
		return;
	c = table_find(w, &q->flow, table_hash(w, &q->flow));
	if (c != NULL && c->state >= ESTABLISHED && fg_get32(q->upper + 4) - c->snd_una < flight(c))
		tcp_path_mtu(w, c, mtu);
}

/* its padding (RFC 4884) is no payload */
static void
unreachable(struct fg_l4 *w, const struct quote *q)
{
	bool udp = q->protocol == FG_IP_UDP;
	uint32_t header = udp ? sizeof(struct fg_udp) : 0;
	uint32_t length = udp ? fg_u32_min(q->length, fg_get16(q->upper + 4)) : q->length;

	if (q->protocol == FG_IP_TCP || length < header)
		return;
	for (unsigned i = 0; i < w->apps; i++)
		if ((udp ? w->app[i]->udp : w->app[i]->echo) && w->app[i]->ops->unreachable != NULL &&
		    app_owns(w->app[i], q->flow.local) &&
		    w->app[i]->ops->unreachable(w, w->app[i], &q->flow, q->upper + header, length - header)) {
			w->counters.unreachable++;
			return;
		}
}

void
icmp_error(struct fg_l4 *w, const struct segment *s)
{
	const uint8_t *m = s->payload;
	struct quote q;

	if (!read_quote(s, &q))
		return;
	if (q.flow.ipv6 ? m[0] == FG_ICMPV6_TOO_BIG : m[0] == FG_ICMP_UNREACHABLE && m[1] == TOO_BIG_CODE)
		too_big(w, &q, q.flow.ipv6 ? fg_get32(m + 4) : fg_get16(m + 6));
	else if (m[0] == (q.flow.ipv6 ? FG_ICMPV6_UNREACHABLE : FG_ICMP_UNREACHABLE))
		unreachable(w, &q);
}

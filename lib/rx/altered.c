/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bears the signature of a test frame and is not that frame: an ICMP error that quotes it, its last
 * fragment, what was joined to others or cut. And what is, though the device has changed its headers.
 *
 * A frame of the sent length is accepted. Frames of another length are checked here: it is the sent frame if
 * it contains the whole IP packet, with any tags, labels, tunnels or options added or removed in front.
 */
#include <string.h>

#include <rte_mbuf.h>

#include "fg_signature.h"
#include "rx_stream.h"
#include "tx_inject.h"

enum { IPV4_LENGTH = 2, IPV6_LENGTH = 4 };

/* packets of the same IP version and length, by their headers */
static bool
is_alike(const uint8_t *a, const uint8_t *b)
{
	unsigned at = a[0] >> 4 == 4 ? IPV4_LENGTH : IPV6_LENGTH;

	return a[0] >> 4 == b[0] >> 4 && memcmp(a + at, b + at, sizeof(uint16_t)) == 0;
}

/* is the packet of @p sent in a frame, whole? It ends with the frame. @p want, @p got  the packets of both */
static bool
is_whole(const struct fg_template *sent, const struct fg_net_packet *want, const struct rte_mbuf *m,
	 const struct fg_net_packet *got)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	size_t inner = (size_t)sent->length - sent->network;

	if (want->version == 0 && sent->network == 0)
		return m->data_len >= FG_ETHER_HEADER + sent->length - sent->header;
	if (got->version != 0 && got->protocol == want->protocol &&
	    m->data_len - got->content == sent->length - want->content)
		return true;
	/* in a tunnel, or in none any more */
	return sent->network != 0 && m->data_len >= FG_ETHER_HEADER + inner &&
	       is_alike(frame + m->data_len - inner, sent->bytes + sent->network);
}

bool
rx_is_altered(struct rx_rejected *rejected, const struct rx_stream *stream, const struct rte_mbuf *m,
	      uint64_t number)
{
	const struct fg_template *sent;
	struct fg_net_packet want, got;
	enum fg_altered kind;

	if (stream->length == 0 && stream->sizes == NULL) /* the sent frame is unknown here */
		return false;
	/* a runt's signature may overlap its headers */
	if (rx_receiver(stream) == NULL || tx_inject_makes_length(stream->sent->inject, m->data_len))
		return false;
	sent = tx_template(stream->sent, number & ~FG_SIGNATURE_COPY);
	fg_net_find_packet(sent->bytes, sent->length, &want);
	fg_net_find_packet(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &got);
	if (got.error && !want.error)
		kind = FG_ALTERED_QUOTED;
	else if (got.fragment && !want.fragment)
		kind = FG_ALTERED_FRAGMENT;
	else if (tx_inject_resize(stream->sent->inject) || is_whole(sent, &want, m, &got))
		return false;
	else
		kind = got.protocol == want.protocol ? FG_ALTERED_LENGTH : FG_ALTERED_PROTOCOL;
	rejected->altered[kind]++;
	return true;
}

/* an IP packet's addresses, and ports where there are any */
struct ends {
	size_t octets; /* of an address */
	const uint8_t *source, *destination;
	uint16_t port[2];
	bool ports;
};

static struct ends
ends_of(const uint8_t *frame, const struct fg_net_packet *p)
{
	size_t octets = p->version == 4 ? 4 : 16;
	const uint8_t *addresses = frame + p->header + (p->version == 4 ? 12 : 8);
	struct ends e = {octets, addresses, addresses + octets, {0}, false};

	e.ports = p->protocol == FG_IP_UDP || p->protocol == FG_IP_TCP || p->protocol == FG_IP_SCTP;
	if (e.ports)
		memcpy(e.port, frame + p->content, sizeof(e.port));
	return e;
}

static bool
is_same_end(const uint8_t *a, const uint8_t *b, size_t octets, uint16_t port_a, uint16_t port_b)
{
	return port_a == port_b && memcmp(a, b, octets) == 0;
}

static struct fg_translation
translation(const struct ends *a, const struct ends *b)
{
	struct fg_translation t = {
		.source = !is_same_end(a->source, b->source, a->octets, a->port[0], b->port[0]),
		.destination =
			!is_same_end(a->destination, b->destination, a->octets, a->port[1], b->port[1]),
		.ports = b->ports,
		.version = b->octets == 4 ? 4 : 6,
		.source_port = be16toh(b->port[0]),
		.destination_port = be16toh(b->port[1]),
	};

	memcpy(t.source_ip, b->source, b->octets);
	memcpy(t.destination_ip, b->destination, b->octets);
	return t;
}

void
rx_find_translation(struct rx_stream *stream, const struct rte_mbuf *m, uint64_t number)
{
	const struct fg_template *sent = tx_template(stream->sent, number);
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t made[FG_FRAME_MAX];
	struct fg_net_packet want, got;
	struct ends before, after;

	fg_template_make(sent, 0, number, 0, made);
	fg_net_find_packet(made, sent->length, &want);
	fg_net_find_packet(frame, m->data_len, &got);
	if (want.version == 0 || want.version != got.version || want.protocol != got.protocol ||
	    sent->length - want.content != m->data_len - got.content)
		return;
	before = ends_of(made, &want);
	after = ends_of(frame, &got);
	/* a reflector exchanges them */
	if (is_same_end(before.source, after.destination, before.octets, before.port[0], after.port[1]) &&
	    is_same_end(before.destination, after.source, before.octets, before.port[1], after.port[0]))
		return;
	stream->translation = translation(&before, &after);
}

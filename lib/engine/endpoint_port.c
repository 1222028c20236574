/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between an endpoint, which knows bytes, and a port, which knows mbufs. The endpoint port always holds a
 * burst of empty buffers; the endpoint writes its frames into them, when it is polled or answers a frame. A
 * frame that the port does not take stays in its buffer and is offered again. So no frame is copied or made
 * twice. Received frames wait for the next poll, when the endpoint gets all of them at once.
 *
 * The virtual wire takes any number of frames at any time and queues them for the line; the ring of a NIC
 * does not. Therefore, on the wire, the endpoint port computes when the line is free, and writes nothing
 * while frames for more than QUEUE_NS wait.
 *
 * A port that cuts TCP payload into segments gets few and large buffers: it has none of them when it returns.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "fg_clock.h"
#include "fg_endpoint.h"
#include "fg_int128.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_endpoint_port.h"
#include "fg_task.h"

enum { BUFFERS = 8191, CACHE = 512, BURSTS_A_POLL = 4, QUEUE_NS = 50000 };
enum { LARGE_BUFFERS = 63, TCP_OFFSET = 12 };

/* when a trial on the wire starts by the endpoint's clock; other threads learn it before */
static const uint64_t START_NS = UINT64_C(3686400000000);

struct fg_endpoint_port {
	struct fg_task task;
	struct fg_sink sink;
	struct fg_endpoint_port_config config;
	struct rte_mempool *pool;
	struct fg_burst burst;
	struct rte_mbuf *buffer[FG_BURST_ROOMS]; /* of each room */
	struct fg_clock clock;                   /* of this trial; of more than 1 GHz */
	uint64_t ns_per_octet_q32;               /* of the line; 0: not kept account of */
	uint64_t shift;          /* ns by which the endpoint's clock is ahead of the engine's */
	uint64_t now, line_free; /* ns */
	uint32_t tag;            /* 0: none */
	bool fresh;              /* a frame came in since the last poll */
	uint64_t fresh_at;       /* then, in ticks of the processor; not kept on the wire */
	uint64_t busy;           /* ticks that polls took which had something to do */
	unsigned waiting;        /* frames that came in since the last poll */
	uint64_t passed;         /* frames that came in and were not for the endpoint */
	struct rte_mbuf *frame[FG_BURST_ROOMS];
	struct fg_arrival in[FG_BURST_ROOMS];
	struct fg_endpoint_port_result count;
};

static struct fg_endpoint_port *
of_sink(struct fg_sink *sink)
{
	return (struct fg_endpoint_port *)((char *)sink - offsetof(struct fg_endpoint_port, sink));
}

static uint64_t
to_ns(const struct fg_endpoint_port *s, uint64_t ticks)
{
	return fg_clock_ns(&s->clock, ticks) + s->shift;
}

/* rounded up: at that tick the nanosecond has come */
static uint64_t
to_ticks(const struct fg_endpoint_port *s, uint64_t ns)
{
	uint64_t since = ns - s->shift - s->clock.base_ns;
	fg_u128 ticks = ((fg_u128)since * s->clock.hz + 999999999) / 1000000000;

	return ns == UINT64_MAX || ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static bool
is_echo(const struct fg_endpoint_port *s, uint8_t type, uint8_t request, uint8_t reply)
{
	return (s->config.endpoint->echo_requests && type == request) ||
	       (s->config.endpoint->echo_replies && type == reply);
}

/* TCP, UDP, and what routers say of them; echo and Y.1731 where they are wanted */
static bool
is_for_endpoint(const struct fg_endpoint_port *s, const uint8_t *frame, size_t length)
{
	const struct fg_ether *ether = (const struct fg_ether *)frame;
	size_t at = sizeof(*ether) + sizeof(struct fg_ipv4);
	uint8_t protocol;

	if (s->config.endpoint->y1731 && length > sizeof(*ether) &&
	    (ether->type == htons(FG_ETHER_CFM) || ether->type == htons(FG_ETHER_LOCAL)))
		return true;
	if (length > at && ether->type == htons(FG_ETHER_IPV4)) {
		protocol = ((const struct fg_ipv4 *)(ether + 1))->protocol;
		return protocol == FG_IP_TCP || protocol == FG_IP_UDP ||
		       (protocol == FG_IP_ICMP && (frame[at] == FG_ICMP_UNREACHABLE ||
						   is_echo(s, frame[at], FG_ICMP_ECHO, FG_ICMP_ECHO_REPLY)));
	}
	at = sizeof(*ether) + sizeof(struct fg_ipv6);
	if (length > at && ether->type == htons(FG_ETHER_IPV6)) {
		protocol = ((const struct fg_ipv6 *)(ether + 1))->next_header;
		return protocol == FG_IP_TCP || protocol == FG_IP_UDP ||
		       (protocol == FG_IP_ICMPV6 &&
			(frame[at] == FG_ICMPV6_UNREACHABLE || frame[at] == FG_ICMPV6_TOO_BIG ||
			 is_echo(s, frame[at], FG_ICMPV6_ECHO, FG_ICMPV6_ECHO_REPLY)));
	}
	return false;
}

/* remove our tag; false: another VLAN, or not for the endpoint, frame unchanged */
static bool
strip_tag(struct fg_endpoint_port *s, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	int tag = fg_net_own_tag(frame, m->data_len, s->tag);

	if (tag < 0)
		return false;
	if (!is_for_endpoint(s, frame + tag, m->data_len - (size_t)tag)) {
		s->passed++;
		return false;
	}
	if (tag > 0) {
		fg_net_untag(frame, m->data_len);
		rte_pktmbuf_adj(m, (uint16_t)tag);
	}
	return true;
}

/* empty buffers for the rooms that have none */
static void
refill(struct fg_endpoint_port *s)
{
	struct fg_burst *b = &s->burst;
	unsigned wanted = FG_BURST_ROOMS - b->rooms;

	if (wanted == 0)
		return;
	if (unlikely(rte_pktmbuf_alloc_bulk(s->pool, s->buffer + b->rooms, wanted) != 0)) {
		/*
		 * on the wire all our buffers wait with queued frames: the port is full, as a NIC's ring
		 * would be
		 */
		*(s->ns_per_octet_q32 != 0 ? &s->count.refused : &s->count.no_mbuf) += 1;
		return;
	}
	for (; b->rooms < FG_BURST_ROOMS; b->rooms++)
		b->room[b->rooms] = rte_pktmbuf_mtod(s->buffer[b->rooms], uint8_t *);
}

/* pass received frames to the endpoint */
static void
hand_in(struct fg_endpoint_port *s)
{
	if (s->waiting == 0)
		return;
	refill(s);
	s->config.endpoint->input(s->config.endpoint, s->in, s->waiting, &s->burst);
	rte_pktmbuf_free_bulk(s->frame, s->waiting);
	s->waiting = 0;
}

/* at the end of a trial, too: the frames are another's, and so is their memory */
static void
publish(struct fg_task *task, uint64_t now)
{
	hand_in((struct fg_endpoint_port *)task);
}

static bool
take(struct fg_sink *sink, struct rte_mbuf *m, uint64_t arrival_ns)
{
	struct fg_endpoint_port *s = of_sink(sink);

	if (m->nb_segs != 1 || !strip_tag(s, m))
		return false;
	if (!s->fresh && s->ns_per_octet_q32 == 0)
		s->fresh_at = rte_rdtsc();
	s->now = RTE_MAX(s->now, arrival_ns + s->shift);
	s->in[s->waiting] =
		(struct fg_arrival){rte_pktmbuf_mtod(m, uint8_t *), m->data_len, s->now,
				    s->burst.cuts && m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD, s->passed};
	s->frame[s->waiting++] = m;
	s->count.rx_frames++;
	s->fresh = true;
	if (s->waiting == FG_BURST_ROOMS)
		hand_in(s);
	return true;
}

static void
account(struct fg_endpoint_port *s, uint32_t octets, uint64_t now)
{
	uint32_t on_the_line = RTE_MAX(octets + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN) + FG_ETHER_OVERHEAD;

	s->line_free = RTE_MAX(s->line_free, now) + ((on_the_line * s->ns_per_octet_q32) >> 32);
}

/* what the port needs to know to cut the payload; the headers are ours, IPv4 has no options */
static void
mark_segments(struct fg_endpoint_port *s, struct rte_mbuf *m, uint16_t segment)
{
	const struct fg_ether *ether = rte_pktmbuf_mtod(m, const struct fg_ether *);
	bool ipv6 = ether->type == htons(FG_ETHER_IPV6);

	m->l2_len = sizeof(*ether) + (s->tag != 0 ? FG_NET_TAG : 0);
	m->l3_len = ipv6 ? sizeof(struct fg_ipv6) : sizeof(struct fg_ipv4);
	m->l4_len = *rte_pktmbuf_mtod_offset(m, const uint8_t *, sizeof(*ether) + m->l3_len + TCP_OFFSET) >>
		    4 << 2;
	m->tso_segsz = segment;
	m->ol_flags = RTE_MBUF_F_TX_TCP_SEG | (ipv6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4);
}

static void
dress(struct fg_endpoint_port *s, unsigned i, uint64_t now)
{
	struct rte_mbuf *m = s->buffer[i];

	if (m->data_len != 0)
		return; /* offered before */
	m->data_len = s->burst.length[i];
	m->pkt_len = m->data_len;
	m->ol_flags = 0;
	if (s->burst.segment[i] != 0)
		mark_segments(s, m, s->burst.segment[i]);
	if (s->tag != 0)
		fg_net_tag((uint8_t *)rte_pktmbuf_prepend(m, FG_NET_TAG), s->tag);
	account(s, m->pkt_len, now);
}

/* hand over written frames; refused frames move to the front, swapped with empty buffers */
static unsigned
hand_over(struct fg_endpoint_port *s, uint64_t ticks, uint64_t now)
{
	struct fg_burst *b = &s->burst;
	unsigned sent, left, move;

	if (b->frames == 0)
		return 0;
	for (unsigned i = 0; i < b->frames; i++)
		dress(s, i, now);
	sent = s->config.port->tx(s->config.port, s->buffer, (uint16_t)b->frames, ticks);
	s->count.tx_frames += sent;
	s->count.refused += b->frames - sent;
	b->frames -= sent;
	left = b->rooms - sent;
	move = b->frames > 0 ? left : RTE_MIN(left, sent);
	for (unsigned i = 0; i < move; i++) {
		s->buffer[i] = s->buffer[b->rooms - move + i];
		b->room[i] = b->room[b->rooms - move + i];
	}
	b->rooms = left;
	for (unsigned i = 0; i < b->frames; i++) {
		b->length[i] = b->length[sent + i];
		b->segment[i] = b->segment[sent + i];
	}
	return sent;
}

static uint64_t
poll(struct fg_task *task, uint64_t ticks)
{
	struct fg_endpoint_port *s = (struct fg_endpoint_port *)task;
	uint64_t now = to_ns(s, ticks), due = now;
	unsigned sent = 0, burst = 1;

	hand_in(s);
	s->now = now = RTE_MAX(now, s->now);
	s->count.polls++;
	s->count.busy_polls += s->fresh;
	for (unsigned i = 0; i < BURSTS_A_POLL && burst > 0 && due <= now; i++) {
		if (s->ns_per_octet_q32 != 0 && s->line_free > now + QUEUE_NS) {
			due = s->line_free - QUEUE_NS;
			break;
		}
		refill(s);
		due = s->config.endpoint->poll(s->config.endpoint, now, &s->burst);
		burst = hand_over(s, ticks, now);
		sent += burst;
	}
	s->count.busy_polls += sent > 0 && !s->fresh;
	if ((sent > 0 || s->fresh) && s->ns_per_octet_q32 == 0)
		s->busy += rte_rdtsc() - (s->fresh ? s->fresh_at : ticks);
	s->fresh = false;
	return sent > 0 || s->burst.frames > 0 ? ticks : to_ticks(s, due);
}

int
fg_endpoint_port_create(const struct fg_endpoint_port_config *config, struct fg_endpoint_port **out,
			struct fg_error *err)
{
	struct fg_endpoint_port *s = calloc(1, sizeof(*s));
	uint32_t most = config->port->caps.max_tcp_send;
	uint32_t room = RTE_MAX(config->max_frame, most);

	if (s == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	s->pool = fg_port_pool_take(most > 0 ? LARGE_BUFFERS : BUFFERS, most > 0 ? 0 : CACHE,
				    (uint16_t)(RTE_PKTMBUF_HEADROOM + room), config->port->caps.numa_node);
	if (s->pool == NULL) {
		free(s);
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for %d buffers of %u bytes: give the tester more memory",
				    most > 0 ? LARGE_BUFFERS : BUFFERS, room);
	}
	s->config = *config;
	s->task.poll = poll;
	s->task.publish = publish;
	s->sink.take = take;
	s->burst.cuts = most > 0;
	s->burst.capacity = room - FG_ETHER_FCS;
	s->tag = config->vlan == 0 ? 0 : (uint32_t)FG_ETHER_VLAN << 16 | config->vlan;
	if (config->line_rate_bps > 0)
		s->ns_per_octet_q32 = (uint64_t)(8e9 / config->line_rate_bps * 0x1p32);
	*out = s;
	return 0;
}

void
fg_endpoint_port_free(struct fg_endpoint_port *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->burst.rooms; i++)
		rte_pktmbuf_free(s->buffer[i]);
	fg_port_pool_keep(s->pool);
	free(s);
}

uint64_t
fg_endpoint_port_align(struct fg_endpoint_port *s, uint64_t start_ns, const struct fg_clock *clock)
{
	bool on_wire = s->ns_per_octet_q32 != 0;

	s->clock = *clock;
	s->shift = on_wire ? START_NS - start_ns : 0;
	return start_ns + s->shift;
}

struct fg_task *
fg_endpoint_port_task(struct fg_endpoint_port *s)
{
	return &s->task;
}

struct fg_sink *
fg_endpoint_port_sink(struct fg_endpoint_port *s)
{
	return &s->sink;
}

void
fg_endpoint_port_read(const struct fg_endpoint_port *s, struct fg_endpoint_port_result *out)
{
	*out = s->count;
	out->busy_ns = (uint64_t)(((fg_u128)s->busy * s->clock.ns_per_tick_q64) >> 64);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder answers for the tester's own addresses. It announces them at the begin of a trial, which
 * teaches bridges where the tester is (RFC 2544, 23: learning frames), asks for the gateways' MACs, and
 * answers ARP, Neighbor Discovery and echo, so that a router can deliver to us. It also verifies what the
 * device replies to the talker's queries. A frame about an address of an emulated host is that host's.
 */
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "hosts_priv.h"
#include "link_priv.h"

static void
announce(struct responder *r, uint64_t now)
{
	struct rte_mbuf *m;
	uint8_t *out;

	if (r->host.has_ipv4 && (out = responder_buffer(r, &m)) != NULL)
		responder_send(r, m, fg_net_ask_ipv4(&r->host, r->host.ipv4, out), now);
	if (r->host.has_ipv6 && (out = responder_buffer(r, &m)) != NULL)
		responder_send(r, m, fg_net_announce_ipv6(&r->host, out), now);
	/* a request also makes the gateway learn our address; not every router learns from an announcement */
	if (r->has_gateway4 && (out = responder_buffer(r, &m)) != NULL)
		responder_send(r, m, fg_net_ask_ipv4(&r->host, r->gateway4, out), now);
	if (r->has_gateway6 && (out = responder_buffer(r, &m)) != NULL)
		responder_send(r, m, fg_net_ask_ipv6(&r->host, r->gateway6, out), now);
}

static void
learn(struct responder *r, const uint8_t *frame, size_t length)
{
	if (r->has_gateway4 && !r->known4 && fg_net_learn_ipv4(frame, length, r->gateway4, r->mac4))
		r->known4 = true;
	if (r->has_gateway6 && !r->known6 && fg_net_learn_ipv6(frame, length, r->gateway6, r->mac6))
		r->known6 = true;
}

/* take our tag off; false: another VLAN's, or none where we have one */
static bool
untag(const struct responder *r, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	int tag = fg_net_own_tag(frame, m->data_len, r->tag);

	if (tag > 0) {
		fg_net_untag(frame, m->data_len);
		rte_pktmbuf_adj(m, (uint16_t)tag);
	}
	return tag >= 0;
}

/* a frame is not changed before a tap has read it. @return the frame, or a copy; NULL: no memory */
static struct rte_mbuf *
make_own(struct responder *r, struct rte_mbuf *m)
{
	struct rte_mbuf *own = m;

	if (unlikely(rte_mbuf_refcnt_read(m) > 1)) {
		own = rte_pktmbuf_copy(m, r->pool, 0, UINT32_MAX);
		rte_pktmbuf_free(m);
	}
	return own;
}

static void
handle(struct responder *r, struct rte_mbuf *m, uint64_t now)
{
	uint8_t *frame;
	size_t answer;

	if (r->link != NULL && link_take(r->link, m)) {
		rte_pktmbuf_free(m);
		return;
	}
	m = make_own(r, m);
	if (m == NULL || (r->hosts != NULL && hosts_take(r->hosts, r, m, now)))
		return;
	if (!untag(r, m)) {
		rte_pktmbuf_free(m);
		return;
	}
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	learn(r, frame, m->data_len);
	if (r->speaker != NULL)
		speaker_read(r->speaker, frame, m->data_len, now);
	if (r->asked != 0 && fg_net_snmp_replies(&r->host, r->asked, frame, m->data_len))
		atomic_fetch_add_explicit(&r->replies, 1, memory_order_relaxed);
	if (!responder_may_answer(m)) {
		rte_pktmbuf_free(m);
		return;
	}
	answer = fg_net_answer(&r->host, frame, m->data_len);
	if (answer == 0)
		rte_pktmbuf_free(m);
	else
		responder_send(r, m, answer, now);
}

uint64_t
responder_poll(struct fg_task *task, uint64_t now)
{
	struct responder *r = (struct responder *)task;
	uint64_t next = r->announce_at;
	void *m;

	if (unlikely(now >= r->announce_at)) {
		r->announce_at = UINT64_MAX;
		announce(r, now);
	}
	while (unlikely(rte_ring_sc_dequeue(r->from_rx, &m) == 0)) {
		handle(r, m, now);
		next = now;
	}
	return next; /* not later than now if anything was sent */
}

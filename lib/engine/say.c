/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the responder, the talker, the speaker and the emulated hosts leave a port by these functions. */
#include <rte_mbuf.h>

#include "neighbour_priv.h"

void
responder_dress(struct rte_mbuf *m, size_t length, const uint32_t *tag, unsigned tags)
{
	m->data_len = (uint16_t)length;
	m->pkt_len = (uint32_t)length;
	m->ol_flags = 0;
	while (tags-- > 0)
		fg_net_tag((uint8_t *)rte_pktmbuf_prepend(m, FG_NET_TAG), tag[tags]);
}

void
responder_send(struct responder *r, struct rte_mbuf *m, size_t length, uint64_t now)
{
	responder_send_tagged(r, m, length, &r->tag, r->tag != 0, now);
}

void
responder_send_tagged(struct responder *r, struct rte_mbuf *m, size_t length, const uint32_t *tag,
		      unsigned tags, uint64_t now)
{
	responder_dress(m, length, tag, tags);
	if (r->port->tx(r->port, &m, 1, now) != 1)
		rte_pktmbuf_free(m);
}

uint8_t *
responder_buffer(struct responder *r, struct rte_mbuf **m)
{
	*m = rte_pktmbuf_alloc(r->pool);
	return *m == NULL ? NULL : rte_pktmbuf_mtod(*m, uint8_t *);
}

bool
responder_may_answer(const struct rte_mbuf *m)
{
	return m->nb_segs == 1 && m->data_len + rte_pktmbuf_tailroom(m) >= FG_ANSWER_ROOM;
}

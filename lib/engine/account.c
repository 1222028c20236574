/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Double entry: compare the NIC's counts in a trial with the frames that the tester handed over and fetched.
 * A frame in only one of the two counts was lost or created inside the tester, without a drop counter.
 *
 * The two are not read at the same instant, and frames may be on their way through a ring. So our count is
 * taken before and after the card's, which has to lie between; if it does not, it is looked at again until
 * what was in a ring has come out of it. What they differed by before the trial is not the trial's.
 */
#include <time.h>

#include "engine_priv.h"
#include "fg_signature.h"
#include "tx_inject.h"

enum { COUNT_EVERY_S = 60, LOOKS = 20, LOOK_EVERY_NS = 1000000 };

/* @return the NIC's count minus the nearer bound of ours; 0: within both */
static int64_t
outside(uint64_t card, const uint64_t ours[2], int64_t gap)
{
	int64_t extra = (int64_t)(card - (uint64_t)gap - ours[1]),
		missing = (int64_t)(ours[0] + (uint64_t)gap - card);

	return extra > 0 ? extra : missing > 0 ? -missing : 0;
}

/* compare our counts with the NIC's; the rest is added to the known gap */
static void
compare(struct account *a, struct fg_port *port, struct fg_port_counters *c)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
	int64_t tx = 0, rx = 0;

	for (unsigned i = 0; i < LOOKS; i++) {
		port->ops->counters(port, c);
		if (!port->caps.exact_counters)
			return;
		tx = outside(c->tx_frames, c->tx_ours, a->tx_gap);
		rx = outside(c->rx_frames, c->rx_ours, a->rx_gap);
		if (tx == 0 && rx == 0)
			break;
		nanosleep(&pause, NULL);
	}
	a->tx_gap += tx;
	a->rx_gap += rx;
	a->tx_unaccounted = tx;
	a->rx_unaccounted = rx;
}

void
account_open(struct account *a, struct fg_port *port)
{
	compare(a, port, &a->before);
	a->after = a->before;
}

/*
 * whose a frame is: its sender has noted it where no signature may say it. NULL: of no stream that the port
 * sends in this trial, but of a replay
 */
static struct tx_stream *
stream_of(const struct engine_port *p, const struct rte_mbuf *m)
{
	struct trial *t = p->engine->trial;
	struct fg_signature s;
	const uint8_t *end = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len);
	uint16_t id = fg_signature_read(end, m->data_len, &s) ? s.stream : (uint16_t)m->hash.usr;
	uint16_t k = (uint16_t)(id - t->tx.env.first_id);

	if (k >= split_all(&t->split) || t->tx.stream[k].queue - p->queue.first >= p->queue.queues)
		return NULL;
	return &t->tx.stream[k];
}

void
account_left(void *port, const struct rte_mbuf *m, uint64_t time)
{
	struct tx_stream *s = stream_of(port, m);

	if (s != NULL)
		s->left = time;
}

/* count frames that a port still holds back as not sent. @return their number */
static uint64_t
take_back(const struct engine_port *p)
{
	struct fg_port *port = p->config.port;
	const struct rte_mbuf *m;
	uint64_t n = 0;

	for (unsigned i = 0; port->ops->waiting != NULL && (m = port->ops->waiting(port, i)) != NULL; i++) {
		struct tx_stream *s = stream_of(p, m);

		if (!(m->ol_flags & port->caps.test_flag))
			continue;
		n++;
		if (s == NULL)
			continue;
		s->sent--;
		s->octets -= m->pkt_len + FG_ETHER_FCS;
	}
	return n;
}

/*
 * nor is it in an interval of its stream, and no error on purpose that is in it has been made. Without memory
 * errors count as made
 */
static void
settle(struct tx_stream *s)
{
	struct fg_error unused;

	if (s->inject != NULL && s->inject->sent > s->sent)
		tx_inject_recount(s->inject, s->sent, &unused);
	if (s->series != NULL)
		fg_series_take_back(s->series, tx_measured(s));
}

void
account_close(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->config.ports; i++) {
		struct account *a = &e->port[i].account;
		struct fg_port *port = e->config.port[i].port;

		compare(a, port, &a->after);
		a->tx_waiting = take_back(&e->port[i]);
		a->link_down = !port->ops->link_up(port);
	}
	for (unsigned k = 0; k < split_all(&e->trial->split); k++)
		settle(&e->trial->tx.stream[k]);
}

void
account_keep(struct fg_engine *e, uint64_t now)
{
	struct fg_port_counters unused;

	if (now - e->counted_at < e->clock.hz * COUNT_EVERY_S)
		return;
	for (unsigned i = 0; i < e->config.ports; i++)
		e->config.port[i].port->ops->counters(e->config.port[i].port, &unused);
	e->counted_at = now;
}

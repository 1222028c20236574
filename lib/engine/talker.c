/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The talker sends to the device under test other traffic of a network: management queries at the start of
 * each second (RFC 2544, 11.2), routing updates at the start of the trial and every so often from there, one
 * state and the other in turn (11.3). It lives in the job of a trial, on the tx lcore of a port; the replies
 * come to the port's responder, which verifies them.
 *
 * A port that departs frames by itself has the frames of the next moments already, so there the talker
 * is ahead as much: what it sends at the start of a second stands in front of the frames of that second.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "neighbour_priv.h"

static void
query(struct talker *t, uint64_t now)
{
	struct responder *r = t->responder;
	struct rte_mbuf *m;
	uint8_t *out = responder_buffer(r, &m);

	if (out == NULL || !r->known4) {
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(t->query.agent_mac, r->mac4, 6);
	t->query.request = ++r->asked;
	t->queries++;
	responder_send(r, m, fg_net_snmp_query(&r->host, &t->query, out), now);
}

static void
update(struct talker *t, uint64_t now)
{
	struct rte_mbuf *m;
	uint8_t *out = responder_buffer(t->responder, &m);

	if (out == NULL)
		return;
	responder_send(t->responder, m, fg_net_rip_update(&t->responder->host, t->updates % 2 == 1, out),
		       now);
	t->updates++;
}

static uint64_t
talker_poll(struct fg_task *task, uint64_t now)
{
	struct talker *t = (struct talker *)task;
	uint64_t next = RTE_MIN(t->next_update, t->next_query);

	if (likely(now < next))
		return next;
	if (now >= t->next_update) {
		t->next_update += t->update_every;
		update(t, now);
	}
	if (now >= t->next_query) {
		t->next_query += t->query_every;
		query(t, now);
	}
	if (t->next_update >= t->until)
		t->next_update = UINT64_MAX;
	if (t->next_query >= t->until)
		t->next_query = UINT64_MAX;
	return now;
}

struct talker *
talker_create(const struct fg_talk *talk, struct responder *responder, const struct fg_job *timeline)
{
	const struct fg_clock *clock = responder->clock;
	uint64_t lead = responder->port->caps.launch_time ? timeline->step + 1 : 0;
	struct talker *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->task.poll = talker_poll;
	t->responder = responder;
	memcpy(t->query.agent, responder->gateway4, 4);
	memcpy(t->query.community, talk->community, FG_SNMP_COMMUNITY);
	t->query.interface = talk->interface;
	t->query_every = fg_clock_ticks(clock, talk->query_ns);
	t->update_every = fg_clock_ticks(clock, talk->update_ns);
	t->until = timeline->stop - lead;
	t->next_query = talk->query_ns > 0 ? timeline->start - lead : UINT64_MAX;
	t->next_update = talk->update_ns > 0 ? timeline->start - lead : UINT64_MAX;
	return t;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By which path libngtcp2 is told that a client's datagram came. A client may go on from another port or
 * address (RFC 9000, 9), and the library of a server follows the first packet from there and validates
 * the new path. When the client is heard on the old one again before that is over, then all of 0.12 to
 * 1.11 abort where they do not search for the MTU. So paths that are left stay left until their
 * successor is validated or given up; and because a single datagram with a wrong source would do for that, a
 * client that does not use a new ID, as one that moves on purpose does, is only followed when some datagrams
 * in a row have come from there, or when none has come from elsewhere for a part of a round trip: a client
 * that only receives, or waits for its answer, may send no second one. That is enough for the original behind
 * a copy with a wrong source. The last datagram is therefore kept unread, since libngtcp2 follows no packet
 * that it has read before.
 */
#include <string.h>

#include "quic_priv.h"

enum { LONG_HEADER = 0x80, COUNT_AT = ID_BYTES /* of an ID in a short header */, SOME = 3, WAIT_PARTS = 4 };

static const uint64_t SPARE_NS = 1000000000;

/* so short that several are kept; two that have the same are taken for one */
static uint32_t
name_of(const struct fg_flow *flow)
{
	uint32_t name = flow->remote_port;

	for (unsigned i = 0; i < sizeof(flow->remote); i++)
		name = (name ^ flow->remote[i]) * 0x01000193; /* FNV-1a */
	return name;
}

static bool
is_left(const struct paths *p, const struct fg_flow *flow)
{
	uint32_t name = name_of(flow);

	for (unsigned i = 0; i < p->lefts; i++)
		if (p->left[i] == name)
			return true;
	return p->lefts == PATHS_LEFT;
}

static bool
is_same(const struct fg_flow *a, const struct fg_flow *b)
{
	return a->local_port == b->local_port && a->remote_port == b->remote_port &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0 &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0;
}

/* @return whether the path is not what it was */
static bool
has_moved(struct quic *q)
{
	struct fg_flow now = flow_of(q, ngtcp2_conn_get_path(q->conn));
	bool moved = !is_same(&now, &q->flow);

	q->flow = now;
	return moved;
}

enum path_choice
path_choose(const struct fg_l4 *w, struct quic *q, const struct fg_flow *flow, const uint8_t *data,
	    uint32_t length, ngtcp2_path_storage *out)
{
	struct paths *p = &q->paths;

	path_of(flow, out);
	if (!q->carrier->config.tls.server)
		move_note(w, q, flow);
	if (q->moves.outside != 0)
		path_of(&q->flow, out);
	if (!q->carrier->config.tls.server || data[0] & LONG_HEADER || length <= COUNT_AT)
		return PATH_READ;
	if (has_moved(q)) /* back, because nobody answered there */
		p->left_until = 0;
	if (is_same(flow, &q->flow)) {
		p->elsewhere = 0;
		p->id = data[COUNT_AT];
		return PATH_READ;
	}
	if (w->now >= p->left_until)
		p->lefts = 0;
	if (is_left(p, flow))
		return PATH_DROP;
	p->elsewhere = is_same(flow, &p->there) ? p->elsewhere + 1 : 1;
	p->there = *flow;
	if (data[COUNT_AT] != p->id || p->elsewhere >= SOME)
		return PATH_READ;
	path_of(&q->flow, out);
	return PATH_WAIT;
}

bool
path_keep(const struct fg_l4 *w, struct quic *q, const uint8_t *data, uint32_t length)
{
	struct paths *p = &q->paths;

	p->kept = fg_heap_take(length, &q->carrier->taken);
	if (p->kept == NULL)
		return false;
	memcpy(p->kept, data, length);
	p->kept_length = length;
	p->kept_ecn = w->ecn;
	p->kept_until = w->now + rtt_of(q->conn).smoothed / WAIT_PARTS;
	return true;
}

uint8_t *
path_take_kept(struct quic *q)
{
	uint8_t *kept = q->paths.kept;

	q->paths.kept = NULL;
	return kept;
}

void
path_note(const struct fg_l4 *w, struct quic *q)
{
	uint64_t pto = ngtcp2_conn_get_pto(q->conn), first_pto = 3 * q->carrier->config.initial_rtt_ns;
	struct paths *p = &q->paths;
	uint32_t before = name_of(&q->flow);

	if (!q->carrier->config.tls.server || !has_moved(q))
		return;
	q->carrier->tally.migrations++;
	p->elsewhere = 0;
	if (p->lefts < PATHS_LEFT)
		p->left[p->lefts++] = before;
	/* it is validated once or twice, for 3 PTO each */
	p->left_until = w->now + 6 * (pto > first_pto ? pto : first_pto) + SPARE_NS;
}

void
path_settled(const struct fg_l4 *w, struct quic *q, const ngtcp2_path *path, bool valid)
{
	uint64_t again = w->now + 3 * ngtcp2_conn_get_pto(q->conn);

	q->carrier->tally.paths_validated += valid;
	q->carrier->tally.paths_failed += !valid;
	if (!valid)
		q->moves.to = 0;
	if (valid && ngtcp2_path_eq(path, ngtcp2_conn_get_path(q->conn)) && again < q->paths.left_until)
		q->paths.left_until = again;
}

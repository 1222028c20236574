/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that takes another port every so often, when it has something to send: as a client that moves,
 * with a new connection ID and at once (RFC 9000, 9), or as behind a NAT that has forgotten it, without a
 * word to libngtcp2, which goes on with the port of before. It stays until the server was heard there, and
 * for some probe time-outs.
 */
#include "quic_priv.h"

/* our server may need three after a path was validated, until it reads from a ninth (paths.c) */
enum { BETWEEN_PTOS = 4 };

static uint16_t
next_port(const struct fg_quic_config *config, uint16_t port)
{
	return port < config->port_last ? (uint16_t)(port + 1) : config->port_first;
}

/* @return false: not yet, because the server has not given another ID; or it forbids that */
static bool
migrate(const struct fg_l4 *w, struct quic *q, uint16_t *to)
{
	struct fg_flow flow = flow_of(q, ngtcp2_conn_get_path(q->conn));
	ngtcp2_path_storage path;

	*to = flow.local_port = next_port(&q->carrier->config, flow.local_port);
	path_of(&flow, &path);
	return ngtcp2_conn_initiate_immediate_migration(q->conn, &path.path, w->now) == 0;
}

void
move(const struct fg_l4 *w, struct quic *q)
{
	const struct fg_quic_config *config = &q->carrier->config;
	uint64_t every = config->migrate_ns > 0 ? config->migrate_ns : config->rebind_ns;
	struct moves *m = &q->moves;
	uint16_t to;

	if (every == 0 || config->tls.server || !q->confirmed || q->over || m->to != 0 ||
	    w->now - m->at < every || w->now - m->at < BETWEEN_PTOS * ngtcp2_conn_get_pto(q->conn))
		return;
	if (config->migrate_ns == 0)
		m->outside = to = next_port(config, m->outside != 0 ? m->outside : q->flow.local_port);
	else if (!migrate(w, q, &to))
		return;
	m->at = w->now;
	m->to = to;
	q->carrier->tally.migrations++;
}

void
move_note(const struct fg_l4 *w, struct quic *q, const struct fg_flow *flow)
{
	if (q->moves.to == 0 || flow->local_port != q->moves.to)
		return;
	q->moves.to = 0;
	if (fg_l4_is_measured(w))
		fg_histogram_record(q->carrier->gaps, (int64_t)(w->now - q->moves.at));
}

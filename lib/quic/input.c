/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What arrives: for a connection, or to begin one. What is for none and begins none is counted and dropped; a
 * server answers versions that it does not speak, addresses that it is to validate first, and clients that it
 * has no room for, without keeping anything of them.
 */
#include <stdio.h>
#include <string.h>

#include "quic_priv.h"

enum {
	REFUSED = 0x02,
	INVALID_TOKEN = 0x0b,
	RESERVED_VERSION = 0x1a2a3a4a,
	OTHER_RESERVED = 0x2a3a4a5a,
	LONG_HEADER = 0x80,
	TOKEN = NGTCP2_STATELESS_RESET_TOKENLEN,
	RESET = 42, /* bytes */
	RESETS_A_SECOND = 1000,
};

static const uint64_t TOKEN_LIFE_NS = 10000000000, SECOND_NS = 1000000000;

/* @param waited  it came before now, so what it acknowledges tells no round trip */
static void
read_packets(struct fg_l4 *w, struct quic *q, const ngtcp2_path *path, const uint8_t *data, uint32_t length,
	     uint8_t ecn, bool waited)
{
	struct carrier *c = q->carrier;
	ngtcp2_pkt_info info = {ecn};
	uint64_t acks = c->tally.acks_in;
	bool has_ticket = q->has_ticket;
	int rc = ngtcp2_conn_read_pkt(conn_call(w, q), path, &info, data, length, w->now);

	q->heard = true;
	if (rc == NGTCP2_ERR_DRAINING) {
		conn_drained(w, q);
		return;
	}
	if (rc == NGTCP2_ERR_DROP_CONN || rc == NGTCP2_ERR_RETRY) {
		c->tally.discarded++;
		conn_free(w, q);
		return;
	}
	if (rc != 0) {
		c->tally.versions_refused += rc == NGTCP2_ERR_RECV_VERSION_NEGOTIATION;
		conn_leave(w, q, rc);
		return;
	}
	path_note(w, q);
	if (c->tally.acks_in > acks && !waited && c->above->rtt != NULL && fg_l4_is_measured(w))
		fg_histogram_record(c->above->rtt, (int64_t)rtt_of(q->conn).latest);
	if (q->has_ticket && !has_ticket)
		conn_has_ticket(w, q);
	if (q->confirmed && q->session != NULL && !tickets_expected(q)) {
		ngtcp2_conn_set_tls_native_handle(q->conn, NULL);
		gnutls_deinit(q->session);
		q->session = NULL;
	}
	ready_put(q);
}

bool
input_kept(struct fg_l4 *w, struct quic *q, bool follow)
{
	struct fg_heap *heap = &q->carrier->taken;
	uint8_t *kept = path_take_kept(q);
	ngtcp2_path_storage path;

	if (kept == NULL)
		return true;
	path_of(follow ? &q->paths.there : &q->flow, &path);
	read_packets(w, q, &path.path, kept, q->paths.kept_length, q->paths.kept_ecn, true);
	fg_heap_give(kept, heap);
	return q->conn != NULL && q->phase <= OPEN;
}

/* a datagram for a connection */
static void
arrive(struct fg_l4 *w, struct quic *q, const struct fg_flow *flow, const uint8_t *data, uint32_t length)
{
	ngtcp2_path_storage path;
	enum path_choice choice;

	ecn_came(q, w->ecn);
	if (q->phase > OPEN) {
		q->came++;
		if (q->phase == CLOSING && (q->came & (q->came - 1)) == 0)
			ready_put(q);
		return;
	}
	if (!input_kept(w, q, false))
		return;
	choice = path_choose(w, q, flow, data, length, &path);
	if (choice == PATH_DROP)
		q->carrier->tally.discarded++;
	else if (choice == PATH_WAIT && path_keep(w, q, data, length))
		conn_schedule(w, q);
	else
		read_packets(w, q, &path.path, data, length, w->ecn, false);
}

static void
reply(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, ngtcp2_ssize length)
{
	if (length <= 0)
		return;
	fg_datagram_send(w, flow, (uint32_t)length);
	c->tally.datagrams_out++;
}

static void
negotiate_version(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow,
		  const ngtcp2_version_cid *ids)
{
	/* a client ignores an answer that names what it asked for (RFC 9000, 6.2) */
	const uint32_t versions[] = {NGTCP2_PROTO_VER_V1,
				     ids->version == RESERVED_VERSION ? OTHER_RESERVED : RESERVED_VERSION};
	uint8_t *to = fg_datagram_room(w, flow->ipv6);

	if (to == NULL)
		return;
	c->tally.version_negotiations++;
	reply(w, c, flow,
	      ngtcp2_pkt_write_version_negotiation(to, c->config.max_datagram, (uint8_t)random_word(c),
						   ids->scid, ids->scidlen, ids->dcid, ids->dcidlen, versions,
						   2));
}

static void
refuse(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, const ngtcp2_pkt_hd *hd, uint64_t code)
{
	uint8_t *to = fg_datagram_room(w, flow->ipv6);

	if (to != NULL)
		reply(w, c, flow,
		      ngtcp2_crypto_write_connection_close(to, c->config.max_datagram, hd->version, &hd->scid,
							   &hd->dcid, code, NULL, 0));
}

static void
send_retry(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, const ngtcp2_pkt_hd *hd)
{
	uint8_t *to = fg_datagram_room(w, flow->ipv6), token[NGTCP2_CRYPTO_MAX_RETRY_TOKENLEN];
	ngtcp2_cid id = {.datalen = FIRST_ID_BYTES};
	ngtcp2_path_storage path;
	ngtcp2_ssize n;

	if (to == NULL)
		return;
	random_fill(c, id.data, id.datalen);
	path_of(flow, &path);
	n = ngtcp2_crypto_generate_retry_token(token, c->secret, sizeof(c->secret), hd->version,
					       path.path.remote.addr, path.path.remote.addrlen, &id,
					       &hd->dcid, w->now);
	if (n < 0)
		return;
	c->tally.retries++;
	reply(w, c, flow,
	      ngtcp2_crypto_write_retry(to, c->config.max_datagram, hd->version, &hd->scid, &id, &hd->dcid,
					token, (size_t)n));
}

/* @return whether the client got its token from us, for this address and not long ago */
static bool
is_validated(const struct fg_l4 *w, const struct carrier *c, const struct fg_flow *flow,
	     const ngtcp2_pkt_hd *hd, ngtcp2_cid *original)
{
	ngtcp2_vec token = token_of(hd);
	ngtcp2_path_storage path;

	path_of(flow, &path);
	return ngtcp2_crypto_verify_retry_token(original, token.base, token.len, c->secret, sizeof(c->secret),
						hd->version, path.path.remote.addr, path.path.remote.addrlen,
						&hd->dcid, TOKEN_LIFE_NS, w->now) == 0;
}

static void
begin(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, const uint8_t *data, uint32_t length)
{
	ngtcp2_cid original;
	ngtcp2_pkt_hd hd;
	struct quic *q;

	if (ngtcp2_accept(&hd, data, length) != 0) {
		c->tally.discarded++;
		return;
	}
	if (c->config.retry && token_of(&hd).len == 0) {
		send_retry(w, c, flow, &hd);
		return;
	}
	if (c->config.retry && !is_validated(w, c, flow, &hd, &original)) {
		refuse(w, c, flow, &hd, INVALID_TOKEN);
		return;
	}
	q = conn_create(w, c, flow, &hd, c->config.retry ? &original : NULL);
	if (q != NULL) {
		arrive(w, q, flow, data, length);
		return;
	}
	w->counters.table_full++;
	refuse(w, c, flow, &hd, REFUSED);
}

/*
 * A stateless reset for an unknown connection, so that its client need not wait (RFC 9000, 10.3). It is
 * shorter than the packet it answers, so that two ends do not answer each other for ever.
 */
static void
reset(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, const ngtcp2_version_cid *ids)
{
	uint8_t *to = fg_datagram_room(w, flow->ipv6), token[TOKEN], noise[RESET - TOKEN];
	ngtcp2_cid id;

	if (w->now - c->resets_from >= SECOND_NS) {
		c->resets_from = w->now;
		c->resets = 0;
	}
	ngtcp2_cid_init(&id, ids->dcid, ids->dcidlen);
	if (to == NULL || c->resets >= RESETS_A_SECOND ||
	    ngtcp2_crypto_generate_stateless_reset_token(token, c->secret, sizeof(c->secret), &id) != 0)
		return;
	random_fill(c, noise, sizeof(noise));
	c->resets++;
	c->tally.resets_out++;
	reply(w, c, flow, ngtcp2_pkt_write_stateless_reset(to, RESET, token, noise, sizeof(noise)));
}

static bool
is_ours(const struct carrier *c, const struct fg_flow *flow)
{
	if (c->config.tls.server)
		return flow->local_port == c->base.port;
	return flow->remote_port == c->base.port && flow->local_port >= c->config.port_first &&
	       flow->local_port <= c->config.port_last;
}

bool
input_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	       uint32_t length)
{
	struct carrier *c = (struct carrier *)app;
	ngtcp2_version_cid ids = {0};
	struct quic *q;
	int rc;

	if (!is_ours(c, flow))
		return false;
	c->tally.datagrams_in++;
	rc = length == 0 ? NGTCP2_ERR_INVALID_ARGUMENT
			 : ngtcp2_pkt_decode_version_cid(&ids, data, length, ID_BYTES);
	if (rc != 0 && rc != NGTCP2_ERR_VERSION_NEGOTIATION) {
		c->tally.discarded++;
		return true;
	}
	q = id_find(c, ids.dcid, ids.dcidlen);
	if (q == NULL && !c->config.tls.server && length > TOKEN)
		q = id_find(c, data + length - TOKEN, TOKEN);
	if (q == NULL && c->config.tls.server && !(data[0] & LONG_HEADER) && length > RESET)
		reset(w, c, flow, &ids);
	if (q != NULL)
		arrive(w, q, flow, data, length);
	else if (!(data[0] & LONG_HEADER) || !c->config.tls.server || length < NGTCP2_MAX_UDP_PAYLOAD_SIZE)
		c->tally.discarded++;
	else if (rc == NGTCP2_ERR_VERSION_NEGOTIATION)
		negotiate_version(w, c, flow, &ids);
	else
		begin(w, c, flow, data, length);
	return true;
}

bool
input_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		  uint32_t length)
{
	struct carrier *c = (struct carrier *)app;
	ngtcp2_version_cid ids = {0};
	const ngtcp2_cid *theirs;
	struct quic *q;

	if (c->config.tls.server || !is_ours(c, flow) || length == 0 ||
	    ngtcp2_pkt_decode_version_cid(&ids, data, length, ID_BYTES) != 0)
		return false;
	q = id_find(c, ids.scid, ids.scidlen);
	if (q == NULL || q->phase != SHAKING || q->heard)
		return false;
	theirs = ngtcp2_conn_get_dcid(q->conn);
	if (theirs->datalen != ids.dcidlen || memcmp(theirs->data, ids.dcid, ids.dcidlen) != 0)
		return false;
	snprintf(c->reason, sizeof(c->reason), "ICMP: the port or the host cannot be reached");
	conn_over(w, q, FG_L4_END_REFUSED);
	conn_free(w, q);
	return true;
}

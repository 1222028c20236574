/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection, from its first packet to its end. A client whose only stream has ended, so that it has all
 * of it, and has sent its own end, sends CONNECTION_CLOSE; it does not wait for an acknowledgement of its
 * end, which the peer may delay. A server waits for CONNECTION_CLOSE, up to a time limit.
 */
#include <stdio.h>
#include <string.h>

#include "quic_priv.h"

enum {
	LINGER_PTOS = 3,
	/* a server of HTTP/3 ends a handshake with less (RFC 9114, 6.2); data on them is not kept */
	SIDE_STREAMS = 3,
	/* where a server runs out of them, libngtcp2 0.12 closes a connection that moves */
	IDS_OF_A_MOVER = 4,
	SIDE_WINDOW = 16384,
};

static void
settings_of(const struct fg_l4 *w, struct carrier *c, ngtcp2_settings *out)
{
	static const ngtcp2_cc_algo algorithms[] = {
		[FG_QUIC_RENO] = NGTCP2_CC_ALGO_RENO,
		[FG_QUIC_CUBIC] = NGTCP2_CC_ALGO_CUBIC,
		[FG_QUIC_BBR] = NGTCP2_CC_ALGO_BBR,
	};
	const struct fg_quic_config *config = &c->config;

	ngtcp2_settings_default(out);
	out->cc_algo = algorithms[config->congestion];
	out->initial_ts = w->now;
	out->initial_rtt = config->initial_rtt_ns;
	out->max_tx_udp_payload_size = config->max_datagram;
	out->no_tx_udp_payload_size_shaping = 1;
	out->no_pmtud = 1;
	out->rand_ctx.native_handle = c;
	out->max_window = config->window;
	out->max_stream_window = config->stream_window;
	out->ack_thresh = config->ack_every;
	out->handshake_timeout = config->handshake_ns;
}

static void
params_of(const struct carrier *c, ngtcp2_transport_params *out)
{
	const struct fg_quic_config *config = &c->config;

	ngtcp2_transport_params_default(out);
	out->initial_max_data = config->window;
	out->initial_max_stream_data_bidi_local = config->stream_window;
	out->initial_max_stream_data_bidi_remote = config->stream_window;
	out->initial_max_streams_bidi = !config->tls.server              ? 0
					: c->above->ops->streams == NULL ? 1
									 : config->streams;
	out->initial_max_streams_uni = SIDE_STREAMS;
	out->initial_max_stream_data_uni = SIDE_WINDOW;
	out->max_idle_timeout = config->idle_ns;
	if (config->migrate_ns > 0)
		out->active_connection_id_limit = IDS_OF_A_MOVER;
}

static void
count_open(struct fg_l4 *w, int by)
{
	__atomic_store_n(&w->layer_open, w->layer_open + (uint32_t)by, __ATOMIC_RELAXED);
}

static ngtcp2_conn *
conn_of(ngtcp2_crypto_conn_ref *ref)
{
	return ((struct quic *)ref->user_data)->conn;
}

static int
create_client(struct quic *q, const ngtcp2_path *path, const ngtcp2_settings *settings,
	      const ngtcp2_transport_params *params)
{
	struct carrier *c = q->carrier;
	ngtcp2_cid theirs = {.datalen = FIRST_ID_BYTES}, ours;

	random_fill(c, theirs.data, theirs.datalen);
	id_make(q, &ours);
	return ngtcp2_conn_client_new(&q->conn, &theirs, &ours, path,
				      c->config.offer != 0 ? c->config.offer : NGTCP2_PROTO_VER_V1,
				      &callbacks, settings, params, &c->memory, q);
}

static int
create_server(struct quic *q, const ngtcp2_path *path, const ngtcp2_pkt_hd *hd, const ngtcp2_cid *original,
	      ngtcp2_settings *settings, ngtcp2_transport_params *params)
{
	struct carrier *c = q->carrier;
	ngtcp2_cid ours;

	id_make(q, &ours);
	set_original_dcid(params, original != NULL ? original : &hd->dcid);
	if (original != NULL) {
		params->retry_scid = hd->dcid;
		params->retry_scid_present = 1;
		set_token(settings, token_of(hd));
	}
	params->stateless_reset_token_present = 1;
	if (ngtcp2_crypto_generate_stateless_reset_token(params->stateless_reset_token, c->secret,
							 sizeof(c->secret), &ours) != 0)
		return NGTCP2_ERR_INTERNAL;
	first_id_add(q, &hd->dcid);
	return ngtcp2_conn_server_new(&q->conn, &hd->scid, &ours, path, hd->version, &callbacks, settings,
				      params, &c->memory, q);
}

struct quic *
conn_create(struct fg_l4 *w, struct carrier *c, const struct fg_flow *flow, const ngtcp2_pkt_hd *hd,
	    const ngtcp2_cid *original)
{
	uint32_t i = fg_pool_take(&c->pool);
	ngtcp2_transport_params params;
	ngtcp2_path_storage path;
	ngtcp2_settings settings;
	struct quic *q = quic_at(c, i);
	int rc;

	if (i == 0)
		return NULL;
	memset(q, 0, sizeof(*q));
	q->carrier = c;
	q->stream.app = c->above->index;
	q->flow = *flow;
	q->began = q->moves.at = w->now;
	q->due = q->app_at = UINT64_MAX;
	q->id = -1;
	q->phase = SHAKING;
	q->tag = (uint32_t)random_word(c);
	q->ref = (ngtcp2_crypto_conn_ref){conn_of, q};
	c->under_way++;
	count_open(w, 1);
	settings_of(w, c, &settings);
	params_of(c, &params);
	path_of(flow, &path);
	calling = (struct calling){w, q};
	qlog_begin(q, &settings, original != NULL || hd == NULL ? original : &hd->dcid);
	rc = hd == NULL ? create_client(q, &path.path, &settings, &params)
			: create_server(q, &path.path, hd, original, &settings, &params);
	q->session = rc != 0 ? NULL : session_create(q);
	if (q->session == NULL) {
		w->counters.no_secrets++;
		conn_free(w, q);
		return NULL;
	}
	ngtcp2_conn_set_tls_native_handle(q->conn, q->session);
	ready_put(q);
	return q;
}

void
conn_announce(struct quic *q)
{
	struct fg_app *app = q->carrier->above;

	if (q->known)
		return;
	q->known = true;
	app->tally.opened++;
	app->open++;
	app->open_max = fg_u32_max(app->open_max, app->open);
}

void
conn_begin(struct fg_l4 *w, struct quic *q)
{
	const struct fg_app_ops *ops = ops_above(q);

	if (q->begun)
		return;
	q->begun = true;
	if (ops->established != NULL)
		ops->established(w, &q->stream);
}

void
conn_over(struct fg_l4 *w, struct quic *q, enum fg_l4_end end)
{
	struct fg_app *app = q->carrier->above;

	if (q->over)
		return;
	q->over = true;
	q->app_at = UINT64_MAX;
	if (q->phase == SHAKING)
		q->carrier->tally.failed++;
	if (!q->known)
		return;
	app->open--;
	app->tally.ended[end]++;
	if (app->ops->closed != NULL)
		app->ops->closed(w, &q->stream, end);
}

void
conn_check_finished(struct fg_l4 *w, struct quic *q)
{
	if (!q->carrier->config.tls.server && q->eof && q->fin_sent)
		conn_finish(w, q, FG_L4_END_CLOSED);
}

void
conn_finish(struct fg_l4 *w, struct quic *q, enum fg_l4_end end)
{
	bool server = q->carrier->config.tls.server;
	bool waits = end == FG_L4_END_CLOSED && (server || tickets_expected(q));

	if (q->over)
		return;
	conn_over(w, q, end);
	q->app_at = w->now + (waits ? LINGER_PTOS * ngtcp2_conn_get_pto(q->conn) : 0);
}

void
conn_has_ticket(const struct fg_l4 *w, struct quic *q)
{
	if (q->over && q->phase == OPEN && q->app_at > w->now)
		q->app_at = w->now;
}

/* libngtcp2 and GnuTLS are done */
static void
release(struct quic *q)
{
	if (q->phase == SHAKING)
		q->carrier->under_way--;
	first_id_remove(q);
	losses_free(q);
	fg_heap_give(path_take_kept(q), &q->carrier->taken);
	if (q->conn != NULL)
		ngtcp2_conn_del(q->conn);
	if (q->session != NULL)
		gnutls_deinit(q->session);
	q->conn = NULL;
	q->session = NULL;
}

void
conn_close(struct quic *q, uint64_t until)
{
	release(q);
	q->phase = CLOSING;
	q->app_at = until;
	due_set(q, until);
}

void
conn_free(struct fg_l4 *w, struct quic *q)
{
	uint32_t i = index_of(q);

	release(q);
	due_set(q, UINT64_MAX);
	q->phase = NOBODY;
	count_open(w, -1);
	if (!q->ready) /* else it is given back when its turn comes */
		fg_pool_give(&q->carrier->pool, &i);
}

static bool
is_about_certificates(uint8_t alert)
{
	return alert == GNUTLS_A_BAD_CERTIFICATE || alert == GNUTLS_A_UNSUPPORTED_CERTIFICATE ||
	       alert == GNUTLS_A_CERTIFICATE_REVOKED || alert == GNUTLS_A_CERTIFICATE_EXPIRED ||
	       alert == GNUTLS_A_CERTIFICATE_UNKNOWN || alert == GNUTLS_A_UNKNOWN_CA ||
	       alert == GNUTLS_A_CERTIFICATE_REQUIRED;
}

static void
blame(struct quic *q, int liberr)
{
	struct carrier *c = q->carrier;
	uint8_t alert = ngtcp2_conn_get_tls_alert(q->conn);

	c->tally.closed_with_error_out++;
	if (liberr == NGTCP2_ERR_CRYPTO) {
		ngtcp2_ccerr_set_tls_alert(&q->why, alert, NULL, 0);
		c->tally.certificates_refused += is_about_certificates(alert);
		snprintf(c->reason, sizeof(c->reason), "TLS: %s", gnutls_alert_get_name(alert));
	} else {
		ngtcp2_ccerr_set_liberr(&q->why, liberr, NULL, 0);
		snprintf(c->reason, sizeof(c->reason), "%s", ngtcp2_strerror(liberr));
	}
}

/* as q->why says */
static void
leave_as_said(struct fg_l4 *w, struct quic *q)
{
	conn_over(w, q, FG_L4_END_ABORTED);
	if (q->phase == SHAKING)
		q->carrier->under_way--;
	q->phase = LEAVING;
	due_set(q, UINT64_MAX);
	ready_put(q);
}

/* the application's code for an end without an error */
static uint64_t
in_peace(const struct quic *q)
{
	return streams_of(q) == NULL ? 0 : streams_of(q)->in_peace;
}

void
conn_leave(struct fg_l4 *w, struct quic *q, int liberr)
{
	if (q->phase >= LEAVING)
		return;
	ngtcp2_ccerr_default(&q->why);
	if (liberr == 0)
		ngtcp2_ccerr_set_application_error(&q->why, in_peace(q), NULL, 0);
	else
		blame(q, liberr);
	leave_as_said(w, q);
}

void
conn_fail(struct fg_l4 *w, struct quic *q, uint64_t code, const char *reason)
{
	struct carrier *c = q->carrier;

	if (q->phase >= LEAVING)
		return;
	c->tally.closed_with_error_out++;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	ngtcp2_ccerr_set_application_error(&q->why, code, NULL, 0);
	leave_as_said(w, q);
}

void
conn_drained(struct fg_l4 *w, struct quic *q)
{
	struct carrier *c = q->carrier;
	ngtcp2_ccerr theirs = peers_close(q->conn);
	bool peaceful = !q->is_reset && (theirs.error_code == 0 || theirs.error_code == in_peace(q));

	if (q->is_reset) {
		c->tally.resets_in++;
		snprintf(c->reason, sizeof(c->reason), "the peer: stateless reset");
	} else if (!peaceful) {
		c->tally.closed_with_error_in++;
		snprintf(c->reason, sizeof(c->reason), "the peer: error 0x%llx %.*s",
			 (unsigned long long)theirs.error_code, (int)theirs.reasonlen,
			 theirs.reasonlen == 0 ? "" : (const char *)theirs.reason);
	}
	conn_over(w, q,
		  q->phase == SHAKING                                  ? FG_L4_END_REFUSED
		  : peaceful && (q->fin_sent || streams_of(q) != NULL) ? FG_L4_END_CLOSED
								       : FG_L4_END_RESET);
	conn_free(w, q);
}

void
conn_schedule(const struct fg_l4 *w, struct quic *q)
{
	uint64_t expiry = q->conn == NULL || q->phase > OPEN ? UINT64_MAX : ngtcp2_conn_get_expiry(q->conn);

	if (q->paths.kept != NULL && q->paths.kept_until < expiry)
		expiry = q->paths.kept_until;
	if (expiry <= w->now)
		expiry = w->now + 1;
	due_set(q, q->app_at < expiry ? q->app_at : expiry);
}

/* the peer is silent */
static void
lost(struct fg_l4 *w, struct quic *q, int liberr)
{
	q->carrier->tally.timed_out += q->phase == SHAKING;
	snprintf(q->carrier->reason, sizeof(q->carrier->reason), "%s", ngtcp2_strerror(liberr));
	conn_over(w, q, q->heard ? FG_L4_END_LOST : FG_L4_END_NO_ANSWER);
	conn_free(w, q);
}

void
conn_act(struct fg_l4 *w, struct quic *q)
{
	int rc;

	if (q->app_at <= w->now) {
		q->app_at = UINT64_MAX;
		if (q->phase == CLOSING) {
			conn_free(w, q);
			return;
		}
		if (q->over) {
			conn_leave(w, q, 0);
			return;
		}
		ops_above(q)->timer(w, &q->stream);
	}
	if (q->phase <= OPEN && ngtcp2_conn_get_expiry(q->conn) <= w->now) {
		rc = ngtcp2_conn_handle_expiry(conn_call(w, q), w->now);
		if (rc == NGTCP2_ERR_IDLE_CLOSE || rc == NGTCP2_ERR_HANDSHAKE_TIMEOUT) {
			lost(w, q, rc);
			return;
		}
		if (rc != 0) {
			conn_leave(w, q, rc);
			return;
		}
		ready_put(q);
	}
	if (q->phase <= OPEN)
		conn_schedule(w, q);
}

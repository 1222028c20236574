/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libngtcp2 calls: streams go to the application, packets in the clear to losses.c, IDs and random
 * numbers come from us. None of these functions may end the connection's object; they only note that.
 */
#include <stdio.h>
#include <string.h>

#include "quic_priv.h"

enum { LONG_HEADER = 0x80, KEY_PHASE = 0x04, ID_AT = 1 /* in a short header */ };

_Thread_local struct calling calling;

static int
on_crypto(ngtcp2_conn *conn, ngtcp2_encryption_level level, uint64_t offset, const uint8_t *data,
	  size_t length, void *user)
{
	const struct quic *q = user;

	/* after the handshake: tickets that are not used */
	return q->session == NULL
		       ? 0
		       : ngtcp2_crypto_recv_crypto_data_cb(conn, level, offset, data, length, user);
}

static int
on_handshake(ngtcp2_conn *conn, void *user)
{
	struct quic *q = user;
	struct carrier *c = q->carrier;
	struct fg_l4 *w = calling.w;
	bool refused;
	int rc = zero_rtt_settle(q, &refused);

	conn_announce(q);
	q->phase = OPEN;
	q->confirmed = c->config.tls.server;
	c->under_way--;
	c->tally.handshakes++;
	c->tally.resumed += gnutls_session_is_resumed(q->session) != 0;
	if (c->config.tls.server)
		tickets_send(q);
	c->above->tally.established++;
	session_note(q);
	if (fg_l4_is_measured(w))
		fg_histogram_record(c->handshakes, (int64_t)(w->now - q->began));
	if (ops_above(q)->connected != NULL)
		ops_above(q)->connected(w, &q->stream);
	if (refused && streams_of(q) != NULL && !q->over)
		streams_of(q)->refused(w, &q->stream);
	conn_begin(w, q);
	return rc;
}

static int
on_confirmed(ngtcp2_conn *conn, void *user)
{
	((struct quic *)user)->confirmed = true;
	return 0;
}

static void
take(struct fg_l4 *w, struct quic *q, uint64_t offset, const uint8_t *data, size_t length)
{
	struct fg_stream *s = &q->stream;

	ops_above(q)->receive(w, s, offset, data, (uint32_t)length, false);
	s->received = offset + length;
	q->carrier->above->tally.octets_in += length;
	if (!q->over && ops_above(q)->arrived != NULL)
		ops_above(q)->arrived(w, s);
}

/* @return 0, or an error of libngtcp2: nothing more is read */
static int
take_of_streams(struct fg_l4 *w, struct quic *q, uint32_t flags, int64_t id, const uint8_t *data,
		size_t length)
{
	q->stream.received += length;
	q->carrier->above->tally.octets_in += length;
	if (!q->over)
		streams_of(q)->received(w, &q->stream, id, data, length, flags & NGTCP2_STREAM_DATA_FLAG_FIN);
	return q->phase > OPEN ? NGTCP2_ERR_CALLBACK_FAILURE : 0;
}

static int
on_data(ngtcp2_conn *conn, uint32_t flags, int64_t id, uint64_t offset, const uint8_t *data, size_t length,
	void *user, void *stream)
{
	struct quic *q = user;

	if (flags & NGTCP2_STREAM_DATA_FLAG_0RTT)
		zero_rtt_came(calling.w, q, length);
	if (streams_of(q) != NULL)
		return take_of_streams(calling.w, q, flags, id, data, length);
	ngtcp2_conn_extend_max_stream_offset(conn, id, length);
	ngtcp2_conn_extend_max_offset(conn, length);
	if (id != q->id)
		return 0;
	if (!q->over && length > 0)
		take(calling.w, q, offset, data, length);
	if (flags & NGTCP2_STREAM_DATA_FLAG_FIN) {
		q->eof = true;
		if (!q->over)
			ops_above(q)->eof(calling.w, &q->stream);
		conn_check_finished(calling.w, q);
	}
	return 0;
}

static int
on_acked(ngtcp2_conn *conn, int64_t id, uint64_t offset, uint64_t length, void *user, void *stream)
{
	struct quic *q = user;

	if (q->over || (id != q->id && streams_of(q) == NULL))
		return 0;
	q->carrier->above->tally.octets_out += length;
	if (streams_of(q) != NULL) {
		q->stream.acked += length;
		streams_of(q)->acked(calling.w, &q->stream, id, length);
		return 0;
	}
	q->stream.acked = offset + length;
	if (length > 0 && ops_above(q)->acked != NULL)
		ops_above(q)->acked(calling.w, &q->stream);
	return 0;
}

static int
on_stream(ngtcp2_conn *conn, int64_t id, void *user)
{
	struct quic *q = user;

	if (q->id < 0 && ngtcp2_is_bidi_stream(id) && streams_of(q) == NULL) {
		q->id = id;
		q->announced = true;
	}
	return 0;
}

static void
stream_over(struct quic *q, int64_t id, bool whole)
{
	if (id == q->id)
		conn_finish(calling.w, q, whole ? FG_L4_END_CLOSED : FG_L4_END_RESET);
}

static int
on_stream_close(ngtcp2_conn *conn, uint32_t flags, int64_t id, uint64_t code, void *user, void *stream)
{
	struct quic *q = user;
	bool early = flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET;

	extent_forget(&q->losses.extents, id);
	if (streams_of(q) == NULL) {
		stream_over(q, id, q->eof && q->fin_sent && !early);
		return 0;
	}
	streams_renew(q, id);
	if (!q->over)
		streams_of(q)->over(calling.w, &q->stream, id, early ? code : streams_of(q)->in_peace);
	return q->phase > OPEN ? NGTCP2_ERR_CALLBACK_FAILURE : 0;
}

static int
on_stream_reset(ngtcp2_conn *conn, int64_t id, uint64_t size, uint64_t code, void *user, void *stream)
{
	struct quic *q = user;

	if (streams_of(q) == NULL)
		stream_over(q, id, false);
	else if (!q->over)
		streams_of(q)->reset(calling.w, &q->stream, id);
	return q->phase > OPEN ? NGTCP2_ERR_CALLBACK_FAILURE : 0;
}

/* more streams of ours, or more bytes of one */
static int
on_more_streams(ngtcp2_conn *conn, uint64_t most, void *user)
{
	struct quic *q = user;

	if (streams_of(q) != NULL && !q->over)
		streams_of(q)->more(calling.w, &q->stream);
	return 0;
}

static int
on_more_bytes(ngtcp2_conn *conn, int64_t id, uint64_t most, void *user, void *stream)
{
	struct quic *q = user;

	if (streams_of(q) != NULL && !q->over)
		streams_of(q)->unblocked(calling.w, &q->stream, id);
	return 0;
}

static int
on_stop_sending(ngtcp2_conn *conn, int64_t id, uint64_t code, void *user, void *stream)
{
	struct quic *q = user;

	if (streams_of(q) == NULL)
		stream_over(q, id, false);
	else if (!q->over)
		streams_of(q)->blocked(calling.w, &q->stream, id, true);
	return 0;
}

static void
on_random(uint8_t *to, size_t length, const ngtcp2_rand_ctx *context)
{
	random_fill(context->native_handle, to, length);
}

static int
on_new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t length, void *user)
{
	const struct carrier *c = ((struct quic *)user)->carrier;

	id_make(user, id);
	return ngtcp2_crypto_generate_stateless_reset_token(token, c->secret, sizeof(c->secret), id) == 0
		       ? 0
		       : NGTCP2_ERR_CALLBACK_FAILURE;
}

static int
on_path(ngtcp2_conn *conn, uint32_t flags, const ngtcp2_path *path, ngtcp2_path_validation_result result,
	void *user)
{
	if (result != NGTCP2_PATH_VALIDATION_RESULT_ABORTED)
		path_settled(calling.w, user, path, result == NGTCP2_PATH_VALIDATION_RESULT_SUCCESS);
	return 0;
}

/* a client knows its server's stateless reset by its token alone */
static int
on_id_of_peer(ngtcp2_conn *conn, int type, uint64_t number, const ngtcp2_cid *id, const uint8_t *token,
	      void *user)
{
	ngtcp2_cid key;

	if (type != NGTCP2_CONNECTION_ID_STATUS_TYPE_ACTIVATE || token == NULL ||
	    ((struct quic *)user)->carrier->config.tls.server)
		return 0;
	ngtcp2_cid_init(&key, token, NGTCP2_STATELESS_RESET_TOKENLEN);
	first_id_remove(user);
	first_id_add(user, &key);
	return 0;
}

static int
on_reset(ngtcp2_conn *conn, const ngtcp2_pkt_stateless_reset *reset, void *user)
{
	((struct quic *)user)->is_reset = true;
	return 0;
}

static int
on_versions(ngtcp2_conn *conn, const ngtcp2_pkt_hd *hd, const uint32_t *version, size_t n, void *user)
{
	struct carrier *c = ((struct quic *)user)->carrier;
	size_t used = 0;

	for (size_t i = 0; i < n && used + sizeof(" 0x12345678") < sizeof(c->versions); i++)
		used += (size_t)sprintf(c->versions + used, "%s0x%08x", i > 0 ? " " : "", version[i]);
	return 0;
}

static int
on_retry(ngtcp2_conn *conn, const ngtcp2_pkt_hd *hd, void *user)
{
	((struct quic *)user)->carrier->tally.retries++;
	return ngtcp2_crypto_recv_retry_cb(conn, hd, user);
}

/* begun by either side */
static void
note_keys(struct quic *q, uint8_t phase)
{
	if (phase == q->key_phase)
		return;
	q->key_phase = phase;
	q->keys_from = q->losses.last_packet;
	q->carrier->tally.key_updates++;
}

/* packets with 1-RTT keys are those with a short header */
static int
on_encrypt(uint8_t *to, const ngtcp2_crypto_aead *aead, const ngtcp2_crypto_aead_ctx *context,
	   const uint8_t *frames, size_t length, const uint8_t *nonce, size_t nonce_length,
	   const uint8_t *header, size_t header_length)
{
	if (!(header[0] & LONG_HEADER)) {
		note_keys(calling.q, header[0] & KEY_PHASE);
		losses_sent(calling.q, frames, length, header, header_length);
	}
	return ngtcp2_crypto_encrypt_cb(to, aead, context, frames, length, nonce, nonce_length, header,
					header_length);
}

/* bytes behind the last packet of a datagram are not a packet, though the library tries them as one */
static bool
is_for(const struct quic *q, const uint8_t *header)
{
	return header[0] & LONG_HEADER || id_find(q->carrier, header + ID_AT, ID_BYTES) == q;
}

static int
on_decrypt(uint8_t *to, const ngtcp2_crypto_aead *aead, const ngtcp2_crypto_aead_ctx *context,
	   const uint8_t *sealed, size_t length, const uint8_t *nonce, size_t nonce_length,
	   const uint8_t *header, size_t header_length)
{
	int rc = ngtcp2_crypto_decrypt_cb(to, aead, context, sealed, length, nonce, nonce_length, header,
					  header_length);

	if (rc != 0)
		calling.q->carrier->tally.undecryptable += is_for(calling.q, header);
	else if (header[0] & LONG_HEADER)
		ecn_shaken(calling.q, to, length - aead->max_overhead);
	else
		losses_received(calling.q, to, length - aead->max_overhead);
	return rc;
}

const ngtcp2_callbacks callbacks = {
	.client_initial = ngtcp2_crypto_client_initial_cb,
	.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
	.recv_crypto_data = on_crypto,
	.handshake_completed = on_handshake,
	.handshake_confirmed = on_confirmed,
	.encrypt = on_encrypt,
	.decrypt = on_decrypt,
	.hp_mask = ngtcp2_crypto_hp_mask_cb,
	.recv_stream_data = on_data,
	.acked_stream_data_offset = on_acked,
	.stream_open = on_stream,
	.stream_close = on_stream_close,
	.stream_reset = on_stream_reset,
	.stream_stop_sending = on_stop_sending,
	.extend_max_local_streams_bidi = on_more_streams,
	.extend_max_stream_data = on_more_bytes,
	.recv_stateless_reset = on_reset,
	.dcid_status = on_id_of_peer,
	.recv_version_negotiation = on_versions,
	.recv_retry = on_retry,
	.rand = on_random,
	.get_new_connection_id = on_new_id,
	.path_validation = on_path,
	.update_key = ngtcp2_crypto_update_key_cb,
	.delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
	.delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
	.get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
	.version_negotiation = ngtcp2_crypto_version_negotiation_cb,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only file that depends on the version of libngtcp2: 0.12 of Debian 12, or 1.x of Debian 13. What was
 * renamed has the newer name here, and what was reshaped has a function. No state.
 */
#pragma once

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdbool.h>

#if NGTCP2_VERSION_NUM < 0x010000
typedef ngtcp2_crypto_level ngtcp2_encryption_level;
typedef ngtcp2_connection_close_error ngtcp2_ccerr;
#define NGTCP2_CCERR_TYPE_APPLICATION      NGTCP2_CONNECTION_CLOSE_ERROR_CODE_TYPE_APPLICATION
#define ngtcp2_ccerr_default               ngtcp2_connection_close_error_default
#define ngtcp2_ccerr_set_liberr            ngtcp2_connection_close_error_set_transport_error_liberr
#define ngtcp2_ccerr_set_tls_alert         ngtcp2_connection_close_error_set_transport_error_tls_alert
#define ngtcp2_ccerr_set_application_error ngtcp2_connection_close_error_set_application_error
#endif

/** What a client's first packet has as its token. */
static inline ngtcp2_vec
token_of(const ngtcp2_pkt_hd *hd)
{
#if NGTCP2_VERSION_NUM < 0x010000
	return hd->token;
#else
	return (ngtcp2_vec){(uint8_t *)(uintptr_t)hd->token, hd->tokenlen};
#endif
}

static inline void
set_token(ngtcp2_settings *settings, ngtcp2_vec token)
{
#if NGTCP2_VERSION_NUM < 0x010000
	settings->token = token;
#else
	settings->token = token.base;
	settings->tokenlen = token.len;
	settings->token_type = NGTCP2_TOKEN_TYPE_RETRY;
#endif
}

/** Of a server: the ID that the client sent its first packet to. */
static inline void
set_original_dcid(ngtcp2_transport_params *params, const ngtcp2_cid *id)
{
	params->original_dcid = *id;
#if NGTCP2_VERSION_NUM >= 0x010000
	params->original_dcid_present = 1;
#endif
}

/** @param original  of a server: the ID that its log names the connection by */
static inline void
set_qlog(ngtcp2_settings *settings, ngtcp2_qlog_write write, const ngtcp2_cid *original)
{
#if NGTCP2_VERSION_NUM < 0x010000
	settings->qlog.write = write;
	if (original != NULL)
		settings->qlog.odcid = *original;
#else
	(void)original; /* it is in the transport parameters */
	settings->qlog_write = write;
#endif
}

/** Why a connection ended, and by whose frame. */
static inline ngtcp2_ccerr
peers_close(ngtcp2_conn *conn)
{
#if NGTCP2_VERSION_NUM < 0x010000
	ngtcp2_ccerr out;

	ngtcp2_conn_get_connection_close_error(conn, &out);
	return out;
#else
	return *ngtcp2_conn_get_ccerr(conn);
#endif
}

static inline void
stop_reading(ngtcp2_conn *conn, int64_t id, uint64_t code)
{
#if NGTCP2_VERSION_NUM < 0x010000
	ngtcp2_conn_shutdown_stream_read(conn, id, code);
#else
	ngtcp2_conn_shutdown_stream_read(conn, 0, id, code);
#endif
}

static inline void
stop_writing(ngtcp2_conn *conn, int64_t id, uint64_t code)
{
#if NGTCP2_VERSION_NUM < 0x010000
	ngtcp2_conn_shutdown_stream_write(conn, id, code);
#else
	ngtcp2_conn_shutdown_stream_write(conn, 0, id, code);
#endif
}

#if NGTCP2_VERSION_NUM < 0x010000
#define NGTCP2_STREAM_DATA_FLAG_0RTT NGTCP2_STREAM_DATA_FLAG_EARLY
/** Of a server's transport parameters, those that are remembered for early data (RFC 9000, 7.4.1). */
struct params_kept {
	ngtcp2_transport_params params;
};
#else
struct params_kept {
	uint8_t data[256];
	size_t length;
};
#endif

/** @return false: no streams */
static inline bool
params_keep(ngtcp2_conn *conn, struct params_kept *out)
{
#if NGTCP2_VERSION_NUM < 0x010000
	const ngtcp2_transport_params *p = ngtcp2_conn_get_remote_transport_params(conn);

	if (p == NULL)
		return false;
	ngtcp2_transport_params_default(&out->params);
	out->params.initial_max_streams_bidi = p->initial_max_streams_bidi;
	out->params.initial_max_streams_uni = p->initial_max_streams_uni;
	out->params.initial_max_stream_data_bidi_local = p->initial_max_stream_data_bidi_local;
	out->params.initial_max_stream_data_bidi_remote = p->initial_max_stream_data_bidi_remote;
	out->params.initial_max_stream_data_uni = p->initial_max_stream_data_uni;
	out->params.initial_max_data = p->initial_max_data;
	out->params.active_connection_id_limit = p->active_connection_id_limit;
	return true;
#else
	ngtcp2_ssize n = ngtcp2_conn_encode_0rtt_transport_params(conn, out->data, sizeof(out->data));

	out->length = n > 0 ? (size_t)n : 0;
	return n > 0;
#endif
}

static inline bool
params_use(ngtcp2_conn *conn, const struct params_kept *kept)
{
#if NGTCP2_VERSION_NUM < 0x010000
	ngtcp2_conn_set_early_remote_transport_params(conn, &kept->params);
	return true;
#else
	return ngtcp2_conn_decode_and_set_0rtt_transport_params(conn, kept->data, kept->length) == 0;
#endif
}

static inline int
early_data_rejected(ngtcp2_conn *conn)
{
#if NGTCP2_VERSION_NUM < 0x010000
	return ngtcp2_conn_early_data_rejected(conn);
#else
	return ngtcp2_conn_tls_early_data_rejected(conn);
#endif
}

/* ns */
struct rtt {
	uint64_t latest, smoothed;
};

static inline struct rtt
rtt_of(ngtcp2_conn *conn)
{
#if NGTCP2_VERSION_NUM < 0x010000
	ngtcp2_conn_stat of;

	ngtcp2_conn_get_conn_stat(conn, &of);
#else
	ngtcp2_conn_info of;

	ngtcp2_conn_get_conn_info(conn, &of);
#endif
	return (struct rtt){of.latest_rtt, of.smoothed_rtt};
}

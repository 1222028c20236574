/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One handshake. libssl reads and writes memory. It gets one record at a time, so that none of what follows
 * the handshake is ever in its hands, and what it writes last tells from which number records go on: tickets
 * of TLS 1.3 are sealed with the keys that data are, Finished of TLS 1.2 is record 0 in both directions.
 */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "fg_bytes.h"
#include "handshake_priv.h"

/* a ticket of TLS 1.3 is for one connection (RFC 8446, C.4), and what libssl makes of one is used up, too */
static void
use_session(struct fg_tls_handshake *h)
{
	struct fg_tls_context *c = h->context;
	SSL_SESSION *session = c->session[c->sessions - 1];
	bool is_1_3 = SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION;

	if (is_1_3 && c->reuse)
		session = SSL_SESSION_dup(session);
	else if (is_1_3)
		c->sessions--;
	if (session == NULL)
		return;
	SSL_set_session(h->ssl, session);
	if (is_1_3)
		SSL_SESSION_free(session);
}

struct fg_tls_handshake *
fg_tls_handshake_create(struct fg_tls_context *c)
{
	struct fg_tls_handshake *h = calloc(1, sizeof(*h));
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());

	if (h != NULL)
		h->ssl = SSL_new(c->ssl);
	if (h == NULL || h->ssl == NULL || in == NULL || out == NULL) {
		BIO_free(in);
		BIO_free(out);
		fg_tls_handshake_free(h);
		return NULL;
	}
	h->context = c;
	h->sent = h->received = -1;
	SSL_set_app_data(h->ssl, h);
	SSL_set_bio(h->ssl, in, out);
	if (c->server) {
		SSL_set_accept_state(h->ssl);
		h->early = c->early_data == 0 ? NULL : malloc(FG_TLS_PLAIN);
		h->early_over = h->early == NULL;
		return h;
	}
	SSL_set_connect_state(h->ssl);
	if (c->server_name[0] != '\0')
		SSL_set_tlsext_host_name(h->ssl, c->server_name);
	if (c->verify && c->server_name[0] != '\0')
		SSL_set1_host(h->ssl, c->server_name);
	if (c->resume && c->sessions > 0)
		use_session(h);
	return h;
}

void
fg_tls_handshake_free(struct fg_tls_handshake *h)
{
	if (h == NULL)
		return;
	if (h->ssl != NULL &&
	    h->over) /* else libssl would take a session that was never closed for a bad one */
		SSL_set_shutdown(h->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(h->ssl);
	free(h->early);
	free(h);
}

static void
step_begin(struct fg_tls_handshake *h)
{
	ERR_clear_error();
	(void)BIO_reset(SSL_get_wbio(h->ssl));
	random_begin(h->context->seeded ? &h->context->random : NULL);
}

static enum fg_tls_step
step_end(struct fg_tls_handshake *h, int rc)
{
	enum fg_tls_step step = FG_TLS_GOES_ON;
	const char *reason;

	if (rc == 1) {
		h->over = true;
		step = FG_TLS_FINISHED;
	} else if (SSL_get_error(h->ssl, rc) != SSL_ERROR_WANT_READ) {
		reason = ERR_reason_error_string(ERR_peek_last_error());
		snprintf(h->context->reason, sizeof(h->context->reason), "%s",
			 reason == NULL ? "no reason given" : reason);
		step = FG_TLS_FAILED;
	}
	random_begin(NULL);
	return step;
}

enum fg_tls_step
fg_tls_handshake_step(struct fg_tls_handshake *h, const uint8_t *record, uint32_t length)
{
	bool waits = false;
	int rc = 0;

	step_begin(h);
	if (record != NULL && BIO_write(SSL_get_rbio(h->ssl), record, (int)length) != (int)length)
		return FG_TLS_FAILED;
	if (!h->early_over && h->context->server)
		rc = early_read(h, &waits);
	return step_end(h, waits ? rc : SSL_do_handshake(h->ssl));
}

enum fg_tls_step
fg_tls_handshake_begin_early(struct fg_tls_handshake *h, const uint8_t *data, uint32_t length)
{
	size_t n;

	step_begin(h);
	if (SSL_write_early_data(h->ssl, data, length, &n) != 1 || n != length)
		return step_end(h, -1);
	return step_end(h, SSL_do_handshake(h->ssl));
}

size_t
fg_tls_handshake_output(struct fg_tls_handshake *h, const uint8_t **data)
{
	char *at = NULL;
	long length = BIO_get_mem_data(SSL_get_wbio(h->ssl), &at);

	*data = (const uint8_t *)at;
	return length > 0 ? (size_t)length : 0;
}

void
fg_tls_handshake_failure(const struct fg_tls_handshake *h, struct fg_tls_failure *out)
{
	*out = (struct fg_tls_failure){h->sent, h->received, SSL_get_verify_result(h->ssl) != X509_V_OK};
}

/* records that were sealed by the last step */
static uint64_t
sealed_records(struct fg_tls_handshake *h)
{
	const uint8_t *data;
	size_t left = fg_tls_handshake_output(h, &data), length;
	uint64_t n = 0;

	for (; left >= FG_TLS_HEADER; data += length, left -= length) {
		length = FG_TLS_HEADER + (size_t)fg_get16(data + 3);
		if (length > left)
			break;
		n += data[0] == FG_TLS_DATA;
	}
	return n;
}

static uint32_t
chain_octets(const SSL *ssl)
{
	STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
	int octets = 0;

	for (int i = 0; i < sk_X509_num(chain); i++)
		octets += i2d_X509(sk_X509_value(chain, i), NULL);
	return (uint32_t)octets;
}

static void
note_agreed(struct fg_tls_handshake *h)
{
	struct fg_tls_agreed *a = &h->context->agreed;
	const unsigned char *alpn;
	unsigned alpn_length;
	int group = (int)SSL_get_negotiated_group(h->ssl);
	const char *name = group == 0 ? NULL : SSL_group_to_name(h->ssl, group);

	snprintf(a->version, sizeof(a->version), "%s", SSL_get_version(h->ssl));
	snprintf(a->cipher, sizeof(a->cipher), "%s", SSL_get_cipher_name(h->ssl));
	snprintf(a->group, sizeof(a->group), "%s", name == NULL ? "" : name);
	SSL_get0_alpn_selected(h->ssl, &alpn, &alpn_length);
	snprintf(a->alpn, sizeof(a->alpn), "%.*s", (int)alpn_length, alpn == NULL ? "" : (const char *)alpn);
	if (!h->context->server && !SSL_session_reused(h->ssl))
		a->certificate_octets = chain_octets(h->ssl);
}

static bool
take_1_3(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto, struct fg_tls_taken *out)
{
	bool server = h->context->server;

	if (!h->has_client || !h->has_server)
		return false;
	memcpy(out->out_secret, server ? h->server_secret : h->client_secret, FG_TLS_MAX_SECRET);
	memcpy(out->in_secret, server ? h->client_secret : h->server_secret, FG_TLS_MAX_SECRET);
	out->out_next = server ? sealed_records(h) : 0;
	out->in_next = 0;
	return fg_tls_keys_of(crypto, out->suite, out->out_secret, &out->out) &&
	       fg_tls_keys_of(crypto, out->suite, out->in_secret, &out->in);
}

static bool
take_1_2(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto, struct fg_tls_taken *out)
{
	uint8_t master[FG_TLS_MASTER], client[FG_TLS_RANDOM], server[FG_TLS_RANDOM];
	bool is_server = h->context->server;

	out->out_next = out->in_next = 1;
	return SSL_SESSION_get_master_key(SSL_get_session(h->ssl), master, sizeof(master)) ==
		       sizeof(master) &&
	       SSL_get_client_random(h->ssl, client, sizeof(client)) == sizeof(client) &&
	       SSL_get_server_random(h->ssl, server, sizeof(server)) == sizeof(server) &&
	       fg_tls_keys_of_master(crypto, out->suite, master, client, server,
				     is_server ? &out->in : &out->out, is_server ? &out->out : &out->in);
}

bool
fg_tls_handshake_take(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto, struct fg_tls_taken *out)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(h->ssl);

	out->suite = cipher == NULL ? NULL : fg_tls_suite_by_id(SSL_CIPHER_get_protocol_id(cipher));
	if (out->suite == NULL)
		return false;
	out->resumed = SSL_session_reused(h->ssl) == 1;
	note_agreed(h);
	return out->suite->version == FG_TLS_1_3 ? take_1_3(h, crypto, out) : take_1_2(h, crypto, out);
}

/*
 * libssl expects tickets in the first records, but what answers early data comes before them: sealed again,
 * they are.
 */
void
fg_tls_handshake_ticket(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto,
			const struct fg_tls_suite *suite, const struct fg_tls_keys *k, const uint8_t *plain,
			uint32_t length)
{
	uint8_t record[FG_TLS_MAX_RECORD], none;
	uint32_t n;

	memcpy(record + fg_tls_plain_at(suite), plain, length);
	n = fg_tls_seal(crypto, suite, k, h->tickets++, FG_TLS_HANDSHAKE, record, length);
	step_begin(h);
	if (n > 0 && BIO_write(SSL_get_rbio(h->ssl), record, (int)n) == (int)n)
		SSL_read(h->ssl, &none, sizeof(none));
	random_begin(NULL);
}

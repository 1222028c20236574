/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What many handshakes share: a library context, certificates, suites, groups, tickets, the key log. libssl
 * is told everything here once; handshake.c only starts it.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "fg_random.h"
#include "handshake_priv.h"

enum { TICKET_KEYS = 80 };

const char *
fg_tls_library(void)
{
	return OpenSSL_version(OPENSSL_VERSION);
}

static struct fg_tls_handshake *
handshake_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

static void
log_line(struct fg_tls_context *c, const char *line)
{
	size_t length = strlen(line);

	if (c->log == NULL)
		return;
	if (c->log_room - c->log_used < length + 2) {
		c->log_lost++;
		return;
	}
	memcpy(c->log + c->log_used, line, length);
	c->log_used += length;
	memcpy(c->log + c->log_used++, "\n", 2);
}

static uint8_t
digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : (c | ' ') - 'a' + 10);
}

/* the secret is the last word of the line */
static bool
read_secret(const char *line, uint8_t *out)
{
	const char *text = strrchr(line, ' ');
	size_t length = text == NULL ? 0 : strlen(++text) / 2;

	for (size_t i = 0; i < length && i < FG_TLS_MAX_SECRET; i++)
		out[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	return length > 0 && length <= FG_TLS_MAX_SECRET;
}

static void
on_secret(const SSL *ssl, const char *line)
{
	static const char client[] = "CLIENT_TRAFFIC_SECRET_0 ", server[] = "SERVER_TRAFFIC_SECRET_0 ";
	struct fg_tls_handshake *h = handshake_of(ssl);

	if (strncmp(line, client, sizeof(client) - 1) == 0)
		h->has_client = read_secret(line, h->client_secret);
	else if (strncmp(line, server, sizeof(server) - 1) == 0)
		h->has_server = read_secret(line, h->server_secret);
	log_line(h->context, line);
}

static void
on_alert(const SSL *ssl, int where, int value)
{
	struct fg_tls_handshake *h = handshake_of(ssl);

	if (!(where & SSL_CB_ALERT) || value >> 8 != SSL3_AL_FATAL)
		return;
	*(where & SSL_CB_READ ? &h->received : &h->sent) = value & 0xff;
}

static int
on_session(SSL *ssl, SSL_SESSION *session)
{
	struct fg_tls_context *c = handshake_of(ssl)->context;

	if (c->sessions == MAX_SESSIONS || (c->reuse && c->sessions > 0))
		return 0;
	c->session[c->sessions++] = session;
	return 1; /* it is ours */
}

static int
on_protocols(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *theirs,
	     unsigned int theirs_length, void *context)
{
	const struct fg_tls_context *c = context;
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, length, c->alpn, c->alpn_length, theirs, theirs_length) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static int
on_name(SSL *ssl, int *alert, void *context)
{
	const struct fg_tls_context *c = context;
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name), *dot;

	if (name == NULL || !c->strict_name || strcmp(name, c->server_name) == 0)
		return SSL_TLSEXT_ERR_OK;
	dot = strchr(name, '.');
	if (dot != NULL && strcmp(dot + 1, c->server_name) == 0)
		return SSL_TLSEXT_ERR_OK;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* "h2,http/1.1": each behind its length */
static bool
set_protocols(struct fg_tls_context *c, const char *list)
{
	for (const char *at = list; *at != '\0';) {
		size_t length = strcspn(at, ",");

		if (length == 0 || length > UINT8_MAX || c->alpn_length + length + 1 > sizeof(c->alpn))
			return false;
		c->alpn[c->alpn_length++] = (uint8_t)length;
		memcpy(c->alpn + c->alpn_length, at, length);
		c->alpn_length += (unsigned)length;
		at += length + (at[length] == ',');
	}
	if (c->server)
		SSL_CTX_set_alpn_select_cb(c->ssl, on_protocols, c);
	return c->server || SSL_CTX_set_alpn_protos(c->ssl, c->alpn, c->alpn_length) == 0;
}

/* the suites of one version among all, for libssl has a list for each. @return whether there are any */
static bool
suites_of(const char *all, uint16_t version, char *out, size_t room)
{
	char name[64];
	size_t used = 0;

	for (const char *at = all; *at != '\0';) {
		size_t length = strcspn(at, ":");
		const struct fg_tls_suite *suite;

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		suite = fg_tls_suite_by_name(name);
		if (suite != NULL && suite->version == version && used + length + 2 < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s", used > 0 ? ":" : "", name);
		at += length + (at[length] == ':');
	}
	return used > 0;
}

static bool
set_suites(SSL_CTX *ssl, const char *all)
{
	char list[512];

	return (!suites_of(all, FG_TLS_1_3, list, sizeof(list)) ||
		SSL_CTX_set_ciphersuites(ssl, list) == 1) &&
	       (!suites_of(all, FG_TLS_1_2, list, sizeof(list)) || SSL_CTX_set_cipher_list(ssl, list) == 1);
}

/* made in the default library context, used in another: by way of DER */
static bool
use_identity(struct fg_tls_context *c, const struct identity *one)
{
	const unsigned char *certificate = one->certificate, *key = one->key;
	X509 *x = X509_new_ex(c->library, NULL);
	EVP_PKEY *pkey = d2i_AutoPrivateKey_ex(NULL, &key, one->key_length, c->library, NULL);
	bool used = x != NULL && pkey != NULL &&
		    d2i_X509(&x, &certificate, one->certificate_length) != NULL &&
		    SSL_CTX_use_certificate(c->ssl, x) == 1 && SSL_CTX_use_PrivateKey(c->ssl, pkey) == 1;

	X509_free(x);
	EVP_PKEY_free(pkey);
	return used;
}

static bool
trust_authority(struct fg_tls_context *c, bool seeded)
{
	const uint8_t *der;
	int length = authority_certificate(seeded, &der);
	X509 *x = X509_new_ex(c->library, NULL);
	bool trusted = length > 0 && x != NULL && d2i_X509(&x, &der, length) != NULL &&
		       X509_STORE_add_cert(SSL_CTX_get_cert_store(c->ssl), x) == 1 &&
		       (!c->server || SSL_CTX_add_client_CA(c->ssl, x) == 1);

	X509_free(x);
	return trusted;
}

static void
set_tickets(struct fg_tls_context *c, const struct fg_tls_config *config)
{
	uint8_t keys[TICKET_KEYS];
	uint64_t state = config->seed ^ 0x7469636b6574;

	if (!c->server) {
		SSL_CTX_set_session_cache_mode(c->ssl,
					       c->resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
							 : SSL_SESS_CACHE_OFF);
		SSL_CTX_sess_set_new_cb(c->ssl, on_session);
		return;
	}
	SSL_CTX_set_session_cache_mode(c->ssl, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(c->ssl, config->tickets);
	if (config->tickets == 0)
		SSL_CTX_set_options(c->ssl, SSL_OP_NO_TICKET);
	SSL_CTX_set_session_id_context(c->ssl, (const unsigned char *)"framegauge", 10);
	for (size_t i = 0; i < sizeof(keys); i++)
		keys[i] = (uint8_t)fg_random_next(&state);
	if (config->seeded)
		SSL_CTX_set_tlsext_ticket_keys(c->ssl, keys, sizeof(keys));
}

/* @return the setting that libssl rejects; NULL: all accepted */
static const char *
set_up(struct fg_tls_context *c, const struct fg_tls_config *config)
{
	const struct identity *identity = NULL;

	if (SSL_CTX_set_min_proto_version(c->ssl, config->oldest) != 1 ||
	    SSL_CTX_set_max_proto_version(c->ssl, config->newest) != 1)
		return "versions";
	if (!set_suites(c->ssl, config->ciphers))
		return "ciphers";
	if (SSL_CTX_set1_groups_list(c->ssl, config->groups) != 1)
		return "groups";
	if (config->certificate_file != NULL) {
		if (SSL_CTX_use_certificate_chain_file(c->ssl, config->certificate_file) != 1 ||
		    SSL_CTX_use_PrivateKey_file(c->ssl, config->key_file, SSL_FILETYPE_PEM) != 1)
			return "certificate_file";
	} else if (config->certificate != NULL) {
		identity = identity_of(config->certificate, c->server_name, config->seeded);
		if (identity == NULL || !use_identity(c, identity))
			return "certificate";
	}
	if (!trust_authority(c, config->seeded) ||
	    (config->ca_file != NULL && SSL_CTX_load_verify_file(c->ssl, config->ca_file) != 1))
		return "ca_file";
	if (config->alpn != NULL && !set_protocols(c, config->alpn))
		return "alpn";
	set_tickets(c, config);
	if (!early_set_up(c, config))
		return "early_data";
	SSL_CTX_set_verify(
		c->ssl, !config->verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
		NULL);
	SSL_CTX_set_options(c->ssl, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(c->ssl, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_keylog_callback(c->ssl, on_secret);
	SSL_CTX_set_info_callback(c->ssl, on_alert);
	SSL_CTX_set_tlsext_servername_callback(c->ssl, on_name);
	SSL_CTX_set_tlsext_servername_arg(c->ssl, c);
	return NULL;
}

int
fg_tls_context_create(const struct fg_tls_config *config, struct fg_tls_context **out, struct fg_error *err)
{
	struct fg_tls_context *c = calloc(1, sizeof(*c));
	const char *wrong = NULL;
	char where[64];

	if (c == NULL)
		return fg_error_set(err, ENOMEM, "tls", "no memory");
	c->server = config->server;
	c->resume = config->resume;
	c->reuse = config->reuse;
	c->verify = config->verify;
	c->strict_name = config->strict_name;
	c->seeded = config->seeded;
	c->random = config->seed ^ (config->server ? 0x736572766572 : 0x636c69656e74);
	snprintf(c->server_name, sizeof(c->server_name), "%s",
		 config->server_name == NULL ? "" : config->server_name);
	c->log_room = (size_t)config->key_log * LOG_LINE;
	c->log = c->log_room == 0 ? NULL : calloc(1, c->log_room);
	c->library = OSSL_LIB_CTX_new();
	c->ssl = c->library == NULL ? NULL
				    : SSL_CTX_new_ex(c->library, NULL,
						     c->server ? TLS_server_method() : TLS_client_method());
	ERR_clear_error();
	if (c->ssl == NULL || (c->log_room > 0 && c->log == NULL))
		wrong = "context";
	else
		wrong = set_up(c, config);
	if (wrong != NULL) {
		const char *why = ERR_reason_error_string(ERR_peek_last_error());

		snprintf(where, sizeof(where), "l4.tls.%s", wrong);
		fg_tls_context_free(c);
		return fg_error_set(err, EINVAL, where, "libssl (%s) does not take it: %s", fg_tls_library(),
				    why == NULL ? "no reason given" : why);
	}
	*out = c;
	return 0;
}

void
fg_tls_context_free(struct fg_tls_context *c)
{
	if (c == NULL)
		return;
	while (c->sessions > 0)
		SSL_SESSION_free(c->session[--c->sessions]);
	SSL_CTX_free(c->ssl);
	OSSL_LIB_CTX_free(c->library);
	fg_tls_replays_free(c->seen);
	free(c->log);
	free(c);
}

const struct fg_tls_agreed *
fg_tls_context_agreed(const struct fg_tls_context *c)
{
	return &c->agreed;
}

const char *
fg_tls_context_reason(const struct fg_tls_context *c)
{
	return c->reason;
}

uint32_t
fg_tls_context_sessions(const struct fg_tls_context *c)
{
	return c->sessions;
}

const char *
fg_tls_context_key_log(const struct fg_tls_context *c, uint64_t *lost)
{
	*lost = c->log_lost;
	return c->log == NULL ? "" : c->log;
}

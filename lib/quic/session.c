/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GnuTLS, which makes the handshakes of libngtcp2: our identity and our trusted authorities, one session, and
 * the key log. Suites and groups come by the names of libssl, which are the plan's, and are said here in
 * GnuTLS' words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quic_priv.h"

enum { LOG_LINE = 224 };

static const char PRIORITY[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:%DISABLE_TLS13_COMPAT_MODE";

static const struct {
	const char *ssl, *gnutls;
} words[] = {
	{"TLS_AES_128_GCM_SHA256", "+AES-128-GCM"},
	{"TLS_AES_256_GCM_SHA384", "+AES-256-GCM"},
	{"TLS_CHACHA20_POLY1305_SHA256", "+CHACHA20-POLY1305"},
	{"X25519", "+GROUP-X25519"},
	{"P-256", "+GROUP-SECP256R1"},
	{"P-384", "+GROUP-SECP384R1"},
};

/* the known names of a list "A:B", behind ":" each */
static void
translate(const char *list, char *out, size_t room)
{
	size_t used = strlen(out);

	for (const char *at = list; *at != '\0';) {
		size_t length = strcspn(at, ":");

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].ssl) == length && strncmp(words[i].ssl, at, length) == 0 &&
			    used < room)
				used += (size_t)snprintf(out + used, room - used, ":%s", words[i].gnutls);
		at += length + (at[length] == ':');
	}
}

static int
set_priority(struct carrier *c)
{
	char text[512];

	snprintf(text, sizeof(text), "%s:-CIPHER-ALL", PRIORITY);
	translate(c->config.tls.ciphers, text, sizeof(text));
	strcat(text, ":-GROUP-ALL");
	translate(c->config.tls.groups, text, sizeof(text));
	return gnutls_priority_init(&c->priority, text, NULL);
}

static gnutls_datum_t
datum(const void *data, size_t length)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)data, (unsigned)length};
}

/* @return 0 or an error of GnuTLS; *what: the key of l4.tls */
static int
set_identity(struct carrier *c, const char **what)
{
	const struct fg_tls_config *tls = &c->config.tls;
	struct fg_tls_identity one;
	gnutls_datum_t certificate, key;

	*what = "certificate_file";
	if (tls->certificate_file != NULL)
		return gnutls_certificate_set_x509_key_file(c->credentials, tls->certificate_file,
							    tls->key_file, GNUTLS_X509_FMT_PEM);
	*what = "certificate";
	if (tls->certificate == NULL)
		return 0;
	if (!fg_tls_identity(tls->certificate, c->server_name, tls->seeded, &one))
		return GNUTLS_E_INTERNAL_ERROR;
	certificate = datum(one.certificate, one.certificate_length);
	key = datum(one.key, one.key_length);
	return gnutls_certificate_set_x509_key_mem(c->credentials, &certificate, &key, GNUTLS_X509_FMT_DER);
}

/* @return 0 or an error of GnuTLS */
static int
set_trust(struct carrier *c, const char **what)
{
	const struct fg_tls_config *tls = &c->config.tls;
	const char *authority = fg_tls_authority(tls->seeded);
	gnutls_datum_t pem = datum(authority, authority == NULL ? 0 : strlen(authority));
	int rc = gnutls_certificate_set_x509_trust_mem(c->credentials, &pem, GNUTLS_X509_FMT_PEM);

	*what = "ca_file";
	if (rc >= 0 && tls->ca_file != NULL)
		rc = gnutls_certificate_set_x509_trust_file(c->credentials, tls->ca_file,
							    GNUTLS_X509_FMT_PEM);
	return rc < 0 ? rc : 0;
}

/* "perf,h3": each behind its length. @return false: a name is empty or too long */
static bool
set_protocols(struct carrier *c, const char *list)
{
	for (const char *at = list; *at != '\0';) {
		size_t length = strcspn(at, ",");

		if (length == 0 || c->alpn_length + length + 1 > sizeof(c->alpn))
			return false;
		c->alpn[c->alpn_length++] = (uint8_t)length;
		memcpy(c->alpn + c->alpn_length, at, length);
		c->alpn_length += (unsigned)length;
		at += length + (at[length] == ',');
	}
	return true;
}

int
credentials_create(struct carrier *c, struct fg_error *err)
{
	const struct fg_tls_config *tls = &c->config.tls;
	const char *what = "ciphers";
	char where[64];
	int rc;

	snprintf(c->server_name, sizeof(c->server_name), "%s",
		 tls->server_name == NULL ? "" : tls->server_name);
	if (!set_protocols(c, tls->alpn == NULL ? "perf" : tls->alpn))
		return fg_error_set(err, EINVAL, "l4.tls.alpn", "a name is empty, or they are too long");
	c->log_room = (size_t)tls->key_log * LOG_LINE;
	c->log = c->log_room == 0 ? NULL : calloc(1, c->log_room);
	rc = c->log_room > 0 && c->log == NULL ? GNUTLS_E_MEMORY_ERROR : set_priority(c);
	if (rc == 0)
		rc = gnutls_certificate_allocate_credentials(&c->credentials);
	if (rc == 0)
		rc = set_identity(c, &what);
	if (rc == 0)
		rc = set_trust(c, &what);
	if (rc == 0) {
		what = "resume";
		rc = tickets_create(c);
	}
	if (rc == 0)
		return 0;
	snprintf(where, sizeof(where), "l4.tls.%s", what);
	return fg_error_set(err, EINVAL, where, "GnuTLS (%s) does not take it: %s",
			    gnutls_check_version(NULL), gnutls_strerror(rc));
}

void
credentials_free(struct carrier *c)
{
	if (c->credentials != NULL)
		gnutls_certificate_free_credentials(c->credentials);
	if (c->priority != NULL)
		gnutls_priority_deinit(c->priority);
	tickets_free(c);
	free(c->log);
}

static size_t
put_hex(char *to, const gnutls_datum_t *from)
{
	for (unsigned i = 0; i < from->size; i++)
		sprintf(to + 2 * (size_t)i, "%02x", from->data[i]);
	return 2 * (size_t)from->size;
}

/* "LABEL client_random secret", as Wireshark reads it */
static int
on_secret(gnutls_session_t session, const char *label, const gnutls_datum_t *secret)
{
	struct carrier *c = session_owner(session)->carrier;
	gnutls_datum_t client, server;
	char line[LOG_LINE];
	size_t length = strlen(label);

	gnutls_session_get_random(session, &client, &server);
	if (length + 2 * (size_t)(client.size + secret->size) + 4 > sizeof(line) ||
	    c->log_room - c->log_used < sizeof(line)) {
		c->log_lost++;
		return 0;
	}
	memcpy(line, label, length);
	line[length++] = ' ';
	length += put_hex(line + length, &client);
	line[length++] = ' ';
	length += put_hex(line + length, secret);
	line[length++] = '\n';
	memcpy(c->log + c->log_used, line, length);
	c->log_used += length;
	c->log[c->log_used] = '\0';
	return 0;
}

static void
offer_protocols(const struct carrier *c, gnutls_session_t session)
{
	gnutls_datum_t names[sizeof(c->alpn) / 2];
	unsigned n = 0;

	for (unsigned at = 0; at < c->alpn_length; at += c->alpn[at] + 1U)
		names[n++] = datum(c->alpn + at + 1, c->alpn[at]);
	gnutls_alpn_set_protocols(session, names, n,
				  GNUTLS_ALPN_MANDATORY |
					  (c->config.tls.server ? GNUTLS_ALPN_SERVER_PRECEDENCE : 0));
}

static int
configure(struct quic *q, gnutls_session_t session)
{
	const struct carrier *c = q->carrier;
	const struct fg_tls_config *tls = &c->config.tls;
	int rc = gnutls_priority_set(session, c->priority);

	if (rc == 0)
		rc = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->credentials);
	if (rc == 0)
		rc = tls->server ? ngtcp2_crypto_gnutls_configure_server_session(session)
				 : ngtcp2_crypto_gnutls_configure_client_session(session);
	offer_protocols(c, session);
	if (!tls->server && c->server_name[0] != '\0')
		gnutls_server_name_set(session, GNUTLS_NAME_DNS, c->server_name, strlen(c->server_name));
	if (tls->server && tls->verify)
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	if (tls->verify)
		gnutls_session_set_verify_cert(session, tls->server ? NULL : c->server_name, 0);
	if (c->log != NULL)
		gnutls_session_set_keylog_function(session, on_secret);
	return rc == 0 ? tickets_configure(q, session) : rc;
}

gnutls_session_t
session_create(struct quic *q)
{
	const struct carrier *c = q->carrier;
	unsigned role = c->config.tls.server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET : GNUTLS_CLIENT;
	gnutls_session_t session;

	if (gnutls_init(&session, role | tickets_flags(c)) != 0)
		return NULL;
	gnutls_session_set_ptr(session, &q->ref);
	if (configure(q, session) == 0)
		return session;
	gnutls_deinit(session);
	return NULL;
}

static void
put_text(char *to, size_t room, const char *text)
{
	snprintf(to, room, "%s", text == NULL ? "" : text);
}

void
session_note(const struct quic *q)
{
	struct fg_tls_agreed *a = &q->carrier->agreed;
	gnutls_datum_t alpn;
	unsigned n = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(q->session, &n);

	put_text(a->version, sizeof(a->version), "1.3");
	put_text(a->cipher, sizeof(a->cipher), gnutls_ciphersuite_get(q->session));
	put_text(a->group, sizeof(a->group), gnutls_group_get_name(gnutls_group_get(q->session)));
	if (gnutls_alpn_get_selected_protocol(q->session, &alpn) == 0)
		snprintf(a->alpn, sizeof(a->alpn), "%.*s", (int)alpn.size, alpn.data);
	if (gnutls_session_is_resumed(q->session))
		return;
	for (a->certificate_octets = 0; n > 0; chain++, n--)
		a->certificate_octets += chain->size;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Early data (0-RTT; RFC 8446, 2.3). libssl seals and opens its records, for all of it leaves in one flight.
 * A server takes it from any client with a ticket, a replay as well: a tester must be able to be asked twice.
 * It only counts them, by the ticket's key, which no two tickets share.
 */
#include <stdlib.h>
#include <string.h>

#include "handshake_priv.h"

enum { SKIPPED = 16384 /* bytes beyond what is taken that a server skips of early data that it refused */ };

/* libssl accepts the early data; decide whether we accept it */
static int
on_early_data(SSL *ssl, void *context)
{
	struct fg_tls_context *c = context;
	uint64_t id = 0;

	SSL_SESSION_get_master_key(SSL_get_session(ssl), (unsigned char *)&id, sizeof(id));
	c->replays += fg_tls_replays_seen(c->seen, id);
	c->offers++;
	return c->refuse_every == 0 || c->offers % c->refuse_every != 0;
}

bool
early_set_up(struct fg_tls_context *c, const struct fg_tls_config *config)
{
	if (config->early_data > FG_TLS_PLAIN)
		return false;
	c->early_data = config->newest < FG_TLS_1_3 ? 0 : config->early_data;
	if (c->early_data == 0 || !c->server)
		return true;
	c->refuse_every = config->refuse_every;
	c->seen = fg_tls_replays_create();
	SSL_CTX_set_options(c->ssl, SSL_OP_NO_ANTI_REPLAY);
	SSL_CTX_set_allow_early_data_cb(c->ssl, on_early_data, c);
	return c->seen != NULL && SSL_CTX_set_max_early_data(c->ssl, c->early_data) == 1 &&
	       SSL_CTX_set_recv_max_early_data(c->ssl, c->early_data + SKIPPED) == 1;
}

uint64_t
fg_tls_context_replays(const struct fg_tls_context *c)
{
	return c->replays;
}

uint32_t
fg_tls_handshake_early_room(const struct fg_tls_handshake *h)
{
	const SSL_SESSION *session = SSL_get_session(h->ssl);
	uint32_t ours = h->context->early_data, theirs;

	if (h->context->server || session == NULL)
		return 0;
	theirs = SSL_SESSION_get_max_early_data(session);
	return ours < theirs ? ours : theirs;
}

int
early_read(struct fg_tls_handshake *h, bool *waits)
{
	size_t n;
	int rc;

	h->early_length = 0;
	do {
		rc = SSL_read_early_data(h->ssl, h->early + h->early_length, FG_TLS_PLAIN - h->early_length,
					 &n);
		h->early_length += rc == SSL_READ_EARLY_DATA_SUCCESS ? (uint32_t)n : 0;
	} while (rc == SSL_READ_EARLY_DATA_SUCCESS && h->early_length < FG_TLS_PLAIN);
	h->early_over = rc == SSL_READ_EARLY_DATA_FINISH;
	*waits = !h->early_over;
	return -1;
}

enum fg_tls_early
fg_tls_handshake_early(const struct fg_tls_handshake *h)
{
	switch (SSL_get_early_data_status(h->ssl)) {
	case SSL_EARLY_DATA_ACCEPTED:
		return FG_TLS_EARLY_ACCEPTED;
	case SSL_EARLY_DATA_REJECTED:
		return FG_TLS_EARLY_REFUSED;
	default:
		return FG_TLS_EARLY_NONE;
	}
}

uint32_t
fg_tls_handshake_early_data(const struct fg_tls_handshake *h, const uint8_t **data)
{
	*data = h->early;
	return h->early_over ? 0 : h->early_length;
}

bool
fg_tls_handshake_take_early(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto,
			    struct fg_tls_taken *out)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(h->ssl);

	out->suite = cipher == NULL ? NULL : fg_tls_suite_by_id(SSL_CIPHER_get_protocol_id(cipher));
	if (out->suite == NULL || !h->has_server)
		return false;
	memcpy(out->out_secret, h->server_secret, FG_TLS_MAX_SECRET);
	out->out_next = 0;
	return fg_tls_keys_of(crypto, out->suite, out->out_secret, &out->out);
}

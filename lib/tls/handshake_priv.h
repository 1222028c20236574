/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files about handshakes share. Written by control until the context is used, then by its lcore.
 *
 *   random.c       random numbers that can be repeated
 *   certificate.c  the authority and what it signs
 *   context.c      what many handshakes share
 *   handshake.c    one handshake
 *   early.c        its early data
 *   replays.c      which tickets had early data before
 */
#pragma once

#include <openssl/ssl.h>

#include "fg_tls_handshake.h"

enum { MAX_SESSIONS = 4096, LOG_LINE = 224 };

struct fg_tls_context {
	OSSL_LIB_CTX *library;
	SSL_CTX *ssl;
	bool server, resume, reuse, verify;
	uint32_t early_data, refuse_every;
	uint64_t offers, replays; /* of early data */
	struct fg_tls_replays *seen;
	char server_name[256];
	uint8_t alpn[256]; /* each name behind its length */
	unsigned alpn_length;
	uint64_t random; /* state of the generator; see random_begin() */
	bool seeded, strict_name;
	SSL_SESSION *session[MAX_SESSIONS]; /* a stack */
	uint32_t sessions;
	struct fg_tls_agreed agreed;
	char reason[128];
	char *log;
	size_t log_used, log_room;
	uint64_t log_lost;
};

struct fg_tls_handshake {
	struct fg_tls_context *context;
	SSL *ssl;
	uint8_t client_secret[FG_TLS_MAX_SECRET], server_secret[FG_TLS_MAX_SECRET];
	bool has_client, has_server; /* of these secrets */
	bool over;
	int sent, received; /* fatal alerts; -1: none */
	uint64_t tickets;   /* records that fg_tls_handshake_ticket() got */
	bool early_over;    /* of a server: there is no more of it to come */
	uint8_t *early;     /* of a server: room for it; NULL: none is taken */
	uint32_t early_length;
};

/* early.c */
/** @return 0, or what SSL_get_error() takes: a server waits for more of it, or failed */
int early_read(struct fg_tls_handshake *h, bool *waits);
/** @return false: no memory */
bool early_set_up(struct fg_tls_context *c, const struct fg_tls_config *config);

/* random.c */
/** From now on random numbers of this thread follow from *state; NULL: they are libcrypto's again. */
void random_begin(uint64_t *state);

/* certificate.c */
/** A key and its certificate, signed by the authority. Both live as long as the process. */
struct identity {
	char kind[16], name[256];
	uint8_t *certificate, *key; /* DER */
	int certificate_length, key_length;
};
/** @return NULL: libcrypto failed */
const struct identity *identity_of(const char *kind, const char *name, bool seeded);
/** DER; made if it is not there yet. @return bytes; 0: libcrypto failed */
int authority_certificate(bool seeded, const uint8_t **der);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "fg_tls.h"

__BEGIN_DECLS

/*
 * Handshakes of TLS by libssl, in memory: records of the peer go in one by one, records for it come out. When
 * the handshake is over its secrets are taken, and libssl's object, of 15 to 33 kB, is freed; from then on
 * records are sealed and opened by fg_tls.h.
 *
 * A context has what many handshakes share, and a library context of libcrypto of its own, so that threads do
 * not wait for each other's locks. Control makes and frees it; one lcore uses it in between. Handshakes
 * allocate memory, which is what libssl does; nothing else here does so on an lcore.
 */

/** Strings are needed until the context is made. */
struct fg_tls_config {
	bool server;
	bool verify;      /* of a client: the server's certificate; of a server: wants the client's */
	bool resume;      /* of a client: collect tickets and use each once */
	bool strict_name; /* of a server: another name than server_name ends the handshake */
	bool reuse;       /* of a client: one ticket of TLS 1.3 again and again, not one for each */
	bool seeded;      /* random numbers follow from `seed`: for what must be repeatable, and no secret */
	uint8_t tickets;  /* of a server: that it sends after a full handshake; 0: none */
	uint16_t oldest, newest; /* enum fg_tls_version */
	/* bytes of early data (RFC 8446, 2.3): a client's, if all fits; that a server takes. 0: none */
	uint32_t early_data;
	uint32_t refuse_every; /* of a server: refuse the early data of every n-th offer; 0: never */
	uint64_t seed;
	const char *ciphers;                     /* suites of both versions, "A:B" in order of preference */
	const char *groups;                      /* "X25519:P-256" */
	const char *certificate;                 /* that is made, "p256" (kinds, certificate.c); NULL: none */
	const char *certificate_file, *key_file; /* in place of it, PEM; or NULL */
	const char *ca_file;                     /* trusted in addition to our own authority; or NULL */
	const char *server_name;                 /* or NULL */
	const char *alpn;                        /* "h2,http/1.1" in order of preference; or NULL */
	uint32_t key_log;                        /* lines of the key log that are kept */
};

/**
 * The authority's certificate, PEM, for the life of the process. It is made if it is not there yet.
 * @param seeded  from a seed, the same in every process; what was made before stays
 * @return        NULL: libcrypto failed
 */
const char *fg_tls_authority(bool seeded);
/** A certificate that is made, signed by the authority, and its key: DER, for the life of the process. */
struct fg_tls_identity {
	const uint8_t *certificate, *key;
	size_t certificate_length, key_length;
};
/**
 * @param kind    as fg_tls_config.certificate
 * @param name    whose it is
 * @param seeded  as of fg_tls_authority()
 * @return        false: libcrypto failed
 */
bool fg_tls_identity(const char *kind, const char *name, bool seeded, struct fg_tls_identity *out);
/** Version of libssl at run time. */
const char *fg_tls_library(void);

struct fg_tls_context;

/** @return 0, or a negative errno with what libssl does not like */
int fg_tls_context_create(const struct fg_tls_config *config, struct fg_tls_context **out,
			  struct fg_error *err);
/** NULL is legal. */
void fg_tls_context_free(struct fg_tls_context *c);

/** What the last handshake agreed on. Empty texts: nothing. */
struct fg_tls_agreed {
	char version[8], cipher[40], group[24], alpn[16];
	uint32_t certificate_octets; /* of the chain that a client got with its last full handshake */
};

const struct fg_tls_agreed *fg_tls_context_agreed(const struct fg_tls_context *c);
/** The reason of the last failed handshake, as libssl's text; "": no failure. */
const char *fg_tls_context_reason(const struct fg_tls_context *c);
/** Sessions that a client may still resume. */
uint32_t fg_tls_context_sessions(const struct fg_tls_context *c);
/** Lines in the format of NSS, as they are read by Wireshark; @p lost: for want of room. */
const char *fg_tls_context_key_log(const struct fg_tls_context *c, uint64_t *lost);

struct fg_tls_handshake;

/** NULL: no memory. */
struct fg_tls_handshake *fg_tls_handshake_create(struct fg_tls_context *c);
/** NULL is legal. */
void fg_tls_handshake_free(struct fg_tls_handshake *h);

enum fg_tls_step { FG_TLS_GOES_ON, FG_TLS_FINISHED, FG_TLS_FAILED };

/** Take one whole record of the peer; of a client that begins, none: NULL. */
enum fg_tls_step fg_tls_handshake_step(struct fg_tls_handshake *h, const uint8_t *record, uint32_t length);
/** What is to be sent after a step, also one that failed; it is gone with the next. @return bytes */
size_t fg_tls_handshake_output(struct fg_tls_handshake *h, const uint8_t **data);

/** Alerts of level fatal, by their number; -1: none. And whether it was the certificate that was refused. */
struct fg_tls_failure {
	int sent, received;
	bool verify;
};
void fg_tls_handshake_failure(const struct fg_tls_handshake *h, struct fg_tls_failure *out);

/** All that goes on from a handshake. `next` are numbers of the next records. */
struct fg_tls_taken {
	const struct fg_tls_suite *suite;
	struct fg_tls_keys out, in;
	uint8_t out_secret[FG_TLS_MAX_SECRET], in_secret[FG_TLS_MAX_SECRET]; /* of TLS 1.3 */
	uint64_t out_next, in_next;
	bool resumed;
};

/** Take over from a handshake that is finished. @return false: its secrets are not known */
bool fg_tls_handshake_take(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto,
			   struct fg_tls_taken *out);
/**
 * A record of TLS 1.3 that came after Finished, opened, with a ticket or a part of one in it; sealed with
 * @p k, the first keys behind the handshake. Other records may have come before.
 */
void fg_tls_handshake_ticket(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto,
			     const struct fg_tls_suite *suite, const struct fg_tls_keys *k,
			     const uint8_t *plain, uint32_t length);

/* --- early data (RFC 8446, 2.3), which leaves and arrives before the handshake is over */

/** Bytes that a client which has not begun may send early, as its session allows; 0: none. */
uint32_t fg_tls_handshake_early_room(const struct fg_tls_handshake *h);
/** The first step of a client, with early data in at most this many bytes. */
enum fg_tls_step fg_tls_handshake_begin_early(struct fg_tls_handshake *h, const uint8_t *data,
					      uint32_t length);

enum fg_tls_early { FG_TLS_EARLY_NONE, FG_TLS_EARLY_REFUSED, FG_TLS_EARLY_ACCEPTED };

/** The result of early data; known when the handshake is over, at a server after the ClientHello. */
enum fg_tls_early fg_tls_handshake_early(const struct fg_tls_handshake *h);
/** Early data that came to a server with the last step. @return bytes; they stay until the next step */
uint32_t fg_tls_handshake_early_data(const struct fg_tls_handshake *h, const uint8_t **data);
/**
 * A server that accepted early data may send: only suite and what has to do with sending is set. What it
 * sends is sealed from record 0 on, so fg_tls_handshake_output() has to be opened and sealed again from here.
 */
bool fg_tls_handshake_take_early(struct fg_tls_handshake *h, struct fg_tls_crypto *crypto,
				 struct fg_tls_taken *out);
/** Of a server: offers of early data with a ticket that was offered with early data before. */
uint64_t fg_tls_context_replays(const struct fg_tls_context *c);

/* A set of the last 65,536 numbers, or somewhat fewer: for replays. */
struct fg_tls_replays;
/** NULL: no memory. */
struct fg_tls_replays *fg_tls_replays_create(void);
void fg_tls_replays_free(struct fg_tls_replays *r);
/** Put a random number into the set. @return whether it was there */
bool fg_tls_replays_seen(struct fg_tls_replays *r, uint64_t id);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * Records of TLS 1.3 (RFC 8446) and 1.2 (RFC 5246, 5288, 7905), without a connection: keys from secrets, and
 * one record sealed or opened at a time. A record follows from keys, number and plaintext, so what is sent
 * again is sealed again and nothing is kept. Only AEAD cipher suites with ephemeral keys exist here.
 *
 * struct fg_tls_crypto holds the contexts of libcrypto; it belongs to one thread.
 */

enum fg_tls_version { FG_TLS_1_2 = 0x0303, FG_TLS_1_3 = 0x0304 };

/** The content type of a record (RFC 8446, 5.1). */
enum fg_tls_type { FG_TLS_CCS = 20, FG_TLS_ALERT, FG_TLS_HANDSHAKE, FG_TLS_DATA };

/** Alerts (RFC 8446, 6) that records give rise to; 0 is close_notify, so 0 is never an error. */
enum fg_tls_alert {
	FG_TLS_CLOSE_NOTIFY = 0,
	FG_TLS_UNEXPECTED_MESSAGE = 10,
	FG_TLS_BAD_RECORD_MAC = 20,
	FG_TLS_RECORD_OVERFLOW = 22,
	FG_TLS_HANDSHAKE_FAILURE = 40,
	FG_TLS_ILLEGAL_PARAMETER = 47,
	FG_TLS_DECODE_ERROR = 50,
	FG_TLS_INTERNAL_ERROR = 80,
	FG_TLS_NO_RENEGOTIATION = 100,
};

enum {
	FG_TLS_HEADER = 5,      /* bytes before what is sealed */
	FG_TLS_TAG = 16,        /* and behind it */
	FG_TLS_PLAIN = 1 << 14, /* bytes of plaintext in a record, at most */
	FG_TLS_MAX_RECORD = FG_TLS_HEADER + FG_TLS_PLAIN + 2048,
	FG_TLS_MAX_SECRET = 48,
	FG_TLS_MASTER = 48, /* bytes of a master secret of TLS 1.2 */
	FG_TLS_RANDOM = 32,
};

/** A cipher suite. */
struct fg_tls_suite {
	const char *name; /* as libssl has it */
	uint16_t id, version;
	uint8_t cipher;      /* index of the AEAD; crypto.c */
	uint8_t key, secret; /* bytes */
	uint8_t nonce;       /* bytes of the nonce that each record carries */
	uint8_t overhead;    /* bytes of a record in addition to the plaintext */
	bool sha384;         /* else SHA-256 */
};

/** Suite number @p i; NULL: there are no more. */
const struct fg_tls_suite *fg_tls_suite_at(unsigned i);
/** NULL: not one of ours. */
const struct fg_tls_suite *fg_tls_suite_by_id(uint16_t id);
const struct fg_tls_suite *fg_tls_suite_by_name(const char *name);

/** What records of one direction are sealed with. */
struct fg_tls_keys {
	uint8_t key[32], iv[12];
};

struct fg_tls_crypto;

/** @return 0, -ENOMEM, or -ENOTSUP: libcrypto lacks an algorithm */
int fg_tls_crypto_create(struct fg_tls_crypto **out, struct fg_error *err);
/** NULL is legal. */
void fg_tls_crypto_free(struct fg_tls_crypto *c);

/* --- keys. @return false: libcrypto failed */

/** Keys of a traffic secret (RFC 8446, 7.3). */
bool fg_tls_keys_of(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const uint8_t *secret,
		    struct fg_tls_keys *out);
/** The secret after a KeyUpdate (RFC 8446, 7.2). */
bool fg_tls_next_secret(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, uint8_t *secret);
/** Keys of both directions from the master secret (RFC 5246, 6.3). */
bool fg_tls_keys_of_master(struct fg_tls_crypto *c, const struct fg_tls_suite *suite,
			   const uint8_t master[FG_TLS_MASTER], const uint8_t client_random[FG_TLS_RANDOM],
			   const uint8_t server_random[FG_TLS_RANDOM], struct fg_tls_keys *client,
			   struct fg_tls_keys *server);

/* --- records */

/** Where in a record its plaintext is to stand. */
static inline uint32_t
fg_tls_plain_at(const struct fg_tls_suite *suite)
{
	return FG_TLS_HEADER + suite->nonce;
}

/**
 * Make record @p number of @p length bytes of plaintext, which stand in place already, with room for
 * fg_tls_suite.overhead more around them. @return bytes of the record; 0: libcrypto failed
 */
uint32_t fg_tls_seal(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const struct fg_tls_keys *k,
		     uint64_t number, uint8_t type, uint8_t *record, uint32_t length);

/** What was in a record. */
struct fg_tls_opened {
	uint8_t type;
	uint8_t *plain;
	uint32_t length;
};

/**
 * Open a whole record into @p room, of FG_TLS_MAX_RECORD bytes.
 * @return 0, or the alert that answers it (enum fg_tls_alert)
 */
int fg_tls_open(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const struct fg_tls_keys *k,
		uint64_t number, const uint8_t *record, uint32_t length, uint8_t *room,
		struct fg_tls_opened *out);

/**
 * Judge the header of a record, FG_TLS_HEADER bytes, before the rest has come.
 * @param suite  what is spoken; NULL: still the handshake
 * @param length out: bytes of the whole record
 * @return       0, or the alert that answers it
 */
int fg_tls_record_length(const struct fg_tls_suite *suite, const uint8_t *header, uint32_t *length);

/* --- records by position */

/**
 * Messages of the same length in a row, each in records that are full but for the last. Where in the stream
 * of records a byte lies follows from it.
 */
struct fg_tls_run {
	uint64_t at;     /* position in the stream of records */
	uint64_t plain;  /* of the plaintext */
	uint64_t number; /* of the first record */
	uint64_t message, count;
};

/** One record of a run. */
struct fg_tls_place {
	uint64_t at, plain, number;
	uint32_t length; /* of its plaintext */
};

/** Bytes of the records of one message, with @p full bytes of plaintext in a full one. */
static inline uint64_t
fg_tls_message_length(uint64_t message, uint32_t full, uint32_t overhead)
{
	return message + (message + full - 1) / full * overhead;
}

static inline uint64_t
fg_tls_run_length(const struct fg_tls_run *r, uint32_t full, uint32_t overhead)
{
	return r->count * fg_tls_message_length(r->message, full, overhead);
}

/** The record at position @p at, which lies in the run. */
static inline void
fg_tls_run_find(const struct fg_tls_run *r, uint32_t full, uint32_t overhead, uint64_t at,
		struct fg_tls_place *out)
{
	uint64_t length = fg_tls_message_length(r->message, full, overhead);
	uint64_t message = (at - r->at) / length, within = (at - r->at) % length;
	uint64_t record = within / (full + overhead), rest = r->message - record * full;

	out->at = r->at + message * length + record * (full + overhead);
	out->plain = r->plain + message * r->message + record * full;
	out->number = r->number + message * ((r->message + full - 1) / full) + record;
	out->length = rest < full ? (uint32_t)rest : full;
}

__END_DECLS

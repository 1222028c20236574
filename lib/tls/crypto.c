/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts, made once, and keys. All algorithms are libcrypto's: HKDF-Expand-Label of TLS 1.3 is its
 * TLS13-KDF, the pseudorandom function of TLS 1.2 its TLS1-PRF.
 */
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <stdlib.h>
#include <string.h>

#include "tls_priv.h"

static const char *const ciphers[CIPHERS] = {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"};

static EVP_CIPHER_CTX *
cipher_context(const char *name, int sealing)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

	if (cipher == NULL || context == NULL ||
	    EVP_CipherInit_ex2(context, cipher, NULL, NULL, sealing, NULL) != 1) {
		EVP_CIPHER_CTX_free(context);
		context = NULL;
	}
	EVP_CIPHER_free(cipher);
	return context;
}

static EVP_KDF_CTX *
kdf_context(const char *name)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, name, NULL);
	EVP_KDF_CTX *context = kdf == NULL ? NULL : EVP_KDF_CTX_new(kdf);

	EVP_KDF_free(kdf);
	return context;
}

int
fg_tls_crypto_create(struct fg_tls_crypto **out, struct fg_error *err)
{
	struct fg_tls_crypto *c = calloc(1, sizeof(*c));
	bool complete;

	if (c == NULL)
		return fg_error_set(err, ENOMEM, "tls", "no memory");
	c->expand = kdf_context("TLS13-KDF");
	c->prf = kdf_context("TLS1-PRF");
	complete = c->expand != NULL && c->prf != NULL;
	for (unsigned i = 0; i < CIPHERS; i++) {
		c->seal[i] = cipher_context(ciphers[i], 1);
		c->open[i] = cipher_context(ciphers[i], 0);
		complete = complete && c->seal[i] != NULL && c->open[i] != NULL;
	}
	if (!complete) {
		fg_tls_crypto_free(c);
		return fg_error_set(err, ENOTSUP, "tls",
				    "libcrypto lacks AES-GCM, ChaCha20 or the key schedule");
	}
	*out = c;
	return 0;
}

void
fg_tls_crypto_free(struct fg_tls_crypto *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < CIPHERS; i++) {
		EVP_CIPHER_CTX_free(c->seal[i]);
		EVP_CIPHER_CTX_free(c->open[i]);
	}
	EVP_KDF_CTX_free(c->expand);
	EVP_KDF_CTX_free(c->prf);
	free(c);
}

static OSSL_PARAM
text(const char *key, const char *value)
{
	return OSSL_PARAM_construct_utf8_string(key, (char *)(uintptr_t)value, 0);
}

static OSSL_PARAM
bytes(const char *key, const void *value, size_t length)
{
	return OSSL_PARAM_construct_octet_string(key, (void *)(uintptr_t)value, length);
}

static const char *
digest(const struct fg_tls_suite *suite)
{
	return suite->sha384 ? "SHA384" : "SHA256";
}

/* HKDF-Expand-Label (RFC 8446, 7.1) without a context */
static bool
expand(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const uint8_t *secret, const char *label,
       uint8_t *out, size_t length)
{
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		text(OSSL_KDF_PARAM_DIGEST, digest(suite)),
		bytes(OSSL_KDF_PARAM_KEY, secret, suite->secret),
		bytes(OSSL_KDF_PARAM_PREFIX, "tls13 ", 6),
		bytes(OSSL_KDF_PARAM_LABEL, label, strlen(label)),
		OSSL_PARAM_construct_end(),
	};

	EVP_KDF_CTX_reset(c->expand);
	return EVP_KDF_derive(c->expand, out, length, parameters) == 1;
}

bool
fg_tls_keys_of(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const uint8_t *secret,
	       struct fg_tls_keys *out)
{
	return expand(c, suite, secret, "key", out->key, suite->key) &&
	       expand(c, suite, secret, "iv", out->iv, sizeof(out->iv));
}

bool
fg_tls_next_secret(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, uint8_t *secret)
{
	uint8_t next[FG_TLS_MAX_SECRET];

	if (!expand(c, suite, secret, "traffic upd", next, suite->secret))
		return false;
	memcpy(secret, next, suite->secret);
	return true;
}

bool
fg_tls_keys_of_master(struct fg_tls_crypto *c, const struct fg_tls_suite *suite,
		      const uint8_t master[FG_TLS_MASTER], const uint8_t client_random[FG_TLS_RANDOM],
		      const uint8_t server_random[FG_TLS_RANDOM], struct fg_tls_keys *client,
		      struct fg_tls_keys *server)
{
	static const char label[] = "key expansion";
	size_t key = suite->key, iv = sizeof(client->iv) - suite->nonce;
	uint8_t block[2 * (sizeof(client->key) + sizeof(client->iv))], *at = block;
	OSSL_PARAM parameters[] = {
		text(OSSL_KDF_PARAM_DIGEST, digest(suite)),
		bytes(OSSL_KDF_PARAM_SECRET, master, FG_TLS_MASTER),
		bytes(OSSL_KDF_PARAM_SEED, label, sizeof(label) - 1),
		bytes(OSSL_KDF_PARAM_SEED, server_random, FG_TLS_RANDOM),
		bytes(OSSL_KDF_PARAM_SEED, client_random, FG_TLS_RANDOM),
		OSSL_PARAM_construct_end(),
	};

	EVP_KDF_CTX_reset(c->prf);
	if (EVP_KDF_derive(c->prf, block, 2 * (key + iv), parameters) != 1)
		return false;
	memcpy(client->key, at, key);
	memcpy(server->key, at += key, key);
	memcpy(client->iv, at += key, iv);
	memcpy(server->iv, at + iv, iv);
	return true;
}

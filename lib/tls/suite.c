/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cipher suites: the three of TLS 1.3, and of TLS 1.2 those with the same AEADs. GCM of TLS 1.2 puts half
 * of its nonce into each record (RFC 5288, 3); ChaCha20 makes it from the number alone (RFC 7905, 2). A
 * record of TLS 1.3 ends with its true type, which is sealed with it.
 */
#include <stddef.h>
#include <string.h>

#include "tls_priv.h"

#define SUITE_1_3(id, name, cipher, key, sha384)                                                          \
	{                                                                                                 \
		name, id, FG_TLS_1_3, cipher, key, (sha384) ? 48 : 32, 0, FG_TLS_HEADER + 1 + FG_TLS_TAG, \
			sha384                                                                            \
	}
#define SUITE_1_2(id, name, cipher, key, nonce, sha384)                  \
	{                                                                \
		name, id, FG_TLS_1_2, cipher, key, FG_TLS_MASTER, nonce, \
			FG_TLS_HEADER + (nonce) + FG_TLS_TAG, sha384     \
	}

static const struct fg_tls_suite suites[] = {
	SUITE_1_3(0x1301, "TLS_AES_128_GCM_SHA256", AES_128_GCM, 16, false),
	SUITE_1_3(0x1302, "TLS_AES_256_GCM_SHA384", AES_256_GCM, 32, true),
	SUITE_1_3(0x1303, "TLS_CHACHA20_POLY1305_SHA256", CHACHA20_POLY1305, 32, false),
	SUITE_1_2(0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256", AES_128_GCM, 16, 8, false),
	SUITE_1_2(0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384", AES_256_GCM, 32, 8, true),
	SUITE_1_2(0xc02f, "ECDHE-RSA-AES128-GCM-SHA256", AES_128_GCM, 16, 8, false),
	SUITE_1_2(0xc030, "ECDHE-RSA-AES256-GCM-SHA384", AES_256_GCM, 32, 8, true),
	SUITE_1_2(0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305", CHACHA20_POLY1305, 32, 0, false),
	SUITE_1_2(0xcca8, "ECDHE-RSA-CHACHA20-POLY1305", CHACHA20_POLY1305, 32, 0, false),
};

const struct fg_tls_suite *
fg_tls_suite_at(unsigned i)
{
	return i < sizeof(suites) / sizeof(suites[0]) ? &suites[i] : NULL;
}

const struct fg_tls_suite *
fg_tls_suite_by_id(uint16_t id)
{
	const struct fg_tls_suite *suite;

	for (unsigned i = 0; (suite = fg_tls_suite_at(i)) != NULL && suite->id != id;)
		i++;
	return suite;
}

const struct fg_tls_suite *
fg_tls_suite_by_name(const char *name)
{
	const struct fg_tls_suite *suite;

	for (unsigned i = 0; (suite = fg_tls_suite_at(i)) != NULL && strcmp(suite->name, name) != 0;)
		i++;
	return suite;
}

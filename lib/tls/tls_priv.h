/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contexts of libcrypto that one thread seals, opens and derives with. Only that thread touches them.
 *
 *   suite.c   the cipher suites
 *   crypto.c  contexts made and freed; keys from secrets
 *   record.c  one record sealed or opened
 */
#pragma once

#include <openssl/evp.h>

#include "fg_tls.h"

enum { AES_128_GCM, AES_256_GCM, CHACHA20_POLY1305, CIPHERS };

struct fg_tls_crypto {
	EVP_CIPHER_CTX *seal[CIPHERS], *open[CIPHERS];
	EVP_KDF_CTX *expand, *prf;
};

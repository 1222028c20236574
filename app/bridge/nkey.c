/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "nkey.h"

enum {
	KEY_BYTES = 32,
	CRC_BYTES = 2,
	SEED_BYTES = 2 + KEY_BYTES + CRC_BYTES,
	PUBLIC_BYTES = 1 + KEY_BYTES + CRC_BYTES,
	/* of the first five bits: S for a seed, U for a user */
	PREFIX_SEED = 18 << 3,
	PREFIX_USER = 20 << 3,
};

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* CRC-16/XMODEM */
static uint16_t
crc16(const uint8_t *bytes, size_t n)
{
	uint16_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= (uint16_t)(bytes[i] << 8);
		for (int k = 0; k < 8; k++)
			crc = (uint16_t)((crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

static void
encode(uint8_t *bytes, size_t n, char *out)
{
	const uint16_t crc = crc16(bytes, n - CRC_BYTES);
	uint32_t bits = 0, held = 0;

	bytes[n - 2] = (uint8_t)crc;
	bytes[n - 1] = (uint8_t)(crc >> 8);
	for (size_t i = 0; i < n; i++) {
		held = held << 8 | bytes[i]; /* what is on the left has been written */
		for (bits += 8; bits >= 5; bits -= 5)
			*out++ = alphabet[held >> (bits - 5) & 31];
	}
	if (bits > 0)
		*out++ = alphabet[held << (5 - bits) & 31];
	*out = 0;
}

static int
decode(const char *text, uint8_t *bytes, size_t n)
{
	uint32_t bits = 0, held = 0;
	size_t got = 0;

	for (; *text != 0; text++) {
		const char *digit = strchr(alphabet, *text);

		if (digit == NULL)
			return -EINVAL;
		held = held << 5 | (uint32_t)(digit - alphabet);
		bits += 5;
		if (bits >= 8) {
			bits -= 8;
			if (got == n)
				return -EINVAL;
			bytes[got++] = (uint8_t)(held >> bits);
		}
	}
	if (got != n)
		return -EINVAL;
	bits = crc16(bytes, n - CRC_BYTES);
	return bytes[n - 2] == (bits & 0xff) && bytes[n - 1] == bits >> 8 ? 0 : -EINVAL;
}

int
bridge_nkey_make(char seed[BRIDGE_SEED_SIZE])
{
	uint8_t bytes[SEED_BYTES] = {PREFIX_SEED | PREFIX_USER >> 5, (PREFIX_USER & 31) << 3};

	if (RAND_bytes(bytes + 2, KEY_BYTES) != 1)
		return -EIO;
	encode(bytes, sizeof(bytes), seed);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return 0;
}

int
bridge_nkey_public(const char *seed, char public_key[BRIDGE_PUBLIC_SIZE])
{
	uint8_t bytes[SEED_BYTES], out[PUBLIC_BYTES] = {PREFIX_USER};
	size_t size = KEY_BYTES;
	EVP_PKEY *key;
	int rc = -EINVAL;

	if (strlen(seed) != BRIDGE_SEED_SIZE - 1)
		return -EINVAL;
	if (decode(seed, bytes, sizeof(bytes)) != 0 || bytes[0] != (PREFIX_SEED | PREFIX_USER >> 5) ||
	    bytes[1] != (PREFIX_USER & 31) << 3)
		return -EINVAL;
	key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, bytes + 2, KEY_BYTES);
	if (key != NULL && EVP_PKEY_get_raw_public_key(key, out + 1, &size) == 1) {
		encode(out, sizeof(out), public_key);
		rc = 0;
	}
	EVP_PKEY_free(key);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of TLS that a peer made up: the header is judged, and what it announces is opened. The first byte
 * says with which suite, the second whether the rest is a record as it stands or a plaintext that is sealed
 * first, so that a peer with the right keys is tried, too. What must hold: no access out of bounds, and what
 * was sealed is opened again.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fg_tls_crypto *crypto;
	static uint8_t record[FG_TLS_MAX_RECORD], room[FG_TLS_MAX_RECORD];
	const struct fg_tls_keys keys = {{1}, {2}};
	const struct fg_tls_suite *suite;
	struct fg_tls_opened opened;
	uint32_t length;
	bool sealed;

	if (crypto == NULL && fg_tls_crypto_create(&crypto, NULL) != 0)
		abort();
	if (size < 2 || size - 2 > FG_TLS_PLAIN)
		return 0;
	suite = fg_tls_suite_at(data[0] % 9);
	sealed = data[1] & 1;
	data += 2;
	size -= 2;
	if (sealed) {
		memcpy(record + fg_tls_plain_at(suite), data, size);
		size = fg_tls_seal(crypto, suite, &keys, 1, FG_TLS_HANDSHAKE, record, (uint32_t)size);
	} else {
		memcpy(record, data, size);
	}
	if (size < FG_TLS_HEADER || fg_tls_record_length(suite, record, &length) != 0 || length > size) {
		if (sealed)
			abort();
		return 0;
	}
	if (fg_tls_open(crypto, suite, &keys, 1, record, length, room, &opened) == 0) {
		if (sealed &&
		    (opened.type != FG_TLS_HANDSHAKE || memcmp(opened.plain, data, opened.length) != 0))
			abort();
	} else if (sealed) {
		abort();
	}
	return 0;
}

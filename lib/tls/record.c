/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One record. TLS 1.3: header, then plaintext and its type sealed together, then the tag; the header is what
 * the tag protects in addition, and the nonce is the number, mixed into the IV (RFC 8446, 5.2, 5.3). TLS 1.2:
 * the tag protects number and header with the length of the plaintext (RFC 5246, 6.2.3.3), and the nonce of
 * GCM is four bytes of the keys and eight that the record carries, for which the number serves.
 */
#include <string.h>

#include "fg_bytes.h"
#include "tls_priv.h"

enum { NONCE = 12, PROTECTED_1_2 = 13, SLACK_1_3 = 256, SLACK_1_2 = 2048 };

static void
nonce_of(const struct fg_tls_suite *suite, const struct fg_tls_keys *k, uint64_t number, uint8_t *out)
{
	uint8_t bytes[8];

	fg_put64(bytes, number);
	memcpy(out, k->iv, NONCE);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		out[NONCE - sizeof(bytes) + i] =
			(suite->nonce > 0 ? 0 : out[NONCE - sizeof(bytes) + i]) ^ bytes[i];
}

/* what the tag protects in addition to the plaintext. @return bytes */
static int
protected_of(const struct fg_tls_suite *suite, uint64_t number, const uint8_t *record, uint32_t length,
	     uint8_t *out)
{
	if (suite->version == FG_TLS_1_3) {
		memcpy(out, record, FG_TLS_HEADER);
		return FG_TLS_HEADER;
	}
	out = fg_put64(out, number);
	memcpy(out, record, 3);
	fg_put16(out + 3, (uint16_t)length);
	return PROTECTED_1_2;
}

uint32_t
fg_tls_seal(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const struct fg_tls_keys *k,
	    uint64_t number, uint8_t type, uint8_t *record, uint32_t length)
{
	EVP_CIPHER_CTX *context = c->seal[suite->cipher];
	uint8_t nonce[NONCE], also[PROTECTED_1_2], *text = record + fg_tls_plain_at(suite);
	uint32_t octets = length + suite->overhead, sealed = length;
	int n, protects;

	record[0] = suite->version == FG_TLS_1_3 ? FG_TLS_DATA : type;
	fg_put16(fg_put16(record + 1, FG_TLS_1_2), (uint16_t)(octets - FG_TLS_HEADER));
	if (suite->version == FG_TLS_1_3)
		text[sealed++] = type;
	nonce_of(suite, k, number, nonce);
	if (suite->nonce > 0)
		memcpy(record + FG_TLS_HEADER, nonce + NONCE - suite->nonce, suite->nonce);
	protects = protected_of(suite, number, record, length, also);
	return EVP_EncryptInit_ex2(context, NULL, k->key, nonce, NULL) == 1 &&
			       EVP_EncryptUpdate(context, NULL, &n, also, protects) == 1 &&
			       EVP_EncryptUpdate(context, text, &n, text, (int)sealed) == 1 &&
			       EVP_EncryptFinal_ex(context, text + n, &n) == 1 &&
			       EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, FG_TLS_TAG,
						   text + sealed) == 1
		       ? octets
		       : 0;
}

/* the true type is the last byte that is not 0 (RFC 8446, 5.4) */
static int
take_type(struct fg_tls_opened *out)
{
	while (out->length > 0 && out->plain[out->length - 1] == 0)
		out->length--;
	if (out->length == 0)
		return FG_TLS_UNEXPECTED_MESSAGE;
	out->type = out->plain[--out->length];
	return 0;
}

int
fg_tls_open(struct fg_tls_crypto *c, const struct fg_tls_suite *suite, const struct fg_tls_keys *k,
	    uint64_t number, const uint8_t *record, uint32_t length, uint8_t *room, struct fg_tls_opened *out)
{
	EVP_CIPHER_CTX *context = c->open[suite->cipher];
	const uint8_t *text = record + fg_tls_plain_at(suite);
	uint8_t nonce[NONCE], also[PROTECTED_1_2], tag[FG_TLS_TAG];
	uint32_t smallest = fg_tls_plain_at(suite) + FG_TLS_TAG, sealed = length - smallest;
	int n, protects, rc = 0;

	if (length < smallest)
		return FG_TLS_BAD_RECORD_MAC;
	nonce_of(suite, k, number, nonce);
	if (suite->nonce > 0)
		memcpy(nonce + NONCE - suite->nonce, record + FG_TLS_HEADER, suite->nonce);
	protects = protected_of(suite, number, record, sealed, also);
	memcpy(tag, text + sealed, sizeof(tag));
	if (EVP_DecryptInit_ex2(context, NULL, k->key, nonce, NULL) != 1 ||
	    EVP_DecryptUpdate(context, NULL, &n, also, protects) != 1 ||
	    (sealed > 0 && EVP_DecryptUpdate(context, room, &n, text, (int)sealed) != 1) ||
	    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, FG_TLS_TAG, tag) != 1 ||
	    EVP_DecryptFinal_ex(context, room + sealed, &n) != 1)
		return FG_TLS_BAD_RECORD_MAC;
	*out = (struct fg_tls_opened){.type = record[0], .plain = room, .length = sealed};
	if (suite->version == FG_TLS_1_3)
		rc = take_type(out);
	if (rc == 0 && out->length > FG_TLS_PLAIN)
		rc = FG_TLS_RECORD_OVERFLOW;
	return rc;
}

int
fg_tls_record_length(const struct fg_tls_suite *suite, const uint8_t *header, uint32_t *length)
{
	bool is_1_3 = suite != NULL && suite->version == FG_TLS_1_3;
	uint32_t body = fg_get16(header + 3);

	/* the version of the first record may be older (RFC 8446, 5.1) */
	if (header[0] < FG_TLS_CCS || header[0] > FG_TLS_DATA || header[1] != FG_TLS_1_2 >> 8)
		return FG_TLS_UNEXPECTED_MESSAGE;
	if (is_1_3 && header[0] != FG_TLS_DATA)
		return FG_TLS_UNEXPECTED_MESSAGE;
	if (suite != NULL && header[0] == FG_TLS_CCS)
		return FG_TLS_UNEXPECTED_MESSAGE;
	if (body > FG_TLS_PLAIN + (uint32_t)(is_1_3 ? SLACK_1_3 : SLACK_1_2))
		return FG_TLS_RECORD_OVERFLOW;
	*length = FG_TLS_HEADER + body;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A certificate for users without one: it protects against passive listeners, and proves no identity. */
#include <errno.h>
#include <time.h>

#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include "fg_web.h"

enum { YEARS = 10, YEAR = 365 * 24 * 3600, AN_HOUR = 3600, SERIAL_BYTES = 16 };

static int
fill_in(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
	static const char name[] = "framegauge", host[] = "localhost";
	const time_t now = time(NULL);
	uint8_t serial[SERIAL_BYTES];
	int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (serial[0] & 0x7f) | 1; /* above 0 (RFC 5280, 4.1.2.2) */
	rc = rc != 0 ? rc : gnutls_x509_crt_set_version(certificate, 3);
	rc = rc != 0 ? rc : gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
	rc = rc != 0 ? rc : gnutls_x509_crt_set_activation_time(certificate, now - AN_HOUR);
	rc = rc != 0 ? rc : gnutls_x509_crt_set_expiration_time(certificate, now + (time_t)YEARS * YEAR);
	rc = rc != 0 ? rc
		     : gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
						     sizeof(name) - 1);
	rc = rc != 0 ? rc
		     : gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, host,
							    sizeof(host) - 1, GNUTLS_FSAN_SET);
	rc = rc != 0 ? rc : gnutls_x509_crt_set_key(certificate, key);
	return rc != 0 ? rc : gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
}

int
fg_web_self_signed(struct fg_web_pem *out, struct fg_error *err)
{
	size_t certificate_size = sizeof(out->certificate), key_size = sizeof(out->key);
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t certificate = NULL;
	int rc = gnutls_x509_privkey_init(&key);

	rc = rc != 0 ? rc : gnutls_x509_crt_init(&certificate);
	rc = rc != 0 ? rc
		     : gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
						    GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	rc = rc != 0 ? rc : fill_in(certificate, key);
	rc = rc != 0 ? rc
		     : gnutls_x509_crt_export(certificate, GNUTLS_X509_FMT_PEM, out->certificate,
					      &certificate_size);
	rc = rc != 0 ? rc : gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, out->key, &key_size);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
	return rc == 0 ? 0 : fg_error_set(err, EIO, "certificate", "cannot be made: %s", gnutls_strerror(rc));
}

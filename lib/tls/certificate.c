/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Certificates, made at the start: an authority with an ECDSA key, and under it a leaf of the kind that is
 * asked for, with server and client as its purposes. They are kept for the life of the process, for a key of
 * RSA takes a while. Dates are fixed, so that what is made from a seed is the same tomorrow.
 *
 * Only control calls this.
 */
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "handshake_priv.h"

enum { MAX_IDENTITIES = 32, X509_V3 = 2 };

static const struct {
	const char *name, *type;
	const char *curve;
	size_t bits;
} kinds[] = {
	{"p256", "EC", "P-256", 0},     {"p384", "EC", "P-384", 0},     {"ed25519", "ED25519", NULL, 0},
	{"rsa2048", "RSA", NULL, 2048}, {"rsa3072", "RSA", NULL, 3072}, {"rsa4096", "RSA", NULL, 4096},
};

static struct {
	EVP_PKEY *key;
	X509 *certificate;
	uint8_t *der;
	int length;
	char *pem;
} authority;

static struct identity identities[MAX_IDENTITIES];
static unsigned identities_made;
static uint64_t state = 0x7465737420746c73;

static EVP_PKEY *
new_key(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return kinds[i].curve != NULL
				       ? EVP_PKEY_Q_keygen(NULL, NULL, kinds[i].type, kinds[i].curve)
				       : EVP_PKEY_Q_keygen(NULL, NULL, kinds[i].type, kinds[i].bits);
	return NULL;
}

static bool
add_extension(X509 *certificate, int what, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;
	bool added;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, authority.certificate, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, what, value);
	added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return added;
}

/* a certificate of @p key that lacks extensions and signature */
static X509 *
blank(EVP_PKEY *key, const char *name, long serial)
{
	X509 *x = X509_new();
	X509_NAME *subject = X509_NAME_new();

	if (x != NULL && subject != NULL && X509_set_version(x, X509_V3) == 1 &&
	    ASN1_INTEGER_set(X509_get_serialNumber(x), serial) == 1 &&
	    ASN1_TIME_set_string_X509(X509_getm_notBefore(x), "20200101000000Z") == 1 &&
	    ASN1_TIME_set_string_X509(X509_getm_notAfter(x), "20991231235959Z") == 1 &&
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) ==
		    1 &&
	    X509_set_subject_name(x, subject) == 1 && X509_set_pubkey(x, key) == 1) {
		X509_NAME_free(subject);
		return x;
	}
	X509_NAME_free(subject);
	X509_free(x);
	return NULL;
}

static char *
pem_of(X509 *certificate)
{
	BIO *memory = BIO_new(BIO_s_mem());
	char *data, *out = NULL;
	long length;

	if (memory != NULL && PEM_write_bio_X509(memory, certificate) == 1) {
		length = BIO_get_mem_data(memory, &data);
		out = strndup(data, (size_t)length);
	}
	BIO_free(memory);
	return out;
}

static bool
make_authority(void)
{
	EVP_PKEY *key = new_key("p256");
	X509 *x = key == NULL ? NULL : blank(key, "Framegauge test authority", 1);

	if (x == NULL || X509_set_issuer_name(x, X509_get_subject_name(x)) != 1)
		return false;
	authority.certificate = x;
	authority.key = key;
	if (!add_extension(x, NID_basic_constraints, "critical,CA:TRUE") ||
	    !add_extension(x, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !add_extension(x, NID_subject_key_identifier, "hash") || X509_sign(x, key, EVP_sha256()) == 0)
		return false;
	authority.length = i2d_X509(x, &authority.der);
	authority.pem = pem_of(x);
	return authority.length > 0 && authority.pem != NULL;
}

int
authority_certificate(bool seeded, const uint8_t **der)
{
	bool made = authority.length > 0;

	if (!made) {
		random_begin(seeded ? &state : NULL);
		made = make_authority();
		random_begin(NULL);
	}
	*der = authority.der;
	return made ? authority.length : 0;
}

const char *
fg_tls_authority(bool seeded)
{
	const uint8_t *der;

	return authority_certificate(seeded, &der) > 0 ? authority.pem : NULL;
}

static bool
make_identity(struct identity *out)
{
	EVP_PKEY *key = new_key(out->kind);
	X509 *x = key == NULL ? NULL : blank(key, out->name, 2 + (long)identities_made);
	bool made;
	char names[2 * sizeof(out->name) + 32];

	snprintf(names, sizeof(names), "DNS:%s,DNS:*.%s", out->name, out->name);
	made = x != NULL && X509_set_issuer_name(x, X509_get_subject_name(authority.certificate)) == 1 &&
	       add_extension(x, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(x, NID_key_usage, "critical,digitalSignature") &&
	       add_extension(x, NID_ext_key_usage, "serverAuth,clientAuth") &&
	       add_extension(x, NID_subject_alt_name, names) &&
	       add_extension(x, NID_subject_key_identifier, "hash") &&
	       add_extension(x, NID_authority_key_identifier, "keyid") &&
	       X509_sign(x, authority.key, EVP_sha256()) != 0;
	if (made) {
		out->certificate_length = i2d_X509(x, &out->certificate);
		out->key_length = i2d_PrivateKey(key, &out->key);
		made = out->certificate_length > 0 && out->key_length > 0;
	}
	X509_free(x);
	EVP_PKEY_free(key);
	return made;
}

const struct identity *
identity_of(const char *kind, const char *name, bool seeded)
{
	struct identity *made = &identities[identities_made];
	const uint8_t *der;
	bool good;

	for (unsigned i = 0; i < identities_made; i++)
		if (strcmp(identities[i].kind, kind) == 0 && strcmp(identities[i].name, name) == 0)
			return &identities[i];
	if (identities_made == MAX_IDENTITIES || authority_certificate(seeded, &der) == 0)
		return NULL;
	snprintf(made->kind, sizeof(made->kind), "%s", kind);
	snprintf(made->name, sizeof(made->name), "%s", name);
	random_begin(seeded ? &state : NULL);
	good = make_identity(made);
	random_begin(NULL);
	identities_made += good;
	return good ? made : NULL;
}

bool
fg_tls_identity(const char *kind, const char *name, bool seeded, struct fg_tls_identity *out)
{
	const struct identity *one = identity_of(kind, name, seeded);

	if (one == NULL)
		return false;
	*out = (struct fg_tls_identity){one->certificate, one->key, (size_t)one->certificate_length,
					(size_t)one->key_length};
	return true;
}

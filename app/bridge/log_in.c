/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "log_in.h"
#include "nkey.h"

enum {
	TIMEOUT_MS = 5000,   /* of one try to connect */
	PING_MS = 5000,      /* a server that answers none of two is gone */
	WRITE_MS = 10000,    /* a server that reads nothing for this time is gone, too */
	RETRY_MS = 250,      /* doubled with each try ... */
	RETRY_MAX_MS = 5000, /* ... up to this; as much again at random */
	NONCES = 8,          /* that may be asked for until one has a signature that libnats can send */
};

/* Proves to the server that we have the seed: signs its nonce. */
struct signer {
	const char *file; /* of the seed, which is in memory only while it signs */
	bool unsendable;  /* the last signature */
};

static int64_t
retry_delay(natsConnection *nats, int attempts, void *closure)
{
	const int64_t delay = attempts < 5 ? RETRY_MS << attempts : RETRY_MAX_MS;

	return delay + rand() % delay;
}

static bool
read_seed(const char *path, char seed[BRIDGE_SEED_SIZE])
{
	FILE *file = fopen(path, "re");
	const bool read = file != NULL && fgets(seed, BRIDGE_SEED_SIZE, file) != NULL;

	if (file != NULL)
		fclose(file);
	return read;
}

/*
 * libnats 3.4 takes a signature whose first byte is 0 for an empty one and sends none, and the server turns
 * the right key away: once in 256 times. Another nonce has another signature.
 */
static natsStatus
sign(char **why, unsigned char **signature, int *size, const char *nonce, void *closure)
{
	struct signer *signer = closure;
	char seed[BRIDGE_SEED_SIZE];
	natsStatus s = read_seed(signer->file, seed) ? nats_Sign(seed, nonce, signature, size) : NATS_ERR;

	OPENSSL_cleanse(seed, sizeof(seed));
	signer->unsendable = s == NATS_OK && (*signature)[0] == 0;
	if (signer->unsendable) {
		free(*signature);
		*signature = NULL;
		s = NATS_ERR;
	}
	if (s != NATS_OK)
		*why = strdup(signer->unsendable ? "no nonce of the server could be signed"
						 : "the seed of the key cannot be read");
	return s;
}

/* The server knows us by a key, by name and password, or by a token. */
static natsStatus
set_identity(natsOptions *options, const struct bridge_servers *servers, struct signer *signer)
{
	if (servers->nkey_file != NULL)
		return natsOptions_SetNKey(options, servers->nkey, sign, signer);
	if (servers->user != NULL)
		return natsOptions_SetUserInfo(options, servers->user, servers->secret);
	return servers->secret[0] != 0 ? natsOptions_SetToken(options, servers->secret) : NATS_OK;
}

static natsStatus
set_tls(natsOptions *options, const struct bridge_servers *servers)
{
	natsStatus s = natsOptions_SetSecure(options, true);

	if (s == NATS_OK && servers->ca != NULL)
		s = natsOptions_LoadCATrustedCertificates(options, servers->ca);
	if (s == NATS_OK && servers->certificate != NULL)
		s = natsOptions_LoadCertificatesChain(options, servers->certificate, servers->key);
	return s == NATS_OK ? natsOptions_SetExpectedHostname(options, servers->host) : s;
}

static natsStatus
set_options(natsOptions *options, const struct bridge_servers *servers, struct signer *signer)
{
	natsStatus s = natsOptions_SetServers(options, (const char **)servers->urls, servers->n);

	s = s == NATS_OK && !servers->plain ? set_tls(options, servers) : s;
	s = s == NATS_OK ? set_identity(options, servers, signer) : s;
	s = s == NATS_OK ? natsOptions_SetName(options, servers->name) : s;
	s = s == NATS_OK ? natsOptions_SetNoEcho(options, true) : s;
	s = s == NATS_OK ? natsOptions_UseGlobalMessageDelivery(options, true) : s;
	s = s == NATS_OK ? natsOptions_SetTimeout(options, TIMEOUT_MS) : s;
	s = s == NATS_OK ? natsOptions_SetPingInterval(options, PING_MS) : s;
	s = s == NATS_OK ? natsOptions_SetMaxPingsOut(options, 2) : s;
	s = s == NATS_OK ? natsOptions_SetWriteDeadline(options, WRITE_MS) : s;
	s = s == NATS_OK ? natsOptions_SetMaxReconnect(options, -1) : s;
	return s == NATS_OK ? natsOptions_SetCustomReconnectDelay(options, retry_delay, NULL) : s;
}

natsStatus
bridge_log_in(natsConnection **nats, natsOptions *options, const struct bridge_servers *servers)
{
	/* of the process's one connection, which uses it when it connects again */
	static struct signer signer;
	natsStatus s;

	signer.file = servers->nkey_file;
	s = set_options(options, servers, &signer);
	if (s != NATS_OK)
		return s;
	for (int i = 0; i < NONCES; i++) {
		signer.unsendable = false;
		s = natsConnection_Connect(nats, options);
		if (!signer.unsendable)
			break;
	}
	return s;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers. A free-running test must give the same result twice, to the byte, and lengths of signatures
 * follow from random numbers; so a thread may have them from a seed for a while. libcrypto asks the method
 * that is set here for whatever it needs; all other threads, and all other times, get its own.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/rand.h>

#include "fg_random.h"
#include "handshake_priv.h"

static _Thread_local uint64_t *generator;

static int
fill(unsigned char *to, int length)
{
	if (generator == NULL)
		return RAND_OpenSSL()->bytes(to, length);
	for (int i = 0; i < length; i++)
		to[i] = (unsigned char)(fg_random_next(generator) >> 56);
	return 1;
}

static int
status(void)
{
	return 1;
}

void
random_begin(uint64_t *state)
{
	static const RAND_METHOD method = {.bytes = fill, .pseudorand = fill, .status = status};
	static bool set;

	if (!set && state != NULL) { /* by control, which makes the first seeded context */
		RAND_set_rand_method(&method);
		set = true;
	}
	generator = state;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

__BEGIN_DECLS

/*
 * Keys of users of NATS: Ed25519 in base 32 with a prefix and a CRC. The server has the public key alone; the
 * client proves that it has the seed.
 */
enum { BRIDGE_SEED_SIZE = 58 + 1, BRIDGE_PUBLIC_SIZE = 56 + 1 }; /* with the 0 at the end */

/** Make a seed. @return 0 or -EIO */
int bridge_nkey_make(char seed[BRIDGE_SEED_SIZE]);

/** The public key of a seed. @return 0 or -EINVAL: it is not the seed of a user's key */
int bridge_nkey_public(const char *seed, char public_key[BRIDGE_PUBLIC_SIZE]);

__END_DECLS

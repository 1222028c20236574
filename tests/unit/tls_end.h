/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TLS_END_H
#define TLS_END_H

#include "fg_tls_handshake.h"

/* One end of a handshake that is the same in every run: a server with the certificate of fg.test, or a client
 * that verifies it */
inline fg_tls_config
TlsEnd(bool server, uint16_t version, const char *ciphers)
{
	fg_tls_config c = {};

	c.server = server;
	c.oldest = c.newest = version;
	c.seeded = true;
	c.seed = 7;
	c.ciphers = ciphers;
	c.groups = "X25519:P-256";
	c.certificate = server ? "p256" : nullptr;
	c.server_name = "fg.test";
	c.verify = !server;
	return c;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_tls_handshake.h"

__BEGIN_DECLS

/*
 * TLS between an application and TCP: a layer (struct fg_layer). Its handshake is libssl's, its records are
 * records of lib/tls, made from the application's data whenever a segment leaves, and made again for a
 * retransmission. What arrives early, and records that are not whole yet, lie in blocks of a pool; nothing is
 * handed to the application before its tag has been checked.
 *
 * All of it belongs to the lcore that polls the worker; control makes, reads and frees it.
 */

/** How an application's streams are secured. */
struct fg_secure_config {
	struct fg_tls_config tls;
	uint32_t record;             /* bytes of plaintext in a full record; 0: what fills a segment */
	uint64_t key_update_every;   /* records; 0: as many as a key may seal */
	uint64_t hold;               /* bytes of the worker for what arrives early */
	uint32_t handshakes_at_once; /* of the worker */
	uint64_t timeout_ns;         /* of a handshake */
};

/* Counters of an application's TLS: X(name, text) */
#define FG_SECURE_SUMS(X)                                                       \
	X(full, "full handshakes")                                              \
	X(resumed, "handshakes that resumed a session")                         \
	X(failed, "handshakes that failed")                                     \
	X(timed_out, "of them, for want of an answer")                          \
	X(cut, "of them, by a connection that ended")                           \
	X(refused, "of them, because a certificate was not accepted")           \
	X(malformed, "connections on which something else than TLS was spoken") \
	X(handshake_octets_out, "bytes of handshakes sent")                     \
	X(handshake_octets_in, "bytes of handshakes received")                  \
	X(records_out, "records of data laid out to be sent")                   \
	X(records_in, "records received after handshakes")                      \
	X(bad_records, "records with a wrong tag")                              \
	X(truncated, "connections that ended without close_notify")             \
	X(tickets, "session tickets received")                                  \
	X(early_offered, "handshakes that offered early data")                  \
	X(early_accepted, "of them, those whose server took it")                \
	X(early_octets, "payload bytes that servers took early")                \
	X(early_replayed, "of a server: offers with a ticket offered before")   \
	X(key_updates_out, "KeyUpdate messages sent")                           \
	X(key_updates_in, "KeyUpdate messages received")                        \
	X(deferred, "connections that waited because enough handshakes were under way")

enum { FG_SECURE_ALERTS = 128 };

#define FG_SECURE_SUM(name, text) uint64_t name;
struct fg_secure_tally {
	FG_SECURE_SUMS(FG_SECURE_SUM)
	uint32_t alerts_out[FG_SECURE_ALERTS],
		alerts_in[FG_SECURE_ALERTS]; /* by number, but for close_notify */
};
#undef FG_SECURE_SUM

/** Name of sum @p i; NULL: there are no more. */
const char *fg_secure_sum_name(unsigned i);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_tls_handshake.h"

__BEGIN_DECLS

/*
 * QUIC version 1 (RFC 9000, 9001, 9002) between an application and UDP: a layer (struct fg_layer). libngtcp2
 * is the protocol and GnuTLS its handshake; the clock, the memory, the connection IDs and the datagrams are
 * ours. A connection carries one stream of the application, the client's first bidirectional one; or as many
 * as the application has, which then sees them all (struct fg_quic_streams).
 *
 * What is lost, spurious and sent again is counted from the frames of each packet before it is sealed and
 * after it was opened, so these figures do not depend on what the library says of itself.
 *
 * All of it belongs to the lcore that polls the worker; control makes, reads and frees it.
 */

enum fg_quic_congestion { FG_QUIC_RENO, FG_QUIC_CUBIC, FG_QUIC_BBR };

/** How an application's connections behave. Of `tls`, what TLS 1.3 has. */
struct fg_quic_config {
	struct fg_tls_config tls;
	uint8_t congestion;             /* enum fg_quic_congestion */
	bool retry;                     /* of a server: the client's address is validated first */
	bool ecn;                       /* datagrams are marked ECT(0) while the path lets that through */
	uint16_t max_datagram;          /* bytes of UDP payload that we send at most */
	uint16_t ack_every;             /* packets to an acknowledgement */
	uint64_t key_update_every;      /* packets sent with the same keys; 0: the peer alone changes them */
	uint64_t window, stream_window; /* bytes that the peer may send unasked: of a connection, a stream */
	uint64_t initial_rtt_ns;        /* until one was measured */
	uint64_t idle_ns;               /* without a packet of the peer's the connection is lost */
	uint64_t handshake_ns;          /* a handshake takes no longer */
	uint32_t qlog;                  /* the first connections that have a log */
	uint32_t offer;                 /* version that the client asks for; 0: 1 */
	uint64_t migrate_ns;            /* the client moves to another port so often; 0: never */
	uint64_t rebind_ns;             /* the same without path migration, as behind a NAT */
	uint32_t handshakes_at_once;    /* of a client; more wait */
	uint32_t streams; /* of a server with several on a connection: of the client's at a time */
	uint16_t port_first, port_last; /* of a client: its ports */
};

/* Counters of an application's QUIC: X(name, text). Packets are those with 1-RTT keys. */
#define FG_QUIC_SUMS(X)                                                              \
	X(handshakes, "handshakes completed")                                        \
	X(resumed, "of them, those that resumed a session")                          \
	X(tickets, "session tickets received")                                       \
	X(early_offered, "handshakes with early data; of a server, as GnuTLS asks")  \
	X(early_accepted, "of them, those whose server took it")                     \
	X(early_octets, "payload bytes that servers took early")                     \
	X(failed, "handshakes that failed")                                          \
	X(timed_out, "of them, for want of an answer")                               \
	X(certificates_refused, "of them, because a certificate was not accepted")   \
	X(versions_refused, "of them, because the peer speaks no version of ours")   \
	X(deferred, "times that an open had to wait for handshakes under way")       \
	X(retries, "Retry packets that a client followed, or that a server sent")    \
	X(version_negotiations, "Version Negotiation packets that a server sent")    \
	X(datagrams_out, "datagrams sent")                                           \
	X(datagrams_in, "datagrams received")                                        \
	X(packets_out, "packets sent")                                               \
	X(packets_in, "packets received")                                            \
	X(packets_lost, "packets with payload whose payload was sent again")         \
	X(packets_spurious, "of them, packets that were acknowledged after all")     \
	X(octets_sent_again, "payload bytes sent more than once")                    \
	X(acks_out, "ACK frames sent")                                               \
	X(acks_in, "ACK frames received")                                            \
	X(undecryptable, "packets that could not be opened")                         \
	X(discarded, "datagrams for no connection, or that began none")              \
	X(key_updates, "times that packets began to leave with newer keys")          \
	X(migrations, "times that a client took another port, or a server followed") \
	X(paths_validated, "paths that answered PATH_CHALLENGE")                     \
	X(paths_failed, "paths that did not")                                        \
	X(ect_out, "datagrams sent with ECT(0)")                                     \
	X(ect_in, "datagrams received with ECT(0) or ECT(1)")                        \
	X(ce_in, "datagrams received with CE")                                       \
	X(ect_counted, "packets that the peer's ACK frames counted with ECT(0)")     \
	X(ce_counted, "packets that the peer's ACK frames counted with CE")          \
	X(ecn_failed, "paths that failed validation of ECN")                         \
	X(resets_out, "stateless resets that a server sent")                         \
	X(resets_in, "connections of a client that one ended")                       \
	X(closed_with_error_out, "connections that we closed with an error")         \
	X(closed_with_error_in, "connections that the peer closed with an error")

#define FG_QUIC_SUM(name, text) uint64_t name;
struct fg_quic_tally {
	FG_QUIC_SUMS(FG_QUIC_SUM)
};
#undef FG_QUIC_SUM

/** Name of sum @p i; NULL: there are no more. */
const char *fg_quic_sum_name(unsigned i);
/** Version of libngtcp2 at run time. */
const char *fg_quic_library(void);

__END_DECLS

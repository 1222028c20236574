/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * TCP and UDP endpoints by the million. A worker is an endpoint (fg_endpoint.h) with addresses of its own. It
 * runs applications over TCP and UDP: clients, which open connections, and servers, which accept them. One
 * lcore runs a worker; workers share nothing.
 *
 * A connection has no buffers. The position in the stream determines the payload that an application sends,
 * so a retransmission is made anew. Received payload is checked by its position and discarded.
 *
 * Control makes, schedules and reads a worker while no lcore polls it.
 */

struct fg_endpoint;
struct fg_l4;

enum fg_l4_congestion { FG_L4_NEWRENO, FG_L4_CUBIC };

/** How one application's TCP behaves. Start from fg_l4_tcp_defaults(). */
struct fg_l4_tcp {
	uint32_t receive_buffer; /* bytes: the window we advertise */
	uint32_t send_buffer;    /* limit of bytes in flight, in addition to the windows */
	uint16_t mss;            /* MSS that we announce and never exceed; 0: by the MTU */
	uint8_t congestion;      /* enum fg_l4_congestion */
	uint8_t initial_window;  /* segments (RFC 6928) */
	uint8_t ack_every;       /* full segments to an acknowledgement */
	uint8_t syn_retries;     /* of SYN or SYN-ACK */
	uint8_t retries;         /* of other segments, in a row (RFC 9293, 3.8.3: R2) */
	bool window_scaling, timestamps, sack, ecn;
	bool nodelay;             /* true: Nagle's algorithm is off */
	bool handshake_ack_alone; /* a client's: no payload and no FIN on it */
	bool reset;               /* a client closes by RST; when, see struct fg_app.resets_at_once */
	uint32_t delayed_ack_ms;  /* at most 500 (RFC 9293, 3.8.6.3) */
	uint32_t rto_initial_ms;  /* RFC 6298, 2.1: 1000 */
	uint32_t rto_min_ms;      /* beyond the round trip; RFC 6298, 2.4: 1000 in all */
	uint32_t rto_max_ms;      /* RFC 6298, 2.5: at least 60000 */
	uint32_t time_wait_ms;    /* see tcp_time_wait() in docs/explanation/tcp.md */
	uint32_t keepalive_ms;    /* 0: off */
};

void fg_l4_tcp_defaults(struct fg_l4_tcp *tcp);

/** How a connection ended. */
enum fg_l4_end {
	FG_L4_END_CLOSED,    /* both FINs were acknowledged */
	FG_L4_END_REFUSED,   /* the peer answered the SYN with RST; of datagrams, ICMP reported a failure */
	FG_L4_END_NO_ANSWER, /* no answer to the SYN */
	FG_L4_END_RESET,     /* the peer reset it */
	FG_L4_END_LOST,      /* no more segments from the peer */
	FG_L4_END_ABORTED,   /* we reset it */
	FG_L4_END_EXPIRED,   /* we reset it, because no response came in time */
	FG_L4_ENDS,
};

/*
 * Everything that is counted of a worker: X(name, severity, text). Severity: 0 normal, 1 notice, 2 fault of
 * the peer or path, 3 the tester lacks resources.
 */
#define FG_L4_COUNTERS(X)                                                                                   \
	X(rx_frames, 0, "frames taken in")                                                                  \
	X(tx_frames, 0, "frames sent")                                                                      \
	X(rx_octets, 0, "bytes of these frames, FCS included")                                              \
	X(rx_not_ours, 0, "frames for no address of ours, or no TCP or UDP")                                \
	X(rx_malformed, 2, "lengths that do not fit")                                                       \
	X(rx_bad_checksum, 2, "IPv4, TCP or UDP checksum is wrong")                                         \
	X(rx_fragments, 1, "IP fragments, which are not reassembled")                                       \
	X(no_connection, 1, "segments of no connection and no listener, answered with RST")                 \
	X(opened, 0, "connections opened by us")                                                            \
	X(accepted, 0, "connections opened by peers")                                                       \
	X(established, 0, "connections established")                                                        \
	X(table_full, 3, "connections not opened or taken for want of room")                                \
	X(half_open_dropped, 1, "half-open connections given up for one that was confirmed")                \
	X(cookies_sent, 1, "SYNs answered and forgotten for want of room (RFC 4987)")                       \
	X(cookies_taken, 0, "connections opened by the answer to one of these")                             \
	X(time_wait_reused, 0, "addresses and ports taken again out of TIME_WAIT (RFC 6191)")               \
	X(segments_retransmitted, 1, "data segments sent again, whatever the cause")                        \
	X(octets_retransmitted, 1, "payload bytes sent again")                                              \
	X(fast_retransmits, 1, "entries into fast recovery (RFC 5681, 6675)")                               \
	X(rescue_retransmits, 1, "rescue retransmissions (RFC 6675, NextSeg 4)")                            \
	X(lost_retransmits, 1, "retransmissions that were lost again and noticed")                          \
	X(spurious_recoveries, 1, "recoveries of what was late, not lost, and taken back (RFC 3522, 3708)") \
	X(came_twice, 1, "what the peer told it got twice (RFC 2883)")                                      \
	X(tail_probes, 1, "tail-loss probes (RFC 8985)")                                                    \
	X(tail_losses, 1, "losses that a tail-loss probe alone has repaired")                               \
	X(limited_transmits, 0, "segments sent on the first duplicate ACKs (RFC 3042)")                     \
	X(timeouts, 1, "retransmission time-outs (RFC 6298)")                                               \
	X(syn_retransmits, 1, "SYN or SYN-ACK sent again")                                                  \
	X(black_holes, 1, "MSS reduced because full segments vanish")                                       \
	X(too_big, 1, "MSS reduced by an ICMP message")                                                     \
	X(unreachable, 2, "datagrams that ICMP reported as undeliverable")                                  \
	X(window_probes, 0, "probes of a closed window")                                                    \
	X(keepalive_probes, 0, "keep-alive probes")                                                         \
	X(ecn_reductions, 1, "reductions of the window by ECN (RFC 3168)")                                  \
	X(ce_received, 1, "segments that arrived with congestion experienced")                              \
	X(duplicate_acks, 1, "duplicate acknowledgements")                                                  \
	X(out_of_order, 1, "segments ahead of their turn")                                                  \
	X(out_of_window, 1, "segments outside the window (RFC 9293)")                                       \
	X(duplicate_octets, 1, "payload bytes received again")                                              \
	X(paws_dropped, 1, "segments with an old time stamp (RFC 7323)")                                    \
	X(no_timestamp, 2, "segments without the time stamp that was agreed on (RFC 7323)")                 \
	X(bad_acks, 2, "acknowledgements of what was never sent, or is too old (RFC 5961)")                 \
	X(known_ports, 1, "SYNs that a peer took for an older connection's; reset and sent again")          \
	X(left_open, 1, "connections still open when all was over, which were reset")                       \
	X(challenge_acks, 1, "challenge ACKs (RFC 5961)")                                                   \
	X(challenges_held_back, 2, "challenge ACKs beyond ten in five seconds of a connection (RFC 5961)")  \
	X(no_ack, 2, "segments with neither SYN, ACK nor RST, dropped (RFC 9293)")                          \
	X(resets_ignored, 2, "resets that do not hit the next number exactly (RFC 5961)")                   \
	X(reneged, 2, "the peer gave up what it had acknowledged selectively")                              \
	X(no_ranges, 3, "segments ahead of their turn dropped for want of room to remember them")           \
	X(held_refused, 3, "segments dropped for want of room to keep them for the application")            \
	X(no_spans, 3, "connections aborted for want of room to note what they send")                       \
	X(no_secrets, 3, "connections aborted because a handshake could not be made or taken over (TLS)")   \
	X(not_used, 1, "segments in order dropped, as the application could not use them yet")              \
	X(wrong_octets, 2, "received payload bytes that differ from what was sent")                         \
	X(udp_rx, 0, "datagrams received")                                                                  \
	X(udp_tx, 0, "datagrams sent")                                                                      \
	X(udp_no_listener, 1, "datagrams for a port that nobody listens on")

#define FG_L4_COUNTER_FIELD(name, severity, text) uint64_t name;
struct fg_l4_counters {
	FG_L4_COUNTERS(FG_L4_COUNTER_FIELD)
};
#undef FG_L4_COUNTER_FIELD

struct fg_l4_config {
	uint32_t connections; /* at a time, TIME_WAIT included: 256 bytes each */
	uint64_t seed;        /* of all that is random */
	/*
	 * Secret of initial sequence numbers, timestamps and hash (RFC 6528, RFC 7323, 5.4): keep it across
	 * workers while a peer may remember a connection. 0: the seed
	 */
	uint64_t secret;
	uint64_t epoch_s;    /* when the worker's clock is 0: seconds since 1970. 0: no peer has a clock */
	uint64_t max_lag_ns; /* of datagrams that are due at a time; later are dropped */
	uint8_t mac[6];
	uint16_t mtu; /* of the link: bytes of the IP packet */
};

/* Sums of an application since its start: X(name, text). They only grow. */
#define FG_L4_SUMS(X)                                                                \
	X(opened, "connections, by us or by the peer")                               \
	X(established, "handshakes completed")                                       \
	X(transactions, "responses; of connections that come and go, complete ones") \
	X(octets_in, "payload received in order")                                    \
	X(octets_out, "payload acknowledged by the peer")                            \
	X(datagrams_in, "datagrams taken")                                           \
	X(datagrams_out, "datagrams sent")                                           \
	X(datagram_octets_in, "payload of datagrams taken")                          \
	X(expired, "requests given up")                                              \
	X(refused, "responses that are not what was asked for")

enum {
	FG_L4_OWN_SUMS = 21, /* that a kind of application names itself */
	FG_L4_SAMPLED = 64,  /* streams of an application that a sample is of */
};

#define FG_L4_SUM_FIELD(name, text) uint64_t name;
struct fg_l4_tally {
	FG_L4_SUMS(FG_L4_SUM_FIELD)
	uint64_t ended[FG_L4_ENDS];
	uint64_t own[FG_L4_OWN_SUMS];
};
#undef FG_L4_SUM_FIELD

/** Counters of the worker. */
void fg_l4_read_counters(const struct fg_l4 *l4, struct fg_l4_counters *out);
/** Connections that it has, those in TIME_WAIT and of QUIC included; also while an lcore polls it. */
uint32_t fg_l4_open(const struct fg_l4 *l4);

/**
 * From now on the worker only resets what is open, TIME_WAIT and QUIC excepted, so that neither a peer nor a
 * device in the path keeps state. Call it while no lcore polls; then poll until fg_l4_has_reset(), which is
 * also allowed during a poll. @return connections that are open
 */
uint32_t fg_l4_reset(struct fg_l4 *l4);
bool fg_l4_has_reset(const struct fg_l4 *l4);

/** Memory of the connections so far. */
struct fg_l4_memory {
	uint64_t octets;      /* with their share of the table and what their losses needed */
	uint32_t connections; /* most connections at a time, TIME_WAIT included */
};
void fg_l4_read_memory(const struct fg_l4 *l4, struct fg_l4_memory *out);

/**
 * Counter @p i as Lua shows it; NULL: there are no more. Its severity and text may be NULL to be left out.
 */
const char *fg_l4_counter_name(unsigned i, int *severity, const char **text);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * A firewall in the reference device: it keeps a table of open sessions. The set-up of a session and the
 * inspection of payload take time. Only the side of port 0 opens sessions, by a TCP SYN or any UDP datagram;
 * frames without a session are lost. Frames that are neither TCP nor UDP pass, and so do fragments.
 */

/** Its properties. */
struct fg_firewall_config {
	uint32_t sessions;     /* size of the table; 0: no firewall */
	bool resets;           /* a SYN that finds the table full is answered by RST; else it is lost */
	double setup_rate;     /* sessions set up per second; 0: no limit */
	uint32_t setup_queue;  /* new sessions that may wait; further ones are lost */
	double timeout_ns;     /* idle time after which a session is forgotten */
	double half_closed_ns; /* time that a session stays after the ACK of both FINs */
	double inspect_ns; /* further delay of the first payload of a session, from the side that opened it */
	double frame_ns;   /* time of the one inspection engine for each frame with payload ... */
	double byte_ns;    /* ... and for each byte of its payload */
	uint32_t inspect_queue; /* frames that may wait for the engine; further ones are lost */
	uint32_t reset_every;   /* every n-th session is ended by RST to both at its first payload; 0: none */
};

/** Counts since the last reset, both sides together. */
struct fg_firewall_counters {
	uint64_t created, closed, expired;
	uint64_t refused;     /* SYNs and datagrams for which the table had no room */
	uint64_t setup_full;  /* lost: too many sessions waited to be set up */
	uint64_t engine_full; /* lost: too many frames waited for the inspection engine */
	uint64_t unknown;     /* lost: no session */
	uint64_t resets;      /* sessions that reset_every ended */
	uint64_t most;        /* sessions in the table at a time */
	uint64_t now;         /* sessions in it */
};

__END_DECLS

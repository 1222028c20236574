/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * A NAT44 gateway in the reference device when it routes: TCP and UDP over IPv4 from the side of port 0 leave
 * with the device's own address on the side of port 1 and a port of its pool. Returning packets are
 * translated back; unsolicited packets are lost.
 */

/** Its properties. */
struct fg_nat_config {
	uint32_t sessions; /* size of the table; 0: no NAT */
	bool replaces;     /* a full table drops the session idle longest; else the new one is lost */
	uint16_t port_first, port_last; /* the pool; a port serves one session with each far end */
	double setup_rate;              /* sessions set up per second; 0: no limit */
	uint32_t setup_queue;           /* new sessions that may wait; further ones are lost */
	double timeout_ns;              /* idle time after which a session is forgotten */
	double clear_rate;              /* sessions cleared per second on a clear of all; 0: at once */
};

/** Counts since the last reset. */
struct fg_nat_counters {
	uint64_t created, closed, expired;
	uint64_t refused;     /* lost: the table had no room */
	uint64_t replaced;    /* sessions evicted by new ones */
	uint64_t no_port;     /* lost: no port of the pool was free for that far end */
	uint64_t setup_full;  /* lost: too many sessions waited to be set up */
	uint64_t unsolicited; /* lost: from outside, without a session */
	uint64_t most, now;   /* sessions in the table at a time, and now */
};

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * A NAT44 gateway in the reference device when it routes: TCP and UDP over IPv4 that come from the side of
 * port 0 leave with the device's own address on the side of port 1, and a port of its pool. Returning packets
 * go back for such an address and port is translated again; what nobody has asked for is lost.
 */

/** Its properties. */
struct fg_nat_config {
	uint32_t sessions; /* that its table holds; 0: there is no NAT */
	bool replaces;     /* when it is full the one that was idle longest goes; else the new one is lost */
	uint16_t port_first, port_last; /* the pool; a port serves one session with each far end */
	double setup_rate;              /* sessions that it can set up a second; 0: all that come */
	uint32_t setup_queue;           /* that may wait for it; further ones are lost */
	double timeout_ns;              /* a session is forgotten that was idle for so long */
	double clear_rate; /* sessions that it forgets a second when it is told to forget all; 0: at once */
};

/** What it has counted since the last reset. */
struct fg_nat_counters {
	uint64_t created, closed, expired;
	uint64_t refused;     /* lost: the table had no room */
	uint64_t replaced;    /* sessions that others took the place of */
	uint64_t no_port;     /* lost: no port of the pool was free for that far end */
	uint64_t setup_full;  /* lost: too many sessions waited to be set up */
	uint64_t unsolicited; /* lost: from outside, of no session */
	uint64_t most, now;   /* sessions in the table at a time, and now */
};

__END_DECLS

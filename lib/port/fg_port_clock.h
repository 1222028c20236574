/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

__BEGIN_DECLS

struct fg_port;

/** What a port's own clock was, and CLOCK_MONOTONIC_RAW, ns. */
struct fg_port_clock_look {
	uint64_t port_ns;
	uint64_t machine_ns;
	uint64_t error_ns; /* bound: how far apart the two may have been looked at */
};

/** Look at both clocks: the best of several tries. @return 0 or -errno of the port */
int fg_port_clock_read(struct fg_port *port, struct fg_port_clock_look *out);

/**
 * The machine's time at a moment of the port's. Between two looks it is as exact as they are, if neither
 * clock was set or changed its pace meanwhile.
 */
uint64_t fg_port_clock_machine_ns(const struct fg_port_clock_look *first,
				  const struct fg_port_clock_look *last, uint64_t port_ns);

__END_DECLS

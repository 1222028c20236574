/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a port's link, for whoever opens ports and for drivers that do so while they start. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "port_priv.h"

#define LINK_POLL_NS 5000000

int
fg_port_wait_link(struct fg_port *port, unsigned milliseconds, struct fg_error *err)
{
	const struct timespec pause = {.tv_nsec = LINK_POLL_NS};
	char where[96];

	for (uint64_t waited = 0;; waited += LINK_POLL_NS) {
		if (port->ops->link_up(port))
			return 0;
		if (waited >= milliseconds * 1000000ull)
			break;
		nanosleep(&pause, NULL);
	}
	snprintf(where, sizeof(where), "ports.%s.device", port->name);
	return fg_error_set(
		err, ENETDOWN, where,
		"%s has no link after %.1f s: is the cable in, the other side up and at the same speed?",
		port->device, milliseconds / 1000.0);
}

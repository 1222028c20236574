/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange between the queues of a port, off the frame path: see rx_queues.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_unique_name.h"
#include "rx_queues.h"

/* a queue that gets a quarter of the others' share falls behind by this number of its own frames */
enum { UNEVEN = 4 };

int
rx_rings_open(struct rx_rings *rings, const struct fg_port *port, unsigned queues, struct fg_error *err)
{
	char name[RTE_RING_NAMESIZE];

	for (unsigned i = 0; i < queues; i++)
		for (unsigned k = 0; k < queues; k++) {
			if (k == i)
				continue;
			fg_unique_name(name, sizeof(name), "fg_queue_");
			rings->ring[i][k] =
				rte_ring_create_elem(name, sizeof(struct rx_record), RX_RECORDS,
						     port->caps.numa_node, RING_F_SP_ENQ | RING_F_SC_DEQ);
			if (rings->ring[i][k] == NULL)
				return fg_error_set(err, ENOMEM, "host.memory",
						    "no room for the rings between the queues of port %s",
						    port->name);
		}
	return 0;
}

void
rx_rings_close(struct rx_rings *rings)
{
	for (unsigned i = 0; i < FG_MAX_QUEUES; i++)
		for (unsigned k = 0; k < FG_MAX_QUEUES; k++)
			rte_ring_free(rings->ring[i][k]);
}

int
rx_queues_init(struct rx_task *rx, const struct rx_rings *rings, unsigned k, unsigned queues)
{
	if (queues == 1)
		return 0;
	rx->queues = calloc(1, sizeof(*rx->queues));
	if (rx->queues == NULL)
		return -ENOMEM;
	rx->queues->queues = queues;
	rx->nth = (uint16_t)k;
	for (unsigned i = 0; i < queues; i++) {
		rx->queues->to[i] = rings->ring[k][i];
		rx->queues->from[i] = rings->ring[i][k];
	}
	return 0;
}

unsigned
rx_queues_behind(const struct fg_port *port, unsigned queues)
{
	return queues == 1 ? 0 : queues * (port->caps.rx_ring + RX_RECORDS) * UNEVEN;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes of a port among themselves, what is done beside the frames: see rx_lanes.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rx_lanes.h"

/* a queue that gets a quarter of the others' share falls behind by so many of its own frames */
enum { UNEVEN = 4 };

int
rx_lanes_open(struct fg_engine *e, unsigned port, unsigned serial, struct fg_error *err)
{
	const struct engine_port *p = &e->port[port];
	char name[RTE_RING_NAMESIZE];

	for (unsigned i = 0; i < p->lanes; i++)
		for (unsigned k = 0; k < p->lanes; k++) {
			struct lane *lane = &e->lane[p->first_lane + i];

			if (k == i)
				continue;
			snprintf(name, sizeof(name), "fg_lane_%u_%u_%u", serial, p->first_lane + i, k);
			lane->to[k] = rte_ring_create_elem(name, sizeof(struct rx_record), RX_RECORDS,
							   lane->port->caps.numa_node,
							   RING_F_SP_ENQ | RING_F_SC_DEQ);
			if (lane->to[k] == NULL)
				return fg_error_set(
					err, ENOMEM, "host.memory",
					"no room for what the queues of port %s have to tell each other",
					p->config.port->name);
		}
	return 0;
}

void
rx_lanes_close(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->lanes; i++)
		for (unsigned k = 0; k < FG_MAX_QUEUES; k++)
			rte_ring_free(e->lane[i].to[k]);
}

int
rx_lanes_init(const struct fg_engine *e, struct trial *t, unsigned lane)
{
	const struct engine_port *p = &e->port[e->lane[lane].of];
	struct rx_task *rx = &t->rx[lane];

	rx->home = &t->rx[p->first_lane];
	if (p->lanes == 1)
		return 0;
	rx->lanes = calloc(1, sizeof(*rx->lanes));
	if (rx->lanes == NULL)
		return -ENOMEM;
	rx->lanes->lanes = p->lanes;
	for (unsigned k = 0; k < p->lanes; k++) {
		rx->lanes->to[k] = e->lane[lane].to[k];
		rx->lanes->from[k] = e->lane[p->first_lane + k].to[lane - p->first_lane];
	}
	return 0;
}

const struct rx_task *
rx_lanes_receiver(const struct fg_engine *e, const struct trial *t, unsigned i)
{
	const struct engine_port *p = &e->port[t->config[i].rx_port];

	if (t->config[i].unmeasured)
		return NULL;
	if (p->lanes > 1 && t->part[i].of == 1)
		return &rx_nobody;
	return &t->rx[p->first_lane + t->part[i].k % p->lanes];
}

unsigned
rx_lanes_behind(const struct fg_engine *e)
{
	unsigned most = 0;

	for (unsigned i = 0; i < e->config.ports; i++) {
		const struct engine_port *p = &e->port[i];
		unsigned behind = p->lanes * (p->config.port->caps.rx_ring + RX_RECORDS) * UNEVEN;

		if (p->lanes > 1)
			most = RTE_MAX(most, behind);
	}
	return most;
}

void
rx_lanes_settle(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->lanes; i++)
		if (e->trial->rx[i].lanes != NULL)
			rx_take_all_passed(&e->trial->rx[i]);
}

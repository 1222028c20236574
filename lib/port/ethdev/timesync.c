/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stamps of a card's own clock, as the 82599 and its successors take them of IEEE 1588 event frames. Each
 * port has a clock of its own, which began when it was switched on and runs at its own pace. To compare those
 * of two ports, each is looked at together with the machine's, before and after; a line through both looks
 * turns one into the other.
 */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_read_clock() is, in DPDK 22.11 */

#include <math.h>

#include <rte_ethdev.h>

#include "../fg_port_clock.h"
#include "../fg_port_stamps.h"
#include "../port_priv.h"

enum { TRIES = 16 };

static uint64_t
in_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint16_t
id_of(struct fg_port *port)
{
	return ((struct fg_ethdev *)port)->id;
}

static int
enable(struct fg_port *port)
{
	return rte_eth_timesync_enable(id_of(port));
}

static int
disable(struct fg_port *port)
{
	return rte_eth_timesync_disable(id_of(port));
}

static int
now(struct fg_port *port, uint64_t *ns)
{
	struct timespec t = {0};
	int rc = rte_eth_timesync_read_time(id_of(port), &t);

	*ns = in_ns(t);
	return rc;
}

static int
sent(struct fg_port *port, uint64_t *ns)
{
	struct timespec t = {0};
	int rc = rte_eth_timesync_read_tx_timestamp(id_of(port), &t);

	*ns = in_ns(t);
	return rc;
}

static int
arrived(struct fg_port *port, uint16_t index, uint64_t *ns)
{
	struct timespec t = {0};
	int rc = rte_eth_timesync_read_rx_timestamp(id_of(port), &t, index);

	*ns = in_ns(t);
	return rc;
}

const struct fg_port_timesync fg_ethdev_timesync = {enable, disable, now, sent, arrived};

/* Some drivers show a counter of the clock that stamps all frames; others show the IEEE 1588 clock. */
static int
stamping_clock(void *of, uint64_t *ticks)
{
	struct fg_ethdev *dev = of;
	int rc = rte_eth_read_clock(dev->id, ticks);

	return rc == -ENOTSUP ? now(&dev->port, ticks) : rc;
}

int
fg_ethdev_stamps_start(struct fg_ethdev *dev)
{
	uint64_t ticks;
	int rc = 0;

	if (rte_eth_read_clock(dev->id, &ticks) == -ENOTSUP)
		rc = rte_eth_timesync_enable(dev->id);
	if (rc == 0)
		rc = fg_port_stamps_create(stamping_clock, dev, &dev->port.stamps);
	if (rc != 0)
		return rc;
	dev->port.caps.rx_timestamp = true;
	dev->port.timesync = NULL; /* switching that off would stop the clock */
	return 0;
}

int
fg_port_clock_read(struct fg_port *port, struct fg_port_clock_look *out)
{
	out->error_ns = UINT64_MAX;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = fg_eal_now_ns(CLOCK_MONOTONIC_RAW), ns, width;
		int rc = port->timesync->now(port, &ns);

		if (rc != 0)
			return rc;
		width = fg_eal_now_ns(CLOCK_MONOTONIC_RAW) - before;
		if ((width + 1) / 2 < out->error_ns)
			*out = (struct fg_port_clock_look){ns, before + width / 2, (width + 1) / 2};
	}
	return 0;
}

uint64_t
fg_port_clock_machine_ns(const struct fg_port_clock_look *first, const struct fg_port_clock_look *last,
			 uint64_t port_ns)
{
	long double since = (long double)(int64_t)(port_ns - first->port_ns);
	uint64_t machine = last->machine_ns - first->machine_ns, port = last->port_ns - first->port_ns;

	if (port == 0)
		return first->machine_ns;
	return first->machine_ns + (uint64_t)llroundl(since * (long double)machine / (long double)port);
}

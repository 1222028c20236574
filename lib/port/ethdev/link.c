/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's link: waiting for it when a port is opened, and the changes of a device's.
 *
 * We look at it ourselves, and each look compares. An interrupt alone would not do: where a driver promises
 * one and sends none, as the 82574L's driver does with MSI-X, DPDK answers from memory, and a link that was
 * down for seconds was up all the time. So DPDK is not asked for the interrupt. Some drivers, such as the one
 * of vmxnet3, tell of a change all the same. That is counted, too: the link may be back before anybody looks.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "../port_priv.h"

#define LINK_POLL_NS 5000000
#define MBPS         1000000ull

/* called in EAL's interrupt thread */
static int
count_event(uint16_t id, enum rte_eth_event_type type, void *arg, void *unused)
{
	struct fg_ethdev *dev = arg;

	__atomic_store_n(&dev->link_events, dev->link_events + 1, __ATOMIC_RELAXED);
	return 0;
}

void
fg_ethdev_link_start(struct fg_ethdev *dev)
{
	rte_eth_dev_callback_register(dev->id, RTE_ETH_EVENT_INTR_LSC, count_event, dev);
}

void
fg_ethdev_link_stop(struct fg_ethdev *dev)
{
	const struct timespec pause = {.tv_nsec = LINK_POLL_NS};

	/* while the interrupt thread is in it, it cannot be taken away */
	while (rte_eth_dev_callback_unregister(dev->id, RTE_ETH_EVENT_INTR_LSC, count_event, dev) == -EAGAIN)
		nanosleep(&pause, NULL);
}

/* @return how often it changed since the last look: as often as the driver told, or once if it is another */
static uint64_t
changes(struct fg_ethdev *dev, bool up)
{
	uint64_t events = __atomic_load_n(&dev->link_events, __ATOMIC_RELAXED),
		 told = events - dev->link_events_seen;

	dev->link_events_seen = events;
	return RTE_MAX(told, (uint64_t)(up != dev->link_was_up));
}

bool
fg_ethdev_link_up(struct fg_port *port)
{
	struct fg_ethdev *dev = (struct fg_ethdev *)port;
	struct rte_eth_link link;
	uint64_t changed;
	bool up;

	if (rte_eth_link_get_nowait(dev->id, &link) != 0)
		return true; /* a device without a link is never down */
	up = link.link_status == RTE_ETH_LINK_UP;
	/* a software device reports an arbitrary speed */
	if (up && link.link_speed != RTE_ETH_SPEED_NUM_NONE && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN &&
	    port->caps.physical)
		port->caps.line_rate_bps = link.link_speed * MBPS;
	changed = changes(dev, up);
	dev->link_changes += dev->link_was_seen ? changed : 0;
	dev->link_was_seen |= up;
	dev->link_was_up = up;
	return up;
}

int
fg_port_wait_link(struct fg_port *port, unsigned milliseconds, struct fg_error *err)
{
	const struct timespec pause = {.tv_nsec = LINK_POLL_NS};
	const uint64_t end = fg_eal_now_ns(CLOCK_MONOTONIC) + milliseconds * 1000000ull;
	char where[96];

	for (bool last = false; !last; nanosleep(&pause, NULL)) {
		last = fg_eal_now_ns(CLOCK_MONOTONIC) >= end; /* a look may itself take a while */
		if (port->ops->link_up(port))
			return 0;
	}
	snprintf(where, sizeof(where), "ports.%s.device", port->name);
	return fg_error_set(
		err, ENETDOWN, where,
		"%s has no link after %.1f s: is the cable in, the other side up and at the same speed?",
		port->device, milliseconds / 1000.0);
}

int
fg_ethdev_set_link(struct fg_port *port, bool up)
{
	uint16_t id = ((struct fg_ethdev *)port)->id;

	return up ? rte_eth_dev_set_link_up(id) : rte_eth_dev_set_link_down(id);
}

int
fg_port_set_link(struct fg_port *port, bool up, struct fg_error *err)
{
	int ret = port->ops->set_link == NULL ? -ENOTSUP : port->ops->set_link(port, up);
	char where[96];

	if (ret == 0)
		return 0;
	snprintf(where, sizeof(where), "ports.%s.device", port->name);
	if (ret == -ENOTSUP)
		return fg_error_set(err, ENOTSUP, where, "the driver of %s (%s) cannot set a link up or down",
				    port->device, port->caps.driver);
	return fg_error_set(err, -ret, where, "the link of %s cannot be set %s: %s", port->device,
			    up ? "up" : "down", strerror(-ret));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's counts and the tester's. The two are independent: a NIC counts at its MAC and its queues, the
 * tester counts the frames that the driver took and delivered. If both are exact, a difference is a frame
 * lost inside the tester without a drop counter (lib/engine/account.c).
 */
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "../port_priv.h"

/*
 * As drivers of Intel's cards call them. A card of 10 Gb/s and more counts what IEEE 802.3 (46.3.4) calls
 * faults: of its own receiver, and those that its peer signals. They tell of a link that was out for less
 * time than passes between two looks.
 */
static const char *const extended_names[FG_ETHDEV_EXTENDED] = {
	[FG_ETHDEV_RX_TOTAL] = "rx_total_packets",       [FG_ETHDEV_RX_XON] = "rx_xon_packets",
	[FG_ETHDEV_RX_XOFF] = "rx_xoff_packets",         [FG_ETHDEV_LOCAL_FAULTS] = "mac_local_errors",
	[FG_ETHDEV_REMOTE_FAULTS] = "mac_remote_errors",
};

/*
 * Drivers that were seen to read registers which count each frame, at once. Others may have their counters
 * from firmware, which is behind by up to seconds: those are shown, and prove nothing.
 */
static const char *const exact_drivers[] = {"net_ixgbe"};

static void
count_ours(const struct fg_ethdev *dev, unsigned i, struct fg_port_counters *out)
{
	out->rx_ours[i] = __atomic_load_n(&dev->traffic.received, __ATOMIC_RELAXED);
	out->tx_ours[i] = __atomic_load_n(&dev->traffic.sent, __ATOMIC_RELAXED);
	out->rx_unstamped = dev->traffic.unstamped;
	for (unsigned k = 0; dev->lanes != NULL && k + 1 < dev->port.queues; k++) {
		const struct fg_ethdev_traffic *t = &((const struct fg_ethdev_lane *)dev->lanes[k])->traffic;

		out->rx_ours[i] += __atomic_load_n(&t->received, __ATOMIC_RELAXED);
		out->tx_ours[i] += __atomic_load_n(&t->sent, __ATOMIC_RELAXED);
		out->rx_unstamped += t->unstamped;
	}
}

/* @p out: 0 where the driver has no such counter; all at once, because each query reads all registers */
static void
read_extended(const struct fg_ethdev *dev, uint64_t out[FG_ETHDEV_EXTENDED])
{
	uint64_t value[FG_ETHDEV_EXTENDED] = {0};

	memset(out, 0, FG_ETHDEV_EXTENDED * sizeof(*out));
	if (dev->extended > 0)
		rte_eth_xstats_get_by_id(dev->id, dev->extended_id, value, dev->extended);
	for (unsigned i = 0; i < dev->extended; i++)
		out[dev->extended_kind[i]] = value[i];
}

/* Of a card that is gone every register reads as ones, its counters too */
static void
read_counters(struct fg_ethdev *dev, struct fg_port_counters *out)
{
	struct rte_eth_stats stats = {0};
	uint64_t extended[FG_ETHDEV_EXTENDED];

	*out = dev->last;
	count_ours(dev, 0, out);
	count_ours(dev, 1, out);
	out->removed = strcmp(dev->bus, "pci") == 0 && !fg_pci_is_there(dev->device);
	if (out->removed)
		return;
	rte_eth_stats_get(dev->id, &stats);
	read_extended(dev, extended);
	count_ours(dev, 1, out);
	out->rx_frames = stats.ipackets;
	out->tx_frames = stats.opackets;
	out->rx_missed = stats.imissed;
	out->rx_no_mbuf = stats.rx_nombuf;
	out->rx_errors = stats.ierrors;
	out->tx_errors = stats.oerrors;
	if (dev->link_was_seen)
		dev->port.ops->link_up(&dev->port);
	out->link_changes = dev->link_changes;
	out->link_faults = extended[FG_ETHDEV_LOCAL_FAULTS] + extended[FG_ETHDEV_REMOTE_FAULTS];
	if (extended[FG_ETHDEV_RX_TOTAL] > 0)
		out->rx_total = extended[FG_ETHDEV_RX_TOTAL] - extended[FG_ETHDEV_RX_XON] -
				extended[FG_ETHDEV_RX_XOFF];
	dev->last = *out;
}

void
fg_ethdev_counters_start(struct fg_ethdev *dev)
{
	for (unsigned i = 0; i < FG_ETHDEV_EXTENDED; i++)
		if (rte_eth_xstats_get_id_by_name(dev->id, extended_names[i],
						  &dev->extended_id[dev->extended]) == 0)
			dev->extended_kind[dev->extended++] = i;
	for (unsigned i = 0; i < RTE_DIM(exact_drivers); i++)
		if (strcmp(dev->port.caps.driver, exact_drivers[i]) == 0)
			dev->port.caps.exact_counters = true;
	read_counters(dev, &dev->base);
}

void
fg_ethdev_counters(struct fg_port *port, struct fg_port_counters *out)
{
	struct fg_ethdev *dev = (struct fg_ethdev *)port;
	const struct fg_port_counters *base = &dev->base;

	read_counters(dev, out);
	out->rx_frames -= base->rx_frames;
	out->tx_frames -= base->tx_frames;
	out->rx_missed -= base->rx_missed;
	out->rx_no_mbuf -= base->rx_no_mbuf;
	out->rx_errors -= base->rx_errors;
	out->tx_errors -= base->tx_errors;
	out->link_changes -= base->link_changes;
	out->link_faults -= base->link_faults;
	out->rx_total -= base->rx_total;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port over any device DPDK has a driver for: probe it, ask what it can do, give it a receive and a
 * transmit queue (or several) with buffers on its own NUMA node, start it. The same few steps serve a 10G
 * card, a shared-memory interface and a kernel socket; whatever a driver does not support is left out, not
 * failed on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "fg_log.h"
#include "../fg_port_stamps.h"
#include "../port_priv.h"

#define RX_RING  1024
#define TX_RING  1024
#define OVERHEAD (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)
/* what decides over which queue a frame arrives, where the driver can tell */
#define SPREAD (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)

static bool open_ids[RTE_MAX_ETHPORTS]; /* devices that are ports now */

static inline struct fg_ethdev *
of(struct fg_port *port)
{
	return (struct fg_ethdev *)port;
}

/* each has one writer, and is read by control */
static inline uint16_t
tally(uint64_t *counter, uint16_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
	return n;
}

static uint16_t
send_burst(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	return tally(&of(port)->traffic.sent, rte_eth_tx_burst(of(port)->id, 0, frames, n));
}

static uint16_t
receive_burst(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	return tally(&of(port)->traffic.received, rte_eth_rx_burst(of(port)->id, 0, frames, n));
}

static uint16_t
send_to_lane(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct fg_ethdev_lane *lane = (struct fg_ethdev_lane *)port;

	return tally(&lane->traffic.sent, rte_eth_tx_burst(lane->id, lane->queue, frames, n));
}

static uint16_t
receive_from_lane(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct fg_ethdev_lane *lane = (struct fg_ethdev_lane *)port;

	return tally(&lane->traffic.received, rte_eth_rx_burst(lane->id, lane->queue, frames, n));
}

/* receive from a port whose card stamps the frames */
static uint16_t
receive_stamped(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	uint16_t got = receive_burst(port, frames, n, now);

	if (got > 0)
		of(port)->traffic.unstamped += fg_port_stamps_turn(port->stamps, frames, got);
	return got;
}

static uint16_t
receive_stamped_from_lane(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct fg_ethdev_lane *lane = (struct fg_ethdev_lane *)port;
	uint16_t got = receive_from_lane(port, frames, n, now);

	if (got > 0)
		lane->traffic.unstamped += fg_port_stamps_turn(port->stamps, frames, got);
	return got;
}

/*
 * The driver's answers, at open and never assumed. Asking whether a queue's rate can be limited is asking for
 * "no limit"; IEEE 1588 stamps are switched on and off again. Only after the start do drivers answer.
 */
static void
ask_capabilities(struct fg_ethdev *dev, const struct rte_eth_dev_info *info)
{
	struct fg_port_caps *caps = &dev->port.caps;
	struct rte_ether_addr mac;

	if (rte_eth_macaddr_get(dev->id, &mac) == 0)
		memcpy(caps->mac, mac.addr_bytes, sizeof(caps->mac));
	caps->numa_node = strcmp(dev->bus, "vdev") == 0 ? -1 : rte_eth_dev_socket_id(dev->id);
	caps->offers_launch_time = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0;
	caps->offers_rx_timestamp = !dev->has_no_stamps;
	caps->queue_rate_limit = rte_eth_set_queue_rate_limit(dev->id, 0, 0) == 0;
	caps->timesync = rte_eth_timesync_enable(dev->id) == 0;
	if (caps->timesync) {
		rte_eth_timesync_disable(dev->id);
		dev->port.timesync = &fg_ethdev_timesync;
	}
}

/* @return the largest frame both sides can do, with FCS; no less than the driver can be set to */
static uint32_t
choose_max_frame(const struct fg_ethdev_config *config, const struct rte_eth_dev_info *info)
{
	/* some do not go below 68 bytes of MTU, as IPv4 has it */
	uint32_t wanted = RTE_MAX(config->max_frame, (uint32_t)info->min_mtu + OVERHEAD);
	uint32_t driver = info->max_rx_pktlen;

	if (info->max_mtu != 0 && info->max_mtu != UINT16_MAX)
		driver = RTE_MIN(driver, (uint32_t)info->max_mtu + OVERHEAD);
	return RTE_MIN(wanted, driver);
}

static int
configure(struct fg_ethdev *dev, const struct fg_ethdev_config *config, const struct rte_eth_dev_info *info)
{
	struct fg_port_caps *caps = &dev->port.caps;
	struct rte_eth_conf conf = {0};
	uint16_t queues = (uint16_t)dev->port.queues;
	int ret;

	dev->most_queues = RTE_MIN(info->max_rx_queues, info->max_tx_queues);
	if (queues > dev->most_queues)
		return -ERANGE;
	dev->has_no_stamps = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) == 0;
	if (config->port->stamps && dev->has_no_stamps)
		return -ENOTSUP;
	if (config->port->stamps)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	if (queues > 1)
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & SPREAD;
	if (conf.rx_adv_conf.rss_conf.rss_hf != 0)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	caps->max_frame = choose_max_frame(config, info);
	conf.rxmode.mtu = caps->max_frame - OVERHEAD;
	ret = rte_eth_dev_configure(dev->id, queues, queues, &conf);
	if (ret != 0)
		return ret;
	caps->rx_ring = config->port->rx_ring != 0                ? config->port->rx_ring
			: info->default_rxportconf.ring_size != 0 ? info->default_rxportconf.ring_size
								  : RX_RING;
	caps->tx_ring = config->port->tx_ring != 0                ? config->port->tx_ring
			: info->default_txportconf.ring_size != 0 ? info->default_txportconf.ring_size
								  : TX_RING;
	return rte_eth_dev_adjust_nb_rx_tx_desc(dev->id, &caps->rx_ring, &caps->tx_ring);
}

static int
set_up_queues(struct fg_ethdev *dev, const struct fg_ethdev_config *config)
{
	int node = rte_eth_dev_socket_id(dev->id);
	struct fg_port_caps *caps = &dev->port.caps;
	/*
	 * the 82599 counts its buffers in whole KB: one of 3000 bytes would take 2048, and the rest of a
	 * frame the next
	 */
	uint32_t room = RTE_ALIGN_CEIL(RTE_MAX(caps->max_frame, 2048u), 1024u);
	int ret;

	dev->frames = fg_port_pool_create(dev->port.queues, config->port->keep, RTE_MAX(config->room, room),
					  node, strcmp(dev->bus, "pci") == 0);
	if (dev->frames == NULL)
		return -rte_errno;
	if (config->one_piece && dev->frames->nb_mem_chunks != 1)
		return -ENOMEM;
	for (uint16_t q = 0; q < dev->port.queues; q++) {
		ret = rte_eth_rx_queue_setup(dev->id, q, caps->rx_ring, (unsigned)node, NULL, dev->frames);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(dev->id, q, caps->tx_ring, (unsigned)node, NULL);
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* the queues behind the first one, as ports */
static int
make_lanes(struct fg_ethdev *dev)
{
	unsigned n = dev->port.queues - 1;
	struct fg_ethdev_lane *lane;

	if (n == 0)
		return 0;
	dev->lanes = calloc(1, n * (sizeof(struct fg_port *) + sizeof(*lane)));
	if (dev->lanes == NULL)
		return -ENOMEM;
	lane = (struct fg_ethdev_lane *)(dev->lanes + n);
	for (unsigned i = 0; i < n; i++) {
		lane[i].id = dev->id;
		lane[i].queue = (uint16_t)(i + 1);
		lane[i].port = (struct fg_port){
			.tx = send_to_lane,
			.rx = dev->port.stamps != NULL ? receive_stamped_from_lane : receive_from_lane,
			.stamps = dev->port.stamps,
			.caps = dev->port.caps,
			.queues = 1,
		};
		dev->lanes[i] = &lane[i].port;
	}
	dev->port.lanes = dev->lanes;
	return 0;
}

/* Devices named at the start were probed then; the others are now. DPDK is content to probe one twice. */
static int
probe(struct fg_ethdev *dev, const struct fg_ethdev_config *config)
{
	if (rte_eth_dev_get_port_by_name(config->device, &dev->id) != 0) {
		if (rte_eal_hotplug_add(config->bus, config->device, config->args) != 0)
			return -ENODEV;
		if (rte_eth_dev_get_port_by_name(config->device, &dev->id) != 0) {
			rte_eal_hotplug_remove(config->bus, config->device);
			return -ENODEV; /* no Ethernet device */
		}
	}
	if (open_ids[dev->id])
		return -EBUSY;
	open_ids[dev->id] = true;
	return 0;
}

/* @p step: the last step done */
static int
bring_up(struct fg_ethdev *dev, const struct fg_ethdev_config *config, const char **step)
{
	struct rte_eth_dev_info info;
	int ret;

	ret = probe(dev, config);
	*step = ret == -EBUSY ? "it is open as a port already" : "no driver takes it";
	if (ret != 0)
		return ret;
	dev->probed = true;
	*step = "it cannot be configured";
	ret = rte_eth_dev_info_get(dev->id, &info);
	if (ret == 0)
		snprintf(dev->port.caps.driver, sizeof(dev->port.caps.driver), "%s", info.driver_name);
	if (ret == 0)
		ret = configure(dev, config, &info);
	if (ret != 0)
		return ret;
	*step = "its queues cannot be set up";
	ret = set_up_queues(dev, config);
	if (ret != 0)
		return ret;
	*step = "it does not start";
	fg_ethdev_link_start(dev);
	ret = rte_eth_dev_start(dev->id);
	if (ret != 0)
		return ret;
	dev->started = true;
	dev->promiscuous = rte_eth_promiscuous_get(dev->id) != 1 && rte_eth_promiscuous_enable(dev->id) == 0;
	ask_capabilities(dev, &info);
	*step = "its clock, by which it stamps frames, cannot be followed";
	ret = config->port->stamps ? fg_ethdev_stamps_start(dev) : 0;
	return ret == 0 ? make_lanes(dev) : ret;
}

static const struct fg_port_ops ethdev_ops = {
	.counters = fg_ethdev_counters,
	.link_up = fg_ethdev_link_up,
	.close = fg_ethdev_close,
	.about = fg_ethdev_about,
	.set_link = fg_ethdev_set_link,
};

/* what it asked for in vain, or in DPDK's words what went wrong */
static int
explain(const struct fg_ethdev *dev, const struct fg_ethdev_config *config, int ret, const char *step,
	const char *reason, struct fg_error *err)
{
	if (ret == -ERANGE && dev->port.queues > dev->most_queues)
		return fg_error_set(err, ERANGE, "queues", "%u queues: %s has %u", dev->port.queues,
				    config->port->device, dev->most_queues);
	if (ret == -ENOTSUP && config->port->stamps && dev->has_no_stamps)
		return fg_error_set(err, ENOTSUP, "rx_stamps", "the driver of %s offers no receive stamps",
				    config->port->device);
	return fg_error_set(err, ret < 0 ? -ret : EIO, "device", "%s: %s", step,
			    *reason != '\0' ? reason : rte_strerror(-ret));
}

static int
start_once(struct fg_ethdev *dev, const struct fg_ethdev_config *config, struct fg_error *err)
{
	const char *step = "", *reason;
	struct fg_socket_set before;
	bool is_known;
	int ret;

	*dev = (struct fg_ethdev){0};
	snprintf(dev->bus, sizeof(dev->bus), "%s", config->bus);
	snprintf(dev->device, sizeof(dev->device), "%s", config->device);
	dev->port.queues = RTE_MAX(config->port->queues, 1U);
	is_known = fg_socket_list(config->sockets, NULL, &before);
	fg_eal_log_begin();
	ret = bring_up(dev, config, &step);
	reason = fg_eal_log_end();
	if (is_known) /* else it may be another port's */
		fg_socket_list(config->sockets, &before, &dev->sockets);
	free(before.fd);
	if (ret != 0) {
		ret = explain(dev, config, ret, step, reason, err);
		fg_ethdev_stop(dev);
		return ret;
	}
	dev->port.tx = send_burst;
	dev->port.rx = dev->port.stamps != NULL ? receive_stamped : receive_burst;
	dev->port.ops = &ethdev_ops;
	fg_ethdev_counters_start(dev);
	return 0;
}

int
fg_ethdev_start(struct fg_ethdev *dev, const struct fg_ethdev_config *config, struct fg_error *err)
{
	int ret;

	do
		ret = start_once(dev, config, err);
	while (ret != 0 && config->sockets == AF_XDP && fg_xdp_is_settling());
	return ret;
}

static void
stop_and_close(void *arg)
{
	const struct fg_ethdev *dev = arg;

	if (dev->started)
		rte_eth_dev_stop(dev->id);
	rte_eth_dev_close(dev->id);
}

void
fg_ethdev_stop(struct fg_ethdev *dev)
{
	if (!dev->probed) {
		fg_socket_release(&dev->sockets);
		return;
	}
	fg_eal_log_begin();
	if (dev->promiscuous)
		rte_eth_promiscuous_disable(dev->id); /* a kernel interface outlives us */
	fg_ethdev_link_stop(dev);
	/*
	 * a peer that goes away has this driver take the device down in the interrupt thread, just now
	 * perhaps
	 */
	if (strcmp(dev->port.caps.driver, "net_memif") == 0)
		fg_eal_interrupt_thread_do(stop_and_close, dev);
	else
		stop_and_close(dev);
	rte_eal_hotplug_remove(dev->bus, dev->device);
	/* DPDK 22.11's AF_XDP driver forgets its sockets, which keep the queues busy; later ones do not */
	fg_socket_release(&dev->sockets);
	fg_port_pool_free(dev->frames); /* another port may have sent them on */
	fg_port_pools_sweep();
	free(dev->lanes);
	fg_port_stamps_free(dev->port.stamps);
	open_ids[dev->id] = false;
	dev->probed = dev->started = false;
	fg_eal_log_end();
}

void
fg_ethdev_close(struct fg_port *port)
{
	struct fg_ethdev *dev = of(port);

	fg_ethdev_stop(dev);
	free(dev);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties that a device and its driver report; nothing is assumed from a name. */
#define ALLOW_EXPERIMENTAL_API /* the module's memory: experimental since 2018 */
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "../fg_port_about.h"
#include "../port_priv.h"

#define PAGE 256 /* bytes of the module's page A0; A2 is behind it */

/* bytes that are read at all: each takes about a millisecond, bit by bit over the module's bus */
static const struct {
	uint8_t at, length;
} id_parts[] = {{0, 9}, {20, 16}, {40, 16}, {68, 16}, {92, 1}};

static bool
read_module_part(uint16_t id, uint32_t at, uint8_t *to, uint32_t length)
{
	struct rte_dev_eeprom_info part = {.offset = at, .length = length, .data = to};

	return rte_eth_dev_get_module_eeprom(id, &part) == 0;
}

static bool
read_module_id(uint16_t id, uint8_t octets[FG_SFF8472_ID])
{
	memset(octets, 0, FG_SFF8472_ID);
	for (size_t i = 0; i < RTE_DIM(id_parts); i++)
		if (!read_module_part(id, id_parts[i].at, octets + id_parts[i].at, id_parts[i].length))
			return false;
	return true;
}

static void
ask_module(uint16_t id, struct fg_port_about *out)
{
	uint8_t octets[FG_SFF8472_ID], monitor[FG_SFF8472_MONITOR_SIZE];
	struct rte_eth_dev_module_info info = {0};
	bool monitored;

	if (rte_eth_dev_get_module_info(id, &info) != 0 ||
	    (info.type != RTE_ETH_MODULE_SFF_8079 && info.type != RTE_ETH_MODULE_SFF_8472) ||
	    !read_module_id(id, octets))
		return;
	monitored = info.type == RTE_ETH_MODULE_SFF_8472 &&
		    read_module_part(id, PAGE + FG_SFF8472_MONITOR_AT, monitor, sizeof(monitor));
	out->has_module = fg_sff8472_read(octets, monitored ? monitor : NULL, &out->module) == 0;
}

/* Would the driver send one UDP flow to the first queue? Asked, not done. */
static bool
takes_flow_rule(uint16_t id)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item_ipv4 ip = {.hdr = {.src_addr = RTE_BE32(RTE_IPV4(198, 18, 0, 1)),
						      .dst_addr = RTE_BE32(RTE_IPV4(198, 18, 0, 2)),
						      .next_proto_id = IPPROTO_UDP}};
	const struct rte_flow_item_ipv4 ip_mask = {
		.hdr = {.src_addr = UINT32_MAX, .dst_addr = UINT32_MAX, .next_proto_id = UINT8_MAX}};
	const struct rte_flow_item_udp udp = {.hdr = {.src_port = RTE_BE16(1), .dst_port = RTE_BE16(2)}};
	const struct rte_flow_item_udp udp_mask = {.hdr = {.src_port = UINT16_MAX, .dst_port = UINT16_MAX}};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue queue = {.index = 0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_error error;

	return rte_flow_validate(id, &attr, pattern, actions, &error) == 0;
}

static void
ask_driver(uint16_t id, const struct rte_eth_dev_info *info, struct fg_port_about *out)
{
	struct rte_eth_burst_mode mode;

	if (rte_eth_rx_burst_mode_get(id, 0, &mode) == 0)
		snprintf(out->rx_path, sizeof(out->rx_path), "%.31s", mode.info);
	if (rte_eth_tx_burst_mode_get(id, 0, &mode) == 0)
		snprintf(out->tx_path, sizeof(out->tx_path), "%.31s", mode.info);
	out->rss = info->flow_type_rss_offloads != 0;
	out->flow_to_queue = takes_flow_rule(id);
	out->rx_ip_checksum = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0;
	out->rx_udp_checksum = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_UDP_CKSUM) != 0;
	out->tx_ip_checksum = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
	out->tx_udp_checksum = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
	out->max_queues = RTE_MIN(info->max_rx_queues, info->max_tx_queues);
}

int
fg_ethdev_about(struct fg_port *port, struct fg_port_about *out)
{
	uint16_t id = ((struct fg_ethdev *)port)->id;
	struct rte_eth_dev_info info;
	struct rte_eth_link link = {0};

	if (rte_eth_dev_info_get(id, &info) != 0)
		return -EIO;
	fg_eal_log_begin(); /* it logs an error for what it cannot do */
	if (rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP) {
		out->link_up = true;
		out->full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
		out->speed_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
	}
	ask_module(id, out);
	ask_driver(id, &info, out);
	fg_eal_log_end();
	return 0;
}

int
fg_port_about(struct fg_port *port, struct fg_port_about *out)
{
	*out = (struct fg_port_about){0};
	return port->ops->about == NULL ? -ENOTSUP : port->ops->about(port, out);
}

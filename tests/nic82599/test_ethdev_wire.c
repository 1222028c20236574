/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What needs a model that sends in wire time (paced): the rates of queues, pause frames. And frames whose FCS
 * software makes, by a descriptor that no driver writes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_memzone.h>

#include "test_ethdev.h"

#define FRAMES 200 /* of a rate; fewer than a ring holds, so that all are offered at once */

static uint64_t
counter(uint16_t port, const char *name)
{
	uint64_t id, value = 0;

	must(rte_eth_xstats_get_id_by_name(port, name, &id), name);
	rte_eth_xstats_get_by_id(port, &id, &value, 1);
	return value;
}

static void
drop_received(uint16_t most)
{
	struct rte_mbuf *got[512];
	uint16_t count = take(0, got, most);

	rte_pktmbuf_free_bulk(got, count);
}

/* Frames through a queue of a rate in Mb/s. Their UDP source port tells which case they are of. */
static unsigned
send_at(uint16_t rate, uint16_t length, uint16_t number)
{
	struct rte_mbuf *m[FRAMES];
	uint64_t before = counter(0, "tx_good_packets"), sent;
	uint16_t taken;

	must(rte_eth_set_queue_rate_limit(0, 0, rate), "rate limit");
	for (unsigned i = 0; i < FRAMES; i++)
		m[i] = datagram(1, 2, number, rate, length);
	taken = rte_eth_tx_burst(0, 0, m, FRAMES); /* one move of the tail, as the driver sends segments */
	rte_pktmbuf_free_bulk(m + taken, FRAMES - taken);
	for (unsigned waits = 0; waits < 2000; waits++) {
		sent = counter(0, "tx_good_packets") - before;
		if (sent == FRAMES)
			break;
		usleep(5000);
	}
	drop_received(512);
	return (unsigned)sent;
}

/* Lines `# rate NUMBER MBPS LENGTH`, by which nic.py finds the departures in the capture */
void
test_rates(void)
{
	static const uint16_t rates[] = {10, 30, 100, 300, 1000, 3000, 6000, 10000},
			      lengths[] = {64, 512, 1518};
	unsigned sent = 0, number = 1000;

	start(0, (struct setting){.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){0});
	for (size_t i = 0; i < RTE_DIM(rates); i++)
		for (size_t j = 0; j < RTE_DIM(lengths); j++, number++) {
			sent += send_at(rates[i], lengths[j] - 4, (uint16_t)number);
			printf("# rate %u %u %u\n", number, rates[i], lengths[j]);
		}
	check(sent == FRAMES * RTE_DIM(rates) * RTE_DIM(lengths), "queues with a rate sent all %u frames",
	      sent);
	must(rte_eth_set_queue_rate_limit(0, 0, 0), "no rate limit");
	stop_both();
}

static void
set_pause(uint16_t port, enum rte_eth_fc_mode mode)
{
	struct rte_eth_fc_conf conf = {
		.high_water = 256, .low_water = 128, .pause_time = 0xffff, .send_xon = 1, .mode = mode};

	must(rte_eth_dev_flow_ctrl_set(port, &conf), "flow control");
}

/* A receiver sleeps through more frames than it has room for; with pause frames they wait at the sender */
static unsigned
flood(unsigned frames)
{
	unsigned sent = 0, received = 0;
	struct rte_mbuf *got[512];
	uint16_t part;

	for (unsigned patience = 0; sent < frames && patience < 500; patience++) {
		while (sent < frames && send_one(datagram(1, 2, 3, 4, 1000)))
			sent++;
		usleep(1000);
		if (patience < 100) /* asleep */
			continue;
		while ((part = take(0, got, 512)) != 0) {
			received += part;
			rte_pktmbuf_free_bulk(got, part);
		}
	}
	while ((part = take(0, got, 512)) != 0) {
		received += part;
		rte_pktmbuf_free_bulk(got, part);
	}
	return received;
}

void
test_pause(void)
{
	struct rte_eth_stats in;
	unsigned received;

	start(0, (struct setting){.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){0});
	set_pause(0, RTE_ETH_FC_RX_PAUSE);
	set_pause(1, RTE_ETH_FC_TX_PAUSE);
	received = flood(3000);
	rte_eth_stats_get(1, &in);
	check(received == 3000 && in.imissed == 0,
	      "pause frames: of 3000 for a receiver that sleeps %u arrive, %" PRIu64 " are missed", received,
	      in.imissed);
	check(counter(1, "tx_xoff_packets") > 0 &&
		      counter(0, "rx_xoff_packets") == counter(1, "tx_xoff_packets"),
	      "both ends count XOFF");
	check(counter(1, "tx_xon_packets") > 0 &&
		      counter(0, "rx_xon_packets") == counter(1, "tx_xon_packets"),
	      "and XON");
	set_pause(0, RTE_ETH_FC_NONE);
	rte_eth_stats_reset(1);
	received = flood(3000);
	rte_eth_stats_get(1, &in);
	check(in.imissed > 0 && received + in.imissed == 3000,
	      "a sender that heeds none: %u arrive, %" PRIu64 " are missed", received, in.imissed);
	set_pause(1, RTE_ETH_FC_NONE);
	stop_both();
}

/* IEEE 802.3, 3.2.9, in the order of the wire */
static uint32_t
fcs(const uint8_t *data, unsigned length)
{
	uint32_t crc = UINT32_MAX;

	for (unsigned i = 0; i < length * 8; i++) {
		crc ^= data[i / 8] >> i % 8 & 1u;
		crc = crc >> 1 ^ ((crc & 1) ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* BAR 0 of the first card: the driver keeps its address to itself, so it is looked up among the mappings */
static uint8_t *
registers(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t first, last, offset;
	char line[512];
	uint8_t *found = NULL;

	while (maps != NULL && found == NULL && fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, "82599") != NULL &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " ---s %" SCNx64, &first, &last, &offset) == 3 &&
		    last - first >= 0x20000)
			found = (uint8_t *)(uintptr_t)first;
	if (maps != NULL)
		fclose(maps);
	return found;
}

/* In a queue the driver has set up and does not use: one advanced descriptor (7.2.3.2.4) without IFCS */
static void
send_with_fcs(uint8_t *bar, unsigned at, struct rte_mbuf *m)
{
	const struct rte_memzone *zone = rte_memzone_lookup("eth_p0_q1_tx_ring");
	volatile uint64_t *ring = zone->addr;
	uint64_t command = 1u << 29 | 1u << 27 | 1u << 24 | 3u << 20; /* DEXT, RS, EOP, data */

	ring[2 * at] = rte_pktmbuf_iova(m);
	ring[2 * at + 1] = (uint64_t)m->pkt_len << 46 | command | m->pkt_len;
	rte_wmb();
	*(volatile uint32_t *)(bar + 0x6058) = at + 1; /* TDT[1] */
}

void
test_fcs(void)
{
	struct rte_mbuf *m, *got[2 * BURST];
	uint8_t *bar;
	uint32_t crc;
	uint16_t count;

	start(0, (struct setting){.tx_queues = 2, .tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){0});
	bar = registers();
	if (bar == NULL) {
		check(false, "the registers of card 0 are found among the mappings");
		stop_both();
		return;
	}
	m = datagram(1, 2, 3, 4, 100);
	crc = fcs(bytes(m, 0), 100);
	memcpy(rte_pktmbuf_append(m, 4), &crc, 4);
	rte_eth_stats_reset(1);
	send_with_fcs(bar, 0, m);
	count = take(0, got, 2 * BURST);
	check(count == 1 && got[0]->pkt_len == 100 && counter(1, "rx_crc_errors") == 0,
	      "a frame with the FCS of software is received");
	rte_pktmbuf_free_bulk(got, count);
	bytes(m, 0)[100] ^= 1;
	send_with_fcs(bar, 1, m);
	count = take(0, got, 2 * BURST);
	check(count == 0 && counter(1, "rx_crc_errors") == 1,
	      "with a wrong one it is counted, and not received");
	rte_pktmbuf_free_bulk(got, count);
	check(send_one(datagram(1, 2, 3, 4, 100)) && (count = take(0, got, 2 * BURST)) == 1,
	      "and what the driver sends after it is received");
	rte_pktmbuf_free_bulk(got, count);
	rte_pktmbuf_free(m);
	stop_both();
}

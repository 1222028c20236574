/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's own driver on two cards with a cable between them: what a program that uses the ethdev API gets.
 * One thread, so every outcome is exact. Prints TAP. Arguments: EAL's, then --, then the groups to
 * run (all: none).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_flow.h>
#include <rte_thash.h>

#include "test_ethdev.h"

#define RING 256

struct rte_mempool *pool;
static int tests, failures;
static double quiet_ms = 5; /* after which nothing more is expected; with write-backs that are late, longer */

void
check(bool good, const char *format, ...)
{
	va_list list;

	failures += !good;
	printf("%s %d - ", good ? "ok" : "not ok", ++tests);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
}

void
must(int err, const char *what)
{
	if (err != 0) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

void
start(uint16_t port, struct setting s)
{
	struct rte_eth_conf conf = {.rxmode = {.offloads = s.rx_offloads, .mtu = s.mtu != 0 ? s.mtu : 1500},
				    .txmode = {.offloads = s.tx_offloads},
				    .intr_conf = {.lsc = 1}};
	struct rte_eth_dev_info info;
	struct rte_eth_txconf tx;

	must(rte_eth_dev_info_get(port, &info), "device");
	tx = info.default_txconf;
	tx.offloads = s.tx_offloads;
	if (s.rss) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6;
	}
	must(rte_eth_dev_configure(port, s.rx_queues != 0 ? s.rx_queues : 1,
				   s.tx_queues != 0 ? s.tx_queues : 1, &conf),
	     "configure");
	for (uint16_t q = 0; q < (s.rx_queues != 0 ? s.rx_queues : 1); q++)
		must(rte_eth_rx_queue_setup(port, q, RING, 0, NULL, pool), "receive queue");
	for (uint16_t q = 0; q < (s.tx_queues != 0 ? s.tx_queues : 1); q++)
		must(rte_eth_tx_queue_setup(port, q, RING, 0, &tx), "transmit queue");
	must(rte_eth_dev_start(port), "start");
	rte_eth_promiscuous_enable(port);
}

void
stop_both(void)
{
	rte_eth_dev_stop(0);
	rte_eth_dev_stop(1);
}

/* A UDP datagram in a frame of some bytes without FCS, both check sums right */
struct rte_mbuf *
datagram(uint32_t source, uint32_t destination, uint16_t from, uint16_t to, uint16_t length)
{
	static const uint8_t macs[12] = {0x02, 0x82, 0x59, 0x90, 0x00, 0x01,
					 0x02, 0x82, 0x59, 0x90, 0x00, 0x00};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *data = (uint8_t *)rte_pktmbuf_append(m, length);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(data + 14);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	for (uint16_t i = 0; i < length; i++)
		data[i] = i < 42 ? 0 : (uint8_t)(i * 7);
	memcpy(data, macs, sizeof(macs));
	data[12] = 0x08;
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(length - 14);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(source);
	ip->dst_addr = rte_cpu_to_be_32(destination);
	udp->src_port = rte_cpu_to_be_16(from);
	udp->dst_port = rte_cpu_to_be_16(to);
	udp->dgram_len = rte_cpu_to_be_16(length - 34);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
	return m;
}

bool
send_one(struct rte_mbuf *m)
{
	if (rte_eth_tx_burst(0, 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/*
 * Frames until none has come for a while, for write-backs may be late. The driver's vector path
 * takes no fewer than four at a time, and gives none when asked for less.
 */
uint16_t
take(uint16_t queue, struct rte_mbuf **m, uint16_t most)
{
	double last = now_ms();
	uint16_t got = 0, part;

	while (got + BURST <= most && now_ms() - last < quiet_ms) {
		part = rte_eth_rx_burst(1, queue, m + got, BURST);
		got = (uint16_t)(got + part);
		last = part != 0 ? now_ms() : last;
	}
	return got;
}

/* Send one, take the frame that arrives; @return the frame or NULL */
struct rte_mbuf *
through(struct rte_mbuf *m, uint16_t queue)
{
	struct rte_mbuf *got[2 * BURST];
	uint16_t count = send_one(m) ? take(queue, got, 2 * BURST) : 0;

	for (uint16_t i = 1; i < count; i++)
		rte_pktmbuf_free(got[i]);
	return count != 0 ? got[0] : NULL;
}

uint8_t *
bytes(struct rte_mbuf *m, unsigned offset)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, offset);
}

static void
test_frames(void)
{
	struct rte_mbuf *m, *got[512];
	struct rte_eth_link link;
	struct rte_eth_stats out, in;
	uint8_t copy[200];
	unsigned received = 0;

	start(0, (struct setting){0});
	start(1, (struct setting){0});
	must(rte_eth_link_get(0, &link), "link");
	check(link.link_status == 1 && link.link_speed == 10000, "the link is up with 10 Gb/s");
	for (unsigned i = 0; i < 320; i++) {
		send_one(datagram(1, 2, (uint16_t)(1000 + i), 7, (uint16_t)(60 + i)));
		if (i % BURST == BURST - 1) {
			uint16_t part = take(0, got, 512);

			received += part;
			rte_pktmbuf_free_bulk(got, part);
		}
	}
	rte_eth_stats_get(0, &out);
	rte_eth_stats_get(1, &in);
	check(received == 320 && out.opackets == 320 && in.ipackets == 320,
	      "320 sent: %u received, counted %lu and %lu", received, out.opackets, in.ipackets);
	m = datagram(1, 2, 3, 4, 200);
	memcpy(copy, bytes(m, 0), sizeof(copy));
	m = through(m, 0);
	check(m != NULL && m->pkt_len == 200 && memcmp(copy, bytes(m, 0), 200) == 0,
	      "the bytes are the same");
	rte_pktmbuf_free(m);
	m = through(datagram(1, 2, 3, 4, 46), 0);
	check(m != NULL && m->pkt_len == 60, "a frame of 46 bytes is padded to 60 (%u)",
	      m != NULL ? m->pkt_len : 0);
	rte_pktmbuf_free(m);
	stop_both();
}

static void
test_overrun(void)
{
	struct rte_mbuf *got[512];
	struct rte_eth_stats in;
	unsigned received = 0;
	uint16_t part;

	start(0, (struct setting){0});
	start(1, (struct setting){0});
	rte_eth_stats_reset(1);
	for (unsigned i = 0; i < 3000; i++)
		while (!send_one(datagram(1, 2, 3, 4, 1000)))
			;
	while ((part = take(0, got, 512)) != 0) {
		received += part;
		rte_pktmbuf_free_bulk(got, part);
	}
	rte_eth_stats_get(1, &in);
	check(in.imissed > 0 && received + in.imissed == 3000,
	      "3000 for a receiver that sleeps: %u kept, %lu missed", received, in.imissed);
	stop_both();
}

static void
test_rss(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = {{.mask = ~0ull}, {.mask = ~0ull}};
	uint8_t key[40];
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = sizeof(key)};
	struct rte_mbuf *got[512];
	unsigned wrong = 0, received = 0;
	struct rte_eth_stats stats;

	start(0, (struct setting){0});
	start(1, (struct setting){.rx_queues = 4, .rss = true, .rx_offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH});
	rte_eth_dev_rss_hash_conf_get(1, &conf);
	rte_eth_dev_rss_reta_query(1, table, 128);
	rte_eth_stats_reset(1);
	for (unsigned i = 0; i < 200; i++)
		send_one(datagram(0xc6120000 + i * 7, 0xc6130000 + i, (uint16_t)(1000 + i),
				  (uint16_t)(2000 + 3 * i), 80));
	for (uint16_t q = 0; q < 4; q++) {
		uint16_t part = take(q, got, 512);

		received += part;
		for (uint16_t i = 0; i < part; i++) {
			struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)bytes(got[i], 14);
			struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
			uint32_t tuple[3] = {rte_be_to_cpu_32(ip->src_addr), rte_be_to_cpu_32(ip->dst_addr),
					     (uint32_t)rte_be_to_cpu_16(udp->src_port) << 16 |
						     rte_be_to_cpu_16(udp->dst_port)};
			uint32_t hash = rte_softrss(tuple, 3, key);

			wrong += hash != got[i]->hash.rss || table[(hash & 127) / 64].reta[hash & 63] != q;
		}
		rte_pktmbuf_free_bulk(got, part);
	}
	check(received == 200 && wrong == 0,
	      "RSS: %u of 200 received, %u with another hash or queue than software's", received, wrong);
	rte_eth_stats_get(1, &stats);
	check(stats.q_ipackets[0] == 200 && stats.q_ipackets[1] == 0,
	      "known of the driver: the frames of four queues count as those of the first, %lu and %lu",
	      (unsigned long)stats.q_ipackets[0], (unsigned long)stats.q_ipackets[1]);
	stop_both();
}

static struct rte_flow *
steer(const struct rte_flow_item *pattern, uint16_t queue, bool mark)
{
	struct rte_flow_action_queue to = {.index = queue};
	struct rte_flow_action_mark id = {.id = 77};
	struct rte_flow_action actions[3] = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to}};
	struct rte_flow_attr attr = {.ingress = 1};
	struct rte_flow_error error;

	actions[1].type = mark ? RTE_FLOW_ACTION_TYPE_MARK : RTE_FLOW_ACTION_TYPE_END;
	actions[1].conf = mark ? &id : NULL;
	actions[2].type = RTE_FLOW_ACTION_TYPE_END;
	return rte_flow_create(1, &attr, pattern, actions, &error);
}

static void
test_flows(void)
{
	struct rte_flow_item_ipv4 ip = {.hdr = {.src_addr = rte_cpu_to_be_32(1),
						.dst_addr = rte_cpu_to_be_32(2)}},
				  ip_mask = {.hdr = {.src_addr = UINT32_MAX, .dst_addr = UINT32_MAX}};
	struct rte_flow_item_udp udp = {.hdr = {.dst_port = rte_cpu_to_be_16(222)}},
				 udp_mask = {.hdr = {.src_port = UINT16_MAX, .dst_port = UINT16_MAX}};
	struct rte_flow_item five[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
				       {.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask},
				       {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask},
				       {.type = RTE_FLOW_ITEM_TYPE_END}};
	struct rte_flow_item_eth eth = {.hdr = {.ether_type = rte_cpu_to_be_16(0x88f7)}},
				 eth_mask = {.hdr = {.ether_type = UINT16_MAX}};
	struct rte_flow_item type[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &eth, .mask = &eth_mask},
				       {.type = RTE_FLOW_ITEM_TYPE_END}};
	struct rte_flow_error error;
	struct rte_flow *flow;
	struct rte_mbuf *m;

	start(0, (struct setting){0});
	start(1, (struct setting){.rx_queues = 4, .rss = true});
	for (uint16_t from = 1;; from++) { /* a flow that RSS puts elsewhere */
		m = through(datagram(1, 2, from, 222, 80), 3);
		udp.hdr.src_port = rte_cpu_to_be_16(from);
		if (m == NULL)
			break;
		rte_pktmbuf_free(m);
	}
	flow = steer(five, 3, true);
	m = flow != NULL ? through(datagram(1, 2, rte_be_to_cpu_16(udp.hdr.src_port), 222, 80), 3) : NULL;
	check(m != NULL, "flow director: a 5-tuple goes to its queue");
	check(m != NULL && !(m->ol_flags & RTE_MBUF_F_RX_FDIR_ID),
	      "the driver accepts MARK and reports none: if this changes, marks can be used");
	rte_pktmbuf_free(m);
	if (flow != NULL)
		rte_flow_destroy(1, flow, &error);
	m = through(datagram(1, 2, rte_be_to_cpu_16(udp.hdr.src_port), 222, 80), 3);
	check(m == NULL, "no longer once the filter is taken away");
	rte_pktmbuf_free(m);
	check(steer(type, 2, false) != NULL, "an EtherType filter is accepted");
	m = datagram(1, 2, 3, 4, 80);
	bytes(m, 0)[12] = 0x88;
	bytes(m, 0)[13] = 0xf7;
	m = through(m, 2);
	check(m != NULL, "EtherType 0x88f7 goes to its queue");
	rte_pktmbuf_free(m);
	rte_flow_flush(1, &error);
	stop_both();
}

/* Without an action but the queue, the driver takes one of the card's 5-tuple filters for it (7.1.2.5) */
static void
test_tuples(void)
{
	struct rte_flow_item_ipv4 ip = {.hdr = {.src_addr = rte_cpu_to_be_32(1),
						.dst_addr = rte_cpu_to_be_32(2)}},
				  ip_mask = {.hdr = {.src_addr = UINT32_MAX,
						     .dst_addr = UINT32_MAX,
						     .next_proto_id = UINT8_MAX}};
	struct rte_flow_item_udp udp = {.hdr = {.src_port = rte_cpu_to_be_16(3),
						.dst_port = rte_cpu_to_be_16(4)}},
				 udp_mask = {.hdr = {.src_port = UINT16_MAX, .dst_port = UINT16_MAX}};
	struct rte_flow_item five[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
				       {.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask},
				       {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask},
				       {.type = RTE_FLOW_ITEM_TYPE_END}};
	static const uint16_t others[][4] = {{9, 2, 3, 4}, {1, 9, 3, 4}, {1, 2, 9, 4}, {1, 2, 3, 9}};
	struct rte_flow_error error;
	struct rte_mbuf *m;
	unsigned astray = 0;

	ip.hdr.next_proto_id = IPPROTO_UDP;
	start(0, (struct setting){0});
	start(1, (struct setting){.rx_queues = 4}); /* without RSS all else is queue 0's */
	check(steer(five, 3, false) != NULL, "a 5-tuple filter is accepted");
	m = through(datagram(1, 2, 3, 4, 80), 3);
	check(m != NULL, "5-tuple filter: its datagram goes to its queue");
	rte_pktmbuf_free(m);
	for (unsigned i = 0; i < RTE_DIM(others); i++) {
		m = through(datagram(others[i][0], others[i][1], others[i][2], others[i][3], 80), 3);
		astray += m != NULL;
		rte_pktmbuf_free(m);
		m = through(datagram(others[i][0], others[i][1], others[i][2], others[i][3], 80), 0);
		astray += m == NULL;
		rte_pktmbuf_free(m);
	}
	check(astray == 0, "datagrams that differ in one part of it do not (%u astray)", astray);
	rte_flow_flush(1, &error);
	m = through(datagram(1, 2, 3, 4, 80), 0);
	check(m != NULL, "and once it is taken away its own does not either");
	rte_pktmbuf_free(m);
	stop_both();
}

static void
test_physical(void)
{
	check(rte_eal_iova_mode() == RTE_IOVA_PA, "bus addresses are physical ones");
}

static const struct {
	const char *name;
	void (*run)(void);
	bool asked; /* only if it is */
} groups[] = {
	{.name = "frames", .run = test_frames},
	{.name = "totals", .run = test_totals},
	{.name = "overrun", .run = test_overrun},
	{.name = "rss", .run = test_rss},
	{.name = "flows", .run = test_flows},
	{.name = "tuples", .run = test_tuples},
	{.name = "offloads", .run = test_offloads},
	{.name = "segments", .run = test_segments},
	{.name = "jumbo", .run = test_jumbo},
	{.name = "time", .run = test_time},
	{.name = "fcs", .run = test_fcs},
	/* paced */
	{.name = "rates", .run = test_rates, .asked = true},
	{.name = "pause", .run = test_pause, .asked = true},
	/* on huge pages */
	{.name = "physical", .run = test_physical, .asked = true},
};

static bool
is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(name, argv[i]) == 0)
			return true;
	return argc <= 1;
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);

	if (used < 0 || rte_eth_dev_count_avail() != 2) {
		printf("Bail out! there are %u ports\n", used < 0 ? 0u : rte_eth_dev_count_avail());
		return 1;
	}
	if (is_wanted("late", argc - used, argv + used) && argc - used > 1)
		quiet_ms = 300;
	pool = rte_pktmbuf_pool_create("frames", 8191, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, 0);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (is_wanted(groups[i].name, argc - used, argv + used) &&
		    (!groups[i].asked || argc - used > 1))
			groups[i].run();
	for (uint16_t port = 0; port < 2; port++)
		rte_eth_dev_close(port);
	rte_eal_cleanup();
	printf("1..%d\n", tests);
	return failures != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Check sums, segmentation, large frames and time stamps, as a program has them from DPDK's driver. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test_ethdev.h"

static bool
sums_are(const struct rte_mbuf *m, uint64_t ip, uint64_t l4)
{
	return m != NULL && (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == ip &&
	       (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == l4;
}

void
test_offloads(void)
{
	struct rte_mbuf *m;
	struct rte_ipv4_hdr *ip;
	struct rte_udp_hdr *udp;
	uint8_t copy[301];

	start(0, (struct setting){.tx_offloads =
					  RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
					  RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1,
	      (struct setting){.rx_offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_VLAN_STRIP});
	m = datagram(1, 2, 5, 6, sizeof(copy));
	memcpy(copy, bytes(m, 0), sizeof(copy));
	ip = (struct rte_ipv4_hdr *)bytes(m, 14);
	udp = (struct rte_udp_hdr *)(ip + 1);
	m->l2_len = 14;
	m->l3_len = 20;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	ip->hdr_checksum = 0;
	udp->dgram_cksum = rte_ipv4_phdr_cksum(ip, m->ol_flags);
	m = through(m, 0);
	check(m != NULL && memcmp(copy, bytes(m, 0), sizeof(copy)) == 0,
	      "check sums of the card are those of software");
	check(sums_are(m, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_GOOD),
	      "the receiver finds them good");
	rte_pktmbuf_free(m);
	m = datagram(1, 2, 3, 4, 100);
	bytes(m, 0)[60] ^= 1;
	m = through(m, 0);
	check(sums_are(m, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN),
	      "the driver never calls the sum of UDP bad: if this changes, it can be used");
	rte_pktmbuf_free(m);
	m = datagram(1, 2, 3, 4, 100);
	bytes(m, 14)[8] ^= 1;
	m = through(m, 0);
	check(m != NULL && (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD,
	      "and a damaged IPv4 header bad");
	rte_pktmbuf_free(m);
	m = datagram(1, 2, 3, 4, 100);
	m->ol_flags = RTE_MBUF_F_TX_VLAN;
	m->vlan_tci = 0x2064;
	m = through(m, 0);
	check(m != NULL && (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && m->vlan_tci == 0x2064 &&
		      m->pkt_len == 100,
	      "a VLAN tag is inserted and stripped");
	rte_pktmbuf_free(m);
	stop_both();
}

void
test_segments(void)
{
	struct rte_mbuf *m, *more, *got[2 * BURST];
	struct rte_ipv4_hdr *ip;
	struct rte_tcp_hdr *tcp;
	uint16_t count;
	unsigned wrong = 0, payload = 0;

	start(0,
	      (struct setting){.tx_offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
					      RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){.rx_offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM});
	m = datagram(1, 2, 5, 6, 1554);
	more = rte_pktmbuf_alloc(pool);
	ip = (struct rte_ipv4_hdr *)bytes(m, 14);
	tcp = (struct rte_tcp_hdr *)(ip + 1);
	for (unsigned i = 0; i < 1500; i++)
		bytes(m, 54)[i] = (uint8_t)(i * 7);
	rte_pktmbuf_append(more, 2000);
	for (unsigned i = 0; i < 2000; i++)
		bytes(more, 0)[i] = (uint8_t)((1500 + i) * 7);
	rte_pktmbuf_chain(m, more);
	memset(tcp, 0, sizeof(*tcp));
	tcp->data_off = 0x50;
	tcp->sent_seq = rte_cpu_to_be_32(1000);
	tcp->tcp_flags = RTE_TCP_PSH_FLAG | RTE_TCP_ACK_FLAG;
	ip->next_proto_id = IPPROTO_TCP;
	ip->total_length = rte_cpu_to_be_16(20 + 20 + 3500);
	ip->hdr_checksum = 0;
	m->l2_len = 14;
	m->l3_len = 20;
	m->l4_len = 20;
	m->tso_segsz = 1000;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_SEG;
	check(rte_eth_tx_prepare(0, 0, &m, 1) == 1 && send_one(m), "a segment of 3500 bytes is taken");
	count = take(0, got, 2 * BURST);
	for (uint16_t i = 0; i < count; i++) {
		struct rte_tcp_hdr *head = (struct rte_tcp_hdr *)bytes(got[i], 34);
		uint32_t offset = rte_be_to_cpu_32(head->sent_seq) - 1000;

		for (uint32_t j = 0; j < got[i]->pkt_len - 54; j++, payload++)
			wrong += bytes(got[i], 54)[j] != (uint8_t)((offset + j) * 7);
		wrong += !sums_are(got[i], RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
		wrong += ((head->tcp_flags & RTE_TCP_PSH_FLAG) != 0) != (i + 1 == count);
	}
	rte_pktmbuf_free_bulk(got, count);
	check(count == 4 && payload == 3500 && wrong == 0,
	      "it leaves as 4 segments with good sums (%u, %u bytes, %u wrong)", count, payload, wrong);
	stop_both();
}

/* A frame of several buffers, 1400 bytes and then 1500 each */
static struct rte_mbuf *
chain(unsigned buffers)
{
	struct rte_mbuf *m = datagram(1, 2, 3, 4, 1400), *more;

	for (unsigned i = 1; i < buffers; i++) {
		more = rte_pktmbuf_alloc(pool);
		memset(rte_pktmbuf_append(more, 1500), 0x55, 1500);
		rte_pktmbuf_chain(m, more);
	}
	return m;
}

void
test_jumbo(void)
{
	struct rte_mbuf *m;

	start(0, (struct setting){.mtu = 9000, .tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){.mtu = 9000,
				  .rx_offloads = RTE_ETH_RX_OFFLOAD_KEEP_CRC | RTE_ETH_RX_OFFLOAD_SCATTER});
	m = through(chain(3), 0);
	check(m != NULL && m->pkt_len == 4400 && m->nb_segs == 3,
	      "4400 bytes out of three segments, into three descriptors");
	rte_pktmbuf_free(m);
	m = through(chain(7), 0);
	check(m == NULL, "a frame above the MTU's size is not received");
	rte_pktmbuf_free(m);
	stop_both();
}

void
test_time(void)
{
	struct timespec now, then, stamp;
	struct rte_mbuf *m = datagram(1, 2, 3, 4, 80);
	double passed;
	int tx, rx;

	start(0, (struct setting){.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
	start(1, (struct setting){0});
	must(rte_eth_timesync_enable(0), "timesync");
	must(rte_eth_timesync_enable(1), "timesync");
	rte_eth_timesync_read_time(1, &then);
	usleep(50000);
	rte_eth_timesync_read_time(1, &now);
	passed = (double)(now.tv_sec - then.tv_sec) + (double)(now.tv_nsec - then.tv_nsec) / 1e9;
	check(passed >= 0.05, "the card's clock has passed %.6f s in a sleep of 0.05 s", passed);
	bytes(m, 0)[12] = 0x88;
	bytes(m, 0)[13] = 0xf7;
	bytes(m, 14)[0] = 0; /* a PTP event message of version 2 */
	bytes(m, 14)[1] = 2;
	m->ol_flags = RTE_MBUF_F_TX_IEEE1588_TMST;
	rte_eth_timesync_read_time(1, &then);
	m = through(m, 0);
	check(m != NULL, "a PTP message is received");
	rte_pktmbuf_free(m);
	rx = rte_eth_timesync_read_rx_timestamp(1, &stamp, 0);
	passed = (double)(stamp.tv_sec - then.tv_sec) + (double)(stamp.tv_nsec - then.tv_nsec) / 1e9;
	check(rx == 0 && passed >= 0 && passed < 1, "its receive stamp is %.1f us after the clock was read",
	      passed * 1e6);
	check(rte_eth_timesync_read_rx_timestamp(1, &stamp, 0) != 0, "it is read once");
	tx = rte_eth_timesync_read_tx_timestamp(0, &stamp);
	check(tx != 0, "Debian's driver takes no transmit stamps: if this changes, they can be used");
	rte_eth_timesync_disable(0);
	rte_eth_timesync_disable(1);
	stop_both();
}

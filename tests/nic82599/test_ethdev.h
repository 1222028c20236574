/* SPDX-License-Identifier: BSD-3-Clause */
/* What the groups of tests share: ports, frames, and the lines of TAP. One thread, so it needs no care. */
#ifndef TEST_ETHDEV_H
#define TEST_ETHDEV_H

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define BURST 32

extern struct rte_mempool *pool;

struct setting {
	uint16_t rx_queues, tx_queues, mtu;
	uint64_t rx_offloads, tx_offloads;
	bool rss;
};

void check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void must(int err, const char *what);
void start(uint16_t port, struct setting s);
void stop_both(void);
struct rte_mbuf *datagram(uint32_t source, uint32_t destination, uint16_t from, uint16_t to, uint16_t length);
bool send_one(struct rte_mbuf *m);
uint16_t take(uint16_t queue, struct rte_mbuf **m, uint16_t most);
struct rte_mbuf *through(struct rte_mbuf *m, uint16_t queue);
uint8_t *bytes(struct rte_mbuf *m, unsigned offset);

void test_totals(void);
void test_offloads(void);
void test_segments(void);
void test_jumbo(void);
void test_time(void);
void test_fcs(void);
void test_rates(void);
void test_pause(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memif [EAL ARGUMENT...]: the device between the first two ports that EAL makes, which are memif servers. A
 * frame arrives when this process sees it; how long it did not look before stands in the ledger.
 */
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "device.h"

enum { BURST = 64, RING = 4096, BUFFERS = 32767 };

static struct rte_mempool *pool;

static void
start(uint16_t port)
{
	struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(port, 0, RING, (unsigned)SOCKET_ID_ANY, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(port, 0, RING, (unsigned)SOCKET_ID_ANY, NULL) != 0 ||
	    rte_eth_dev_start(port) != 0) {
		fprintf(stderr, "port %u does not start\n", port);
		exit(1);
	}
}

static void
receive(struct noise_device *d, uint16_t port, uint64_t now, uint64_t gap)
{
	struct rte_mbuf *frames[BURST];
	uint16_t n;

	do {
		n = rte_eth_rx_burst(port, 0, frames, BURST);
		for (uint16_t i = 0; i < n; i++)
			noise_device_take(d, port, rte_pktmbuf_mtod(frames[i], uint8_t *), frames[i]->pkt_len,
					  now, gap);
		rte_pktmbuf_free_bulk(frames, n);
	} while (n == BURST);
}

static void
forward(struct noise_device *d, uint16_t port, uint64_t now)
{
	struct noise_slot *s;

	while ((s = noise_device_next(d, port, now)) != NULL) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (m != NULL) {
			memcpy(rte_pktmbuf_append(m, s->length), s->frame, s->length);
			if (rte_eth_tx_burst(1 - port, 0, &m, 1) == 1)
				continue;
			rte_pktmbuf_free(m);
		}
		if (s->stream != NULL)
			s->stream->overflow++;
	}
}

int
main(int argc, char **argv)
{
	static struct noise_device device;
	uint64_t now, last;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("frames", BUFFERS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_count_avail() != NOISE_SIDES)
		return 1;
	noise_device_open(&device);
	for (uint16_t i = 0; i < NOISE_SIDES; i++)
		start(i);
	puts("ready");
	fflush(stdout);
	for (last = noise_now(); !noise_ends; last = now) {
		now = noise_now();
		for (uint16_t i = 0; i < NOISE_SIDES; i++) {
			receive(&device, i, now, now - last);
			forward(&device, i, now);
		}
	}
	noise_device_close(&device);
	_exit(0); /* without the driver's goodbye: 22.11's crashes now and then when both sides end at once */
}

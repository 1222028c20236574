/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the driver's totals are when more frames have gone by than a counter of the card can hold. Those have
 * 32 bits, are cleared when they are read, and stop at their last value until then: the driver adds up what
 * it reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "test_ethdev.h"

enum { PATIENCE_MS = 5000 };

/* An order for the model, through its pipe; carried out within a millisecond or so */
static void
order(const char *text)
{
	char path[256] = "";
	const char *at = strstr(getenv("NIC82599"), "control=");
	FILE *pipe;

	if (at == NULL || sscanf(at, "control=%255[^,]", path) != 1 || (pipe = fopen(path, "w")) == NULL) {
		must(-1, "there is no pipe for orders");
		return;
	}
	fputs(text, pipe);
	fclose(pipe);
}

void
test_totals(void)
{
	const uint64_t before = UINT32_MAX - 100;
	struct rte_eth_stats out = {0}, in = {0};
	struct rte_mbuf *got[512];
	unsigned received = 0;

	start(0, (struct setting){0});
	start(1, (struct setting){0});
	rte_eth_stats_reset(0);
	rte_eth_stats_reset(1);
	order("count 0 tx 4294967195\ncount 1 rx 4294967195\n");
	for (unsigned i = 0; i < PATIENCE_MS && (in.ipackets == 0 || out.opackets == 0); i++) {
		rte_delay_ms(1);
		rte_eth_stats_get(0, &out);
		rte_eth_stats_get(1, &in);
	}
	check(out.opackets == before && in.ipackets == before, "totals just below 32 bits: %lu and %lu",
	      out.opackets, in.ipackets);
	for (unsigned i = 0; i < 1024; i++) {
		send_one(datagram(1, 2, 3, 4, 80));
		if (i % BURST == BURST - 1) {
			uint16_t part = take(0, got, 512);

			received += part;
			rte_pktmbuf_free_bulk(got, part);
			rte_eth_stats_get(0, &out);
			rte_eth_stats_get(1, &in);
			if (out.opackets != before + i + 1 || in.ipackets != before + i + 1)
				break;
		}
	}
	check(received == 1024 && out.opackets == before + 1024 && in.ipackets == before + 1024,
	      "and beyond, frame by frame: %u more received, %lu and %lu", received, out.opackets,
	      in.ipackets);
	stop_both();
}

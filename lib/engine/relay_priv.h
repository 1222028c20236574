/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RELAY_PRIV_H
#define RELAY_PRIV_H

#include <pcap/pcap.h>

#include "engine_priv.h"
#include "fg_delay_line.h"
#include "fg_relay.h"
#include "fg_shaper.h"

enum { RELAY_COUNTERS = sizeof(struct fg_relay_counters) / sizeof(uint64_t) };

/** One way. Everything here is written by its lcore only. */
struct way {
	struct fg_task task;
	struct fg_port *from, *to;
	const struct clock *clock;
	struct fg_impair impair;
	struct fg_delay_line line;
	struct fg_shaper shaper;
	bool shapes, reflects, restamps;
	uint64_t delay;            /* ticks */
	struct bpf_program filter; /* without instructions: what has a signature */
	struct fg_host host;
	struct rte_mbuf *pending[BURST]; /* due, and next to be sent */
	unsigned sent, pendings;         /* of them */
	struct fg_relay_counters counters;
	_Atomic uint64_t published[RELAY_COUNTERS]; /* in their order */
} __rte_cache_aligned;

/** The loop for a way: does it only pass on what it has, or are there delays, a rate, or faults? */
uint64_t way_poll_plain(struct fg_task *task, uint64_t now);
uint64_t way_poll_impaired(struct fg_task *task, uint64_t now);
void way_publish(struct fg_task *task);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* One way of the relay: relay_way.c runs it on an lcore, relay.c makes it and reads its counters. */

#include <stdatomic.h>

#include <pcap/pcap.h>

#include "fg_burst.h"
#include "fg_lcore.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_relay.h"
#include "fg_shaper.h"

/** One way. Everything here is written by its lcore only. */
struct way {
	struct fg_task task;
	struct fg_port *from, *to;
	const struct fg_clock *clock;
	struct fg_path path;
	struct fg_delay_line line;
	struct fg_shaper shaper;
	bool shapes, reflects, restamps;
	uint32_t longest;             /* bytes without FCS and tag that both ports send; UINT32_MAX: any */
	bool completes;               /* checksums that a sender left to a NIC */
	uint64_t delay;               /* ticks */
	struct bpf_program filter;    /* without instructions: what has a signature */
	struct fg_oam_reflector *oam; /* or NULL */
	struct fg_host host;
	struct rte_mbuf *pending[FG_BURST]; /* due, and next to be sent */
	unsigned sent, pendings;            /* of them */
	uint64_t late;                      /* from when a frame was due, ticks; the most */
	_Atomic uint64_t published_late;    /* the same, with what frames waited to be fetched */
	struct fg_relay_counters counters;
#define ATOMIC_FIELD(name, text) _Atomic uint64_t name;
	struct {
		FG_RELAY_COUNTERS(ATOMIC_FIELD)
	} published; /* copies for the control thread */
} __rte_cache_aligned;

/** The loop for a way: does it only pass on what it has, or are there delays, a rate, or faults? */
extern const struct fg_path_frames way_frames;
uint64_t way_poll_plain(struct fg_task *task, uint64_t now);
uint64_t way_poll_impaired(struct fg_task *task, uint64_t now);
void way_publish(struct fg_task *task, uint64_t now);

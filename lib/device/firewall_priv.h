/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The firewall's decision on each frame; see fg_firewall.h. No DPDK: guard.c handles the buffers. Written by
 * the lcore that polls the ports.
 */
#include <stddef.h>

#include "fg_error.h"
#include "fg_firewall.h"

struct firewall;

enum firewall_verdict {
	FIREWALL_PASS,
	FIREWALL_DROP,
	FIREWALL_REFUSE, /* lost, and answered by RST */
	FIREWALL_RESET,  /* replaced by RST, to both ends */
};

int firewall_create(const struct fg_firewall_config *config, struct firewall **out, struct fg_error *err);
void firewall_free(struct firewall *firewall);
void firewall_reset(struct firewall *firewall);
void firewall_counters(const struct firewall *firewall, struct fg_firewall_counters *out);

/**
 * Decide on a frame that came in on @p side.
 * @param at  in: departure without the firewall; out: with it, ps
 */
enum firewall_verdict firewall_pass(struct firewall *firewall, unsigned side, const uint8_t *frame,
				    size_t length, uint64_t *at);

/**
 * Turn a TCP segment into the RST that ends its connection, in place.
 * @param back  towards the segment's sender (RFC 9293, 3.10.7.1); else towards its receiver
 * @return bytes of the frame without FCS
 */
size_t firewall_rst(uint8_t *frame, size_t length, bool back);

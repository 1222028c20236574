/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The firewall as the wire asks it, frame by frame; see fg_firewall.h. No DPDK: what becomes of buffers is
 * guard.c's. Written by the lcore that polls the ports.
 */
#include <stddef.h>

#include "fg_error.h"
#include "fg_firewall.h"

struct firewall;

enum firewall_verdict {
	FIREWALL_PASS,
	FIREWALL_DROP,
	FIREWALL_REFUSE, /* lost, and answered by RST */
	FIREWALL_RESET,  /* RST goes on in its place, and back */
};

int firewall_create(const struct fg_firewall_config *config, struct firewall **out, struct fg_error *err);
void firewall_free(struct firewall *firewall);
void firewall_reset(struct firewall *firewall);
void firewall_counters(const struct firewall *firewall, struct fg_firewall_counters *out);

/**
 * What becomes of a frame that came in on @p side.
 * @param at  in: when it would leave the device; out: when it does, ps
 */
enum firewall_verdict firewall_pass(struct firewall *firewall, unsigned side, const uint8_t *frame,
				    size_t length, uint64_t *at);

/**
 * Make a segment of TCP the RST that ends its connection, in place.
 * @param back  it goes back to where the segment came from (RFC 9293, 3.10.7.1); else on
 * @return bytes of the frame without FCS
 */
size_t firewall_rst(uint8_t *frame, size_t length, bool back);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The NAT's translation of each frame; see fg_nat.h. No DPDK. Written by the lcore that polls the ports.
 */
#include <stddef.h>

#include "fg_error.h"
#include "fg_nat.h"

struct nat;

enum nat_verdict { NAT_UNTOUCHED, NAT_TRANSLATED, NAT_DROP };

/** @param outside  its own address on the side of port 1; inside: on the side of port 0 */
int nat_create(const struct fg_nat_config *config, const uint8_t inside[4], const uint8_t outside[4],
	       struct nat **out, struct fg_error *err);
void nat_free(struct nat *nat);
void nat_reset(struct nat *nat);
void nat_counters(const struct nat *nat, struct fg_nat_counters *out);

/**
 * Clear all sessions, the one idle longest first, from @p now on.
 * @return how long it takes, ps
 */
uint64_t nat_clear(struct nat *nat, uint64_t now);

/**
 * Translate a frame that came in on @p side, in place.
 * @param at  in: reception; out: end of translation, ps
 */
enum nat_verdict nat_pass(struct nat *nat, unsigned side, uint8_t *frame, size_t length, uint64_t *at);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"
#include "fg_profile.h"

__BEGIN_DECLS

/*
 * The two token buckets of a bandwidth profile. All arithmetic is in whole numbers, with times in
 * picoseconds, so that a decision at the edge is the same on every machine and after any time.
 */

/** The state of one profile. Plain memory, one writer; only fg_meter_*() write it. */
struct fg_meter {
	struct fg_meter_config config;
	uint64_t time;     /* of the last frame, ps */
	fg_u128 committed; /* tokens: 10^12 a bit, so that rate times ps is a whole number of them */
	fg_u128 excess;
	fg_u128 committed_size;
	fg_u128 excess_size;
};

/** Full buckets at time 0. @return 0, or -ERANGE: a rate or size is too large, or PIR below CIR (RFC 2698) */
int fg_meter_init(struct fg_meter *meter, const struct fg_meter_config *config, struct fg_error *err);

/** Full buckets at time 0 again. */
void fg_meter_reset(struct fg_meter *meter);

/**
 * The colour of a frame. It is red when the profile does not let it pass.
 *
 * @param time    ps; where it lies before the previous frame's time, that time is taken
 * @param octets  with FCS
 * @param comes   the colour it comes with; without meaning to a colour-blind meter
 */
enum fg_colour fg_meter_colour(struct fg_meter *meter, uint64_t time, uint32_t octets, enum fg_colour comes);

/**
 * The first time from @p from on at which a green frame would find its committed tokens. Changes nothing.
 * @return ps; UINT64_MAX when the bucket never holds that many
 */
uint64_t fg_meter_when(const struct fg_meter *meter, uint64_t from, uint32_t octets);

__END_DECLS

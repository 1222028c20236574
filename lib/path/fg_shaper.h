/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"

__BEGIN_DECLS

/*
 * A token-bucket shaper with a bounded queue before it: frames without tokens wait. A frame needs one token
 * per byte; a frame longer than the bucket waits until the bucket is full and leaves a debt. One direction,
 * one writer.
 */
struct fg_shaper {
	fg_u128 octet;  /* time of one, ticks with 64 bits of fraction */
	fg_u128 bucket; /* the time in which an empty bucket fills */
	fg_u128 queue;  /* the longest wait that the queue allows */
	fg_u128 full;   /* when the bucket is full again */
	fg_u128 last;   /* departure of the frame before */
};

/**
 * @param bps     bytes of frames times 8, per second
 * @param bucket  bytes
 * @param queue   bytes that may wait; of the head frame only bytes without tokens count
 * @param hz      ticks per second
 * @return        0 or -EINVAL
 */
int fg_shaper_init(struct fg_shaper *shaper, double bps, uint64_t bucket, uint64_t queue, uint64_t hz,
		   struct fg_error *err);

/** Fill the bucket, empty the queue. */
void fg_shaper_reset(struct fg_shaper *shaper);

/**
 * A frame of @p bytes enters at @p now, ticks, which never decreases.
 * @return its departure, rounded up to a tick; UINT64_MAX: lost, the queue is full
 */
uint64_t fg_shaper_pass(struct fg_shaper *shaper, uint64_t now, uint32_t octets);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state is the time at which the bucket will be full, so no periodic refill is needed. The bucket holds s
 * bytes at that time minus the fill time of the rest; a frame leaves at the last of that moment, its arrival,
 * and the departure of the frame before.
 */
#include <errno.h>

#include "fg_shaper.h"

static const double MIN_BPS = 1e3, MAX_BPS = 1e12;
static const uint64_t MAX_OCTETS = 1ULL << 32;
static const long double MAX_TICKS = 0x1p62L;

int
fg_shaper_init(struct fg_shaper *s, double bps, uint64_t bucket, uint64_t queue, uint64_t hz,
	       struct fg_error *err)
{
	long double octet = 8.0L * (long double)hz / bps;

	if (!(bps >= MIN_BPS && bps <= MAX_BPS))
		return fg_error_set(err, EINVAL, "rate", "%g bit/s is not in 1 kbit/s to 1 Tbit/s", bps);
	if (bucket > MAX_OCTETS || octet * (long double)bucket > MAX_TICKS)
		return fg_error_set(err, EINVAL, "burst", "too much for %g bit/s", bps);
	if (queue > MAX_OCTETS || octet * (long double)queue > MAX_TICKS)
		return fg_error_set(err, EINVAL, "queue", "too long for %g bit/s", bps);
	s->octet = (fg_u128)(uint64_t)octet << 64;
	s->octet += (uint64_t)((octet - (long double)(uint64_t)octet) * 0x1p64L);
	s->bucket = s->octet * bucket;
	s->queue = s->octet * queue;
	fg_shaper_reset(s);
	return 0;
}

void
fg_shaper_reset(struct fg_shaper *s)
{
	s->full = s->last = 0;
}

uint64_t
fg_shaper_pass(struct fg_shaper *s, uint64_t now, uint32_t octets)
{
	fg_u128 time = (fg_u128)now << 64, need = s->octet * octets, at = time;

	if (at < s->last)
		at = s->last;
	if (at + s->bucket < s->full + need)
		at = s->full + need - s->bucket;
	if (at - time > s->queue)
		return UINT64_MAX;
	s->last = at;
	s->full = (at > s->full ? at : s->full) + need;
	return (uint64_t)(at >> 64) + ((uint64_t)at > 0);
}

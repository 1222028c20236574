/* SPDX-License-Identifier: BSD-3-Clause */
/* Time stamps and error estimates of OAM packets (RFC 5905, RFC 8186, RFC 4656). */
#include <math.h>

#include "fg_int128.h"
#include "fg_oam.h"

enum { SCALES = 64, MULTIPLIERS = 255 };
static const int64_t NS_PER_S = 1000000000, EPOCH_S = 2208988800; /* from 1900 to 1970 */

/* no clock shows a time before 1970; it stays a number */
static uint64_t
whole_seconds(int64_t ns, uint64_t *rest)
{
	uint64_t of = ns < 0 ? 0 : (uint64_t)ns;

	*rest = of % (uint64_t)NS_PER_S;
	return of / (uint64_t)NS_PER_S;
}

uint64_t
fg_oam_to_ntp(int64_t unix_ns)
{
	uint64_t rest, seconds = whole_seconds(unix_ns, &rest);

	return (seconds + (uint64_t)EPOCH_S) << 32 | (rest << 32) / (uint64_t)NS_PER_S;
}

int64_t
fg_oam_from_ntp(uint64_t ntp)
{
	int64_t fraction = (int64_t)(((ntp & UINT32_MAX) * (uint64_t)NS_PER_S + UINT32_MAX) >> 32);

	return ((int64_t)(ntp >> 32) - EPOCH_S) * NS_PER_S + fraction;
}

uint64_t
fg_oam_to_ptp(int64_t unix_ns)
{
	uint64_t rest, seconds = whole_seconds(unix_ns, &rest);

	return seconds << 32 | rest;
}

int64_t
fg_oam_from_ptp(uint64_t ptp)
{
	return (int64_t)(ptp >> 32) * NS_PER_S + (int64_t)(ptp & UINT32_MAX);
}

uint16_t
fg_oam_estimate(double error_ns, unsigned flags)
{
	double units = error_ns * 1e-9 * 0x1p32;
	unsigned scale = 0;

	while (scale < SCALES - 1 && ceil(ldexp(units, -(int)scale)) > MULTIPLIERS)
		scale++;
	return (uint16_t)(flags | scale << 8 |
			  (unsigned)fmin(fmax(ceil(ldexp(units, -(int)scale)), 1), MULTIPLIERS));
}

double
fg_oam_estimate_ns(uint16_t estimate)
{
	return ldexp(estimate & 0xff, (int)(estimate >> 8 & 0x3f) - 32) * 1e9;
}

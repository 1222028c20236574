/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delays by their distributions: a random number in [0, 1) through the inverse of the distribution function,
 * or for the normal one two of them by Box and Muller's formula.
 */
#include <math.h>

#include "path_priv.h"

/* in [0, 1), all 53 bits of it */
static double
uniform(uint64_t *state)
{
	return (double)(fg_random_next(state) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *state)
{
	double radius = sqrt(-2 * log1p(-uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

static double
draw(struct fg_impair *im)
{
	uint64_t *state = &im->jitter_random;

	switch (im->config.jitter) {
	case FG_JITTER_NORMAL:
		return im->mean + im->deviation * normal(state);
	case FG_JITTER_EXPONENTIAL:
		return -im->mean * log1p(-uniform(state));
	case FG_JITTER_PARETO:
		/* 1 - (1 + x / scale)^-shape with the mean scale / (shape - 1) */
		return im->mean * (im->config.jitter_shape - 1) *
		       (pow(1 - uniform(state), -1 / im->config.jitter_shape) - 1);
	default:
		return 2 * im->mean * uniform(state);
	}
}

uint64_t
impair_jitter(struct fg_impair *im)
{
	double ticks = draw(im);

	return ticks <= 0 ? 0 : (uint64_t)fmin(ticks, im->max);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latencies span from hundreds of nanoseconds to seconds, and their tail is what people ask for, so neither
 * bins of equal width nor a sample will do. The layout is HdrHistogram's: bins are as wide as 2/S of
 * the values they hold, so that a percentile is right to d digits wherever it lies. With S a power of two, a
 * value's bin is a count of leading zeros, a shift and an addition.
 *
 *   octave 0 holds 0 .. S-1, a bin for each value
 *   octave k holds S*2^(k-1) .. S*2^k-1 in S/2 bins of 2^k values
 *   bin(v) = k*S/2 + (v >> k)
 *
 * What a bin cannot give exactly (minimum, maximum, sum) is kept beside them.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fg_histogram.h"

/* counters beside the bins: above the range, below 0 */
#define EXTRA 2

static unsigned
layout_bits(unsigned digits)
{
	static const unsigned bits[] = {5, 8, 11}; /* the next powers of two above 2 * 10^digits */

	return bits[digits - 1];
}

uint32_t
fg_histogram_bins(unsigned digits, uint64_t highest)
{
	unsigned bits, octaves = 1;

	if (digits < 1 || digits > 3 || highest == 0 || highest > INT64_MAX)
		return 0;
	bits = layout_bits(digits);
	while (highest >> (bits + octaves - 1) != 0)
		octaves++;
	return (octaves + 1) << (bits - 1);
}

size_t
fg_histogram_size(unsigned digits, uint64_t highest)
{
	uint32_t bins = fg_histogram_bins(digits, highest);
	size_t size = sizeof(struct fg_histogram) + (bins + (size_t)EXTRA) * sizeof(uint64_t);

	return bins == 0 ? 0 : (size + 63) & ~(size_t)63;
}

static void
forget(struct fg_histogram *h)
{
	h->count = 0;
	h->sum = 0;
	h->min = UINT64_MAX;
	h->max = 0;
}

int
fg_histogram_init(struct fg_histogram *h, unsigned digits, uint64_t highest, struct fg_error *err)
{
	uint32_t bins = fg_histogram_bins(digits, highest);

	if (bins == 0)
		return fg_error_set(err, EINVAL, "histogram",
				    "%u digits up to %" PRIu64
				    " is not possible: 1 to 3 digits, up to 2^63 - 1",
				    digits, highest);
	h->bins = bins;
	h->bits = layout_bits(digits);
	memset(h->counts, 0, (h->bins + (size_t)EXTRA) * sizeof(h->counts[0]));
	forget(h);
	return 0;
}

struct fg_histogram *
fg_histogram_create(unsigned digits, uint64_t highest, struct fg_error *err)
{
	size_t size = fg_histogram_size(digits, highest);
	struct fg_histogram *h = aligned_alloc(64, size == 0 ? 64 : size);

	if (h == NULL) {
		fg_error_set(err, ENOMEM, "histogram", "no memory for %zu bytes", size);
		return NULL;
	}
	if (fg_histogram_init(h, digits, highest, err) != 0) {
		free(h);
		return NULL;
	}
	return h;
}

void
fg_histogram_free(struct fg_histogram *h)
{
	free(h);
}

void
fg_histogram_reset(struct fg_histogram *h)
{
	uint32_t from = fg_histogram_bin(h, h->min), to = fg_histogram_bin(h, h->max);

	/* only where there is anything; below the range lies bin 0, above it the last counters */
	if (h->count > 0)
		memset(&h->counts[from], 0, (to - from + 1) * sizeof(h->counts[0]));
	memset(&h->counts[h->bins], 0, EXTRA * sizeof(h->counts[0]));
	forget(h);
}

int
fg_histogram_merge(struct fg_histogram *into, const struct fg_histogram *from, struct fg_error *err)
{
	if (into->bins != from->bins || into->bits != from->bits)
		return fg_error_set(err, EINVAL, "histogram",
				    "%" PRIu32 " bins cannot take in %" PRIu32 " bins of another layout",
				    into->bins, from->bins);
	for (size_t i = 0; i < into->bins + (size_t)EXTRA; i++)
		into->counts[i] += from->counts[i];
	into->count += from->count;
	into->sum += from->sum;
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
	return 0;
}

/*
 * The smallest rank whose share of the values is p or more. The product p * count alone may land on the wrong
 * side of a whole number (0.999 * 1000 must give 999); the quotient is rounded as the literal p was, so it
 * decides.
 */
uint64_t
fg_histogram_rank(uint64_t count, double p)
{
	uint64_t rank = (uint64_t)ceil(p * (double)count);

	if (rank > 1 && (double)(rank - 1) / (double)count >= p)
		return rank - 1;
	return (double)rank / (double)count >= p ? rank : rank + 1;
}

uint64_t
fg_histogram_at(const struct fg_histogram *h, uint64_t rank)
{
	uint64_t below = fg_histogram_negative(h);

	for (uint32_t bin = fg_histogram_bin(h, fg_histogram_min(h)); bin < h->bins; bin++) {
		below += h->counts[bin];
		if (below >= rank) {
			uint64_t top = fg_histogram_bin_top(h, bin);

			return top < h->max ? top : h->max;
		}
	}
	return h->max;
}

uint64_t
fg_histogram_percentile(const struct fg_histogram *h, double p)
{
	if (h->count == 0)
		return 0;
	if (!(p > 0))
		return h->min;
	if (p >= 1)
		return h->max;
	return fg_histogram_at(h, fg_histogram_rank(h->count, p));
}

static uint64_t
look(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

/* what is counted while we sum only adds to the bins, so the rank is found */
uint64_t
fg_histogram_glance(const struct fg_histogram *h, double p)
{
	uint64_t count = look(&h->count), below = look(&h->counts[h->bins + 1]), rank;

	if (count == 0)
		return 0;
	rank = fg_histogram_rank(count, p);
	for (uint32_t bin = 0; bin < h->bins; bin++) {
		below += look(&h->counts[bin]);
		if (below >= rank) {
			uint64_t top = fg_histogram_bin_top(h, bin), most = look(&h->max);

			return top < most ? top : most;
		}
	}
	return look(&h->max);
}

void
fg_histogram_cumulate(const struct fg_histogram *h, const uint64_t *bounds, unsigned n, uint64_t *counts)
{
	uint64_t below = look(&h->counts[h->bins + 1]), all;
	unsigned bound = 0;

	for (uint32_t bin = 0; bin < h->bins && bound < n; bin++) {
		uint64_t top = fg_histogram_bin_top(h, bin);

		while (bound < n && bounds[bound] < top)
			counts[bound++] += below;
		below += look(&h->counts[bin]);
	}
	while (bound < n)
		counts[bound++] += below;
	/* at least as many as below the last bound, though they are counted while we look */
	all = look(&h->count);
	counts[n] += all > below ? all : below;
}

double
fg_histogram_mean(const struct fg_histogram *h)
{
	return h->count == 0 ? 0 : (double)h->sum / (double)h->count;
}

double
fg_histogram_error(const struct fg_histogram *h)
{
	return ldexp(2, -(int)h->bits);
}

uint64_t
fg_histogram_bin_top(const struct fg_histogram *h, uint32_t bin)
{
	uint32_t half = 1U << (h->bits - 1);
	uint32_t octave = bin < 2 * half ? 0 : bin / half - 1;

	return (((uint64_t)bin - (uint64_t)octave * half + 1) << octave) - 1;
}

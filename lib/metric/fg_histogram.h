/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"

__BEGIN_DECLS

/**
 * A histogram with a bounded relative error (the layout of HdrHistogram), for latencies above all.
 *
 * Values are integers in a unit of the caller's choice; Framegauge uses nanoseconds. With d significant
 * digits, S = 2^ceil(log2(2 * 10^d)): values below S have a bin each, and from there on every octave has S/2
 * bins, so that no bin is wider than 2/S of its lowest value. Memory is fixed: nothing is sampled, nothing is
 * dropped.
 *
 * The fields may be read but only fg_histogram_*() write them. One writer, no locks: read after the writer
 * has stopped, or read a copy that the writer made, or take a glance with fg_histogram_glance().
 */
struct fg_histogram {
	uint64_t count;    /* every value recorded, below and above the range included */
	uint32_t bins;     /* (octaves + 1) * S/2 */
	uint32_t bits;     /* log2 S */
	fg_u128 sum;       /* exact; of negative values 0 enters */
	uint64_t min;      /* exact; read it with fg_histogram_min() */
	uint64_t max;      /* exact; 0 while empty */
	uint64_t counts[]; /* the bins, then the values above the range, then those below 0 */
} __attribute__((aligned(64)));

/** Bins of a histogram, as fg_histogram_size() takes it; 0 when fg_histogram_init() would reject it. */
uint32_t fg_histogram_bins(unsigned digits, uint64_t highest);

/**
 * Bytes that a histogram takes, for callers that bring their own memory (on the lcore's NUMA node).
 *
 * @param digits   significant digits, 1 to 3
 * @param highest  largest value to tell apart, at least 1; the range is extended to the end of its octave
 * @return         a multiple of 64 (3 digits up to 1 s: 172 kB, 2 digits: 25 kB, 1: 3.4 kB); 0 when
 *                 fg_histogram_init() would reject it
 */
size_t fg_histogram_size(unsigned digits, uint64_t highest);

/**
 * Make an empty histogram of fg_histogram_size() bytes of memory aligned to 64.
 *
 * @return 0, or -EINVAL: digits is not 1 to 3, highest is 0 or above INT64_MAX
 */
int fg_histogram_init(struct fg_histogram *h, unsigned digits, uint64_t highest, struct fg_error *err);

/** fg_histogram_init() on memory of its own. @return NULL with @p err filled if rejected or out of memory */
struct fg_histogram *fg_histogram_create(unsigned digits, uint64_t highest, struct fg_error *err);
void fg_histogram_free(struct fg_histogram *h);

/** Forget all values; the layout stays. */
void fg_histogram_reset(struct fg_histogram *h);

/**
 * Add every value of @p from to @p into, as if all had been recorded there: nothing is lost, minimum, maximum
 * and sums included.
 *
 * @return 0, or -EINVAL: the layouts differ and @p into is unchanged
 */
int fg_histogram_merge(struct fg_histogram *into, const struct fg_histogram *from, struct fg_error *err);

/**
 * The smallest x with F(x) >= p (RFC 2330, 11.3), F being the share of values not above x.
 *
 * The top of the bin that holds it is returned, but never more than the exact maximum: at most
 * fg_histogram_error() too high, never too low. Where it lies above the range, the exact maximum is returned.
 *
 * @param p  0.999 for the 99.9th percentile; 0 and below gives the minimum, 1 and above the maximum
 * @return   0 while the histogram is empty
 */
uint64_t fg_histogram_percentile(const struct fg_histogram *h, double p);

/**
 * fg_histogram_percentile() while another thread records: of the values up to some moment just now, one or
 * the other of the very last left out. It costs the writer nothing but the cache lines that are read.
 */
uint64_t fg_histogram_glance(const struct fg_histogram *h, double p);

/**
 * Add to @p counts how many values do not exceed each of @p n ascending bounds, and to counts[n] how many
 * there are; while another thread records, of some moment just now. A value in the same bin as a bound counts
 * as above it.
 */
void fg_histogram_cumulate(const struct fg_histogram *h, const uint64_t *bounds, unsigned n,
			   uint64_t *counts);

/** The smallest rank r, from 1, of @p count values for which r / count >= p; 0 < p < 1, count > 0 */
uint64_t fg_histogram_rank(uint64_t count, double p);

/** The value of rank @p rank (1: the smallest .. count), rounded as fg_histogram_percentile() does. */
uint64_t fg_histogram_at(const struct fg_histogram *h, uint64_t rank);

/** @return arithmetic mean, exact but for the conversion to double; 0 while empty */
double fg_histogram_mean(const struct fg_histogram *h);

/** @return the relative error bound of percentiles, 2/S: 0.063 for 1 digit, 0.0078 for 2, 0.00098 for 3 */
double fg_histogram_error(const struct fg_histogram *h);

/** @return the largest value that falls into bin @p bin (0 .. bins - 1) */
uint64_t fg_histogram_bin_top(const struct fg_histogram *h, uint32_t bin);

/** @return exact minimum; 0 while empty or once a negative value came */
static inline uint64_t
fg_histogram_min(const struct fg_histogram *h)
{
	return h->count == 0 ? 0 : h->min;
}

/** @return values below 0, which were taken as 0: a sign of a wrong calibration or of clocks that disagree */
static inline uint64_t
fg_histogram_negative(const struct fg_histogram *h)
{
	return h->counts[h->bins + 1];
}

/** @return the bin of @p value, or h->bins when it lies above the range */
static inline uint32_t
fg_histogram_bin(const struct fg_histogram *h, uint64_t value)
{
	/* 63 ^ clz is log2, rounded down; with the low bits set, all of the first S values are octave 0 */
	uint32_t octave = (63 ^ (uint32_t)__builtin_clzll(value | ((1ULL << h->bits) - 1))) + 1 - h->bits;
	uint64_t bin = ((uint64_t)octave << (h->bits - 1)) + (value >> octave);

	return bin < h->bins ? (uint32_t)bin : h->bins;
}

/** Prefetch the memory for a later fg_histogram_record() of @p value. */
static inline void
fg_histogram_prefetch(const struct fg_histogram *h, int64_t value)
{
	__builtin_prefetch(&h->counts[fg_histogram_bin(h, value < 0 ? 0 : (uint64_t)value)], 1);
}

/**
 * Record one value. Touches the header's line and one counter; only a new extreme leaves the straight path.
 *
 * @param value  negative values are counted apart and taken as 0
 */
static inline void
fg_histogram_record(struct fg_histogram *h, int64_t value)
{
	uint64_t v = value < 0 ? 0 : (uint64_t)value;
	uint32_t bin = fg_histogram_bin(h, v) + (value < 0 ? h->bins + 1 : 0);

	h->counts[bin]++;
	h->count++;
	h->sum += v;
	if (__builtin_expect(v < h->min, 0))
		h->min = v;
	if (__builtin_expect(v > h->max, 0))
		h->max = v;
}

/** Record @p n values: as fg_histogram_record() of each. */
static inline void
fg_histogram_record_all(struct fg_histogram *h, const uint32_t *values, unsigned n)
{
	uint64_t sum = 0, min = h->min, max = h->max;

	for (unsigned i = 0; i < n; i++) {
		uint64_t v = values[i];

		h->counts[fg_histogram_bin(h, v)]++;
		sum += v;
		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	h->count += n;
	h->sum += sum;
	h->min = min;
	h->max = max;
}

__END_DECLS

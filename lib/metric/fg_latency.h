/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * A summary of a histogram of delays; and histograms as bytes, because a percentile of several streams or
 * hosts follows from their histograms only, not from their percentiles.
 */
struct fg_histogram;

/** One way delays, ns. All 0 when none was measured. */
struct fg_latency {
	uint64_t count, min_ns, max_ns;
	uint64_t p50_ns, p99_ns, p999_ns;
	double mean_ns;
	double relative_error; /* of the percentiles, by the histogram's bins */
	uint64_t negative;     /* taken as 0 */
};

void fg_latency_read(const struct fg_histogram *h, struct fg_latency *out);

/** Bytes that fg_histogram_pack() writes at most. */
size_t fg_histogram_packed_size(const struct fg_histogram *h);

/**
 * Write a histogram as octets: HdrHistogram's V2 encoding, which other programs read, and behind it what that
 * cannot hold (exact minimum, maximum and sum; the values above the range and below 0).
 *
 * @param out  of fg_histogram_packed_size()
 * @return     bytes written; histograms with the same values give the same bytes
 */
size_t fg_histogram_pack(const struct fg_histogram *h, uint8_t *out);

/**
 * The summary of several packed histograms, as if all values had been recorded in one. Where their layouts
 * differ, one with the fewest digits and the widest range of them, which has a bin for each of theirs.
 *
 * @param in  one packed histogram after the other; may come from elsewhere
 * @return    0, -EINVAL: not valid values, -ENOMEM
 */
int fg_latency_merge(const uint8_t *in, size_t octets, struct fg_latency *out, struct fg_error *err);

__END_DECLS

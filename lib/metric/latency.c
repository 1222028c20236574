/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms as octets: the V2 encoding of HdrHistogram, without its compression. A header of 40 bytes, most
 * significant first, has the layout; then each count up to the highest one that is not 0 is a ZigZag LEB128
 * number of at most 9 bytes, and a run of empty bins is the negative number of its bins.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_histogram.h"
#include "fg_latency.h"

enum {
	COOKIE = 0x1c849313,
	HEADER = 40,    /* cookie, bytes of counts, offset, digits, least, highest value, ratio */
	EXACT = 7 * 8,  /* count, minimum, maximum, sum (two), above the range, below 0 */
	LONGEST_LEB = 9 /* the ninth byte has eight bits of the number */
};

static const uint64_t RATIO_ONE = 0x3ff0000000000000; /* 1.0 */

void
fg_latency_read(const struct fg_histogram *h, struct fg_latency *out)
{
	*out = (struct fg_latency){0};
	if (h->count == 0)
		return;
	out->count = h->count;
	out->min_ns = fg_histogram_min(h);
	out->max_ns = h->max;
	out->mean_ns = fg_histogram_mean(h);
	out->p50_ns = fg_histogram_percentile(h, 0.5);
	out->p99_ns = fg_histogram_percentile(h, 0.99);
	out->p999_ns = fg_histogram_percentile(h, 0.999);
	out->relative_error = fg_histogram_error(h);
	out->negative = fg_histogram_negative(h);
}

static uint8_t *
put_leb(uint8_t *out, int64_t value)
{
	uint64_t rest = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);

	for (unsigned i = 1; i < LONGEST_LEB && rest > 0x7f; i++, rest >>= 7)
		*out++ = (uint8_t)(rest | 0x80);
	*out++ = (uint8_t)rest;
	return out;
}

/* @return behind it; NULL: it does not end before the end */
static const uint8_t *
get_leb(const uint8_t *in, const uint8_t *end, int64_t *value)
{
	uint64_t rest = 0;

	for (unsigned i = 0; i < LONGEST_LEB; i++) {
		if (in == end)
			return NULL;
		rest |= (uint64_t)(i < LONGEST_LEB - 1 ? *in & 0x7f : *in) << 7 * i;
		if ((*in++ & 0x80) == 0)
			break;
	}
	*value = (int64_t)(rest >> 1) ^ -(int64_t)(rest & 1);
	return in;
}

/* 1, 2, 3 digits: 5, 8, 11 */
static uint32_t
bits_of(unsigned digits)
{
	return digits * 3 + 2;
}

size_t
fg_histogram_packed_size(const struct fg_histogram *h)
{
	uint64_t most = h->count >> 6; /* bins whose count needs more than one byte */

	most = most < h->bins ? most : h->bins;
	return HEADER + EXACT + h->bins + most * (LONGEST_LEB - 1);
}

static uint8_t *
put_counts(const struct fg_histogram *h, uint8_t *out)
{
	uint32_t empty = 0, last = fg_histogram_bin(h, h->max);

	for (uint32_t bin = 0; h->count > 0 && bin <= last && bin < h->bins; bin++) {
		if (h->counts[bin] == 0) {
			empty++;
			continue;
		}
		if (empty > 0)
			out = put_leb(out, empty == 1 ? 0 : -(int64_t)empty);
		empty = 0;
		out = put_leb(out, (int64_t)h->counts[bin]);
	}
	return out;
}

size_t
fg_histogram_pack(const struct fg_histogram *h, uint8_t *out)
{
	uint8_t *counts = out + HEADER, *exact = put_counts(h, counts);
	const uint64_t values[] = {
		h->count,
		h->min,
		h->max,
		(uint64_t)(h->sum >> 64),
		(uint64_t)h->sum,
		h->counts[h->bins],
		h->counts[h->bins + 1],
	};

	fg_put32(out, COOKIE);
	fg_put32(out + 4, (uint32_t)(exact - counts));
	fg_put32(out + 8, 0);
	fg_put32(out + 12, (h->bits - 2) / 3);
	fg_put64(out + 16, 1);
	fg_put64(out + 24, fg_histogram_bin_top(h, h->bins - 1));
	fg_put64(out + 32, RATIO_ONE);
	for (unsigned i = 0; i < EXACT / 8; i++)
		fg_put64(exact + i * 8, values[i]);
	return (size_t)(exact - out) + EXACT;
}

/* A packed histogram, before its counts are read. */
struct packed {
	unsigned digits;
	uint64_t highest;
	const uint8_t *counts, *exact, *end;
};

static bool
look_at(const uint8_t *in, const uint8_t *end, struct packed *out)
{
	uint32_t octets;

	if (end - in < HEADER + EXACT || fg_get32(in) != COOKIE || fg_get32(in + 8) != 0 ||
	    fg_get64(in + 16) != 1 || fg_get64(in + 32) != RATIO_ONE)
		return false;
	octets = fg_get32(in + 4);
	if (octets > (size_t)(end - in) - HEADER - EXACT)
		return false;
	out->digits = fg_get32(in + 12);
	out->highest = fg_get64(in + 24);
	out->counts = in + HEADER;
	out->exact = out->counts + octets;
	out->end = out->exact + EXACT;
	return fg_histogram_bins(out->digits, out->highest) > 0;
}

/* the layouts nest: every bin of one with more digits lies in one bin of one with less */
static bool
add_counts(const struct packed *p, struct fg_histogram *into)
{
	const struct fg_histogram from = {.bits = bits_of(p->digits)}; /* its layout */
	uint64_t bins = fg_histogram_bins(p->digits, p->highest), bin = 0, run;
	const uint8_t *in = p->counts;
	int64_t value = 0;

	while (in < p->exact) {
		in = get_leb(in, p->exact, &value);
		run = value < 0 ? -(uint64_t)value : 1;
		if (in == NULL || run > bins - bin)
			return false;
		if (value > 0)
			into->counts[fg_histogram_bin(into, fg_histogram_bin_top(&from, (uint32_t)bin))] +=
				(uint64_t)value;
		bin += run;
	}
	return true;
}

static bool
add_packed(const struct packed *p, struct fg_histogram *into)
{
	uint64_t exact[EXACT / 8];

	for (unsigned i = 0; i < EXACT / 8; i++)
		exact[i] = fg_get64(p->exact + i * 8);
	into->count += exact[0];
	into->min = exact[1] < into->min ? exact[1] : into->min;
	into->max = exact[2] > into->max ? exact[2] : into->max;
	into->sum += (fg_u128)exact[3] << 64 | exact[4];
	into->counts[into->bins] += exact[5];
	into->counts[into->bins + 1] += exact[6];
	return add_counts(p, into);
}

static int
wrong(struct fg_error *err)
{
	return fg_error_set(err, EINVAL, "histogram", "these bytes are no packed histograms");
}

int
fg_latency_merge(const uint8_t *in, size_t octets, struct fg_latency *out, struct fg_error *err)
{
	const uint8_t *end = in + octets;
	struct packed one, all = {.digits = 3, .highest = 1};
	struct fg_histogram *sum;
	bool good = true;

	for (const uint8_t *next = in; next < end; next = one.end) {
		if (!look_at(next, end, &one))
			return wrong(err);
		all.digits = one.digits < all.digits ? one.digits : all.digits;
		all.highest = one.highest > all.highest ? one.highest : all.highest;
	}
	sum = fg_histogram_create(all.digits, all.highest, err);
	if (sum == NULL)
		return -ENOMEM;
	for (const uint8_t *next = in; good && next < end; next = one.end)
		good = look_at(next, end, &one) && add_packed(&one, sum);
	if (good)
		fg_latency_read(sum, out);
	fg_histogram_free(sum);
	return good ? 0 : wrong(err);
}

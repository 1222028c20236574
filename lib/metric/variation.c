/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delay variation, read out. IPDV has a sign, and the histogram has none: values below zero are kept by
 * magnitude in one of their own, so that the smallest of all is the largest of those.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_variation.h"

struct fg_variation *
fg_variation_create(unsigned digits, uint64_t highest, unsigned kept, struct fg_error *err)
{
	struct fg_variation *v;
	size_t size;

	if (kept == 0 || (kept & (kept - 1)) != 0) {
		fg_error_set(err, EINVAL, "variation.kept", "%u delays is not a power of two", kept);
		return NULL;
	}
	size = (sizeof(*v) + kept * sizeof(v->kept[0]) + 63) & ~(size_t)63;
	v = aligned_alloc(64, size);
	if (v == NULL) {
		fg_error_set(err, ENOMEM, "variation", "no memory for %zu bytes", size);
		return NULL;
	}
	memset(v, 0, size);
	v->mask = kept - 1;
	v->up = fg_histogram_create(digits, highest, err);
	v->down = fg_histogram_create(digits, highest, err);
	if (v->up == NULL || v->down == NULL) {
		fg_variation_free(v);
		return NULL;
	}
	fg_variation_reset(v);
	return v;
}

void
fg_variation_reset(struct fg_variation *v)
{
	struct fg_histogram *up = v->up, *down = v->down;
	uint32_t mask = v->mask;

	memset(v, 0, sizeof(*v) + (mask + (size_t)1) * sizeof(v->kept[0]));
	v->min = INT64_MAX;
	v->max = INT64_MIN;
	v->mask = mask;
	v->up = up;
	v->down = down;
	fg_histogram_reset(up);
	fg_histogram_reset(down);
}

int
fg_variation_merge(struct fg_variation *into, const struct fg_variation *from, struct fg_error *err)
{
	int rc = fg_histogram_merge(into->up, from->up, err);

	if (rc == 0)
		rc = fg_histogram_merge(into->down, from->down, err);
	if (rc != 0)
		return rc;
	into->frames += from->frames;
	into->unknown += from->unknown;
	into->sum += from->sum;
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
	into->jitter16 = from->jitter16 > into->jitter16 ? from->jitter16 : into->jitter16;
	into->jitter16_max =
		from->jitter16_max > into->jitter16_max ? from->jitter16_max : into->jitter16_max;
	return 0;
}

void
fg_variation_free(struct fg_variation *v)
{
	if (v == NULL)
		return;
	fg_histogram_free(v->up);
	fg_histogram_free(v->down);
	free(v);
}

/* the value that @p rank values (from 1) do not exceed */
static int64_t
value_at(const struct fg_variation *v, uint64_t rank)
{
	uint64_t below = v->down->count;

	if (rank <= below)
		return -(int64_t)fg_histogram_at(v->down, below - rank + 1);
	return (int64_t)fg_histogram_at(v->up, rank - below);
}

void
fg_variation_read(const struct fg_variation *v, struct fg_variation_counts *out)
{
	uint64_t n = v->up->count + v->down->count;

	*out = (struct fg_variation_counts){
		.pairs = n,
		.unknown = v->unknown,
		.jitter = (double)v->jitter16 / 16,
		.jitter_max = (double)v->jitter16_max / 16,
	};
	if (n == 0)
		return;
	out->min = v->min;
	out->max = v->max;
	out->mean = (double)v->sum / (double)n;
	out->mean_magnitude = (double)(v->up->sum + v->down->sum) / (double)n;
	out->median = ((double)value_at(v, (n + 1) / 2) + (double)value_at(v, n / 2 + 1)) / 2;
	out->p001 = value_at(v, fg_histogram_rank(n, 0.001));
	out->p999 = value_at(v, fg_histogram_rank(n, 0.999));
}

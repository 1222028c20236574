/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "fg_departures.h"
#include "fg_histogram.h"
#include "fg_signature.h"

static const uint64_t HIGHEST_NS = 10000000000;

struct fg_departures {
	struct fg_tap tap;
	struct fg_departures_config intended;
	bool begun;
	struct fg_signature last;
	struct fg_histogram *between, *error;
};

static int64_t
intended_ns(const struct fg_departures_config *c, uint64_t number)
{
	return llround(c->burst > 1 && number % c->burst != 0 ? c->within_ns : c->between_ns);
}

static void
see(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
{
	struct fg_departures *d = (struct fg_departures *)tap;

	for (unsigned i = 0; i < n; i++) {
		struct fg_signature s;
		int64_t ns;

		if (!fg_signature_read(rte_pktmbuf_mtod_offset(frames[i], uint8_t *, frames[i]->data_len),
				       frames[i]->data_len, &s))
			continue;
		if (d->begun && s.stream == d->last.stream && s.sequence == d->last.sequence + 1) {
			ns = fg_signature_elapsed(s.time_ns, d->last.time_ns);
			fg_histogram_record(d->between, ns);
			fg_histogram_record(d->error, llabs(ns - intended_ns(&d->intended, s.sequence)));
		}
		d->last = s;
		d->begun = true;
	}
}

int
fg_departures_create(const struct fg_departures_config *config, struct fg_departures **out,
		     struct fg_error *err)
{
	struct fg_departures *d;

	if (!(config->within_ns >= 0) || !(config->between_ns >= 0))
		return fg_error_set(err, EINVAL, "departures", "a time between two frames is not below 0");
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return fg_error_set(err, ENOMEM, "departures", "no memory");
	*d = (struct fg_departures){
		.tap.see = see,
		.intended = *config,
		.between = fg_histogram_create(3, HIGHEST_NS, err),
		.error = fg_histogram_create(3, HIGHEST_NS, err),
	};
	if (d->between == NULL || d->error == NULL) {
		fg_departures_free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void
fg_departures_free(struct fg_departures *d)
{
	if (d == NULL)
		return;
	fg_histogram_free(d->between);
	fg_histogram_free(d->error);
	free(d);
}

struct fg_tap *
fg_departures_tap(struct fg_departures *d)
{
	return &d->tap;
}

void
fg_departures_read(const struct fg_departures *d, struct fg_departures_result *out)
{
	*out = (struct fg_departures_result){
		.count = d->between->count,
		.min_ns = fg_histogram_min(d->between),
		.p50_ns = fg_histogram_percentile(d->between, 0.5),
		.p99_ns = fg_histogram_percentile(d->between, 0.99),
		.max_ns = d->between->max,
		.mean_ns = fg_histogram_mean(d->between),
		.error_p50_ns = fg_histogram_percentile(d->error, 0.5),
		.error_p99_ns = fg_histogram_percentile(d->error, 0.99),
		.error_p999_ns = fg_histogram_percentile(d->error, 0.999),
		.error_max_ns = d->error->max,
	};
}

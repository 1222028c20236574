/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>

#include "fg_pace.h"

int
fg_pace_constant(struct fg_pace *pace, double fps, uint64_t hz, uint64_t start, uint64_t total,
		 uint64_t max_lag, struct fg_error *err)
{
	double step = (double)hz / fps;
	fg_u128 ticks, rest;
	uint64_t frames;
	int exponent;

	if (!(fps > 0 && fps < 0x1p63) || !(step >= 1 && step < 0x1p63))
		return fg_error_set(err, ERANGE, "stream.rate",
				    "%g fps cannot be paced by a clock of %llu Hz", fps,
				    (unsigned long long)hz);
	/* hz / fps as a fraction of integers, `frames` in `ticks`: a double is 53 bits and an exponent */
	frames = (uint64_t)ldexp(frexp(fps, &exponent), 53);
	exponent -= 53;
	ticks = exponent < 0 ? (fg_u128)hz << -exponent : hz;
	frames <<= exponent < 0 ? 0 : exponent;
	rest = ticks % frames;
	*pace = (struct fg_pace){
		.start = start,
		.step = (uint64_t)(ticks / frames),
		/* rounded up: a departure that falls on a tick must not fall on the one before */
		.step_frac = (uint64_t)(((rest << 64) + frames - 1) / frames),
		.total = total,
		.max_lag = max_lag,
	};
	return 0;
}

int
fg_pace_turns(struct fg_pace *p, uint64_t first, uint64_t take, uint64_t every, struct fg_error *err)
{
	uint64_t rest;
	fg_u128 step;

	if (take == 0 || every < take || every - take < first)
		return fg_error_set(err, ERANGE, "stream.turn", "%llu of %llu departures from number %llu",
				    (unsigned long long)take, (unsigned long long)every,
				    (unsigned long long)first);
	rest = p->total % every;
	p->total = p->total / every * take + (rest <= first ? 0 : rest - first < take ? rest - first : take);
	p->start = fg_pace_at(p, first);
	if (take == 1) {
		step = fg_pace_step(p) * every;
		p->step = (uint64_t)(step >> 64);
		p->step_frac = (uint64_t)step;
	} else if (take < every) {
		p->burst = take;
		p->gap = every - take;
	}
	return 0;
}

uint64_t
fg_pace_forgive(struct fg_pace *p, uint64_t now)
{
	uint64_t low = p->next, high = p->total, limit = now > p->max_lag ? now - p->max_lag : 0, forgiven;

	/* the first frame that left, or should have, at or after the limit; departures only grow */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (fg_pace_at(p, middle) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	forgiven = low - p->next;
	p->late += forgiven;
	p->next = low;
	return forgiven;
}

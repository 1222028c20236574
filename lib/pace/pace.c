/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Departures as a curve. What a frame waits for is an amount: the frames before it, or the bytes before it.
 * A load is a curve from that amount to time: a line, a line with steps (bursts), a line with noise (scatter)
 * or a parabola's root (ramp). All of them can be asked for any frame. Only a Poisson process must be walked,
 * from the seed on.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "fg_pace.h"
#include "fg_random.h"

#define WHOLE(at)     ((uint64_t)((at) >> 64))
#define FROM_WHOLE(t) ((fg_u128)(t) << 64)

/* hz / fps as a fraction of integers, `frames` in `ticks`: a double is 53 bits and an exponent */
static fg_u128
step_of(double fps, uint64_t hz)
{
	int exponent;
	uint64_t frames = (uint64_t)ldexp(frexp(fps, &exponent), 53);
	fg_u128 ticks, rest;

	exponent -= 53;
	ticks = exponent < 0 ? (fg_u128)hz << -exponent : hz;
	frames <<= exponent < 0 ? 0 : exponent;
	rest = ticks % frames;
	/* rounded up: a departure that falls on a tick must not fall on the one before */
	return FROM_WHOLE(ticks / frames) + ((rest << 64) + frames - 1) / frames;
}

static void
set_step(struct fg_pace *p, fg_u128 step)
{
	p->step = WHOLE(step);
	p->step_frac = (uint64_t)step;
}

static int
check_fps(double fps, uint64_t hz, struct fg_error *err)
{
	double step = (double)hz / fps;

	if (!(fps > 0 && fps < 0x1p63) || !(step >= 1 && step < 0x1p63))
		return fg_error_set(err, ERANGE, "stream.rate",
				    "%g fps cannot be paced by a clock of %llu Hz", fps,
				    (unsigned long long)hz);
	return 0;
}

int
fg_pace_constant(struct fg_pace *pace, double fps, uint64_t hz, uint64_t start, uint64_t total,
		 uint64_t max_lag, struct fg_error *err)
{
	int rc = check_fps(fps, hz, err);

	if (rc != 0)
		return rc;
	*pace = (struct fg_pace){
		.start = start,
		.at = FROM_WHOLE(start),
		.until = UINT64_MAX,
		.total = total,
		.max_lag = max_lag,
		.on_time = max_lag,
		.even = true,
	};
	set_step(pace, step_of(fps, hz));
	return 0;
}

void
fg_pace_silence(struct fg_pace *pace, uint64_t start)
{
	*pace = (struct fg_pace){
		.start = start, .at = FROM_WHOLE(start), .until = UINT64_MAX, .step = 1, .even = true};
}

int
fg_pace_turns(struct fg_pace *p, uint64_t first, uint64_t take, uint64_t every, struct fg_error *err)
{
	uint64_t rest;

	if (take == 0 || every < take || every - take < first)
		return fg_error_set(err, ERANGE, "stream.turn", "%llu of %llu departures from number %llu",
				    (unsigned long long)take, (unsigned long long)every,
				    (unsigned long long)first);
	rest = p->total % every;
	if (p->total != UINT64_MAX)
		p->total = p->total / every * take + (rest <= first         ? 0
						      : rest - first < take ? rest - first
									    : take);
	p->start = fg_pace_at(p, first);
	p->at = FROM_WHOLE(p->start);
	if (take == 1) {
		set_step(p, fg_pace_step(p) * every);
	} else if (take < every) {
		p->even = false;
		p->shape = FG_PACE_BURSTS;
		p->burst = take;
		p->period = fg_pace_step(p) * every;
	}
	return 0;
}

int
fg_pace_bursts(struct fg_pace *p, uint64_t burst, double fps, uint64_t hz, struct fg_error *err)
{
	int rc = check_fps(fps, hz, err);
	fg_u128 within;

	if (rc != 0)
		return rc;
	within = step_of(fps, hz);
	if (burst == 0 || burst > UINT32_MAX || within > fg_pace_step(p))
		return fg_error_set(err, ERANGE, "stream.rate",
				    "bursts of %llu frames at %g fps: slower than the load on the whole",
				    (unsigned long long)burst, fps);
	p->even = false;
	p->shape = FG_PACE_BURSTS;
	p->burst = burst;
	p->period = fg_pace_step(p) * burst;
	set_step(p, within);
	return 0;
}

int
fg_pace_ramp(struct fg_pace *p, double from, double to, uint64_t hz, uint64_t ticks, struct fg_error *err)
{
	double first = from / (double)hz, last = to / (double)hz;

	if (!(first >= 0 && first <= 1 && last >= 0 && last <= 1 && first + last > 0) || ticks == 0)
		return fg_error_set(err, ERANGE, "stream.rate", "no ramp from %g to %g fps in %llu ticks",
				    from, to, (unsigned long long)ticks);
	p->even = false;
	p->shape = FG_PACE_RAMP;
	p->rate = first;
	p->slope = (last - p->rate) / (double)ticks;
	p->total = (uint64_t)((p->rate + last) / 2 * (double)ticks + 0.5);
	return 0;
}

static fg_u128
fixed(double ticks)
{
	uint64_t whole = (uint64_t)ticks;

	return FROM_WHOLE(whole) + (uint64_t)((ticks - (double)whole) * 0x1p64);
}

/*
 * -ln of a random number in 0 to 1, by nothing but the five operations that IEEE 754 defines to the last bit:
 * a library's logarithm may differ from one processor to the next, and with it a trial that should be the
 * same.
 */
static double
exponential(uint64_t random)
{
	const double ln2 = 0x1.62e42fefa39efp-1, root = 0x1.6a09e667f3bcdp-1;
	double u = ((double)(random >> 12) + 0.5) * 0x1p-52, s, q, series = 0;
	int exponent;

	u = frexp(u, &exponent);
	if (u < root) {
		u *= 2;
		exponent--;
	}
	s = (u - 1) / (u + 1); /* ln u = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172 */
	q = s * s;
	for (int k = 17; k > 0; k -= 2)
		series = series * q + 1.0 / k;
	return -(2 * s * series + exponent * ln2);
}

/* ticks before frame i of a Poisson process */
static fg_u128
gap(const struct fg_pace *p, uint64_t i)
{
	return fixed(exponential(fg_random_at(p->seed, i)) * ((double)fg_pace_step(p) * 0x1p-64));
}

void
fg_pace_poisson(struct fg_pace *p, uint64_t seed)
{
	p->even = false;
	p->shape = FG_PACE_POISSON;
	p->seed = seed;
	p->at = FROM_WHOLE(p->start) + gap(p, 0);
}

void
fg_pace_scatter(struct fg_pace *p, double share, uint64_t seed)
{
	p->even = false;
	p->shape = FG_PACE_SCATTER;
	p->seed = seed;
	p->share = share >= 1 ? UINT64_MAX : (uint64_t)(fmax(0, share) * 0x1p64);
	p->at = fg_pace_exact_slow(p, 0);
}

int
fg_pace_octets(struct fg_pace *p, const struct fg_sizes *sizes, uint64_t first, int overhead,
	       struct fg_error *err)
{
	uint64_t octets = sizes->octets + (uint64_t)((int64_t)overhead * sizes->length), rest;
	fg_u128 step = fg_pace_step(p);

	for (unsigned i = 0; i < sizes->kinds; i++)
		if (sizes->size[i] + overhead <= 0)
			return fg_error_set(err, ERANGE, "stream.size",
					    "frames of %u bytes have none at the layer of the rate",
					    sizes->size[i]);
	p->even = false;
	p->sizes = sizes;
	p->first = first;
	p->overhead = overhead;
	p->rate *= (double)octets / sizes->length;
	p->slope *= (double)octets / sizes->length;
	/* of a byte; rounded up like a frame's */
	rest = (uint64_t)(step % octets);
	set_step(p, step / octets * sizes->length + ((fg_u128)rest * sizes->length + octets - 1) / octets);
	p->at = fg_pace_exact_slow(p, 0);
	return 0;
}

/* what lies before frame i */
static uint64_t
amount(const struct fg_pace *p, uint64_t i)
{
	if (p->sizes == NULL)
		return i;
	return fg_sizes_octets(p->sizes, p->first + i) - fg_sizes_octets(p->sizes, p->first) +
	       i * (uint64_t)p->overhead;
}

static uint64_t
amount_of(const struct fg_pace *p, uint64_t i)
{
	return p->sizes == NULL ? 1 : fg_sizes_of(p->sizes, p->first + i) + (uint64_t)p->overhead;
}

static fg_u128
times(const struct fg_pace *p, uint64_t n)
{
	return FROM_WHOLE(n * p->step) + (fg_u128)n * p->step_frac;
}

/* from the start of a ramp until an amount has left, ticks: the root of slope/2 t^2 + rate t = x */
static fg_u128
ramp(const struct fg_pace *p, double x)
{
	double square = p->rate * p->rate + 2 * p->slope * x;

	return x == 0 ? 0 : fixed(2 * x / (p->rate + sqrt(square > 0 ? square : 0)));
}

/* departure of the frame after frame i, which departs at `at` */
static fg_u128
after(const struct fg_pace *p, uint64_t i, fg_u128 at)
{
	if (p->shape == FG_PACE_POISSON)
		return at + gap(p, i + 1);
	if (p->shape == FG_PACE_RAMP || p->shape == FG_PACE_SCATTER ||
	    (p->shape == FG_PACE_BURSTS && (i + 1) % p->burst == 0))
		return fg_pace_exact_slow(p, i + 1);
	return at + times(p, amount_of(p, i));
}

static fg_u128
walk(const struct fg_pace *p, uint64_t i)
{
	bool ahead = i >= p->next;
	uint64_t k = ahead ? p->next : 0;
	fg_u128 at = ahead ? p->at : FROM_WHOLE(p->start) + gap(p, 0);

	for (; k < i; k++)
		at = after(p, k, at);
	return at;
}

fg_u128
fg_pace_exact_slow(const struct fg_pace *p, uint64_t i)
{
	fg_u128 start = FROM_WHOLE(p->start);
	uint64_t first;

	switch (p->shape) {
	case FG_PACE_POISSON:
		return walk(p, i);
	case FG_PACE_RAMP:
		return start + ramp(p, (double)amount(p, i));
	case FG_PACE_BURSTS:
		first = i / p->burst * p->burst;
		return start + i / p->burst * p->period + times(p, amount(p, i) - amount(p, first));
	case FG_PACE_SCATTER:
		return start + times(p, amount(p, i)) +
		       (fg_u128)WHOLE(times(p, amount_of(p, i))) *
			       WHOLE((fg_u128)fg_random_at(p->seed, i) * p->share);
	default:
		return start + times(p, amount(p, i));
	}
}

/* the schedule is over when its time is: how many frames that makes is known once it has come to that */
static void
move_to(struct fg_pace *p, uint64_t next, fg_u128 at)
{
	p->next = next;
	p->at = at;
	if (WHOLE(at) >= p->until && p->total > next)
		p->total = next;
}

void
fg_pace_commit_slow(struct fg_pace *p, uint64_t n)
{
	for (; n > 0; n--)
		move_to(p, p->next + 1, after(p, p->next, p->at));
}

/* of an even load: by a division that is a little short, and some steps */
static inline uint64_t
find_even(const struct fg_pace *p, uint64_t i, uint64_t ticks)
{
	const fg_u128 step = fg_pace_step(p);
	fg_u128 at = i == p->next ? p->at : fg_pace_exact(p, i);
	uint64_t left = p->total - i, n;
	double ticks_a_step;

	if (p->total <= i || WHOLE(at) >= ticks)
		return i;
	if (WHOLE(at + step) >= ticks)
		return i + 1;
	/* signed, because conversions of unsigned numbers take several instructions */
	ticks_a_step = (double)(int64_t)p->step + (double)(int64_t)(p->step_frac >> 1) * 0x1p-63;
	n = (uint64_t)(int64_t)((double)(int64_t)(ticks - WHOLE(at)) / ticks_a_step * (1 - 0x1p-50));
	n = n < 2 ? 0 : n - 2;
	n = n < left ? n : left - 1;
	at += n * step;
	for (i += n; i < p->total && WHOLE(at) < ticks; i++)
		at += step;
	return i;
}

/*
 * The first frame, of those from @p low on, that leaves at or after a time; departures only grow. Of a
 * Poisson process low must be the next one.
 */
static uint64_t
find(const struct fg_pace *p, uint64_t low, uint64_t ticks)
{
	uint64_t high = p->total;

	if (p->shape == FG_PACE_POISSON) {
		for (fg_u128 at = p->at; low < high && WHOLE(at) < ticks && WHOLE(at) < p->until; low++)
			at = after(p, low, at);
		return low;
	}
	if (p->even && (p->step | ticks) >> 62 == 0)
		return find_even(p, low, ticks);
	/* in growing steps: the end may be beyond what can be computed with */
	for (uint64_t span = 1; low < high && span < high - low; span *= 2) {
		if (fg_pace_at(p, low + span) >= ticks)
			high = low + span;
		else
			low += span;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (fg_pace_at(p, middle) < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
fg_pace_forgive(struct fg_pace *p, uint64_t now)
{
	uint64_t limit = now > p->max_lag ? now - p->max_lag : 0, before = p->next;
	uint64_t first = find(p, before, limit), forgiven = first - before;

	p->late += forgiven;
	if (forgiven > 0)
		move_to(p, first, fg_pace_exact(p, first));
}

void
fg_pace_belated(struct fg_pace *p, uint64_t now)
{
	uint64_t next, end;

	if (now - fg_pace_next(p) > p->max_lag)
		fg_pace_forgive(p, now);
	next = fg_pace_next(p);
	if (p->judged < p->next)
		p->judged = p->next;
	if (next >= now || now - next <= p->on_time)
		return;
	/* a Poisson process is sent frame by frame, and so is it judged */
	end = p->shape == FG_PACE_POISSON ? p->next + 1 : find(p, p->judged, now - p->on_time);
	if (p->judged < end) {
		p->off_schedule += end - p->judged;
		p->judged = end;
	}
}

void
fg_pace_end(struct fg_pace *p, uint64_t ticks)
{
	if (p->shape == FG_PACE_POISSON) {
		/* how many that will be is not known yet */
		p->until = ticks;
		move_to(p, p->next, p->at);
	} else {
		p->total = find(p, p->next, ticks);
	}
}

void
fg_pace_move(struct fg_pace *p, uint64_t ticks)
{
	p->start += ticks;
	p->at += FROM_WHOLE(ticks);
	if (p->until != UINT64_MAX)
		p->until += ticks;
}

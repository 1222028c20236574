/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The departures of a stream's loads, one load after the other.
 *
 * Loads that end with their time make one curve, the integral of their rates: frame k of the stream departs
 * when that has reached k. Few loads end with a whole frame; so each one leaves to the next how much of a
 * frame has yet to pass before another one departs. Rounded each for itself, steps of a millisecond at 1,400
 * frames per second would send 1,000, and at 100 none. A pause leaves what it found; only the last load
 * rounds. A load of a number of frames, bursts and a random process begin with their time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tx.h"

static const double most_ticks = 1e18; /* years; a clock that has run as long does not overflow */

/* of a load, to be paced by itself */
struct piece {
	uint64_t start, ticks; /* ticks = 0: as long as its frames take */
	uint64_t frames;       /* UINT64_MAX: its end will say */
	uint64_t first;        /* frames of the stream before it, which tell the sizes of its frames */
};

/* what is left to the next load */
struct rest {
	uint64_t start;  /* ticks; UINT64_MAX: never */
	uint64_t frames; /* that have been due; but not of a random process: their number is not known */
	double wait;     /* frames, of the mean size, that have to pass before another one departs */
};

static double
seconds_of(const struct fg_load *l)
{
	return (double)l->ns * 1e-9;
}

/* the frames of a load by its time, if it has no number of its own; UINT64_MAX: its end will say */
static uint64_t
frames_of(const struct fg_load *l)
{
	if (l->frames > 0 || l->ns == 0)
		return l->frames;
	if (l->shape == FG_LOAD_POISSON || l->shape == FG_LOAD_BURSTS)
		return UINT64_MAX;
	return (uint64_t)(l->fps * seconds_of(l) + 0.5);
}

/* a port that departs frames by itself gets them before they are due, however long its load lets them wait */
static uint64_t
max_lag_of(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l)
{
	if (l->max_lag_ns == 0 || port->caps.launch_time)
		return env->max_lag;
	return RTE_MIN(env->max_lag, fg_clock_ticks(env->clock, l->max_lag_ns));
}

/* frames per second when it is at its fastest, but not within a burst */
static double
fastest_of(const struct fg_load *l)
{
	return l->shape == FG_LOAD_RAMP ? RTE_MAX(l->fps, l->end_fps) : l->fps;
}

static void
pause_from(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l, uint64_t start,
	   struct fg_pace *out)
{
	fg_pace_silence(out, start);
	out->max_lag = max_lag_of(env, port, l); /* of frames of the load before, which may still wait */
}

static int
pace_piece(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l,
	   const struct fg_sizes *sizes, const struct piece *piece, struct fg_pace *out, struct fg_error *err)
{
	uint64_t hz = env->clock->hz, lag = max_lag_of(env, port, l);
	int rc;

	if (fastest_of(l) == 0) {
		pause_from(env, port, l, piece->start, out);
		return 0;
	}
	rc = fg_pace_constant(out, fastest_of(l), hz, piece->start, piece->frames, lag, err);
	if (rc == 0 && l->shape == FG_LOAD_BURSTS)
		rc = fg_pace_bursts(out, l->burst, l->burst_fps, hz, err);
	if (rc == 0 && l->shape == FG_LOAD_RAMP)
		rc = fg_pace_ramp(out, l->fps, l->end_fps, hz, piece->ticks, err);
	if (rc == 0 && piece->frames == UINT64_MAX)
		out->total = UINT64_MAX; /* not what a ramp rounds to */
	if (rc == 0 && l->shape == FG_LOAD_POISSON)
		fg_pace_poisson(out, l->seed);
	if (rc == 0 && l->shape == FG_LOAD_SCATTER)
		fg_pace_scatter(out, l->burst_fps > 0 ? 1 - l->fps / l->burst_fps : 1, l->seed);
	if (rc == 0 && l->by_octets && sizes != NULL)
		rc = l->shape == FG_LOAD_POISSON ? fg_error_set(err, EINVAL, "stream.rate",
								"a Poisson process does not go by bytes")
						 : fg_pace_octets(out, sizes, piece->first, l->overhead, err);
	if (rc == 0 && piece->ticks > 0)
		fg_pace_end(out, piece->start + piece->ticks);
	return rc;
}

int
tx_pace(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l,
	const struct fg_sizes *sizes, uint64_t start, struct fg_pace *out, struct fg_error *err)
{
	const struct piece piece = {start, fg_clock_ticks(env->clock, l->ns), frames_of(l), 0};

	return pace_piece(env, port, l, sizes, &piece, out, err);
}

/* does it go on where the load before it left off? */
static bool
goes_on(const struct fg_load *l)
{
	return l->ns > 0 && l->frames == 0 && (l->shape == FG_LOAD_CONSTANT || l->shape == FG_LOAD_RAMP);
}

/* the first @p n frames of a load, in frames of the mean size: what passes before frame n departs */
static double
amount_of(const struct fg_load *l, const struct fg_sizes *sizes, uint64_t first, uint64_t n)
{
	uint64_t octets;

	if (!l->by_octets || sizes == NULL)
		return (double)n;
	octets = fg_sizes_octets(sizes, first + n) - fg_sizes_octets(sizes, first);
	return ((double)octets + (double)n * l->overhead) /
	       ((double)sizes->octets / sizes->length + l->overhead);
}

/* the load from when on @p wait frames have passed. @return seconds of it that are over then */
static double
pass(struct fg_load *l, double wait)
{
	const double slope = l->shape == FG_LOAD_RAMP ? (l->end_fps - l->fps) / seconds_of(l) : 0;
	const double square = l->fps * l->fps + 2 * slope * wait, fps = sqrt(RTE_MAX(square, 0));
	const double seconds = 2 * wait / (l->fps + fps);

	l->fps = fps;
	return seconds;
}

/* the departures of a load that goes on; @p last: no other load follows it */
static int
pace_on(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l,
	const struct fg_sizes *sizes, bool last, struct rest *rest, struct fg_pace *out, struct fg_error *err)
{
	const double all = (l->shape == FG_LOAD_RAMP ? (l->fps + l->end_fps) / 2 : l->fps) * seconds_of(l);
	const double tiny = 1e-6 + all * 1e-15; /* what the arithmetic of doubles may be wrong by */
	const double wait = rest->wait < tiny ? 0 : rest->wait;
	const uint64_t ticks = fg_clock_ticks(env->clock, l->ns);
	bool none = all >= 0 && wait + tiny >= all;
	struct fg_load later = *l;
	uint64_t passed = none || wait == 0 ? 0 : (uint64_t)(pass(&later, wait) * (double)env->clock->hz);
	const struct piece piece = {rest->start + passed, ticks - passed,
				    last ? (uint64_t)(all - wait + 0.5) : UINT64_MAX, rest->frames};
	int rc = 0;

	none = none || passed >= ticks; /* due in the last part of a tick: the first frame of the next load */
	if (none)
		pause_from(env, port, l, rest->start, out);
	else
		rc = pace_piece(env, port, &later, sizes, &piece, out, err);
	if (rc != 0)
		return rc;
	/* a frame on the boundary is the next load's */
	while (!last && out->total > 0 &&
	       wait + amount_of(l, sizes, piece.first, out->total - 1) >= all - tiny)
		out->total--;
	rest->wait += amount_of(l, sizes, piece.first, out->total) - all;
	return 0;
}

/* when the next load begins; UINT64_MAX: never */
static uint64_t
end_of(const struct fg_clock *clock, const struct fg_load *l, const struct fg_pace *pace, uint64_t start)
{
	if (l->ns > 0)
		return start + fg_clock_ticks(clock, l->ns);
	return l->frames == FG_ENDLESS || pace->total == UINT64_MAX ? UINT64_MAX
								    : fg_pace_at(pace, pace->total);
}

/* the departures of the load that begins where the rest does */
static int
pace_load(const struct tx_env *env, const struct fg_port *port, const struct fg_load *l,
	  const struct fg_sizes *sizes, bool last, struct rest *rest, struct fg_pace *out,
	  struct fg_error *err)
{
	const struct piece piece = {rest->start, fg_clock_ticks(env->clock, l->ns), frames_of(l),
				    rest->frames};
	int rc = goes_on(l) ? pace_on(env, port, l, sizes, last, rest, out, err)
			    : pace_piece(env, port, l, sizes, &piece, out, err);

	if (rc != 0)
		return rc;
	rest->start = end_of(env->clock, l, out, rest->start);
	rest->frames += out->total == UINT64_MAX ? 0 : out->total;
	rest->wait = l->frames > 0 ? 0 : rest->wait;
	return 0;
}

static double
fastest_of_all(const struct fg_stream_config *s)
{
	double fps = 0;

	for (unsigned i = 0; i < s->loads; i++)
		fps = RTE_MAX(fps, fastest_of(&s->load[i]));
	return fps;
}

/* the start of a stream's first load, by its phase; UINT64_MAX: too late to be counted */
static uint64_t
start_of(const struct tx_env *env, const struct fg_stream_config *s)
{
	double fps = fastest_of_all(s), late;

	if (!(fps > 0)) /* it sends nothing, or tx_pace() refuses the load */
		return env->start;
	late = s->phase * (double)env->clock->hz / fps;
	return late >= 0 && late < most_ticks ? env->start + (uint64_t)late : UINT64_MAX;
}

/* the share of @p frames of a load that the stream with these turns sends */
static uint64_t
share_of(const struct fg_turn *t, uint64_t frames)
{
	const uint64_t rest = t->every == 0 ? 0 : frames % t->every;

	if (t->every == 0)
		return frames;
	return frames / t->every * t->take +
	       (rest <= t->first ? 0 : RTE_MIN(rest - t->first, (uint64_t)t->take));
}

/* of a load's departures, those that are left to the stream: by its limit and its turns */
static int
keep_own(struct tx_stream *tx, const struct fg_stream_config *s, struct fg_pace *pace, uint64_t *left,
	 struct fg_error *err)
{
	fg_pace_limit(pace, *left);
	if (pace->shape == FG_PACE_POISSON)
		tx->counted = true;
	else if (*left != UINT64_MAX)
		*left -= pace->total;
	if (s->turn.every == 0)
		return 0;
	if (!pace->even)
		return fg_error_set(err, EINVAL, "stream.turn", "only even loads can be shared");
	return fg_pace_turns(pace, s->turn.first, s->turn.take, s->turn.every, err);
}

/* one pace a load; each starts when the one before it, of all that take turns in it, is over */
static int
pace_all(const struct tx_env *env, const struct fg_port *port, struct tx_stream *tx,
	 const struct fg_stream_config *s, struct rest rest, struct fg_error *err)
{
	uint64_t left = s->limit == 0 ? UINT64_MAX : s->limit;
	int rc;

	for (unsigned i = 0; i < s->loads; i++) {
		const bool last = i + 1 == s->loads;
		struct fg_pace *pace = &tx->load[tx->loads];

		if (rest.start == UINT64_MAX)
			return fg_error_set(err, EINVAL, "stream", "load %u follows one without an end",
					    i + 1);
		rc = pace_load(env, port, &s->load[i], tx->sizes, last, &rest, pace, err);
		if (rc == 0)
			rc = keep_own(tx, s, pace, &left, err);
		if (rc != 0)
			return rc;
		/* the sender need not pass by thousands that have no frame */
		tx->loads += last || pace->total > 0;
	}
	return 0;
}

double
fg_stream_peak_fps(const struct fg_stream_config *s)
{
	double peak = 0;

	for (unsigned k = 0; k < s->loads; k++) {
		const struct fg_load *l = &s->load[k];

		peak = RTE_MAX(peak, RTE_MAX(l->fps, l->end_fps));
		if (l->shape == FG_LOAD_BURSTS)
			peak = RTE_MAX(peak, l->burst_fps);
	}
	return s->turn.every > 0 && s->turn.take == 1 ? peak / (double)s->turn.every : peak;
}

int
tx_loads_init(const struct tx_env *env, const struct fg_port *port, struct tx_stream *tx,
	      const struct fg_stream_config *s, struct fg_error *err)
{
	const struct rest rest = {.start = start_of(env, s), .frames = s->first};
	int rc;

	if (s->loads == 0)
		return fg_error_set(err, EINVAL, "stream", "no load");
	if (rest.start == UINT64_MAX)
		return fg_error_set(err, EINVAL, "stream.phase", "%g is no number of frame times", s->phase);
	tx->load = calloc(s->loads, sizeof(*tx->load));
	if (tx->load == NULL)
		return fg_error_set(err, ENOMEM, "stream", "no memory");
	tx->peak_fps = fg_stream_peak_fps(s);
	tx->mean_fps = fastest_of_all(s);
	if (s->turn.every > 0)
		tx->mean_fps *= (double)s->turn.take / (double)s->turn.every;
	tx->limit = s->limit == 0 ? UINT64_MAX : share_of(&s->turn, s->limit);
	rc = pace_all(env, port, tx, s, rest, err);
	if (rc != 0)
		return rc;
	tx->pace = tx->load[0];
	tx_next_load(tx); /* it may begin with a pause */
	return 0;
}

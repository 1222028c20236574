/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far back each stream is remembered.
 *
 * A frame that arrives within the waiting time is not lost, however late it is (RFC 2544, section 24; ITU-T
 * Y.1564 by Y.1563's T_max). While it was under way others overtook it: as many as its stream sends in that
 * time. So a tracker remembers that many numbers, or all of the trial, rounded up to a power of two. Where
 * delay variation is measured, as many delays are kept, because a late frame still has its neighbours.
 *
 * Both have a budget over all streams of the trial. Where it does not reach, all streams remember a shorter
 * time, the same one for each, and a frame later than that is counted as stale: then loss is known as an
 * interval only. Where streams may join while the trial runs, half of the budget is theirs, in equal shares,
 * because nobody knows yet how fast they will be. One that joins in the place of a removed one may have as
 * much as that had, if it is more.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fg_net.h"
#include "rx_batch.h"
#include "rx_inject.h"

static const double NS = 1e-9;
/* without end there is no waiting time at its end, and frames count whenever they arrive */
static const uint64_t LIVE_NS = 1000000000;
/* a Poisson process exceeds its mean by this many standard deviations in less than 1 of 10^14 cases */
static const double DEVIATIONS = 8;
enum {
	MIB = 1 << 20,
	FAULTS_MIB = 64, /* for what is known of errors on purpose, of all streams */
	FAULTS_ROOM = 4, /* numbers that one of the window takes: rx_inject_create() */
	SIZE_OF_DELAY = sizeof(((struct fg_variation *)NULL)->kept[0]),
};

/* frames that a stream may send in @p seconds, while all loads are as they were given */
static double
frames_within(const struct fg_stream_config *s, double seconds)
{
	double most = 0;

	for (unsigned k = 0; k < s->loads; k++) {
		const struct fg_load *l = &s->load[k];
		double frames = RTE_MAX(l->fps, l->end_fps) * seconds;

		if (l->shape == FG_LOAD_BURSTS)
			frames += (double)l->burst;
		else if (l->shape == FG_LOAD_POISSON)
			frames += DEVIATIONS * sqrt(frames);
		most = RTE_MAX(most, frames);
	}
	return s->turn.every > 0 ? most * (double)s->turn.take / (double)s->turn.every + (double)s->turn.take
				 : most;
}

/* frames in flight where the load may change; the smallest frames where there are several sizes */
static double
frames_of_line(const struct rx *rx, const struct fg_stream_config *s, double seconds)
{
	unsigned length = s->frame == NULL ? FG_ETHER_MIN : s->frame->length + FG_ETHER_FCS;

	if (rx->reach.traffic_ns != FG_ENDLESS || rx->streams > RX_FEW)
		return 0;
	return (double)rx->reach.line_bps / (8.0 * (length + FG_ETHER_OVERHEAD)) * seconds;
}

/*
 * how many numbers a stream has to remember, if it is @p reach_ns at most; @p least is a power of two.
 * @p line: also at the rate of the line
 */
static unsigned
numbers_of(const struct rx *rx, const struct fg_stream_config *s, uint64_t reach_ns, unsigned least,
	   bool line)
{
	uint64_t wait = s->latest_ns > 0 ? s->latest_ns : rx->reach.drain_ns;
	double seconds =
		(double)RTE_MIN(RTE_MIN(wait + rx->reach.max_lag_ns, reach_ns), rx->reach.traffic_ns) * NS;
	double frames = frames_within(s, seconds);

	if (line)
		frames = RTE_MAX(frames, frames_of_line(rx, s, seconds));
	if (frames >= FG_SEQUENCE_WINDOW_MAX)
		return FG_SEQUENCE_WINDOW_MAX;
	/* and what the receiver takes at once */
	return RTE_MAX(least, rte_align32pow2((unsigned)frames + FG_BURST));
}

static unsigned
points_of(const struct rx *rx, unsigned window)
{
	return RTE_MAX(rx->precision.points, window / 256);
}

struct rx_window
rx_window_least(const struct rx *rx)
{
	return (struct rx_window){rx->precision.window, rx->precision.points, rx->precision.kept};
}

/* bytes for the streams that the trial begins with */
static double
budget_of(const struct rx *rx, unsigned mib)
{
	return (double)mib * MIB / (rx->spares > 0 ? 2 : 1);
}

static struct rx_window
window_of(const struct rx *rx, const struct fg_stream_config *s)
{
	struct rx_window w = rx_window_least(rx);

	if (s->unmeasured)
		return w;
	w.numbers = numbers_of(rx, s, rx->reach.numbers_ns, w.numbers, true);
	w.points = points_of(rx, w.numbers);
	w.kept = numbers_of(rx, s, rx->reach.delays_ns, w.kept, false);
	return w;
}

/* no more than the share of one of the streams that may join, or @p room: what one that was removed had */
static struct rx_window
share_of_spare(const struct rx *rx, struct rx_window w, struct rx_window room)
{
	const double spares = RTE_MAX(rx->spares, 1U);

	while (w.numbers > RTE_MAX(rx->precision.window, room.numbers) &&
	       (double)fg_sequence_size_apart(w.numbers, points_of(rx, w.numbers)) * spares >
		       budget_of(rx, rx->precision.numbers_mib))
		w.numbers /= 2;
	w.points = points_of(rx, w.numbers);
	while (w.kept > RTE_MAX(rx->precision.kept, room.kept) &&
	       (double)w.kept * SIZE_OF_DELAY * spares > budget_of(rx, rx->precision.delays_mib))
		w.kept /= 2;
	return w;
}

struct rx_window
rx_window_of(const struct rx *rx, unsigned i, const struct fg_stream_config *s)
{
	return share_of_spare(rx, window_of(rx, s), rx->stream[i].room);
}

unsigned
rx_window_of_faults(const struct rx *rx, const struct rx_window *w)
{
	double each = FAULTS_ROOM * sizeof(struct rx_inject_frame) * (double)rx->streams;
	unsigned numbers = w->numbers;

	while (numbers > rx->precision.window && numbers * each > FAULTS_MIB * (double)MIB)
		numbers /= 2;
	return numbers;
}

/* memory of all streams together; @p variation: of those that keep delays, the delays */
static double
memory_of(const struct rx *rx, const struct fg_stream_config *s, unsigned n, bool variation)
{
	double all = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rx_window w = window_of(rx, &s[i]);

		if (!variation)
			all += (double)fg_sequence_size_apart(w.numbers, w.points);
		else if (s[i].measure & FG_MEASURE_VARIATION)
			all += w.kept * (double)SIZE_OF_DELAY;
	}
	return all;
}

void
rx_remember(struct rx *rx, const struct fg_stream_config *s, unsigned n, const struct rx_reach *asked)
{
	uint64_t longest;

	rx->reach = *asked;
	if (asked->traffic_ns == FG_ENDLESS)
		rx->reach.drain_ns = RTE_MAX(asked->drain_ns, LIVE_NS);
	longest = rx->reach.drain_ns;
	for (unsigned i = 0; i < n; i++)
		longest = RTE_MAX(longest, s[i].latest_ns);
	rx->reach.numbers_ns = rx->reach.delays_ns = longest + asked->max_lag_ns;
	/* in steps of an eighth; at 0 all have the least that a trial of this many streams has */
	while (rx->reach.numbers_ns > 0 &&
	       memory_of(rx, s, n, false) > budget_of(rx, rx->precision.numbers_mib))
		rx->reach.numbers_ns -= (rx->reach.numbers_ns + 7) / 8;
	while (rx->reach.delays_ns > 0 && memory_of(rx, s, n, true) > budget_of(rx, rx->precision.delays_mib))
		rx->reach.delays_ns -= (rx->reach.delays_ns + 7) / 8;
	for (unsigned i = 0; i < n; i++)
		rx->stream[i].room = window_of(rx, &s[i]);
}

int
rx_window_alloc(const struct rx *rx, unsigned i, const struct rx_window *w, uint64_t first,
		struct fg_error *err)
{
	const struct rx_measures *m = &rx->measures;
	size_t size = fg_sequence_size_apart(w->numbers, w->points);
	void *numbers = NULL, *place = m->numbers + i * m->least;

	if (size > m->least) {
		place = numbers = malloc(size);
		if (numbers == NULL)
			return fg_error_set(err, ENOMEM, "streams", "no memory for %u numbers of a stream",
					    w->numbers);
	}
	free(rx->stream[i].numbers);
	rx->stream[i].numbers = numbers;
	return fg_sequence_init_apart(rx_measures_sequence(m, i), w->numbers, w->points, place, first, err);
}

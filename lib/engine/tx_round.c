/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit streams that take turns. Streams of one rate and one length leave a port in the same order again and again,
 * and that is how thousands of streams mostly are. So what belongs to each need not be looked at to know which is next,
 * nor does it have to be counted: how many frames of a stream have gone follows from how many have gone in all. What is
 * left, its header and when it began, lies in one or two cache lines, stream after stream in the order in which they are
 * needed, which the processor fetches ahead by itself.
 *
 * A frame that the port did not take is made again, as with a single stream (tx.c). Frames that are too late to be sent
 * are taken off the numbers of their streams. As soon as control wants anything of one of the streams, or they do not end
 * together, the round is given up, and each is sent by itself (tx_many.c).
 */
#include <rte_mbuf.h>

#include "tx_fill.h"
#include "tx_round.h"

/* what is due, as it was found */
struct due {
	struct tx_turn *turn;
	uint64_t at;     /* departure, ticks */
	uint64_t number; /* of the frame in its stream */
};

/* when the next frame departs */
static inline uint64_t
next_departure(const struct tx_round *r)
{
	return r->lap >= r->laps ? UINT64_MAX : tx_turn_of(r, r->place)->start + (uint64_t)(r->since >> 64);
}

static inline void
advance(struct tx_round *r, unsigned n)
{
	r->place += n;
	while (r->place >= r->streams) {
		r->place -= r->streams;
		r->lap++;
		r->since += r->step;
	}
	__atomic_store_n(&r->done, r->done + n, __ATOMIC_RELAXED);
}

/* let the frames go that should have left before a time: whole laps at once, and then one by one */
static __rte_noinline void
forgive(struct tx_round *r, uint64_t limit)
{
	uint64_t next = next_departure(r), laps;

	if (next >= limit)
		return;
	laps = (uint64_t)(((fg_u128)(limit - next) << 64) / r->step);
	laps = RTE_MIN(RTE_MAX(laps, 1U) - 1, r->laps - r->lap - 1);
	for (unsigned k = 0; laps > 0 && k < r->streams; k++)
		tx_turn_of(r, k)->skipped += laps;
	r->lap += laps;
	r->since += laps * r->step;
	r->done += laps * r->streams;
	while (next_departure(r) < limit) {
		tx_turn_of(r, r->place)->skipped++;
		advance(r, 1);
	}
}

/* how many departures of all lie before a time, those behind us among them */
static uint64_t
departures_before(const struct tx_round *r, uint64_t limit)
{
	uint64_t next = next_departure(r), laps, n;
	unsigned place = r->place;
	fg_u128 since;

	if (next >= limit)
		return r->done;
	laps = RTE_MIN((uint64_t)(((fg_u128)(limit - next) << 64) / r->step), r->laps - r->lap - 1);
	since = r->since + laps * r->step;
	for (n = laps * r->streams; n < (r->laps - r->lap) * r->streams - r->place; n++) {
		if (tx_turn_of(r, place)->start + (uint64_t)(since >> 64) >= limit)
			break;
		if (++place == r->streams) {
			place = 0;
			since += r->step;
		}
	}
	return r->done + n;
}

/* the next frame is more than on_time behind: as fg_pace_belated() */
static __rte_noinline void
belated(struct tx_round *r, uint64_t until)
{
	uint64_t end;

	forgive(r, until > r->max_lag ? until - r->max_lag : 0);
	end = departures_before(r, until > r->on_time ? until - r->on_time : 0);
	r->judged = RTE_MAX(r->judged, r->done);
	if (r->judged < end) {
		r->off_schedule += end - r->judged;
		r->judged = end;
	}
}

/* @return how many of the next frames depart up to a time */
static __rte_always_inline unsigned
find_due(const struct tx_round *r, uint64_t until, struct due *due)
{
	fg_u128 since = r->since;
	uint64_t lap = r->lap;
	unsigned place = r->place, n;

	for (n = 0; n < BURST && lap < r->laps; n++) {
		struct tx_turn *turn = tx_turn_of(r, place);
		uint64_t at = turn->start + (uint64_t)(since >> 64);

		if (at > until)
			break;
		due[n] = (struct due){turn, at, lap - turn->skipped};
		if (unlikely(++place == r->streams)) {
			place = 0;
			lap++;
			since += r->step;
		}
	}
	return n;
}

/* some of the frames that have just gone depart in another interval of the series */
static __rte_noinline void
note_intervals(struct tx_round *r, const struct due *due, unsigned sent, uint64_t now, bool launch)
{
	for (unsigned i = 0; i < sent; i++) {
		uint64_t at = launch ? due[i].at : now, end = UINT64_MAX;

		if (at < r->interval_end)
			continue;
		for (unsigned m = 0; m < r->series; m++) {
			unsigned k = r->with_series[m];

			end = series_depart(r->stream[k]->series, at,
					    tx_round_sent(r, k, r->done - sent + i));
		}
		r->interval_end = end;
	}
}

/* frames that are the port's now */
static __rte_always_inline void
count(struct tx_round *r, const struct due *due, unsigned sent, uint64_t now, bool launch)
{
	unsigned place = r->place;

	for (unsigned i = 0; i < sent; i++) {
		uint64_t at = launch ? due[i].at : now;

		r->last[place] = at;
		if (unlikely(due[i].number == 0))
			r->first[place] = at;
		place = place + 1 == r->streams ? 0 : place + 1;
	}
	advance(r, sent);
	if (unlikely((launch ? due[sent - 1].at : now) >= r->interval_end))
		note_intervals(r, due, sent, now, launch);
}

static __rte_noinline void
count_refused(struct tx_round *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		r->stream[(r->place + i) % r->streams]->refused++;
}

static __rte_always_inline void
fill_burst(const struct tx_task *t, const struct tx_round *r, const struct due *due, struct rte_mbuf **frames,
	   unsigned n, uint64_t now, bool launch)
{
	struct tx_common common = tx_have_in_common(t, r->stream[0], r->frame);

	for (unsigned i = 0; i < n; i++) {
		common.bytes = due[i].turn->header;
		common.id = (uint16_t)due[i].turn->id;
		tx_fill(&common, frames[i], due[i].number, launch ? due[i].at : now, launch);
	}
}

/* send a burst of what departs up to @p until. @return how many frames have gone */
static __rte_always_inline unsigned
send_due(struct tx_task *t, struct tx_round *r, uint64_t now, uint64_t until, bool launch)
{
	struct rte_mbuf *frames[BURST];
	struct due due[BURST];
	unsigned n = find_due(r, until, due), sent;

	if (n == 0)
		return 0;
	if (unlikely(until - due[0].at > r->on_time)) {
		belated(r, until);
		n = find_due(r, until, due);
		if (n == 0)
			return 0;
	}
	r->worst_lag = RTE_MAX(r->worst_lag, until - due[0].at);
	if (unlikely(rte_mempool_get_bulk(r->pool, (void **)frames, n) != 0)) {
		r->stream[r->place]->no_mbuf++;
		return 0;
	}
	fill_burst(t, r, due, frames, n, now, launch);
	sent = t->port->tx(t->port, frames, (uint16_t)n, now);
	if (likely(sent > 0))
		count(r, due, sent, now, launch);
	if (unlikely(sent < n)) {
		count_refused(r, n - sent);
		free_burst(frames + sent, n - sent);
	}
	return sent;
}

static __rte_always_inline uint64_t
poll_round(struct fg_task *task, uint64_t now, bool launch)
{
	struct tx_task *t = (struct tx_task *)task;
	struct tx_round *r = t->round;
	uint64_t until = now + t->lead;
	unsigned sent, all = 0;

	do { /* all that is due on a port with a time of its own, whose clock will not wait; else a burst a round */
		sent = send_due(t, r, now, until, launch);
		all += sent;
	} while (launch && sent == BURST);
	if (unlikely(tx_ordered(t)))
		return tx_obey(t, now);
	return all > 0 ? now : tx_wake(t, next_departure(r), now);
}

uint64_t
tx_round_now(struct fg_task *task, uint64_t now)
{
	return poll_round(task, now, false);
}

uint64_t
tx_round_launch(struct fg_task *task, uint64_t now)
{
	return poll_round(task, now, true);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit streams that take turns. Streams of one rate and one length leave a port in the same order again
 * and again, and that is how thousands of streams mostly are. So what belongs to each need not be looked at
 * to know which is next, nor does it have to be counted: how many frames of a stream have gone follows from
 * how many have gone in all. What is left, its header and when it began, lies in one or two cache lines, slot
 * after slot in the order in which they are needed, which the processor fetches ahead by itself. A cycle is
 * one frame of each.
 *
 * A frame that the port did not take is made again, as with a single stream (single.c). Frames that are too
 * late to be sent are taken off the numbers of their streams. As soon as control wants anything of one of the
 * streams, or they do not end together, the round robin is given up, and each is sent by itself
 * (scheduled.c).
 */
#include <rte_mbuf.h>

#include "tx_fill.h"
#include "tx_round_robin.h"

/* what is due, as it was found */
struct tx_slot_due {
	struct tx_slot *slot;
	uint64_t at;     /* when it is due, ticks */
	uint64_t left;   /* and when it leaves, if all before it have */
	uint64_t number; /* of the frame in its stream */
};

/* when the next frame departs */
static inline uint64_t
tx_rr_next_departure(const struct tx_round_robin *r)
{
	return r->cycle >= r->cycles ? UINT64_MAX
				     : tx_slot_of(r, r->slot)->start + (uint64_t)(r->since >> 64);
}

static inline void
tx_rr_advance(struct tx_round_robin *r, unsigned n)
{
	r->slot += n;
	while (r->slot >= r->streams) {
		r->slot -= r->streams;
		r->cycle++;
		r->since += r->step;
	}
	__atomic_store_n(&r->done, r->done + n, __ATOMIC_RELAXED);
}

/* drop frames due before a time: whole cycles at once, then one by one */
static __rte_noinline void
tx_rr_forgive(struct tx_round_robin *r, uint64_t limit)
{
	uint64_t next = tx_rr_next_departure(r), cycles;

	if (next >= limit)
		return;
	cycles = (uint64_t)(((fg_u128)(limit - next) << 64) / r->step);
	cycles = RTE_MIN(RTE_MAX(cycles, 1U) - 1, r->cycles - r->cycle - 1);
	for (unsigned k = 0; cycles > 0 && k < r->streams; k++)
		tx_slot_of(r, k)->skipped += cycles;
	r->cycle += cycles;
	r->since += cycles * r->step;
	r->done += cycles * r->streams;
	while (tx_rr_next_departure(r) < limit) {
		tx_slot_of(r, r->slot)->skipped++;
		tx_rr_advance(r, 1);
	}
}

/* @return how many of the next frames depart up to a time */
static __rte_always_inline unsigned
tx_rr_find_due(const struct tx_round_robin *r, uint64_t until, struct tx_slot_due *due)
{
	fg_u128 since = r->since;
	uint64_t cycle = r->cycle;
	unsigned k = r->slot, n;

	for (n = 0; n < FG_BURST && cycle < r->cycles; n++) {
		struct tx_slot *slot = tx_slot_of(r, k);
		uint64_t at = slot->start + (uint64_t)(since >> 64);

		if (at > until)
			break;
		due[n].slot = slot;
		due[n].at = at;
		due[n].number = cycle - slot->skipped;
		if (unlikely(++k == r->streams)) {
			k = 0;
			cycle++;
			since += r->step;
		}
	}
	return n;
}

/*
 * Of frames that are due, count those that are more than on_time behind: each when it is its turn, as
 * fg_pace_ready_one() does, because to look for all of them takes as long as there are streams.
 */
static __rte_noinline void
tx_rr_judge(struct tx_round_robin *r, const struct tx_slot_due *due, unsigned n, uint64_t until)
{
	uint64_t end;

	while (n > 0 && until - due[n - 1].at <= r->on_time)
		n--;
	end = r->done + n;
	r->judged = RTE_MAX(r->judged, r->done);
	if (r->judged < end) {
		r->off_schedule += end - r->judged;
		r->judged = end;
	}
}

/* some of the frames that have just gone depart in another interval of the series */
static __rte_noinline void
tx_rr_intervals(struct tx_round_robin *r, const struct tx_slot_due *due, unsigned sent)
{
	for (unsigned i = 0; i < sent; i++) {
		uint64_t at = due[i].left, end = UINT64_MAX;

		if (at < r->interval_end)
			continue;
		for (unsigned m = 0; m < r->series; m++) {
			unsigned k = r->with_series[m];

			end = tx_series_depart(r->stream[k], at,
					       tx_round_robin_sent(r, k, r->done - sent + i));
		}
		r->interval_end = end;
	}
}

/* frames that are the port's now */
static __rte_always_inline void
tx_rr_count(struct tx_round_robin *r, const struct tx_slot_due *due, unsigned sent, uint64_t now, bool launch)
{
	unsigned k = r->slot;

	for (unsigned i = 0; i < sent; i++) {
		uint64_t at = launch ? due[i].at : now;

		r->last[k] = at;
		if (unlikely(due[i].number == 0))
			r->first[k] = at;
		k = k + 1 == r->streams ? 0 : k + 1;
	}
	tx_rr_advance(r, sent);
	if (unlikely(due[sent - 1].left >= r->interval_end))
		tx_rr_intervals(r, due, sent);
}

static __rte_noinline void
tx_rr_count_refused(struct tx_round_robin *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		r->stream[(r->slot + i) % r->streams]->refused++;
}

static __rte_always_inline void
tx_rr_fill(struct tx_task *t, const struct tx_round_robin *r, struct tx_slot_due *due,
	   struct rte_mbuf **frames, unsigned n, uint64_t now, bool launch)
{
	struct tx_common common = tx_have_in_common(t, r->stream[0], r->frame);
	const uint64_t time = tx_line_time(&t->line, r->frame->frame_size);
	struct tx_line line = t->line;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t when = launch ? due[i].at : now;
		const uint64_t at = tx_line_begin(&line, when);

		due[i].left = launch ? at : now;
		if (unlikely(at > when))
			tx_line_note(&t->line, &r->stream[(r->slot + i) % r->streams]->own_queue, when, at);
		line.free = at + time;
		common.bytes = due[i].slot->header;
		common.id = (uint16_t)due[i].slot->id;
		tx_fill(&common, frames[i], due[i].number, due[i].left, launch);
	}
	t->line.free = line.free;
}

/* send a burst of what departs up to @p until. @return how many frames have gone */
static __rte_always_inline unsigned
tx_rr_send(struct tx_task *t, struct tx_round_robin *r, uint64_t now, uint64_t until, bool launch)
{
	struct rte_mbuf *frames[FG_BURST];
	struct tx_slot_due due[FG_BURST];
	unsigned n = tx_rr_find_due(r, until, due), sent;

	if (n == 0)
		return 0;
	if (unlikely(until - due[0].at > r->on_time)) {
		tx_rr_forgive(r, until > r->max_lag ? until - r->max_lag : 0);
		n = tx_rr_find_due(r, until, due);
		if (n == 0)
			return 0;
		tx_rr_judge(r, due, n, until);
	}
	r->worst_lag = RTE_MAX(r->worst_lag, until - due[0].at);
	if (unlikely(rte_mempool_get_bulk(r->pool, (void **)frames, n) != 0)) {
		r->stream[r->slot]->no_mbuf++;
		return 0;
	}
	tx_rr_fill(t, r, due, frames, n, now, launch);
	sent = t->port->tx(t->port, frames, (uint16_t)n, now);
	if (likely(sent > 0))
		tx_rr_count(r, due, sent, now, launch);
	if (unlikely(sent < n)) {
		tx_line_take_back(&t->line, launch ? due[sent].left : 0,
				  tx_line_time(&t->line, r->frame->frame_size) * (n - sent));
		tx_rr_count_refused(r, n - sent);
		fg_burst_free(frames + sent, n - sent);
	}
	return sent;
}

static __rte_always_inline uint64_t
tx_round_robin(struct fg_task *task, uint64_t now, bool launch)
{
	struct tx_task *t = (struct tx_task *)task;
	struct tx_round_robin *r = t->round_robin;
	uint64_t until = now + t->lead;
	unsigned sent, all = 0;

	/*
	 * all that is due on a port with a time of its own, whose clock will not wait; else a burst a pass
	 */
	do {
		sent = tx_rr_send(t, r, now, until, launch);
		all += sent;
	} while (launch && sent == FG_BURST);
	if (unlikely(tx_ordered(t)))
		return tx_obey(t, now);
	return all > 0 ? now : tx_wake(t, tx_rr_next_departure(r), now);
}

static uint64_t
tx_round_robin_now(struct fg_task *task, uint64_t now)
{
	return tx_round_robin(task, now, false);
}

static uint64_t
tx_round_robin_launch(struct fg_task *task, uint64_t now)
{
	return tx_round_robin(task, now, true);
}

tx_poller
tx_round_robin_poller(bool launch)
{
	return launch ? tx_round_robin_launch : tx_round_robin_now;
}

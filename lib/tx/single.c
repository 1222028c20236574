/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit a queue's only stream, if it is a plain one: frames of one size (or of a few: tx_mix.h), evenly
 * paced. The buffers already hold its frame; what is written here is the header, which a device that passes
 * buffers on may have changed, and the signature. A port that departs frames by itself at a given time gets
 * them a little ahead with that time; any other gets them when they are due. What else a queue may have to
 * send: scheduled.c.
 */
#include <rte_mbuf.h>

#include "tx_mix.h"

/* one frame after the other, at their departures or, where the port does not wait for them, now */
static __rte_always_inline void
tx_single_fill(const struct tx_task *t, const struct tx_stream *s, struct rte_mbuf **frames, unsigned n,
	       uint64_t now, bool launch, bool vary)
{
	const struct tx_common common = tx_have_in_common(t, s, s->frame);
	const uint64_t sequence = s->sequence;
	const fg_u128 step = fg_pace_step(&s->pace);
	fg_u128 at = s->pace.at;
	uint8_t *data[FG_BURST];

	for (unsigned i = 0; i < n; i++) {
		data[i] = tx_fill(&common, frames[i], sequence + i, launch ? (uint64_t)(at >> 64) : now,
				  launch);
		if (launch)
			at += step;
	}
	if (vary)
		tx_vary(s, s->frame, sequence, data, n);
}

/*
 * The same where the line is still busy, as a load begins whose first frame is due within the last one of the
 * load before: each leaves when the one ahead has. @p left  gets these times, ticks
 */
static __rte_noinline void
tx_single_fill_behind(struct tx_task *t, struct tx_stream *s, struct rte_mbuf **frames, unsigned n,
		      uint64_t *left, bool vary)
{
	const struct tx_common common = tx_have_in_common(t, s, s->frame);
	const uint64_t time = tx_line_time(&t->line, s->frame->frame_size);
	struct tx_line line = t->line;
	uint8_t *data[FG_BURST];

	for (unsigned i = 0; i < n; i++) {
		const uint64_t due = fg_pace_at(&s->pace, s->pace.next + i);

		left[i] = tx_line_begin(&line, due);
		line.free = left[i] + time;
		tx_line_note(&t->line, &s->own_queue, due, left[i]);
		data[i] = tx_fill(&common, frames[i], s->sequence + i, left[i], true);
	}
	if (vary)
		tx_vary(s, s->frame, s->sequence, data, n);
}

/*
 * Of the @p sent frames from number @p first of the load on, some depart in the next interval of the series.
 * @param left  when they left, where that is not when they were due
 */
static __rte_noinline void
tx_single_intervals(struct tx_stream *s, uint64_t first, unsigned sent, const uint64_t *left, bool launch)
{
	for (unsigned i = 0; i < sent; i++) {
		uint64_t at = !launch ? s->last : left != NULL ? left[i] : fg_pace_at(&s->pace, first + i);

		tx_note_interval(s, at, s->sent - sent + i);
	}
}

/* send what departs up to @p until */
static __rte_always_inline uint64_t
tx_single_send(struct tx_task *t, struct tx_stream *s, uint64_t now, uint64_t until, bool launch, bool vary)
{
	struct rte_mbuf *frames[FG_BURST];
	unsigned n = fg_pace_due(&s->pace, until, FG_BURST), sent;
	uint64_t first = s->pace.next, left[FG_BURST];
	const bool behind = launch && unlikely(t->line.free > fg_pace_next(&s->pace));

	if (n == 0)
		return tx_wake(t, fg_pace_next(&s->pace), now);
	if (unlikely(rte_mempool_get_bulk(s->pool, (void **)frames, n) != 0)) {
		s->no_mbuf += n;
		return now;
	}
	if (behind)
		tx_single_fill_behind(t, s, frames, n, left, vary);
	else
		tx_single_fill(t, s, frames, n, now, launch, vary);
	sent = t->port->tx(t->port, frames, (uint16_t)n, now);
	if (likely(sent > 0)) {
		uint64_t last = launch ? fg_pace_at(&s->pace, first + sent - 1) : now;

		s->sequence += sent; /* frames[0..sent) belong to the port now */
		tx_count(s, sent, sent * (uint64_t)s->frame->frame_size,
			 launch ? fg_pace_next(&s->pace) : now, last);
		fg_pace_commit(&s->pace, sent);
		if (unlikely(behind))
			last = left[sent - 1];
		if (launch) /* no two of a load are closer than their length */
			t->line.free = last + tx_line_time(&t->line, s->frame->frame_size);
		else
			tx_line_burst(&t->line, &s->own_queue, now, sent, s->frame->frame_size);
		if (unlikely(last >= s->interval_end))
			tx_single_intervals(s, first, sent, behind ? left : NULL, launch);
	}
	if (unlikely(sent < n)) {
		s->refused += n - sent;
		fg_burst_free(frames + sent, n - sent);
	}
	return now; /* what was sent may cause something at any time */
}

static __rte_always_inline uint64_t
tx_single(struct fg_task *task, uint64_t now, bool launch, bool vary, bool mix)
{
	struct tx_task *t = (struct tx_task *)task;
	struct tx_stream *s = t->only;
	uint64_t next;
	unsigned load;

	do { /* the first frames of the next load may be due in the same pass */
		load = s->present;
		next = mix ? tx_mix_send(t, s, now, now + t->lead, launch, vary)
			   : tx_single_send(t, s, now, now + t->lead, launch, vary);
		tx_next_load(s);
	} while (load != s->present);
	return unlikely(tx_ordered(t)) ? tx_obey(t, now) : next;
}

/* one loop for each, so that none decides this for every frame: launch, vary, mix */
#define LOOPS(X)                           \
	X(now, false, false, false)        \
	X(now_vary, false, true, false)    \
	X(now_mix, false, false, true)     \
	X(now_mix_vary, false, true, true) \
	X(launch, true, false, false)      \
	X(launch_vary, true, true, false)  \
	X(launch_mix, true, false, true)   \
	X(launch_mix_vary, true, true, true)

#define LOOP(name, launch, vary, mix)                                        \
	static uint64_t tx_single_##name(struct fg_task *task, uint64_t now) \
	{                                                                    \
		return tx_single(task, now, launch, vary, mix);              \
	}
LOOPS(LOOP)

tx_poller
tx_single_poller(bool launch, bool vary, bool mix)
{
#define ENTRY(name, launch, vary, mix) [launch][vary][mix] = tx_single_##name,
	static const tx_poller loops[2][2][2] = {LOOPS(ENTRY)};

	return loops[launch][vary][mix];
}

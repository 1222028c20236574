/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit a port's only stream, if it is a plain one: frames of one size (or of a few: tx_mix.h), evenly paced. The buffers already hold its
 * frame; what is written here is the header, which a device that passes buffers on may have changed, and the signature.
 * A port that departs frames by itself at a given time gets them a little ahead with that time; any other gets them when
 * they are due. All other ports: tx_many.c.
 */
#include <rte_mbuf.h>

#include "tx_mix.h"
#include "tx_round.h"

/* one frame after the other, at their departures or, where the port does not wait for them, now */
static __rte_always_inline void
fill_burst(const struct tx_task *t, const struct tx_stream *s, struct rte_mbuf **frames, unsigned n,
	   uint64_t now, bool launch, bool vary)
{
	const struct tx_common common = tx_have_in_common(t, s, s->frame);
	const uint64_t sequence = s->sequence;
	const fg_u128 step = fg_pace_step(&s->pace);
	fg_u128 at = s->pace.at;
	uint8_t *data[BURST];

	for (unsigned i = 0; i < n; i++) {
		data[i] = tx_fill(&common, frames[i], sequence + i, launch ? (uint64_t)(at >> 64) : now,
				  launch);
		if (launch)
			at += step;
	}
	if (vary)
		tx_vary(s, s->frame, sequence, data, n);
}

/* of the @p sent frames from number @p first of the load on, some depart in the next interval of the series */
static __rte_noinline void
note_intervals(struct tx_stream *s, uint64_t first, unsigned sent, bool launch)
{
	for (unsigned i = 0; i < sent; i++)
		tx_note_interval(s, launch ? fg_pace_at(&s->pace, first + i) : s->last, s->sent - sent + i);
}

/* send what departs up to @p until */
static __rte_always_inline uint64_t
send_due(struct tx_task *t, struct tx_stream *s, uint64_t now, uint64_t until, bool launch, bool vary)
{
	struct rte_mbuf *frames[BURST];
	unsigned n = fg_pace_due(&s->pace, until, BURST), sent;
	uint64_t first = s->pace.next;

	if (n == 0)
		return tx_wake(t, fg_pace_next(&s->pace), now);
	if (unlikely(rte_mempool_get_bulk(s->pool, (void **)frames, n) != 0)) {
		s->no_mbuf += n;
		return now;
	}
	fill_burst(t, s, frames, n, now, launch, vary);
	sent = t->port->tx(t->port, frames, (uint16_t)n, now);
	if (likely(sent > 0)) {
		s->sequence += sent; /* frames[0..sent) belong to the port now */
		tx_count(s, sent, sent * (uint64_t)s->frame->frame_size,
			 launch ? fg_pace_next(&s->pace) : now,
			 launch ? fg_pace_at(&s->pace, first + sent - 1) : now);
		fg_pace_commit(&s->pace, sent);
		if (unlikely(s->last >= s->interval_end))
			note_intervals(s, first, sent, launch);
	}
	if (unlikely(sent < n)) {
		s->refused += n - sent;
		free_burst(frames + sent, n - sent);
	}
	return now; /* what was sent may cause something at any time */
}

static __rte_always_inline uint64_t
tx_poll(struct fg_task *task, uint64_t now, bool launch, bool vary, bool mix)
{
	struct tx_task *t = (struct tx_task *)task;
	struct tx_stream *s = t->only;
	uint64_t next;
	unsigned load;

	do { /* the first frames of the next load may be due in the same round */
		load = s->present;
		next = mix ? tx_mix_send(t, s, now, now + t->lead, launch, vary)
			   : send_due(t, s, now, now + t->lead, launch, vary);
		tx_next_load(s);
	} while (load != s->present);
	return unlikely(tx_ordered(t)) ? tx_obey(t, now) : next;
}

static uint64_t
poll_now(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, false, false, false);
}

static uint64_t
poll_now_vary(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, false, true, false);
}

static uint64_t
poll_launch(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, true, false, false);
}

static uint64_t
poll_launch_vary(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, true, true, false);
}

static uint64_t
poll_now_mix(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, false, false, true);
}

static uint64_t
poll_now_mix_vary(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, false, true, true);
}

static uint64_t
poll_launch_mix(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, true, false, true);
}

static uint64_t
poll_launch_mix_vary(struct fg_task *task, uint64_t now)
{
	return tx_poll(task, now, true, true, true);
}

/* frames that depart at equal distances, or as their octets do */
static bool
is_even(const struct fg_pace *p, bool mixed)
{
	return p->even || (mixed && p->shape == FG_PACE_CONSTANT);
}

static bool
is_plain(const struct tx_stream *s)
{
	for (unsigned i = s->present + 1; i < s->loads; i++)
		if (!is_even(&s->load[i], s->mixed))
			return false;
	return is_even(&s->pace, s->mixed) && !s->whole && !s->stopped;
}

void
tx_choose(struct tx_task *t)
{
	static uint64_t (*const plain[2][2][2])(struct fg_task *, uint64_t) = {
		{{poll_now, poll_now_vary}, {poll_launch, poll_launch_vary}},
		{{poll_now_mix, poll_now_mix_vary}, {poll_launch_mix, poll_launch_mix_vary}},
	};
	bool launch = t->port->caps.launch_time;

	if (t->more)
		t->task.poll = launch ? tx_more_launch : tx_more_now;
	else if (t->round != NULL)
		t->task.poll = launch ? tx_round_launch : tx_round_now;
	else if (t->only != NULL && is_plain(t->only) && t->waiting == 0)
		t->task.poll = plain[t->only->mixed][launch][t->only->frame->varies > 0];
	else
		t->task.poll = launch ? tx_many_launch : tx_many_now;
}

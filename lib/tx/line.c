/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of a port that several queues send over: its parts, and how long frames wait for it at most. See
 * tx_line.h. Where the port itself departs frames at a given time, the whole line stays each queue's.
 */
#include <math.h>

#include "tx.h"
#include "tx_line.h"

/*
 * bytes: what a card may have taken out of its rings and not sent yet; of the cards whose data sheets tell,
 * the 82599 has the largest memory for that
 */
enum { CARD_MEMORY = 160 << 10 };

struct tx_line
tx_line_of(const struct fg_clock *clock, const struct fg_port_caps *caps)
{
	const long double ticks = caps->line_rate_bps == 0 ? 0 : 8.0L * clock->hz / caps->line_rate_bps;
	const uint64_t one = UINT64_C(1) << TX_LINE_FRACTION, byte_time = (uint64_t)(ticks * one);
	const uint64_t overhead = caps->line_overhead == 0 ? FG_ETHER_OVERHEAD : caps->line_overhead;

	return (struct tx_line){
		.byte_time = byte_time,
		.overhead_time = byte_time * overhead + (byte_time > 0 && caps->launch_time ? one - 1 : 0),
	};
}

/* what the streams of a queue put on the line in a second, and the longest of their frames; bytes */
static double
load_of(const struct tx *tx, unsigned queue, uint32_t *longest)
{
	double load = 0;

	for (unsigned i = 0; i < tx->streams; i++) {
		const struct tx_stream *s = &tx->stream[i];
		double octets = 0;

		if (s->queue != queue)
			continue;
		for (unsigned k = 0; k < s->templates; k++) {
			*longest = RTE_MAX(*longest, s->frames[k]->frame_size);
			octets += s->frames[k]->frame_size + (double)FG_ETHER_OVERHEAD;
		}
		load += s->mean_fps * octets / s->templates;
	}
	return load;
}

void
tx_share_line(struct tx *tx, unsigned first, unsigned queues)
{
	uint32_t longest[FG_MAX_QUEUES] = {0};
	double load[FG_MAX_QUEUES], known = 0, all = 0;
	unsigned senders = 0, silent = 0;

	for (unsigned k = 0; k < queues; k++) {
		const struct tx_task *t = &tx->task[first + k];

		load[k] = 0;
		if (t->port == NULL || t->port->caps.launch_time)
			continue;
		load[k] = load_of(tx, first + k, &longest[k]);
		if (tx->spares > 0) { /* the load of later streams is unknown */
			load[k] = 1;
			longest[k] = t->port->caps.max_frame;
		}
		senders++;
		silent += load[k] == 0;
		known += load[k];
	}
	/* a queue whose streams may send on command only gets a part like the others' */
	for (unsigned k = 0; k < queues; k++) {
		if (longest[k] > 0 && load[k] == 0)
			load[k] = known > 0 ? known / (senders - silent) : 1;
		all += load[k];
	}
	for (unsigned k = 0; k < queues && senders > 1; k++) {
		struct tx_task *t = &tx->task[first + k];

		if (load[k] == 0)
			continue;
		t->first = first;
		t->queues = queues;
		t->longest_frame = tx_line_time(&t->line, longest[k]);
		t->line.share = load[k] / all;
		t->line.byte_time = (uint64_t)((double)t->line.byte_time / t->line.share);
		t->line.overhead_time = (uint64_t)((double)t->line.overhead_time / t->line.share);
	}
}

/* what the line has to do for a queue when a frame comes in another one, ticks: at most */
static double
work_of(const struct tx_task *t)
{
	const uint64_t waited = __atomic_load_n(&t->line.longest, __ATOMIC_RELAXED);

	return waited == 0 ? 0 : (double)t->longest_frame + (double)(waited - 1) * t->line.share;
}

uint64_t
tx_own_queue(const struct tx *tx, const struct tx_stream *s)
{
	const uint64_t noted = __atomic_load_n(&s->own_queue, __ATOMIC_RELAXED);
	const uint64_t own = noted - (noted > 0);
	const struct tx_task *t = &tx->task[s->queue];
	double ticks = (double)own * t->line.share, most;

	if (t->line.share == 0 || tx_sent(s) == 0)
		return fg_clock_span_ns(s->clock, own);
	most = ldexp((double)t->line.byte_time, -TX_LINE_FRACTION) * CARD_MEMORY * t->line.share;
	for (unsigned i = t->first; i < t->first + t->queues; i++) {
		ticks += i == s->queue ? 0 : work_of(&tx->task[i]);
		most += (double)tx->task[i].longest_frame * t->port->caps.tx_ring;
	}
	/* what waits is in the port, however the queues were used */
	if (t->port->caps.tx_ring > 0)
		ticks = RTE_MIN(ticks, most);
	return fg_clock_span_ns(s->clock, (uint64_t)ticks);
}

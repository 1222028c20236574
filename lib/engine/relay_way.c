/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One way of the relay. What the port took no more of stays pending, and only then is more fetched: so the frames wait
 * in the delay line, which is bounded, and where there is none, in the ring of the port they come from, which counts
 * what it has no room for.
 */
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "fg_filter.h"
#include "fg_signature.h"
#include "relay_priv.h"

/* what reception said of a frame does not hold for sending it; what says how its buffer lies does */
static inline void
forget_reception(struct rte_mbuf *m)
{
	m->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
}

/* @return whether all that was pending is gone */
static inline bool
send_pending(struct way *w, uint64_t now)
{
	unsigned n = w->pendings - w->sent, taken;

	if (n == 0)
		return true;
	taken = w->to->tx(w->to, w->pending + w->sent, (uint16_t)n, now);
	w->counters.forwarded += taken;
	w->sent += taken;
	if (w->sent < w->pendings) {
		w->counters.refused++;
		return false;
	}
	w->sent = w->pendings = 0;
	return true;
}

/* a question to the reflector itself */
static __rte_noinline bool
answer(struct way *w, struct rte_mbuf *m)
{
	size_t length = 0;

	if (m->nb_segs == 1 && m->data_len + rte_pktmbuf_tailroom(m) >= FG_ANSWER_ROOM)
		length = fg_net_answer(&w->host, rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
	if (length == 0) {
		w->counters.foreign++;
		return false;
	}
	w->counters.answered++;
	m->data_len = m->pkt_len = (uint16_t)length;
	return true;
}

static inline bool
is_wanted(const struct way *w, const struct rte_mbuf *m, const uint8_t *frame, bool is_test)
{
	if (likely(w->filter.bf_insns == NULL))
		return is_test;
	return fg_filter_passes(&w->filter, frame, m->pkt_len, m->data_len);
}

/* @return false: it does not go back */
static inline bool
turn_round(struct way *w, struct rte_mbuf *m, uint64_t now)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *end = frame + m->data_len;
	struct fg_signature s;
	bool is_test = fg_signature_read(end, m->data_len, &s);

	if (unlikely(!is_wanted(w, m, frame, is_test) || !fg_net_reflect(frame, m->data_len)))
		return answer(w, m);
	if (w->restamps && is_test)
		fg_signature_write(end, s.stream, s.sequence, clock_ns(w->clock, now));
	return true;
}

static inline void
note_arrivals(struct way *w, struct rte_mbuf *const *frames, unsigned n)
{
	w->counters.received += n;
	for (unsigned i = 0; i < n; i++)
		w->counters.octets += frames[i]->pkt_len + FG_ETHER_FCS;
}

uint64_t
way_poll_plain(struct fg_task *task, uint64_t now)
{
	struct way *w = (struct way *)task;
	unsigned n, kept = 0;

	if (!send_pending(w, now))
		return now;
	n = w->from->rx(w->from, w->pending, BURST, now);
	note_arrivals(w, w->pending, n);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = w->pending[i];

		if (w->reflects && !turn_round(w, m, now)) {
			rte_pktmbuf_free(m);
			continue;
		}
		forget_reception(m);
		w->pending[kept++] = m;
	}
	w->pendings = kept;
	send_pending(w, now);
	return now;
}

static void
put(struct way *w, struct rte_mbuf *m, uint64_t time, uint32_t places, uint64_t number)
{
	if (places > 0)
		fg_delay_line_hold(&w->line, m, places, time, number);
	else
		fg_delay_line_push(&w->line, m, time, number);
}

static void
put_copy(struct way *w, const struct rte_mbuf *m, const struct fg_fate *fate)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);

	if (copy == NULL) {
		w->counters.no_buffer++;
		return;
	}
	w->counters.duplicated++;
	put(w, copy, fate->copy_time, fate->places, FG_DELAY_UNCOUNTED);
}

/* a frame that is not lost goes into the line */
static void
delay(struct way *w, struct rte_mbuf *m, uint64_t time)
{
	struct fg_fate fate;

	fg_impair_decide(&w->impair, time + w->delay, &fate);
	if (fate.corrupt)
		w->counters.corrupted +=
			fg_impair_corrupt(&w->impair, rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
	put(w, m, fate.time, fate.places, fg_delay_line_number(&w->line));
	if (fate.duplicate)
		put_copy(w, m, &fate);
}

/* @return the counter of what became of a frame that is lost; NULL: it is on its way */
static inline uint64_t *
enter(struct way *w, struct rte_mbuf *m, uint64_t now)
{
	uint64_t time = now;

	if (w->impair.loses && fg_impair_lost(&w->impair))
		return &w->counters.lossy;
	if (unlikely(!fg_delay_line_room(&w->line, 2)))
		return &w->counters.line_full;
	if (w->shapes)
		time = fg_shaper_pass(&w->shaper, now, m->pkt_len + FG_ETHER_FCS);
	if (time == UINT64_MAX)
		return &w->counters.queue_full;
	forget_reception(m);
	delay(w, m, time);
	return NULL;
}

static inline void
leave(struct way *w, uint64_t now)
{
	while (send_pending(w, now)) {
		while (w->pendings < BURST && fg_delay_line_next(&w->line) <= now)
			w->pending[w->pendings++] = fg_delay_line_pop(&w->line);
		if (w->pendings == 0)
			return;
	}
}

uint64_t
way_poll_impaired(struct fg_task *task, uint64_t now)
{
	struct way *w = (struct way *)task;
	struct rte_mbuf *frames[BURST];
	unsigned n = w->from->rx(w->from, frames, BURST, now);

	/* a frame may have come after the round began, by much if the processor was away: none may leave too early */
	if (n > 0)
		now = rte_rdtsc();
	note_arrivals(w, frames, n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t *lost;

		if (w->reflects && !turn_round(w, frames[i], now)) {
			rte_pktmbuf_free(frames[i]);
			continue;
		}
		lost = enter(w, frames[i], now);
		if (lost != NULL) {
			++*lost;
			rte_pktmbuf_free(frames[i]);
		}
	}
	leave(w, now);
	return now;
}

void
way_publish(struct fg_task *task)
{
	struct way *w = (struct way *)task;
	const uint64_t *counters = (const uint64_t *)&w->counters;

	w->counters.reordered = w->line.reordered;
	for (unsigned i = 0; i < RELAY_COUNTERS; i++)
		atomic_store_explicit(&w->published[i], counters[i], memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Frames of a few sizes. The buffers of such a stream hold its longest frame, whose payload begins like that
 * of any shorter one. What a frame leaves behind in its buffer that does not belong there is its signature,
 * where the payload of a longer one goes on: so before a frame leaves it is mended there.
 *
 * If it is a queue's only stream and its loads are even, by frames or by bytes, it is sent as a plain one is
 * (single.c): which frames are due, and their sizes, follows from the cycle of sizes.
 */
#include "tx.h"
#include "tx_fill.h"

/** Before a frame is filled: let its payload be whole where the signatures of shorter ones have been. */
static inline void
tx_mend(const struct tx_stream *s, const struct fg_template *frame, const struct rte_mbuf *m)
{
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	for (const uint16_t *end = s->ends; *end < frame->length; end++)
		memcpy(data + *end - FG_SIGNATURE_SIZE, frame->bytes + *end - FG_SIGNATURE_SIZE,
		       FG_SIGNATURE_SIZE);
}

/** Departures of the next frames, ticks with 64 bits of fraction, and of the one after them. */
struct tx_mix_due {
	fg_u128 at[FG_BURST + 1];
	uint64_t left[FG_BURST]; /* when they leave the port, ticks */
	unsigned n;
	uint64_t octets; /* of all of them */
};

static inline uint32_t
tx_mix_after(const struct fg_sizes *sizes, uint32_t place)
{
	return place + 1 == sizes->length ? 0 : place + 1;
}

/* those that depart up to a time */
static __rte_always_inline void
tx_mix_find(const struct tx_stream *s, uint64_t until, struct tx_mix_due *due)
{
	const struct fg_pace *p = &s->pace;
	const struct fg_sizes *sizes = s->sizes;
	unsigned most = (unsigned)RTE_MIN(p->total - p->next, (uint64_t)FG_BURST), n;
	uint32_t place = (uint32_t)((p->first + p->next) % sizes->length);
	fg_u128 at = p->at, step[TX_MIX_SIZES];

	for (unsigned k = 0; k < sizes->kinds; k++)
		step[k] = fg_pace_step_of(p, sizes->size[k]);
	for (n = 0; n < most && (uint64_t)(at >> 64) <= until; n++) {
		due->at[n] = at;
		at += step[sizes->kind[place]];
		place = tx_mix_after(sizes, place);
	}
	due->at[n] = at;
	due->n = n;
}

static __rte_always_inline void
tx_mix_fill(struct tx_task *t, struct tx_stream *s, struct rte_mbuf **frames, struct tx_mix_due *due,
	    uint64_t now, bool launch, bool vary)
{
	struct tx_common common = tx_have_in_common(t, s, s->frame);
	const struct fg_sizes *sizes = s->sizes;
	uint32_t place = (uint32_t)(s->sequence % sizes->length);
	struct tx_line line = t->line;

	due->octets = 0;
	for (unsigned i = 0; i < due->n; i++) {
		const struct fg_template *frame = s->frames[sizes->kind[place]];
		const uint64_t when = launch ? (uint64_t)(due->at[i] >> 64) : now;
		const uint64_t at = tx_line_begin(&line, when);
		uint8_t *data;

		due->left[i] = launch ? at : now;
		tx_line_note(&t->line, &s->own_queue, when, at);
		line.free = at + tx_line_time(&line, frame->frame_size);
		common.bytes = frame->bytes;
		common.length = frame->length;
		due->octets += frame->frame_size;
		tx_mend(s, frame, frames[i]);
		data = tx_fill(&common, frames[i], s->sequence + i, due->left[i], launch);
		if (vary)
			tx_vary(s, frame, s->sequence + i, &data, 1);
		place = tx_mix_after(sizes, place);
	}
	t->line.free = line.free;
}

/* the first @p sent frames are the port's now */
static __rte_always_inline void
tx_mix_count(struct tx_stream *s, const struct tx_mix_due *due, unsigned sent, uint64_t now, bool launch)
{
	uint64_t octets = due->octets;

	if (unlikely(sent < due->n))
		octets = fg_sizes_octets(s->sizes, s->sequence + sent) -
			 fg_sizes_octets(s->sizes, s->sequence);

	s->sequence += sent;
	tx_count(s, sent, octets, launch ? (uint64_t)(due->at[0] >> 64) : now,
		 launch ? (uint64_t)(due->at[sent - 1] >> 64) : now);
	s->pace.next += sent;
	s->pace.at = due->at[sent];
	if (likely(due->left[sent - 1] < s->interval_end))
		return;
	for (unsigned i = 0; i < sent; i++)
		tx_note_interval(s, due->left[i], s->sent - sent + i);
}

/* how long the next @p n frames hold the line, ticks */
static __rte_noinline uint64_t
tx_mix_line_time(const struct tx_task *t, const struct tx_stream *s, unsigned n)
{
	uint64_t time = 0;

	for (unsigned i = 0; i < n; i++)
		time += tx_line_time(&t->line, fg_sizes_of(s->sizes, s->sequence + i));
	return time;
}

/** Send what departs up to @p until. @return when to be polled next */
static __rte_always_inline uint64_t
tx_mix_send(struct tx_task *t, struct tx_stream *s, uint64_t now, uint64_t until, bool launch, bool vary)
{
	struct rte_mbuf *frames[FG_BURST];
	struct tx_mix_due due;
	unsigned sent;

	if (!fg_pace_ready(&s->pace, until))
		return tx_wake(t, fg_pace_next(&s->pace), now);
	tx_mix_find(s, until, &due);
	if (unlikely(rte_mempool_get_bulk(s->pool, (void **)frames, due.n) != 0)) {
		s->no_mbuf += due.n;
		return now;
	}
	tx_mix_fill(t, s, frames, &due, now, launch, vary);
	sent = t->port->tx(t->port, frames, (uint16_t)due.n, now);
	if (likely(sent > 0))
		tx_mix_count(s, &due, sent, now, launch);
	if (unlikely(sent < due.n)) {
		tx_line_take_back(&t->line, launch ? due.left[sent] : 0,
				  tx_mix_line_time(t, s, due.n - sent));
		s->refused += due.n - sent;
		fg_burst_free(frames + sent, due.n - sent);
	}
	return now;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the frames of a burst have in common, copied out of task and stream: the compiler must assume that
 * writing bytes to a frame changes whatever a pointer leads to, and would fetch it all again for each of
 * them.
 */
#include <rte_mbuf_dyn.h>

#include "fg_signature.h"
#include "fg_vary.h"
#include "tx_task.h"

struct tx_common {
	const uint8_t *bytes;
	struct fg_clock clock;
	uint64_t time_flag;
	int time_offset;
	uint16_t length, header, id;
};

static __rte_always_inline struct tx_common
tx_have_in_common(const struct tx_task *t, const struct tx_stream *s, const struct fg_template *frame)
{
	return (struct tx_common){
		.bytes = frame->bytes,
		.clock = *t->clock,
		.time_flag = t->time_flag,
		.time_offset = t->time_offset,
		.length = frame->length,
		.header = frame->header,
		.id = s->id,
	};
}

/**
 * Let a buffer carry a frame, to depart at a time; the time goes into the buffer if the port shall wait for
 * it.
 * @return where the frame begins
 */
static __rte_always_inline uint8_t *
tx_begin(const struct tx_common *c, struct rte_mbuf *m, uint64_t departure, bool launch)
{
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	/*
	 * a buffer lies in its pool whole, single and ours alone; this is what its last use may have left
	 * behind
	 */
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = launch ? c->time_flag : 0;
	m->data_len = c->length;
	m->pkt_len = c->length;
	if (launch)
		*RTE_MBUF_DYNFIELD(m, c->time_offset, uint64_t *) = departure;
	return data;
}

/**
 * Make frame @p number of a buffer that holds its payload. What changes in its header is left to tx_vary().
 * @return where the frame begins
 */
static __rte_always_inline uint8_t *
tx_fill(const struct tx_common *c, struct rte_mbuf *m, uint64_t number, uint64_t departure, bool launch)
{
	uint8_t *data = tx_begin(c, m, departure, launch);

	/*
	 * in whole blocks: past the header comes the payload, which is the same, and the signature, still to
	 * come. Ethernet, IPv4 and UDP are three, also with a VLAN
	 */
	if (likely(c->header > 32 && c->header <= 48))
		memcpy(data, c->bytes, 48);
	else
		for (unsigned i = 0; i < c->header; i += 16)
			memcpy(data + i, c->bytes + i, 16);
	fg_signature_write(data + c->length, c->id, number, fg_clock_ns(&c->clock, departure));
	return data;
}

/**
 * Let field programs work on frames that were just filled, from @p number on. What a frame carries follows
 * from its number in the whole stream; this may be a part of it.
 */
static __rte_always_inline void
tx_vary(const struct tx_stream *s, const struct fg_template *frame, uint64_t number, uint8_t *const *data,
	unsigned n)
{
	if (likely(s->apart == 1)) {
		fg_vary_burst(frame, number, data, n);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		fg_vary_burst(frame, s->number + (number + i) * s->apart, &data[i], 1);
}

/** Frames that are the port's now. Control may look at the counts at any time. */
static __rte_always_inline void
tx_count(struct tx_stream *s, unsigned frames, uint64_t octets, uint64_t first, uint64_t last)
{
	if (s->sent == 0)
		s->first = first;
	s->last = last;
	__atomic_store_n(&s->octets, s->octets + octets, __ATOMIC_RELAXED);
	__atomic_store_n(&s->sent, s->sent + frames, __ATOMIC_RELAXED);
}

/** Frame @p number of the stream has departed: is it the first one of another interval of the series? */
static __rte_always_inline void
tx_note_interval(struct tx_stream *s, uint64_t departure, uint64_t number)
{
	if (unlikely(departure >= s->interval_end))
		s->interval_end = tx_series_depart(s, departure, number);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit whatever a port has to send: many streams, each with its own rate, sizes and shape of load, in the one order
 * of their departures. Frames are collected one by one from the queue of streams and handed over by the burst.
 *
 * A frame that the port did not take, or for which there was no buffer, waits with those behind it: the schedule has
 * moved on, but its number has not been given away, and when it has waited too long it is counted late like any other.
 *
 * Where any stream of the port makes errors on purpose, or has a CRC in its frames, the loop is a second one that looks
 * at which.
 */
#include <rte_mbuf.h>

#include "tx_fault.h"
#include "tx_mix.h"

/* of the frames that wait, let those go that are too late */
static __rte_noinline void
forgive_waiting(struct tx_task *t, uint64_t until)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->waiting; i++) {
		struct tx_stream *s = t->due[i].stream;

		if (until - t->due[i].at > s->pace.max_lag)
			s->past.late++;
		else
			t->due[kept++] = t->due[i];
	}
	t->waiting = kept;
}

/* the next frames up to a time, behind those that wait */
static inline unsigned
collect(struct tx_task *t, uint64_t until)
{
	struct tx_queue *q = &t->queue;
	unsigned n = t->waiting;

	while (n < BURST && q->runs > 0 && q->heap[0].at <= until) {
		struct tx_stream *s = q->heap[0].run->front;

		if (s->behind != NULL)
			rte_prefetch0(s->behind);
		/* it may have been told to stop, or be too late */
		if (likely(fg_pace_next(&s->pace) == q->heap[0].at && fg_pace_ready(&s->pace, until))) {
			t->due[n++] = (struct tx_due){s, fg_pace_next(&s->pace)};
			fg_pace_commit(&s->pace, 1);
		}
		tx_next_load(s);
		tx_queue_settle(q);
	}
	return n;
}

/* buffers for the first frames that are due; @return for how many there were some */
static inline unsigned
take_buffers(struct tx_task *t, struct rte_mbuf **frames, unsigned n)
{
	if (likely(t->pool != NULL && rte_mempool_get_bulk(t->pool, (void **)frames, n) == 0))
		return n;
	for (unsigned i = 0; i < n; i++)
		if (unlikely(rte_mempool_get(t->due[i].stream->pool, (void **)&frames[i]) != 0)) {
			t->due[i].stream->no_mbuf++;
			return i;
		}
	return n;
}

/* @p common: of the frames of all streams, and room for what is this one's */
static __rte_always_inline void
make(const struct tx_task *t, struct tx_common *common, struct tx_stream *s, struct rte_mbuf *m,
     uint64_t departure, bool launch, bool more)
{
	const struct fg_template *frame =
		s->sizes == NULL ? s->frame : s->frames[fg_sizes_kind(s->sizes, s->sequence)];
	uint8_t *data;

	if (more && s->faults != NULL) {
		tx_faults_make(t, s, m, departure, launch);
		return;
	}
	if (s->whole)
		memcpy((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM + frame->header,
		       frame->bytes + frame->header, frame->length - frame->header);
	else if (s->mixed)
		tx_mend(s, frame, m);
	common->bytes = frame->bytes;
	common->length = frame->length;
	common->header = frame->header;
	common->id = s->id;
	data = tx_fill(common, m, s->sequence, departure, launch);
	if (frame->varies > 0)
		tx_vary(s, frame, s->sequence, &data, 1);
	if (more && frame->seal.packet != 0)
		fg_template_seal(frame, data);
	s->sequence++;
}

static __rte_noinline void
count_waited(struct tx_stream *s, uint64_t lag)
{
	s->past.worst_lag = RTE_MAX(s->past.worst_lag, lag);
	s->past.off_schedule += lag > s->on_time;
}

/* @return how many of the frames that are due have gone */
static __rte_always_inline unsigned
send_burst(struct tx_task *t, unsigned n, uint64_t now, bool launch, bool more)
{
	struct rte_mbuf *frames[BURST];
	unsigned sent, made = take_buffers(t, frames, n);
	struct tx_common common = tx_have_in_common(t, t->due[0].stream, t->due[0].stream->frame);
	uint32_t octets[BURST];

	for (unsigned i = 0; i < made; i++) {
		make(t, &common, t->due[i].stream, frames[i], launch ? t->due[i].at : now, launch, more);
		octets[i] = frames[i]->pkt_len + FG_ETHER_FCS;
	}
	sent = made == 0 ? 0 : t->port->tx(t->port, frames, (uint16_t)made, now);
	for (unsigned i = 0; i < sent; i++) {
		uint64_t departure = launch ? t->due[i].at : now;
		struct tx_stream *s = t->due[i].stream;

		tx_count(s, 1, octets[i], departure, departure);
		tx_note_interval(s, departure,
				 s->sent - 1 - (more && s->faults != NULL ? s->faults->wrong : 0));
		if (more && s->faults != NULL)
			tx_faults_sent(s->faults);
		if (unlikely(i < t->waiting)) /* longer than when it was found to be due */
			count_waited(s, departure - t->due[i].at);
	}
	for (unsigned i = sent; i < made; i++) {
		t->due[i].stream->sequence--;
		t->due[i].stream->refused++;
	}
	if (unlikely(sent < made))
		free_burst(frames + sent, made - sent);
	return sent;
}

static __rte_always_inline uint64_t
poll_many(struct fg_task *task, uint64_t now, bool launch, bool more)
{
	struct tx_task *t = (struct tx_task *)task;
	uint64_t until = now + t->lead;
	unsigned n, sent;
	bool any = false;

	do {
		if (unlikely(t->waiting > 0))
			forgive_waiting(t, until);
		n = collect(t, until);
		if (n == 0)
			break;
		sent = send_burst(t, n, now, launch, more);
		t->waiting = n - sent;
		memmove(t->due, t->due + sent, t->waiting * sizeof(t->due[0]));
		any = true;
		/* all that is due on a port with a time of its own, whose clock will not wait; else a burst a round */
	} while (launch && t->waiting == 0);
	if (unlikely(tx_ordered(t)))
		return tx_obey(t, now);
	return any ? now : tx_wake(t, t->queue.runs == 0 ? UINT64_MAX : t->queue.heap[0].at, now);
}

uint64_t
tx_many_now(struct fg_task *task, uint64_t now)
{
	return poll_many(task, now, false, false);
}

uint64_t
tx_many_launch(struct fg_task *task, uint64_t now)
{
	return poll_many(task, now, true, false);
}

uint64_t
tx_more_now(struct fg_task *task, uint64_t now)
{
	return poll_many(task, now, false, true);
}

uint64_t
tx_more_launch(struct fg_task *task, uint64_t now)
{
	return poll_many(task, now, true, true);
}

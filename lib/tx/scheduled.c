/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit whatever a queue has to send: many streams, each with its own rate, sizes and shape of load, in
 * the one order of their departures. Frames are collected one by one from the queue of streams and handed
 * over by the burst.
 *
 * A frame that the port did not take, or for which there was no buffer, waits with those behind it: the
 * schedule has moved on, but its number has not been given away, and when it has waited too long it is
 * counted late like any other.
 *
 * Where any stream of the queue makes errors on purpose, has a CRC in its frames, or no signature, the loop
 * is a second one, the slow path, that looks at which. A third follows a round robin (round_robin.c) that has
 * been given up: it lets streams have their own counts, some at a poll, and always before it sends of them.
 */
#include "fg_net.h"
#include "tx_inject.h"
#include "tx_mix.h"
#include "tx_round_robin.h"

/* drop waiting frames that are too late */
static __rte_noinline void
tx_forgive_waiting(struct tx_task *t, uint64_t until)
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

/* what tx_fill() will read of a header: the stream itself has been asked for (tx_schedule_fetch()) */
static inline void
tx_prefetch_header(const struct tx_head *head)
{
	rte_prefetch0(head->bytes);
	rte_prefetch0(head->bytes + RTE_CACHE_LINE_SIZE);
}

/* the next frames up to a time, behind those that wait */
static inline unsigned
tx_collect(struct tx_task *t, uint64_t until)
{
	struct tx_schedule *q = &t->schedule;
	unsigned n = t->waiting;
	struct tx_stream *s;

	while (n < FG_BURST && (s = tx_schedule_first(q, until)) != NULL) {
		if (likely(fg_pace_ready_one(&s->pace, until))) { /* else it is too late */
			tx_prefetch_header(&s->head);
			t->due[n++] = (struct tx_due){s, fg_pace_next(&s->pace)};
			fg_pace_commit(&s->pace, 1);
		}
		tx_next_load(s);
		tx_schedule_settle(q, s);
	}
	return n;
}

/* buffers for the first frames that are due; @return for how many there were some */
static inline unsigned
tx_take_buffers(struct tx_task *t, struct rte_mbuf **frames, unsigned n)
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

/* the next frame of a stream whose buffers do not hold its payload as it is; they do afterwards */
static __rte_noinline const struct fg_template *
tx_put_payload(const struct tx_stream *s, struct rte_mbuf *m)
{
	const struct fg_template *frame = tx_template(s, s->sequence);

	if (s->whole)
		memcpy((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM + frame->header,
		       frame->bytes + frame->header, frame->length - frame->header);
	else
		tx_mend(s, frame, m);
	return frame;
}

/* the next frame of a stream without signature, whole */
static __rte_noinline void
tx_make_unsigned(struct tx_common *common, const struct tx_stream *s, struct rte_mbuf *m, uint64_t departure,
		 bool launch)
{
	const struct fg_template *frame = tx_template(s, s->sequence);

	common->length = frame->length;
	m->hash.usr = s->id;
	fg_template_make(frame, 0, s->number + s->sequence * s->apart, 0,
			 tx_begin(common, m, departure, launch));
}

/* @p common: of the frames of all streams, and room for what is this one's */
static __rte_always_inline void
tx_make(const struct tx_task *t, struct tx_common *common, struct tx_stream *s, struct rte_mbuf *m,
	uint64_t departure, bool launch, bool slow)
{
	const struct fg_template *frame = s->frame;
	uint16_t varies = s->head.varies;
	uint8_t *data;

	if (slow && s->inject != NULL) {
		tx_inject_make(t, s, m, departure, launch);
		return;
	}
	if (slow && frame->signature == 0) {
		tx_make_unsigned(common, s, m, departure, launch);
		s->sequence++;
		return;
	}
	common->bytes = s->head.bytes;
	common->length = s->head.length;
	common->header = s->head.header;
	if (unlikely(s->whole || s->mixed)) {
		frame = tx_put_payload(s, m);
		common->bytes = frame->bytes;
		common->length = frame->length;
		common->header = frame->header;
		varies = frame->varies;
	}
	common->id = s->id;
	data = tx_fill(common, m, s->sequence, departure, launch);
	if (varies > 0)
		tx_vary(s, frame, s->sequence, &data, 1);
	if (slow && frame->seal.packet != 0)
		fg_template_seal(frame, data);
	s->sequence++;
}

static __rte_noinline void
tx_count_waited(struct tx_stream *s, uint64_t lag)
{
	s->past.worst_lag = RTE_MAX(s->past.worst_lag, lag);
	s->past.off_schedule += lag > s->on_time;
}

/* bytes with FCS of a frame that is made, as the line has them */
static inline uint32_t
tx_octets_on_line(const struct tx_task *t, const struct rte_mbuf *m)
{
	const uint32_t octets = m->pkt_len + FG_ETHER_FCS;

	return likely(octets >= FG_ETHER_MIN) || (m->ol_flags & t->port->caps.runt_flag) ? octets
											 : FG_ETHER_MIN;
}

/* @return how many of the frames that are due have gone */
static __rte_always_inline unsigned
tx_scheduled_send(struct tx_task *t, unsigned n, uint64_t now, bool launch, bool slow)
{
	struct rte_mbuf *frames[FG_BURST];
	unsigned sent, made = tx_take_buffers(t, frames, n);
	struct tx_common common = tx_have_in_common(t, t->due[0].stream, t->due[0].stream->frame);
	struct tx_line line = t->line;
	uint64_t left[FG_BURST];
	uint32_t octets[FG_BURST];

	for (unsigned i = 0; i < made; i++) {
		const uint64_t due = launch ? t->due[i].at : now;
		const uint64_t at = tx_line_begin(&line, due);

		left[i] = launch ? at : now;
		tx_line_note(&t->line, &t->due[i].stream->own_queue, due, at);
		tx_make(t, &common, t->due[i].stream, frames[i], left[i], launch, slow);
		octets[i] = frames[i]->pkt_len + FG_ETHER_FCS;
		line.free = at + tx_line_time(&line, tx_octets_on_line(t, frames[i]));
	}
	t->line.free = line.free;
	sent = made == 0 ? 0 : t->port->tx(t->port, frames, (uint16_t)made, now);
	for (unsigned i = 0; i < sent; i++) {
		uint64_t due = launch ? t->due[i].at : now;
		struct tx_stream *s = t->due[i].stream;

		tx_count(s, 1, octets[i], due, due);
		tx_note_interval(s, left[i],
				 s->sent - 1 - (slow && s->inject != NULL ? s->inject->wrong : 0));
		if (slow && s->inject != NULL)
			tx_inject_sent(s->inject);
		if (unlikely(i < t->waiting)) /* longer than when it was found to be due */
			tx_count_waited(s, due - t->due[i].at);
	}
	for (unsigned i = sent; i < made; i++) {
		tx_line_take_back(&t->line, launch ? left[sent] : 0, tx_line_time(&line, octets[i]));
		t->due[i].stream->sequence--;
		t->due[i].stream->refused++;
	}
	if (unlikely(sent < made))
		fg_burst_free(frames + sent, made - sent);
	return sent;
}

static __rte_always_inline uint64_t
tx_scheduled(struct fg_task *task, uint64_t now, bool launch, bool slow, bool settling)
{
	struct tx_task *t = (struct tx_task *)task;
	uint64_t until = now + t->lead;
	unsigned n, sent;
	bool any = false;

	do {
		if (settling)
			tx_round_robin_settle(t->left, TX_SETTLED_A_BURST);
		if (unlikely(t->waiting > 0))
			tx_forgive_waiting(t, until);
		n = tx_collect(t, until);
		if (n == 0)
			break;
		sent = tx_scheduled_send(t, n, now, launch, slow);
		t->waiting = n - sent;
		memmove(t->due, t->due + sent, t->waiting * sizeof(t->due[0]));
		any = true;
		/*
		 * all that is due on a port with a time of its own, whose clock will not wait; else a burst a
		 * pass
		 */
	} while (launch && t->waiting == 0);
	if (settling)
		tx_choose(t);
	if (unlikely(tx_ordered(t)))
		return tx_obey(t, now);
	return any ? now : tx_wake(t, tx_schedule_next(&t->schedule), now);
}

/* one loop for each: launch, slow, settling */
#define LOOPS(X)                              \
	X(now, false, false, false)           \
	X(now_settling, false, false, true)   \
	X(now_slow, false, true, false)       \
	X(launch, true, false, false)         \
	X(launch_settling, true, false, true) \
	X(launch_slow, true, true, false)

#define LOOP(name, launch, slow, settling)                                      \
	static uint64_t tx_scheduled_##name(struct fg_task *task, uint64_t now) \
	{                                                                       \
		return tx_scheduled(task, now, launch, slow, settling);         \
	}
LOOPS(LOOP)

tx_poller
tx_scheduled_poller(bool launch, bool slow, bool settling)
{
#define ENTRY(name, launch, slow, settling) [launch][slow][settling] = tx_scheduled_##name,
	static const tx_poller loops[2][2][2] = {LOOPS(ENTRY)};

	return loops[launch][slow][settling];
}

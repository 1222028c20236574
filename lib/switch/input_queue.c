/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input queues of the reference switch: frames wait in a queue of the port they came in from, and only its
 * first one can leave. While the first frame waits for a busy egress, the frames behind it wait too, even if
 * their own egress is idle: head-of-line blocking (RFC 2889, 5.5).
 *
 * A queue hands over one frame at a time, in the time that the line out takes for it. A frame for several
 * ports stays first until each port has its copy; several ports may take their copies at once. When the first
 * frames of several queues are for one egress, `arbitration` decides.
 *
 * The queue served next depends on all queues. So each time an egress takes a frame is an event. Frames that
 * arrive at that very time take part.
 */
#include <errno.h>
#include <stdlib.h>

#include "line_priv.h"

/** A frame that waits. */
struct waiter {
	struct rte_mbuf *m;
	fg_u128 ready;   /* earliest time it can leave */
	uint64_t egress; /* bit mask of the ports without a copy yet */
	uint32_t size;
};

/** The queue of a port. */
struct queue {
	struct waiter *frame;
	uint64_t head, tail, mask;
	uint64_t octets;
	fg_u128 free; /* when the present transfers end */
};

struct inputs {
	struct queue queue[FG_SWITCH_PORTS];
	unsigned last[FG_SWITCH_PORTS]; /* the port that each egress served */
	/* the next event, recomputed after a change */
	bool known;
	uint64_t next; /* ps, UINT64_MAX: no event */
	fg_u128 next_exact;
	unsigned next_egress;
};

int
input_init(struct fg_switch *s, struct fg_error *err)
{
	const struct fg_switch_config *c = &s->config;
	uint64_t frames = c->buffer_octets ? c->buffer / FG_ETHER_MIN : c->buffer;

	if (c->queues != FG_SWITCH_INPUT)
		return 0;
	s->inputs = calloc(1, sizeof(*s->inputs));
	if (s->inputs == NULL)
		return fg_error_set(err, ENOMEM, "reference_switch.queues", "no memory");
	for (unsigned i = 0; i < c->ports; i++) {
		struct queue *q = &s->inputs->queue[i];

		q->mask = rte_align64pow2(frames + 2) - 1; /* and one that is handed over */
		q->frame = calloc(q->mask + 1, sizeof(*q->frame));
		if (q->frame == NULL)
			return fg_error_set(err, ENOMEM, "reference_switch.buffer", "no memory");
	}
	return 0;
}

static void
forget_frames(struct queue *q)
{
	for (; q->tail != q->head; q->tail++)
		rte_pktmbuf_free(q->frame[q->tail & q->mask].m);
	q->octets = 0;
	q->free = 0;
}

void
input_reset(struct fg_switch *s)
{
	if (s->inputs == NULL)
		return;
	for (unsigned i = 0; i < s->config.ports; i++) {
		forget_frames(&s->inputs->queue[i]);
		s->inputs->last[i] = s->config.ports - 1;
	}
	s->inputs->known = false;
}

void
input_free(struct fg_switch *s)
{
	for (unsigned i = 0; s->inputs != NULL && i < s->config.ports; i++) {
		if (s->inputs->queue[i].frame != NULL)
			forget_frames(&s->inputs->queue[i]);
		free(s->inputs->queue[i].frame);
	}
	free(s->inputs);
}

/* earliest time the first frame of a queue can leave for an egress; all ones: not for that egress */
static fg_u128
ready_for(const struct fg_switch *s, const struct queue *q, unsigned egress)
{
	const struct waiter *first = &q->frame[q->tail & q->mask];
	fg_u128 at;

	if (q->tail == q->head || !(first->egress >> egress & 1))
		return ~(fg_u128)0;
	at = first->ready > q->free ? first->ready : q->free;
	return at > s->member[egress].queue_free ? at : s->member[egress].queue_free;
}

static void
find_next(const struct fg_switch *s, struct inputs *in)
{
	fg_u128 first = ~(fg_u128)0;

	for (unsigned i = 0; i < s->config.ports; i++) {
		const struct queue *q = &in->queue[i];
		uint64_t wanted = q->tail == q->head ? 0 : q->frame[q->tail & q->mask].egress;

		for (; wanted != 0; wanted &= wanted - 1) {
			unsigned egress = (unsigned)__builtin_ctzll(wanted);
			fg_u128 at = ready_for(s, q, egress);

			if (at < first) {
				first = at;
				in->next_egress = egress;
			}
		}
	}
	in->next_exact = first;
	in->next = first == ~(fg_u128)0 ? UINT64_MAX : WHOLE(first);
	in->known = true;
}

uint64_t
input_next(struct fg_switch *s)
{
	if (s->inputs == NULL)
		return UINT64_MAX;
	if (!s->inputs->known)
		find_next(s, s->inputs);
	return s->inputs->next;
}

void
input_look_again(struct fg_switch *s)
{
	s->inputs->known = false;
}

/* is port @p a served before port @p b when both could be? */
static bool
comes_before(const struct fg_switch *s, unsigned a, unsigned b, unsigned egress)
{
	const struct queue *qa = &s->inputs->queue[a], *qb = &s->inputs->queue[b];
	unsigned n = s->config.ports, after = s->inputs->last[egress] + 1;

	switch (s->config.arbitration) {
	case FG_SWITCH_OLDEST:
		return qa->frame[qa->tail & qa->mask].ready < qb->frame[qb->tail & qb->mask].ready;
	case FG_SWITCH_PRIORITY:
		return a > b;
	default:
		return (a + n - after) % n < (b + n - after) % n;
	}
}

/* the queue has handed its first frame over to all its egress ports */
static void
leave_queue(struct fg_switch *s, unsigned port, fg_u128 now)
{
	struct queue *q = &s->inputs->queue[port];
	uint32_t size = q->frame[q->tail & q->mask].size;

	q->tail++;
	q->octets -= size;
	if (s->pauses != NULL)
		pause_let_go(s, port, size, now);
}

void
input_run(struct fg_switch *s)
{
	struct inputs *in = s->inputs;
	unsigned egress = in->next_egress, served = s->config.ports;
	fg_u128 now = in->next_exact;
	struct waiter *first;
	struct queue *q;
	struct rte_mbuf *m;

	for (unsigned i = 0; i < s->config.ports; i++)
		if (ready_for(s, &in->queue[i], egress) <= now &&
		    (served == s->config.ports || comes_before(s, i, served, egress)))
			served = i;
	q = &in->queue[served];
	first = &q->frame[q->tail & q->mask];
	first->egress &= ~(1ULL << egress);
	m = first->egress == 0 ? first->m : line_copy(s, egress, first->m);
	if (m != NULL)
		line_depart(s, &s->member[egress], m, now, first->size);
	if (first->egress == 0) {
		leave_queue(s, served, now);
		q->free = s->member[egress].queue_free;
	}
	in->last[egress] = served;
	in->known = false;
}

/* frames that may leave by now make room first */
static bool
queue_has_room(struct fg_switch *s, const struct queue *q, fg_u128 now, uint32_t size)
{
	const struct fg_switch_config *c = &s->config;

	for (;;) {
		if (c->buffer_octets ? q->octets + size <= c->buffer : q->head - q->tail < c->buffer)
			return true;
		if (input_next(s) == UINT64_MAX || s->inputs->next_exact > now)
			return false;
		input_run(s);
	}
}

void
input_enter(struct fg_switch *s, unsigned port, struct rte_mbuf *m, uint64_t egress, fg_u128 now,
	    uint32_t size)
{
	struct member *from = &s->member[port];
	struct queue *q = &s->inputs->queue[port];

	if (!queue_has_room(s, q, now, size)) {
		from->counters.queue_drops++;
		rte_pktmbuf_free(m);
		return;
	}
	q->frame[q->head++ & q->mask] = (struct waiter){.m = m, .ready = now, .egress = egress, .size = size};
	q->octets += size;
	if (q->head - q->tail > from->counters.largest_queue)
		from->counters.largest_queue = q->head - q->tail;
	s->inputs->known = false;
	if (s->pauses != NULL)
		pause_hold(s, port, size, now);
}

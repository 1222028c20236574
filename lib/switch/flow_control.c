/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control of the reference switch (IEEE 802.3, annex 31B). The switch counts the bytes of the frames
 * that wait inside it, by the port they came in from. When a port exceeds `xoff` bytes, the switch sends it
 * PAUSE; below `xon` it sends a pause of 0 quanta. A pause ends by itself after its quanta; if a frame then
 * comes in above the threshold, the switch sends PAUSE again.
 *
 * The tester's port obeys between two frames. It obeys after the PAUSE frame's time on the line; the frame
 * goes before all others and delays none of them.
 *
 * The time at which a frame leaves is known when it begins to wait. So the end of each wait is an event
 * between frame arrivals; a heap orders the events by time.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_sift.h"
#include "line_priv.h"

enum { QUANTUM_BITS = 512, FIRST_ROOM = 1024 };

/** A frame waits no longer. */
struct release {
	uint64_t time; /* ps */
	uint32_t size;
	uint32_t port;
};

/** The pause of one port. */
struct told {
	uint64_t held; /* bytes */
	bool off;
	fg_u128 ends; /* of the pause */
};

struct pauses {
	struct told told[FG_SWITCH_PORTS];
	struct release *heap; /* [0] is the first */
	size_t used, room;
};

int
pause_init(struct fg_switch *s, struct fg_error *err)
{
	if (s->config.flow_control == FG_SWITCH_NO_FLOW_CONTROL)
		return 0;
	s->pauses = calloc(1, sizeof(*s->pauses));
	if (s->pauses != NULL)
		s->pauses->heap = calloc(FIRST_ROOM, sizeof(struct release));
	if (s->pauses == NULL || s->pauses->heap == NULL)
		return fg_error_set(err, ENOMEM, "reference_switch.flow_control", "no memory");
	s->pauses->room = FIRST_ROOM;
	return 0;
}

void
pause_free(struct pauses *p)
{
	if (p != NULL)
		free(p->heap);
	free(p);
}

void
pause_reset(struct fg_switch *s)
{
	if (s->pauses == NULL)
		return;
	s->pauses->used = 0;
	for (unsigned i = 0; i < s->config.ports; i++) {
		s->pauses->told[i] = (struct told){0};
		s->member[i].pause_from = s->member[i].pause_until = 0;
	}
}

#define IS_EARLIER(p, a, b) ((a)->time < (b)->time)
FG_SIFT(sift, struct pauses, struct release, IS_EARLIER, FG_SIFT_PUT)

/* @return false: no memory; the frame then counts as gone at once */
static bool
push(struct pauses *p, const struct release *new)
{
	if (p->used == p->room) {
		struct release *more = realloc(p->heap, 2 * p->room * sizeof(*more));

		if (more == NULL)
			return false;
		p->heap = more;
		p->room *= 2;
	}
	p->heap[p->used++] = *new;
	sift(p, p->heap, p->used, p->used - 1);
	return true;
}

static struct release
pop(struct pauses *p)
{
	struct release first = p->heap[0];

	p->heap[0] = p->heap[--p->used];
	sift(p, p->heap, p->used, 0);
	return first;
}

/* when the tester's port has received a PAUSE frame that leaves now */
static void
tell(struct fg_switch *s, unsigned port, fg_u128 now, uint32_t quanta)
{
	struct member *p = &s->member[port];
	fg_u128 from = now + p->octet_time * (FG_ETHER_MIN + FG_ETHER_OVERHEAD);

	s->pauses->told[port].off = quanta > 0;
	s->pauses->told[port].ends = from + p->octet_time / 8 * QUANTUM_BITS * quanta;
	line_pause(p, from, s->pauses->told[port].ends);
	p->counters.pauses += quanta > 0;
}

void
pause_hold(struct fg_switch *s, unsigned port, uint32_t size, fg_u128 now)
{
	struct told *t = &s->pauses->told[port];

	t->held += size;
	if (t->held > s->config.xoff && (!t->off || t->ends <= now))
		tell(s, port, now, s->config.pause_quanta);
}

void
pause_let_go(struct fg_switch *s, unsigned port, uint32_t size, fg_u128 now)
{
	struct told *t = &s->pauses->told[port];

	t->held -= size;
	if (t->off && t->held < s->config.xon)
		tell(s, port, now, 0);
}

void
pause_hold_until(struct fg_switch *s, unsigned port, uint32_t size, fg_u128 now, fg_u128 until)
{
	const struct release end = {.time = WHOLE(until), .size = size, .port = port};

	if (push(s->pauses, &end))
		pause_hold(s, port, size, now);
}

uint64_t
pause_next(const struct fg_switch *s)
{
	return s->pauses == NULL || s->pauses->used == 0 ? UINT64_MAX : s->pauses->heap[0].time;
}

void
pause_run(struct fg_switch *s)
{
	struct release end = pop(s->pauses);

	pause_let_go(s, end.port, end.size, FROM_WHOLE(end.time));
}

const struct rte_mbuf *
pause_waiting(struct fg_port *port, unsigned i)
{
	const struct member *p = (const struct member *)port;

	if (p->device->pauses == NULL || i >= p->in.head - p->in.tail)
		return NULL;
	return p->in.frame[(p->in.tail + i) & p->in.mask];
}

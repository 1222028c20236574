/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from the device to a port, if frames do not simply arrive in the order in which they left it: jitter,
 * reordering, duplication, corruption (lib/impair). Frames are kept by the time at which they are due, and when
 * they have come to the last piece of line, one goes after the other there: so what is delayed by more than the one
 * behind it is passed, and no two frames are on the line at a time.
 *
 * A frame that is corrupted, or marked by its profile, is copied first, since its buffer is a sender's, who relies on
 * what is in it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_class.h"
#include "wire_priv.h"

enum { SPARE_COPIES = 1024, MAX_FRAME = 1518 };

int
wire_path_copies(struct fg_wire *wire, double share, uint32_t in_flight, struct fg_error *err)
{
	static unsigned serial;
	uint32_t size = wire->config.max_frame > 0 ? wire->config.max_frame : MAX_FRAME;
	char name[RTE_MEMPOOL_NAMESIZE];

	rte_mempool_free(wire->copies);
	snprintf(name, sizeof(name), "fg_wire_copies_%u", serial++);
	/* twice the share: at random it may be more for a while */
	wire->copies =
		rte_pktmbuf_pool_create(name, (unsigned)fmin(in_flight, 2 * share * in_flight) + SPARE_COPIES,
					0, 0, (uint16_t)(size + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	if (wire->copies == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for the copies that the reference "
				    "device makes of frames");
	return 0;
}

int
wire_path_init(struct fg_wire *wire, uint32_t in_flight, struct fg_error *err)
{
	double share = 0;
	int rc = 0;

	for (unsigned i = 0; i < 2; i++)
		share = fmax(share, fg_impair_copied(&wire->config.direction[i].impair));
	if (share > 0)
		rc = wire_path_copies(wire, share, in_flight, err);
	/* of each frame there may be a copy */
	for (unsigned i = 0; i < 2 && rc == 0; i++)
		rc = fg_delay_line_init(&wire->side[i].line, 2 * (uint64_t)in_flight, err);
	return rc;
}

void
wire_path_clear(struct side *side)
{
	struct rte_mbuf *m;

	if (side->line.capacity == 0)
		return;
	while ((m = fg_delay_line_clear(&side->line)) != NULL)
		rte_pktmbuf_free(m);
	side->in_free = 0;
}

void
wire_path_free(struct fg_wire *wire)
{
	for (unsigned i = 0; i < 2; i++)
		fg_delay_line_free(&wire->side[i].line);
	fg_port_pool_free(wire->copies);
}

/* NULL: there is no buffer, or it is too small */
static struct rte_mbuf *
copy_of(struct side *side, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, side->wire->copies, 0, UINT32_MAX);

	if (likely(copy != NULL && copy->nb_segs == 1))
		return copy;
	rte_pktmbuf_free(copy);
	side->sink->counters.rx_no_mbuf++;
	return NULL;
}

static struct rte_mbuf *
corrupt(struct side *side, struct rte_mbuf *m)
{
	struct direction *d = &side->direction;
	struct rte_mbuf *copy = copy_of(side, m);

	if (copy == NULL)
		return m;
	rte_pktmbuf_free(m);
	d->counters.corrupted +=
		fg_impair_corrupt(&d->impair, rte_pktmbuf_mtod(copy, uint8_t *), copy->data_len);
	return copy;
}

struct rte_mbuf *
wire_path_mark(struct side *side, struct rte_mbuf *m)
{
	enum fg_mark_kind kind;
	unsigned value;
	struct rte_mbuf *copy;

	if (!wire_profiles_mark(side->direction.profiles, &kind, &value))
		return m;
	copy = copy_of(side, m);
	if (copy == NULL)
		return m;
	rte_pktmbuf_free(m);
	fg_class_mark(rte_pktmbuf_mtod(copy, uint8_t *), copy->data_len, kind, value);
	return copy;
}

static void
put(struct fg_delay_line *line, struct rte_mbuf *m, uint64_t time, uint32_t places, uint64_t number)
{
	if (places > 0)
		fg_delay_line_hold(line, m, places, time, number);
	else
		fg_delay_line_push(line, m, time, number);
}

bool
wire_path_send(struct side *side, struct rte_mbuf *m, uint64_t out)
{
	struct direction *d = &side->direction;
	struct fg_delay_line *line = &side->sink->line;
	struct rte_mbuf *copy;
	struct fg_fate fate;

	fg_impair_decide(&d->impair, out, &fate);
	if (unlikely(!fg_delay_line_room(line, 2))) {
		side->sink->counters.rx_missed++;
		return false;
	}
	if (fate.corrupt)
		m = corrupt(side, m);
	copy = fate.duplicate ? copy_of(side, m) : NULL;
	put(line, m, fate.time, fate.places, fg_delay_line_number(line));
	if (copy != NULL) {
		d->counters.duplicated++;
		put(line, copy, fate.copy_time, fate.places, FG_DELAY_UNCOUNTED);
	}
	return true;
}

bool
wire_path_answer(struct side *side, struct rte_mbuf *m, uint64_t time)
{
	if (unlikely(!fg_delay_line_room(&side->line, 1))) {
		side->counters.rx_missed++;
		return false;
	}
	fg_delay_line_push(&side->line, m, time, FG_DELAY_UNCOUNTED);
	return true;
}

/* the first bit of the next frame; all ones: there is none */
static inline fg_u128
next_first_bit(const struct side *side)
{
	fg_u128 due = FROM_WHOLE(fg_delay_line_next(&side->line));

	if (WHOLE(due) != UINT64_MAX && due < side->in_free)
		due = side->in_free;
	return due;
}

uint16_t
wire_path_rx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct side *side = (struct side *)port;
	const struct fg_wire *wire = side->wire;
	const fg_u128 octet_time = side->direction.octet_time; /* both lines have one rate */
	uint16_t i;

	for (i = 0; i < n; i++) {
		fg_u128 first_bit = next_first_bit(side);
		struct rte_mbuf *m;

		if (WHOLE(first_bit) > now || fg_delay_line_next(&side->line) == UINT64_MAX)
			break;
		m = fg_delay_line_pop(&side->line);
		side->in_free =
			first_bit + octet_time * (RTE_MAX(m->pkt_len + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN) +
						  FG_ETHER_OVERHEAD);
		*RTE_MBUF_DYNFIELD(m, wire->rx_time_offset, uint64_t *) = WHOLE(first_bit);
		m->ol_flags = wire->rx_time_flag;
		frames[i] = m;
	}
	side->counters.rx_frames += i;
	return i;
}

uint64_t
wire_path_next_arrival(struct fg_port *port)
{
	return WHOLE(next_first_bit((struct side *)port));
}

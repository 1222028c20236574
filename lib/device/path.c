/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path from the device to a port, if it impairs frames: jitter, reordering, duplication, corruption
 * (lib/path). Frames wait until the time at which they are due. Then they take the last piece of line one
 * after the other: a frame that is delayed more than its successor is overtaken, and the line carries one
 * frame at a time.
 *
 * A frame that is corrupted, or marked by its profile, is copied first, because the sender relies on the
 * content of its buffer.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_class.h"
#include "fg_unique_name.h"
#include "device_priv.h"

enum { SPARE_COPIES = 1024, MAX_FRAME = 1518 };

int
wire_path_copies(struct fg_device *wire, double share, uint32_t in_flight, struct fg_error *err)
{
	uint32_t size = wire->config.max_frame > 0 ? wire->config.max_frame : MAX_FRAME;
	char name[RTE_MEMPOOL_NAMESIZE];

	rte_mempool_free(wire->copies);
	fg_unique_name(name, sizeof(name), "fg_device_copies_");
	/* twice the share: a random share may be higher for a while */
	wire->copies =
		rte_pktmbuf_pool_create(name, (unsigned)fmin(in_flight, 2 * share * in_flight) + SPARE_COPIES,
					0, 0, (uint16_t)(size + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	if (wire->copies == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for the copies that the reference device makes of frames");
	return 0;
}

int
wire_path_init(struct fg_device *wire, uint32_t in_flight, struct fg_error *err)
{
	double share = 0;
	int rc = 0;

	for (unsigned i = 0; i < 2; i++)
		share = fmax(share, fg_impair_copied(&wire->config.direction[i].impair));
	if (wire->nat != NULL)
		share = 1;
	if (share > 0 || wire->firewall != NULL)
		rc = wire_path_copies(wire, share, in_flight, err);
	/* each frame may have a copy */
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
wire_path_free(struct fg_device *wire)
{
	for (unsigned i = 0; i < 2; i++)
		fg_delay_line_free(&wire->side[i].line);
	fg_port_pool_free(wire->copies);
}

/* NULL: no buffer, or too small */
struct rte_mbuf *
wire_path_copy(struct side *side, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, side->wire->copies, 0, UINT32_MAX);

	if (likely(copy != NULL && copy->nb_segs == 1))
		return copy;
	rte_pktmbuf_free(copy);
	side->sink->counters.rx_no_mbuf++;
	return NULL;
}

static void *
path_own(void *side, void *frame)
{
	struct rte_mbuf *copy = wire_path_copy(side, frame);

	if (copy != NULL)
		rte_pktmbuf_free(frame);
	return copy;
}

static void *
path_copy(void *side, void *frame)
{
	return wire_path_copy(side, frame);
}

static uint8_t *
path_bytes(void *frame, uint32_t *length)
{
	struct rte_mbuf *m = frame;

	*length = m->data_len;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static void
path_cut(void *frame, uint32_t length)
{
	rte_pktmbuf_trim(frame, (uint16_t)(rte_pktmbuf_pkt_len((struct rte_mbuf *)frame) - length));
}

const struct fg_path_frames wire_path_frames = {path_own, path_copy, path_bytes, path_cut};

struct rte_mbuf *
wire_path_mark(struct side *side, struct rte_mbuf *m)
{
	enum fg_mark_kind kind;
	unsigned value;
	struct rte_mbuf *copy;

	if (!wire_profiles_mark(side->direction.profiles, &kind, &value))
		return m;
	copy = path_own(side, m);
	if (copy == NULL)
		return m;
	fg_class_mark(rte_pktmbuf_mtod(copy, uint8_t *), copy->data_len, kind, value);
	return copy;
}

bool
wire_path_send(struct side *side, struct rte_mbuf *m, uint64_t out)
{
	if (likely(fg_path_send(&side->direction.path, &side->sink->line, m, out)))
		return true;
	side->sink->counters.rx_missed++;
	return false;
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

/* the first bit of the next frame; all ones: no frame */
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
	const struct fg_device *wire = side->wire;
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
		*RTE_MBUF_DYNFIELD(m, wire->mbuf.rx_time_offset, uint64_t *) = WHOLE(first_bit);
		m->ol_flags = wire->mbuf.rx_time_flag;
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

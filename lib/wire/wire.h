/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * For lib/device and lib/switch: what all devices on the virtual wire are made of, with two ports or many:
 * the clock's fixed point, places in a buffer, frames on their way to a port, the marks of mbufs, and a
 * bridge's table of addresses. Everything here is written by the lcore that polls the ports, and by the
 * control thread only while nobody polls.
 */

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_int128.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_wire.h"

/* Picoseconds with 64 bits of fraction, so that rates which do not divide 10^12 keep exact. */
#define WHOLE(t)      ((uint64_t)((t) >> 64))
#define FROM_WHOLE(t) ((fg_u128)(t) << 64)

/** That number of picoseconds. */
static inline fg_u128
wire_fixed(long double ps)
{
	uint64_t whole = (uint64_t)ps;

	return FROM_WHOLE(whole) + (uint64_t)((ps - whole) * 0x1p64L);
}

/** A time of the plan in whole ps. Its seconds have no exact binary fraction, and may be a little less. */
static inline uint64_t
wire_ps(double ns)
{
	return (uint64_t)(1e3L * ns + 0.5L);
}

/** Places in a buffer, by when they become free. */
struct waiting {
	fg_u128 *until; /* time at which the frame stops waiting */
	uint32_t *octets;
	uint64_t head, tail; /* frames ever taken in, ever released */
	uint64_t mask;
	uint64_t held;  /* bytes waiting */
	uint64_t limit; /* frames, or bytes, that may wait */
	bool by_octets;
};

/** @param buffer  frames, or bytes, that may wait */
int wire_waiting_init(struct waiting *waiting, uint64_t buffer, bool octets, const char *where,
		      struct fg_error *err);
void wire_waiting_free(struct waiting *waiting);

static inline void
wire_waiting_reset(struct waiting *w)
{
	w->head = w->tail = w->held = 0;
}

/** Release frames that wait no longer at @p now. */
static inline void
wire_waiting_release(struct waiting *w, fg_u128 now)
{
	for (; w->tail != w->head && w->until[w->tail & w->mask] <= now; w->tail++)
		w->held -= w->octets[w->tail & w->mask];
}

/** A frame takes a place until some time, if there is one at @p now. */
static inline bool
wire_waiting_enter(struct waiting *w, fg_u128 now, fg_u128 until, uint32_t octets)
{
	wire_waiting_release(w, now);
	if (w->by_octets ? w->held + octets > w->limit : w->head - w->tail >= w->limit)
		return false;
	w->until[w->head & w->mask] = until;
	w->octets[w->head & w->mask] = octets;
	w->head++;
	w->held += octets;
	return true;
}

/** What is on its way to, or from, one port: frames in order of time. */
struct arrivals {
	struct rte_mbuf **frame;
	uint64_t *time;
	uint64_t head, tail, mask;
	uint64_t bad_fcs; /* frames that the port of the tester did not accept */
};

/** @param room  frames, at least; @return 0 or -ENOMEM */
int wire_arrivals_init(struct arrivals *arrivals, uint32_t room, struct fg_error *err);
/** Free the frames. */
void wire_arrivals_clear(struct arrivals *arrivals);
void wire_arrivals_free(struct arrivals *arrivals);

/** @return false: there is no room */
static inline bool
wire_arrivals_put(struct arrivals *a, struct rte_mbuf *m, uint64_t time)
{
	if (unlikely(a->head - a->tail > a->mask))
		return false;
	a->frame[a->head & a->mask] = m;
	a->time[a->head & a->mask] = time;
	a->head++;
	return true;
}

/** When the first of them is due, UINT64_MAX: no frame. */
static inline uint64_t
wire_arrivals_next(const struct arrivals *a)
{
	return a->tail == a->head ? UINT64_MAX : a->time[a->tail & a->mask];
}

/** Dynamic fields and flags of the mbufs. */
struct wire_marks {
	int tx_time_offset, rx_time_offset;
	uint64_t tx_time_flag, rx_time_flag;
	uint64_t bad_fcs_flag, runt_flag; /* wrong FCS, which the tester sends only on purpose */
	uint64_t test_flag;               /* of frames of streams */
};

int wire_marks_take(struct wire_marks *marks, struct fg_error *err);

/** When a frame may leave the tester's port at the earliest. */
static inline uint64_t
wire_launch(const struct wire_marks *marks, const struct rte_mbuf *m, uint64_t now)
{
	if (m->ol_flags & marks->tx_time_flag)
		return RTE_MAX(now, *RTE_MBUF_DYNFIELD(m, marks->tx_time_offset, uint64_t *));
	return now;
}

/** Bytes with FCS. A port fills a short frame up, unless it was told not to. */
static inline uint32_t
wire_size(const struct wire_marks *marks, const struct rte_mbuf *m)
{
	uint32_t size = m->pkt_len + FG_ETHER_FCS;

	return m->ol_flags & marks->runt_flag ? size : RTE_MAX(size, (uint32_t)FG_ETHER_MIN);
}

/** Fetch what has arrived by @p now, each with its stamp. A port accepts no frame with a wrong FCS. */
uint16_t wire_arrivals_fetch(struct arrivals *arrivals, const struct wire_marks *marks,
			     struct rte_mbuf **frames, uint16_t n, uint64_t now);

/** Fill in the description of port @p i of a wire. */
void wire_describe(struct fg_port *port, unsigned i, double rate_bps, const struct wire_marks *marks);

/** The link of such a port is always up, and to close it does nothing: its device owns it. */
bool wire_is_up(struct fg_port *port);
void wire_stays(struct fg_port *port);

/** A property of a device: what lies outside would not fit the arithmetic. */
struct wire_range {
	const char *where;
	double value, low, high;
	bool or_zero;
};

/** @return 0, or -EINVAL: the first one that is out of its range */
int wire_check_ranges(const struct wire_range *list, unsigned n, struct fg_error *err);

struct fdb;
enum { WIRE_UNKNOWN = -1 };

int fdb_create(const struct fg_device_table *config, struct fdb **out, struct fg_error *err);
void fdb_free(struct fdb *table);
/** A frame has come in on a side: learn its source. @return false: it is not in the table */
bool fdb_learn(struct fdb *table, const uint8_t *frame, unsigned side, uint64_t now);
/** The side that the destination of a frame is on, WIRE_UNKNOWN: the table does not have it. */
int fdb_side(const struct fdb *table, const uint8_t *frame);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The lines of the reference switch: when the first frame on each ingress line is received, and when a frame
 * begins on the egress line. Shared by switch.c (hand-over of frames), forward.c and input_queue.c (departure
 * times) and flow_control.c (pauses), all on the polling lcore.
 */
#include "switch_priv.h"

enum { LINE_PREAMBLE = 8, LINE_TPID_AT = 12, LINE_MAX_TAGS = 2 };

/** Bytes after which a frame counts as received. */
static inline uint32_t
line_stored_octets(const struct fg_switch *s, const struct member *p, const struct rte_mbuf *m, uint32_t size)
{
	return p->store == 0 || (m->ol_flags & s->mbuf.bad_fcs_flag) ? size : p->store;
}

/**
 * With flow control a frame's start is known only when the frames before it have left: `in` has its earliest
 * start. @return when the first frame is received
 */
static inline uint64_t
line_first_is_in(const struct fg_switch *s, struct member *p)
{
	const struct rte_mbuf *m = p->in.frame[p->in.tail & p->in.mask];
	fg_u128 first_bit = FROM_WHOLE(p->in.time[p->in.tail & p->in.mask]);

	if (first_bit < p->line_free)
		first_bit = p->line_free;
	if (first_bit >= p->pause_from && first_bit < p->pause_until)
		first_bit = p->pause_until;
	p->first_bit = first_bit;
	return WHOLE(first_bit + p->octet_time * line_stored_octets(s, p, m, wire_size(&s->mbuf, m)));
}

/** The first frame on a port's ingress line has changed: replay its matches; the lower port wins a draw. */
static inline void
line_first_changed(struct fg_switch *s, unsigned port)
{
	struct member *p = &s->member[port];

	if (unlikely(s->pauses != NULL) && p->in.tail != p->in.head)
		s->next[port] = line_first_is_in(s, p);
	else
		s->next[port] = wire_arrivals_next(&p->in);
	for (unsigned match = (s->leaves + port) / 2; match > 0; match /= 2) {
		unsigned low = s->winner[2 * match], high = s->winner[2 * match + 1];

		s->winner[match] = (uint8_t)(s->next[low] <= s->next[high] ? low : high);
	}
}

/**
 * With flow control: the first frame has passed the ingress line. A load lasts until its test frames have
 * left; membership reports and replies do not extend it.
 */
static inline void
line_leave(struct fg_switch *s, struct member *p, const struct rte_mbuf *m)
{
	fg_u128 begin = FROM_WHOLE(p->in.time[p->in.tail & p->in.mask]);

	if ((m->ol_flags & s->mbuf.test_flag) && p->port.left != NULL)
		p->port.left(p->port.left_arg, m, WHOLE(p->first_bit));
	begin = begin > p->line_free ? begin : p->line_free;
	p->port_counters.paused_ps += WHOLE(p->first_bit - begin);
	p->line_free = p->first_bit + p->octet_time * (wire_size(&s->mbuf, m) + s->overhead);
}

/** The tester's port begins no frame between two times; replaces its earlier pause. */
static inline void
line_pause(struct member *p, fg_u128 from, fg_u128 until)
{
	/* no frame has begun in the earlier pause */
	if (p->pause_until <= from && p->first_bit >= p->pause_from && p->line_free < p->pause_until)
		p->line_free = p->pause_until;
	if (until > from) {
		p->port_counters.rx_pause++;
		p->pause_from = from;
	}
	p->pause_until = until;
	line_first_changed(p->device, (unsigned)(p - p->device->member));
}

/** A frame leaves for the other switch, which receives it with its last bit. */
static inline bool
line_cross(struct fg_switch *s, struct member *to, struct rte_mbuf *m, fg_u128 in)
{
	bool was_empty = to->in.tail == to->in.head;

	if (!wire_arrivals_put(&to->in, m, WHOLE(in)))
		return false;
	if (was_empty)
		line_first_changed(s, (unsigned)(to - s->member));
	return true;
}

/** A copy of a frame starts on an idle line; the switch no longer owns it. */
static inline void
line_depart(struct fg_switch *s, struct member *out, struct rte_mbuf *m, fg_u128 start, uint32_t size)
{
	fg_u128 line_time = out->octet_time_out * (size + LINE_PREAMBLE + s->config.gap), first_bit;

	out->queue_free = start + line_time;
	first_bit = start + s->latency + out->path + s->latency_per_octet * size;
	if (first_bit < out->line_out_free) /* a shorter latency than the frame before */
		first_bit = out->line_out_free;
	out->line_out_free = first_bit + line_time;
	out->counters.forwarded++;
	if (unlikely(out->peer != NULL)) {
		if (line_cross(s, out->peer, m, first_bit + out->octet_time_out * size))
			return;
	} else if (likely(wire_arrivals_put(&out->out, m, WHOLE(first_bit)))) {
		return;
	}
	out->port_counters.rx_missed++;
	rte_pktmbuf_free(m);
}

/** A copy for an egress; NULL: no memory (counted). */
static inline struct rte_mbuf *
line_copy(struct fg_switch *s, unsigned egress, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, s->copies, 0, UINT32_MAX);

	if (unlikely(copy == NULL))
		s->member[egress].port_counters.rx_no_mbuf++;
	return copy;
}

/** Bytes of the VLAN tags of a frame. */
static inline uint32_t
line_octets_of_tags(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t tags = (uint32_t)fg_net_type_at(frame, m->data_len) - LINE_TPID_AT;

	return RTE_MIN(tags, (uint32_t)LINE_MAX_TAGS * FG_NET_TAG);
}

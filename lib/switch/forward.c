/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference switch: how a received frame is forwarded. It is checked, its source is learned, and its
 * destination looked up (IEEE 802.1D, 7.7 to 7.9); then it waits for the forwarding engine, one for all
 * ports, and for the line out. The latency follows the queue, as a pipeline.
 *
 * Frames come in the order of their arrival over all ports, and every queue is first in, first out. So the
 * times of the frames before it decide when, and whether, a frame leaves, and nothing is simulated step by
 * step. The engine hands frames on in the order in which it got them; the copies of a frame leave it one
 * after the other, spaced by the engine time of a copy.
 */
#include <string.h>

#include "line_priv.h"

static const unsigned OWN = FG_SWITCH_PORTS; /* a frame of the switch itself */

int
forward_init(struct fg_switch *s, struct fg_error *err)
{
	const struct fg_switch_config *c = &s->config;
	int rc = 0;

	s->service_time = c->capacity_fps > 0 ? wire_fixed(1e12L / c->capacity_fps) : 0;
	s->drop_time = wire_fixed(1e3L * c->drop_cost_ns);
	s->latency = FROM_WHOLE(wire_ps(c->latency_ns));
	s->latency_per_octet = wire_fixed(1e3L * c->latency_ns_per_octet);
	if (s->service_time > 0)
		rc = wire_waiting_init(&s->half[0].engine, c->buffer, c->buffer_octets,
				       "reference_switch.buffer", err);
	if (rc == 0 && s->service_time > 0 && c->uplink_bps > 0)
		rc = wire_waiting_init(&s->half[1].engine, c->buffer, c->buffer_octets,
				       "reference_switch.buffer", err);
	if (rc == 0)
		rc = input_init(s, err);
	if (rc == 0)
		rc = pause_init(s, err);
	for (unsigned i = 0; i < s->ports && rc == 0; i++)
		rc = wire_waiting_init(&s->member[i].queue, c->buffer, c->buffer_octets,
				       "reference_switch.buffer", err);
	return rc;
}

void
forward_reset(struct fg_switch *s)
{
	for (unsigned i = 0; i < RTE_DIM(s->half); i++) {
		s->half[i].engine_free = 0;
		wire_waiting_reset(&s->half[i].engine);
	}
	s->outage_from = s->outage_to = 0;
	input_reset(s);
	pause_reset(s);
	if (s->failover != NULL)
		failover_reset(s->failover);
	for (unsigned i = 0; i < s->ports; i++) {
		struct member *p = &s->member[i];

		wire_waiting_reset(&p->queue);
		p->queue_free = p->line_out_free = 0;
		p->counters = (struct fg_switch_counters){0};
	}
}

static uint64_t
used(const struct fg_switch *s, const struct waiting *w)
{
	return s->config.buffer_octets ? w->held : w->head - w->tail;
}

/*
 * May a frame wait in a queue of the shared buffer? It may not use the other queues' reserves, and a queue is
 * limited to alpha times the free room (dynamic thresholds of Choudhury and Hahne).
 */
static bool
shared_has_room(struct fg_switch *s, const struct member *out, fg_u128 now, uint32_t size)
{
	const struct fg_switch_config *c = &s->config;
	uint64_t need = c->buffer_octets ? size : 1, own = used(s, &out->queue), taken = 0, kept = 0;

	for (unsigned i = 0; i < c->ports; i++) {
		struct waiting *w = &s->member[i].queue;
		uint64_t u;

		wire_waiting_release(w, now);
		u = used(s, w);
		taken += u;
		if (&s->member[i] != out && u < c->reserve)
			kept += c->reserve - u;
	}
	own = used(s, &out->queue);
	if (taken + kept + need > c->buffer)
		return false;
	if (own + need <= c->reserve || c->alpha == 0)
		return true;
	return (double)own < c->alpha * (double)(c->buffer - taken);
}

/* bytes that a frame takes of the buffer */
static uint32_t
octets_held(const struct fg_switch *s, uint32_t size)
{
	uint32_t cell = s->config.cell;

	return likely(cell == 0) ? size : (size + cell - 1) / cell * cell;
}

/* @return when the frame leaves the queue; all ones: the queue is full */
static fg_u128
wait_for_line(struct fg_switch *s, struct member *out, fg_u128 now, uint32_t size)
{
	fg_u128 start = now;
	uint64_t waiting;

	if (start < out->queue_free) {
		start = out->queue_free;
		if (s->config.queues == FG_SWITCH_SHARED && !shared_has_room(s, out, now, size))
			return ~(fg_u128)0;
		if (!wire_waiting_enter(&out->queue, now, start, size))
			return ~(fg_u128)0;
		waiting = out->queue.head - out->queue.tail;
		if (waiting > out->counters.largest_queue)
			out->counters.largest_queue = waiting;
	}
	return start;
}

/* is the link of a port down? */
static bool
is_down(const struct fg_switch *s, unsigned port, uint64_t now)
{
	return s->failover != NULL && failover_is_down(s->failover, port, now);
}

/* A copy of a frame goes to an egress; the switch no longer owns it. @param in  or OWN */
static void
send_out(struct fg_switch *s, unsigned in, unsigned egress, struct rte_mbuf *m, fg_u128 now, uint32_t size)
{
	struct member *out = &s->member[egress];
	fg_u128 start;

	if (unlikely(is_down(s, egress, WHOLE(now)))) {
		out->counters.link_drops++;
		rte_pktmbuf_free(m);
		return;
	}
	start = wait_for_line(s, out, now, octets_held(s, size));
	if (start == ~(fg_u128)0) {
		out->counters.queue_drops++;
		rte_pktmbuf_free(m);
		return;
	}
	if (s->pauses != NULL && start > now && in != OWN)
		pause_hold_until(s, in, size, now, start);
	line_depart(s, out, m, start, size);
}

/* @return when the engine hands the frame on; all ones: no room to wait for the engine */
static fg_u128
serve(struct fg_switch *s, struct half *half, fg_u128 now, uint32_t size, unsigned copies)
{
	fg_u128 start = now, cost = s->snooping == NULL ? 0 : snoop_cost(s);

	if (s->service_time == 0)
		return start;
	if (start < half->engine_free) {
		start = half->engine_free;
		if (!wire_waiting_enter(&half->engine, now, start, size)) {
			half->engine_free += s->drop_time;
			return ~(fg_u128)0;
		}
	}
	half->engine_free =
		start + cost + s->service_time * (s->config.replication == FG_SWITCH_BY_EGRESS ? copies : 1);
	return start;
}

static fg_u128
time_between_copies(const struct fg_switch *s)
{
	return s->config.replication == FG_SWITCH_BY_EGRESS ? s->service_time : 0;
}

/* to each port of a set: copies, and the frame itself to the last */
static void
replicate(struct fg_switch *s, unsigned in, uint64_t ports, struct rte_mbuf *m, fg_u128 now, uint32_t size)
{
	fg_u128 apart = time_between_copies(s);

	for (unsigned i; ports != 0; now += apart) {
		struct rte_mbuf *copy = m;

		i = (unsigned)__builtin_ctzll(ports);
		ports &= ports - 1;
		if (ports != 0)
			copy = line_copy(s, i, m);
		if (likely(copy != NULL))
			send_out(s, in, i, copy, now, size);
	}
}

/* through the tunnels of the ports: longer copies, never the frame itself */
static void
replicate_wrapped(struct fg_switch *s, unsigned in, uint64_t ports, struct rte_mbuf *m, fg_u128 now,
		  uint32_t size)
{
	fg_u128 apart = time_between_copies(s);

	for (; ports != 0; ports &= ports - 1, now += apart) {
		unsigned i = (unsigned)__builtin_ctzll(ports);
		struct rte_mbuf *copy = line_copy(s, i, m);

		if (unlikely(copy == NULL))
			continue;
		tunnel_wrap(s, i, copy);
		send_out(s, in, i, copy, now, size);
	}
	rte_pktmbuf_free(m);
}

static void
count_copies(struct fg_switch *s, uint64_t ports, bool group)
{
	for (; ports != 0; ports &= ports - 1) {
		struct fg_switch_counters *c = &s->member[__builtin_ctzll(ports)].counters;

		++*(group ? &c->group_copies : &c->flood_copies);
	}
}

void
forward_own(struct fg_switch *s, unsigned out, struct rte_mbuf *m, uint64_t now)
{
	send_out(s, OWN, out, m, FROM_WHOLE(now), wire_size(&s->mbuf, m));
	if (s->inputs != NULL)
		input_look_again(s);
}

/* the counter of the reason why a frame is lost; NULL: not lost */
static uint64_t *
cause_of_loss(struct fg_switch *s, struct member *in, const struct rte_mbuf *m, uint32_t size, uint64_t now)
{
	const struct fg_switch_config *c = &s->config;

	if (unlikely(m->ol_flags & s->mbuf.bad_fcs_flag) && !c->forwards_bad_fcs)
		return &in->counters.bad_fcs;
	if (unlikely(size < c->min_frame) && !c->forwards_runts)
		return &in->counters.undersized;
	if (unlikely(size > c->max_frame) && size > c->max_frame + line_octets_of_tags(m))
		return &in->counters.oversized;
	if (unlikely(now >= s->outage_from && now < s->outage_to))
		return &in->counters.outage;
	if (unlikely(is_down(s, (unsigned)(in - s->member), now)))
		return &in->counters.outage;
	return NULL;
}

/* 01-80-C2-00-00-00 to -0F are never forwarded (IEEE 802.1D, 7.12.6) */
static bool
is_for_the_switch(const uint8_t *frame)
{
	static const uint8_t reserved[5] = {0x01, 0x80, 0xc2, 0, 0};

	return unlikely(frame[0] == 0x01) && memcmp(frame, reserved, sizeof(reserved)) == 0 && frame[5] < 16;
}

/*
 * The egress ports of a frame whose destination is not in the table.
 * @param size   bytes of it
 * @param group  set if the frame is for the members of a group
 */
static uint64_t
several_ports(struct fg_switch *s, unsigned in, const struct rte_mbuf *m, uint32_t size, uint64_t now,
	      bool *group)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct member *from = &s->member[in];
	uint64_t ports = from->half->ports, in_at = now;

	*group = false;
	if (s->snooping != NULL && (frame[0] & 1) && frame[0] != 0xff) {
		if (from->store > 0) /* forwarding began before the last bit was in */
			in_at += WHOLE(from->octet_time * (size - from->store));
		if (!snoop_message(s, in, m, in_at, &ports))
			ports = snoop_ports(s, m, now, group);
	}
	return ports & ~(1ULL << in);
}

/*
 * With tunnels: the frame may be decapsulated, or grow by encapsulation.
 * @return the counter of the reason why it is lost; NULL: not lost
 */
static __rte_noinline uint64_t *
pass_tunnels(struct fg_switch *s, unsigned in, struct rte_mbuf **m, uint32_t *size, uint32_t *growth,
	     uint64_t now)
{
	struct fg_switch_counters *count = &s->member[in].counters;
	struct rte_mbuf *answer = NULL;

	if (!tunnel_open(s, in, m, &answer)) {
		if (answer != NULL)
			forward_own(s, in, answer, now);
		return &count->consumed;
	}
	*size = wire_size(&s->mbuf, *m);
	*growth = tunnel_growth(s, *m);
	if (*growth > 0 && *size + *growth > s->config.max_frame + line_octets_of_tags(*m))
		return &count->oversized;
	return NULL;
}

void
forward_frame(struct fg_switch *s, unsigned in, struct rte_mbuf *m, uint64_t now)
{
	struct member *from = &s->member[in];
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t size = wire_size(&s->mbuf, m);
	uint64_t *lost = cause_of_loss(s, from, m, size, now), ports = 0;
	int to = WIRE_UNKNOWN;
	uint32_t growth = 0;
	bool group = false;
	fg_u128 served;

	from->counters.received++;
	if (lost == NULL && is_for_the_switch(frame))
		lost = &from->counters.consumed;
	if (lost == NULL && from->half->table != NULL) {
		from->counters.unlearned += !fdb_learn(from->half->table, frame, in, now);
		to = fdb_side(from->half->table, frame);
	}
	if (lost == NULL && unlikely(s->config.tunnels.on))
		lost = pass_tunnels(s, in, &m, &size, &growth, now);
	if (lost == NULL) {
		ports = to == WIRE_UNKNOWN ? several_ports(s, in, m, size, now, &group) : 1ULL << to;
		if (s->failover != NULL && to != (int)in && to == (int)s->config.failover.preferred)
			to = (int)failover_way(s->failover, m, now);
		if (ports == 0 || to == (int)in)
			lost = &from->counters.filtered;
	}
	if (lost == NULL) {
		served = serve(s, from->half, FROM_WHOLE(now), size, (unsigned)__builtin_popcountll(ports));
		if (served == ~(fg_u128)0)
			lost = &from->counters.engine_drops;
	}
	if (lost != NULL) {
		++*lost;
		rte_pktmbuf_free(m);
		return;
	}
	if (!s->config.keeps_fcs)
		m->ol_flags &= ~s->mbuf.bad_fcs_flag;
	if (to == WIRE_UNKNOWN) {
		from->counters.flooded += !group;
		count_copies(s, ports, group);
	}
	if (s->inputs != NULL)
		input_enter(s, in, m, to == WIRE_UNKNOWN ? ports : 1ULL << to, served, size);
	else if (to != WIRE_UNKNOWN)
		send_out(s, in, (unsigned)to, m, served, size);
	else if (unlikely(growth > 0))
		replicate_wrapped(s, in, ports, m, served, size + growth);
	else
		replicate(s, in, ports, m, served, size);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of the reference switch. A frame sent to a port goes onto its ingress line with the time at which
 * the switch receives it. The first port polled at a time hands over the frames received by then at all
 * ports, in the order of time; ties go to the lower port. The tester hands frames over before they are due,
 * so these frames are known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fg_unique_name.h"
#include "line_priv.h"

enum {
	SLACK = 4096, /* frames of a port: bursts on their way in and out */
	MAX_IN_FLIGHT = 1 << 20,
	OWN_FRAME = 128, /* longest frame that the switch itself sends, bytes: a query */
	NEVER = -1,
};

uint32_t
fg_switch_in_flight(const struct fg_switch_config *c, unsigned frame_size)
{
	double waiting = c->buffer_octets ? (double)c->buffer / frame_size : (double)c->buffer, fps = 0,
	       latency_ns, frames;
	unsigned queues = 1 + (c->queues == FG_SWITCH_SHARED ? 1 : c->ports);

	if (c->uplink_bps > 0)
		queues += 3; /* another engine, and both ends */
	for (unsigned i = 0; i < c->ports; i++)
		fps += c->rate_bps[i] / (8.0 * (frame_size + FG_ETHER_OVERHEAD));
	fps += 2 * c->uplink_bps / (8.0 * (frame_size + FG_ETHER_OVERHEAD));
	latency_ns = c->latency_ns + c->latency_ns_per_octet * frame_size +
		     (c->failover.on ? RTE_MAX(c->failover.preferred_ns, c->failover.next_best_ns) : 0);
	frames = queues * waiting + fps * 1e-9 * latency_ns + SLACK;
	return frames <= MAX_IN_FLIGHT ? (uint32_t)frames : 0;
}

/* Time of the next internal event, ps; UINT64_MAX: no event */
static inline uint64_t
next_event(struct fg_switch *s)
{
	return likely(s->inputs == NULL && s->pauses == NULL) ? UINT64_MAX
							      : RTE_MIN(input_next(s), pause_next(s));
}

/* a query due before the event is queued first, and may delay the event */
static __rte_noinline void
run_event(struct fg_switch *s, uint64_t event)
{
	if (s->snooping != NULL && snoop_next(s) <= event)
		snoop_act(s, event);
	else if (input_next(s) <= pause_next(s))
		input_run(s);
	else
		pause_run(s);
}

/* hand over the frames received by a time */
static void
hand_over(struct fg_switch *s, uint64_t now)
{
	for (;;) {
		unsigned first = s->winner[1];
		uint64_t time = s->next[first], event = next_event(s);
		struct arrivals *in = &s->member[first].in;
		struct rte_mbuf *m;

		if (unlikely(event < time && event <= now)) {
			run_event(s, event);
			continue;
		}
		if (s->snooping != NULL)
			snoop_act(s, RTE_MIN(time, now));
		if (time > now || time == UINT64_MAX)
			return;
		m = in->frame[in->tail & in->mask];
		if (unlikely(s->pauses != NULL))
			line_leave(s, &s->member[first], m);
		in->tail++;
		line_first_changed(s, first);
		rte_prefetch0(in->frame[in->tail & in->mask]); /* frames of other ports come first */
		forward_frame(s, first, m, time);
	}
}

/* with flow control the line accepts frames while there is room before it */
static uint16_t
switch_tx_paused(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct member *p = (struct member *)port;
	struct fg_switch *s = p->device;
	bool was_empty = p->in.tail == p->in.head;
	uint16_t i = 0;

	while (i < n && wire_arrivals_put(&p->in, frames[i], wire_launch(&s->mbuf, frames[i], now)))
		i++;
	if (was_empty)
		line_first_changed(s, (unsigned)(p - s->member));
	p->port_counters.tx_frames += i;
	return i;
}

static uint16_t
switch_tx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct member *p = (struct member *)port;
	struct fg_switch *s = p->device;
	bool was_empty = p->in.tail == p->in.head;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];
		uint32_t size = wire_size(&s->mbuf, m), store = line_stored_octets(s, p, m, size);
		fg_u128 first_bit = FROM_WHOLE(wire_launch(&s->mbuf, m, now));

		if (first_bit < p->line_free)
			first_bit = p->line_free;
		p->line_free = first_bit + p->octet_time * (size + s->overhead);
		if (unlikely(!wire_arrivals_put(&p->in, m, WHOLE(first_bit + p->octet_time * store)))) {
			p->port_counters.tx_errors++;
			rte_pktmbuf_free(m);
		}
	}
	if (was_empty)
		line_first_changed(s, (unsigned)(p - s->member));
	p->port_counters.tx_frames += n;
	return n;
}

static uint16_t
switch_rx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct member *p = (struct member *)port;
	uint16_t got;

	hand_over(p->device, now);
	got = wire_arrivals_fetch(&p->out, &p->device->mbuf, frames, n, now);
	p->port_counters.rx_frames += got;
	return got;
}

/* or when a frame is received that may leave from this port */
static uint64_t
switch_next_arrival(struct fg_port *port)
{
	const struct member *p = (const struct member *)port;
	struct fg_switch *s = p->device;
	uint64_t next = RTE_MIN(wire_arrivals_next(&p->out), s->next[s->winner[1]]);

	next = RTE_MIN(next, next_event(s));
	return s->snooping == NULL ? next : RTE_MIN(next, snoop_next(s));
}

static void
switch_counters(struct fg_port *port, struct fg_port_counters *out)
{
	const struct member *p = (const struct member *)port;

	*out = p->port_counters;
	out->rx_errors = p->out.bad_fcs;
}

static const struct fg_port_ops switch_ops = {
	.counters = switch_counters,
	.link_up = wire_is_up,
	.close = wire_stays,
	.waiting = pause_waiting,
};

/* two switches support basic forwarding only */
static int
check_uplink(const struct fg_switch_config *c, struct fg_error *err)
{
	uint64_t all = UINT64_MAX >> (FG_SWITCH_PORTS - c->ports);
	const struct wire_range ranges[] = {
		{"reference_switch.uplink", c->uplink_bps, 1e3, 1e12},
		{"reference_switch.ports", c->ports, 2, FG_SWITCH_PORTS - 2},
	};
	int rc = wire_check_ranges(ranges, RTE_DIM(ranges), err);

	if (rc == 0 && (c->queues != FG_SWITCH_OUTPUT || c->flow_control != FG_SWITCH_NO_FLOW_CONTROL ||
			c->cut_through || c->failover.on || c->snooping.groups > 0))
		return fg_error_set(err, EINVAL, "reference_switch.uplink",
				    "only between switches that store frames in output queues");
	if (rc == 0 && ((c->second & all) == 0 || (c->second & all) == all))
		return fg_error_set(err, EINVAL, "reference_switch.uplink", "one switch has no ports");
	return rc;
}

static int
check_tunnels(const struct fg_switch_config *c, struct fg_error *err)
{
	if (c->queues == FG_SWITCH_INPUT || c->uplink_bps > 0)
		return fg_error_set(err, EINVAL, "reference_switch.tunnels",
				    "only of one switch without queues behind the ingress");
	return 0;
}

static int
check_config(const struct fg_switch_config *c, struct fg_error *err)
{
	const struct wire_range ranges[] = {
		{"reference_switch.ports", c->ports, 2, FG_SWITCH_PORTS},
		{"reference_switch.capacity", c->capacity_fps != 0 ? c->capacity_fps : 1, 1e-3, 1e12},
		{"reference_switch.latency", c->latency_ns, 0, 1e12},
		{"reference_switch.latency_per_byte", c->latency_ns_per_octet, 0, 1e9},
		{"reference_switch.drop_cost", c->drop_cost_ns, 0, 1e12},
		{"reference_switch.ppm", c->ppm, -1000, 1000},
		{"reference_switch.gap", c->gap, 1, 1000},
		{"reference_switch.pause_quanta", c->flow_control == FG_SWITCH_PAUSE ? c->pause_quanta : 1, 1,
		 65535},
	};
	int rc = wire_check_ranges(ranges, RTE_DIM(ranges), err);

	for (unsigned i = 0; rc == 0 && i < c->ports; i++)
		rc = wire_check_ranges(
			&(struct wire_range){"reference_switch.rate", c->rate_bps[i], 1e3, 1e12}, 1, err);
	if (rc == 0 && c->failover.on &&
	    (c->failover.preferred >= c->ports || c->failover.next_best >= c->ports))
		rc = fg_error_set(err, EINVAL, "reference_switch.failover", "the switch has fewer ports");
	if (rc == 0 && c->uplink_bps != 0)
		rc = check_uplink(c, err);
	if (rc == 0 && c->tunnels.on)
		rc = check_tunnels(c, err);
	return rc;
}

static bool
is_slower_than_another(const struct fg_switch_config *c, unsigned i)
{
	for (unsigned k = 0; k < c->ports; k++)
		if (c->rate_bps[k] > c->rate_bps[i])
			return true;
	return false;
}

static int
member_init(struct fg_switch *s, unsigned i, uint32_t in_flight, struct fg_error *err)
{
	const struct fg_switch_config *c = &s->config;
	struct member *p = &s->member[i];
	int rc = wire_arrivals_init(&p->in, SLACK, err);

	if (rc == 0)
		rc = wire_arrivals_init(&p->out, in_flight, err);
	if (rc != 0)
		return rc;
	p->device = s;
	p->half = &s->half[c->uplink_bps > 0 && (c->second >> i & 1)];
	p->half->ports |= 1ULL << i;
	p->octet_time = wire_fixed(8e12L / c->rate_bps[i]);
	p->octet_time_out = wire_fixed(8e12L / (c->rate_bps[i] * (1 + c->ppm * 1e-6L)));
	if (c->failover.on && i == c->failover.preferred)
		p->path = FROM_WHOLE(wire_ps(c->failover.preferred_ns));
	if (c->failover.on && i == c->failover.next_best)
		p->path = FROM_WHOLE(wire_ps(c->failover.next_best_ns));
	p->store = c->cut_through && !is_slower_than_another(c, i) ? FG_ETHER_HEADER : 0;
	p->port.tx = c->flow_control == FG_SWITCH_PAUSE ? switch_tx_paused : switch_tx;
	p->port.rx = switch_rx;
	p->port.next_arrival = switch_next_arrival;
	p->port.ops = &switch_ops;
	wire_describe(&p->port, i, c->rate_bps[i], &s->mbuf);
	return 0;
}

/* the uplink's ends are the last two ports; nobody polls them */
static int
uplink_init(struct fg_switch *s, uint32_t in_flight, struct fg_error *err)
{
	const struct fg_switch_config *c = &s->config;
	int rc = 0;

	for (unsigned k = 0; k < RTE_DIM(s->half) && rc == 0; k++) {
		struct member *p = &s->member[c->ports + k];

		rc = wire_arrivals_init(&p->in, in_flight, err);
		p->device = s;
		p->half = &s->half[k];
		p->half->ports |= 1ULL << (c->ports + k);
		p->peer = &s->member[c->ports + 1 - k];
		p->octet_time_out = wire_fixed(8e12L / (c->uplink_bps * (1 + c->ppm * 1e-6L)));
	}
	return rc;
}

static int
tables_init(struct fg_switch *s, struct fg_error *err)
{
	int rc = 0;

	if (s->config.table.size > 0)
		rc = fdb_create(&s->config.table, &s->half[0].table, err);
	if (rc == 0 && s->config.table.size > 0 && s->config.uplink_bps > 0)
		rc = fdb_create(&s->config.table, &s->half[1].table, err);
	return rc;
}

static int
make_copies(struct fg_switch *s, uint32_t in_flight, uint32_t max_frame, struct fg_error *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	fg_unique_name(name, sizeof(name), "fg_switch_copies_");
	s->copies = rte_pktmbuf_pool_create(
		name, in_flight + SLACK, 0, 0,
		(uint16_t)(RTE_MAX(max_frame, (uint32_t)OWN_FRAME) + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	if (s->copies == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for the copies that the reference switch makes of frames");
	return 0;
}

int
fg_switch_create(const struct fg_switch_config *config, uint32_t in_flight, uint32_t max_frame,
		 struct fg_switch **out, struct fg_error *err)
{
	struct fg_switch *s;
	int rc = check_config(config, err);
	unsigned ports = config->ports + (config->uplink_bps > 0 ? 2 : 0);

	if (rc == 0 && (in_flight == 0 || in_flight > MAX_IN_FLIGHT))
		rc = fg_error_set(err, EINVAL, "wire", "%u frames on the way are not 1 to %u", in_flight,
				  MAX_IN_FLIGHT);
	if (rc != 0)
		return rc;
	s = calloc(1, sizeof(*s) + ports * sizeof(s->member[0]));
	if (s == NULL)
		return fg_error_set(err, ENOMEM, "reference_switch", "no memory");
	s->config = *config;
	s->ports = ports;
	s->leaves = rte_align32pow2(ports);
	for (unsigned i = 0; i < s->leaves; i++)
		s->next[i] = UINT64_MAX;
	for (unsigned i = 2 * s->leaves - 1; i > 0; i--)
		s->winner[i] = i < s->leaves ? s->winner[2 * i] : (uint8_t)(i - s->leaves);
	rc = wire_marks_take(&s->mbuf, err);
	for (unsigned i = 0; i < config->ports && rc == 0; i++)
		rc = member_init(s, i, in_flight, err);
	if (rc == 0 && config->uplink_bps > 0)
		rc = uplink_init(s, in_flight, err);
	if (rc == 0)
		rc = forward_init(s, err);
	if (rc == 0)
		rc = tables_init(s, err);
	if (rc == 0 && config->snooping.groups > 0)
		rc = snoop_create(&config->snooping, config->ports, &s->snooping, err);
	if (rc == 0 && config->failover.on)
		rc = failover_create(&config->failover, &s->failover, err);
	if (rc == 0)
		rc = make_copies(s, in_flight, max_frame, err);
	if (rc != 0) {
		fg_switch_free(s);
		return rc;
	}
	fg_switch_reset(s);
	*out = s;
	return 0;
}

void
fg_switch_reset(struct fg_switch *s)
{
	fg_switch_set_gap(s, FG_ETHER_OVERHEAD - LINE_PREAMBLE);
	for (unsigned i = 0; i < s->ports; i++) {
		struct member *p = &s->member[i];

		wire_arrivals_clear(&p->in);
		wire_arrivals_clear(&p->out);
		p->line_free = p->first_bit = 0;
		line_first_changed(s, i);
	}
	forward_reset(s);
	if (s->snooping != NULL)
		snoop_reset(s->snooping);
}

void
fg_switch_free(struct fg_switch *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->ports; i++) {
		wire_arrivals_free(&s->member[i].in);
		wire_arrivals_free(&s->member[i].out);
		wire_waiting_free(&s->member[i].queue);
	}
	for (unsigned i = 0; i < RTE_DIM(s->half); i++) {
		wire_waiting_free(&s->half[i].engine);
		fdb_free(s->half[i].table);
	}
	input_free(s);
	pause_free(s->pauses);
	fg_port_pool_free(s->copies);
	snoop_free(s->snooping);
	failover_free(s->failover);
	free(s);
}

struct fg_port *
fg_switch_port(struct fg_switch *s, unsigned i)
{
	return &s->member[i].port;
}

void
fg_switch_outage(struct fg_switch *s, uint64_t from_ns, uint64_t to_ns)
{
	s->outage_from = from_ns * (FG_DEVICE_HZ / 1000000000);
	s->outage_to = to_ns * (FG_DEVICE_HZ / 1000000000);
}

void
fg_switch_set_gap(struct fg_switch *s, uint32_t octets)
{
	s->overhead = LINE_PREAMBLE + octets;
	for (unsigned i = 0; i < s->ports; i++)
		s->member[i].port.caps.line_overhead = s->overhead;
}

void
fg_switch_read_counters(const struct fg_switch *s, unsigned i, struct fg_switch_counters *out)
{
	*out = s->member[i].counters;
}

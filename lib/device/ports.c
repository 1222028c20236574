/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ports and the device between them. Sending computes at once whether and when each frame arrives, and
 * puts it with its time into the other port's list of arrivals. Receiving returns the frames that have
 * arrived by now. The frame itself is passed on, not copied. A wire that impairs its frames has its own
 * functions for both (path.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_priv.h"
#include "firewall_priv.h"
#include "nat_priv.h"

static bool
arrive(struct side *side, struct rte_mbuf *m, uint64_t time)
{
	if (likely(wire_arrivals_put(&side->arrivals, m, time)))
		return true;
	side->counters.rx_missed++;
	return false;
}

/*
 * the router answers on the side of the request; an answer may not overtake frames already on their way there
 */
static bool
answer(struct side *side, struct rte_mbuf *m, size_t length, uint64_t time)
{
	struct arrivals *a = &side->arrivals;
	uint64_t last = a->head == a->tail ? 0 : a->time[(a->head - 1) & a->mask];

	side->direction.counters.answered++;
	m->pkt_len = m->data_len = (uint16_t)length;
	if (side->wire->impaired)
		return wire_path_answer(side, m, time);
	return arrive(side, m, RTE_MAX(time, last));
}

/* a frame leaves the device; UINT64_MAX: it does not */
static __rte_always_inline void
deliver(struct side *side, struct rte_mbuf *m, uint64_t out, bool impaired)
{
	if (out != UINT64_MAX && side->direction.profiles != NULL)
		m = wire_path_mark(side, m);
	if (impaired && out != UINT64_MAX && side->wire->firewall != NULL) {
		m = wire_guard(side, m, &out);
		if (m == NULL)
			return;
	}
	if (out == UINT64_MAX || !(impaired ? wire_path_send(side, m, out) : arrive(side->sink, m, out)))
		rte_pktmbuf_free(m);
}

/*
 * A frame for a host on the ingress side is not forwarded. Frames for unknown hosts and for groups are: with
 * two ports this is flooding. @return false: the caller keeps the frame
 */
static bool
bridge_and_send(struct side *side, struct rte_mbuf *m, fg_u128 first_bit)
{
	struct direction *d = &side->direction;
	struct fdb *table = side->wire->table;
	const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	int number = (int)(side - side->wire->side), where;

	if (!fdb_learn(table, frame, (unsigned)number, WHOLE(first_bit + d->is.store_time)))
		d->counters.unlearned++;
	where = fdb_side(table, frame);
	if (where == number) {
		d->counters.filtered++;
		return false;
	}
	d->counters.flooded += where == WIRE_UNKNOWN;
	deliver(side, m, wire_device_pass(d, frame, first_bit), side->wire->impaired);
	return true;
}

static bool
route_and_send(struct side *side, struct rte_mbuf *m, fg_u128 first_bit)
{
	struct direction *d = &side->direction;
	uint64_t in = WHOLE(first_bit + d->is.store_time), ready = in, out;
	size_t length, room;
	uint8_t *frame;

	if (side->wire->table != NULL)
		return bridge_and_send(side, m, first_bit);
	if (side->wire->nat != NULL) {
		m = wire_translate(side, m, &ready);
		if (m == NULL)
			return true;
	}
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	length = m->pkt_len;
	room = length + rte_pktmbuf_tailroom(m);
	switch (wire_route(side, frame, &length, room)) {
	case WIRE_FORWARD:
		out = wire_device_pass(d, frame, first_bit);
		deliver(side, m, out == UINT64_MAX ? out : out + (ready - in), side->wire->impaired);
		return true;
	case WIRE_ANSWER:
		return answer(side, m, length, WHOLE(first_bit + d->is.store_time + d->is.transit));
	default:
		d->counters.unroutable++;
		rte_pktmbuf_free(m);
		return true;
	}
}

/* a device's receiver accepts whole frames of a legal length only (IEEE 802.3, 4.2.4) */
static __rte_noinline bool
is_wrong(struct side *side, const struct rte_mbuf *m, uint32_t size)
{
	const struct fg_device *wire = side->wire;
	struct fg_device_counters *counters = &side->direction.counters;

	if (size < FG_ETHER_MIN)
		counters->undersized++;
	else if (m->ol_flags & wire->mbuf.bad_fcs_flag)
		counters->bad_fcs++;
	else if (size > wire->longest)
		counters->oversized++;
	else
		return false;
	return true;
}

static __rte_always_inline uint16_t
send_all(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now, bool impaired)
{
	struct side *side = (struct side *)port;
	const struct fg_device *wire = side->wire;
	const uint64_t fault_flags = wire->mbuf.bad_fcs_flag | wire->mbuf.runt_flag;
	struct direction *d = &side->direction;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];
		uint64_t launch = wire_launch(&wire->mbuf, m, now);
		bool suspect;
		fg_u128 first_bit;
		uint32_t size = RTE_MAX(m->pkt_len + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN);

		suspect = (m->ol_flags & fault_flags) != 0 || size > wire->longest;
		if (unlikely(suspect) && (m->ol_flags & wire->mbuf.runt_flag))
			size = m->pkt_len + FG_ETHER_FCS;
		if (unlikely(size != d->is.frame_size))
			wire_device_size(d, size);
		first_bit = wire_line_send(d, launch);
		d->counters.received++;
		if (unlikely(suspect) && is_wrong(side, m, size)) {
			rte_pktmbuf_free(m);
			continue;
		}
		if (wire->inspects) {
			if (!route_and_send(side, m, first_bit))
				rte_pktmbuf_free(m);
			continue;
		}
		deliver(side, m, wire_device_pass(d, rte_pktmbuf_mtod(m, uint8_t *), first_bit), impaired);
	}
	side->counters.tx_frames += n;
	return n;
}

static uint16_t
wire_tx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	return send_all(port, frames, n, now, false);
}

static uint16_t
wire_tx_impaired(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	return send_all(port, frames, n, now, true);
}

static uint16_t
wire_rx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct side *side = (struct side *)port;
	uint16_t got = wire_arrivals_fetch(&side->arrivals, &side->wire->mbuf, frames, n, now);

	side->counters.rx_frames += got;
	return got;
}

static uint64_t
wire_next_arrival(struct fg_port *port)
{
	return wire_arrivals_next(&((struct side *)port)->arrivals);
}

static void
wire_counters(struct fg_port *port, struct fg_port_counters *out)
{
	*out = ((struct side *)port)->counters;
}

static const struct fg_port_ops wire_ops = {
	.counters = wire_counters,
	.link_up = wire_is_up,
	.close = wire_stays,
};

static void
port_init(struct side *side, unsigned i, double rate_bps)
{
	struct fg_port *port = &side->port;
	bool impaired = side->wire->impaired;

	port->tx = impaired ? wire_tx_impaired : wire_tx;
	port->rx = impaired ? wire_path_rx : wire_rx;
	port->next_arrival = impaired ? wire_path_next_arrival : wire_next_arrival;
	port->ops = &wire_ops;
	wire_describe(port, i, rate_bps, &side->wire->mbuf);
}

static int
side_init(struct fg_device *wire, unsigned i, uint32_t in_flight, struct fg_error *err)
{
	struct side *side = &wire->side[i];
	const struct fg_device_interface *interface = &wire->config.interface[i];
	struct direction *d = &side->direction;
	int rc = wire_device_init(d, &wire->config, i, err);

	if (rc == 0)
		rc = fg_path_init(&d->path, &d->config->impair, FG_DEVICE_HZ, &wire_path_frames, side,
				  "reference_device", err);
	if (rc == 0)
		rc = wire_arrivals_init(&side->arrivals, in_flight, err);
	if (rc != 0)
		return rc;
	side->wire = wire;
	side->other = &wire->side[1 - i];
	side->sink = wire->config.reflect ? side : side->other;
	side->router = (struct fg_host){
		.mac = {0x02, 0xf6, 0, 0, 0xff, (uint8_t)(i + 1)},
		.has_ipv4 = interface->has_ipv4,
		.has_ipv6 = interface->has_ipv6,
	};
	memcpy(side->router.ipv4, interface->ipv4, 4);
	memcpy(side->router.ipv6, interface->ipv6, 16);
	wire->inspects |= interface->has_ipv4 || interface->has_ipv6 || wire->config.reflect ||
			  wire->config.table.size > 0;
	wire->impaired |= d->path.impair.alters;
	return 0;
}

static void
drop_arrivals(struct side *side)
{
	wire_path_clear(side);
	wire_arrivals_clear(&side->arrivals);
}

void
fg_device_reset(struct fg_device *wire, uint64_t trial)
{
	/* any odd number; not the step of the random generator, whose sequences would then overlap */
	const uint64_t between_trials = 0xd1342543de82ef95ULL;
	uint64_t seed = wire->config.seed * 2 + trial * between_trials;

	if (wire->firewall != NULL)
		firewall_reset(wire->firewall);
	if (wire->nat != NULL)
		nat_reset(wire->nat);
	for (unsigned i = 0; i < 2; i++) {
		drop_arrivals(&wire->side[i]);
		wire_device_reset(&wire->side[i].direction, seed + i);
	}
}

/* set up a new wire by the configuration */
static int
furnish(struct fg_device *wire, const struct fg_device_config *config, uint32_t in_flight,
	struct fg_error *err)
{
	int rc = 0;

	wire->config = *config;
	if (in_flight == 0 || in_flight > WIRE_MAX_IN_FLIGHT)
		rc = fg_error_set(err, EINVAL, "wire", "%u frames on the way are not 1 to %u", in_flight,
				  WIRE_MAX_IN_FLIGHT);
	else
		rc = wire_marks_take(&wire->mbuf, err);
	wire->longest = config->forwards_up_to > 0 ? config->forwards_up_to : UINT32_MAX;
	for (unsigned i = 0; i < 2 && rc == 0; i++)
		rc = side_init(wire, i, in_flight, err);
	if (rc == 0 && config->table.size > 0)
		rc = fdb_create(&config->table, &wire->table, err);
	if (rc == 0 && config->firewall.sessions > 0) {
		rc = firewall_create(&config->firewall, &wire->firewall, err);
		wire->impaired = true; /* other frames pass a delayed one */
	}
	if (rc == 0 && config->nat.sessions > 0) {
		rc = nat_create(&config->nat, config->interface[0].ipv4, config->interface[1].ipv4,
				&wire->nat, err);
		wire->impaired = true;
	}
	if (rc == 0 && wire->impaired)
		rc = wire_path_init(wire, in_flight, err);
	for (unsigned i = 0; i < 2 && rc == 0; i++)
		port_init(&wire->side[i], i, wire->config.rate_bps);
	if (rc == 0)
		fg_device_reset(wire, 0);
	return rc;
}

/* free it all again */
static void
strip(struct fg_device *wire)
{
	for (unsigned i = 0; i < 2; i++) {
		drop_arrivals(&wire->side[i]);
		wire_device_free(&wire->side[i].direction);
		wire_arrivals_free(&wire->side[i].arrivals);
	}
	wire_path_free(wire);
	fdb_free(wire->table);
	firewall_free(wire->firewall);
	nat_free(wire->nat);
	memset(wire, 0, sizeof(*wire));
}

int
fg_device_create(const struct fg_device_config *config, uint32_t in_flight, struct fg_device **out,
		 struct fg_error *err)
{
	struct fg_device *wire = calloc(1, sizeof(*wire));
	int rc;

	if (wire == NULL)
		return fg_error_set(err, ENOMEM, "wire", "no memory");
	rc = furnish(wire, config, in_flight, err);
	if (rc != 0) {
		fg_device_free(wire);
		return rc;
	}
	*out = wire;
	return 0;
}

int
fg_device_change(struct fg_device *wire, const struct fg_device_config *config, uint32_t in_flight,
		 struct fg_error *err)
{
	struct fg_port_counters counters[2] = {wire->side[0].counters, wire->side[1].counters};
	int rc;

	strip(wire);
	rc = furnish(wire, config, in_flight, err);
	for (unsigned i = 0; i < 2; i++)
		wire->side[i].counters = counters[i];
	return rc;
}

void
fg_device_free(struct fg_device *wire)
{
	if (wire == NULL)
		return;
	strip(wire);
	free(wire);
}

struct fg_port *
fg_device_port(struct fg_device *wire, unsigned side)
{
	return &wire->side[side].port;
}

void
fg_device_outage(struct fg_device *wire, uint64_t from_ns, uint64_t to_ns)
{
	for (unsigned i = 0; i < 2; i++) {
		wire->side[i].direction.outage_from = from_ns * (FG_DEVICE_HZ / 1000000000);
		wire->side[i].direction.outage_to = to_ns * (FG_DEVICE_HZ / 1000000000);
	}
}

int
fg_device_set_profiles(struct fg_device *wire, unsigned side, const struct fg_device_profile *list,
		       unsigned n, struct fg_error *err)
{
	struct direction *d = &wire->side[side].direction;
	struct profiles *profiles = NULL;
	int rc = n > 0 ? wire_profiles_create(list, n, &profiles, err) : 0;

	if (rc == 0 && wire_profiles_marks(list, n) && !wire->marks) {
		rc = wire_path_copies(wire, 1, (uint32_t)wire->side[0].arrivals.mask + 1, err);
		wire->marks = rc == 0;
	}
	if (rc != 0) {
		free(profiles);
		return rc;
	}
	free(d->profiles);
	d->profiles = profiles;
	return 0;
}

void
fg_device_read_profile_counters(const struct fg_device *wire, unsigned side, unsigned i,
				struct fg_device_profile_counters *out)
{
	wire_profiles_counters(wire->side[side].direction.profiles, i, out);
}

void
fg_device_read_counters(const struct fg_device *wire, unsigned side, struct fg_device_counters *out)
{
	const struct side *from = &wire->side[side];
	struct fg_path_counters path;

	fg_path_read_counters(&from->direction.path, &from->sink->line, &path);
	*out = from->direction.counters;
#define TAKE(name, text) out->name = path.name;
	FG_PATH_COUNTERS(TAKE)
}

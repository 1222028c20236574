/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IGMP and MLD snooping (RFC 4541) of the reference switch: which ports frames of a group leave from. The
 * switch processes reports in the order of their arrival, at its rate; a membership begins or ends some time
 * after the message. Until then forwarding does not change.
 *
 * The table (mcast.c) has the next action: to send a query, or to forget a membership. Due actions run before
 * the next frame is forwarded. So the table is the same as if a clock drove it. Entries outlive trials, as
 * addresses do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mcast_priv.h"
#include "switch_priv.h"

enum { VLAN_MASK = 0xfff };
static const uint64_t PS_PER_NS = 1000, RESPONSE = 10000000000000; /* ps: 10 s */

struct snooping {
	struct fg_switch_snooping config;
	unsigned ports;
	struct mcast groups;
	uint64_t router_ports;
	uint64_t join_delay, leave_delay, new_delay, interval, lifetime, control_time; /* ps */
	fg_u128 control_free, group_cost;
	struct waiting control; /* messages that wait to be processed */
	uint64_t next_general;  /* next general query, ps; 0: not known yet */
	uint64_t now;           /* arrival of the present message, ps; it may be processed later */
	struct fg_host host;    /* the querier: the switch */
};

int
snoop_create(const struct fg_switch_snooping *c, unsigned ports, struct snooping **out, struct fg_error *err)
{
	struct snooping *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return fg_error_set(err, ENOMEM, "snooping", "no memory");
	*out = s;
	s->config = *c;
	s->ports = ports;
	s->router_ports = c->router_ports;
	s->join_delay = wire_ps(c->join_delay_ns);
	s->leave_delay = wire_ps(c->leave_delay_ns);
	s->new_delay = wire_ps(c->new_group_delay_ns);
	s->interval = wire_ps(c->last_member_interval_ns);
	s->lifetime = wire_ps(c->membership_ns);
	s->group_cost = wire_fixed(1e3L * c->group_cost_ns);
	s->control_time = c->control_rate > 0 ? (uint64_t)(1e12 / c->control_rate) : 0;
	s->host = (struct fg_host){.mac = {0x02, 0, 0, 0xff, 0, 1}, .has_ipv4 = true, .has_ipv6 = true};
	rc = mcast_init(&s->groups, c->groups, ports, err);
	if (rc == 0)
		rc = wire_waiting_init(&s->control, c->control_queue, false, "snooping.control_queue", err);
	return rc;
}

void
snoop_free(struct snooping *s)
{
	if (s == NULL)
		return;
	wire_waiting_free(&s->control);
	mcast_free(&s->groups);
	free(s);
}

/* queries belong to a trial, as frames do; memberships that end still end */
void
snoop_reset(struct snooping *s)
{
	s->control_free = 0;
	wire_waiting_reset(&s->control);
	s->groups.most = s->groups.used;
	s->next_general = 0;
	for (uint32_t i = 0; i < s->groups.due; i++) {
		struct membership *m = mcast_membership(&s->groups, s->groups.heap[i]);

		m->queries = 0; /* a stale heap entry is corrected when it is due */
	}
}

/* in a table of MAC addresses, groups that share an address are one entry */
static struct group_key
key_of(const struct snooping *s, unsigned version, const uint8_t *group, uint16_t vlan)
{
	struct group_key key = {.vlan = vlan, .version = (uint8_t)version};

	if (version == 6) {
		memcpy(key.group, group, 16);
		if (s->config.by_mac)
			memset(key.group, 0, 12);
	} else {
		memcpy(key.group, group, 4);
		if (s->config.by_mac) {
			key.group[0] = 0;
			key.group[1] &= 0x7f;
		}
	}
	return key;
}

/* a port joins. @return false: the table is full */
static bool
join(struct snooping *s, const struct group_key *key, unsigned port,
     const struct fg_membership_message *message, bool sources, uint64_t now)
{
	int i = mcast_find(&s->groups, key);
	uint64_t begin = now + s->join_delay, end;
	struct membership *m;

	if (i == MCAST_NONE) {
		begin += s->new_delay;
		i = mcast_enter(&s->groups, key);
		if (i == MCAST_NONE)
			return false;
	}
	mcast_at(&s->groups, (uint32_t)i)->version = message->version;
	m = &mcast_at(&s->groups, (uint32_t)i)->port[port];
	end = s->lifetime == 0 ? MCAST_FOR_EVER : begin + s->lifetime;
	if (m->place == MCAST_NOT_DUE) {
		mcast_at(&s->groups, (uint32_t)i)->members++;
		m->from = begin;
	} else if (begin > m->until && !groups_resume(&s->groups, m, begin, s->now)) {
		return false;
	}
	m->until = end;
	m->query = UINT64_MAX;
	m->queries = 0;
	m->include = sources;
	mcast_changed(&s->groups, (uint32_t)i * s->ports + port);
	return true;
}

static void
leave(struct snooping *s, const struct group_key *key, unsigned port, bool sources, uint64_t now)
{
	int i = mcast_find(&s->groups, key);
	struct membership *m;
	uint64_t end = now + s->leave_delay;

	if (i == MCAST_NONE)
		return;
	m = &mcast_at(&s->groups, (uint32_t)i)->port[port];
	/* a member of all sources does not leave by a block of one; a leave in progress stays */
	if (m->place == MCAST_NOT_DUE || (sources && !m->include) || m->queries > 0)
		return;
	if (!s->config.fast_leave) {
		m->queries = s->config.last_member_count;
		m->query = now;
		end += m->queries * s->interval;
	}
	m->until = RTE_MIN(m->until, end);
	mcast_changed(&s->groups, (uint32_t)i * s->ports + port);
}

/* @return when a received message has been processed; UINT64_MAX: it is lost */
static uint64_t
read_at(struct snooping *s, uint64_t now)
{
	fg_u128 start = FROM_WHOLE(now);

	if (s->control_time == 0)
		return now;
	if (start < s->control_free) {
		start = s->control_free;
		if (!wire_waiting_enter(&s->control, FROM_WHOLE(now), start, 0))
			return UINT64_MAX;
	}
	s->control_free = start + FROM_WHOLE(s->control_time);
	return WHOLE(s->control_free);
}

bool
snoop_message(struct fg_switch *sw, unsigned in, const struct rte_mbuf *m, uint64_t now, uint64_t *to)
{
	struct snooping *s = sw->snooping;
	struct fg_switch_counters *count = &sw->member[in].counters;
	struct fg_membership_message message;
	struct fg_membership_record record;
	uint64_t read;

	if (!fg_membership_open(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &message))
		return false;
	*to = message.query ? forward_all_ports(sw) : s->router_ports; /* RFC 4541, 2.1.1 */
	s->now = now;
	read = read_at(s, now);
	if (read == UINT64_MAX) {
		count->control_drops++;
		return true;
	}
	if (message.query) {
		count->queries++;
		s->router_ports |= 1ULL << in;
		return true;
	}
	while (fg_membership_next(&message, &record)) {
		unsigned version = fg_membership_is_ipv6(message.version) ? 6 : 4;
		struct group_key key = key_of(s, version, record.group, message.vlan);

		if (record.change == FG_MEMBERSHIP_LEAVE) {
			count->leaves++;
			leave(s, &key, in, record.sources, read);
		} else {
			count->reports++;
			count->not_registered += !join(s, &key, in, &message, record.sources, read);
		}
	}
	return true;
}

/*
 * The group that a frame is sent to. @return false: flood it, because it is of the local network (RFC 4541,
 * 2.1.2) or not IP
 */
static bool
group_of(const struct snooping *s, const struct rte_mbuf *m, struct group_key *out)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	size_t at = fg_net_type_at(frame, m->data_len) + 2;
	uint16_t vlan = at > FG_ETHER_HEADER ? fg_get16(frame + FG_ETHER_HEADER) & VLAN_MASK : 0;
	uint16_t type = fg_get16(frame + at - 2);

	if (type == FG_ETHER_IPV4 && at + sizeof(struct fg_ipv4) <= m->data_len) {
		const uint8_t *to = frame + at + offsetof(struct fg_ipv4, dst);

		*out = key_of(s, 4, to, vlan);
		return mcast_reaches_far(4, to);
	}
	if (type == FG_ETHER_IPV6 && at + sizeof(struct fg_ipv6) <= m->data_len) {
		const uint8_t *to = frame + at + offsetof(struct fg_ipv6, dst);

		*out = key_of(s, 6, to, vlan);
		return mcast_reaches_far(6, to);
	}
	return false;
}

uint64_t
snoop_ports(struct fg_switch *sw, const struct rte_mbuf *m, uint64_t now, bool *registered)
{
	const struct snooping *s = sw->snooping;
	uint64_t members = 0;
	struct group_key key;
	int i;

	*registered = false;
	if (!group_of(s, m, &key))
		return forward_all_ports(sw);
	i = mcast_find(&s->groups, &key);
	for (unsigned k = 0; i != MCAST_NONE && k < s->ports; k++) {
		const struct membership *one = &mcast_at(&s->groups, (uint32_t)i)->port[k];

		if (groups_is_member(&s->groups, one, now))
			members |= 1ULL << k;
	}
	*registered = members != 0;
	if (members != 0)
		return members | s->router_ports;
	return s->config.drops_unregistered ? s->router_ports : forward_all_ports(sw);
}

fg_u128
snoop_cost(const struct fg_switch *sw)
{
	return sw->snooping->group_cost * sw->snooping->groups.used;
}

static void
ask(struct fg_switch *sw, unsigned port, enum fg_membership_version version, const uint8_t *group,
    uint64_t response, uint64_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(sw->copies);
	uint8_t frame[FG_MEMBERSHIP_ROOM];
	size_t length = fg_membership_query(&sw->snooping->host, version, group, response / PS_PER_NS, frame);

	if (m == NULL || rte_pktmbuf_append(m, (uint16_t)length) == NULL) {
		sw->member[port].port_counters.rx_no_mbuf++;
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), frame, length);
	m->ol_flags = 0;
	sw->member[port].counters.queries_sent++;
	forward_own(sw, port, m, now);
}

/* carry out what is due at a place of the table, if it still applies */
static void
act(struct fg_switch *sw, uint32_t place)
{
	struct snooping *s = sw->snooping;
	struct membership *m = mcast_membership(&s->groups, place);
	const struct group *g = mcast_at(&s->groups, place / s->ports);
	uint64_t now = RTE_MIN(m->query, m->until);

	if (m->until <= now) {
		mcast_forget(&s->groups, place);
		return;
	}
	if (m->queries > 0) {
		m->queries--;
		if (!s->config.by_mac) /* the group's IP address is then unknown, only its MAC address is
				        * known */
			ask(sw, place % s->ports, g->version, g->key.group, s->interval, now);
	}
	m->query = m->queries > 0 ? now + s->interval : UINT64_MAX;
	mcast_changed(&s->groups, place);
}

static void
ask_all(struct fg_switch *sw, uint64_t now)
{
	/* RFC 2236, 8.3; and less than the interval */
	uint64_t response = RTE_MIN(RESPONSE, wire_ps(sw->snooping->config.query_interval_ns) / 2);

	for (unsigned port = 0; port < sw->snooping->ports; port++) {
		ask(sw, port, FG_IGMPV2, NULL, response, now);
		ask(sw, port, FG_MLDV1, NULL, response, now);
	}
}

uint64_t
snoop_next(const struct fg_switch *sw)
{
	const struct snooping *s = sw->snooping;
	uint64_t next = s->groups.due > 0 ? mcast_due(&s->groups, s->groups.heap[0]) : UINT64_MAX;

	return s->next_general > 0 ? RTE_MIN(next, s->next_general) : next;
}

void
snoop_act(struct fg_switch *sw, uint64_t now)
{
	struct snooping *s = sw->snooping;
	uint64_t every = s->config.querier ? wire_ps(s->config.query_interval_ns) : 0, next;

	if (every > 0 && s->next_general == 0)
		s->next_general = (now / every + 1) * every;
	while ((next = snoop_next(sw)) <= now && next < MCAST_FOR_EVER) {
		if (s->next_general == next) {
			ask_all(sw, next);
			s->next_general += every;
		} else {
			act(sw, s->groups.heap[0]);
		}
	}
}

uint32_t
fg_switch_groups(const struct fg_switch *device)
{
	return device->snooping == NULL ? 0 : device->snooping->groups.most;
}

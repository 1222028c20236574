/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device's NAT44 (RFC 3022, and RFC 4787 where it leaves a choice): a mapping for each session,
 * address- and port-dependent filtering, ports of the pool in turn. Checksums are updated by the change (RFC
 * 1624), so a wrong one stays wrong.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "connections_priv.h"
#include "nat_priv.h"
#include "wire.h"
#include "work_priv.h"

enum { TCP_CHECKSUM_AT = 16, UDP_CHECKSUM_AT = 6, ALL_ONES = 0xffff };
static const double PS_PER_S = 1e12, MAX_TIMEOUT_NS = 1e15;

struct nat {
	struct fg_nat_config config;
	uint8_t inside[4], outside[4];
	struct connections *table;
	struct work setup;
	uint32_t next_port;         /* of the pool */
	uint64_t clear_from;        /* ps; start of a clear of all sessions ... */
	uint32_t to_clear, cleared; /* ... number of sessions to clear, and cleared */
	struct fg_nat_counters counters;
};

int
nat_create(const struct fg_nat_config *config, const uint8_t inside[4], const uint8_t outside[4],
	   struct nat **out, struct fg_error *err)
{
	struct nat *n;
	int rc;

	if (config->port_first == 0 || config->port_last < config->port_first)
		return fg_error_set(err, EINVAL, "reference_device.nat.ports", "%u to %u are no ports",
				    config->port_first, config->port_last);
	if (!(config->timeout_ns > 0 && config->timeout_ns <= MAX_TIMEOUT_NS))
		return fg_error_set(err, EINVAL, "reference_device.nat.timeout", "out of range");
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		return fg_error_set(err, ENOMEM, "reference_device.nat", "no memory");
	n->config = *config;
	n->setup.queue = config->setup_queue;
	memcpy(n->inside, inside, 4);
	memcpy(n->outside, outside, 4);
	rc = connections_create(config->sessions, wire_ps(config->timeout_ns), 0,
				"reference_device.nat.sessions", &n->table, err);
	if (rc != 0) {
		nat_free(n);
		return rc;
	}
	nat_reset(n);
	*out = n;
	return 0;
}

void
nat_free(struct nat *n)
{
	if (n == NULL)
		return;
	connections_free(n->table);
	free(n);
}

void
nat_reset(struct nat *n)
{
	connections_clear(n->table);
	n->setup.free = 0;
	n->next_port = 0;
	n->to_clear = n->cleared = 0;
	n->counters = (struct fg_nat_counters){0};
}

void
nat_counters(const struct nat *n, struct fg_nat_counters *out)
{
	*out = n->counters;
	out->now = connections_count(n->table);
}

static void
forget_oldest(struct nat *n, uint32_t until)
{
	for (; n->cleared < until && connections_count(n->table) > 0; n->cleared++)
		connections_remove(n->table, connections_oldest(n->table));
}

uint64_t
nat_clear(struct nat *n, uint64_t now)
{
	n->clear_from = now;
	n->to_clear = connections_count(n->table);
	n->cleared = 0;
	if (n->config.clear_rate > 0)
		return (uint64_t)((double)n->to_clear / n->config.clear_rate * PS_PER_S);
	forget_oldest(n, n->to_clear);
	return 0;
}

static void
go_on_clearing(struct nat *n, uint64_t now)
{
	double due = (double)(now - n->clear_from) / PS_PER_S * n->config.clear_rate;

	if (n->cleared < n->to_clear)
		forget_oldest(n, due < n->to_clear ? (uint32_t)due : n->to_clear);
}

/* the next port of the pool that has no session with that far end. @return false: no free port */
static bool
take_port(struct nat *n, struct tuple *back)
{
	uint32_t ports = (uint32_t)n->config.port_last - n->config.port_first + 1;

	for (uint32_t tries = 0; tries < ports; tries++) {
		fg_put16((uint8_t *)&back->to_port,
			 (uint16_t)(n->config.port_first + n->next_port++ % ports));
		if (connections_find(n->table, 1, back) == NULL)
			return true;
	}
	return false;
}

static bool
make_room(struct nat *n)
{
	if (connections_count(n->table) < n->config.sessions)
		return true;
	if (!n->config.replaces) {
		n->counters.refused++;
		return false;
	}
	connections_remove(n->table, connections_oldest(n->table));
	n->counters.replaced++;
	return true;
}

/* NULL: the frame is lost */
static struct connection *
map(struct nat *n, const struct tuple *there, uint64_t *at)
{
	struct tuple back = tuple_back(there);
	uint64_t now = *at;

	memset(back.to, 0, sizeof(back.to));
	memcpy(back.to, n->outside, 4);
	if (!make_room(n))
		return NULL;
	if (!take_port(n, &back)) {
		n->counters.no_port++;
		return NULL;
	}
	if (!work_at(&n->setup, n->config.setup_rate > 0 ? PS_PER_S / n->config.setup_rate : 0, at)) {
		n->counters.setup_full++;
		return NULL;
	}
	n->counters.created++;
	if (connections_count(n->table) + 1 > n->counters.most)
		n->counters.most = connections_count(n->table) + 1;
	return connections_add(n->table, there, &back, now);
}

/* update the checksum of a header whose words @p from become @p to (RFC 1624, equation 3) */
static void
adjust(uint8_t *checksum, const uint8_t *from, const uint8_t *to, size_t octets)
{
	uint32_t sum = (uint16_t)~fg_get16(checksum);

	for (size_t i = 0; i < octets; i += 2)
		sum += (uint32_t)(uint16_t)~fg_get16(from + i) + fg_get16(to + i);
	sum = (sum & ALL_ONES) + (sum >> 16);
	sum = (sum & ALL_ONES) + (sum >> 16);
	fg_put16(checksum, (uint16_t)~sum);
}

static void
rewrite(uint8_t *frame, const struct segment *s, uint8_t *address, uint8_t *port, const uint8_t *to,
	const uint16_t *to_port)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)(frame + s->header);
	bool udp = s->tuple.protocol == FG_IP_UDP;
	uint8_t *checksum = frame + s->content + (udp ? UDP_CHECKSUM_AT : TCP_CHECKSUM_AT);

	adjust((uint8_t *)&ip->checksum, address, to, 4);
	if (!udp || fg_get16(checksum) != 0) {
		adjust(checksum, address, to, 4);
		adjust(checksum, port, (const uint8_t *)to_port, 2);
		if (udp && fg_get16(checksum) == 0)
			fg_put16(checksum, ALL_ONES);
	}
	memcpy(address, to, 4);
	memcpy(port, to_port, 2);
}

enum nat_verdict
nat_pass(struct nat *n, unsigned side, uint8_t *frame, size_t length, uint64_t *at)
{
	struct segment s;
	struct connection *c;
	struct fg_ipv4 *ip;
	uint64_t now = *at;

	if (!segment_find(frame, length, &s) || s.tuple.version != 4 ||
	    (memcmp(s.tuple.to, side == 0 ? n->inside : n->outside, 4) == 0) != (side == 1))
		return NAT_UNTOUCHED;
	go_on_clearing(n, now);
	n->counters.expired += connections_expire(n->table, now);
	c = connections_find(n->table, side, &s.tuple);
	if (c != NULL)
		connections_heard(n->table, c, now);
	else if (side == 0)
		c = map(n, &s.tuple, at);
	else
		n->counters.unsolicited++;
	if (c == NULL)
		return NAT_DROP;
	ip = (struct fg_ipv4 *)(frame + s.header);
	if (side == 0)
		rewrite(frame, &s, ip->src, frame + s.content, c->tuple[1].to, &c->tuple[1].to_port);
	else
		rewrite(frame, &s, ip->dst, frame + s.content + 2, c->tuple[0].from, &c->tuple[0].from_port);
	if (*at < c->out[side])
		*at = c->out[side];
	c->out[side] = *at;
	if (connection_ends(c, side, &s)) {
		n->counters.closed++;
		connections_remove(n->table, c);
	}
	return NAT_TRANSLATED;
}

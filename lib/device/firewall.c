/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device's firewall. Sessions are set up one after the other, each in 1/setup_rate. Frames with
 * payload go through one inspection engine, which takes a time for each frame and for each byte; both
 * directions share it. The first payload of a session has a further delay, which delays no other session.
 * Frames of one session do not pass each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_net.h"
#include "connections_priv.h"
#include "firewall_priv.h"
#include "wire.h"
#include "work_priv.h"

static const double PS_PER_NS = 1e3, PS_PER_S = 1e12;

struct firewall {
	struct fg_firewall_config config;
	struct connections *table;
	struct work setup, engine;
	struct fg_firewall_counters counters;
	uint64_t until_reset; /* sessions until the next one that reset_every ends */
};

static int
check_firewall(const struct fg_firewall_config *c, struct fg_error *err)
{
	const double limit = 1e15; /* ns: later times do not fit the clock */

	if (c->setup_rate < 0 || c->setup_rate > 1e9)
		return fg_error_set(err, EINVAL, "reference_device.firewall.setup_rate",
				    "%g a second is not in 0 to 10^9", c->setup_rate);
	if (!(c->timeout_ns > 0 && c->timeout_ns <= limit && c->half_closed_ns >= 0 &&
	      c->half_closed_ns <= limit))
		return fg_error_set(err, EINVAL, "reference_device.firewall.timeout", "out of range");
	if (!(c->inspect_ns >= 0 && c->frame_ns >= 0 && c->byte_ns >= 0 && c->inspect_ns <= limit &&
	      c->frame_ns <= 1e9 && c->byte_ns <= 1e9))
		return fg_error_set(err, EINVAL, "reference_device.firewall.inspect", "out of range");
	return 0;
}

int
firewall_create(const struct fg_firewall_config *config, struct firewall **out, struct fg_error *err)
{
	struct firewall *f;
	int rc = check_firewall(config, err);

	if (rc != 0)
		return rc;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return fg_error_set(err, ENOMEM, "reference_device.firewall", "no memory");
	f->config = *config;
	f->setup.queue = config->setup_queue;
	f->engine.queue = config->inspect_queue;
	rc = connections_create(config->sessions, wire_ps(config->timeout_ns),
				wire_ps(config->half_closed_ns), "reference_device.firewall.sessions",
				&f->table, err);
	if (rc != 0) {
		firewall_free(f);
		return rc;
	}
	firewall_reset(f);
	*out = f;
	return 0;
}

void
firewall_free(struct firewall *f)
{
	if (f == NULL)
		return;
	connections_free(f->table);
	free(f);
}

void
firewall_reset(struct firewall *f)
{
	connections_clear(f->table);
	f->setup.free = f->engine.free = 0;
	f->counters = (struct fg_firewall_counters){0};
	f->until_reset = f->config.reset_every;
}

void
firewall_counters(const struct firewall *f, struct fg_firewall_counters *out)
{
	*out = f->counters;
	out->now = connections_count(f->table);
}

static struct connection *
find_session(struct firewall *f, unsigned side, const struct segment *s)
{
	struct connection *c = connections_find(f->table, side, &s->tuple);

	/* the same ports again: for the client the old connection has ended */
	if (c == NULL || !(s->tcp_flags & TCP_SYN) || side != 0 || c->fin == 0)
		return c;
	connections_remove(f->table, c);
	return NULL;
}

static enum firewall_verdict
set_up(struct firewall *f, const struct segment *s, uint64_t *at, struct connection **out)
{
	struct tuple back = tuple_back(&s->tuple);
	uint64_t now = *at;

	if (connections_count(f->table) == f->config.sessions) {
		f->counters.refused++;
		return f->config.resets && s->tuple.protocol == FG_IP_TCP ? FIREWALL_REFUSE : FIREWALL_DROP;
	}
	if (!work_at(&f->setup, f->config.setup_rate > 0 ? PS_PER_S / f->config.setup_rate : 0, at)) {
		f->counters.setup_full++;
		return FIREWALL_DROP;
	}
	*out = connections_add(f->table, &s->tuple, &back, now);
	f->counters.created++;
	if (connections_count(f->table) > f->counters.most)
		f->counters.most = connections_count(f->table);
	if (f->until_reset > 0 && --f->until_reset == 0) {
		(*out)->doomed = true;
		f->until_reset = f->config.reset_every;
	}
	return FIREWALL_PASS;
}

static void
note_end(struct firewall *f, struct connection *c, unsigned side, const struct segment *s, uint64_t now)
{
	if (!connection_ends(c, side, s) || c->closing)
		return;
	f->counters.closed++;
	if (f->config.half_closed_ns > 0)
		connections_close(f->table, c, now);
	else
		connections_remove(f->table, c);
}

static enum firewall_verdict
inspect(struct firewall *f, struct connection *c, unsigned side, const struct segment *s, uint64_t *at)
{
	const struct fg_firewall_config *config = &f->config;

	if (c->doomed) {
		f->counters.resets++;
		connections_remove(f->table, c);
		return FIREWALL_RESET;
	}
	if (!work_at(&f->engine, (config->frame_ns + config->byte_ns * s->payload_octets) * PS_PER_NS, at)) {
		f->counters.engine_full++;
		return FIREWALL_DROP;
	}
	if (!c->touched && side == 0) {
		c->touched = true;
		*at += wire_ps(config->inspect_ns);
	}
	return FIREWALL_PASS;
}

enum firewall_verdict
firewall_pass(struct firewall *f, unsigned side, const uint8_t *frame, size_t length, uint64_t *at)
{
	enum firewall_verdict verdict = FIREWALL_PASS;
	struct segment s;
	struct connection *c;
	uint64_t now = *at;
	bool opens;

	if (!segment_find(frame, length, &s))
		return FIREWALL_PASS;
	f->counters.expired += connections_expire(f->table, now);
	c = find_session(f, side, &s);
	opens = side == 0 &&
		(s.tuple.protocol == FG_IP_UDP || (s.tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN);
	if (c == NULL && !opens) {
		f->counters.unknown++;
		return FIREWALL_DROP;
	}
	if (c == NULL)
		verdict = set_up(f, &s, at, &c);
	else
		connections_heard(f->table, c, now);
	if (verdict == FIREWALL_PASS && s.payload_octets > 0)
		verdict = inspect(f, c, side, &s, at);
	if (verdict != FIREWALL_PASS)
		return verdict;
	if (*at < c->out[side])
		*at = c->out[side];
	c->out[side] = *at;
	note_end(f, c, side, &s, now);
	return FIREWALL_PASS;
}

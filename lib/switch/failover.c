/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fail-over of the reference switch: frames for the preferred port leave from the next-best port while
 * the preferred link is down, and return when the link is up again (RFC 6412, RFC 6413).
 *
 * Routes move: a route is the packets to one IP address between one pair of UDP or TCP ports, or other frames
 * to one MAC address. The switch numbers routes in the order of their first frames. When the link goes down
 * or comes up, each affected route gets the time of its move: after detection and computation, one route
 * after the other. A route that is new after that takes the path in use at that time.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "fg_random.h"
#include "switch_priv.h"

enum {
	MAX_ROUTES = 1 << 16,
	PLACES = 2 * MAX_ROUTES, /* of the hash table */
	PORTS_OF_L4 = 4,
	UDP = 17,
	TCP = 6,
};
static const double PS_PER_NS = 1e3;

struct route {
	uint64_t key;
	uint64_t moves, returns; /* ps: moves to the next-best port, returns */
	uint64_t lost;
};

struct failover {
	struct fg_switch_failover config;
	uint64_t down, up; /* ps: the link of the preferred port; UINT64_MAX: never */
	uint64_t event;    /* the next link event that no frame has followed yet */
	uint32_t routes;
	uint32_t place[PLACES]; /* number of the route, from 1; 0: free */
	uint32_t turn[MAX_ROUTES];
	struct route route[MAX_ROUTES];
};

int
failover_create(const struct fg_switch_failover *config, struct failover **out, struct fg_error *err)
{
	struct failover *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return fg_error_set(err, ENOMEM, "reference_switch.failover", "no memory for its routes");
	f->config = *config;
	*out = f;
	failover_reset(f);
	return 0;
}

void
failover_free(struct failover *f)
{
	free(f);
}

void
failover_reset(struct failover *f)
{
	f->down = f->up = f->event = UINT64_MAX;
	f->routes = 0;
	memset(f->place, 0, sizeof(f->place));
}

bool
failover_is_down(const struct failover *f, unsigned port, uint64_t now)
{
	return !f->config.graceful && port == f->config.preferred && now >= f->down && now < f->up;
}

static uint64_t
route_key(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct fg_net_packet ip;
	uint64_t key, low = 0, ports = 0;

	fg_net_find_packet(frame, m->data_len, &ip);
	if (ip.version == 4) {
		key = fg_get32(frame + ip.header + offsetof(struct fg_ipv4, dst));
	} else if (ip.version == 6) {
		key = fg_get64(frame + ip.header + offsetof(struct fg_ipv6, dst));
		low = fg_get64(frame + ip.header + offsetof(struct fg_ipv6, dst) + sizeof(key));
	} else {
		key = (uint64_t)fg_get16(frame) << 32 | fg_get32(frame + 2);
	}
	if ((ip.protocol == UDP || ip.protocol == TCP) && ip.content + PORTS_OF_L4 <= m->data_len)
		ports = fg_get32(frame + ip.content);
	return fg_random_mix(fg_random_mix(fg_random_mix(key + 1) ^ low) + ports);
}

/* A new route does not move or return. */
static struct route *
find_route(struct failover *f, uint64_t key)
{
	uint32_t at = key % PLACES;

	while (f->place[at] != 0 && f->route[f->place[at] - 1].key != key)
		at = (at + 1) % PLACES;
	if (f->place[at] == 0) {
		if (f->routes == MAX_ROUTES)
			return &f->route[MAX_ROUTES - 1]; /* further routes share the last entry */
		f->route[f->routes] =
			(struct route){.key = key, .moves = f->config.undetected ? UINT64_MAX : 0};
		f->place[at] = ++f->routes;
	}
	return &f->route[f->place[at] - 1];
}

/* With balance every second route always uses the next-best port. */
static bool
is_at_next_best(const struct failover *f, const struct route *r)
{
	return f->config.balance && (r - f->route) % 2 == 1;
}

/* the order in which the routes at the preferred port move; @return their number */
static uint32_t
draw_turns(struct failover *f)
{
	uint64_t state = f->config.seed;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->routes; i++)
		if (!is_at_next_best(f, &f->route[i]))
			f->turn[n++] = i;
	for (uint32_t i = n; f->config.order == FG_SWITCH_RANDOM && i > 1; i--) {
		uint32_t other = (uint32_t)(fg_random_next(&state) % i), last = f->turn[i - 1];

		f->turn[i - 1] = f->turn[other];
		f->turn[other] = last;
	}
	for (uint32_t i = 0; f->config.order == FG_SWITCH_REVERSE && i < n / 2; i++) {
		uint32_t first = f->turn[i];

		f->turn[i] = f->turn[n - 1 - i];
		f->turn[n - 1 - i] = first;
	}
	return n;
}

/* The link has changed: compute when each route moves. */
static void
link_changed(struct failover *f)
{
	bool goes_down = f->event == f->down;
	const struct fg_switch_move *move = goes_down ? &f->config.away : &f->config.back;
	uint32_t n = draw_turns(f);

	for (uint32_t i = 0; i < n; i++) {
		struct route *r = &f->route[f->turn[i]];
		double ns = move->detect_ns + move->compute_ns + (i + 1) * move->per_route_ns;
		uint64_t when = f->event + wire_ps(ns);

		if (goes_down)
			r->moves = f->config.undetected ? UINT64_MAX : when;
		else
			r->returns = r->moves <= f->up ? when : f->up; /* unmoved routes do not return */
	}
	f->event = goes_down ? f->up : UINT64_MAX;
}

unsigned
failover_way(struct failover *f, const struct rte_mbuf *m, uint64_t now)
{
	struct route *r;
	bool away;

	while (unlikely(now >= f->event))
		link_changed(f);
	r = find_route(f, route_key(m));
	away = now >= f->down && now >= r->moves && (now < f->up || now < r->returns);
	if (is_at_next_best(f, r) || away)
		return f->config.next_best;
	r->lost += failover_is_down(f, f->config.preferred, now);
	return f->config.preferred;
}

uint32_t
fg_switch_routes(const struct fg_switch *s, struct fg_switch_route *out, uint32_t most)
{
	const struct failover *f = s->failover;

	for (uint32_t i = 0; f != NULL && i < most && i < f->routes; i++) {
		const struct route *r = &f->route[i];

		out[i] = (struct fg_switch_route){
			.moves_ns = (uint64_t)(r->moves / PS_PER_NS),
			.returns_ns = (uint64_t)(r->returns / PS_PER_NS),
			.lost = r->lost,
		};
	}
	return f != NULL ? f->routes : 0;
}

void
fg_switch_link(struct fg_switch *s, uint64_t down_ns, uint64_t up_ns)
{
	if (s->failover == NULL)
		return;
	s->failover->down = s->failover->event = down_ns * (FG_DEVICE_HZ / 1000000000);
	s->failover->up = up_ns * (FG_DEVICE_HZ / 1000000000);
}

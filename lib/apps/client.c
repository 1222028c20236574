/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients have in common: which address and port a connection gets, and how many may be open at a time.
 * curl-loader's ramp: some at the start, and some more each second, up to the limit.
 */
#include <math.h>

#include "app_priv.h"

enum { OPENS_A_POLL = 64, FLOW_TRIES = 16 };
static const uint64_t RETRY_NS = 1000000;

/* ports change first, then our addresses, then theirs */
void
flow_at(const struct application *a, uint64_t i, struct fg_flow *f)
{
	const struct fg_l4_app *config = &a->config;
	uint32_t ports = (uint32_t)config->port_last - config->port_first + 1;

	*f = (struct fg_flow){.ipv6 = config->ipv6, .remote_port = config->port};
	f->local_port = (uint16_t)(config->port_first + i % ports);
	i /= ports;
	address_at(config, config->local, (uint32_t)(i % config->locals), f->local);
	i /= config->locals;
	address_at(config, config->remote, (uint32_t)(i % config->remotes), f->remote);
	memcpy(f->mac, config->next_hop, 6);
}

void
next_flow(struct application *a, struct fg_flow *f)
{
	flow_at(a, a->next_flow++, f);
}

uint64_t
fg_l4_next_flow(const struct fg_l4 *w, unsigned app)
{
	return ((const struct application *)w->app[app])->next_flow;
}

/* open loop: when connection number @p i is due */
static uint64_t
due_at(const struct fg_l4 *w, const struct application *a, uint64_t i)
{
	double ramp = (double)a->config.ramp_up_ns, rate = a->config.opens_per_s * 1e-9;
	double at = (double)i / rate + ramp / 2;

	if (at < ramp)
		at = sqrt(2 * ramp * (double)i / rate);
	return w->start_at + (uint64_t)at;
}

/* open loop: how many are due by now; the area below the ramp is a triangle */
static double
due_by_now(const struct fg_l4 *w, const struct application *a)
{
	double ramp = (double)a->config.ramp_up_ns, since = (double)(w->now - w->start_at);

	return a->config.opens_per_s * 1e-9 * (since < ramp ? since * since / (2 * ramp) : since - ramp / 2);
}

/* connections of the ramp so far */
static uint64_t
opened_of(const struct application *a)
{
	return a->base.tally.opened - a->beside_opened;
}

struct fg_stream *
client_open(struct fg_l4 *w, struct application *a, uint64_t at)
{
	struct fg_stream *s = NULL;
	struct fg_flow f;

	for (unsigned tries = 0; tries < FLOW_TRIES && s == NULL; tries++) {
		next_flow(a, &f);
		s = fg_stream_open(w, a->base.index, &f);
	}
	if (s == NULL)
		return NULL;
	client_of(s)->since = at;
	s->opened_at = (uint32_t)(at >> FG_STREAM_OPENED_SHIFT);
	return s;
}

static struct fg_stream *
open_one(struct fg_l4 *w, struct application *a)
{
	return client_open(w, a, a->config.opens_per_s > 0 ? due_at(w, a, opened_of(a)) : w->now);
}

/* when a stream was opened, or should have been; to a microsecond, for up to an hour */
static uint64_t
opened_at(const struct fg_l4 *w, const struct fg_stream *s)
{
	uint32_t ago = (uint32_t)(w->now >> FG_STREAM_OPENED_SHIFT) - s->opened_at;

	return w->now - ((uint64_t)ago << FG_STREAM_OPENED_SHIFT);
}

void
note_first_octet(const struct fg_l4 *w, const struct fg_stream *s)
{
	if (application_of(w, s)->page == NULL)
		note_time(w, application_of(w, s)->first_octet, opened_at(w, s));
}

void
note_last_octet(const struct fg_l4 *w, const struct fg_stream *s)
{
	if (application_of(w, s)->page == NULL)
		note_time(w, application_of(w, s)->last_octet, opened_at(w, s));
}

static uint64_t
pause_of(struct application *a)
{
	uint64_t low = a->config.think_ns, high = a->config.think_ns_max;

	return high <= low ? low : low + fg_random_next(&a->random) % (high - low + 1);
}

void
client_close(struct fg_l4 *w, struct fg_stream *s)
{
	client_of(s)->since = w->now;
	fg_stream_close(w, s);
}

void
write_last(struct fg_l4 *w, struct fg_stream *s, uint64_t octets)
{
	fg_stream_write(w, s, octets);
	fg_stream_close(w, s);
}

void
next_request(struct fg_l4 *w, struct fg_stream *s, uint64_t requests, bool last,
	     void (*send)(struct fg_l4 *w, struct fg_stream *s))
{
	struct application *a = application_of(w, s);
	uint64_t pause;

	if (w->now >= w->stop_at || last) {
		client_close(w, s);
	} else if (a->config.requests > 0 && requests >= a->config.requests) {
		if (!a->config.hold)
			client_close(w, s);
	} else if ((pause = pause_of(a)) > 0) {
		fg_stream_timer(w, s, pause);
	} else {
		send(w, s);
	}
}

/* how many may be open now, and when there will be one more */
static uint32_t
allowed(const struct fg_l4 *w, const struct application *a, uint64_t *more_at)
{
	const struct fg_l4_app *config = &a->config;
	double may;

	*more_at = UINT64_MAX;
	if (config->connections_per_s == 0)
		return config->connections;
	may = config->connections_start + (double)(w->now - w->start_at) * 1e-9 * config->connections_per_s;
	if (may >= config->connections)
		return config->connections;
	*more_at = w->start_at +
		   (uint64_t)((double)((uint64_t)may + 1 - config->connections_start) * 1e9 /
			      config->connections_per_s) +
		   1;
	return (uint32_t)may;
}

static uint64_t
u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* how many of the connections that may be open are to be opened now; and when there will be another one */
static uint32_t
to_open(const struct fg_l4 *w, const struct application *a, uint64_t *more_at)
{
	uint32_t may = allowed(w, a, more_at), cycles = a->config.cycles;
	uint32_t open = a->base.open - a->beside_open;
	uint64_t opened = opened_of(a), n = may > open ? may - open : 0;

	if (cycles == 0 && a->config.octets > 0)
		cycles = 1; /* a number of bytes on each connection: no connection is opened again */
	if (cycles > 0)
		n = u64_min(n, (uint64_t)cycles * may > opened ? (uint64_t)cycles * may - opened : 0);
	if (a->config.opens_per_s > 0) {
		double due = due_by_now(w, a);

		n = u64_min(n, (uint64_t)due + 1 > opened ? (uint64_t)due + 1 - opened : 0);
		if (opened + n > due)
			*more_at = u64_min(*more_at, due_at(w, a, opened + n) + 1);
	}
	return (uint32_t)n;
}

/* a stream closes in its turn of the ramp down, by its timer */
static void
close_later(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);

	fg_stream_timer(w, s,
			1 + (uint64_t)((double)a->config.ramp_down_ns * a->closed++ / (double)a->to_close));
}

static void
stop_all(struct fg_l4 *w, struct application *a)
{
	a->to_close = a->base.open;
	if (a->base.ops->stop != NULL)
		fg_stream_each(w, a->base.index,
			       a->config.ramp_down_ns > 0 && a->base.ops->timer != NULL ? close_later
											: a->base.ops->stop);
	a->stopped = true;
}

uint64_t
client_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct application *a = (struct application *)app;
	uint64_t more_at, look_at;
	uint32_t n;

	if (w->now < w->start_at)
		return w->start_at;
	look_at = patience_poll(w, a);
	if (w->now >= w->stop_at) {
		if (!a->stopped)
			stop_all(w, a);
		return look_at;
	}
	n = to_open(w, a, &more_at);
	more_at = u64_min(more_at, look_at);
	for (unsigned i = 0; i < OPENS_A_POLL && i < n; i++)
		if (open_one(w, a) == NULL)
			return w->now + RETRY_NS; /* no port or no room: TIME_WAIT ends some time */
	if (n > OPENS_A_POLL)
		return w->now;
	return u64_min(more_at, w->stop_at);
}

uint64_t
client_flood(struct fg_l4 *w, struct fg_app *app, double *at, const uint64_t *sent,
	     void (*visit)(struct fg_l4 *w, struct fg_stream *s))
{
	const double gap = 1e9 / ((struct application *)app)->config.flood_per_s;
	uint64_t next = client_poll(w, app);

	if (w->now < w->start_at || w->now >= w->stop_at)
		return next;
	pace_catch_up(w, at, w->start_at, gap);
	for (; *at <= (double)w->now; pace_next(w, at, gap)) {
		const uint64_t before = *sent;

		fg_stream_each(w, app->index, visit);
		if (*sent == before) /* no connection has room, nor will one have now */
			*at = (double)w->now;
	}
	return u64_min(next, (uint64_t)*at + 1);
}

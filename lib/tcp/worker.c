/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: the endpoint that the engine polls. Segments that come in go to their connection, datagrams to
 * their application; the connections that may have something to send are served while the burst has room.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_random.h"
#include "tcp_priv.h"

enum { AHEAD = 8 /* segments are read before the first is taken */ };

/* @return false: no application takes it */
static bool
datagram(struct fg_l4 *w, const struct segment *s)
{
	w->ecn = s->ecn;
	for (unsigned i = 0; i < w->apps; i++)
		if ((s->protocol == FG_IP_UDP ? w->app[i]->udp : w->app[i]->echo) &&
		    app_owns(w->app[i], s->flow.local) &&
		    w->app[i]->ops->datagram(w, w->app[i], &s->flow, s->payload, s->length))
			return true;
	return false;
}

static void
worker_begin(struct fg_l4 *w, uint64_t now, struct fg_burst *out)
{
	w->now = now;
	w->out = out;
	if (!own(w)->wheel.running)
		wheel_start(&own(w)->wheel, now);
	if (now >= w->snapshot_at)
		w->snapshot(w);
}

static void
worker_take(struct fg_l4 *w, struct segment *s)
{
	if (s->protocol == FG_IP_TCP)
		tcp_input(w, s);
	else if (s->protocol == FG_IP_UDP) {
		w->counters.udp_rx++;
		w->counters.udp_no_listener += !datagram(w, s);
	} else if (!datagram(w, s))
		icmp_error(w, s);
}

/* bytes of a frame with FCS; the shortest ones come with padding or without */
static size_t
size_on_line(size_t length)
{
	return length + FG_ETHER_FCS < FG_ETHER_MIN ? FG_ETHER_MIN : length + FG_ETHER_FCS;
}

/*
 * With many connections the next one's cache lines are far, and so is the line of the table that locates
 * them. So a few segments are parsed ahead, to prefetch first the table and then the connections; the waits
 * overlap.
 */
static void
input(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n, struct fg_burst *out)
{
	struct fg_l4 *w = (struct fg_l4 *)endpoint;
	struct segment s[AHEAD];

	w->counters.rx_frames += n;
	for (; n > 0; in += AHEAD) {
		unsigned few = n < AHEAD ? n : AHEAD;
		uint32_t useful = 0;

		for (unsigned i = 0; i < few; i++) {
			w->counters.rx_octets += size_on_line(in[i].length);
			if (segment_read(&in[i], &s[i], &w->counters)) {
				s[i].hash = table_hash(w, &s[i].flow);
				table_fetch(w, s[i].hash);
				useful |= 1U << i;
			}
		}
		for (unsigned i = 0; i < few && few > 1; i++)
			if (useful & 1U << i)
				table_fetch_first(w, s[i].hash);
		for (unsigned i = 0; i < few; i++) {
			worker_begin(w, in[i].now, out);
			if (useful & 1U << i)
				worker_take(w, &s[i]);
		}
		n -= few;
	}
}

/* remove the head of the list; with more to send it goes to the end */
static void
serve(struct fg_l4 *w)
{
	struct conn *c;

	while (fg_l4_room(w) != NULL && (c = ready_take(w)) != NULL) {
		if (c->state == CLOSED)
			table_give(w, c);
		else if (!tcp_output(w, c) && c->state != CLOSED)
			tcp_ready(w, c);
	}
}

static uint64_t
poll(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out)
{
	struct fg_l4 *w = (struct fg_l4 *)endpoint;
	uint64_t due, next;

	worker_begin(w, now, out);
	wheel_advance(w, timer_expired);
	due = UINT64_MAX;
	for (unsigned i = 0; i < w->apps; i++) {
		next = w->app[i]->ops->poll == NULL ? UINT64_MAX : w->app[i]->ops->poll(w, w->app[i]);
		due = next < due ? next : due;
	}
	serve(w);
	if (own(w)->ready_head != 0)
		return now;
	next = wheel_due(w);
	due = next < due ? next : due;
	return w->snapshot_at < due ? w->snapshot_at : due;
}

int
fg_l4_worker_create(const struct fg_l4_config *config, struct fg_l4 **out, struct fg_error *err)
{
	struct fg_l4 *w = calloc(1, sizeof(struct worker));
	uint64_t seed = config->secret != 0 ? config->secret : config->seed;
	int rc;

	if (w == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	w->config = *config;
	w->snapshot_at = UINT64_MAX;
	w->endpoint.input = input;
	w->endpoint.poll = poll;
	own(w)->secret[0] = fg_random_next(&seed);
	own(w)->secret[1] = fg_random_next(&seed);
	own(w)->secret[2] = fg_random_next(&seed);
	rc = table_create(w, err);
	if (rc != 0) {
		fg_l4_worker_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void
fg_l4_worker_free(struct fg_l4 *w)
{
	if (w == NULL)
		return;
	table_free(w);
	free(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control of the relay: ways made from their configuration, one image for each lcore with those it runs, and the same
 * loop that runs a trial (lcore.c), only without an end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "fg_filter.h"
#include "relay_priv.h"

enum { SPARE_ROOM = 2048 }; /* frames: bursts, and what chance adds */
static const double MOST_DELAY_NS = 1e11;

struct fg_relay {
	struct way way[FG_RELAY_WAYS];
	struct lcore lcore[FG_RELAY_LCORES];
	struct image image[FG_RELAY_LCORES];
	struct fg_task *task[FG_RELAY_LCORES][FG_RELAY_WAYS];
	struct clock clock;
	unsigned ways, lcores; /* made, launched */
};

uint32_t
fg_relay_room(const struct fg_relay_way *c, double fps, unsigned frame_size)
{
	double frames = fg_impair_kept(&c->impair, fps) + fps * 1e-9 * c->delay_ns;

	if (c->rate_bps > 0)
		frames += (double)c->queue / frame_size;
	/* a copy takes a place, too */
	return (uint32_t)fmin((1 + fg_impair_copied(&c->impair)) * frames + SPARE_ROOM, UINT32_MAX);
}

static int
way_init(struct fg_relay *r, unsigned i, const struct fg_relay_way *c, struct fg_error *err)
{
	struct way *w = &r->way[i];
	int rc = fg_impair_init(&w->impair, &c->impair, r->clock.hz, "relay", err);

	if (rc == 0 && !(c->delay_ns >= 0 && c->delay_ns <= MOST_DELAY_NS))
		rc = fg_error_set(err, EINVAL, "relay.delay", "%g ns is not in 0 to 100 s", c->delay_ns);
	if (rc == 0)
		rc = fg_delay_line_init(&w->line, c->room, err);
	w->shapes = c->rate_bps > 0;
	if (rc == 0 && w->shapes)
		rc = fg_shaper_init(&w->shaper, c->rate_bps, c->bucket, c->queue, r->clock.hz, err);
	if (rc == 0)
		rc = fg_filter_compile(c->filter, "reflect.filter", &w->filter, err);
	if (rc != 0)
		return rc;
	fg_impair_reset(&w->impair, c->seed);
	w->from = c->from;
	w->to = c->to;
	w->clock = &r->clock;
	w->delay = (uint64_t)(c->delay_ns * 1e-9 * (double)r->clock.hz);
	w->reflects = c->from == c->to;
	w->restamps = c->restamp;
	w->host = (struct fg_host){.has_ipv4 = c->has_ipv4, .has_ipv6 = c->has_ipv6};
	memcpy(w->host.mac, c->mac, 6);
	memcpy(w->host.ipv4, c->ipv4, 4);
	memcpy(w->host.ipv6, c->ipv6, 16);
	w->task.publish = way_publish;
	w->task.poll = w->impair.loses || w->impair.alters || w->shapes || w->delay > 0 ? way_poll_impaired
											: way_poll_plain;
	return 0;
}

static int
launch(struct fg_relay *r, const struct fg_relay_config *c, struct fg_error *err)
{
	for (unsigned i = 0; i < c->lcores; i++) {
		struct lcore *l = &r->lcore[i];

		l->id = c->lcore[i];
		l->time = FG_TIME_TSC;
		l->clock = &r->clock;
		atomic_store(&l->want, &r->image[i]);
		if (rte_eal_remote_launch(lcore_run, l, l->id) != 0)
			return fg_error_set(err, EBUSY, "host.lcores", "lcore %u is no free worker", l->id);
		r->lcores++;
	}
	return 0;
}

static int
check(const struct fg_relay_config *c, struct fg_error *err)
{
	if (c->ways == 0 || c->ways > FG_RELAY_WAYS || c->lcores == 0 || c->lcores > FG_RELAY_LCORES)
		return fg_error_set(err, EINVAL, "relay", "%u ways on %u lcores: needs 1 to %d on 1 to %d",
				    c->ways, c->lcores, FG_RELAY_WAYS, FG_RELAY_LCORES);
	for (unsigned i = 0; i < c->ways; i++)
		if (c->way[i].lcore >= c->lcores)
			return fg_error_set(err, EINVAL, "relay", "placed on an lcore that is not there");
	return 0;
}

int
fg_relay_create(const struct fg_relay_config *c, struct fg_relay **out, struct fg_error *err)
{
	struct fg_relay *r;
	int rc = check(c, err);

	if (rc != 0)
		return rc;
	r = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*r));
	if (r == NULL)
		return fg_error_set(err, ENOMEM, "relay", "no memory");
	memset(r, 0, sizeof(*r));
	clock_of_tsc(&r->clock);
	for (unsigned i = 0; i < c->lcores; i++)
		r->image[i] = (struct image){.task = r->task[i], .end = UINT64_MAX, .serial = 1};
	for (unsigned i = 0; i < c->ways && rc == 0; i++) {
		struct image *image = &r->image[c->way[i].lcore];

		r->ways++;
		rc = way_init(r, i, &c->way[i], err);
		image->task[image->tasks++] = &r->way[i].task;
	}
	if (rc == 0)
		rc = launch(r, c, err);
	if (rc != 0) {
		fg_relay_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void
fg_relay_counters(const struct fg_relay *r, unsigned way, struct fg_relay_counters *out)
{
	uint64_t counters[RELAY_COUNTERS];

	for (unsigned i = 0; i < RELAY_COUNTERS; i++)
		counters[i] = atomic_load_explicit(&r->way[way].published[i], memory_order_relaxed);
	memcpy(out, counters, sizeof(*out));
}

static void
way_free(struct way *w)
{
	struct rte_mbuf *m;

	rte_pktmbuf_free_bulk(w->pending + w->sent, w->pendings - w->sent);
	while (w->line.capacity > 0 && (m = fg_delay_line_clear(&w->line)) != NULL)
		rte_pktmbuf_free(m);
	fg_delay_line_free(&w->line);
	if (w->filter.bf_insns != NULL)
		pcap_freecode(&w->filter);
}

void
fg_relay_free(struct fg_relay *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < r->lcores; i++)
		atomic_store_explicit(&r->lcore[i].want, &image_quit, memory_order_release);
	for (unsigned i = 0; i < r->lcores; i++)
		rte_eal_wait_lcore(r->lcore[i].id);
	for (unsigned i = 0; i < r->ways; i++)
		way_free(&r->way[i]);
	free(r);
}

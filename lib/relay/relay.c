/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control of the relay: ways made from their configuration, one job for each lcore with those it runs, and
 * the same loop that runs a trial (lcore.c), only without an end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "fg_filter.h"
#include "relay_priv.h"

enum { SPARE_ROOM = 2048 }; /* frames: bursts, and what chance adds */
static const double MAX_DELAY_NS = 1e11;

struct fg_relay {
	struct way way[FG_RELAY_WAYS];
	struct fg_lcore lcore[FG_RELAY_LCORES];
	struct fg_job job[FG_RELAY_LCORES];
	struct fg_task *task[FG_RELAY_LCORES][FG_RELAY_WAYS];
	struct fg_clock clock;
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

/* @return bytes without FCS of the longest frame that both ports know */
static uint32_t
longest_frame(const struct fg_port *from, const struct fg_port *to)
{
	uint32_t longest = RTE_MIN(from->caps.max_frame, to->caps.max_frame);

	return longest > FG_ETHER_FCS ? longest - FG_ETHER_FCS : UINT32_MAX;
}

static int
way_init(struct fg_relay *r, unsigned i, const struct fg_relay_way *c, struct fg_error *err)
{
	struct way *w = &r->way[i];
	int rc = fg_path_init(&w->path, &c->impair, r->clock.hz, &way_frames, w, "emulate", err);

	if (rc == 0 && !(c->delay_ns >= 0 && c->delay_ns <= MAX_DELAY_NS))
		rc = fg_error_set(err, EINVAL, "emulate.delay", "%g ns is not in 0 to 100 s", c->delay_ns);
	if (rc == 0)
		rc = fg_delay_line_init(&w->line, c->room, err);
	w->shapes = c->rate_bps > 0;
	if (rc == 0 && w->shapes)
		rc = fg_shaper_init(&w->shaper, c->rate_bps, c->bucket, c->queue, r->clock.hz, err);
	if (rc == 0)
		rc = fg_filter_compile(c->filter, "reflect.filter", &w->filter, err);
	if (rc != 0)
		return rc;
	fg_path_reset(&w->path, c->seed);
	w->from = c->from;
	w->to = c->to;
	w->longest = longest_frame(c->from, c->to);
	w->completes = c->from->caps.partial_checksums;
	w->clock = &r->clock;
	w->delay = (uint64_t)llround(c->delay_ns * 1e-9 * (double)r->clock.hz);
	w->reflects = c->from == c->to;
	w->restamps = c->restamp;
	w->oam = c->oam;
	w->host = (struct fg_host){.has_ipv4 = c->has_ipv4, .has_ipv6 = c->has_ipv6};
	memcpy(w->host.mac, c->mac, 6);
	memcpy(w->host.ipv4, c->ipv4, 4);
	memcpy(w->host.ipv6, c->ipv6, 16);
	w->task.publish = way_publish;
	w->task.poll = w->path.impair.loses || w->path.impair.alters || w->shapes || w->delay > 0
			       ? way_poll_impaired
			       : way_poll_plain;
	return 0;
}

static int
launch(struct fg_relay *r, const struct fg_relay_config *c, struct fg_error *err)
{
	int rc;

	for (unsigned i = 0; i < c->lcores; i++) {
		r->lcore[i].id = c->lcore[i];
		r->lcore[i].time = FG_TIME_TSC;
		r->lcore[i].clock = &r->clock;
	}
	fg_lcores_give(r->lcore, c->lcores, r->job);
	rc = fg_lcores_start(r->lcore, c->lcores, err);
	r->lcores = rc == 0 ? c->lcores : 0;
	return rc;
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
	fg_clock_of_tsc(&r->clock);
	for (unsigned i = 0; i < c->lcores; i++)
		r->job[i] = (struct fg_job){.task = r->task[i], .end = UINT64_MAX, .serial = 1};
	for (unsigned i = 0; i < c->ways && rc == 0; i++) {
		struct fg_job *job = &r->job[c->way[i].lcore];

		r->ways++;
		rc = way_init(r, i, &c->way[i], err);
		job->task[job->tasks++] = &r->way[i].task;
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
#define READ(name, text) out->name = atomic_load_explicit(&r->way[way].published.name, memory_order_relaxed);
	FG_RELAY_COUNTERS(READ)
}

uint64_t
fg_relay_late_ns(const struct fg_relay *r, unsigned way)
{
	return fg_clock_span_ns(&r->clock,
				atomic_load_explicit(&r->way[way].published_late, memory_order_relaxed));
}

uint64_t
fg_relay_now_ns(const struct fg_relay *r)
{
	return fg_clock_ns(&r->clock, rte_rdtsc());
}

const char *
fg_relay_counter_name(unsigned i, const char **text)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
#define ROW(name, text) {#name, text},
		FG_RELAY_COUNTERS(ROW)};

	if (i >= RTE_DIM(rows))
		return NULL;
	*text = rows[i].text;
	return rows[i].name;
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
	fg_lcores_stop(r->lcore, r->lcores);
	for (unsigned i = 0; i < r->ways; i++)
		way_free(&r->way[i]);
	free(r);
}

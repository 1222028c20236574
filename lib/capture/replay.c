/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending a capture. Where a frame stands in the schedule is a number: nanoseconds since the first, frames or
 * bytes before it; a factor in fixed point makes ticks of it, from the start and never accumulated. What a
 * port does not take is kept as it is and offered again first.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_pause.h>

#include "feed_priv.h"
#include "fg_int128.h"
#include "fg_metric.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_unique_name.h"
#include "fg_verify.h"

enum { BURST = 32, BUFFERS = 8191, LEAD_US = 50, DIGITS = 3 };
static const uint64_t HIGHEST_ERROR_NS = 1000000000;

/* made, and not taken by the port yet */
struct waiting {
	struct rte_mbuf *frame[BURST];
	uint64_t due[BURST]; /* ticks */
	unsigned first, n;
};

struct fg_replay {
	struct fg_task task; /* first: the task is the replay */
	struct fg_replay_config config;
	struct feed feed;
	struct rte_mempool *pool;
	struct fg_histogram *error; /* ns behind the schedule */
	/* of the trial, set by control */
	struct fg_port *port;
	uint64_t hz, start, end, lead, max_lag; /* ticks */
	uint64_t base_ns;                       /* time at tick 0 */
	fg_u128 ticks_per_unit_q32;
	uint64_t most_units; /* what stands later in the schedule is due after the end */
	int time_offset;
	uint64_t time_flag;
	/* writer: the lcore */
	struct waiting waiting;
	uint64_t units; /* frames or bytes before the next frame */
	struct fg_replay_counts counts;
};

static uint64_t
to_ns(const struct fg_replay *r, uint64_t ticks)
{
	return (uint64_t)((fg_u128)ticks * 1000000000 / r->hz);
}

static uint64_t
due_at(const struct fg_replay *r, const struct record *record)
{
	uint64_t units = r->config.pace == FG_REPLAY_RECORDED ? record->time_ns + r->feed.base_ns : r->units;

	if (units > r->most_units)
		return UINT64_MAX;
	return r->start + (uint64_t)((units * r->ticks_per_unit_q32) >> 32);
}

/* how far a frame moves those behind it, in what the schedule counts */
static uint64_t
units_of(const struct fg_replay *r, const struct record *record)
{
	uint64_t size = RTE_MAX(record->kept + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN);

	if (r->config.pace == FG_REPLAY_BITS_L1)
		return size + FG_ETHER_OVERHEAD;
	return r->config.pace == FG_REPLAY_FRAMES ? 1 : size;
}

static void
replay_fill(const struct fg_replay *r, struct rte_mbuf *m, const struct record *record, uint64_t due)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->data_len = (uint16_t)record->kept;
	m->pkt_len = record->kept;
	m->ol_flags = 0;
	if (r->lead > 0) {
		m->ol_flags = r->time_flag | r->port->caps.test_flag;
		*RTE_MBUF_DYNFIELD(m, r->time_offset, uint64_t *) = due;
	}
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), record->octets, record->kept);
}

/* the next record that is there, once it is; NULL: none now */
static const struct record *
next_record(struct fg_replay *r, bool *done)
{
	const struct record *record;

	while ((record = feed_peek(&r->feed, done)) == NULL && !*done && r->config.patient)
		rte_pause();
	if (record == NULL && !*done)
		r->counts.starved++;
	return record;
}

/* a frame that is too late moves the schedule; @return when it is due now */
static uint64_t
keep_up(struct fg_replay *r, uint64_t due, uint64_t now)
{
	if (likely(now <= due + r->max_lag))
		return due;
	r->counts.slips++;
	r->counts.slipped_ns += to_ns(r, now - due);
	r->start += now - due;
	return now;
}

/* make what is due up to @p until. @return when the next one is due; UINT64_MAX: no frame is left */
static uint64_t
make_due(struct fg_replay *r, uint64_t now, uint64_t until)
{
	struct waiting *w = &r->waiting;

	w->first = w->n = 0;
	while (w->n < BURST) {
		bool done = false;
		const struct record *record = next_record(r, &done);
		uint64_t due;

		if (record == NULL) {
			r->counts.done = done;
			return done ? UINT64_MAX : now;
		}
		due = due_at(r, record);
		if (due >= r->end)
			return UINT64_MAX;
		if (due > until)
			return due - r->lead;
		due = keep_up(r, due, now);
		w->frame[w->n] = rte_pktmbuf_alloc(r->pool);
		if (unlikely(w->frame[w->n] == NULL)) {
			r->counts.no_mbuf++;
			return now;
		}
		replay_fill(r, w->frame[w->n], record, due);
		if (r->config.verify != NULL)
			fg_verify_note_sent(r->config.verify, record->octets, record->kept);
		w->due[w->n++] = due;
		r->units += units_of(r, record);
		feed_release(&r->feed, record);
	}
	return now;
}

static void
note_departure(struct fg_replay *r, uint32_t length, uint64_t due, uint64_t now)
{
	uint64_t at = r->lead > 0 ? RTE_MAX(due, now) : now;

	if (r->counts.frames++ == 0)
		r->counts.first_ns = r->base_ns + to_ns(r, at);
	r->counts.last_ns = r->base_ns + to_ns(r, at);
	r->counts.last_octets = RTE_MAX(length + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN);
	r->counts.octets += r->counts.last_octets;
	fg_histogram_record(r->error, (int64_t)to_ns(r, at - due));
}

/* false: the port is full */
static bool
send_waiting(struct fg_replay *r, uint64_t now)
{
	struct waiting *w = &r->waiting;
	unsigned left = w->n - w->first, sent;
	uint32_t length[BURST];

	if (left == 0)
		return true;
	for (unsigned i = 0; i < left; i++)
		length[i] = w->frame[w->first + i]->pkt_len;
	sent = r->port->tx(r->port, w->frame + w->first, (uint16_t)left, now);
	for (unsigned i = 0; i < sent; i++) /* the frames belong to the port now */
		note_departure(r, length[i], w->due[w->first + i], now);
	w->first += sent;
	r->counts.refused += left - sent;
	return sent == left;
}

static uint64_t
poll(struct fg_task *task, uint64_t now)
{
	struct fg_replay *r = (struct fg_replay *)task;
	uint64_t next;

	for (;;) {
		if (!send_waiting(r, now))
			return now;
		next = make_due(r, now, now + r->lead);
		if (r->waiting.n == 0)
			return next;
	}
}

static int
pool_make(struct fg_replay *r, struct fg_error *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	fg_unique_name(name, sizeof(name), "fg_replay_");
	r->pool = rte_pktmbuf_pool_create(name, BUFFERS, 256, 0,
					  (uint16_t)(r->config.max_frame + RTE_PKTMBUF_HEADROOM), -1);
	return r->pool != NULL
		       ? 0
		       : fg_error_set(err, ENOMEM, "host.memory", "no room for the buffers of a replay");
}

/* what sending needs */
static int
prepare(struct fg_replay *r, struct fg_error *err)
{
	int rc = pool_make(r, err);

	if (rc != 0)
		return rc;
	r->error = fg_histogram_create(DIGITS, HIGHEST_ERROR_NS, err);
	if (r->error == NULL)
		return -ENOMEM;
	if (rte_mbuf_dyn_tx_timestamp_register(&r->time_offset, &r->time_flag) != 0)
		return fg_error_set(err, ENOMEM, r->config.path,
				    "no room for time stamps in the frame buffers");
	return 0;
}

int
fg_replay_open(const struct fg_replay_config *config, struct fg_replay **out, struct fg_error *err)
{
	struct fg_replay *r;
	int rc;

	if (!(config->speed > 0) || !isfinite(config->speed))
		return fg_error_set(err, EINVAL, config->path, "a speed of %g is not above 0", config->speed);
	if (config->max_frame < FG_ETHER_MIN || config->max_frame > FG_FRAME_MAX)
		return fg_error_set(err, EINVAL, config->path, "frames of at most %u bytes: not in %d to %d",
				    config->max_frame, FG_ETHER_MIN, FG_FRAME_MAX);
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return fg_error_set(err, ENOMEM, config->path, "no memory");
	r->config = *config;
	r->task.poll = poll;
	rc = feed_open(&r->feed, &r->config, err);
	if (rc == 0 && !config->facts_only)
		rc = prepare(r, err);
	if (rc != 0) {
		fg_replay_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void
fg_replay_get_facts(const struct fg_replay *r, struct fg_replay_facts *out)
{
	*out = r->feed.facts;
}

/* ticks of one unit of the schedule: at most those that the clock counts, so that no rate is too low */
static long double
unit(const struct fg_replay *r)
{
	const long double hz = (long double)r->hz, speed = r->config.speed;

	if (r->config.pace == FG_REPLAY_RECORDED)
		return fminl(hz / 1e9L / speed, 0x1p64L);
	return fminl((r->config.pace == FG_REPLAY_FRAMES ? 1 : 8) * hz / speed, 0x1p64L);
}

static void
drop_waiting(struct waiting *w)
{
	if (w->n > w->first)
		rte_pktmbuf_free_bulk(w->frame + w->first, w->n - w->first);
	w->first = w->n = 0;
}

static uint64_t
to_ticks(const struct fg_replay *r, uint64_t ns)
{
	return (uint64_t)((fg_u128)ns * r->hz / 1000000000);
}

static uint64_t
most_units(const struct fg_replay *r)
{
	const fg_u128 span = (fg_u128)(r->end - r->start) << 32;
	const fg_u128 most = span / (r->ticks_per_unit_q32 > 0 ? r->ticks_per_unit_q32 : 1);

	return most < UINT64_MAX ? (uint64_t)most : UINT64_MAX;
}

int
fg_replay_start(struct fg_replay *r, const struct fg_replay_place *place, struct fg_error *err)
{
	drop_waiting(&r->waiting);
	r->port = place->port;
	r->hz = place->clock.hz;
	r->base_ns = place->clock.base_ns;
	r->start = to_ticks(r, place->start_ns - r->base_ns);
	r->end = to_ticks(r, place->end_ns - r->base_ns);
	r->max_lag = to_ticks(r, r->config.max_lag_ns);
	r->lead = r->port->caps.launch_time ? to_ticks(r, LEAD_US * 1000) : 0;
	r->units = 0;
	r->counts = (struct fg_replay_counts){0};
	fg_histogram_reset(r->error);
	r->ticks_per_unit_q32 = (fg_u128)roundl(unit(r) * 0x1p32L);
	r->most_units = most_units(r);
	return feed_rewind(&r->feed, err);
}

struct fg_task *
fg_replay_task(struct fg_replay *r)
{
	return &r->task;
}

void
fg_replay_get_counts(const struct fg_replay *r, struct fg_replay_counts *out)
{
	*out = r->counts;
	out->oversize = atomic_load_explicit(&r->feed.oversize, memory_order_relaxed);
	out->truncated = atomic_load_explicit(&r->feed.truncated, memory_order_relaxed);
	out->error_p50_ns = fg_histogram_percentile(r->error, 0.5);
	out->error_p99_ns = fg_histogram_percentile(r->error, 0.99);
	out->error_p999_ns = fg_histogram_percentile(r->error, 0.999);
	out->error_max_ns = r->error->max;
}

uint64_t
fg_replay_error_ns(const struct fg_replay *r, double share)
{
	return fg_histogram_percentile(r->error, share);
}

int
fg_replay_failure(const struct fg_replay *r, struct fg_error *err)
{
	if (r->feed.failure[0] == '\0')
		return 0;
	return fg_error_set(err, EINVAL, r->config.path, "%s", r->feed.failure);
}

void
fg_replay_close(struct fg_replay *r)
{
	if (r == NULL)
		return;
	drop_waiting(&r->waiting);
	feed_close(&r->feed);
	fg_histogram_free(r->error);
	fg_port_pool_free(r->pool);
	free(r);
}

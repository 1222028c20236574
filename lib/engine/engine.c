/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control: takes over ports and lcores, hands trials to them and collects what they counted. Between trials the
 * lcores of real ports run an idle image, so that neighbours are answered; those of the wire rest, for its time
 * stands still.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "fg_port_stamps.h"
#include "fg_wire.h"
#include "rx_lanes.h"
#include "rx_note.h"
#include "tx_priv.h"

enum { RESPONDER_BUFFERS = 511, RESPONDER_RING = 256, LOOK_AT_PORTS_MS = 20 };

static bool
on_wire(const struct fg_engine *e)
{
	return e->config.time != FG_TIME_TSC;
}

static void
want_all(struct fg_engine *e, struct image *images)
{
	for (unsigned i = 0; i < e->config.lcores; i++)
		atomic_store_explicit(&e->lcore[i].want, images == NULL ? NULL : &images[i],
				      memory_order_release);
}

/* the lcores look at `want` every few microseconds, or after their rest */
static void
await_have(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->config.lcores; i++)
		while (atomic_load_explicit(&e->lcore[i].have, memory_order_acquire) !=
		       atomic_load_explicit(&e->lcore[i].want, memory_order_relaxed))
			rte_delay_us_sleep(20);
}

static void
lanes_init(struct fg_engine *e, unsigned i)
{
	const struct fg_engine_port *c = &e->config.port[i];
	struct engine_port *p = &e->port[i];

	p->first_lane = e->lanes;
	p->lanes = RTE_MAX(c->queues, 1U);
	for (unsigned k = 0; k < p->lanes; k++)
		e->lane[e->lanes++] = (struct lane){
			.port = fg_port_lane(c->port, k),
			.of = i,
			.tx_lcore = c->tx_lcore[k],
			.rx_lcore = c->rx_lcore[k],
		};
}

static int
port_init(struct fg_engine *e, unsigned i, unsigned serial, struct fg_error *err)
{
	const struct fg_engine_port *c = &e->config.port[i];
	struct engine_port *p = &e->port[i];
	struct responder *r = &p->responder;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "fg_responder_%u_%u", serial, i);
	p->config = *c;
	lanes_init(e, i);
	p->to_responder = rte_ring_create(name, RESPONDER_RING, c->port->caps.numa_node,
					  (p->lanes == 1 ? RING_F_SP_ENQ : 0) | RING_F_SC_DEQ);
	r->pool = rte_pktmbuf_pool_create(name, RESPONDER_BUFFERS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					  c->port->caps.numa_node);
	if (p->to_responder == NULL || r->pool == NULL)
		return fg_error_set(err, ENOMEM, "host.memory", "no room for the buffers of port %s",
				    c->port->name);
	r->task.poll = responder_poll;
	r->port = c->port;
	r->from_rx = p->to_responder;
	r->clock = &e->clock;
	r->announce_at = UINT64_MAX;
	r->tag = c->vlan == 0 ? 0 : (uint32_t)FG_ETHER_VLAN << 16 | c->vlan;
	r->host = (struct fg_host){.has_ipv4 = c->has_ipv4, .has_ipv6 = c->has_ipv6};
	memcpy(r->host.mac, c->mac, 6);
	memcpy(r->host.ipv4, c->ipv4, 4);
	memcpy(r->host.ipv6, c->ipv6, 16);
	r->has_gateway4 = c->has_gateway4;
	r->has_gateway6 = c->has_gateway6;
	memcpy(r->gateway4, c->gateway4, 4);
	memcpy(r->gateway6, c->gateway6, 16);
	for (unsigned k = p->first_lane; k < p->first_lane + p->lanes; k++) {
		e->lane[k].idle_rx = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(struct rx_task));
		if (e->lane[k].idle_rx == NULL)
			return fg_error_set(err, ENOMEM, "engine", "no memory");
		rx_idle_init(e, k, e->lane[k].idle_rx);
	}
	return rx_lanes_open(e, i, serial, err);
}

static int
idle_init(struct fg_engine *e, struct fg_error *err)
{
	for (unsigned i = 0; i < e->config.lcores; i++) {
		struct image *image = &e->idle[i];

		image->task = calloc(e->lanes + e->config.ports, sizeof(*image->task));
		if (image->task == NULL)
			return fg_error_set(err, ENOMEM, "engine", "no memory");
		image->end = UINT64_MAX;
		image->relaxed = true;
		image->serial = ++e->serial;
		for (unsigned k = 0; k < e->lanes; k++) {
			struct engine_port *port = &e->port[e->lane[k].of];

			if (e->lane[k].rx_lcore == i && !port->config.port->caps.finite)
				image->task[image->tasks++] = &e->lane[k].idle_rx->task;
			if (k == port->first_lane && e->lane[k].tx_lcore == i)
				image->task[image->tasks++] = &port->responder.task;
		}
	}
	return 0;
}

static int
lcores_start(struct fg_engine *e, struct fg_error *err)
{
	for (unsigned i = 0; i < e->config.lcores; i++) {
		struct lcore *l = &e->lcore[i];

		l->id = e->config.lcore[i];
		l->time = e->config.time;
		l->clock = &e->clock;
		if (rte_eal_remote_launch(lcore_run, l, l->id) != 0) {
			e->config.lcores = i; /* so that only those that run are stopped */
			return fg_error_set(err, EBUSY, "host.lcores", "lcore %u is no free worker", l->id);
		}
	}
	if (!on_wire(e))
		want_all(e, e->idle);
	return 0;
}

static int
check_lanes(const struct fg_engine_config *c, const struct fg_engine_port *port, struct fg_error *err)
{
	unsigned has = RTE_MAX(port->port->queues, 1U), used = RTE_MAX(port->queues, 1U);

	if (used > has)
		return fg_error_set(err, EINVAL, port->port->name, "%u queues of %u", used, has);
	for (unsigned k = 0; k < used; k++)
		if (port->tx_lcore[k] >= c->lcores || port->rx_lcore[k] >= c->lcores)
			return fg_error_set(err, EINVAL, port->port->name,
					    "placed on an lcore that is not there");
	return 0;
}

static int
check_config(const struct fg_engine_config *c, struct fg_error *err)
{
	if (c->ports == 0 || c->ports > FG_MAX_PORTS || c->lcores == 0 || c->lcores > FG_MAX_LCORES)
		return fg_error_set(err, EINVAL, "engine",
				    "%u ports and %u lcores: needs 1 to %d and 1 to %d", c->ports, c->lcores,
				    FG_MAX_PORTS, FG_MAX_LCORES);
	if (c->time != FG_TIME_TSC && c->lcores != 1)
		return fg_error_set(err, EINVAL, "host.lcores",
				    "the virtual wire is run by one lcore, not %u", c->lcores);
	for (unsigned i = 0; i < c->ports; i++) {
		int rc = check_lanes(c, &c->port[i], err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int
fg_engine_create(const struct fg_engine_config *config, struct fg_engine **out, struct fg_error *err)
{
	static unsigned serial;
	struct fg_engine *e;
	int rc = check_config(config, err);

	if (rc != 0)
		return rc;
	e = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*e));
	if (e == NULL)
		return fg_error_set(err, ENOMEM, "engine", "no memory");
	memset(e, 0, sizeof(*e));
	e->config = *config;
	if (on_wire(e))
		clock_of_wire(&e->clock);
	else
		clock_of_tsc(&e->clock);
	if (rte_mbuf_dyn_tx_timestamp_register(&e->tx_time_offset, &e->tx_time_flag) != 0 ||
	    rte_mbuf_dyn_rx_timestamp_register(&e->rx_time_offset, &e->rx_time_flag) != 0)
		rc = fg_error_set(err, ENOMEM, "engine", "no room for time stamps in the frame buffers");
	serial++;
	for (unsigned i = 0; i < config->ports && rc == 0; i++)
		rc = port_init(e, i, serial, err);
	if (rc == 0)
		rc = idle_init(e, err);
	if (rc == 0)
		rc = lcores_start(e, err);
	else
		e->config.lcores = 0; /* none runs */
	if (rc != 0) {
		fg_engine_free(e);
		return rc;
	}
	*out = e;
	return 0;
}

static void
drain_ring(struct rte_ring *ring)
{
	void *m;

	while (ring != NULL && rte_ring_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

void
fg_engine_free(struct fg_engine *e)
{
	if (e == NULL)
		return;
	for (unsigned i = 0; i < e->config.lcores; i++)
		atomic_store_explicit(&e->lcore[i].want, &image_quit, memory_order_release);
	for (unsigned i = 0; i < e->config.lcores; i++)
		rte_eal_wait_lcore(e->lcore[i].id);
	trial_free(e, e->trial);
	for (unsigned i = 0; i < FG_MAX_LCORES; i++)
		free(e->idle[i].task);
	for (unsigned i = 0; i < e->config.ports; i++) {
		drain_ring(e->port[i].to_responder);
		fg_port_pool_free(e->port[i].responder.pool);
	}
	for (unsigned i = 0; i < e->lanes; i++)
		free(e->lane[i].idle_rx);
	rx_lanes_close(e);
	tx_pools_free(e);
	free(e);
}

uint64_t
fg_engine_hz(const struct fg_engine *e)
{
	return e->clock.hz;
}

void
fg_engine_clock(const struct fg_engine *e, struct fg_task_clock *out)
{
	*out = (struct fg_task_clock){e->clock.hz, e->clock.ns_per_tick_q64, e->clock.base_ns};
}

uint64_t
fg_engine_now_ns(const struct fg_engine *e)
{
	return clock_ns(&e->clock, on_wire(e) ? e->wire_now : rte_rdtsc());
}

/*
 * The longer the counter's frequency is measured, the better it is known: each trial gets what is known by now. Idle
 * lcores look at the clock too, so it is set while they rest.
 */
static void
keep_time(struct fg_engine *e)
{
	if (on_wire(e))
		return;
	want_all(e, NULL);
	await_have(e);
	clock_of_tsc(&e->clock);
	for (unsigned i = 0; i < e->config.lcores; i++)
		e->idle[i].serial = ++e->serial; /* or it would be taken for one that has ended */
	want_all(e, e->idle);
	await_have(e);
}

int
fg_engine_prepare(struct fg_engine *e, const struct fg_trial_config *config, uint64_t *start_ns,
		  struct fg_error *err)
{
	struct trial *old = e->trial;
	int rc;

	if (fg_engine_running(e))
		return fg_error_set(err, EBUSY, "engine", "a trial is running");
	keep_time(e);
	rc = trial_compile(e, config, err);
	if (rc != 0)
		return rc;
	trial_free(e, old);
	if (start_ns != NULL)
		*start_ns = clock_ns(&e->clock, e->trial->image[0].start);
	return 0;
}

/* what is promised of a card's stamps is to be that of the trial */
static void
begin_stamps(struct engine_port *p, struct fg_port *port)
{
	struct fg_port_stamps_state state;

	if (port->stamps == NULL)
		return;
	fg_port_stamps_begin(port->stamps);
	fg_port_stamps_read(port->stamps, &state);
	p->jumps_before = state.jumps;
}

void
fg_engine_start(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->config.ports; i++) {
		struct fg_port *port = e->config.port[i].port;

		port->ops->counters(port, &e->port[i].before);
		e->port[i].replies_before =
			atomic_load_explicit(&e->port[i].responder.replies, memory_order_relaxed);
		begin_stamps(&e->port[i], port);
	}
	e->running = true;
	want_all(e, e->trial->image);
	/* one that never saw the image would never finish it, if it were taken back at once */
	await_have(e);
}

/*
 * A link that goes down and comes up again within a trial is seen by nobody who does not look meanwhile; and the clock of
 * a card goes its own way.
 */
static void
watch_ports(struct fg_engine *e)
{
	uint64_t now = rte_rdtsc();

	if (on_wire(e) || now - e->looked_at < e->clock.hz / 1000 * LOOK_AT_PORTS_MS)
		return;
	for (unsigned i = 0; i < e->config.ports; i++) {
		struct fg_port *port = e->config.port[i].port;

		port->ops->link_up(port);
		if (port->stamps != NULL)
			fg_port_stamps_look(port->stamps);
	}
	e->looked_at = now;
}

bool
fg_engine_running(struct fg_engine *e)
{
	if (!e->running)
		return false;
	watch_ports(e);
	for (unsigned i = 0; i < e->config.lcores; i++)
		if (atomic_load_explicit(&e->lcore[i].finished, memory_order_acquire) !=
		    e->trial->image[i].serial)
			return true;
	if (on_wire(e))
		e->wire_now = atomic_load_explicit(&e->lcore[0].now, memory_order_relaxed);
	want_all(e, on_wire(e) ? NULL : e->idle);
	await_have(e);
	tx_settle(e->trial, e->lanes);
	e->running = false;
	rx_lanes_settle(e);
	rx_notes_settle(e->trial);
	return false;
}

void
fg_engine_stop(struct fg_engine *e)
{
	if (!e->running)
		return;
	/* leaving the image is all it takes: fg_engine_running() then finds it finished */
	want_all(e, on_wire(e) ? NULL : e->idle);
	await_have(e);
	e->ready_at = 0;
}

int
fg_engine_tap(struct fg_engine *e, unsigned port, struct fg_tap *tap, struct fg_error *err)
{
	struct fg_tap *none = NULL;

	if (!atomic_compare_exchange_strong(&e->port[port].standing.tap, &none, tap))
		return fg_error_set(err, EBUSY, e->config.port[port].port->name, "is tapped already");
	return 0;
}

void
fg_engine_untap(struct fg_engine *e, unsigned port)
{
	struct standing_tap *standing = &e->port[port].standing;

	atomic_store(&standing->tap, NULL);
	atomic_thread_fence(memory_order_seq_cst);
	/* whoever has seen it before is done with it once nobody holds the lock; no lcore ever waits for us */
	while (rte_spinlock_is_locked(&standing->look))
		rte_pause();
}

bool
fg_engine_gateway(const struct fg_engine *e, unsigned port, int version, uint8_t mac[6])
{
	const struct responder *r = &e->port[port].responder;

	if (version == 4 ? !r->known4 : !r->known6)
		return false;
	memcpy(mac, version == 4 ? r->mac4 : r->mac6, 6);
	return true;
}

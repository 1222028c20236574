/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control: takes over ports and lcores, hands trials to them and collects what they counted. Between trials
 * the lcores of real ports run an idle job, so that neighbours are answered; lcores of the wire rest, because
 * its time stands still.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "engine_priv.h"
#include "fg_port_stamps.h"
#include "fg_unique_name.h"

enum { RESPONDER_BUFFERS = 511, RESPONDER_RING = 256, LOOK_AT_PORTS_MS = 20 };

static bool
on_wire(const struct fg_engine *e)
{
	return e->config.time != FG_TIME_TSC;
}

/* have the lcores do other jobs, and wait until they do; NULL: none */
static void
change_jobs(struct fg_engine *e, struct fg_job *jobs)
{
	fg_lcores_give(e->lcore, e->config.lcores, jobs);
	fg_lcores_await(e->lcore, e->config.lcores);
}

static void
queues_init(struct fg_engine *e, unsigned i)
{
	const struct fg_engine_port *c = &e->config.port[i];
	struct engine_port *p = &e->port[i];

	p->queue = (struct split_port){e->queues, RTE_MAX(c->queues, 1U)};
	for (unsigned k = 0; k < p->queue.queues; k++)
		e->queue[e->queues++] = (struct queue){
			.port = fg_port_lane(c->port, k),
			.of = i,
			.tx_lcore = c->tx_lcore[k],
			.rx_lcore = c->rx_lcore[k],
		};
}

/* the receiver of a queue between trials */
static int
idle_rx_init(struct fg_engine *e, struct engine_port *p, unsigned queue)
{
	struct rx_task *rx = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*rx));

	if (rx == NULL)
		return -ENOMEM;
	*rx = (struct rx_task){
		.port = e->queue[queue].port,
		.clock = &e->clock,
		.time_offset = e->rx_time_offset,
		.time_flag = e->rx_time_flag,
		.to_responder = p->to_responder,
		.standing = &p->standing,
	};
	e->queue[queue].idle = rx;
	return rx_idle_init(rx, queue - p->queue.first, p->queue.queues);
}

static int
port_init(struct fg_engine *e, unsigned i, struct fg_error *err)
{
	const struct fg_engine_port *c = &e->config.port[i];
	struct engine_port *p = &e->port[i];
	struct responder *r = &p->responder;
	char name[RTE_RING_NAMESIZE];
	int rc;

	fg_unique_name(name, sizeof(name), "fg_responder_");
	p->config = *c;
	p->engine = e;
	c->port->left = account_left;
	c->port->left_arg = p;
	queues_init(e, i);
	p->to_responder = rte_ring_create(name, RESPONDER_RING, c->port->caps.numa_node,
					  (p->queue.queues == 1 ? RING_F_SP_ENQ : 0) | RING_F_SC_DEQ);
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
	for (unsigned k = 0; k < p->queue.queues; k++)
		if (idle_rx_init(e, p, p->queue.first + k) != 0)
			return fg_error_set(err, ENOMEM, "engine", "no memory");
	rc = rx_rings_open(&p->rings, c->port, p->queue.queues, err);
	return rc != 0 ? rc : rx_tap_open(&p->standing, c->port, p->queue.queues, err);
}

static int
idle_init(struct fg_engine *e, struct fg_error *err)
{
	for (unsigned i = 0; i < e->config.lcores; i++) {
		struct fg_job *job = &e->idle[i];

		job->task = calloc(e->queues + 3 * e->config.ports, sizeof(*job->task));
		if (job->task == NULL)
			return fg_error_set(err, ENOMEM, "engine", "no memory");
		job->end = UINT64_MAX;
		job->relaxed = true;
		job->serial = ++e->serial;
	}
	engine_idle_tasks(e);
	return 0;
}

static int
lcores_start(struct fg_engine *e, struct fg_error *err)
{
	int rc;

	for (unsigned i = 0; i < e->config.lcores; i++) {
		e->lcore[i].id = e->config.lcore[i];
		e->lcore[i].time = e->config.time;
		e->lcore[i].clock = &e->clock;
	}
	rc = fg_lcores_start(e->lcore, e->config.lcores, err);
	if (rc != 0)
		e->config.lcores = 0; /* none runs */
	else if (!on_wire(e))
		fg_lcores_give(e->lcore, e->config.lcores, e->idle);
	return rc;
}

static int
check_queues(const struct fg_engine_config *c, const struct fg_engine_port *port, struct fg_error *err)
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
		int rc = check_queues(c, &c->port[i], err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int
fg_engine_create(const struct fg_engine_config *config, struct fg_engine **out, struct fg_error *err)
{
	struct fg_engine *e;
	int rc = check_config(config, err);

	if (rc != 0)
		return rc;
	e = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*e));
	if (e == NULL)
		return fg_error_set(err, ENOMEM, "engine", "no memory");
	memset(e, 0, sizeof(*e));
	e->config = *config;
	e->pools = (struct tx_pools){.buffers = config->buffers, .max_frame = config->max_frame};
	if (on_wire(e))
		fg_clock_init(&e->clock, (double)config->port[0].port->caps.clock_hz);
	else
		fg_clock_of_tsc(&e->clock);
	if (rte_mbuf_dyn_tx_timestamp_register(&e->tx_time_offset, &e->tx_time_flag) != 0 ||
	    rte_mbuf_dyn_rx_timestamp_register(&e->rx_time_offset, &e->rx_time_flag) != 0)
		rc = fg_error_set(err, ENOMEM, "engine", "no room for time stamps in the frame buffers");
	for (unsigned i = 0; i < config->ports && rc == 0; i++)
		rc = port_init(e, i, err);
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
	fg_lcores_stop(e->lcore, e->config.lcores);
	trial_free(e, e->trial);
	for (unsigned i = 0; i < FG_MAX_LCORES; i++)
		free(e->idle[i].task);
	for (unsigned i = 0; i < e->config.ports; i++) {
		e->config.port[i].port->left = NULL;
		drain_ring(e->port[i].to_responder);
		rx_rings_close(&e->port[i].rings);
		rx_tap_close(&e->port[i].standing);
		fg_port_pool_free(e->port[i].responder.pool);
		hosts_free(e->port[i].responder.hosts);
		link_free(e->port[i].responder.link);
	}
	for (unsigned i = 0; i < e->queues; i++)
		rx_idle_free(e->queue[i].idle);
	tx_pools_free(&e->pools);
	fg_port_pools_sweep(); /* what endpoints kept from trial to trial */
	free(e);
}

uint64_t
fg_engine_hz(const struct fg_engine *e)
{
	return e->clock.hz;
}

void
fg_engine_clock(const struct fg_engine *e, struct fg_clock *out)
{
	*out = e->clock;
}

uint64_t
fg_engine_now_ns(const struct fg_engine *e)
{
	return fg_clock_ns(&e->clock, on_wire(e) ? e->wire_now : rte_rdtsc());
}

/*
 * The longer the counter's frequency is measured, the better it is known: each trial gets what is known by
 * now. Idle lcores look at the clock too, so it is set while they rest.
 */
static void
keep_time(struct fg_engine *e)
{
	if (on_wire(e))
		return;
	engine_rest(e);
	fg_clock_of_tsc(&e->clock);
	engine_idle(e);
}

void
engine_rest(struct fg_engine *e)
{
	change_jobs(e, NULL);
}

void
engine_idle(struct fg_engine *e)
{
	if (on_wire(e))
		return;
	for (unsigned i = 0; i < e->config.lcores; i++)
		e->idle[i].serial = ++e->serial; /* or it would be taken for one that has ended */
	change_jobs(e, e->idle);
}

int
fg_engine_prepare(struct fg_engine *e, const struct fg_trial_config *config, uint64_t *start_ns,
		  struct fg_error *err)
{
	struct trial *old = e->trial;
	int rc;

	if (fg_engine_poll(e) == FG_ENGINE_RUNNING)
		return fg_error_set(err, EBUSY, "engine", "a trial is running");
	keep_time(e);
	for (unsigned i = 0; i < e->config.ports; i++) /* before it is compiled: then time is short */
		account_open(&e->port[i].account, e->config.port[i].port);
	e->counted_at = rte_rdtsc();
	rc = trial_compile(e, config, err);
	if (rc != 0)
		return rc;
	trial_free(e, old);
	if (start_ns != NULL)
		*start_ns = fg_clock_ns(&e->clock, e->trial->job[0].start);
	return 0;
}

/* the bound of a card's stamps has to hold for the trial */
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

		e->port[i].replies_before =
			atomic_load_explicit(&e->port[i].responder.replies, memory_order_relaxed);
		begin_stamps(&e->port[i], port);
	}
	e->running = true;
	/* an lcore that has not seen the job yet would never finish it */
	change_jobs(e, e->trial->job);
}

/*
 * A link may go down and up again within a trial, so it is polled; and the clock of a NIC drifts.
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
	account_keep(e, now);
}

static bool
has_ended(const struct fg_engine *e)
{
	for (unsigned i = 0; i < e->config.lcores; i++)
		if (!fg_lcore_has_finished(&e->lcore[i], &e->trial->job[i]))
			return false;
	return true;
}

enum fg_engine_state
fg_engine_poll(struct fg_engine *e)
{
	if (!e->running)
		return FG_ENGINE_READY;
	watch_ports(e);
	if (!has_ended(e))
		return FG_ENGINE_RUNNING;
	if (on_wire(e))
		e->wire_now = fg_lcore_now(&e->lcore[0]);
	change_jobs(e, on_wire(e) ? NULL : e->idle);
	tx_settle(&e->trial->tx);
	account_close(e);
	e->running = false;
	rx_settle(&e->trial->rx);
	return FG_ENGINE_READY;
}

void
fg_engine_stop(struct fg_engine *e)
{
	if (!e->running)
		return;
	/* leaving the job is all it takes: fg_engine_poll() then finds it finished */
	change_jobs(e, on_wire(e) ? NULL : e->idle);
	e->ready_at = 0;
}

int
fg_engine_tap(struct fg_engine *e, unsigned port, struct fg_tap *tap, struct fg_error *err)
{
	struct fg_tap *none = NULL;

	if (!__atomic_compare_exchange_n(&e->port[port].standing.tap, &none, tap, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return fg_error_set(err, EBUSY, e->config.port[port].port->name, "is tapped already");
	return 0;
}

void
fg_engine_untap(struct fg_engine *e, unsigned port)
{
	rx_tap_remove(&e->port[port].standing);
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

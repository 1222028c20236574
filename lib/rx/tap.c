/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readers of a port's received frames: the tap of the trial, and one that stays from trial to trial.
 *
 * A tap sees frames on one lcore, so it needs no lock. Frames that came over another queue than the port's
 * first are passed on as further references; that the responder writes into none of them is its own care
 * (responder.c). What finds no room on the way is counted as missed.
 */
#include <errno.h>

#include <rte_mbuf_dyn.h>
#include <rte_pause.h>
#include <rte_ring_elem.h>

#include "fg_unique_name.h"
#include "rx.h"

enum { ROOM = 1024 }; /* frames on the way from one queue */

struct passed {
	struct rte_mbuf *m;
	uint64_t arrival_ns;
};

static void
let_look(const struct rx_task *t, struct fg_tap *tap, struct rte_mbuf *const *frames,
	 const uint64_t *arrivals, unsigned n)
{
	tap->first_id = t->first_id;
	tap->ids = t->ids;
	tap->see(tap, frames, arrivals, n);
}

static void
pass_on(const struct rx_task *t, struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrivals,
	unsigned n)
{
	struct passed passed[FG_BURST];
	unsigned gone;

	for (unsigned i = 0; i < n; i++) {
		rte_pktmbuf_refcnt_update(frames[i], 1);
		passed[i] = (struct passed){frames[i], arrivals[i]};
	}
	gone = rte_ring_sp_enqueue_burst_elem(t->standing->passed[t->nth], passed, sizeof(passed[0]), n,
					      NULL);
	for (unsigned i = gone; i < n; i++)
		rte_pktmbuf_refcnt_update(frames[i], -1);
	if (gone < n)
		__atomic_fetch_add(&tap->missed, n - gone, __ATOMIC_RELAXED);
}

/* @return the tap; NULL: no tap. It stays where it is until leave(), whatever control does */
static struct fg_tap *
enter(const struct rx_task *t)
{
	__atomic_store_n(&t->standing->queue[t->nth].looking, true, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&t->standing->tap, __ATOMIC_SEQ_CST);
}

static void
leave(const struct rx_task *t)
{
	__atomic_store_n(&t->standing->queue[t->nth].looking, false, __ATOMIC_RELEASE);
}

void
rx_show(const struct rx_task *t, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival, bool stamped)
{
	uint64_t arrivals[FG_BURST];
	struct fg_tap *standing;

	for (unsigned i = 0; i < n; i++)
		arrivals[i] = !stamped ? arrival
				       : fg_clock_ns(t->clock, *RTE_MBUF_DYNFIELD(frames[i], t->time_offset,
										  uint64_t *));
	if (t->tap != NULL) /* without a ring it is the port's only queue */
		let_look(t, t->tap, frames, arrivals, n);
	standing = enter(t);
	if (standing != NULL)
		(t->nth == 0 ? let_look : pass_on)(t, standing, frames, arrivals, n);
	leave(t);
}

static unsigned
take(struct rte_ring *ring, struct rte_mbuf **frames, uint64_t *arrivals)
{
	struct passed passed[FG_BURST];
	unsigned n = ring == NULL ? 0
				  : rte_ring_sc_dequeue_burst_elem(ring, passed, sizeof(passed[0]), FG_BURST,
								   NULL);

	for (unsigned i = 0; i < n; i++) {
		frames[i] = passed[i].m;
		arrivals[i] = passed[i].arrival_ns;
	}
	return n;
}

void
rx_show_passed(const struct rx_task *t)
{
	struct fg_tap *tap = enter(t);
	struct rte_mbuf *frames[FG_BURST];
	uint64_t arrivals[FG_BURST];
	unsigned n;

	for (unsigned k = 1; tap != NULL && k < t->queues->queues; k++) {
		n = take(t->standing->passed[k], frames, arrivals);
		if (n == 0)
			continue;
		let_look(t, tap, frames, arrivals, n);
		rte_pktmbuf_free_bulk(frames, n);
	}
	leave(t);
}

int
rx_tap_open(struct rx_tap *standing, const struct fg_port *port, unsigned queues, struct fg_error *err)
{
	char name[RTE_RING_NAMESIZE];

	for (unsigned k = 1; k < queues; k++) {
		fg_unique_name(name, sizeof(name), "fg_tap_");
		standing->passed[k] =
			rte_ring_create_elem(name, sizeof(struct passed), ROOM, port->caps.numa_node,
					     RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (standing->passed[k] == NULL)
			return fg_error_set(err, ENOMEM, "host.memory",
					    "no room for what a tap of port %s sees of its queues",
					    port->name);
	}
	return 0;
}

/* what is on the way, when no lcore looks */
static void
drain(struct rx_tap *standing)
{
	struct rte_mbuf *frames[FG_BURST];
	uint64_t arrivals[FG_BURST];
	unsigned n;

	for (unsigned k = 1; k < FG_MAX_QUEUES; k++)
		while ((n = take(standing->passed[k], frames, arrivals)) > 0)
			rte_pktmbuf_free_bulk(frames, n);
}

void
rx_tap_close(struct rx_tap *standing)
{
	drain(standing);
	for (unsigned k = 1; k < FG_MAX_QUEUES; k++)
		rte_ring_free(standing->passed[k]);
}

void
rx_tap_remove(struct rx_tap *standing)
{
	/* an lcore that has seen it before is found looking, or sees from now on that it is not there */
	__atomic_store_n(&standing->tap, NULL, __ATOMIC_SEQ_CST);
	for (unsigned k = 0; k < FG_MAX_QUEUES; k++)
		while (__atomic_load_n(&standing->queue[k].looking, __ATOMIC_SEQ_CST))
			rte_pause();
	drain(standing);
}

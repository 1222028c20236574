/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ports of every device on the virtual wire have in common: frames on their way, places in a buffer,
 * what is marked in mbufs, and what a port says of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire.h"

static const uint64_t MAX_WAITING = 1 << 20;

int
wire_waiting_init(struct waiting *w, uint64_t buffer, bool octets, const char *where, struct fg_error *err)
{
	uint64_t frames = octets ? buffer / FG_ETHER_MIN + 1 : buffer, size = 1;

	if (frames > MAX_WAITING)
		return fg_error_set(err, EINVAL, where, "more than %llu frames could wait",
				    (unsigned long long)MAX_WAITING);
	while (size <= frames)
		size *= 2;
	w->mask = size - 1;
	w->limit = buffer;
	w->by_octets = octets;
	w->until = calloc(size, sizeof(*w->until));
	w->octets = calloc(size, sizeof(*w->octets));
	if (w->until == NULL || w->octets == NULL)
		return fg_error_set(err, ENOMEM, where, "no memory");
	return 0;
}

void
wire_waiting_free(struct waiting *w)
{
	free(w->until);
	free(w->octets);
}

int
wire_arrivals_init(struct arrivals *a, uint32_t room, struct fg_error *err)
{
	a->mask = rte_align64pow2(room) - 1;
	a->frame = calloc(a->mask + 1, sizeof(*a->frame));
	a->time = calloc(a->mask + 1, sizeof(*a->time));
	if (a->frame == NULL || a->time == NULL)
		return fg_error_set(err, ENOMEM, "wire", "no memory for %u frames on the way", room);
	return 0;
}

void
wire_arrivals_clear(struct arrivals *a)
{
	for (; a->tail != a->head; a->tail++)
		rte_pktmbuf_free(a->frame[a->tail & a->mask]);
}

void
wire_arrivals_free(struct arrivals *a)
{
	wire_arrivals_clear(a);
	free(a->frame);
	free(a->time);
}

uint16_t
wire_arrivals_fetch(struct arrivals *a, const struct wire_marks *marks, struct rte_mbuf **frames, uint16_t n,
		    uint64_t now)
{
	uint16_t got = 0;

	for (; got < n && a->tail != a->head && a->time[a->tail & a->mask] <= now; a->tail++) {
		struct rte_mbuf *m = a->frame[a->tail & a->mask];

		if (unlikely(m->ol_flags & marks->bad_fcs_flag)) {
			a->bad_fcs++;
			rte_pktmbuf_free(m);
			continue;
		}
		*RTE_MBUF_DYNFIELD(m, marks->rx_time_offset, uint64_t *) = a->time[a->tail & a->mask];
		m->ol_flags = marks->rx_time_flag;
		frames[got++] = m;
	}
	return got;
}

/* a bit of the mbuf's flags, for the engine and the wire. @return 0: none is left */
static uint64_t
take_flag(const char *name)
{
	struct rte_mbuf_dynflag flag = {0};
	int bit;

	snprintf(flag.name, sizeof(flag.name), "%s", name);
	bit = rte_mbuf_dynflag_register(&flag);
	return bit < 0 ? 0 : 1ULL << bit;
}

int
wire_marks_take(struct wire_marks *marks, struct fg_error *err)
{
	marks->bad_fcs_flag = take_flag("fg_wire_bad_fcs");
	marks->runt_flag = take_flag("fg_wire_runt");
	marks->test_flag = take_flag("fg_wire_test");
	if (rte_mbuf_dyn_tx_timestamp_register(&marks->tx_time_offset, &marks->tx_time_flag) != 0 ||
	    rte_mbuf_dyn_rx_timestamp_register(&marks->rx_time_offset, &marks->rx_time_flag) != 0 ||
	    marks->bad_fcs_flag == 0 || marks->runt_flag == 0 || marks->test_flag == 0)
		return fg_error_set(err, ENOMEM, "wire", "no room for time stamps in the frame buffers");
	return 0;
}

void
wire_describe(struct fg_port *port, unsigned i, double rate_bps, const struct wire_marks *marks)
{
	port->caps = (struct fg_port_caps){
		.clock_hz = FG_DEVICE_HZ,
		.driver = "wire",
		.mode = "virtual wire",
		.line_rate_bps = (uint64_t)(rate_bps + 0.5),
		.max_frame = FG_FRAME_MAX,
		.numa_node = -1,
		.mac = {0x02, 0xf6, 0, 0, 0, (uint8_t)(i + 1)},
		.launch_time = true,
		.rx_timestamp = true,
		.runts = true,
		.runt_flag = marks->runt_flag,
		.bad_fcs_flag = marks->bad_fcs_flag,
		.test_flag = marks->test_flag,
	};
	snprintf(port->name, sizeof(port->name), "wire%u", i);
	snprintf(port->device, sizeof(port->device), "wire%u", i);
}

bool
wire_is_up(struct fg_port *port)
{
	return true;
}

void
wire_stays(struct fg_port *port)
{
}

int
wire_check_ranges(const struct wire_range *list, unsigned n, struct fg_error *err)
{
	for (const struct wire_range *r = list; r < list + n; r++)
		if (!(r->value >= r->low && r->value <= r->high) && !(r->or_zero && r->value == 0))
			return fg_error_set(err, EINVAL, r->where, "%g is %s in %g to %g", r->value,
					    r->or_zero ? "neither 0 nor" : "not", r->low, r->high);
	return 0;
}

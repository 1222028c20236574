/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The reference switch inside. switch.c has the ports: frames wait on the ingress line, and go to forward.c
 * in the order of arrival over all ports. forward.c decides whether and when a frame leaves, and puts it on
 * the egress line; snoop.c knows the member ports of multicast groups. Everything here is written by the
 * lcore that polls the ports, and by the control thread only while nobody polls.
 */
#include "fg_switch.h"
#include "wire.h"

/** One port: the line in and the line out. */
struct member {
	struct fg_port port; /* must be first: a port is cast to its member */
	struct fg_switch *device;
	struct half *half;   /* with an uplink: the switch that the port belongs to */
	struct member *peer; /* the other end, if the port is an uplink; NULL: a tester port */
	fg_u128 octet_time;  /* on the line in */
	uint32_t store;      /* bytes after which a frame is received; 0: all of it */
	fg_u128 line_free;   /* earliest first bit of the next frame on the line in */
	fg_u128 first_bit;   /* with flow control: of the first frame on it; `in` then has launch times */
	fg_u128 pause_from, pause_until; /* the tester's port begins no frame in this time */
	struct arrivals in;              /* on the way to the switch, by time of reception */
	fg_u128 octet_time_out;
	struct waiting queue;  /* for the egress line; also with a shared buffer */
	fg_u128 queue_free;    /* when the next frame may leave the queue */
	fg_u128 line_out_free; /* earliest first bit of the next frame on the line out */
	fg_u128 path;          /* latency beyond the switch's own */
	uint8_t neighbour[6];  /* with tunnels: the MAC address of the last sender */
	struct arrivals out;   /* on their way to the tester */
	struct fg_port_counters port_counters;
	struct fg_switch_counters counters;
};

struct inputs;
struct pauses;

/** One switch: with an uplink there are two. */
struct half {
	uint64_t ports;    /* bits of its ports */
	struct fdb *table; /* NULL: it does not learn */
	fg_u128 engine_free;
	struct waiting engine; /* frames that wait for the engine */
};

struct fg_switch {
	struct fg_switch_config config;
	unsigned ports; /* configured ports and the uplink's ends */
	struct half half[2];
	struct snooping *snooping;  /* NULL: it does not snoop */
	struct failover *failover;  /* NULL: none */
	struct inputs *inputs;      /* NULL: frames do not wait behind the ingress */
	struct pauses *pauses;      /* NULL: no flow control */
	struct rte_mempool *copies; /* of frames that leave from several ports */
	struct wire_marks mbuf;
	uint32_t overhead;    /* bytes per frame on the ingress line in addition to its own */
	fg_u128 service_time; /* of the engine; 0: none */
	fg_u128 drop_time;
	fg_u128 latency, latency_per_octet;
	uint64_t outage_from, outage_to; /* ps */
	uint64_t next[FG_SWITCH_PORTS];  /* when the first frame of each line is received */
	/* the earliest frame, by a tournament: [1] its port, [i] of [2i] and [2i+1]; then all ports */
	uint8_t winner[2 * FG_SWITCH_PORTS];
	unsigned leaves; /* ports, up to the next power of two */
	struct member member[];
};

int forward_init(struct fg_switch *device, struct fg_error *err);
void forward_reset(struct fg_switch *device);
/** A frame is received at @p now; the switch takes ownership. Calls must be in the order of time. */
void forward_frame(struct fg_switch *device, unsigned in, struct rte_mbuf *m, uint64_t now);
/** A frame of the switch itself leaves from a port. */
void forward_own(struct fg_switch *device, unsigned out, struct rte_mbuf *m, uint64_t now);

/** A set of all ports: bit i is port i. */
static inline uint64_t
forward_all_ports(const struct fg_switch *s)
{
	return UINT64_MAX >> (FG_SWITCH_PORTS - s->config.ports);
}

int snoop_create(const struct fg_switch_snooping *config, unsigned ports, struct snooping **out,
		 struct fg_error *err);
void snoop_free(struct snooping *snooping);
void snoop_reset(struct snooping *snooping);
/**
 * Process an IGMP or MLD message whose last bit is in at @p now. @param to  gets the ports it goes to
 * @return false: not a message
 */
bool snoop_message(struct fg_switch *device, unsigned in, const struct rte_mbuf *m, uint64_t now,
		   uint64_t *to);
/** The ports that a frame to a group goes to. @param registered  gets whether there are members */
uint64_t snoop_ports(struct fg_switch *device, const struct rte_mbuf *m, uint64_t now, bool *registered);
/** Engine time that the table costs each frame. */
fg_u128 snoop_cost(const struct fg_switch *device);
/** Time of the next timed action; UINT64_MAX: no action. */
uint64_t snoop_next(const struct fg_switch *device);
/** Carry out the actions due at @p now, before any later frame. */
void snoop_act(struct fg_switch *device, uint64_t now);

/* tunnel.c: only with tunnels */
/**
 * Decapsulate a received frame if it is for the switch's end of a tunnel.
 * @param m       replaced by the inner frame
 * @param answer  gets the reply to a request; NULL: no reply
 * @return false: for the switch itself, or rejected by the tunnel's end
 */
bool tunnel_open(struct fg_switch *device, unsigned in, struct rte_mbuf **m, struct rte_mbuf **answer);
/** Does a frame like this leave encapsulated? @return bytes that it grows by; 0: no */
uint32_t tunnel_growth(const struct fg_switch *device, const struct rte_mbuf *m);
/** Encapsulate a copy for an egress. */
void tunnel_wrap(struct fg_switch *device, unsigned egress, struct rte_mbuf *m);

/* failover.c: times in ps */
int failover_create(const struct fg_switch_failover *config, struct failover **out, struct fg_error *err);
void failover_free(struct failover *failover);
void failover_reset(struct failover *failover);
/** Is the link of a port down? */
bool failover_is_down(const struct failover *failover, unsigned port, uint64_t now);
/** The egress port of a frame for the preferred port. */
unsigned failover_way(struct failover *failover, const struct rte_mbuf *m, uint64_t now);

/* input_queue.c: without input queues init does nothing, and all others except enter may be called */
int input_init(struct fg_switch *device, struct fg_error *err);
void input_reset(struct fg_switch *device);
void input_free(struct fg_switch *device);
/** Queue a frame behind its ingress port. @param egress  bit mask of its egress ports */
void input_enter(struct fg_switch *device, unsigned port, struct rte_mbuf *m, uint64_t egress, fg_u128 now,
		 uint32_t size);
/** When the next frame leaves its queue, ps; UINT64_MAX: no frame. */
uint64_t input_next(struct fg_switch *device);
/** An egress line is busy for longer: input_next() must recompute. */
void input_look_again(struct fg_switch *device);
/** The frame of input_next() leaves now. */
void input_run(struct fg_switch *device);

/* flow_control.c: the same without flow control */
int pause_init(struct fg_switch *device, struct fg_error *err);
void pause_reset(struct fg_switch *device);
void pause_free(struct pauses *pauses);
/** A frame from a port begins to wait, with or without a known end. Only with flow control. */
void pause_hold(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now);
void pause_hold_until(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now, fg_u128 until);
/** A frame without a known end stops waiting. Only with flow control. */
void pause_let_go(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now);
/** Time of the next known end, ps; UINT64_MAX: no known end. */
uint64_t pause_next(const struct fg_switch *device);
/** The next known end is due. */
void pause_run(struct fg_switch *device);
/** The frames that wait on an ingress line, for fg_port_ops. */
const struct rte_mbuf *pause_waiting(struct fg_port *port, unsigned i);

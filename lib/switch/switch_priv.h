/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The reference switch inside. switch.c has its ports: what they are sent waits on the line in, and is handed
 * to forward.c in the order in which it arrives over all ports. forward.c decides whether and when it leaves,
 * and puts it on the line out; snoop.c knows which ports are members of multicast groups. Everything here is
 * written by the lcore that polls the ports, and by the control thread only while nobody polls.
 */
#include "fg_switch.h"
#include "wire.h"

/** One port: the line in and the line out. */
struct member {
	struct fg_port port; /* first: the port is the member */
	struct fg_switch *device;
	struct half *half;   /* the switch it belongs to, of two with an uplink */
	struct member *peer; /* of an end of the uplink the other one; NULL: the tester is there */
	fg_u128 octet_time;  /* on the line in */
	uint32_t store;      /* bytes after which a frame is in; 0: all of it */
	fg_u128 line_free;   /* earliest first bit of the next frame on the line in */
	fg_u128 first_bit;   /* with flow control: of the first frame on it, that is in `in` by its launch */
	fg_u128 pause_from, pause_until; /* the tester's port begins no frame in this time */
	struct arrivals in;              /* on their way to the switch, by when they are in */
	fg_u128 octet_time_out;
	struct waiting queue;  /* for the line out; of the shared buffer, too, its frames stand here */
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

/** What one switch has, and each of two with an uplink. */
struct half {
	uint64_t ports;    /* bits of its ports */
	struct fdb *table; /* NULL: it does not learn */
	fg_u128 engine_free;
	struct waiting engine; /* frames that wait for it */
};

struct fg_switch {
	struct fg_switch_config config;
	unsigned ports; /* of the configuration, and the ends of the uplink */
	struct half half[2];
	struct snooping *snooping;  /* NULL: it does not snoop */
	struct failover *failover;  /* NULL: none */
	struct inputs *inputs;      /* NULL: frames do not wait behind the ingress */
	struct pauses *pauses;      /* NULL: no flow control */
	struct rte_mempool *copies; /* of what leaves from several ports */
	struct wire_marks mbuf;
	uint32_t overhead;    /* bytes that a frame takes on the line in besides its own */
	fg_u128 service_time; /* of the engine; 0: none */
	fg_u128 drop_time;
	fg_u128 latency, latency_per_octet;
	uint64_t outage_from, outage_to; /* ps */
	uint64_t next[FG_SWITCH_PORTS];  /* when the first frame of each line is in */
	/* the first of all, by a tournament: [1] its port, [i] of [2i] and [2i+1]; then all ports */
	uint8_t winner[2 * FG_SWITCH_PORTS];
	unsigned leaves; /* ports, up to the next power of two */
	struct member member[];
};

int forward_init(struct fg_switch *device, struct fg_error *err);
void forward_reset(struct fg_switch *device);
/** A frame is in, at @p now, and becomes the switch's. Frames must come in the order of their times. */
void forward_frame(struct fg_switch *device, unsigned in, struct rte_mbuf *m, uint64_t now);
/** A frame of the switch's own leaves from a port. */
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
 * Read a message to the switch whose last bit is in at @p now. @param to  gets the ports it goes to
 * @return false: not a message
 */
bool snoop_message(struct fg_switch *device, unsigned in, const struct rte_mbuf *m, uint64_t now,
		   uint64_t *to);
/** The ports that a frame to a group goes to. @param registered  gets whether there are members */
uint64_t snoop_ports(struct fg_switch *device, const struct rte_mbuf *m, uint64_t now, bool *registered);
/** Engine time that the table costs each frame. */
fg_u128 snoop_cost(const struct fg_switch *device);
/** When it has to do something by itself next, UINT64_MAX: nothing. */
uint64_t snoop_next(const struct fg_switch *device);
/** Do what is due at @p now: before any frame that is in later. */
void snoop_act(struct fg_switch *device, uint64_t now);

/* tunnel.c: only with tunnels */
/**
 * A frame is in that may be for the switch's end of a tunnel.
 * @param m       gets what was wrapped in it
 * @param answer  gets what is to be sent back to a question; NULL: nothing is
 * @return false: it was for the switch itself, or for an end that does not take it
 */
bool tunnel_open(struct fg_switch *device, unsigned in, struct rte_mbuf **m, struct rte_mbuf **answer);
/** Do frames like this one leave wrapped? @return bytes that they become longer by, 0: they do not */
uint32_t tunnel_growth(const struct fg_switch *device, const struct rte_mbuf *m);
/** Wrap such a copy for an egress. */
void tunnel_wrap(struct fg_switch *device, unsigned egress, struct rte_mbuf *m);

/* failover.c: times in ps */
int failover_create(const struct fg_switch_failover *config, struct failover **out, struct fg_error *err);
void failover_free(struct failover *failover);
void failover_reset(struct failover *failover);
/** Does the link of a port carry nothing? */
bool failover_is_down(const struct failover *failover, unsigned port, uint64_t now);
/** The port by which a frame that is for the preferred one leaves. */
unsigned failover_way(struct failover *failover, const struct rte_mbuf *m, uint64_t now);

/* input_queue.c: init does nothing without input queues; the others but enter may be called all the same */
int input_init(struct fg_switch *device, struct fg_error *err);
void input_reset(struct fg_switch *device);
void input_free(struct fg_switch *device);
/** A frame from a port is to wait behind it. @param egress  bits of the ports that it is for */
void input_enter(struct fg_switch *device, unsigned port, struct rte_mbuf *m, uint64_t egress, fg_u128 now,
		 uint32_t size);
/** When the next frame leaves its queue, ps; UINT64_MAX: none does. */
uint64_t input_next(struct fg_switch *device);
/** A line out is busy for longer than when that was looked at. */
void input_look_again(struct fg_switch *device);
/** It leaves now. */
void input_run(struct fg_switch *device);

/* flow_control.c: the same without flow control */
int pause_init(struct fg_switch *device, struct fg_error *err);
void pause_reset(struct fg_switch *device);
void pause_free(struct pauses *pauses);
/** A frame from a port waits, from now on; with or without a known end. Only with flow control. */
void pause_hold(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now);
void pause_hold_until(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now, fg_u128 until);
/** A frame that was held without a known end waits no longer. Only with flow control. */
void pause_let_go(struct fg_switch *device, unsigned port, uint32_t size, fg_u128 now);
/** When the next known end comes, ps; UINT64_MAX: no end is known. */
uint64_t pause_next(const struct fg_switch *device);
/** It has come. */
void pause_run(struct fg_switch *device);
/** The frames that wait on a line in, as fg_port_ops has them. */
const struct rte_mbuf *pause_waiting(struct fg_port *port, unsigned i);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_net.h"
#include "fg_wire.h"

__BEGIN_DECLS

/*
 * The reference switch: a model of a LAN switch (RFC 2285, RFC 2889) that joins all ports of the virtual
 * wire, where the reference device (fg_device.h) joins two. Its clock, its lines and its stamps belong to
 * the wire. All ports must be polled by one lcore.
 */

enum { FG_SWITCH_PORTS = 64 }; /* an uplink takes two of them */

/** Where frames wait for a busy line. */
enum fg_switch_queues {
	FG_SWITCH_OUTPUT, /* one queue before each egress */
	FG_SWITCH_SHARED, /* one queue before each egress, in one shared buffer */
	FG_SWITCH_INPUT,  /* behind each ingress; the first one blocks those behind it (input_queue.c) */
};

/** Which input queue an egress serves when the first frames of several queues are for it. */
enum fg_switch_arbitration {
	FG_SWITCH_ROUND_ROBIN,
	FG_SWITCH_OLDEST,   /* the frame that has waited longest; the lower port of two */
	FG_SWITCH_PRIORITY, /* the highest port */
};

/** Whether the switch sends PAUSE frames (flow_control.c). */
enum fg_switch_flow_control { FG_SWITCH_NO_FLOW_CONTROL, FG_SWITCH_PAUSE };

/** The engine time of a broadcast or flood: per copy, or per frame. */
enum fg_switch_replication { FG_SWITCH_BY_EGRESS, FG_SWITCH_BY_INGRESS };

/** IGMP and MLD snooping (RFC 4541): frames of a group leave from the ports of its members. */
struct fg_switch_snooping {
	uint32_t groups;         /* entries; further groups are not registered. 0: no snooping */
	bool by_mac;             /* an entry is a MAC address, which 32 groups of IPv4 share; else a group */
	bool drops_unregistered; /* frames of groups without members; else they are flooded */
	/* from the last bit of a message to the change in the table, if the group has an entry */
	double join_delay_ns, leave_delay_ns;
	double new_group_delay_ns; /* further time if the group has no entry */
	double control_rate;       /* messages processed per second, in order; 0: all */
	uint32_t control_queue;    /* messages that can wait to be processed; further ones are lost */
	/* else this many group-specific queries follow a leave, at this interval */
	bool fast_leave;
	uint32_t last_member_count;
	double last_member_interval_ns;
	bool querier; /* it sends general queries at this interval */
	double query_interval_ns;
	double membership_ns;  /* a membership without reports ends after this time; 0: never */
	double group_cost_ns;  /* engine time of each frame for each entry of the table */
	uint64_t router_ports; /* bit i: port i gets reports and unregistered groups, as a querier's port
			        * does */
};

/** The encapsulation of a tunnel. */
enum fg_switch_wrap {
	FG_SWITCH_NOT_WRAPPED,
	FG_SWITCH_IP_IN_IP,     /* RFC 2003, RFC 2473 */
	FG_SWITCH_GRE,          /* RFC 2784 */
	FG_SWITCH_GRE_WITH_KEY, /* RFC 2890 */
};

/** A tunnel between a port and the switch, over IPv4 and over IPv6. */
struct fg_switch_tunnel {
	struct fg_host near;               /* the switch's end */
	uint8_t far_ipv4[4], far_ipv6[16]; /* the tester's */
};

/**
 * Tunnels: packets to the switch's end are decapsulated, and packets to groups are encapsulated. Outer and
 * inner packet have the same IP version.
 */
struct fg_switch_tunnels {
	bool on;
	enum fg_switch_wrap in, out;
	uint32_t key;
	struct fg_switch_tunnel port[FG_SWITCH_PORTS];
};

/** The order in which routes move. */
enum fg_switch_order { FG_SWITCH_LINEAR, FG_SWITCH_REVERSE, FG_SWITCH_RANDOM };

/** How long after an event a route moves: route j after detect + compute + j per_route. */
struct fg_switch_move {
	double detect_ns, compute_ns, per_route_ns;
};

/** Frames for the port `preferred` go to `next_best` while the preferred link is down. */
struct fg_switch_failover {
	bool on;
	unsigned preferred, next_best;
	/* routes use both ports in turn, as in a LAG or ECMP: half of the routes move */
	bool balance;
	struct fg_switch_move away, back; /* when the link goes down, when it is up again */
	enum fg_switch_order order;
	uint64_t seed;                     /* of the random order */
	bool graceful;                     /* the link forwards until a route has moved */
	bool undetected;                   /* a fault: no route ever moves */
	double preferred_ns, next_best_ns; /* further latency of the two paths */
};

struct fg_switch_config {
	unsigned ports;
	double rate_bps[FG_SWITCH_PORTS]; /* of each line, both ways */
	bool cut_through;                 /* forwards after 14 bytes if no port is faster than the ingress */
	double latency_ns, latency_ns_per_octet; /* from then to first bit out, without queues */
	double capacity_fps; /* of the forwarding engine, for all ports together; 0: no limit */
	double drop_cost_ns; /* engine time of a frame for which the engine has no place to wait */
	enum fg_switch_replication replication;
	enum fg_switch_queues queues;
	/* frames (or bytes) that can wait before the engine; before each egress, or before all if shared */
	uint64_t buffer;
	bool buffer_octets;
	uint64_t reserve; /* shared: room that only frames of this egress may take; in the buffer's unit */
	enum fg_switch_arbitration arbitration;
	enum fg_switch_flow_control flow_control;
	uint64_t xoff, xon;    /* waiting bytes from one port: it pauses above xoff, resumes below xon */
	uint32_t pause_quanta; /* longest pause, in units of 512 bit times */
	double alpha;          /* shared: a queue may grow to alpha times the free room; 0: no limit */
	uint32_t cell;         /* bytes; a frame takes whole cells of an egress buffer. 0: its bytes */
	uint32_t gap;          /* bytes from one frame to the next on a busy egress */
	double ppm;            /* error of the clock of all egresses */
	uint32_t min_frame, max_frame; /* bytes with FCS; a VLAN tag may come on top of max_frame */
	bool forwards_bad_fcs, forwards_runts;
	bool keeps_fcs; /* a wrong FCS is forwarded unchanged; else it is replaced */
	/*
	 * Rate of the line between two switches, each with its own table and engine; 0: one switch. Both have
	 * output queues and store frames.
	 */
	double uplink_bps;
	uint64_t second; /* bit i: port i belongs to the second switch */
	struct fg_switch_failover failover;
	struct fg_device_table table; /* size 0: the switch does not learn, and floods everything */
	struct fg_switch_snooping snooping;
	struct fg_switch_tunnels tunnels; /* not with queues behind the ingress, nor with an uplink */
};

/** The switch's own counts: the truth that a test result is compared with. */
#define FG_SWITCH_INGRESS_COUNTERS(X)                                                      \
	X(received)       /* frames that came in */                                        \
	X(bad_fcs)        /* lost: wrong check sequence */                                 \
	X(undersized)     /* lost: shorter than min_frame */                               \
	X(oversized)      /* lost: longer than max_frame, also once in a tunnel */         \
	X(consumed)       /* for the switch itself: PAUSE, BPDU and similar */             \
	X(filtered)       /* the destination is at the ingress port */                     \
	X(unlearned)      /* the source is not in the table and was not learned */         \
	X(flooded)        /* forwarded to all other ports: destination not in the table */ \
	X(engine_drops)   /* lost: no place to wait for the engine */                      \
	X(outage)         /* lost in an outage */                                          \
	X(reports)        /* group reports processed */                                    \
	X(leaves)         /* leaves among the reports */                                   \
	X(queries)        /* queries from routers */                                       \
	X(not_registered) /* reported groups for which there was no entry */               \
	X(control_drops)  /* messages without room to wait; forwarded, not processed */
#define FG_SWITCH_EGRESS_COUNTERS(X)                                                                    \
	X(forwarded)     /* copies that left or will leave */                                           \
	X(flood_copies)  /* copies of floods and broadcasts among them */                               \
	X(group_copies)  /* copies for registered groups */                                             \
	X(queries_sent)  /* queries that the switch sent */                                             \
	X(queue_drops)   /* lost: queue of the egress full; with input queues: of the ingress */        \
	X(link_drops)    /* lost: its link was down */                                                  \
	X(largest_queue) /* most frames that waited at a time; with input queues: behind the ingress */ \
	X(pauses)        /* PAUSE frames sent to the port */

struct fg_switch_counters {
#define FG_SWITCH_COUNTER(name) uint64_t name;
	FG_SWITCH_INGRESS_COUNTERS(FG_SWITCH_COUNTER) /* of frames that came in at the port */
	FG_SWITCH_EGRESS_COUNTERS(FG_SWITCH_COUNTER)  /* of frames that were to leave from it */
};

struct fg_port;
struct fg_switch;

/** Most frames of @p frame_size in the switch at one time; 0: more than a tester has memory for (2^20). */
uint32_t fg_switch_in_flight(const struct fg_switch_config *config, unsigned frame_size);

/**
 * Make the switch and its ports.
 * @param in_flight  frames on the way to each port; further ones count as rx_missed
 * @param max_frame  bytes with FCS of the largest frame that it may have to copy
 * @return 0, -EINVAL (a value out of its range), -ENOMEM
 */
int fg_switch_create(const struct fg_switch_config *config, uint32_t in_flight, uint32_t max_frame,
		     struct fg_switch **out, struct fg_error *err);

/** Free it with its ports and every frame inside. */
void fg_switch_free(struct fg_switch *device);

/** Port @p i. Owned by the switch; fg_port_close() on it does nothing. */
struct fg_port *fg_switch_port(struct fg_switch *device, unsigned i);

/** Forget every frame inside and all counts: a trial finds an idle switch. Its tables stay. */
void fg_switch_reset(struct fg_switch *device);

/** The switch loses all frames that come in from @p from_ns to before @p to_ns; see fg_device_outage(). */
void fg_switch_outage(struct fg_switch *device, uint64_t from_ns, uint64_t to_ns);

/**
 * The link of the preferred port will be down from @p down_ns to before @p up_ns, times of the wire; until
 * the next reset. Only for a switch with a fail-over.
 */
void fg_switch_link(struct fg_switch *device, uint64_t down_ns, uint64_t up_ns);

/** The result of a route: the packets to one IP address between one pair of UDP or TCP ports. */
struct fg_switch_route {
	uint64_t moves_ns, returns_ns; /* moved to the next-best port, and back; times of the wire */
	uint64_t lost;                 /* frames lost because the link was down */
};

/**
 * The routes since the last reset, in the order of their first frames. Only while nobody polls the ports.
 * @param out  takes the first @p most of them; @return number of routes; 0 without fail-over
 */
uint32_t fg_switch_routes(const struct fg_switch *device, struct fg_switch_route *out, uint32_t most);

/**
 * The ports leave this many bytes from one frame to the next when they send as fast as they can, in place of
 * 12, until the next reset. Less than 12 exceeds the line rate. Only while nobody polls the ports.
 */
void fg_switch_set_gap(struct fg_switch *device, uint32_t octets);

/**
 * The counts at port @p i since the last reset; the uplink's ends follow the other ports: the first switch's
 * end, then the second's. Only while nobody polls the ports.
 */
void fg_switch_read_counters(const struct fg_switch *device, unsigned i, struct fg_switch_counters *out);

/** Most groups in the table at a time since the last reset. Only while nobody polls the ports. */
uint32_t fg_switch_groups(const struct fg_switch *device);

__END_DECLS

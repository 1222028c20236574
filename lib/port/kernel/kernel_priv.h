/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port over a kernel interface (kernel.c), and the socket of its own that it has if the interface is to cut
 * and join TCP segments (packet.c). Control opens and closes both and writes all of it, but for what stands
 * at the counts of a socket.
 */
#pragma once

#include "../port_priv.h"

struct fg_packet;

struct fg_kernel {
	struct fg_ethdev dev; /* first */
	char interface[FG_PORT_INTERFACE_NAME];
	int netlink; /* in the interface's network namespace */
	int socket;  /* the driver's, not ours; -1: not found */
	bool xdp;
	struct fg_packet *packet; /* NULL: a driver of DPDK's has the socket */
	struct fg_link base;      /* when the port was opened */
	bool mtu_was_less;        /* than at open, at some look */
	uint64_t discarded;       /* frames that the kernel dropped without a count, at most seen */
	uint32_t xdp_program;     /* at the last look */
	uint64_t intercepts;      /* looks that found another XDP program at work */
	uint64_t ring_full;       /* AF_PACKET: the kernel forgets when it is asked */
};

/* packet.c: opens kernel->packet, and fills in the port. @return 0 or -errno */
int fg_packet_start(struct fg_kernel *kernel, const struct fg_port_config *config, struct fg_error *err);
void fg_packet_stop(struct fg_packet *p); /* NULL is legal */
/* @return the socket, which counts what found no room */
int fg_packet_socket(const struct fg_packet *p);
void fg_packet_counters(const struct fg_packet *p, struct fg_port_counters *out);

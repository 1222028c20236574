/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_net.h"

__BEGIN_DECLS

/*
 * Emulated hosts are behind a port in addition to its own addresses, thousands of them, each with a MAC and
 * VLANs of its own. They answer ARP, Neighbor Discovery and echo, ask for the MAC of their gateway until it
 * answers and every half minute from there, and can ping. They live from trial to trial, and between trials
 * where time passes then (on the virtual wire it does not). They announce nothing.
 *
 * All functions belong to the control thread.
 */

enum {
	FG_HOST_TAGS = 4,     /* VLAN tags that a host may have */
	FG_MAX_HOSTS = 16384, /* behind a port */
};

struct fg_engine;

/** One address. A host with several is given several times. */
struct fg_emulated_host {
	struct fg_host host;        /* its MAC, and one address of either version */
	uint32_t tag[FG_HOST_TAGS]; /* EtherType and TCI, outermost first; 0: no more */
	bool has_gateway;
	uint8_t gateway[16]; /* of IPv4 the first four bytes */
};

/**
 * Replace the hosts behind a port; these rest at first. They are known by their place in the list. A
 * trial that is prepared must have ended before.
 * @return 0, -EBUSY a trial is running, -EINVAL too many, -EEXIST two have the same address and VLANs,
 *         -ENOMEM
 */
int fg_engine_hosts(struct fg_engine *engine, unsigned port, const struct fg_emulated_host *host, unsigned n,
		    struct fg_error *err);

/** Start the hosts of a port, beginning with requests to their gateways, or stop them. At any time. */
void fg_engine_hosts_run(struct fg_engine *engine, unsigned port, bool run);

/** MAC of the gateway of host @p i. @return false while it has not answered */
bool fg_engine_host_gateway(const struct fg_engine *engine, unsigned port, unsigned i, uint8_t mac[6]);

/**
 * Send an echo request from host @p i, and wait a second for the reply.
 * @param hop  whose MAC the request goes to: the gateway, or @p to itself
 * @param to   of IPv4 the first four bytes, as of @p hop
 * @return     0, -EBUSY the host waits for another reply, -ENETDOWN the hosts rest
 */
int fg_engine_host_ping(struct fg_engine *engine, unsigned port, unsigned i, const uint8_t hop[16],
			const uint8_t to[16]);

enum fg_ping { FG_PING_WAITING, FG_PING_ANSWERED, FG_PING_SILENT };

/** What became of it. */
enum fg_ping fg_engine_host_pinged(const struct fg_engine *engine, unsigned port, unsigned i);

__END_DECLS

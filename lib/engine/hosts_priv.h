/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The emulated hosts of a port (hosts.c), a task beside its responder, which offers them frames. Control
 * makes and frees them while the lcores rest; what is shared between is named at its member.
 */
#include "fg_hosts.h"
#include "neighbour_priv.h"

struct hosts;

/** @return 0, -EINVAL, -EEXIST, -ENOMEM */
int hosts_create(const struct fg_emulated_host *host, unsigned n, struct responder *responder,
		 struct hosts **out, struct fg_error *err);
void hosts_free(struct hosts *hosts);
/** Sends due frames. It belongs to the lcore of the responder. */
struct fg_task *hosts_task(struct hosts *hosts);
/** A frame that the port has received. @return whether it is for one of the hosts, and taken */
bool hosts_take(struct hosts *hosts, struct responder *responder, struct rte_mbuf *m, uint64_t now);

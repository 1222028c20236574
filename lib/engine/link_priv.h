/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The box of frames between control and a port (link.c), a task beside the port's responder, which offers it
 * what the port has received. Control makes and frees it while the lcores rest.
 */
#include "fg_link.h"
#include "neighbour_priv.h"

struct link;

/** @return 0, -EINVAL, -ENOMEM */
int link_create(const uint16_t *type, unsigned n, struct responder *responder, struct link **out,
		struct fg_error *err);
void link_free(struct link *link);
/** Sends what control has given. It belongs to the lcore of the responder. */
struct fg_task *link_task(struct link *link);
/** A frame that the port has received. @return whether it is for control, which has a copy now */
bool link_take(struct link *link, const struct rte_mbuf *m);

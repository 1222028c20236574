/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that a peer has asked for and not yet confirmed. A flood of SYNs from addresses that never answer may
 * take a share of the table and no more: beyond it a SYN is answered without being remembered (cookie.c). The links of
 * the list lie where the application's own state will be once there is a connection.
 */
#include "tcp_priv.h"

enum { SHARE = 4 /* of all places one in so many */, LEAST = 16 };

static uint32_t
limit(const struct fg_l4 *w)
{
	return u32_max(w->config.connections / SHARE, u32_min(LEAST, w->config.connections));
}

void
half_open_add(struct fg_l4 *w, struct conn *c)
{
	uint32_t index = conn_index(w, c);

	c->older = w->half_open_newest;
	c->newer = 0;
	if (w->half_open_newest != 0)
		w->conn[w->half_open_newest].newer = index;
	else
		w->half_open_oldest = index;
	w->half_open_newest = index;
	w->half_open++;
}

void
half_open_remove(struct fg_l4 *w, struct conn *c)
{
	if (c->older != 0)
		w->conn[c->older].newer = c->newer;
	else
		w->half_open_oldest = c->newer;
	if (c->newer != 0)
		w->conn[c->newer].older = c->older;
	else
		w->half_open_newest = c->older;
	w->half_open--;
	c->app_mark = 0;
}

bool
half_open_has_room(const struct fg_l4 *w)
{
	return w->half_open < limit(w) && w->open < w->config.connections;
}

void
half_open_make_room(struct fg_l4 *w)
{
	struct conn *oldest = &w->conn[w->half_open_oldest];

	if (w->open < w->config.connections || w->half_open == 0 || oldest->flags & READY)
		return;
	w->counters.half_open_dropped++;
	tcp_end(w, oldest, FG_L4_END_NO_ANSWER);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half-open connections. A SYN flood from addresses that never answer may take only a share of the table:
 * beyond it a SYN is answered without state (cookie.c). The links of the list are in the space of the
 * application's state, which begins with the connection.
 */
#include "tcp_priv.h"

struct links {
	uint32_t older, newer;
};

enum { SHARE = 4 /* one of SHARE places */, MIN_PLACES = 16 };

static_assert(sizeof(struct links) <= FG_STREAM_AREA, "the links have room");

static struct links *
links_of(const struct fg_l4 *w, uint32_t index)
{
	return (struct links *)(void *)own(w)->conn[index].stream.area;
}

static uint32_t
limit(const struct fg_l4 *w)
{
	return fg_u32_max(w->config.connections / SHARE, fg_u32_min(MIN_PLACES, w->config.connections));
}

void
half_open_add(struct fg_l4 *w, struct conn *c)
{
	uint32_t index = conn_index(w, c), newest = own(w)->half_open_newest;

	*links_of(w, index) = (struct links){.older = newest};
	if (newest != 0)
		links_of(w, newest)->newer = index;
	else
		own(w)->half_open_oldest = index;
	own(w)->half_open_newest = index;
	own(w)->half_open++;
}

void
half_open_remove(struct fg_l4 *w, struct conn *c)
{
	struct links *links = links_of(w, conn_index(w, c));

	if (links->older != 0)
		links_of(w, links->older)->newer = links->newer;
	else
		own(w)->half_open_oldest = links->newer;
	if (links->newer != 0)
		links_of(w, links->newer)->older = links->older;
	else
		own(w)->half_open_newest = links->older;
	own(w)->half_open--;
	*links = (struct links){0};
}

bool
half_open_has_room(const struct fg_l4 *w)
{
	return own(w)->half_open < limit(w) && own(w)->open < w->config.connections;
}

struct conn *
half_open_oldest(const struct fg_l4 *w)
{
	struct conn *oldest = &own(w)->conn[own(w)->half_open_oldest];

	if (own(w)->open < w->config.connections || own(w)->half_open == 0 || oldest->flags & READY)
		return NULL;
	return oldest;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of DNS over TCP: what both sides keep of them, taken and given back. */
#include <errno.h>
#include <stdlib.h>

#include "dns_priv.h"

enum {
	MOST_ASKED = 1 << 22,
	MOST_ENTRIES = 1 << 20,
	MIN_ENTRIES = 4096,
	ENTRIES_A_CONNECTION = 4,
};

/* what the pools have taken counts as the worker's memory */
static void
count_pools(struct fg_l4 *w, struct dns *d)
{
	uint64_t octets = (d->conns.fresh - 1UL) * d->conns.size +
			  (d->entries.fresh - 1UL) * d->entries.size +
			  (d->blocks.fresh - 1UL) * d->blocks.size;

	w->layer_octets += octets - d->octets;
	d->octets = octets;
}

int
dns_streams_create(struct dns *d, struct fg_error *err)
{
	const struct application *a = &d->requests.app;
	uint64_t few = (uint64_t)MIN_ENTRIES + (uint64_t)ENTRIES_A_CONNECTION * a->room, entries;
	bool server = a->config.server;

	few = few > MOST_ENTRIES ? MOST_ENTRIES : few;
	entries = server ? few : (uint64_t)a->config.connections * fg_u32_max(d->config.pipeline, 1);
	entries = entries > MOST_ASKED ? MOST_ASKED : entries;
	d->whole = malloc(DNS_MESSAGE_MAX);
	d->made = server ? malloc(DNS_PREFIX + DNS_MESSAGE_MAX) : NULL;
	if (d->whole == NULL || (server && d->made == NULL) ||
	    !fg_pool_create(&d->conns, a->room, sizeof(struct dns_conn)) ||
	    !fg_pool_create(&d->entries, (uint32_t)entries,
			    server ? sizeof(struct dns_reply) : sizeof(struct dns_asked)) ||
	    !fg_pool_create(&d->blocks, (uint32_t)few, sizeof(struct dns_block)))
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory for %u connections", a->room);
	dns_conn_at(d, 0)->flags = DNS_OVER; /* nobody's */
	return 0;
}

void
dns_streams_free(struct dns *d)
{
	fg_pool_free(&d->conns);
	fg_pool_free(&d->entries);
	fg_pool_free(&d->blocks);
	free(d->whole);
	free(d->made);
}

struct dns_conn *
dns_begin(struct fg_l4 *w, struct fg_stream *s)
{
	struct dns *d = dns_of(application_of(w, s));
	uint32_t i = fg_pool_take(&d->conns);
	struct dns_conn *c = dns_conn_at(d, i);

	if (i == 0) { /* there are as many as the worker has room for */
		fg_stream_abort(w, s);
		return NULL;
	}
	((struct dns_area *)(void *)s->area)->conn = i;
	*c = (struct dns_conn){.stream = s, .since = w->now};
	count_pools(w, d);
	return c;
}

void
dns_end(struct fg_l4 *w, struct fg_stream *s)
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_area *area = (struct dns_area *)(void *)s->area;
	struct dns_conn *c = dns_conn_at(d, area->conn);

	if (area->conn == 0)
		return;
	c->flags |= DNS_OVER;
	while (c->first != 0)
		dns_remove(d, c, 0, c->first);
	dns_inbox_free(d, &c->inbox);
	count_pools(w, d);
	fg_pool_give(&d->conns, &area->conn); /* a caller that still looks finds no connection */
}

/* its first word, whatever it is */
static uint32_t *
next_of(const struct dns *d, uint32_t i)
{
	return (uint32_t *)(void *)(d->entries.at + i * d->entries.size);
}

void *
dns_append(struct fg_l4 *w, struct dns *d, struct dns_conn *c)
{
	uint32_t i = fg_pool_take(&d->entries);

	if (i == 0)
		return NULL;
	d->entries_taken++;
	*next_of(d, i) = 0;
	*(c->last == 0 ? &c->first : next_of(d, c->last)) = i;
	c->last = i;
	c->waiting++;
	count_pools(w, d);
	return next_of(d, i);
}

void
dns_remove(struct dns *d, struct dns_conn *c, uint32_t before, uint32_t i)
{
	*(before == 0 ? &c->first : next_of(d, before)) = *next_of(d, i);
	if (c->last == i)
		c->last = before;
	c->waiting--;
	d->entries_taken--;
	fg_pool_give(&d->entries, &i);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was truncated over UDP is asked for again over TCP (RFC 7766, 5), on a connection of its own for each
 * query, from ports in turn. The slot waits meanwhile, and its time runs on.
 */
#include "dns_priv.h"

enum { TRIES = 16 };
static const uint64_t AGAIN_RETRY_NS = 1000000;

bool
dns_ask_again_later(struct dns *d, uint32_t slot, uint64_t number)
{
	uint32_t places = d->requests.app.config.connections;

	if (d->again[slot] == number || d->queued == places)
		return false;
	d->again[slot] = number;
	d->queue[(d->queue_first + d->queued++) % places] = slot;
	return true;
}

static bool
open_again(struct fg_l4 *w, struct dns *d, uint32_t slot)
{
	struct application *a = &d->requests.app;
	struct fg_stream *s = NULL;
	struct dns_conn *c;
	struct fg_flow f;

	for (unsigned i = 0; i < TRIES && s == NULL; i++) {
		next_flow(a, &f);
		s = fg_stream_open(w, a->base.index, &f);
	}
	if (s == NULL)
		return false;
	client_of(s)->since = w->now;
	s->opened_at = (uint32_t)(w->now >> FG_STREAM_OPENED_SHIFT);
	c = dns_begin(w, s);
	if (c == NULL)
		return true;
	c->flags = DNS_AGAIN;
	c->slot = slot;
	c->slot_number = d->again[slot];
	c->question = (uint32_t)(((c->slot_number - 1) * a->config.connections + slot) % d->questions.n);
	c->salt = (uint16_t)(c->slot_number * DNS_SALT + slot);
	return true;
}

uint64_t
dns_ask_again(struct fg_l4 *w, struct dns *d)
{
	for (; d->queued > 0; d->queued--) {
		uint32_t slot = d->queue[d->queue_first];

		if (requests_waits(&d->requests.app, slot, d->again[slot]) && !open_again(w, d, slot))
			return w->now + AGAIN_RETRY_NS; /* no port or no room: TIME_WAIT ends some time */
		d->queue_first = (d->queue_first + 1) % d->requests.app.config.connections;
	}
	return UINT64_MAX;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of requests in datagrams: see requests_priv.h. */
#include <errno.h>
#include <stdlib.h>

#include "requests_priv.h"

/* slot[IDLE] and slot[WAITING] are the heads of two rings */
enum { IDLE, WAITING, FIRST_SLOT };

static void
append(struct slot *list, uint32_t head, uint32_t i)
{
	list[i].next = head;
	list[i].previous = list[head].previous;
	list[list[head].previous].next = i;
	list[head].previous = i;
}

static void
move_to(struct slot *list, uint32_t head, uint32_t i)
{
	list[list[i].previous].next = list[i].next;
	list[list[i].next].previous = list[i].previous;
	append(list, head, i);
}

static struct requests *
requests_of(struct application *a)
{
	return (struct requests *)a;
}

static void
write_and_send(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
	       const struct request_ops *ops)
{
	struct fg_flow f;
	uint32_t length;

	flow_at(a, slot, &f);
	length = ops->write(a, slot, number, fg_datagram_room(w, f.ipv6));
	if (ops->send != NULL)
		ops->send(w, a, &f, slot, number, length);
	else
		fg_datagram_send(w, &f, length);
	a->base.tally.datagrams_out++;
}

/* @p due: when it was to be sent */
static void
send_request(struct fg_l4 *w, struct application *a, uint32_t i, uint64_t due, const struct request_ops *ops)
{
	struct slot *slot = &requests_of(a)->slot[i];

	move_to(requests_of(a)->slot, WAITING, i);
	slot->number++;
	slot->sent_at = due;
	slot->expired = false;
	write_and_send(w, a, i - FIRST_SLOT, slot->number, ops);
}

/* A slot waits for nothing any more. */
static void
retire(const struct fg_l4 *w, struct slot *list, uint32_t i)
{
	list[i].sent_at = 0;
	list[i].idle_since = w->now;
	move_to(list, IDLE, i);
}

/* What is due for longer than max_lag; it is off schedule where it waited for us, not for a slot. */
static void
leave_out(const struct fg_l4 *w, struct application *a, double gap)
{
	struct requests *r = requests_of(a);
	const uint32_t first = r->slot[IDLE].next;
	const bool waited_for_us = first != IDLE && (double)r->slot[first].idle_since <= r->next_at;
	const uint64_t left_out = pace_catch_up(w, &r->next_at, w->start_at, gap);

	a->off_schedule += waited_for_us ? left_out : 0;
}

/* The slot that has been idle longest takes what is due, which is late by what it waited for us. */
static void
send_due(struct fg_l4 *w, struct application *a, double gap, const struct request_ops *ops)
{
	struct requests *r = requests_of(a);
	uint32_t i = r->slot[IDLE].next;

	note_departure(w, a, fmax(r->next_at, (double)r->slot[i].idle_since), gap);
	send_request(w, a, i, gap == 0 ? w->now : (uint64_t)r->next_at, ops);
	pace_next(w, &r->next_at, gap);
}

static void
give_up(struct fg_l4 *w, struct application *a)
{
	struct slot *slot = requests_of(a)->slot;
	uint32_t i;

	while ((i = slot[WAITING].next) != WAITING && slot[i].sent_at + a->config.timeout_ns <= w->now) {
		a->base.tally.expired++;
		note_unanswered(w, a, slot[i].sent_at);
		slot[i].expired = true;
		retire(w, slot, i);
	}
}

static uint64_t
first_expiry(struct application *a)
{
	const struct slot *slot = requests_of(a)->slot;
	uint32_t first = slot[WAITING].next;

	return first == WAITING ? UINT64_MAX : slot[first].sent_at + a->config.timeout_ns;
}

uint64_t
requests_poll(struct fg_l4 *w, struct fg_app *app, const struct request_ops *ops)
{
	struct application *a = (struct application *)app;
	struct requests *r = requests_of(a);
	double gap = a->config.requests_per_s == 0 ? 0 : 1e9 / a->config.requests_per_s;
	uint64_t next = UINT64_MAX, expiry;

	if (w->now < w->start_at)
		return w->start_at;
	give_up(w, a);
	if (w->now >= w->stop_at)
		return first_expiry(a);
	leave_out(w, a, gap);
	while (r->slot[IDLE].next != IDLE && r->next_at <= (double)w->now) {
		if (fg_l4_room(w) == NULL)
			return w->now;
		send_due(w, a, gap, ops);
	}
	if (r->slot[IDLE].next != IDLE)
		next = (uint64_t)r->next_at + 1;
	expiry = first_expiry(a);
	return next < expiry ? next : expiry;
}

/* The answer to what a slot waits for has come. */
static void
request_answered(struct fg_l4 *w, struct application *a, uint32_t i, const struct request_ops *ops)
{
	struct slot *list = requests_of(a)->slot;

	a->base.tally.transactions++;
	note_time(w, a->transaction, list[i].sent_at);
	retire(w, list, i);
	if (a->config.requests_per_s == 0 && w->now < w->stop_at && fg_l4_room(w) != NULL)
		send_request(w, a, i, w->now, ops);
}

bool
requests_send_again(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
		    const struct request_ops *ops)
{
	bool room = fg_l4_room(w) != NULL;

	if (room)
		write_and_send(w, a, slot, number, ops);
	return room;
}

bool
requests_waits(struct application *a, uint32_t slot, uint64_t number)
{
	const struct slot *at = &requests_of(a)->slot[slot + FIRST_SLOT];

	return at->sent_at != 0 && at->number == number;
}

bool
requests_answered(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
		  const struct request_ops *ops)
{
	bool waits = requests_waits(a, slot, number);

	if (waits)
		request_answered(w, a, slot + FIRST_SLOT, ops);
	return waits;
}

/* each slot has a port, and all of them the first address of either side */
static bool
is_from_server(const struct application *a, const struct fg_flow *flow)
{
	uint8_t server[16];

	address_at(&a->config, a->config.remote, 0, server);
	return memcmp(flow->remote, server, sizeof(server)) == 0;
}

static bool
is_of_a_slot(const struct application *a, const struct fg_flow *flow, uint32_t i)
{
	return flow->remote_port == a->config.port && flow->local_port >= a->config.port_first &&
	       i < a->config.connections + FIRST_SLOT;
}

bool
requests_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		  uint32_t length, const struct request_ops *ops)
{
	struct application *a = (struct application *)app;
	uint32_t i = flow->local_port - a->config.port_first + FIRST_SLOT;
	struct slot *slot = &requests_of(a)->slot[i];

	if (!is_of_a_slot(a, flow, i))
		return false;
	if (!is_from_server(a, flow)) {
		app->tally.own[ops->unexpected] += ops->unexpected != 0;
		return true;
	}
	if (slot->sent_at == 0) {
		if (ops->stray != NULL)
			ops->stray(a, i - FIRST_SLOT, slot->number, slot->expired, data, length);
		return true;
	}
	if (!ops->is_answer(w, a, i - FIRST_SLOT, slot->number, data, length))
		return true;
	app->tally.datagrams_in++;
	app->tally.datagram_octets_in += length - ops->header;
	request_answered(w, a, i, ops);
	return true;
}

bool
requests_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *quoted,
		     uint32_t length, const struct request_ops *ops)
{
	struct application *a = (struct application *)app;
	uint32_t i = flow->local_port - a->config.port_first + FIRST_SLOT;
	struct slot *slot = &requests_of(a)->slot[i];
	uint8_t *room = fg_datagram_room(w, flow->ipv6);
	const uint8_t *udp = quoted - sizeof(struct fg_udp);
	uint32_t bytes, fixed;

	if (!is_of_a_slot(a, flow, i) || !is_from_server(a, flow) || slot->sent_at == 0 || room == NULL)
		return false;
	if (ops->quotes != NULL && !ops->quotes(slot->number, quoted))
		return false;
	quoted += ops->header;
	length -= ops->header;
	bytes = ops->write(a, i - FIRST_SLOT, slot->number, room);
	fixed = ops->fixed == NULL ? bytes : ops->fixed(a, i - FIRST_SLOT, slot->number);
	if (memcmp(room, quoted, fg_u32_min(fixed, length)) != 0)
		return false;
	/* too little is quoted to tell it by its payload */
	if (ops->send == NULL && length < fixed && !fg_datagram_has_header(w, flow, bytes, udp))
		return false;
	app->tally.ended[FG_L4_END_REFUSED]++;
	slot->expired = true; /* an answer that comes all the same is late */
	retire(w, requests_of(a)->slot, i);
	return true;
}

int
datagrams_check(const struct fg_l4_app *a, uint32_t octets, uint32_t mtu, struct fg_error *err)
{
	return octets <= datagram_most(mtu, a->ipv6)
		       ? 0
		       : fg_error_set(err, EINVAL, "l4", "datagrams that do not fit into an MTU of %u", mtu);
}

int
requests_create(struct application *a, struct fg_error *err)
{
	uint32_t slots = a->config.server ? 0 : a->config.connections;
	struct slot *slot;

	if (a->config.server)
		return 0;
	if (slots > (uint32_t)a->config.port_last - a->config.port_first + 1)
		return fg_error_set(err, EINVAL, "l4", "%u requests at a time need as many ports", slots);
	slot = requests_of(a)->slot = calloc(slots + FIRST_SLOT, sizeof(*slot));
	if (slot == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u requests", slots);
	for (uint32_t head = 0; head < FIRST_SLOT; head++)
		slot[head].next = slot[head].previous = head;
	for (uint32_t i = 0; i < slots; i++)
		append(slot, IDLE, FIRST_SLOT + i);
	return 0;
}

void
requests_free(struct application *a)
{
	free(requests_of(a)->slot);
}

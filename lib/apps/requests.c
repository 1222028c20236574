/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of requests over UDP: see requests_priv.h. */
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
send_request(struct fg_l4 *w, struct application *a, uint32_t i, const struct request_ops *ops)
{
	struct slot *slot = &requests_of(a)->slot[i];
	struct fg_flow f;

	move_to(requests_of(a)->slot, WAITING, i);
	flow_at(a, i - FIRST_SLOT, &f);
	slot->number++;
	slot->sent_at = w->now;
	fg_datagram_send(w, &f, ops->write(a, slot->number, fg_datagram_room(w, f.ipv6)));
	a->base.tally.datagrams_out++;
}

static void
give_up(struct fg_l4 *w, struct application *a)
{
	struct slot *slot = requests_of(a)->slot;
	uint32_t i;

	while ((i = slot[WAITING].next) != WAITING && slot[i].sent_at + a->config.timeout_ns <= w->now) {
		a->base.tally.expired++;
		move_to(slot, IDLE, i);
	}
}

uint64_t
requests_poll(struct fg_l4 *w, struct fg_app *app, const struct request_ops *ops)
{
	struct application *a = (struct application *)app;
	struct slot *slot = requests_of(a)->slot;
	uint32_t first;

	if (w->now < w->start_at)
		return w->start_at;
	give_up(w, a);
	if (w->now >= w->stop_at)
		return UINT64_MAX;
	while (slot[IDLE].next != IDLE) {
		if (fg_l4_room(w) == NULL)
			return w->now;
		send_request(w, a, slot[IDLE].next, ops);
	}
	first = slot[WAITING].next;
	return first == WAITING ? UINT64_MAX : slot[first].sent_at + a->config.timeout_ns;
}

bool
requests_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		  uint32_t length, const struct request_ops *ops)
{
	struct application *a = (struct application *)app;
	uint32_t i = flow->local_port - a->config.port_first + FIRST_SLOT;
	struct slot *slot = &requests_of(a)->slot[i];

	if (flow->remote_port != a->config.port || flow->local_port < a->config.port_first ||
	    i >= a->config.connections + FIRST_SLOT)
		return false;
	if (slot->sent_at == 0 || !ops->is_answer(w, a, slot->number, data, length))
		return true; /* late, or no answer at all */
	app->tally.datagrams_in++;
	app->tally.datagram_octets_in += length;
	app->tally.transactions++;
	note_time(w, a->transaction, slot->sent_at);
	slot->sent_at = 0;
	move_to(requests_of(a)->slot, IDLE, i);
	if (w->now < w->stop_at && fg_l4_room(w) != NULL)
		send_request(w, a, i, ops);
	return true;
}

int
datagrams_check(const struct fg_l4_app *a, uint32_t octets, uint32_t mtu, struct fg_error *err)
{
	return octets + (a->ipv6 ? 48U : 28U) <= mtu
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

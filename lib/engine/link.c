/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the protocols of a link, between the control thread and a port: two rings of slots, each with one
 * writer and one reader, which both copy. There are a few frames per second, so a copy costs less than to
 * share buffers with the control thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fg_bytes.h"
#include "engine_priv.h"

enum { SLOTS = 32, LOOKS_PER_SECOND = 100 };

struct slot {
	uint16_t length;
	uint8_t octets[FG_LINK_OCTETS];
};

struct box {
	_Atomic uint32_t written; /* frames; writer: the side that fills the box */
	_Atomic uint32_t read;    /* frames; writer: the side that empties it */
	struct slot slot[SLOTS];
};

struct link {
	struct fg_task task;
	struct responder *responder;
	uint16_t type[FG_LINK_TYPES];
	unsigned types;
	uint64_t look;  /* ticks */
	struct box out; /* control fills it, the tx lcore empties it */
	struct box in;  /* the other way round */
};

/* @return whether there was room */
static bool
put(struct box *box, const uint8_t *octets, size_t length)
{
	uint32_t written = box->written;
	struct slot *slot = &box->slot[written % SLOTS];

	if (written - atomic_load_explicit(&box->read, memory_order_acquire) == SLOTS)
		return false;
	memcpy(slot->octets, octets, length);
	slot->length = (uint16_t)length;
	atomic_store_explicit(&box->written, written + 1, memory_order_release);
	return true;
}

/* the next frame, which stays there until drop(); NULL: the box is empty */
static const struct slot *
peek(const struct box *box)
{
	uint32_t read = box->read;

	return atomic_load_explicit(&box->written, memory_order_acquire) == read ? NULL
										 : &box->slot[read % SLOTS];
}

static void
drop(struct box *box)
{
	atomic_store_explicit(&box->read, box->read + 1, memory_order_release);
}

/* @return false: there is no buffer now */
static bool
send_slot(struct link *link, const struct slot *slot, uint64_t now)
{
	struct responder *r = link->responder;
	size_t length = RTE_MAX((size_t)slot->length, (size_t)FG_LINK_MIN_OCTETS);
	struct rte_mbuf *m;
	uint8_t *out = responder_buffer(r, &m);

	if (out == NULL)
		return false;
	memset(out, 0, FG_LINK_MIN_OCTETS);
	memcpy(out, slot->octets, slot->length);
	responder_send_tagged(r, m, length, NULL, 0, now);
	return true;
}

static uint64_t
link_poll(struct fg_task *task, uint64_t now)
{
	struct link *link = (struct link *)task;
	const struct slot *slot = peek(&link->out);

	if (likely(slot == NULL))
		return now + link->look;
	if (send_slot(link, slot, now))
		drop(&link->out);
	return now;
}

bool
link_take(struct link *link, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type;
	bool ours = false;

	if (m->nb_segs != 1 || m->data_len < FG_ETHER_HEADER || m->data_len > FG_LINK_OCTETS)
		return false;
	type = fg_get16(frame + FG_ETHER_HEADER - 2);
	for (unsigned i = 0; i < link->types; i++)
		ours |= link->type[i] == type;
	if (ours)
		put(&link->in, frame, m->data_len);
	return ours;
}

int
link_create(const uint16_t *type, unsigned n, struct responder *responder, struct link **out,
	    struct fg_error *err)
{
	struct link *link;

	if (n > FG_LINK_TYPES)
		return fg_error_set(err, EINVAL, "link", "%u EtherTypes; at most %d", n, FG_LINK_TYPES);
	link = calloc(1, sizeof(*link));
	if (link == NULL)
		return fg_error_set(err, ENOMEM, "link", "no memory");
	link->task.poll = link_poll;
	link->responder = responder;
	link->types = n;
	memcpy(link->type, type, n * sizeof(*type));
	link->look = fg_clock_ticks(responder->clock, 1000000000 / LOOKS_PER_SECOND);
	*out = link;
	return 0;
}

void
link_free(struct link *link)
{
	free(link);
}

struct fg_task *
link_task(struct link *link)
{
	return &link->task;
}

int
fg_engine_link_send(struct fg_engine *e, unsigned port, const uint8_t *frame, size_t length)
{
	struct link *link = e->port[port].responder.link;

	if (link == NULL)
		return -ENETDOWN;
	if (length < FG_ETHER_HEADER || length > FG_LINK_OCTETS)
		return -EMSGSIZE;
	return put(&link->out, frame, length) ? 0 : -ENOBUFS;
}

size_t
fg_engine_link_receive(struct fg_engine *e, unsigned port, uint8_t frame[FG_LINK_OCTETS])
{
	struct link *link = e->port[port].responder.link;
	const struct slot *slot = link == NULL ? NULL : peek(&link->in);
	size_t length = slot == NULL ? 0 : slot->length;

	if (slot == NULL)
		return 0;
	memcpy(frame, slot->octets, length);
	drop(&link->in);
	return length;
}

bool
fg_engine_link_waits(const struct fg_engine *e, unsigned port)
{
	const struct link *link = e->port[port].responder.link;

	return link != NULL && peek(&link->out) != NULL;
}

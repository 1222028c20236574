/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames into and out of the rings of a memif. A burst says that it is inside before it looks for the link,
 * and the port's thread takes the link away before it looks for bursts: so a link goes only when nobody is on
 * its rings.
 */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "memif_priv.h"
#include "memif_wake.h"

enum { AHEAD = 8 /* slots that are prefetched when frames are received */ };

static inline struct memif_link *
enter(const struct memif *m, struct memif_way *way)
{
	atomic_store_explicit(&way->inside, true, memory_order_seq_cst);
	return atomic_load_explicit(&m->link, memory_order_seq_cst);
}

static inline void
leave(struct memif_way *way)
{
	atomic_store_explicit(&way->inside, false, memory_order_release);
}

/*
 * What stands in a slot that the peer may write at any time, read once: what was checked is what is used. No
 * test fails without the volatile: a compiler may read twice without it, and GCC 12 does not.
 */
static inline struct memif_slot
look_at(const struct memif_slot *shared)
{
	const volatile struct memif_slot *slot = shared;

	return (struct memif_slot){
		.flags = slot->flags,
		.region = slot->region,
		.length = slot->length,
		.offset = slot->offset,
	};
}

/* @return the buffer of a slot, NULL when it is not in the memory that the peers share */
static inline uint8_t *
buffer(const struct memif_link *link, const struct memif_slot *slot, uint32_t length)
{
	uint16_t region = slot->region;
	uint64_t offset = slot->offset;

	if (region >= link->regions || offset + length > link->region[region].size)
		return NULL;
	return link->region[region].at + offset;
}

/*
 * Prefetch what is in a slot: the peer's processor has just written it, and from there it takes a hundred
 * cycles to come.
 */
static inline void
prefetch_slot(const struct memif_link *link, const struct memif_end *end, uint16_t ahead)
{
	const struct memif_slot slot = look_at(&end->ring->slot[(end->next + ahead) & (end->slots - 1)]);
	const uint8_t *at = buffer(link, &slot, 1);

	if (at != NULL)
		rte_prefetch0(at);
}

/* Copy a frame out. @return the slots it has; @p m is left empty if it is no frame that could be received */
static inline uint16_t
read_frame(const struct memif_link *link, const struct memif_end *end, uint16_t ready, struct rte_mbuf *m)
{
	uint16_t used = 0, flags;
	bool bad = false;

	do {
		const struct memif_slot slot =
			look_at(&end->ring->slot[(end->next + used++) & (end->slots - 1)]);
		const uint32_t length = slot.length;
		const uint8_t *from = buffer(link, &slot, length);

		flags = slot.flags;
		bad |= from == NULL || length > rte_pktmbuf_tailroom(m);
		if (!bad)
			memcpy(rte_pktmbuf_append(m, (uint16_t)length), from, length);
	} while ((flags & MEMIF_NEXT) != 0 && used < ready);
	if (bad || (flags & MEMIF_NEXT) != 0)
		rte_pktmbuf_reset(m);
	return used;
}

void
memif_offer_slots(struct memif_end *end)
{
	uint16_t head = atomic_load_explicit(&end->ring->head, memory_order_relaxed);
	const uint16_t full = (uint16_t)(end->next + end->slots);

	for (; head != full; head++) {
		struct memif_slot *slot = &end->ring->slot[head & (end->slots - 1)];

		slot->flags = 0;
		slot->length = MEMIF_BUFFER;
	}
	atomic_store_explicit(&end->ring->head, head, memory_order_release);
}

static inline uint16_t
receive_from(struct memif_lane *lane, const struct memif_link *link, struct memif_end *end,
	     struct rte_mbuf **frames, uint16_t n)
{
	_Atomic uint16_t *written = end->c2s ? &end->ring->head : &end->ring->tail;
	uint16_t ready = (uint16_t)(atomic_load_explicit(written, memory_order_acquire) - end->next);
	uint16_t got = 0, used = 0, i;

	ready = RTE_MIN(ready, end->slots);
	n = RTE_MIN(n, ready);
	if (n == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(lane->memif->pool, frames, n) != 0)
		return 0; /* they stay in the ring */
	for (i = 0; i < RTE_MIN(n, AHEAD); i++)
		prefetch_slot(link, end, i);
	for (i = 0; i < n && used < ready; i++) {
		uint16_t slots;

		if (used + AHEAD < ready)
			prefetch_slot(link, end, AHEAD);
		slots = read_frame(link, end, ready - used, frames[i]);

		used += slots;
		end->next += slots;
		if (frames[i]->data_len > 0)
			RTE_SWAP(frames[got], frames[i]), got++;
		else
			lane->rx.errors++;
	}
	rte_pktmbuf_free_bulk(frames + got, n - got);
	if (end->c2s)
		atomic_store_explicit(&end->ring->tail, end->next, memory_order_release);
	else
		memif_offer_slots(end);
	lane->rx.frames += got;
	return got;
}

/* a peer may send over more rings than we have lanes */
uint16_t
memif_receive(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct memif_lane *lane = (struct memif_lane *)port;
	struct memif_link *link = enter(lane->memif, &lane->rx);
	uint16_t got = 0;

	for (unsigned k = lane->index; link != NULL && k < link->rx_rings && got < n;
	     k += lane->memif->first.port.queues)
		got += receive_from(lane, link, &link->rx[k], frames + got, n - got);
	leave(&lane->rx);
	return got;
}

/* Copy a frame into as many slots as it needs. @return how many; 0: there are too few, or they are invalid */
static inline uint16_t
write_frame(const struct memif_link *link, const struct memif_end *end, uint16_t room,
	    const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t left = m->data_len;
	uint16_t used = 0;

	while (left > 0) {
		struct memif_slot *slot = &end->ring->slot[(end->next + used) & (end->slots - 1)];
		const struct memif_slot seen = look_at(slot);
		uint32_t length = end->c2s ? MEMIF_BUFFER : seen.length;
		uint8_t *to;

		length = RTE_MIN(length, left);
		to = buffer(link, &seen, length);
		if (used++ == room || length == 0 || to == NULL)
			return 0;
		memcpy(to, data, length);
		data += length;
		left -= length;
		slot->length = length;
		slot->flags = left > 0 ? MEMIF_NEXT : 0;
	}
	return used;
}

/* @return frames taken; one for which all slots of the ring together are too short is dropped */
static inline uint16_t
send_to(struct memif_lane *lane, const struct memif_link *link, struct memif_end *end,
	struct rte_mbuf **frames, uint16_t n)
{
	struct memif_ring *ring = end->ring;
	uint16_t room, sent = 0, slots;

	if (end->c2s)
		room = end->slots -
		       (uint16_t)(end->next - atomic_load_explicit(&ring->tail, memory_order_acquire));
	else
		room = atomic_load_explicit(&ring->head, memory_order_acquire) - end->next;
	room = RTE_MIN(room, end->slots);
	for (; sent < n && room > 0; sent++) {
		slots = write_frame(link, end, room, frames[sent]);
		if (slots == 0 && room < end->slots)
			break;
		lane->tx.frames += slots > 0;
		lane->tx.errors += slots == 0;
		end->next += slots;
		room -= slots;
	}
	atomic_store_explicit(end->c2s ? &ring->head : &ring->tail, end->next, memory_order_release);
	/*
	 * A receiver that is about to sleep says so and looks once more: this write comes before this look.
	 * No test is known that fails without the fence: the two change places within nanoseconds.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (sent > 0 && (*(volatile uint16_t *)&ring->flags & MEMIF_POLLED) == 0)
		memif_wake(end->wake, lane->memif->quit);
	return sent;
}

uint16_t
memif_send(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct memif_lane *lane = (struct memif_lane *)port;
	struct memif_link *link = enter(lane->memif, &lane->tx);
	uint16_t sent = link == NULL ? 0 : send_to(lane, link, &link->tx[lane->index], frames, n);

	leave(&lane->tx);
	rte_pktmbuf_free_bulk(frames, sent);
	return sent;
}

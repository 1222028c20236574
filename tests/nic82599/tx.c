/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit: descriptors are read in ring order and gathered into frames (7.2.3); contexts are kept for the
 * frames that name them. Unpaced, a ring is emptied as soon as its tail moves. Paced, all rings of a card
 * share a wire of 10 Gb/s: the frame whose start is the earliest leaves first, and its descriptors are
 * written back only then. A start is the latest of: the wire is free, no pause is in force, the rate
 * scheduler of the queue lets the frame go (7.7.2.2), software has offered it. So departures do not depend
 * on when the model's thread came to run.
 */
#include <stdlib.h>
#include <string.h>

#include "nic.h"

#define TXDCTL_ENABLE   (1u << 25)
#define TXCTL_ENABLE    1u
#define TYPE_CONTEXT    2u
#define TYPE_DATA       3u
#define COMMAND_END     (1u << 24)
#define COMMAND_REPORT  (1u << 27)
#define COMMAND_EXT     (1u << 29)
#define COMMAND_SEGMENT (1u << 31)
#define RATE_ENABLE     (1u << 31)
#define HLREG0_JUMBO    (1u << 2)
#define LONGEST         15872u /* 15.5 KB, 7.2.1.1 */

static uint32_t
part(uint32_t base, unsigned at)
{
	return base + at;
}

static bool
is_on(struct nic_card *card, unsigned queue)
{
	uint32_t base = nic_tx_queue(queue);

	return (*nic_at(card, part(base, 0x28)) & TXDCTL_ENABLE) &&
	       (*nic_at(card, NIC_DMATXCTL) & TXCTL_ENABLE) && *nic_at(card, part(base, 0x08)) >= 128 &&
	       !card->tx[queue].stuck && !card->removed;
}

static bool
has_work(struct nic_card *card, unsigned queue)
{
	uint32_t base = nic_tx_queue(queue);

	return is_on(card, queue) && *nic_at(card, part(base, 0x10)) != *nic_at(card, part(base, 0x18));
}

static void
take_context(struct nic_card *card, unsigned queue, const volatile uint32_t *d)
{
	struct nic_tx_queue *t = &card->tx[queue];
	unsigned index = d[3] >> 4 & 1;

	if (t->gathering)
		nic_breach(card, "context descriptor within a frame of queue %u", queue);
	for (unsigned i = 0; i < 4; i++)
		t->context[index][i] = d[i];
	t->has_context[index] = true;
}

static void
take_data(struct nic_card *card, unsigned queue, const volatile uint32_t *d)
{
	struct nic_tx_queue *t = &card->tx[queue];
	uint32_t length = d[2] & 0xffff;
	const void *from = host_dma(card, (uint64_t)d[1] << 32 | d[0], length);

	if (length == 0)
		nic_breach(card, "data descriptor of no bytes in queue %u", queue);
	if (t->frame == NULL)
		t->frame = malloc(NIC_TX_ROOM + NIC_TX_MAX + NIC_TX_ROOM);
	if (from != NULL && t->length + length <= NIC_TX_MAX) {
		memcpy(t->frame + NIC_TX_ROOM + t->length, from, length);
		t->length += length;
	}
}

static void
check_frame(struct nic_card *card, unsigned queue, const struct nic_order *order)
{
	const struct nic_tx_queue *t = &card->tx[queue];
	uint32_t payload = order->status >> 14;
	bool segmented = order->command & COMMAND_SEGMENT;

	if (!segmented && payload != t->length)
		nic_breach(card, "queue %u: PAYLEN %u of a frame of %u bytes", queue, payload, t->length);
	if (!segmented && t->length > LONGEST)
		nic_breach(card, "queue %u: a frame of %u bytes", queue, t->length);
	if ((order->status & 7u << 8) && !t->has_context[order->status >> 4 & 1])
		nic_breach(card, "queue %u: offload without a context", queue);
}

/* Rate factor: fixed point with 14 bits behind the point (8.2.3.10.16); 1 when the queue is not limited */
static double
rate_factor(uint32_t rate)
{
	return (rate & RATE_ENABLE) ? (rate >> 14 & 0x3ff) + (rate & 0x3fff) / 16384.0 : 1;
}

static double
earliest(const struct nic_card *card, unsigned queue)
{
	const struct nic_tx_queue *t = &card->tx[queue];
	double start = t->offered_ns;

	if (nic_options.paced) {
		start = card->wire_free_ns > start ? card->wire_free_ns : start;
		start = t->next_ns > start ? t->next_ns : start;
		start = card->paused_until_ns > start ? card->paused_until_ns : start;
	}
	return start;
}

static void
send_gathered(struct nic_card *card, unsigned queue, struct nic_order *order)
{
	struct nic_tx_queue *t = &card->tx[queue];

	check_frame(card, queue, order);
	card->wire_free_ns = order->at_ns;
	card->order_ns =
		0; /* kept by itself: a difference of two times has lost too many digits to be multiplied */
	if (t->frame != NULL && t->length != 0)
		nic_offload(card, order);
	if (t->rate & RATE_ENABLE) /* assumed: the factor counts preamble and gap, as wire time does */
		t->next_ns = order->at_ns + card->order_ns * rate_factor(t->rate);
	t->length = 0;
}

/* One descriptor. @return whether it ended a frame */
static bool
step(struct nic_card *card, unsigned queue, volatile uint32_t *d, struct nic_order *order)
{
	struct nic_tx_queue *t = &card->tx[queue];
	uint32_t command = d[2], status = d[3];
	bool ends = command & COMMAND_END;

	if (!(command & COMMAND_EXT)) {
		nic_breach(card, "queue %u: a legacy descriptor, which the model has not", queue);
		return true;
	}
	if ((command >> 20 & 15) == TYPE_CONTEXT) {
		take_context(card, queue, d);
		return false;
	}
	if ((command >> 20 & 15) != TYPE_DATA)
		nic_breach(card, "queue %u: descriptor of type %u", queue, command >> 20 & 15);
	if ((command & COMMAND_REPORT) && !ends)
		nic_breach(card, "queue %u: RS without EOP", queue);
	if (!t->gathering) {
		order->command = command;
		order->status = status;
	}
	take_data(card, queue, d);
	t->gathering = !ends;
	if (ends)
		send_gathered(card, queue, order);
	if (command & COMMAND_REPORT)
		host_write_back(card, &d[3], status | 1, 4);
	return ends;
}

/* @return whether a frame left; false: the ring is empty, or holds part of one, or memory is not mapped */
static bool
send_one(struct nic_card *card, unsigned queue, double at_ns)
{
	uint32_t base = nic_tx_queue(queue), count = *nic_at(card, part(base, 0x08)) / 16;
	uint32_t *head = nic_at(card, part(base, 0x10)), tail = *nic_at(card, part(base, 0x18));
	uint64_t back = (uint64_t)*nic_at(card, part(base, 0x3c)) << 32 | *nic_at(card, part(base, 0x38));
	struct nic_order order = {.queue = queue, .at_ns = at_ns};
	volatile uint32_t *ring =
		host_dma(card, (uint64_t)*nic_at(card, part(base, 0x04)) << 32 | *nic_at(card, base),
			 (uint64_t)count * 16);
	bool sent = false;

	while (ring != NULL && !sent && *head != tail) {
		sent = step(card, queue, &ring[*head * 4], &order);
		*head = *head + 1 == count ? 0 : *head + 1;
	}
	if (back & 1 && host_dma(card, back & ~3ull, 4) != NULL) /* head write-back, 7.2.3.5.2 */
		host_write_back(card, host_dma(card, back & ~3ull, 4), *head, 4);
	return sent;
}

bool
nic_transmit(struct nic_card *card, unsigned queue, double now_ns)
{
	while (has_work(card, queue) && send_one(card, queue, now_ns))
		;
	return false;
}

/*
 * The queue that may send the soonest; among equals the one whose turn it is. @return -1: none has
 * anything
 */
static int
next_queue(struct nic_card *card, double *start_ns)
{
	int best = -1;

	for (unsigned i = 0; i < NIC_QUEUES; i++) {
		unsigned queue = (card->tx_next + i) % NIC_QUEUES;

		if (has_work(card, queue) && (best < 0 || earliest(card, queue) < *start_ns)) {
			best = (int)queue;
			*start_ns = earliest(card, queue);
		}
	}
	return best;
}

static bool
run_card(struct nic_card *card, double now_ns)
{
	double start_ns = 0;
	int queue;

	for (unsigned sent = 0; sent < 256; sent++) {
		queue = next_queue(card, &start_ns);
		if (queue < 0)
			return false;
		if (start_ns > now_ns)
			return true;
		card->tx_next = ((unsigned)queue + 1) % NIC_QUEUES;
		if (!send_one(card, (unsigned)queue, start_ns))
			return false;
	}
	return true;
}

bool
nic_run(double now_ns)
{
	bool waiting = false;

	for (unsigned i = 0; i < nic_options.cards; i++)
		waiting |= run_card(&nic_cards[i], now_ns);
	return waiting;
}

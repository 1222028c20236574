/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's memory as the cards see it: the ranges that VFIO was told to map, each with its own bus
 * addresses (equal to the program's with IOVA as VA, physical ones on huge pages), the stores that
 * a program polls, and interrupts. A bus address outside all ranges is a breach and touches nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define RANGES 8192

/* in the order of their bus addresses; pages that were mapped one by one are one range */
static struct range {
	uint64_t address, bus, length;
} ranges[RANGES];
static unsigned range_count;

static struct {
	volatile void *to;
	uint64_t value;
	unsigned bytes;
	double due_ns;
} delayed[NIC_MAX_DELAYED];
static unsigned delayed_first, delayed_count;
static unsigned draw_state = 1;

static int interrupts[NIC_CARDS][NIC_VECTORS];

/* @return the number of ranges that begin at @p bus or before it */
static unsigned
ranges_until(uint64_t bus)
{
	unsigned low = 0, high = range_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (ranges[middle].bus <= bus)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
host_dma_map(uint64_t address, uint64_t bus, uint64_t length)
{
	unsigned at = ranges_until(bus);
	struct range *before = at > 0 ? &ranges[at - 1] : NULL;

	if (before != NULL && before->bus + before->length == bus &&
	    before->address + before->length == address) {
		before->length += length;
		return true;
	}
	if (range_count == RANGES)
		return false;
	memmove(&ranges[at + 1], &ranges[at], (range_count++ - at) * sizeof(*ranges));
	ranges[at] = (struct range){.address = address, .bus = bus, .length = length};
	return true;
}

static void
check_rings(uint64_t bus, uint64_t length)
{
	for (unsigned i = 0; i < nic_options.cards; i++)
		for (unsigned q = 0; q < 2 * NIC_QUEUES; q++) {
			struct nic_card *card = &nic_cards[i];
			uint32_t base = q < NIC_QUEUES ? nic_rx_queue(q) : nic_tx_queue(q - NIC_QUEUES);
			uint64_t ring = (uint64_t)*nic_at(card, base + 4) << 32 | *nic_at(card, base);

			if ((*nic_at(card, base + 0x28) & 1u << 25) && ring >= bus && ring < bus + length)
				nic_breach(card, "memory of a ring is unmapped while its queue is enabled");
		}
}

void
host_dma_unmap(uint64_t bus, uint64_t length)
{
	check_rings(bus, length);
	for (unsigned i = range_count; i-- > 0;) {
		const struct range r = ranges[i];
		const uint64_t end = r.bus + r.length;

		if (r.bus >= bus + length || end <= bus)
			continue;
		memmove(&ranges[i], &ranges[i + 1], (--range_count - i) * sizeof(*ranges));
		if (r.bus < bus)
			host_dma_map(r.address, r.bus, bus - r.bus);
		if (end > bus + length)
			host_dma_map(r.address + (bus + length - r.bus), bus + length, end - bus - length);
	}
}

void *
host_dma(struct nic_card *card, uint64_t bus, uint64_t length)
{
	unsigned until = ranges_until(bus);
	const struct range *r = until > 0 ? &ranges[until - 1] : NULL;

	if (card->removed)
		return NULL;
	if (r != NULL && bus + length <= r->bus + r->length)
		return (void *)(uintptr_t)(r->address + (bus - r->bus));
	nic_breach(card, "DMA of %lu bytes at 0x%lx, which is not mapped", (unsigned long)length,
		   (unsigned long)bus);
	return NULL;
}

static void
put(volatile void *to, uint64_t value, unsigned bytes)
{
	if (bytes == 8)
		__atomic_store_n((volatile uint64_t *)to, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((volatile uint32_t *)to, (uint32_t)value, __ATOMIC_RELEASE);
}

static void
release_first(void)
{
	put(delayed[delayed_first].to, delayed[delayed_first].value, delayed[delayed_first].bytes);
	delayed_first = (delayed_first + 1) % NIC_MAX_DELAYED;
	delayed_count--;
}

bool
host_release_writes(double now_ns)
{
	while (delayed_count != 0 && delayed[delayed_first].due_ns <= now_ns)
		release_first();
	return delayed_count != 0;
}

/*
 * Uniform from 0 to the most that was asked for: by seed, so that a run with the same accesses has the
 * same delays
 */
static double
draw_delay_ns(void)
{
	draw_state = draw_state * 1664525u + 1013904223u + nic_options.chaos;
	return nic_options.write_back_us * 1e3 * (draw_state >> 8) / (1 << 24);
}

/* Never past an earlier one: a ring's descriptors come back in order */
void
host_write_back(struct nic_card *card, volatile void *to, uint64_t value, unsigned bytes)
{
	unsigned at;

	(void)card;
	if (nic_options.write_back_us == 0) {
		put(to, value, bytes);
		return;
	}
	if (delayed_count == NIC_MAX_DELAYED)
		release_first();
	at = (delayed_first + delayed_count++) % NIC_MAX_DELAYED;
	delayed[at].to = to;
	delayed[at].value = value;
	delayed[at].bytes = bytes;
	delayed[at].due_ns = host_now_ns() + draw_delay_ns();
}

/* Descriptor 0 is nobody's eventfd, so 0 means none */
void
host_set_interrupt(struct nic_card *card, unsigned vector, int fd)
{
	if (vector < NIC_VECTORS)
		interrupts[card->index][vector] = fd > 0 ? fd : 0;
}

void
host_interrupt(struct nic_card *card, unsigned vector)
{
	uint64_t one = 1;
	int fd = vector < NIC_VECTORS ? interrupts[card->index][vector] : 0;

	if (fd != 0 && write(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		nic_breach(card, "the event of vector %u cannot be written", vector);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the card does to a frame on its way out: check sums, segmentation, the VLAN tag (7.2.4, 7.2.5). */
#include <string.h>

#include "nic.h"

#define COMMAND_FCS     (1u << 25)
#define COMMAND_VLAN    (1u << 30)
#define COMMAND_SEGMENT (1u << 31)
#define COMMAND_STAMP   (1u << 19)
#define SUM_IP          (1u << 8)
#define SUM_L4          (1u << 9)
#define DOUBLE_VLAN     (1u << 3) /* DMATXCTL.GDV */

/* The context of the frame, taken apart (7.2.3.2.3) */
struct context {
	uint32_t l2, l3, l4, segment;
	uint16_t vlan;
	unsigned type; /* 0 UDP, 1 TCP, 2 SCTP */
	bool v4;
};

static struct context
read_context(const struct nic_card *card, const struct nic_order *order)
{
	const uint32_t *c = card->tx[order->queue].context[order->status >> 4 & 1];

	return (struct context){.l2 = c[0] >> 9 & 0x7f,
				.l3 = c[0] & 0x1ff,
				.l4 = c[3] >> 8 & 0xff,
				.segment = c[3] >> 16,
				.vlan = (uint16_t)(c[0] >> 16),
				.type = c[2] >> 11 & 3,
				.v4 = c[2] >> 10 & 1};
}

static void
put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned
get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static uint16_t
complement(uint32_t sum)
{
	return (uint16_t)~nic_fold(sum);
}

static void
sum_ip(uint8_t *ip, uint32_t length)
{
	put16(ip + 10, 0);
	put16(ip + 10, complement(nic_sum(ip, length, 0)));
}

/* The field holds the sum of the pseudo-header, which software put there */
static void
sum_l4(uint8_t *frame, uint32_t length, const struct context *c)
{
	uint8_t *ip = frame + c->l2, *l4 = ip + c->l3, *field = l4 + (c->type == 1 ? 16 : 6);
	uint32_t covered = c->v4 ? get16(ip + 2) - c->l3 : get16(ip + 4) + 40 - c->l3;
	uint16_t sum;

	if (c->type == 2 || c->l2 + c->l3 + 8 > length)
		return;
	if (covered > length - c->l2 - c->l3)
		covered = length - c->l2 - c->l3;
	sum = complement(nic_sum(l4, covered, 0));
	put16(field, c->type == 0 && sum == 0 ? 0xffff : sum);
}

static void
send_tagged(struct nic_card *card, const struct nic_order *order, uint8_t *frame, uint32_t length,
	    uint16_t vlan, bool stamped)
{
	uint32_t control = *nic_at(card, NIC_DMATXCTL);
	unsigned at = (control & DOUBLE_VLAN) && get16(frame + 12) == control >> 16 ? 16 : 12;

	if (order->command & COMMAND_VLAN) {
		memmove(frame - 4, frame, at);
		frame -= 4;
		length += 4;
		put16(frame + at, *nic_at(card, NIC_VLNCTRL) & 0xffff);
		put16(frame + at + 2, vlan);
	}
	nic_send(card, order, frame, length, stamped);
}

/* Headers of segment I that holds BYTES from OFFSET on (7.2.4.6) */
static void
finish_segment(uint8_t *s, const struct context *c, const struct nic_order *order, uint32_t i,
	       uint32_t offset, uint32_t bytes, bool last)
{
	uint8_t *ip = s + c->l2, *l4 = ip + c->l3;
	uint32_t sequence = get16(l4 + 4) << 16 | get16(l4 + 6);

	if (c->v4) {
		put16(ip + 2, c->l3 + c->l4 + bytes);
		put16(ip + 4, get16(ip + 4) + i);
		if (order->status & SUM_IP)
			sum_ip(ip, c->l3);
	} else
		put16(ip + 4, c->l3 - 40 + c->l4 + bytes);
	if (c->type == 1) {
		put16(l4 + 4, (sequence + offset) >> 16);
		put16(l4 + 6, (sequence + offset) & 0xffff);
		if (!last)
			l4[13] &= (uint8_t)~0x09; /* FIN and PSH are the last one's */
		put16(l4 + 16, complement(nic_sum(l4, c->l4 + bytes, c->l4 + bytes)));
	} else {
		put16(l4 + 4, c->l4 + bytes);
		put16(l4 + 6, complement(nic_sum(l4, c->l4 + bytes, c->l4 + bytes)));
	}
}

static void
send_segments(struct nic_card *card, const struct nic_order *order, const uint8_t *frame, uint32_t length,
	      const struct context *c)
{
	static uint8_t room[NIC_TX_ROOM + NIC_FRAME];
	uint8_t *segment = room + NIC_TX_ROOM;
	uint32_t headers = c->l2 + c->l3 + c->l4, count = 0;

	if (c->segment == 0 || headers > length || headers + c->segment > NIC_FRAME - 8) {
		nic_breach(card, "segmentation by %u bytes after %u bytes of headers", c->segment, headers);
		return;
	}
	for (uint32_t at = headers; at < length; at += c->segment, count++) {
		uint32_t bytes = length - at < c->segment ? length - at : c->segment;

		memcpy(segment, frame, headers);
		memcpy(segment + headers, frame + at, bytes);
		finish_segment(segment, c, order, count, at - headers, bytes, at + bytes == length);
		send_tagged(card, order, segment, headers + bytes, c->vlan,
			    (order->command & COMMAND_STAMP) && count == 0);
	}
}

void
nic_offload(struct nic_card *card, const struct nic_order *order)
{
	struct nic_tx_queue *t = &card->tx[order->queue];
	struct context c = read_context(card, order);
	uint8_t *frame = t->frame + NIC_TX_ROOM;

	if (order->command & COMMAND_SEGMENT) {
		if (!(order->command & COMMAND_FCS))
			nic_breach(card, "segmentation without IFCS");
		send_segments(card, order, frame, t->length, &c);
		return;
	}
	if ((order->status & SUM_IP) && c.v4 && c.l2 + c.l3 <= t->length)
		sum_ip(frame + c.l2, c.l3);
	if (order->status & SUM_L4)
		sum_l4(frame, t->length, &c);
	send_tagged(card, order, frame, t->length, c.vlan, order->command & COMMAND_STAMP);
}

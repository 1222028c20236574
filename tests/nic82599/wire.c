/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a frame from one MAC to the other: padding, FCS, counters, time on the wire, and who is at
 * its end.
 */
#include <string.h>

#include "nic.h"

#define COMMAND_FCS     (1u << 25)
#define HLREG0_PAD      (1u << 10)
#define HLREG0_LOOPBACK (1u << 15)
#define HLREG0_STRIP    (1u << 1)
#define OVERHEAD        20u /* preamble, delimiter and the gap between frames, in bytes */

double
nic_wire_ns(uint32_t length_with_fcs)
{
	return (length_with_fcs + OVERHEAD) * 8 / NIC_RATE_WIRE * 1e9;
}

static struct nic_card *
receiver_of(struct nic_card *card)
{
	if (*nic_at(card, NIC_HLREG0) & HLREG0_LOOPBACK)
		return card;
	return nic_link_is_up(card) && card->peer >= 0 ? &nic_cards[card->peer] : NULL;
}

/* The statistics counter that TQSM gives the queue (8.2.3.23.65) */
static void
count_sent(struct nic_card *card, unsigned queue, const uint8_t *frame, uint32_t length)
{
	unsigned counter = *nic_at(card, NIC_TQSM + (queue & ~3u)) >> (queue & 3) * 8 & 15;

	nic_count(card, NIC_TPT, 1);
	card->sent++;
	nic_count(card, NIC_GPTC, 1);
	nic_count64(card, NIC_GOTCL, length);
	nic_count_size(card, NIC_PTC64, length);
	nic_count(card, NIC_QPTC + 0x40 * counter, 1);
	nic_count64(card, NIC_QBTC + 8 * counter, length - 4);
	if (frame[0] & 1)
		nic_count(card, frame[1] == 0xff && frame[2] == 0xff ? NIC_BPTC : NIC_MPTC, 1);
}

/*
 * The FCS is computed only where somebody looks at it: it costs more than all else. @return whether it is
 * wrong
 */
static bool
finish_fcs(const struct nic_card *to, uint8_t *frame, uint32_t length, bool own_fcs)
{
	bool looked_at =
		nic_options.capture != NULL || (to != NULL && !(to->reg[NIC_HLREG0 / 4] & HLREG0_STRIP));
	uint32_t crc;

	if (!own_fcs && !looked_at)
		return false;
	crc = nic_crc(frame, length - 4);
	if (own_fcs)
		return memcmp(&crc, frame + length - 4, 4) != 0;
	memcpy(frame + length - 4, &crc, 4);
	return false;
}

void
nic_send(struct nic_card *card, const struct nic_order *order, uint8_t *frame, uint32_t length, bool stamped)
{
	bool own_fcs = !(order->command & COMMAND_FCS), bad;
	struct nic_card *to = receiver_of(card);
	double at_ns = card->wire_free_ns;

	if (length < (own_fcs ? 18u : 14u))
		return;
	if (card->swallow_tx > 0) {
		card->swallow_tx--;
		return;
	}
	if (!own_fcs) {
		if (length < 60 && (*nic_at(card, NIC_HLREG0) & HLREG0_PAD)) {
			memset(frame + length, 0, 60 - length);
			length = 60;
		}
		length += 4;
	}
	bad = finish_fcs(to, frame, length, own_fcs);
	if (stamped)
		nic_stamp_sent(card, at_ns);
	count_sent(card, order->queue, frame, length);
	host_capture(card, frame, length, at_ns);
	card->wire_free_ns = at_ns + nic_wire_ns(length);
	card->order_ns += nic_wire_ns(length);
	if (to != NULL)
		nic_receive(to, frame, length, bad, at_ns);
}

/* Pause frames are the MAC's own: they wait for nothing but the frame on the wire */
void
nic_send_pause(struct nic_card *card, uint16_t quanta, double at_ns)
{
	uint8_t frame[64] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	struct nic_card *to = receiver_of(card);
	uint32_t crc;

	memcpy(frame + 6, nic_at(card, NIC_RAL), 4);
	memcpy(frame + 10, nic_at(card, NIC_RAH), 2);
	frame[12] = 0x88;
	frame[13] = 0x08;
	frame[15] = 1;
	frame[16] = (uint8_t)(quanta >> 8);
	frame[17] = (uint8_t)quanta;
	crc = nic_crc(frame, 60);
	memcpy(frame + 60, &crc, 4);
	nic_count(card, NIC_TPT, 1);
	host_capture(card, frame, 64, at_ns);
	if (to != NULL && to != card)
		nic_receive(to, frame, 64, false, at_ns);
}

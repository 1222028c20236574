/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: the MAC judges the frame, filters choose a queue, descriptors take it (7.1). A frame that finds
 * no descriptor waits in the packet buffer with all behind it, unless its queue drops (SRRCTL.Drop_En); a
 * full buffer makes it a miss, or, with pause frames on, makes the card ask its peer to stop.
 */
#include <string.h>

#include "nic.h"

#define HLREG0_STRIP_FCS  (1u << 1)
#define HLREG0_JUMBO      (1u << 2)
#define RXDCTL_ENABLE     (1u << 25)
#define RXDCTL_STRIP_VLAN (1u << 30)
#define SRRCTL_DROP       (1u << 28)
#define STATUS_DONE       1u
#define STATUS_END        2u
#define STATUS_VLAN       (1u << 3)
#define FCTRL_BAD_FRAMES  (1u << 1)
#define MFLCN_PAUSE       (1u << 3)
#define FCCFG_PAUSE       (1u << 3)
#define ERROR_FCS         (1u << 29)

struct stored {
	uint32_t length;
	uint32_t bad_fcs;
};

void
nic_count_size(struct nic_card *card, uint32_t first, uint32_t length)
{
	unsigned bin = length <= 64    ? 0
		       : length < 128  ? 1
		       : length < 256  ? 2
		       : length < 512  ? 3
		       : length < 1024 ? 4
				       : 5;

	nic_count(card, first + 4 * bin, 1);
}

/* The statistics counter that RQSMR gives the queue */
static unsigned
statistics_of(struct nic_card *card, unsigned queue)
{
	return *nic_at(card, NIC_RQSMR + (queue & ~3u)) >> (queue & 3) * 8 & 15;
}

static uint32_t
free_descriptors(struct nic_card *card, uint32_t base)
{
	uint32_t length = *nic_at(card, base + 0x08) / 16, head = *nic_at(card, base + 0x10),
		 tail = *nic_at(card, base + 0x18);

	return tail >= head ? tail - head : length - head + tail;
}

/* The descriptor as the card writes it back (7.1.6.2) */
static void
write_descriptor(struct nic_card *card, volatile uint64_t *at, const struct nic_packet *p, uint32_t length,
		 bool last)
{
	uint64_t status = STATUS_DONE | (last ? STATUS_END | p->status | p->errors : 0);

	at[0] = (uint64_t)p->hash << 32 | p->packet_type | p->rss_type;
	host_write_back(card, &at[1],
			(uint64_t)(p->vlan >= 0 ? p->vlan : 0) << 48 | (uint64_t)length << 32 | status, 8);
}

/* @return false: no descriptor, try again when software has given some */
static bool
place(struct nic_card *card, unsigned queue, const uint8_t *frame, uint32_t length,
      const struct nic_packet *p)
{
	uint32_t base = nic_rx_queue(queue), control = *nic_at(card, base + 0x14),
		 count = *nic_at(card, base + 8) / 16;
	uint32_t size = (control & 0x1f) * 1024, needed, head = *nic_at(card, base + 0x10);
	volatile uint64_t *ring;

	if (card->swallow_dma > 0) {
		card->swallow_dma--;
		nic_count(card, NIC_QPRC + 0x40 * statistics_of(card, queue), 1);
		return true;
	}
	if (!(*nic_at(card, base + 0x28) & RXDCTL_ENABLE) || count == 0 || card->rx_stuck[queue])
		return !card->rx_stuck[queue]; /* a queue that is off swallows every frame */
	if ((control >> 25 & 7) != 1)
		nic_breach(card, "queue %u receives with SRRCTL.DESCTYPE %u, which the model has not", queue,
			   control >> 25 & 7);
	if (size == 0)
		size = 2048;
	needed = (length + size - 1) / size;
	if (free_descriptors(card, base) < needed)
		return false;
	ring = host_dma(card, (uint64_t)*nic_at(card, base + 4) << 32 | *nic_at(card, base),
			(uint64_t)count * 16);
	if (ring == NULL)
		return true;
	for (uint32_t i = 0, done = 0; i < needed; i++, done += size) {
		uint32_t part = length - done < size ? length - done : size;
		void *to = host_dma(card, ring[head * 2], part);

		if (to == NULL)
			return true;
		memcpy(to, frame + done, part);
		write_descriptor(card, &ring[head * 2], p, part, i + 1 == needed);
		head = head + 1 == count ? 0 : head + 1;
	}
	*nic_at(card, base + 0x10) = head;
	nic_count(card, NIC_QPRC + 0x40 * statistics_of(card, queue), 1);
	nic_count64(card, NIC_QBRC_L + 0x40 * statistics_of(card, queue), length);
	nic_interrupt_queue(card, queue);
	return true;
}

static bool
deliver(struct nic_card *card, const uint8_t *frame, uint32_t length, bool bad_fcs, double at_ns)
{
	struct nic_packet p = {.data = frame, .length = length - 4, .at_ns = at_ns};
	static uint8_t untagged[NIC_FRAME];
	unsigned queue;

	nic_parse(card, &p);
	if (!nic_choose_queue(card, &p, &queue)) {
		card->filtered++;
		return true;
	}
	nic_check_sums(&p);
	nic_stamp_received(card, &p);
	p.errors |= bad_fcs ? ERROR_FCS : 0;
	if (*nic_at(card, NIC_HLREG0) & HLREG0_STRIP_FCS)
		length -= 4;
	if (p.vlan >= 0)
		p.status |= STATUS_VLAN;
	if (p.vlan >= 0 && (*nic_at(card, nic_rx_queue(queue) + 0x28) & RXDCTL_STRIP_VLAN)) {
		memcpy(untagged, frame, p.tag_at);
		memcpy(untagged + p.tag_at, frame + p.tag_at + 4, length - p.tag_at - 4);
		frame = untagged;
		length -= 4;
	}
	if (place(card, queue, frame, length, &p))
		return true;
	if (!(*nic_at(card, nic_rx_queue(queue) + 0x14) & SRRCTL_DROP))
		return false;
	nic_count(card, NIC_QPRDC + 0x40 * statistics_of(card, queue), 1);
	card->misses++;
	return true;
}

static uint32_t
room_of(uint32_t length)
{
	return (uint32_t)((sizeof(struct stored) + length + 7) & ~7u);
}

void
nic_drain(struct nic_card *card, double at_ns)
{
	while (card->buffer_used != 0) {
		struct stored s;

		memcpy(&s, card->buffer + card->buffer_head, sizeof(s));
		if (!deliver(card, card->buffer + card->buffer_head + sizeof(s), s.length, s.bad_fcs != 0,
			     at_ns))
			break;
		card->buffer_head += room_of(s.length);
		card->buffer_used -= room_of(s.length);
		if (card->buffer_head >= NIC_BUFFER)
			card->buffer_head = 0;
	}
	if (card->sent_xoff && card->buffer_used < (*nic_at(card, NIC_FCRTL) & 0x7ffe0)) {
		card->sent_xoff = false;
		nic_count(card, NIC_LXONTXC, 1);
		nic_send_pause(card, 0, at_ns);
	}
}

/*
 * XOFF, and again once the peer's pause has FCRTV quanta left (8.2.3.3.5). The model has no timer for it: it
 * is sent when the next frame comes, so the peer sends a frame in between.
 */
static void
ask_to_stop(struct nic_card *card, double at_ns)
{
	uint32_t quanta = *nic_at(card, NIC_FCTTV) & 0xffff,
		 again = quanta - (*nic_at(card, NIC_FCRTV) & 0xffff);

	if (card->sent_xoff && at_ns < card->xoff_ns + again * 512 / NIC_RATE_WIRE * 1e9)
		return;
	card->sent_xoff = true;
	card->xoff_ns = at_ns;
	nic_count(card, NIC_LXOFFTXC, 1);
	nic_send_pause(card, (uint16_t)quanta, at_ns);
}

static void
store(struct nic_card *card, const uint8_t *frame, uint32_t length, bool bad_fcs, double at_ns)
{
	struct stored s = {length, bad_fcs};
	uint32_t high = *nic_at(card, NIC_FCRTH);

	if (card->buffer_used + room_of(length) + NIC_FRAME > NIC_BUFFER) {
		nic_count(card, NIC_RXMPC, 1);
		card->misses++;
		return;
	}
	memcpy(card->buffer + card->buffer_tail, &s, sizeof(s));
	memcpy(card->buffer + card->buffer_tail + sizeof(s), frame, length);
	card->buffer_tail += room_of(length);
	card->buffer_used += room_of(length);
	if (card->buffer_tail >= NIC_BUFFER)
		card->buffer_tail = 0;
	if ((*nic_at(card, NIC_FCCFG) & FCCFG_PAUSE) && high >> 31 && card->buffer_used > (high & 0x7ffe0))
		ask_to_stop(card, at_ns);
}

/* IEEE 802.3 annex 31B: quanta of 512 bit times. @return whether the MAC takes the frame for itself */
static bool
is_pause(struct nic_card *card, const uint8_t *frame, double at_ns)
{
	static const uint8_t head[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	unsigned quanta = (unsigned)frame[16] << 8 | frame[17];

	if (memcmp(frame, head, 6) != 0 || frame[12] != 0x88 || frame[13] != 0x08 || frame[15] != 1 ||
	    !(*nic_at(card, NIC_MFLCN) & MFLCN_PAUSE))
		return false;
	nic_count(card, quanta != 0 ? NIC_LXOFFRXCNT : NIC_LXONRXCNT, 1);
	card->paused_until_ns = at_ns + quanta * 512 / NIC_RATE_WIRE * 1e9;
	return true;
}

/* @return whether the MAC drops the frame as damaged, too short or too long */
static bool
is_erroneous(struct nic_card *card, const uint8_t *frame, uint32_t length, bool bad_fcs)
{
	uint32_t most = (*nic_at(card, NIC_HLREG0) & HLREG0_JUMBO) ? *nic_at(card, NIC_MAXFRS) >> 16 : 1518;

	if (frame[12] == 0x81 && frame[13] == 0x00)
		most += 4;
	if (length < 64)
		nic_count(card, bad_fcs ? NIC_RFC : NIC_RUC, 1);
	else if (length > most)
		nic_count(card, bad_fcs ? NIC_RJC : NIC_ROC, 1);
	else if (bad_fcs) {
		nic_count(card, NIC_CRCERRS, 1);
		return !(*nic_at(card, NIC_FCTRL) & FCTRL_BAD_FRAMES);
	} else
		return false;
	return true;
}

void
nic_receive(struct nic_card *card, const uint8_t *frame, uint32_t length, bool bad_fcs, double at_ns)
{
	struct nic_packet p = {.data = frame, .length = length - 4};
	bool multicast = frame[0] & 1;

	if (!nic_link_is_up(card))
		return;
	nic_count(card, NIC_TPR, 1);
	nic_count64(card, NIC_TORL, length);
	if (!(*nic_at(card, NIC_RXCTRL) & 1) || is_erroneous(card, frame, length, bad_fcs) ||
	    is_pause(card, frame, at_ns))
		return;
	nic_parse(card, &p);
	if (!nic_accepts(card, &p)) {
		card->filtered++;
		return;
	}
	nic_count_size(card, NIC_PRC64, length);
	nic_count(card, NIC_GPRC, 1);
	nic_count64(card, NIC_GORCL, length);
	if (multicast)
		nic_count(card, frame[1] == 0xff && frame[2] == 0xff ? NIC_BPRC : NIC_MPRC, 1);
	if (card->swallow_rx > 0) {
		card->swallow_rx--;
		return;
	}
	nic_drain(card, at_ns);
	if (card->buffer_used != 0 || !deliver(card, frame, length, bad_fcs, at_ns))
		store(card, frame, length, bad_fcs, at_ns);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IEEE 1588 (7.9): a clock that grows by TIMINCA.IV every TIMINCA.IP cycles of 6.4 ns at 10 Gb/s, and one
 * stamp each for transmit and receive, which holds until its high half is read. Stamps are of the wire:
 * when the frame begins.
 */
#include <string.h>

#include "nic.h"

#define CYCLE_NS   6.4
#define ENABLE     (1u << 4)
#define VALID      1u
#define ETQF_1588  (1u << 30)
#define ETQF_ON    (1u << 31)
#define PORT_EVENT 319
#define STATUS_TS  (1u << 16)

uint64_t
nic_time(struct nic_card *card, double at_ns)
{
	uint32_t increment = *nic_at(card, NIC_TIMINCA), period = increment >> 24;
	double cycles = (at_ns - card->time_ns) / CYCLE_NS;

	if (period == 0 || cycles < 0)
		return card->time_base;
	return card->time_base + (uint64_t)(cycles / period) * (increment & 0xffffff);
}

void
nic_time_write(struct nic_card *card, uint32_t offset, uint32_t value)
{
	double now = host_now_ns();

	if (offset == NIC_TIMINCA) {
		card->time_base = nic_time(card, now);
		*nic_at(card, offset) = value;
	} else if (offset == NIC_SYSTIML)
		card->time_base = (card->time_base & ~0xffffffffull) | value;
	else
		card->time_base = (uint64_t)value << 32 | (uint32_t)card->time_base;
	card->time_ns = now;
}

/* The PTP header of an event message, layer 2 by an EtherType filter or UDP to port 319; NULL: none */
static const uint8_t *
event_header(struct nic_card *card, const struct nic_packet *p)
{
	uint32_t type = *nic_at(card, NIC_TSYNCRXCTL) >> 1 & 7;
	bool l2 = type == 0 || type == 2 || type == 5, udp = type == 1 || type == 2 || type == 5;

	for (unsigned i = 0; l2 && i < 8; i++) {
		uint32_t filter = *nic_at(card, NIC_ETQF + 4 * i);

		if ((filter & ETQF_ON) && (filter & ETQF_1588) && p->ethertype == (filter & 0xffff))
			return p->data + p->l2_length;
	}
	if (udp && p->protocol == 17 && ((unsigned)p->l4[2] << 8 | p->l4[3]) == PORT_EVENT)
		return p->l4 + 8;
	return NULL;
}

void
nic_stamp_received(struct nic_card *card, struct nic_packet *p)
{
	uint32_t control = *nic_at(card, NIC_TSYNCRXCTL), type = control >> 1 & 7;
	const uint8_t *header = (control & ENABLE) ? event_header(card, p) : NULL;
	uint64_t now;

	if (header == NULL || (control & VALID))
		return;
	if (type == 0 && (header[0] & 15) != (*nic_at(card, NIC_RXMTRL) >> 8 & 15))
		return;
	now = nic_time(card, p->at_ns);
	*nic_at(card, NIC_RXSTMPL) = (uint32_t)now;
	*nic_at(card, NIC_RXSTMPH) = (uint32_t)(now >> 32);
	*nic_at(card, NIC_RXSATRH) = (uint32_t)header[30] | (uint32_t)header[31] << 8;
	*nic_at(card, NIC_TSYNCRXCTL) |= VALID;
	p->status |= STATUS_TS;
}

void
nic_stamp_sent(struct nic_card *card, double at_ns)
{
	uint32_t control = *nic_at(card, NIC_TSYNCTXCTL);
	uint64_t now = nic_time(card, at_ns);

	if (!(control & ENABLE) || (control & VALID))
		return;
	*nic_at(card, NIC_TXSTMPL) = (uint32_t)now;
	*nic_at(card, NIC_TXSTMPH) = (uint32_t)(now >> 32);
	*nic_at(card, NIC_TSYNCTXCTL) |= VALID;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The register file: values after reset, what a read or a write does beside storing, and what software
 * must not do.
 */
#include <stdio.h>
#include <string.h>

#include "nic.h"

#define OCTETS_MAX        ((1ull << 36) - 1)
#define CTRL_GIO_DISABLE  (1u << 2)
#define CTRL_LINK_RESET   (1u << 3)
#define CTRL_RESET        (1u << 26)
#define RESET_ACCESSES    2 /* reads of CTRL that still see the bit */
#define QUEUE_ENABLE      (1u << 25)
#define EEC_REQUEST       (1u << 6)
#define EEC_GRANT         (1u << 7)
#define EEC_PRESENT       (1u << 8)
#define EEC_AUTO_READ_END (1u << 9)
#define EEC_IS_EEPROM     (1u << 10)

struct nic_card nic_cards[NIC_CARDS];

uint32_t
nic_rx_queue(unsigned queue)
{
	return queue < 64 ? NIC_RDBAL + queue * 0x40 : NIC_RXHIGH + (queue - 64) * 0x40;
}

uint32_t
nic_tx_queue(unsigned queue)
{
	return NIC_TDBAL + queue * 0x40;
}

/* Statistics stop at their last value until they are read, which clears them: 32 bits of frames, 36 of bytes
 * (8.2.3.23) */
void
nic_count(struct nic_card *card, uint32_t offset, uint32_t add)
{
	uint32_t *value = nic_at(card, offset);

	*value = add > UINT32_MAX - *value ? UINT32_MAX : *value + add;
}

void
nic_count64(struct nic_card *card, uint32_t low, uint64_t add)
{
	uint64_t value = ((uint64_t)*nic_at(card, low + 4) << 32 | *nic_at(card, low)) + add;

	value = value > OCTETS_MAX ? OCTETS_MAX : value;
	*nic_at(card, low) = (uint32_t)value;
	*nic_at(card, low + 4) = (uint32_t)(value >> 32);
}

struct preset {
	uint32_t offset, value;
};

/* What is not zero after reset. The auto-load of the EEPROM is as on a card with an SFP+ cage. */
static const struct preset presets[] = {
	{NIC_EEC, EEC_PRESENT | EEC_AUTO_READ_END | EEC_IS_EEPROM | 4u << 11},
	{NIC_EEMNGCTL, 3u << 18},                         /* configuration of both functions is done */
	{NIC_AUTOC, 3u << 13 | 3u << 30},                 /* LMS: 10 Gb/s serial; KX and KX4 offered */
	{NIC_AUTOC2, 2u << 16},                           /* 10 Gb/s serial PMA/PMD: SFI */
	{NIC_ANLP1, 1u << 16},                            /* auto-negotiation has left its first state */
	{NIC_HLREG0, 1u | 1u << 1 | 1u << 10 | 1u << 17}, /* append FCS, strip FCS, pad, MDC speed */
	{NIC_MAXFRS, 1518u << 16},
	{NIC_RDRXCTL, 1u << 3 | 1u << 1}, /* DMA initialised; strip FCS */
	{NIC_SECTXCTRL + 4, 1},
	{NIC_SECRXCTRL + 4, 1}, /* the security blocks are ready */
	{NIC_DMATXCTL, 0x8100u << 16},
	{NIC_VLNCTRL, 0x8100},
	{NIC_EXVET, 0x8100u << 16},
	{NIC_RXPBSIZE, NIC_BUFFER},
	{NIC_TXPBSIZE, 160u << 10},
	{NIC_FDIRFREE, 0x8000},
	{NIC_I2CCTL, 0xf},
};

void
nic_reset(struct nic_card *card)
{
	memset(card->reg, 0, sizeof(card->reg));
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		*nic_at(card, presets[i].offset) = presets[i].value;
	/* RAL/RAH 0 from the EEPROM: 02:82:59:90:00:N, address valid */
	*nic_at(card, NIC_RAL) = 0x90598202u;
	*nic_at(card, NIC_RAH) = 1u << 31 | card->index << 8;
	card->i2c = (struct nic_i2c){.clock = true, .data = true, .out = true};
	card->buffer_head = card->buffer_tail = card->buffer_used = 0;
	card->flows = 0;
	card->sent_xoff = false;
	card->paused_until_ns = 0;
	for (unsigned q = 0; q < NIC_QUEUES; q++) {
		uint8_t *frame = card->tx[q].frame;

		card->tx[q] = (struct nic_tx_queue){.frame = frame, .stuck = card->tx[q].stuck};
	}
	card->time_base = 0;
	card->time_ns = host_now_ns();
}

void
nic_init(struct nic_card *card, unsigned index)
{
	card->index = index;
	snprintf(card->address, sizeof(card->address), "0000:11:00.%u", index);
	card->cable = true;
	nic_eeprom_init(card);
	nic_module_init(card);
	nic_reset(card);
}

/* Reads that clear: all statistics, but only once each */
static uint32_t
read_and_clear(struct nic_card *card, uint32_t offset)
{
	uint32_t value = *nic_at(card, offset);

	*nic_at(card, offset) = 0;
	return value;
}

static uint32_t
read_links(const struct nic_card *card)
{
	return nic_link_is_up(card) ? 1u << 30 | 3u << 28 | 0xFu << 8 | 1u << 17
				    : 0; /* up, 10 Gb/s, aligned */
}

static uint32_t
read_special(struct nic_card *card, uint32_t offset)
{
	uint32_t value = *nic_at(card, offset);

	switch (offset) {
	case NIC_CTRL:
		if (card->in_reset != 0 && --card->in_reset != 0)
			value |= CTRL_RESET;
		return value;
	case NIC_STATUS: /* function number; the PCIe master is enabled until software asks it to stop */
		return card->index << 2 | ((*nic_at(card, NIC_CTRL) & CTRL_GIO_DISABLE) ? 0 : 1u << 19);
	case NIC_ESDP: /* SDP2: there is a module in the cage (driver) */
		return value | (card->module[0] != 0 ? 1u << 2 : 0);
	case NIC_SWSM: /* the semaphore is taken by the first read that finds it free */
		*nic_at(card, offset) |= 1;
		return value;
	case NIC_LINKS:
		return read_links(card);
	case NIC_RXSTMPH:
		*nic_at(card, NIC_TSYNCRXCTL) &= ~1u;
		return value;
	case NIC_TXSTMPH:
		*nic_at(card, NIC_TSYNCTXCTL) &= ~1u;
		return value;
	case NIC_SYSTIML: {
		uint64_t now = nic_time(card, host_now_ns());

		*nic_at(card, NIC_SYSTIMH) = (uint32_t)(now >> 32);
		return (uint32_t)now;
	}
	case NIC_RTTBCNRC:
		return card->tx[*nic_at(card, NIC_RTTDQSEL) % NIC_QUEUES].rate;
	default:
		return value;
	}
}

static void
check_reset(struct nic_card *card, uint32_t offset, const char *what)
{
	char name[32];

	if (card->in_reset != 0 && offset != NIC_CTRL && offset != NIC_STATUS)
		nic_breach(card, "%s of %s while the card resets", what,
			   nic_register_name(offset, name, sizeof(name)));
}

uint32_t
nic_read(struct nic_card *card, uint32_t offset)
{
	const struct nic_register *e;

	card->reads++;
	if (card->removed)
		return UINT32_MAX;
	offset = nic_register_place(offset);
	e = nic_register_at(offset);
	check_reset(card, offset, "read");
	if (e == NULL) {
		nic_breach(card, "read of the unknown register 0x%05x", offset);
		return 0;
	}
	return e->access == NIC_RC ? read_and_clear(card, offset) : read_special(card, offset);
}

/* A ring's registers may change only while its queue is off (4.6.7, 4.6.8) */
static void
check_ring(struct nic_card *card, uint32_t offset, uint32_t value)
{
	uint32_t part = offset & 0x3f;
	char name[32];

	if ((*nic_at(card, (offset & ~0x3fu) + 0x28) & QUEUE_ENABLE) && value != *nic_at(card, offset) &&
	    (part == 0x00 || part == 0x04 || part == 0x08 || part == 0x10))
		nic_breach(card, "%s written while its queue is enabled",
			   nic_register_name(offset, name, sizeof(name)));
}

static void
write_rx_tail(struct nic_card *card, uint32_t base, uint32_t value)
{
	uint32_t length = *nic_at(card, base + 0x08) / 16;

	if (value != 0 && value >= length)
		nic_breach(card, "receive tail %u past the ring's %u descriptors", value, length);
	if (value != 0 && !(*nic_at(card, base + 0x28) & QUEUE_ENABLE))
		nic_breach(card, "receive tail moved while the queue is off");
	*nic_at(card, base + 0x18) = value;
	if (card->buffer_used != 0)
		nic_drain(card, host_now_ns());
}

static void
write_tx_tail(struct nic_card *card, unsigned queue, uint32_t value)
{
	uint32_t base = nic_tx_queue(queue), length = *nic_at(card, base + 0x08) / 16;
	bool was_empty = *nic_at(card, base + 0x10) == *nic_at(card, base + 0x18);

	if (value != 0 && value >= length) {
		nic_breach(card, "transmit tail %u past the ring's %u descriptors", value, length);
		return;
	}
	if (value != 0 && !(*nic_at(card, base + 0x28) & QUEUE_ENABLE))
		nic_breach(card, "transmit tail of queue %u moved while the queue is off", queue);
	*nic_at(card, base + 0x18) = value;
	if (was_empty)
		card->tx[queue].offered_ns = host_now_ns();
	if (!nic_options.paced)
		nic_transmit(card, queue, host_now_ns());
}

/* @return whether it was a register of a ring, and is done */
static bool
write_queue(struct nic_card *card, uint32_t offset, uint32_t value)
{
	bool rx = (offset >= NIC_RDBAL && offset < NIC_RDBAL + 0x1000) ||
		  (offset >= NIC_RXHIGH && offset < NIC_RXHIGH + 0x1000);
	bool tx = offset >= NIC_TDBAL && offset < NIC_TDBAL + 0x2000;
	uint32_t base = offset & ~0x3fu;

	if (!rx && !tx)
		return false;
	check_ring(card, offset, value);
	if ((offset & 0x3f) != 0x18) {
		if (tx && (offset & 0x3f) == 0x28 && (value & QUEUE_ENABLE) &&
		    !(*nic_at(card, NIC_DMATXCTL) & 1))
			nic_breach(card, "transmit queue enabled before DMATXCTL.TE");
		*nic_at(card, offset) = value;
	} else if (rx)
		write_rx_tail(card, base, value);
	else
		write_tx_tail(card, (offset - NIC_TDBAL) / 0x40, value);
	return true;
}

static void
write_control(struct nic_card *card, uint32_t value)
{
	bool reset = value & (CTRL_RESET | CTRL_LINK_RESET);

	if (reset)
		nic_reset(card);
	*nic_at(card, NIC_CTRL) = value & ~(CTRL_RESET | CTRL_LINK_RESET);
	card->in_reset = reset ? RESET_ACCESSES : 0;
}

static void
write_eeprom_read(struct nic_card *card, uint32_t value)
{
	if (value & 1)
		value = (uint32_t)card->eeprom[value >> 2 & 0x3fff] << 16 | (value & 0xfffc) | 2;
	*nic_at(card, NIC_EERD) = value;
}

/* Interrupt causes above bit 19 are for link and errors; the sixteen lowest are queues' */
static void
unmask(struct nic_card *card, uint32_t value)
{
	uint32_t waiting = *nic_at(card, NIC_EICR) & value & 0xfff00000u;

	*nic_at(card, NIC_EIMS) |= value;
	*nic_at(card, NIC_EIMS_EX) |= value & 0xffff;
	if (waiting != 0)
		nic_interrupt(card, waiting);
}

/* @return whether the write was more than a store, and is done */
static bool
write_special(struct nic_card *card, uint32_t offset, uint32_t value)
{
	uint32_t *reg = nic_at(card, offset);

	switch (offset) {
	case NIC_CTRL:
		write_control(card, value);
		return true;
	case NIC_I2CCTL:
		nic_i2c_write(card, value);
		return true;
	case NIC_EEC:
		*reg = (value & ~EEC_GRANT) | EEC_PRESENT | EEC_AUTO_READ_END | EEC_IS_EEPROM |
		       ((value & EEC_REQUEST) ? EEC_GRANT : 0);
		return true;
	case NIC_EERD:
		write_eeprom_read(card, value);
		return true;
	case NIC_MSCA: /* there is no PHY behind MDIO: each command ends, and reads ones */
		if (value & 1u << 30)
			*nic_at(card, NIC_MSRWD) |= 0xffff0000u;
		*reg = value & ~(1u << 30);
		return true;
	case NIC_AUTOC: /* restart of auto-negotiation ends at once */
		*reg = value & ~(1u << 12);
		return true;
	case NIC_EICR:
		*reg &= ~value;
		return true;
	case NIC_EICS:
		nic_interrupt(card, value);
		return true;
	case NIC_EIMS:
		unmask(card, value);
		return true;
	case NIC_EIMC:
		*nic_at(card, NIC_EIMS) &= ~value;
		*nic_at(card, NIC_EIMS_EX) &= ~(value & 0xffff);
		return true;
	case NIC_EIMS_EX:
	case NIC_EIMS_EX + 4:
		*reg |= value;
		return true;
	case NIC_EIMC_EX:
	case NIC_EIMC_EX + 4:
		*nic_at(card, offset - NIC_EIMC_EX + NIC_EIMS_EX) &= ~value;
		return true;
	case NIC_FDIRCTRL: /* INIT_DONE once it is on */
		*reg = value | ((value & 3) != 0 ? 1u << 3 : 0);
		return true;
	case NIC_FDIRCMD:
		nic_flow_command(card, value);
		return true;
	case NIC_RDRXCTL:
		*reg = value | 1u << 3;
		return true;
	case NIC_SECTXCTRL + 4:
	case NIC_SECRXCTRL + 4:
		return true;
	case NIC_RTTBCNRC:
		card->tx[*nic_at(card, NIC_RTTDQSEL) % NIC_QUEUES].rate = value;
		return true;
	case NIC_SYSTIML:
	case NIC_SYSTIMH:
	case NIC_TIMINCA:
		nic_time_write(card, offset, value);
		return true;
	case NIC_TSYNCRXCTL:
	case NIC_TSYNCTXCTL: /* the valid bit is the card's */
		*reg = (value & ~1u) | (*reg & 1);
		return true;
	default:
		return false;
	}
}

void
nic_write(struct nic_card *card, uint32_t offset, uint32_t value)
{
	const struct nic_register *e;
	char name[32];

	card->writes++;
	if (card->removed)
		return;
	offset = nic_register_place(offset);
	e = nic_register_at(offset);
	check_reset(card, offset, "write");
	if (e == NULL) {
		nic_breach(card, "write of 0x%08x to the unknown register 0x%05x", value, offset);
		return;
	}
	if (value & e->reserved)
		nic_breach(card, "write of 0x%08x to %s sets reserved bits 0x%08x (datasheet %s)", value,
			   nic_register_name(offset, name, sizeof(name)), value & e->reserved, e->section);
	if (e->access == NIC_RO || write_queue(card, offset, value) || write_special(card, offset, value))
		return;
	*nic_at(card, offset) = value;
}

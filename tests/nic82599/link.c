/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands between the card and the world: the EEPROM, the SFP module at the I2C bus, the cable, and
 * the interrupts by which the card reports that one of them changed.
 */
#include <string.h>

#include "nic.h"

#define EEPROM_SUM 0xBABA
#define ESDP_LASER (1u << 3 | 1u << 11) /* SDP3 as an output, high: the laser is off */
#define EICR_LINK  (1u << 20)

/* Words by the datasheet's chapter 6; what the driver alone asks for is marked */
void
nic_eeprom_init(struct nic_card *card)
{
	uint16_t *word = card->eeprom, sum = 0, at = 0x101;

	memset(word, 0xff, sizeof(card->eeprom));
	word[0x00] = 0x0400;
	word[0x0F] = 0x0200;  /* pointer to the firmware module */
	word[0x202] = 0xffff; /* no link establishment state machine (driver) */
	word[0x204] = 0x0210;
	word[0x217] = 6; /* firmware's patch, above 5 (driver) */
	word[0x27] = word[0x28] = 0xffff;
	word[0x2B] = 0x0100; /* pointer to the list of SFP+ initialisation sequences (driver) */
	word[0x2C] = 0;
	for (uint16_t id = 3; id <= 8; id++) {
		word[at++] = id;
		word[at++] = 0x0140;
	}
	word[at] = 0xffff;
	word[0x140] = 0;
	word[0x141] = 0x1234;
	word[0x142] = 0x5678;
	word[0x143] = 0xffff;
	for (unsigned i = 0; i < 0x3F; i++)
		sum = (uint16_t)(sum + word[i]);
	word[0x3F] = (uint16_t)(EEPROM_SUM - sum);
	if (nic_options.bad_eeprom)
		word[0x10] ^= 4;
}

/* SFF-8472: identifier, compliance, vendor */
void
nic_module_init(struct nic_card *card)
{
	uint8_t *m = card->module;

	memset(m, 0, sizeof(card->module));
	if (strcmp(nic_options.optics, "none") == 0)
		return;
	m[0] = 3; /* SFP */
	if (strcmp(nic_options.optics, "sr") == 0) {
		m[3] = 0x10;                              /* 10GBASE-SR */
		m[6] = 0x01;                              /* 1000BASE-SX */
		m[37] = 0x00, m[38] = 0x1b, m[39] = 0x21; /* Intel, which the driver asks of optics */
		m[92] = 0x60, m[94] = 0x05;               /* monitors itself, calibrated; revision 11.0 */
		card->monitor[96] = 41, card->monitor[97] = 0x80;     /* 41.5 degrees */
		card->monitor[102] = 0x17, card->monitor[103] = 0x70; /* 0.6 mW sent */
		card->monitor[104] = 0x13, card->monitor[105] = 0x88; /* 0.5 mW received */
	} else {
		m[8] = 0x04;                              /* passive copper */
		m[37] = 0x00, m[38] = 0x40, m[39] = 0x20; /* Tyco */
	}
	memcpy(m + 20, "MODEL           ", 16);
	memcpy(m + 40, "SOFTWARE        ", 16);
	memcpy(m + 68, "N1              ", 16);
}

enum { BUS_IDLE, BUS_ADDRESS, BUS_OFFSET, BUS_WRITE, BUS_READ };

static bool
module_bit(const struct nic_card *card, int bit)
{
	const uint8_t *page = card->i2c.monitor ? card->monitor : card->module;

	return page[card->i2c.pointer] >> (7 - bit) & 1;
}

static void
bus_rising(struct nic_i2c *bus, bool data)
{
	if (bus->state == BUS_IDLE)
		return;
	if (bus->bit >= 8) {
		bus->refused = data;
		bus->bit = 9;
		return;
	}
	bus->bit++;
	if (bus->state != BUS_READ)
		bus->shift = (uint8_t)(bus->shift << 1 | data);
}

/* The byte and its acknowledgement are over: what the next one is */
static void
bus_next_byte(struct nic_card *card)
{
	struct nic_i2c *bus = &card->i2c;

	bus->bit = 0;
	bus->out = true;
	switch (bus->state) {
	case BUS_ADDRESS:
		bus->state = (bus->shift & 1) ? BUS_READ : BUS_OFFSET;
		break;
	case BUS_OFFSET:
		bus->pointer = bus->shift;
		bus->state = BUS_WRITE;
		break;
	case BUS_READ:
		bus->pointer++;
		if (bus->refused)
			bus->state = BUS_IDLE;
		break;
	default:
		break;
	}
	bus->shift = 0;
	if (bus->state == BUS_READ)
		bus->out = module_bit(card, 0);
}

static void
bus_falling(struct nic_card *card)
{
	struct nic_i2c *bus = &card->i2c;

	if (bus->state == BUS_IDLE)
		return;
	if (bus->bit == 9)
		bus_next_byte(card);
	else if (bus->bit == 8 && bus->state != BUS_READ) { /* acknowledge, if it is ours */
		bool second = (bus->shift & 0xfe) == 0xA2 && (card->module[92] & 0x40);
		bool ours = card->module[0] != 0 &&
			    (bus->state != BUS_ADDRESS || (bus->shift & 0xfe) == 0xA0 || second);

		if (bus->state == BUS_ADDRESS)
			bus->monitor = second;
		bus->out = !ours;
		if (!ours)
			bus->state = BUS_IDLE;
	} else if (bus->state == BUS_READ)
		bus->out = bus->bit == 8 || module_bit(card, bus->bit);
}

/* I2CCTL: clock in, clock out, data in, data out (8.2.3.1.5); software drives the bus bit by bit */
void
nic_i2c_write(struct nic_card *card, uint32_t value)
{
	struct nic_i2c *bus = &card->i2c;
	bool clock = value >> 1 & 1, data = value >> 3 & 1;

	if (bus->clock && clock) {
		if (bus->data && !data)
			*bus = (struct nic_i2c){.state = BUS_ADDRESS, .out = true, .pointer = bus->pointer};
		else if (!bus->data && data) {
			bus->state = BUS_IDLE;
			bus->out = true;
		}
	} else if (!bus->clock && clock)
		bus_rising(bus, data);
	else if (bus->clock && !clock)
		bus_falling(card);
	bus->clock = clock;
	bus->data = data;
	*nic_at(card, NIC_I2CCTL) = (value & 0xa) | clock | (uint32_t)(data && bus->out) << 2;
}

static bool
transmits_light(const struct nic_card *card)
{
	return card->module[0] != 0 && (card->reg[NIC_ESDP / 4] & ESDP_LASER) != ESDP_LASER;
}

bool
nic_link_is_up(const struct nic_card *card)
{
	return !card->removed && card->cable && transmits_light(card) &&
	       (card->peer < 0 || (nic_cards[card->peer].cable && !nic_cards[card->peer].removed));
}

void
nic_interrupt(struct nic_card *card, uint32_t causes)
{
	uint32_t vector = *nic_at(card, NIC_IVAR_MISC) >> 8 & 0xff;

	*nic_at(card, NIC_EICR) |= causes;
	if (*nic_at(card, NIC_EIMS) & causes)
		host_interrupt(card, (vector & 0x80) ? vector & 0x3f : 0);
}

void
nic_interrupt_queue(struct nic_card *card, unsigned queue)
{
	uint32_t gpie = *nic_at(card, NIC_GPIE);
	uint32_t entry = *nic_at(card, NIC_IVAR + queue / 2 * 4) >> ((queue & 1) ? 16 : 0) & 0xff;
	unsigned vector = entry & 0x3f;
	uint32_t *mask = nic_at(card, NIC_EIMS_EX + vector / 32 * 4);

	if (!(gpie & 1u << 4) || !(entry & 0x80) || !(*mask >> vector % 32 & 1))
		return;
	if (gpie & 1u << 30) { /* EIAME: the mask clears itself */
		*mask &= ~(1u << vector % 32);
		if (vector < 16)
			*nic_at(card, NIC_EIMS) &= ~(1u << vector);
	}
	host_interrupt(card, vector);
}

static struct nic_card *
peer_of(const struct nic_card *card)
{
	return card->peer >= 0 && card->peer != (int)card->index ? &nic_cards[card->peer] : NULL;
}

/*
 * One end sees the link come or go. Gone, its receiver has nothing: a local fault. Back, the peer signals a
 * remote fault until its own receiver has locked. How often silicon counts either for one event is not known.
 */
static void
notice(struct nic_card *card, bool in)
{
	if (card == NULL || card->removed)
		return;
	nic_count(card, in ? NIC_MRFC : NIC_MLFC, 1);
	nic_interrupt(card, EICR_LINK);
}

void
nic_plug(struct nic_card *card, bool in)
{
	if (card->cable == in)
		return;
	card->cable = in;
	notice(card, in);
	notice(peer_of(card), in);
}

void
nic_pull(struct nic_card *card)
{
	card->removed = true;
	notice(peer_of(card), false);
}

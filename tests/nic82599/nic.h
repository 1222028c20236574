/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A behavioural model of the Intel 82599, on which DPDK's unmodified driver runs in the same process.
 *
 * The card (card.c and what it calls) knows registers, rings, filters and the wire, and nothing of how a
 * program came to reach them: it has four entries, nic_reset(), nic_read(), nic_write() and nic_run(), and
 * asks its host for three things, memory by bus address, an interrupt, and the time. The host side
 * (host_*.c) shows a program fake PCI devices behind VFIO and turns each access to BAR 0 into one of the
 * calls. So the card can sit behind another host too.
 *
 * One lock serves all cards (host_lock()): the caller of an entry holds it. Registers lie in a plain array
 * because nobody but the model ever reads it.
 */
#ifndef NIC_H
#define NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reg.h"

#define NIC_CARDS       4
#define NIC_BAR0        0x20000u
#define NIC_QUEUES      128
#define NIC_VECTORS     64
#define NIC_FRAME       16384u
#define NIC_BUFFER      (512u << 10) /* the receive packet buffer, RXPBSIZE after reset */
#define NIC_FILTERS     8192         /* perfect filters of the flow director at most */
#define NIC_RATE_WIRE   10e9
#define NIC_MAX_DELAYED 4096

/* One perfect filter as software gave it, all in the byte order of the registers */
struct nic_flow {
	uint32_t source, destination, ports, vlan, hash, command;
	bool used;
};

struct nic_tx_queue {
	uint32_t context[2][4];
	bool has_context[2];
	uint32_t length;   /* of the frame that is being gathered */
	bool gathering;    /* between the first descriptor of a frame and its last */
	uint32_t rate;     /* RTTBCNRC */
	double next_ns;    /* the rate scheduler lets no frame begin before */
	double offered_ns; /* when the tail was moved on an empty ring */
	bool stuck;
	uint8_t *frame; /* NIC_TX_ROOM bytes before it for tags */
};

#define NIC_TX_ROOM 64
#define NIC_TX_MAX  (1u << 18)

struct nic_i2c {
	bool clock, data, out, refused;
	bool monitor; /* the second address of the module */
	int state, bit;
	uint8_t shift, pointer;
};

struct nic_card {
	unsigned index;
	char address[16];  /* of the PCI device: 0000:11:00.N */
	int peer;          /* the card at the other end of the wire; -1: none */
	bool cable;        /* plugged in */
	bool removed;      /* pulled out of its slot: all reads are ones */
	unsigned in_reset; /* accesses until CTRL.RST clears itself */

	uint32_t reg[NIC_BAR0 / 4];
	uint16_t eeprom[0x4000];
	uint8_t module[256];  /* the EEPROM of the SFP module at 0xA0; all zero: no module */
	uint8_t monitor[256]; /* what it measures of itself, at 0xA2; optics=sr */
	struct nic_i2c i2c;

	struct nic_tx_queue tx[NIC_QUEUES];
	unsigned tx_next; /* whose turn it is on the wire */
	bool rx_stuck[NIC_QUEUES];
	/* frames to lose without a word: sent; received, before a queue counts them and behind that */
	unsigned swallow_tx, swallow_rx, swallow_dma;
	uint64_t sent;          /* frames, which no reset and no reader clears */
	double wire_free_ns;    /* when the wire can take the next frame */
	double order_ns;        /* time on the wire of what the order in hand has sent so far */
	double paused_until_ns; /* by a pause frame of the peer */
	bool sent_xoff;
	double xoff_ns; /* when it did last */

	uint8_t *buffer; /* frames that found no descriptor, in order */
	uint32_t buffer_head, buffer_tail, buffer_used;
	struct nic_flow flow[NIC_FILTERS];
	unsigned flows;

	uint64_t time_base; /* SYSTIM at time_ns */
	double time_ns;

	uint64_t reads, writes, misses, filtered;
};

/* What a run wants of the model, from the environment variable NIC82599 (host_options.c) */
struct nic_options {
	unsigned cards;
	bool crossed;           /* 0 with 1, 2 with 3; else each card is looped to itself */
	bool paced;             /* frames leave in wire time, by a thread; else as soon as the tail moves */
	unsigned chaos;         /* seed of delayed write-backs, split deliveries and link flaps; 0: none */
	unsigned write_back_us; /* the longest delay of a write-back; chaos chooses 300 */
	bool bad_eeprom;
	char optics[8]; /* dac, sr, none */
	const char *control, *trace, *capture, *report;
};

extern struct nic_options nic_options;
extern struct nic_card nic_cards[NIC_CARDS];

/* reg.c: what the table of registers says of one */
enum nic_access { NIC_RW, NIC_RO, NIC_RC };

struct nic_register {
	const char *name, *section;
	uint32_t first, count, distance, reserved;
	enum nic_access access;
};

const struct nic_register *nic_register_at(uint32_t offset); /* NULL: the card has none there */
uint32_t nic_register_place(uint32_t offset);
const char *nic_register_name(uint32_t offset, char *out, size_t size);

/* card.c: the register file */
void nic_init(struct nic_card *card, unsigned index);
void nic_reset(struct nic_card *card);
uint32_t nic_read(struct nic_card *card, uint32_t offset);
void nic_write(struct nic_card *card, uint32_t offset, uint32_t value);
void nic_count(struct nic_card *card, uint32_t offset, uint32_t add);
void nic_count64(struct nic_card *card, uint32_t low, uint64_t add);
uint32_t nic_rx_queue(unsigned queue); /* offset of its RDBAL */
uint32_t nic_tx_queue(unsigned queue);

static inline uint32_t *
nic_at(struct nic_card *card, uint32_t offset)
{
	return &card->reg[offset / 4];
}

/* link.c: cable, module and interrupts */
void nic_module_init(struct nic_card *card);
void nic_eeprom_init(struct nic_card *card);
void nic_i2c_write(struct nic_card *card, uint32_t value);
bool nic_link_is_up(const struct nic_card *card);
void nic_plug(struct nic_card *card, bool in); /* its cable, in or out; both ends see it */
void nic_pull(struct nic_card *card);          /* the card, out of its slot */
void nic_interrupt(struct nic_card *card, uint32_t causes);
void nic_interrupt_queue(struct nic_card *card, unsigned queue);

/* What the receiver found in a frame */
struct nic_packet {
	const uint8_t *data; /* the frame with its FCS */
	uint32_t length;     /* without */
	int vlan;            /* the tag that may be stripped; -1: none */
	unsigned tag_at, l2_length, l3_length;
	int version, protocol; /* 4, 6 or 0; of layer 4, 0: none that the card knows or a fragment */
	const uint8_t *ip, *l4;
	uint32_t packet_type, rss_type, hash, status, errors;
	uint16_t ethertype;
	double at_ns;
};

/* parse.c */
void nic_parse(struct nic_card *card, struct nic_packet *packet);
void nic_check_sums(struct nic_packet *packet);
uint32_t nic_sum(const uint8_t *data, uint32_t length, uint32_t sum);
uint16_t nic_fold(uint32_t sum);
uint32_t nic_crc(const uint8_t *data, uint32_t length);

/* filter.c: which queue; @return false: the frame is dropped */
bool nic_accepts(struct nic_card *card, const struct nic_packet *packet);
bool nic_choose_queue(struct nic_card *card, struct nic_packet *packet, unsigned *queue);
void nic_flow_command(struct nic_card *card, uint32_t command);

/* rx.c: a frame with its FCS arrives at the MAC */
void nic_receive(struct nic_card *card, const uint8_t *frame, uint32_t length, bool bad_fcs, double at_ns);
void nic_drain(struct nic_card *card,
	       double at_ns); /* frames of the packet buffer, into descriptors that came */
void nic_count_size(struct nic_card *card, uint32_t first, uint32_t length);

/* tx.c. @return whether frames wait for their time on the wire */
bool nic_transmit(struct nic_card *card, unsigned queue, double now_ns);
bool nic_run(double now_ns); /* what is due on all cards */

/* offload.c: a frame as its descriptors describe it becomes one or more on the wire */
struct nic_order {
	unsigned queue;
	uint32_t command, status; /* of the first data descriptor: DCMD and DTYP; POPTS and CC */
	double at_ns;
};
void nic_offload(struct nic_card *card, const struct nic_order *order);

/* wire.c: a frame without its FCS leaves, or with it if software made it (own_fcs) */
void nic_send(struct nic_card *card, const struct nic_order *order, uint8_t *frame, uint32_t length,
	      bool stamped);
void nic_send_pause(struct nic_card *card, uint16_t quanta, double at_ns);
double nic_wire_ns(uint32_t length_with_fcs);

/* time.c: IEEE 1588 */
uint64_t nic_time(struct nic_card *card, double at_ns);
void nic_time_write(struct nic_card *card, uint32_t offset, uint32_t value);
void nic_stamp_received(struct nic_card *card, struct nic_packet *packet);
void nic_stamp_sent(struct nic_card *card, double at_ns);

/* The host's side: what the card asks of it */
double host_now_ns(void);
void host_interrupt(struct nic_card *card, unsigned vector);
/* Memory at a bus address, of some bytes. @return NULL: not mapped for DMA, and a breach is recorded */
void *host_dma(struct nic_card *card, uint64_t address, uint64_t length);
/* A store that the driver polls; chaos delays it, never past a later one of the same card */
void host_write_back(struct nic_card *card, volatile void *to, uint64_t value, unsigned bytes);
void host_capture(const struct nic_card *card, const uint8_t *frame, uint32_t length, double at_ns);
/* Software did what the datasheet forbids */
void nic_breach(struct nic_card *card, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

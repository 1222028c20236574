/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

__BEGIN_DECLS

struct rte_mbuf;

/*
 * Stamps that a card takes of each frame as it arrives, by a clock of its own (DPDK's
 * RTE_ETH_RX_OFFLOAD_TIMESTAMP). They leave out what the time from then to the next look at the queue adds.
 * Here they are turned into ticks of the time stamp counter, which is the base of all other times: the card's
 * clock and the counter are sampled together, again and again, and the last look and the pace since the first
 * one make a line from one to the other.
 *
 * Control looks, any number of lcores turn. Neither waits for the other.
 */
struct fg_port_stamps;

/** How well the stamps are known. */
struct fg_port_stamps_state {
	/* bound of each stamp since the begin: how long the looks took, and how far the pace is known */
	uint64_t error_ns;
	uint64_t jumps; /* times the card's clock was found set, or its pace changed by more than 100 ppm */
};

/**
 * @param read  the card's clock now, in the ticks of its stamps, which must be more than 1 MHz. @return 0 or
 *         -errno
 * @param of    passed to it
 * @return 0; -ENOMEM; what read() returned. Takes some 20 ms, to learn the pace.
 */
int fg_port_stamps_create(int (*read)(void *of, uint64_t *ticks), void *of, struct fg_port_stamps **out);
void fg_port_stamps_free(struct fg_port_stamps *stamps);

/** Look at both clocks. Control thread; the error fits a look every 20 ms or so. */
void fg_port_stamps_look(struct fg_port_stamps *stamps);
/** Look, and the error covers stamps from now on: a trial begins. */
void fg_port_stamps_begin(struct fg_port_stamps *stamps);
/** Control thread. */
void fg_port_stamps_read(const struct fg_port_stamps *stamps, struct fg_port_stamps_state *out);

/**
 * Turn the stamps of frames that came just now, in place. One without a stamp, or with one that is later than
 * now or more than a second ago, gets the time that it is.
 * @return how many those were
 */
unsigned fg_port_stamps_turn(const struct fg_port_stamps *stamps, struct rte_mbuf **frames, unsigned n);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RX_FAULT_H
#define RX_FAULT_H

#include "tx_fault.h"

/** What departed with a number. */
struct rx_fault_frame {
	uint64_t number, rank;
	uint32_t kinds;
	bool departed; /* with this number, ever */
	bool copied;   /* and again right behind it */
	bool seen[2];  /* it has arrived; its copy has */
};

/** The errors that a sender makes on purpose, as its receiver knows them. Written by the rx lcore only. */
struct rx_faults {
	struct fg_faults *program;    /* the same as the sender's */
	const struct tx_faults *sent; /* how far it has come */
	uint64_t made, patience;
	struct rx_fault_frame *frame; /* by number */
	uint64_t mask;
	uint64_t kinds[FG_FAULTS]; /* frames that have arrived */
	uint64_t wrong;
};

/** For the stream of @p sent. @p window  numbers behind the last one that are still looked for; NULL: no memory */
struct rx_faults *rx_faults_create(const struct tx_faults *sent, unsigned window, struct fg_error *err);
void rx_faults_free(struct rx_faults *faults);

/** What a frame is that has arrived. */
enum rx_fault {
	RX_RIGHT,   /* measured; its number is now its place among those that are */
	RX_WRONG,   /* made wrong on purpose: no measure of the device */
	RX_UNKNOWN, /* so long ago that nobody knows, or never sent */
};

enum rx_fault rx_faults_find(struct rx_faults *faults, uint64_t *number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Errors that a stream makes on purpose, at its receiver, which runs the program of its sender again: see
 * inject.c. Made by control; the rx lcore alone writes them during the trial.
 */
#include "tx_inject.h"

/** What departed with a number. */
struct rx_inject_frame {
	uint64_t number, rank;
	uint32_t kinds;
	bool departed; /* with this number, ever */
	bool copied;   /* and again right behind it */
	bool seen[2];  /* it has arrived; its copy has */
};

/** The errors that a sender makes on purpose, as its receiver knows them. Written by the rx lcore only. */
struct rx_inject {
	struct fg_injector *program;  /* the same as the sender's */
	const struct tx_inject *sent; /* how far it has come */
	uint64_t made, patience;
	struct rx_inject_frame *frame; /* by number */
	uint64_t mask;
	uint64_t kinds[FG_INJECT_KINDS]; /* frames that have arrived */
	uint64_t wrong;
};

/**
 * For the stream of @p sent.
 * @param window  numbers behind the last one that are still looked for
 * @param out     to be freed also when this fails
 */
int rx_inject_create(const struct tx_inject *sent, unsigned window, struct rx_inject **out,
		     struct fg_error *err);
void rx_inject_free(struct rx_inject *inject);

/** What a frame is that has arrived. */
enum rx_found {
	RX_RIGHT,   /* measured; its number is now its place among those that are */
	RX_WRONG,   /* made wrong on purpose: no measure of the device */
	RX_UNKNOWN, /* too long ago to be known, or never sent */
};

enum rx_found rx_inject_find(struct rx_inject *inject, uint64_t *number);

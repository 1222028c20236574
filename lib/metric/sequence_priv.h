/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SEQUENCE_PRIV_H
#define SEQUENCE_PRIV_H

#include "fg_sequence.h"

/** The arrival about to be counted has @p number, above the one expected. */
void order_jump(struct fg_sequence *t, uint64_t number, uint64_t now);

/** The arrival just counted came late. @param above  arrivals before it with a larger number */
void order_late(struct fg_sequence *t, uint64_t number, uint64_t above, uint64_t now);

void order_read(const struct fg_sequence *t, struct fg_order_counts *out);

/** All but extent_last, of which there is only one. */
void order_add(struct fg_order_counts *total, const struct fg_order_counts *one);

static inline void
raise_to(uint64_t *max, uint64_t value)
{
	*max = value > *max ? value : *max;
}

#endif

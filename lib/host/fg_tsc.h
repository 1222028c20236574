/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

__BEGIN_DECLS

/** Frequency of the processor's time stamp counter, as it was measured against CLOCK_MONOTONIC_RAW. */
struct fg_tsc {
	double hz;
	/* bound of the measurement's own error; the oscillator's error comes on top */
	double error_ppm;
	uint64_t ticks;    /* when it was measured, by either clock: what one was while the other was */
	uint64_t clock_ns; /* CLOCK_MONOTONIC_RAW */
};

/**
 * Measure from the first call of the process until now. The error bound is some 40 ns over that time, so it
 * is the smaller the longer the process has run; a call within the first tenth of a second waits for the rest
 * of it.
 *
 * Control thread only.
 */
void fg_tsc_measure(struct fg_tsc *out);

/** Where measuring begins, unless it has: worth a call long before the first measurement. */
void fg_tsc_begin(void);

__END_DECLS

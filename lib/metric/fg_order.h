/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_ORDER_H
#define FG_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Degrees of n-reordering that are told apart; TCP cares for n = 3. */
enum { FG_ORDER_DEGREES = 16 };

/** An arrival that jumped over numbers: the reference of what comes late into its gap (RFC 4737, 3.4). */
struct fg_order_point {
	uint64_t number;
	uint64_t index; /* which first copy it was */
	uint64_t time;
	uint64_t
		awaited; /* something came late into its gap: it is a reordering discontinuity (RFC 4737, 4.4) */
};

/** Distances between successive reordering discontinuities. */
struct fg_order_gaps {
	uint64_t points; /* reordering discontinuities; the gaps are one less */
	uint64_t index, time;
	uint64_t total, max, min;
	uint64_t time_total;
};

/** What is known of late frames; part of struct fg_sequence, which see. */
struct fg_order {
	uint64_t discontinuities; /* points there have been; the last K are kept */
	uint64_t forgotten;       /* below this number, the point is no longer among those kept */
	uint64_t extent_last, extent_max, extent_sum, extent_beyond;
	uint64_t late_max;
	uint64_t offset_max, offset_sum;
	uint64_t runs, run_squares, run_begin;
	struct fg_order_gaps gaps; /* between the points no longer kept */
	uint64_t degrees[FG_ORDER_DEGREES];
	struct {
		uint64_t number, index;
	} late[FG_ORDER_DEGREES]; /* the last late arrivals, in a ring */
};

/**
 * Reordering of a stream, in the terms of RFC 4737. j is, for the late arrival i, the first arrival of a larger
 * number. Times are in the unit of the caller of fg_sequence_observe().
 */
struct fg_order_counts {
	uint64_t discontinuities; /* arrivals that jumped over numbers, loss included */

	/* 4.2.1: extent e = i - j */
	uint64_t extent_last;
	uint64_t extent_max;
	uint64_t extent_sum;    /* mean: extent_sum / (reordered - extent_beyond) */
	uint64_t extent_beyond; /* late frames whose j was forgotten: extent and late time unknown */
	uint64_t late_max;      /* 4.2.2: arrival(i) - arrival(j) */

	/* 4.2.3, in frames: arrivals before i with a larger number; times their payload, it is the byte offset */
	uint64_t offset_max;
	uint64_t offset_sum;

	/* 4.4: from one reordering discontinuity (a j) to the next, in arrivals and in time */
	uint64_t gaps;
	uint64_t gap_min, gap_max, gap_sum; /* 0 without gaps */
	uint64_t gap_time_sum;

	/* 4.5: runs of arrivals in order, each ended by a late one */
	uint64_t runs;        /* x = reordered */
	uint64_t in_order;    /* a, those after the last late one included; mean run: in_order / runs */
	uint64_t run_squares; /* q */

	/* 5.1: [n - 1]: late frames that are n-reordered: the n arrivals before them had larger numbers */
	uint64_t n_reordered[FG_ORDER_DEGREES];
};

#ifdef __cplusplus
}
#endif
#endif

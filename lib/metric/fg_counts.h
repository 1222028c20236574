/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

__BEGIN_DECLS

/* Results of measuring, as plain data: it passes through the API as it is. */

enum {
	FG_LOSS_CLASSES = 16,  /* loss bursts are classed by magnitude, up to 2^15 and more */
	FG_ORDER_DEGREES = 16, /* of n-reordering that are counted; n = 3 matters to TCP */
};

/**
 * Reordering of a stream, in the terms of RFC 4737. j is, for the late arrival i, the first arrival of a
 * larger number. Times are in the unit of the caller of fg_sequence_observe().
 */
struct fg_order_counts {
	uint64_t discontinuities; /* arrivals that jumped over numbers, loss included */

	/* 4.2.1: extent e = i - j */
	uint64_t extent_last;
	uint64_t extent_max;
	uint64_t extent_sum;    /* mean: extent_sum / (reordered - extent_beyond) */
	uint64_t extent_beyond; /* late frames whose j was forgotten: extent and late time unknown */
	uint64_t late_max;      /* 4.2.2: arrival(i) - arrival(j) */

	/*
	 * 4.2.3, in frames: arrivals before i with a larger number; times their payload, it is the byte
	 * offset
	 */
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

/** Results of delay variation. */
struct fg_variation_counts {
	/* IPDV; all 0 without any */
	uint64_t pairs;   /* consecutive frames that both came */
	uint64_t unknown; /* pairs beyond what is remembered */
	int64_t min, max;
	double mean;           /* close to 0 in the long run */
	double mean_magnitude; /* of its absolute value */
	double median;         /* the mean of the central two where there is no central one */
	int64_t p001, p999;    /* 0.1 and 99.9 % */

	/* RFC 3550, 6.4.1, in the integers of its appendix A.8 with their four bits of fraction */
	double jitter;     /* after the last frame */
	double jitter_max; /* ever */
};

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_counts.h"

__BEGIN_DECLS

/** An arrival that jumped over numbers: the reference of late arrivals in its gap (RFC 4737, 3.4). */
struct fg_order_point {
	uint64_t number;
	uint64_t index; /* which first copy it was */
	uint64_t time;
	/* something came late into its gap: it is a reordering discontinuity (RFC 4737, 4.4) */
	uint64_t awaited;
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

__END_DECLS

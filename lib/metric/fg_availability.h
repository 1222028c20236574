/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/** Severely errored seconds in a row that make a service unavailable; as many others make it available. */
enum { FG_AVAILABILITY_RUN = 10 };

/** One second of a stream: what was sent in it, and what of that arrived, whenever. */
struct fg_block {
	uint64_t sent;
	uint64_t received; /* different frames */
	int64_t delay_sum; /* of those received, ns */
	int64_t delay_min, delay_max;
	int64_t delay_p999; /* of a sum of seconds: the greatest of theirs, which no sum exceeds */
};

/**
 * Availability by the ten-second rule (ITU-T Y.1563): a block of one second is severely errored (SES) when
 * more than half of its frames are lost. Unavailable time starts with the first of ten consecutive SES, these
 * included, and ends with the first of ten consecutive blocks that are not. Loss and delay of a service are
 * the seconds of its available time.
 *
 * Blocks are added one by one, so that a day needs no more memory than a minute. A block in which nothing was
 * sent says nothing and is left out.
 */
struct fg_availability {
	uint64_t blocks;
	uint64_t severely_errored;
	uint64_t unavailable; /* without the open run */
	unsigned run;         /* blocks in a row that speak against the present state */
	bool down;            /* the present state */
	struct fg_block open; /* sums of the run */
	struct fg_block up;   /* sums of the available time */
};

/** Results of a service's availability. */
struct fg_availability_counts {
	uint64_t blocks;           /* seconds in which something was sent */
	uint64_t severely_errored; /* of them; those in available time included */
	uint64_t unavailable;      /* of them */
	double percent;            /* 100 * (blocks - unavailable) / blocks; 100 without blocks */
	/* sums over the available time; minima and maxima 0 if nothing was received */
	struct fg_block available;
};

/** Begin: available, nothing known. */
void fg_availability_init(struct fg_availability *a);

/** The next block in time. */
void fg_availability_add(struct fg_availability *a, const struct fg_block *block);

/** So far; a run that may still change the state does not yet. The state is not changed and may go on. */
void fg_availability_read(const struct fg_availability *a, struct fg_availability_counts *out);

__END_DECLS

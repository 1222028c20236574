/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * How long is an lcore away? In a trial without streams a round of an lcore is done in a fraction of a
 * microsecond. Rounds that take longer are not the tester's doing: an interrupt, another thread, a hypervisor
 * had the processor. That is the noise of the host, below which no departure can be promised.
 */
struct fg_stalls;

enum { FG_STALL_CLASSES = 5 }; /* from 1 us, 10 us, 100 us, 1 ms, 10 ms on */

struct fg_stalls_result {
	uint64_t rounds;
	uint64_t duration_ns;
	uint64_t stalls
		[FG_STALL_CLASSES]; /* [i]: of 10^i us and more, below ten times that; the last: any more */
	uint64_t longest_ns;
	uint64_t away_ns; /* all stalls together */
};

/** @param hz  fg_engine_hz() of the trial. @return 0 or -ENOMEM */
int fg_stalls_create(uint64_t hz, struct fg_stalls **out, struct fg_error *err);
void fg_stalls_free(struct fg_stalls *stalls);

/** For the port whose lcore is to be watched. */
struct fg_task *fg_stalls_task(struct fg_stalls *stalls);

/** After the trial. */
void fg_stalls_read(const struct fg_stalls *stalls, struct fg_stalls_result *out);

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "fg_error.h"

__BEGIN_DECLS

/* EAL functions for code that opens and closes devices. Control thread only. */

/** Does EAL run? */
bool fg_eal_is_running(void);

/** Before rte_eal_init(): EAL's log becomes lines of fg_log(). @return 0 or -ENOMEM */
int fg_eal_log_open(struct fg_error *err);
/** Around everything that opens or closes a device: collect DPDK's log lines about errors ... */
void fg_eal_log_begin(void);
/** ... @return the lines since begin, "" without such lines; valid until the next begin */
const char *fg_eal_log_end(void);

/** Do something in EAL's interrupt thread, and wait until it is done. */
void fg_eal_interrupt_thread_do(void (*work)(void *arg), void *arg);

/** A clock of the kernel, ns. */
static inline uint64_t
fg_eal_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__END_DECLS

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work done in EAL's interrupt thread. Some drivers take a device down there, when its peer has gone, without
 * a lock against the application that takes it down itself. Work in the same thread cannot run at the same
 * time.
 */
#include <semaphore.h>
#include <time.h>

#include <rte_alarm.h>

#include "fg_eal.h"
#include "fg_log.h"

enum { PATIENCE_S = 10 }; /* the thread's other work is short */

struct order {
	void (*work)(void *arg);
	void *arg;
	sem_t done;
};

static void
carry_out(void *arg)
{
	struct order *order = arg;

	order->work(order->arg);
	sem_post(&order->done);
}

void
fg_eal_interrupt_thread_do(void (*work)(void *arg), void *arg)
{
	struct order order = {.work = work, .arg = arg};
	struct timespec deadline;

	sem_init(&order.done, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += PATIENCE_S;
	if (rte_eal_alarm_set(1, carry_out, &order) != 0 ||
	    (sem_clockwait(&order.done, CLOCK_MONOTONIC, &deadline) != 0 &&
	     rte_eal_alarm_cancel(carry_out, &order) > 0)) {
		fg_log(FG_LOG_WARNING, "DPDK's interrupt thread does not answer");
		work(arg);
	}
	sem_destroy(&order.done);
}

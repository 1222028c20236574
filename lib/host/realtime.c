/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet lcore looks at its ports all the time and so seems to the scheduler to be one that can wait: any
 * thread that wakes up on its CPU gets its share, milliseconds at a time. With real-time priority none does.
 * Such a thread gives its CPU to no ordinary one, so each must have one to itself: not another's, nor
 * control's.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "fg_host.h"

static int
take_priority(void *argument)
{
	struct sched_param least = {.sched_priority = 1};

	return pthread_setschedparam(pthread_self(), SCHED_FIFO, &least);
}

static int
check_alone(unsigned id, struct fg_error *err)
{
	rte_cpuset_t mine = rte_lcore_cpuset(id), both;
	unsigned other;

	RTE_LCORE_FOREACH(other)
	{
		rte_cpuset_t theirs = rte_lcore_cpuset(other);

		CPU_AND(&both, &mine, &theirs);
		if (other != id && CPU_COUNT(&both) > 0)
			return fg_error_set(err, EINVAL, "host.realtime",
					    "lcores %u and %u may run on the same CPU; each needs its own",
					    id, other);
	}
	return 0;
}

int
fg_host_realtime(struct fg_error *err)
{
	unsigned id;
	int rc;

	RTE_LCORE_FOREACH_WORKER (id) {
		rc = check_alone(id, err);
		if (rc == 0 && rte_eal_remote_launch(take_priority, NULL, id) != 0)
			rc = fg_error_set(err, EBUSY, "host.realtime", "lcore %u is busy", id);
		if (rc != 0)
			return rc;
		rc = rte_eal_wait_lcore(id);
		if (rc != 0)
			return fg_error_set(
				err, rc, "host.realtime",
				"no real-time priority for lcore %u; it takes root, CAP_SYS_NICE or a limit (ulimit -r 1)",
				id);
	}
	return 0;
}

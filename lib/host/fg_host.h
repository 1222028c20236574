/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/** How the process takes cores, memory and devices from the machine. */
struct fg_host_config {
	const char *lcores; /* EAL core map, "0@0,1@1"; NULL: main on the first CPU, a worker on each other */
	uint32_t memory_mb; /* 0: chosen from what is there */
	int huge_pages;     /* 0 auto, 1 never, 2 required */
	/* PCI addresses to probe (fg_port_pci_address()), NULL-terminated; NULL: the PCI bus is left alone */
	const char *const *pci;
	const char *const *eal; /* further EAL arguments, NULL-terminated */
};

/**
 * Start EAL once per process. Without huge pages it runs on ordinary memory. EAL's own messages go to
 * fg_log(), some of them from a thread of EAL's.
 * @return 0, or -errno and what is wrong and which command mends it; a second call with EAL running returns 0
 */
int fg_host_start(const struct fg_host_config *config, struct fg_error *err);

/** Ids of the worker lcores, their CPU and NUMA node. @return how many, at most @p max are written. */
struct fg_lcore_info {
	unsigned id;
	int cpu; /* -1: floats over several */
	int node;
};
unsigned fg_host_lcores(struct fg_lcore_info *out, unsigned max);

/**
 * Give the worker lcores real-time priority (SCHED_FIFO), for good: nothing ordinary runs on their CPUs any
 * more but for the share that the kernel keeps for it (as a rule 50 ms of a second).
 * @return 0; -EINVAL two lcores share a CPU; -EPERM, -EBUSY
 */
int fg_host_realtime(struct fg_error *err);

__END_DECLS

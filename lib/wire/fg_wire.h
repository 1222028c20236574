/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

__BEGIN_DECLS

/*
 * The virtual wire: ports inside the process, in a time of their own, joined by a reference device
 * (fg_device.h) or by a reference switch (fg_switch.h). Here is what these have in common.
 */

/** Ticks of the wire's clock per second: picoseconds. */
#define FG_DEVICE_HZ (1000ULL * 1000 * 1000 * 1000)

/** A learning bridge's table of addresses (IEEE 802.1D, 7.9), and what is wrong with it. */
struct fg_device_table {
	uint32_t size;           /* addresses it holds; 0: it learns nothing and forwards all */
	double ageing_ns;        /* aging time of an address; 0: never forgotten */
	double learning_rate;    /* addresses learned per second; 0: no limit */
	uint32_t learning_queue; /* addresses that may wait until they are learned */
	uint32_t skip_every;     /* it does not learn every n-th new one; 0: learns all */
	uint32_t buckets,
		ways; /* a bucket has room for this many; 0 ways: any address for which the table has room */
};

__END_DECLS

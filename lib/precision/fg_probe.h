/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * Delay by the stamps of the cards themselves. Cards such as the 82599 stamp single frames as they cross the
 * port, IEEE 1588 event messages only, one at a time each way. So a probe sends a Sync message (IEEE
 * 1588-2019, 13.6; Ethernet type 0x88f7, to the MAC address given) now and then, waits for its stamp, and the
 * other port's stamp of its arrival; both are turned into the machine's time. What the processor does
 * meanwhile has no part in the result. A device that routes does not pass these frames on, one that takes
 * part in IEEE 1588 itself may answer or hold them.
 *
 * Written against DPDK's timesync calls and tested on ports that are played by software: never run on a card.
 */
struct fg_probe;
struct fg_port;

struct fg_probe_config {
	struct fg_port *from, *to; /* both with a clock of their own */
	uint8_t src[6], dst[6];
	uint64_t hz;          /* fg_engine_hz() */
	uint64_t interval_ns; /* between two messages */
	uint32_t most;        /* messages: no more are sent */
};

/** Delays in ns, from the stamp at departure to that at arrival. */
struct fg_probe_result {
	uint64_t sent;      /* messages */
	uint64_t unstamped; /* of them the port that sent gave no stamp before the next one */
	uint64_t count;     /* had both stamps */
	int64_t min_ns, max_ns;
	double mean_ns;
	uint64_t error_bound_ns; /* of each: by the looks at three clocks, before and after */
};

/**
 * Switch the stamps of both ports on and look at their clocks.
 * @return 0; -ENOTSUP: a port has none; -EINVAL, -ENOMEM
 */
int fg_probe_create(const struct fg_probe_config *config, struct fg_probe **out, struct fg_error *err);
/** The ports may have been closed before. */
void fg_probe_free(struct fg_probe *probe);

/** For the lcore that sends on `from`. */
struct fg_task *fg_probe_task(struct fg_probe *probe);
/** For the port `to`. */
struct fg_sink *fg_probe_sink(struct fg_probe *probe);

/** After the trial, once: look at the clocks again and switch the stamps off. @return 0 or -EIO: a clock does
 * not answer */
int fg_probe_read(struct fg_probe *probe, struct fg_probe_result *out, struct fg_error *err);

__END_DECLS

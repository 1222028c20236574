/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* How the ports were served in a trial, by which lcores: part of fg_engine.h. */

/** What one queue of a port did. */
struct fg_queue_result {
	unsigned tx_lcore, rx_lcore; /* EAL ids */
	uint64_t tx, rx;             /* test frames: sent, received */
	uint64_t passed;             /* of those received: measured by another queue's lcore */
	/* first departure since the start: as scheduled, and as it was; 0 without any */
	uint64_t first_due_ns, first_ns;
};

/** What one lcore did. */
struct fg_lcore_result {
	unsigned lcore;
	uint64_t polls;
	uint64_t longest_gap_ns; /* between the time a task was to be polled and the poll */
	uint64_t stalled_ns;     /* of the traffic, all gaps above 0.1 ms together; 0 on the wire */
	/* after the start of traffic it began: what arrived before was not taken for test frames */
	uint64_t late_ns;
};

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_METRIC_H
#define FG_METRIC_H

/*
 * What is measured on received frames. Everything here has one writer, the lcore that receives the stream,
 * lives in memory of fixed size, and takes the time from its caller; nothing needs DPDK.
 */
#include "fg_histogram.h"
#include "fg_sequence.h"

#endif

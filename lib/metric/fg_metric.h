/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is measured on received frames. Everything here has one writer, the lcore that receives the stream,
 * lives in memory of fixed size, and takes the time from its caller; nothing needs DPDK.
 */
#include "fg_availability.h"
#include "fg_counts.h"
#include "fg_histogram.h"
#include "fg_latency.h"
#include "fg_order.h"
#include "fg_payload.h"
#include "fg_sequence.h"
#include "fg_variation.h"

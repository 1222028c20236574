/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What every other library stands on: errors, units, the log, random numbers, bytes, unique names. No DPDK,
 * no threads, no output of its own. */
#include "fg_bytes.h"
#include "fg_error.h"
#include "fg_int128.h"
#include "fg_log.h"
#include "fg_random.h"
#include "fg_trigger.h"
#include "fg_unique_name.h"
#include "fg_units.h"

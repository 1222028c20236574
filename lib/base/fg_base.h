/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_BASE_H
#define FG_BASE_H

/* What every other library stands on: errors, units, the log. No DPDK, no threads, no output of its own. */
#include "fg_error.h"
#include "fg_int128.h"
#include "fg_log.h"
#include "fg_units.h"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_impair.h"

/** The next jitter, ticks. */
uint64_t impair_jitter(struct fg_impair *impair);

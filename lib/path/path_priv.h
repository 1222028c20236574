/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATH_PRIV_H
#define PATH_PRIV_H

#include "fg_impair.h"

/** The next jitter, ticks. */
uint64_t impair_jitter(struct fg_impair *impair);

#endif

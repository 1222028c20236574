/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_frame.h"

__BEGIN_DECLS

/*
 * Run field programs: how bytes change from frame to frame. A frame's content depends on its number alone, so
 * any lcore can make any frame again.
 */

enum { FG_VARY_BURST = 64 };

/**
 * Make frames of buffers that hold the template's bytes up to its header's end: write the changing fields and
 * their checksums.
 *
 * @param number  of the first frame; the others have the next ones
 * @param data    their first bytes
 * @param n       at most FG_VARY_BURST
 */
void fg_vary_burst(const struct fg_template *template_, uint64_t number, uint8_t *const *data, unsigned n);

__END_DECLS

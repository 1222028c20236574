/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <sys/cdefs.h>

__BEGIN_DECLS

/**
 * A name that no other call in this process gets: @p prefix and a number. DPDK's pools, rings and devices
 * need one. Control thread only.
 *
 * @param out   filled, cut when longer than @p size
 */
void fg_unique_name(char *out, size_t size, const char *prefix);

__END_DECLS

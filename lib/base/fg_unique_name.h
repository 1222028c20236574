/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_UNIQUE_NAME_H
#define FG_UNIQUE_NAME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A name that no other call in this process gets: @p prefix and a number. DPDK's pools, rings and devices
 * need one. Control thread only.
 *
 * @param out   filled, cut when longer than @p size
 */
void fg_unique_name(char *out, size_t size, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif

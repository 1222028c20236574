/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read before everything else in a build with AddressSanitizer. Loops are inlined into each of their kinds,
 * for speed; there each copy is instrumented and compiled anew, and that took a quarter of the build's time.
 * Here the compiler decides.
 */
#if __has_include(<rte_common.h>)
#include <rte_config.h>

#include <rte_common.h>
#undef __rte_always_inline
#define __rte_always_inline inline
#endif

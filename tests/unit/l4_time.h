/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of the time that tests of TCP and UDP keep, in nanoseconds.
 */
#ifndef L4_TIME_H
#define L4_TIME_H

#include <cstdint>

namespace l4
{
const uint64_t ms = 1000000, second = 1000 * ms;
} // namespace l4

#endif

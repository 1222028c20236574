/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/** 128 bits, for fixed-point times and exact sums. A compiler extension: this spelling compiles under
 * -Wpedantic. */
__extension__ typedef unsigned __int128 fg_u128;

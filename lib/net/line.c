/* SPDX-License-Identifier: BSD-3-Clause */
#include "fg_net.h"

uint64_t
fg_line_max_fps(uint64_t rate_bps, unsigned frame_size)
{
	return rate_bps / (8ULL * (frame_size + FG_ETHER_OVERHEAD));
}

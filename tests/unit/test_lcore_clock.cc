// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fg_clock.h"

namespace
{

TEST(Clock, WholeNanosecondsStayWhole)
{
	fg_clock c;

	fg_clock_init(&c, 1e12);
	for (uint64_t ns : {1ull, 999ull, 1000000007ull, 86400000000000ull})
		EXPECT_EQ(ns, fg_clock_span_ns(&c, fg_clock_ticks(&c, ns)));
}

TEST(Clock, TimeIsThatOfTickZeroAndTheTicksSince)
{
	fg_clock c;

	fg_clock_init(&c, 2.5e9);
	c.base_ns = 1000;
	EXPECT_EQ(1000u, fg_clock_ns(&c, 0));
	EXPECT_EQ(1004u, fg_clock_ns(&c, 10));
}

TEST(Clock, FindsTheFirstTickOfANanosecond)
{
	for (double hz : {1e12, 2.5e9, 2.4999e9, 3.123456789e9}) {
		fg_clock c;

		fg_clock_init(&c, hz);
		c.base_ns = 123456789;
		for (uint64_t ns = c.base_ns + 1; ns < c.base_ns + 2000; ns++) {
			uint64_t tick = fg_clock_tick_at(&c, ns);

			ASSERT_GE(fg_clock_ns(&c, tick), ns) << hz;
			ASSERT_LT(fg_clock_ns(&c, tick - 1), ns) << hz;
		}
	}
}

} // namespace

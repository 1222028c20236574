/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an lcore was away, by rounds at times that are given. */
#include <gtest/gtest.h>

#include "fg_stalls.h"

TEST(Stalls, AreCountedByPowersOfTenOfAMicrosecond)
{
	const uint64_t gaps[] = {999, 1000, 9999, 10000, 99999, 100000, 1000000, 10000000, 1000000000};
	const uint64_t expected[] = {2, 2, 1, 1, 2};
	uint64_t now = 5000, all = 0, away = 0;
	fg_stalls_result r;
	fg_stalls *s;

	ASSERT_EQ(0, fg_stalls_create(1000000000, &s, nullptr));
	fg_task *task = fg_stalls_task(s);
	task->poll(task, now);
	for (uint64_t gap : gaps) {
		task->poll(task, now += gap);
		all += gap;
		away += gap < 1000 ? 0 : gap;
	}
	fg_stalls_read(s, &r);
	for (unsigned i = 0; i < FG_STALL_CLASSES; i++)
		EXPECT_EQ(expected[i], r.stalls[i]) << "from 10^" << i << " us on";
	EXPECT_EQ(10u, r.rounds);
	EXPECT_EQ(all, r.duration_ns);
	EXPECT_EQ(away, r.away_ns);
	EXPECT_EQ(1000000000u, r.longest_ns);
	fg_stalls_free(s);
}

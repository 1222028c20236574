/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "fg_sequence.h"
#include "sequence_tracker.h"

namespace
{

/* numbers from 1 on, arriving one per unit of time */
fg_sequence_counts
track(const std::vector<uint64_t> &numbers, uint64_t sent, unsigned window = FG_SEQUENCE_WINDOW)
{
	Tracker t = make(window, 1);
	uint64_t now = 0;

	for (uint64_t number : numbers)
		fg_sequence_observe(t.get(), number, now++);
	return result(t, sent);
}

std::vector<uint64_t>
range(uint64_t from, uint64_t to)
{
	std::vector<uint64_t> numbers;

	for (uint64_t n = from; n <= to; n++)
		numbers.push_back(n);
	return numbers;
}

TEST(Sequence, FramesInOrderCountNothingElse)
{
	fg_sequence_counts r = track(range(1, 100000), 100000);

	EXPECT_EQ(100000u, r.received);
	EXPECT_EQ(100000u, r.unique);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.duplicates + r.stale + r.excess + r.bursts + r.reordered + r.order.discontinuities);
}

TEST(Sequence, OneLateFrame)
{
	/* the example of RFC 4737, 7.1: 5 arrives at 148 ms, 4 at 210 ms */
	const Arrival arrivals[] = {{1, 68},  {2, 88},  {3, 108}, {5, 148}, {6, 168},
				    {7, 188}, {8, 208}, {4, 210}, {9, 228}, {10, 248}};
	Tracker t = make(1024, 1);

	for (const Arrival &a : arrivals)
		EXPECT_TRUE(fg_sequence_observe(t.get(), a.number, a.time));

	fg_sequence_counts r = result(t, 10);

	EXPECT_EQ(1u, r.reordered);
	EXPECT_EQ(1u, r.order.discontinuities);
	EXPECT_EQ(4u, r.order.extent_last);
	EXPECT_EQ(4u, r.order.extent_max);
	EXPECT_EQ(4u, r.order.extent_sum);
	EXPECT_EQ(62u, r.order.late_max);
	EXPECT_EQ(0, r.lost);
}

TEST(Sequence, ThreeLateFramesHaveExtents345)
{
	/* the example of RFC 4737, 7.3 */
	const uint64_t extents[] = {3, 4, 5};
	Tracker t = make(1024, 1);

	for (uint64_t n : {1, 2, 3, 7, 8, 9})
		fg_sequence_observe(t.get(), n, 0);
	for (uint64_t n : {4, 5, 6}) {
		fg_sequence_observe(t.get(), n, 0);
		EXPECT_EQ(extents[n - 4], result(t, 9).order.extent_last);
	}
	EXPECT_EQ(3u, result(t, 9).reordered);
	EXPECT_EQ(5u, result(t, 9).order.extent_max);
	EXPECT_EQ(12u, result(t, 9).order.extent_sum);
}

TEST(Sequence, FirstArrivalIsInOrder)
{
	fg_sequence_counts r = track({3, 1, 2}, 3);

	EXPECT_EQ(2u, r.reordered);
	EXPECT_EQ(1u, r.order.discontinuities);
	EXPECT_EQ(2u, r.order.extent_max);
	EXPECT_EQ(0u, track({3}, 3).reordered);
}

TEST(Sequence, LossAloneNeverReorders)
{
	fg_sequence_counts r = track({2, 3, 7, 8, 12}, 15);

	EXPECT_EQ(0u, r.reordered);
	EXPECT_EQ(3u, r.order.discontinuities);
	EXPECT_EQ(10, r.lost);
	EXPECT_EQ(4u, r.bursts); /* 1, 4-6, 9-11, 13-15 */
	EXPECT_EQ(3u, r.burst_max);
	EXPECT_EQ(10u, r.burst_total);
}

TEST(Sequence, NothingReceivedIsOneBurst)
{
	fg_sequence_counts r = track({}, 1000);

	EXPECT_EQ(1000, r.lost);
	EXPECT_EQ(1u, r.bursts);
	EXPECT_EQ(1000u, r.burst_max);
	EXPECT_EQ(0u, track({}, 0).bursts);
}

TEST(Sequence, DuplicatesAreCountedAndEnterNothingElse)
{
	Tracker t = make(1024, 1);

	EXPECT_TRUE(fg_sequence_observe(t.get(), 1, 0));
	EXPECT_FALSE(fg_sequence_observe(t.get(), 1, 0));
	EXPECT_TRUE(fg_sequence_observe(t.get(), 3, 0));
	EXPECT_TRUE(fg_sequence_observe(t.get(), 2, 0));
	EXPECT_FALSE(fg_sequence_observe(t.get(), 2, 0));
	EXPECT_FALSE(fg_sequence_observe(t.get(), 3, 0));

	fg_sequence_counts r = result(t, 3);

	EXPECT_EQ(6u, r.received);
	EXPECT_EQ(3u, r.unique);
	EXPECT_EQ(3u, r.duplicates);
	EXPECT_EQ(1u, r.reordered);
	EXPECT_EQ(1u, r.order.extent_max);
	EXPECT_EQ(0, r.lost);
}

TEST(Sequence, DuplicatesDoNotLengthenTheExtent)
{
	/* RFC 4737 counts the arrivals of unique packets */
	EXPECT_EQ(3u, track({1, 3, 3, 3, 4, 4, 5, 2}, 5).order.extent_max);
}

TEST(Sequence, BeyondTheWindowNothingIsKnown)
{
	std::vector<uint64_t> numbers = range(2, 65);

	numbers.push_back(1); /* 65 behind the next number, 66; 64 are remembered */
	fg_sequence_counts r = track(numbers, 65, 64);

	EXPECT_EQ(1u, r.stale);
	EXPECT_EQ(65u, r.received);
	EXPECT_EQ(64u, r.unique);
	EXPECT_EQ(1, r.lost);
	EXPECT_EQ(0u, r.reordered + r.duplicates);

	numbers = range(2, 64);
	numbers.push_back(1); /* just inside */
	r = track(numbers, 64, 64);
	EXPECT_EQ(0u, r.stale);
	EXPECT_EQ(1u, r.reordered);
	EXPECT_EQ(63u, r.order.extent_max);
	EXPECT_EQ(0, r.lost);
}

TEST(Sequence, NumbersOfAnEarlierTrialAreStale)
{
	Tracker t = make(1024, 5000);

	EXPECT_FALSE(fg_sequence_observe(t.get(), 4999, 0));
	EXPECT_TRUE(fg_sequence_observe(t.get(), 5000, 0));
	EXPECT_FALSE(fg_sequence_observe(t.get(), 4999, 0));

	fg_sequence_counts r = result(t, 1);

	EXPECT_EQ(2u, r.stale);
	EXPECT_EQ(1u, r.unique);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.bursts + r.reordered + r.duplicates);
}

TEST(Sequence, FarNumbersDoNoHarm)
{
	Tracker t = make(1024, 1);

	EXPECT_TRUE(fg_sequence_observe(t.get(), 1, 0));
	EXPECT_FALSE(fg_sequence_observe(t.get(), UINT64_MAX, 0)); /* no sender is that far */
	EXPECT_TRUE(fg_sequence_observe(t.get(), 2, 0));
	EXPECT_TRUE(fg_sequence_observe(t.get(), 1ULL << 40, 0)); /* in order, says RFC 4737 */
	EXPECT_FALSE(fg_sequence_observe(t.get(), 3, 0));

	fg_sequence_counts r = result(t, 3);

	EXPECT_EQ(2u, r.stale);
	EXPECT_EQ(3u, r.unique);
	EXPECT_EQ((1ULL << 40) - 3, r.excess);
	EXPECT_EQ(1u, r.bursts);
	EXPECT_EQ((1ULL << 40) - 3, r.burst_max);
}

TEST(Sequence, MoreReceivedThanSentShows)
{
	fg_sequence_counts r = track(range(1, 12), 10);

	EXPECT_EQ(-2, r.lost);
	EXPECT_EQ(2u, r.excess);

	/* even where a loss hides it in the difference */
	std::vector<uint64_t> numbers = range(2, 11);

	r = track(numbers, 10);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(1u, r.excess);
}

TEST(Sequence, ForgottenDiscontinuitiesAreSaid)
{
	/* every second number is missing; K = 16 of the 30 discontinuities are remembered */
	Tracker t = make(1024, 0);
	uint64_t now = 0;

	for (uint64_t n = 1; n < 60; n += 2)
		fg_sequence_observe(t.get(), n, now++);
	fg_sequence_observe(t.get(), 26, now++);
	EXPECT_EQ(1u, result(t, 60).order.extent_beyond);
	EXPECT_EQ(0u, result(t, 60).order.extent_max);
	fg_sequence_observe(t.get(), 28, now++);

	fg_sequence_counts r = result(t, 60);

	EXPECT_EQ(2u, r.reordered);
	EXPECT_EQ(1u, r.order.extent_beyond);
	EXPECT_EQ(17u, r.order.extent_max); /* 15 more odd ones and 26 came after 29 */
}

TEST(Sequence, ResultMayBeTakenAtAnyTime)
{
	Tracker t = make(64, 1), quiet = make(64, 1);

	for (uint64_t n = 1; n < 2000; n += n % 7 ? 1 : 3) {
		fg_sequence_observe(t.get(), n, n);
		fg_sequence_observe(quiet.get(), n, n);
		result(t, n);
	}
	EXPECT_EQ(0, memcmp(t.get(), quiet.get(), fg_sequence_size(64)));
}

TEST(Sequence, NumbersInOrderCanBeObservedTogether)
{
	for (unsigned n : {1, 8, 63, 64}) {
		Tracker each = make(256, 5), all = make(256, 5);
		uint64_t next = 5;

		for (unsigned times = 0; times < 20; times++) {
			for (unsigned i = 0; i < n; i++)
				fg_sequence_observe(each.get(), next + i, 1000 * next + i);
			fg_sequence_observe_next(all.get(), n);
			next += n + times % 3; /* some are missing in between */
			fg_sequence_observe(each.get(), next, next);
			fg_sequence_observe(all.get(), next, next);
			next++;
		}
		EXPECT_EQ(0, memcmp(each.get(), all.get(), fg_sequence_size(256))) << n;
	}
}

TEST(Sequence, ResetBeginsAgain)
{
	Tracker t = make(256, 1), fresh = make(256, 777);

	for (uint64_t n : {1, 5, 900, 300, 2, 2})
		fg_sequence_observe(t.get(), n, n);
	fg_sequence_reset(t.get(), 777);
	for (uint64_t n : {778, 780, 777, 781}) {
		fg_sequence_observe(t.get(), n, n);
		fg_sequence_observe(fresh.get(), n, n);
	}
	fg_sequence_counts a = result(t, 5), b = result(fresh, 5);

	EXPECT_EQ(0, memcmp(&a, &b, sizeof(a)));
}

TEST(Sequence, ResultsAddUp)
{
	fg_sequence_counts total = {};
	fg_sequence_counts a = track({1, 2, 5, 3, 3}, 6), b = track({4, 1, 2}, 4);

	fg_sequence_counts_add(&total, &a);
	fg_sequence_counts_add(&total, &b);
	EXPECT_EQ(10u, total.sent);
	EXPECT_EQ(8u, total.received);
	EXPECT_EQ(7u, total.unique);
	EXPECT_EQ(1u, total.duplicates);
	EXPECT_EQ(3, total.lost);
	EXPECT_EQ(3u, total.bursts);
	EXPECT_EQ(3u, total.burst_total);
	EXPECT_EQ(1u, total.burst_max);
	EXPECT_EQ(3u, total.reordered);
	EXPECT_EQ(2u, total.order.extent_max);
	EXPECT_EQ(4u, total.order.extent_sum);
	EXPECT_EQ(2u, total.order.extent_last);
}

TEST(Sequence, MemoryIsSmallAndWindowsArePowersOfTwo)
{
	fg_error err = {};

	EXPECT_EQ(1728u, fg_sequence_size(1024));
	EXPECT_EQ(4032u, fg_sequence_size(4096));
	EXPECT_EQ(0u, fg_sequence_size(0));
	EXPECT_EQ(0u, fg_sequence_size(32));
	EXPECT_EQ(0u, fg_sequence_size(1000));
	EXPECT_EQ(0u, fg_sequence_size(1U << 31));
	EXPECT_EQ(nullptr, fg_sequence_create(1000, 0, &err));
	EXPECT_EQ(EINVAL, err.code);
	EXPECT_STREQ("sequence.window", err.where);
	fg_sequence_free(nullptr);
}

} // namespace

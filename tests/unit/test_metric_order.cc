/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering in the terms of RFC 4737, by its own examples, and loss by the examples of RFC 3357. */
#include <vector>

#include <gtest/gtest.h>

#include "fg_sequence.h"
#include "sequence_tracker.h"

namespace
{

fg_sequence_counts
track(const std::vector<Arrival> &arrivals, uint64_t sent)
{
	Tracker t = make(1024, 1);

	for (const Arrival &a : arrivals)
		fg_sequence_observe(t.get(), a.number, a.time);
	return result(t, sent);
}

/* one arrival per unit of time */
fg_sequence_counts
track(const std::vector<uint64_t> &numbers, uint64_t sent)
{
	std::vector<Arrival> arrivals;

	for (uint64_t n : numbers)
		arrivals.push_back({n, 100 + arrivals.size()});
	return track(arrivals, sent);
}

/* 36 frames; the frames of the given places come one place late */
std::vector<uint64_t>
runs(const std::vector<size_t> &late)
{
	std::vector<uint64_t> numbers;

	for (uint64_t n = 1; n <= 36; n++)
		numbers.push_back(n);
	for (size_t place : late)
		std::swap(numbers[place - 1], numbers[place - 2]);
	return numbers;
}

TEST(Order, OneLateFrame)
{
	/* RFC 4737, 7.1, with payloads of 100 octets: 5 arrives at 148 ms, 4 at 210 ms */
	fg_sequence_counts r = track({{1, 68},
				      {2, 88},
				      {3, 108},
				      {5, 148},
				      {6, 168},
				      {7, 188},
				      {8, 208},
				      {4, 210},
				      {9, 228},
				      {10, 248}},
				     10);

	EXPECT_EQ(1u, r.reordered);
	EXPECT_EQ(4u, r.order.extent_max);
	EXPECT_EQ(62u, r.order.late_max);
	EXPECT_EQ(400u, r.order.offset_max * 100);
	EXPECT_EQ(1u, r.order.n_reordered[4 - 1]);
	EXPECT_EQ(0u, r.order.n_reordered[5 - 1]);
	EXPECT_EQ(0u, r.order.gaps);
	EXPECT_EQ(1u, r.order.runs);
	EXPECT_EQ(49u, r.order.run_squares) << "seven came in order before it";
}

TEST(Order, OnlyTheFirstOfThreeLateFramesHurtsTcp)
{
	/* RFC 4737, 7.3 */
	fg_sequence_counts r = track({1, 2, 3, 7, 8, 9, 4, 5, 6}, 9);

	EXPECT_EQ(3u, r.reordered);
	EXPECT_EQ(5u, r.order.extent_max);
	EXPECT_EQ(12u, r.order.extent_sum);
	EXPECT_EQ(3u, r.order.offset_max) << "7, 8 and 9, whatever came between";
	EXPECT_EQ(9u, r.order.offset_sum);
	for (unsigned n : {1, 2, 3})
		EXPECT_EQ(1u, r.order.n_reordered[n - 1]) << n;
	EXPECT_EQ(0u, r.order.n_reordered[4 - 1]);
}

TEST(Order, RunsTellEvenFromUneven)
{
	/* three runs of 11: the late frames end them at places 12, 24, 36 */
	fg_sequence_counts even = track(runs({12, 24, 36}), 36), uneven = track(runs({2, 4, 36}), 36);

	EXPECT_EQ(3u, even.order.runs);
	EXPECT_EQ(33u, even.order.in_order);
	EXPECT_EQ(363u, even.order.run_squares);
	EXPECT_EQ(11u, even.order.in_order / even.order.runs);
	EXPECT_EQ(3u, uneven.order.runs);
	EXPECT_EQ(33u, uneven.order.in_order);
	EXPECT_EQ(963u, uneven.order.run_squares) << "1 + 1 + 31 * 31";
}

TEST(Order, GapsAreBetweenDiscontinuitiesThatReorder)
{
	/* 4, 8 and 16 come late; the jump to 13 is a loss and no reordering */
	fg_sequence_counts r = track({1, 2, 3, 5, 4, 6, 7, 9, 8, 10, 13, 14, 15, 17, 16}, 17);

	EXPECT_EQ(4u, r.order.discontinuities);
	EXPECT_EQ(2u, r.order.gaps);
	EXPECT_EQ(4u, r.order.gap_min) << "from 5 to 9";
	EXPECT_EQ(6u, r.order.gap_max) << "from 9 to 17";
	EXPECT_EQ(10u, r.order.gap_sum);
	EXPECT_EQ(10u, r.order.gap_time_sum);
}

TEST(Order, ManyCopiesAreOneDuplicatedFrame)
{
	fg_sequence_counts r = track({1, 1, 1, 2, 3, 3, 2, 4}, 4);

	EXPECT_EQ(4u, r.duplicates) << "RFC 5560: arrivals less one, of each";
	EXPECT_EQ(3u, r.duplicated);
	EXPECT_EQ(4u, r.unique);
	EXPECT_EQ(0u, r.reordered);
}

TEST(Loss, HasPeriodsAndDistances)
{
	/* missing: 2, 4, 7-9, 12-13; RFC 3357's distances between their runs: 2, 3, 3 */
	fg_sequence_counts r = track({1, 3, 5, 6, 10, 11, 14}, 14);
	const uint64_t lengths[] = {2, 2, 0}, distances[] = {0, 3, 0};

	EXPECT_EQ(4u, r.bursts);
	EXPECT_EQ(7u, r.burst_total);
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(lengths[i], r.burst_lengths[i]) << i;
		EXPECT_EQ(distances[i], r.burst_distances[i]) << i;
	}
}

TEST(Loss, OfLongRunsIsToldApartByMagnitude)
{
	fg_sequence_counts r = track({1, 1 + 1024, 5 + 3000, 1000000}, 1000000);

	EXPECT_EQ(1u, r.burst_lengths[9]) << "1023";
	EXPECT_EQ(1u, r.burst_lengths[10]) << "1979";
	EXPECT_EQ(1u, r.burst_lengths[FG_LOSS_CLASSES - 1]) << "all that is longer than 2^15";
	EXPECT_EQ(2u, r.burst_distances[1]) << "one frame between";
}

} // namespace

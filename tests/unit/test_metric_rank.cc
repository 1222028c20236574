/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trackers that remember many numbers, whose words are counted in groups: against a list of all numbers that
 * came, in which those above a late one are counted by a binary indexed tree.
 */
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "draws.h"
#include "fg_sequence.h"
#include "sequence_tracker.h"

namespace
{

/* which numbers came, and how many up to each */
class List
{
      public:
	List(unsigned window, uint64_t first, size_t numbers)
	    : window(window), first(first), next(first), came(numbers), tree(numbers + 1)
	{
	}

	void
	Observe(uint64_t number)
	{
		uint64_t above;

		if (number < first || number + window < next) {
			stale++;
			return;
		}
		if (came[number]) {
			duplicates++;
			return;
		}
		above = unique - UpTo(number);
		came[number] = true;
		unique++;
		for (size_t i = number + 1; i < tree.size(); i += i & -i)
			tree[i]++;
		if (number >= next) {
			next = number + 1;
			return;
		}
		reordered++;
		offset_sum += above;
		offset_max = std::max(offset_max, above);
	}

	void
	ExpectEqual(const fg_sequence_counts &got)
	{
		uint64_t runs = 0, longest = 0, run = 0, missing = 0;

		for (uint64_t n = first; n < next; n++) {
			run = came[n] ? 0 : run + 1;
			runs += run == 1;
			missing += !came[n];
			longest = std::max(longest, run);
		}
		EXPECT_EQ(unique, got.unique);
		EXPECT_EQ(duplicates, got.duplicates);
		EXPECT_EQ(stale, got.stale);
		EXPECT_EQ(reordered, got.reordered);
		EXPECT_EQ(offset_sum, got.order.offset_sum);
		EXPECT_EQ(offset_max, got.order.offset_max);
		EXPECT_EQ((int64_t)missing, got.lost);
		EXPECT_EQ(missing, got.burst_total);
		EXPECT_EQ(runs, got.bursts);
		EXPECT_EQ(longest, got.burst_max);
	}

	const unsigned window;
	const uint64_t first;
	uint64_t next;

      private:
	uint64_t
	UpTo(uint64_t number) const
	{
		uint64_t n = 0;

		for (size_t i = number + 1; i > 0; i -= i & -i)
			n += tree[i];
		return n;
	}

	std::vector<bool> came;
	std::vector<uint32_t> tree;
	uint64_t unique = 0, duplicates = 0, stale = 0, reordered = 0, offset_sum = 0, offset_max = 0;
};

/* mostly in order; some are left out and come later, or again; now and then many are missing */
void
compare(unsigned window, unsigned seed)
{
	std::mt19937_64 random(seed);
	const uint64_t first = random() % 20000, end = first + 3 * window + 100000;
	Tracker t = make(window, first);
	List list(window, first, end + 2 * window);
	std::vector<uint64_t> late;
	uint64_t now = 0;
	auto observe = [&](uint64_t number) {
		list.Observe(number);
		fg_sequence_observe(t.get(), number, now++);
	};

	while (list.next < end) {
		const uint64_t chance = random() % 20000, next = list.next;

		if (chance < 60) { /* left out, and perhaps sent later */
			late.push_back(next);
			observe(next + 1);
		} else if (chance < 120 && !late.empty()) {
			std::swap(late[random() % late.size()], late.back());
			observe(late.back());
			late.pop_back();
		} else if (chance < 180) {
			observe(next - std::min(next, random() % (window + window / 8)));
		} else if (chance == 180) { /* a long outage; some of its frames are sent later */
			const uint64_t length = random() % (random() % 4 == 0 ? 2 * window : window / 4);

			for (unsigned i = 0; i < 100; i++)
				late.push_back(next + random() % (length + 1));
			observe(next + length);
		} else {
			observe(next);
		}
	}
	list.ExpectEqual(result(t, list.next - first));
}

TEST(Rank, AgreesWithAListOfAllNumbers)
{
	for (unsigned window : {64u, 4096u, 8192u, 1u << 14, 1u << 18, 1u << 19}) {
		for (unsigned seed = 1; seed <= draws(3); seed++) {
			SCOPED_TRACE("window " + std::to_string(window) + ", seed " + std::to_string(seed));
			compare(window, seed);
		}
	}
}

TEST(Rank, AFrameASecondOfTenGigabitsLateIsNotLost)
{
	/* 14,880,952 frames of 64 bytes a second */
	const uint64_t late = 14880952;
	Tracker t = make(1u << 24, 1);
	fg_sequence_counts r;

	EXPECT_TRUE(fg_sequence_observe(t.get(), 1, 0));
	for (uint64_t n = 3; n <= 2 + late; n++)
		fg_sequence_observe(t.get(), n, n);
	EXPECT_TRUE(fg_sequence_observe(t.get(), 2, 3 + late));
	EXPECT_FALSE(fg_sequence_observe(t.get(), 2, 4 + late));
	r = result(t, 2 + late);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.stale);
	EXPECT_EQ(1u, r.reordered);
	EXPECT_EQ(1u, r.duplicates);
	EXPECT_EQ(late, r.order.offset_max);
	EXPECT_EQ(late, r.order.extent_max);
	EXPECT_EQ(late, r.order.late_max);
}

TEST(Rank, ALongOutageIsCountedOnce)
{
	/* the whole window and more, from a number in the middle of a block */
	for (uint64_t gap :
	     {(1ull << 18) - 4096, 1ull << 18, (1ull << 18) + 63, (1ull << 18) + 64, 1ull << 30}) {
		Tracker t = make(1u << 18, 0);
		fg_sequence_counts r;

		for (uint64_t n = 0; n < 300000; n++)
			fg_sequence_observe(t.get(), n, n);
		fg_sequence_observe(t.get(), 300000 + gap, 300000);
		EXPECT_TRUE(fg_sequence_observe(t.get(), 300000 + gap - 5000, 300001));
		r = result(t, 300001 + gap);
		EXPECT_EQ((int64_t)gap - 1, r.lost) << gap;
		EXPECT_EQ(gap - 1, r.burst_total) << gap;
		EXPECT_EQ(2u, r.bursts) << gap;
		EXPECT_EQ(1u, r.order.offset_max) << gap;
	}
}

} // namespace

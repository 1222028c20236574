/* SPDX-License-Identifier: BSD-3-Clause */
/* The delay line: order of time, held frames, and the count of those that came out behind later ones. */
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_delay_line.h"

namespace
{

class Line
{
      public:
	explicit Line(uint64_t capacity = 1024)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_delay_line_init(&line, capacity, &err));
	}
	~Line()
	{
		fg_delay_line_free(&line);
	}
	void
	Push(uint64_t time)
	{
		uint64_t number = fg_delay_line_number(&line);

		fg_delay_line_push(&line, Name(number), time, number);
	}
	void
	Hold(uint32_t places, uint64_t latest)
	{
		uint64_t number = fg_delay_line_number(&line);

		fg_delay_line_hold(&line, Name(number), places, latest, number);
	}
	/* the numbers of all frames in the order in which they come out */
	std::vector<uint64_t>
	Drain(std::vector<uint64_t> *times = nullptr)
	{
		std::vector<uint64_t> numbers;

		for (uint64_t time; (time = fg_delay_line_next(&line)) != UINT64_MAX;) {
			if (times != nullptr)
				times->push_back(time);
			numbers.push_back(uint64_t(uintptr_t(fg_delay_line_pop(&line))) - 1);
		}
		return numbers;
	}
	static void *
	Name(uint64_t number)
	{
		return (void *)uintptr_t(number + 1);
	}

	fg_delay_line line;
};

using Numbers = std::vector<uint64_t>;

} // namespace

TEST(DelayLine, GivesFramesInTheOrderOfTheirTimes)
{
	std::mt19937 random(1);
	Line line(5000);
	std::vector<std::pair<uint64_t, uint64_t>> expected;
	Numbers numbers, times;

	for (uint64_t i = 0; i < 5000; i++) {
		/* mostly in order, some early, many equal */
		uint64_t time = i / 3 + (random() % 4 == 0 ? 0 : 100) + random() % 2;

		expected.emplace_back(time, i);
		line.Push(time);
	}
	std::stable_sort(expected.begin(), expected.end(),
			 [](const auto &a, const auto &b) { return a.first < b.first; });
	numbers = line.Drain(&times);
	ASSERT_EQ(expected.size(), numbers.size());
	for (size_t i = 0; i < expected.size(); i++) {
		ASSERT_EQ(expected[i].second, numbers[i]);
		ASSERT_EQ(expected[i].first, times[i]);
	}
}

TEST(DelayLine, GoesOnWhileFramesComeAndGo)
{
	std::mt19937 random(2);
	Line line(64);
	std::vector<uint64_t> inside;
	uint64_t out = 0;

	for (uint64_t now = 0; now < 20000; now++) {
		if (fg_delay_line_room(&line.line, 1)) {
			inside.push_back(now + random() % 100);
			line.Push(inside.back());
		}
		while (fg_delay_line_next(&line.line) <= now) {
			auto least = std::min_element(inside.begin(), inside.end());

			ASSERT_EQ(*least, fg_delay_line_next(&line.line));
			inside.erase(least);
			fg_delay_line_pop(&line.line);
			out++;
		}
		ASSERT_EQ(inside.size(), line.line.in_use);
	}
	EXPECT_GT(out, 20000u / 3);
}

TEST(DelayLine, LetsAHeldFrameGoBehindTheLastOfThoseThatPass)
{
	Line line;
	Numbers times;

	line.Push(10);
	line.Hold(2, 1000);
	line.Push(20);
	line.Push(30);
	line.Push(40);
	EXPECT_EQ((Numbers{0, 2, 3, 1, 4}), line.Drain(&times));
	EXPECT_EQ((Numbers{10, 20, 30, 30, 40}), times);
	EXPECT_EQ(1u, line.line.reordered);
}

TEST(DelayLine, HoldsSeveralAtATime)
{
	Line line;

	for (int i = 0; i < 12; i++)
		if (i % 3 == 2)
			line.Hold(5, 1000);
		else
			line.Push(uint64_t(i));
	/* 2 goes behind the fifth of those that go by themselves, 5 likewise; for the others too few come */
	EXPECT_EQ((Numbers{0, 1, 3, 4, 6, 7, 9, 2, 10, 5, 8, 11}), line.Drain());
	EXPECT_EQ(3u, line.line.reordered) << "11 is the last to come and the last to go";
}

TEST(DelayLine, DoesNotHoldAFrameForEver)
{
	Line line;
	Numbers times;

	line.Hold(5, 100);
	line.Push(10);
	line.Hold(5, 50); /* no earlier than the one before it */
	line.Push(200);
	EXPECT_EQ((Numbers{1, 0, 2, 3}), line.Drain(&times));
	EXPECT_EQ((Numbers{10, 100, 100, 200}), times);
	EXPECT_EQ(1u, line.line.reordered);
}

TEST(DelayLine, CopiesAreNotCounted)
{
	Line line;

	line.Push(10);
	fg_delay_line_push(&line.line, Line::Name(90), 5, FG_DELAY_UNCOUNTED);
	line.Hold(1, 1000);
	fg_delay_line_push(&line.line, Line::Name(91), 20, FG_DELAY_UNCOUNTED);
	line.Push(30);
	EXPECT_EQ((Numbers{90, 0, 91, 2, 1}), line.Drain());
	EXPECT_EQ(1u, line.line.reordered);
}

TEST(DelayLine, CountsAsReorderedWhatCameBehindALaterOne)
{
	Line line;

	for (uint64_t time : {30, 10, 20, 40, 35})
		line.Push(time);
	EXPECT_EQ((Numbers{1, 2, 0, 4, 3}), line.Drain());
	EXPECT_EQ(2u, line.line.reordered);
}

TEST(DelayLine, IsEmptyAndNewWhenCleared)
{
	Line line(16);
	int cleared = 0;

	for (uint64_t time : {30, 10, 20})
		line.Push(time);
	line.Hold(9, 100);
	EXPECT_FALSE(fg_delay_line_room(&line.line, 13));
	EXPECT_TRUE(fg_delay_line_room(&line.line, 12));
	while (fg_delay_line_clear(&line.line) != nullptr)
		cleared++;
	EXPECT_EQ(4, cleared);
	EXPECT_EQ(UINT64_MAX, fg_delay_line_next(&line.line));
	EXPECT_TRUE(fg_delay_line_room(&line.line, 16));
	line.Push(1);
	EXPECT_EQ(Numbers{0}, line.Drain());
	EXPECT_EQ(0u, line.line.reordered);
}

TEST(DelayLine, RefusesASizeThatIsNone)
{
	fg_delay_line line;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_delay_line_init(&line, 0, &err));
	EXPECT_EQ(-EINVAL, fg_delay_line_init(&line, 1ull << 40, &err));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ten-second rule, by the examples of Y.1564 and against a reading of the whole list of blocks. */
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "draws.h"
#include "fg_availability.h"

namespace
{

fg_block
block(uint64_t sent, uint64_t received, int64_t delay = 100)
{
	return {sent, received, int64_t(received) * delay, delay, delay, delay - 1};
}

fg_availability_counts
judge(const std::vector<fg_block> &blocks)
{
	fg_availability a;
	fg_availability_counts out;

	fg_availability_init(&a);
	for (const fg_block &b : blocks)
		fg_availability_add(&a, &b);
	fg_availability_read(&a, &out);
	return out;
}

/* a number of seconds of a service, with an outage in the middle */
fg_availability_counts
outage(unsigned seconds, unsigned outage)
{
	std::vector<fg_block> blocks(seconds, block(1000, 1000));

	for (unsigned i = 0; i < outage; i++)
		blocks[seconds / 2 + i] = block(1000, 0, 0);
	return judge(blocks);
}

TEST(Availability, OfTheExamples)
{
	EXPECT_NEAR(98.667, outage(900, 12).percent, 0.0005);
	EXPECT_NEAR(99.833, outage(7200, 12).percent, 0.0005);
	EXPECT_EQ(12u, outage(900, 12).unavailable);
	EXPECT_EQ(888000u, outage(900, 12).available.sent);
	EXPECT_EQ(888000u, outage(900, 12).available.received) << "the loss is not the available time's";
}

TEST(Availability, IsNotLostInNineSeconds)
{
	EXPECT_EQ(100, outage(900, 9).percent);
	EXPECT_EQ(9u, outage(900, 9).severely_errored);
	EXPECT_EQ(9000u, outage(900, 9).available.sent - outage(900, 9).available.received);
	EXPECT_EQ(10u, outage(900, 10).unavailable) << "ten are enough, and all of them count";
}

TEST(Availability, ReturnsAfterTenGoodSeconds)
{
	const fg_block good = block(100, 100), bad = block(100, 49);
	std::vector<fg_block> blocks(20, bad);

	blocks.insert(blocks.end(), 9, good);
	blocks.push_back(bad);
	EXPECT_EQ(30u, judge(blocks).unavailable) << "nine good ones change nothing";
	EXPECT_EQ(0u, judge(blocks).available.sent);
	EXPECT_EQ(0, judge(blocks).available.delay_min);
	blocks.insert(blocks.end(), 10, good);
	EXPECT_EQ(30u, judge(blocks).unavailable);
	EXPECT_EQ(1000u, judge(blocks).available.received) << "the ten good ones are available already";
	EXPECT_EQ(25, judge(blocks).percent);
}

TEST(Availability, HalfTheFramesIsNotMoreThanHalf)
{
	EXPECT_EQ(0u, judge({block(100, 50)}).severely_errored);
	EXPECT_EQ(1u, judge({block(100, 49)}).severely_errored);
	EXPECT_EQ(1u, judge({block(3, 1)}).severely_errored);
	EXPECT_EQ(0u, judge({block(3, 2)}).severely_errored);
	EXPECT_EQ(1u, judge({block(1, 0)}).severely_errored);
	EXPECT_EQ(0u, judge({block(100, 101)}).severely_errored) << "an invention of the device";
}

TEST(Availability, OfASilentServiceIsNotAsked)
{
	std::vector<fg_block> blocks(9, block(10, 0));

	EXPECT_EQ(100, judge({}).percent);
	EXPECT_EQ(0u, judge({block(0, 0)}).blocks);
	blocks.push_back(block(0, 0));
	EXPECT_EQ(100, judge(blocks).percent);
	blocks.push_back(block(10, 0));
	EXPECT_EQ(10u, judge(blocks).unavailable) << "silence between does not end the row";
}

/* for every block: the state that the rule, applied to the whole list, gives it */
std::vector<bool>
states(const std::vector<fg_block> &blocks)
{
	std::vector<bool> down(blocks.size());
	bool state = false;

	for (size_t i = 0; i < blocks.size(); i++) {
		size_t row = 0;

		while (row < 10 && i + row < blocks.size() &&
		       (blocks[i + row].received * 2 < blocks[i + row].sent) != state)
			row++;
		if (row == 10)
			state = !state;
		down[i] = state;
	}
	return down;
}

TEST(Availability, AgreesWithTheRule)
{
	for (unsigned seed = 0; seed < draws(2000); seed++) {
		std::mt19937 random(seed);
		std::vector<fg_block> blocks;
		uint64_t unavailable = 0, received = 0;
		int64_t sum = 0, least = INT64_MAX, most = INT64_MIN;

		for (unsigned i = random() % 20; i > 0; i--) {
			unsigned share = random() % 3 * 50; /* none, half, all */

			for (unsigned k = random() % 14; k > 0; k--)
				blocks.push_back(block(100, share + random() % 2 * (100 - share) / 10,
						       random() % 1000));
		}
		std::vector<bool> down = states(blocks);
		for (size_t i = 0; i < blocks.size(); i++) {
			unavailable += down[i];
			if (down[i] || blocks[i].received == 0)
				continue;
			received += blocks[i].received;
			sum += blocks[i].delay_sum;
			least = std::min(least, blocks[i].delay_min);
			most = std::max(most, blocks[i].delay_max);
		}
		fg_availability_counts c = judge(blocks);

		EXPECT_EQ(unavailable, c.unavailable) << "seed " << seed;
		EXPECT_EQ(received, c.available.received);
		EXPECT_EQ(sum, c.available.delay_sum);
		EXPECT_EQ(received == 0 ? 0 : least, c.available.delay_min);
		EXPECT_EQ(received == 0 ? 0 : most, c.available.delay_max);
		EXPECT_EQ(received == 0 ? 0 : most - 1, c.available.delay_p999);
		ASSERT_FALSE(HasFailure());
	}
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames a path loses, copies and changes: exact where it can be foretold, by its distribution
 * elsewhere. */
#include <algorithm>
#include <bitset>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "draws.h"
#include "fg_impair.h"

namespace
{

const uint64_t GHZ = 1000000000; /* so that ticks are nanoseconds */

class Path
{
      public:
	explicit Path(const fg_impair_config &config, uint64_t seed = 1)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_impair_init(&impair, &config, GHZ, "path", &err)) << err.where << err.message;
		fg_impair_reset(&impair, seed);
	}
	std::vector<bool>
	Losses(size_t n)
	{
		std::vector<bool> lost;

		for (size_t i = 0; i < n; i++)
			lost.push_back(fg_impair_lost(&impair));
		return lost;
	}
	fg_verdict
	Decide(uint64_t time = 0)
	{
		fg_verdict verdict;

		fg_impair_decide(&impair, time, &verdict);
		return verdict;
	}

	/* @return whether it was done */
	bool
	Corrupt(uint8_t *frame, uint32_t length)
	{
		fg_path_counters counters = {};

		EXPECT_EQ(length,
			  fg_impair_change(&impair, 1u << FG_IMPAIR_CORRUPT, frame, length, &counters));
		return counters.corrupted == 1;
	}

	fg_impair impair;
};

std::string
word(const std::vector<bool> &lost)
{
	std::string text;

	for (bool l : lost)
		text += l ? 'x' : '.';
	return text;
}

double
sum(const std::vector<bool> &lost)
{
	return double(std::count(lost.begin(), lost.end(), true));
}

void
expect_refused(const fg_impair_config &config, const std::string &where)
{
	fg_impair impair;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_impair_init(&impair, &config, GHZ, "path", &err));
	EXPECT_EQ(where, err.where);
}

} // namespace

TEST(Loss, NothingIsLostWhereNothingIsSaid)
{
	fg_impair_config config = {};
	Path path(config);

	EXPECT_FALSE(path.impair.loses);
	EXPECT_FALSE(path.impair.alters);
	EXPECT_EQ(std::string(100, '.'), word(path.Losses(100)));
}

TEST(Loss, TakesTheLastOfEveryN)
{
	fg_impair_config config = {};

	config.loss.every = 5;
	EXPECT_EQ("....x....x....x", word(Path(config).Losses(15)));
	config.loss_run = 2;
	EXPECT_EQ("...xx...xx...xx", word(Path(config).Losses(15)));
	config.loss_run = 5;
	EXPECT_EQ("xxxxxxxxxx", word(Path(config).Losses(10)));
	config.loss = {1, 0};
	config.loss_run = 0;
	EXPECT_EQ("xxxx", word(Path(config).Losses(4)));
}

TEST(Loss, FollowsAPattern)
{
	fg_impair_config config = {};

	config.loss_pattern = 0b1101000;
	config.loss_pattern_length = 7;
	EXPECT_EQ("...x.xx...x.xx...x", word(Path(config).Losses(18)));
	config.loss_pattern = 1ull << 63;
	config.loss_pattern_length = 64;
	EXPECT_EQ(std::string(63, '.') + "x.", word(Path(config).Losses(65)));
	config.loss.every = 3; /* together: what either takes */
	EXPECT_EQ("..x..x", word(Path(config).Losses(6)));
}

TEST(Loss, AtRandomHasTheRightShareAndNoMemory)
{
	const double n = draws(1000000);

	for (double p : {1e-4, 0.01, 0.3, 0.9}) {
		fg_impair_config config = {};
		double pairs = 0;

		config.loss.random = p;
		std::vector<bool> lost = Path(config).Losses(size_t(n));
		EXPECT_NEAR(n * p, sum(lost), 5 * std::sqrt(n * p * (1 - p)));
		for (size_t i = 1; i < lost.size(); i++)
			pairs += lost[i] && lost[i - 1];
		EXPECT_NEAR(n * p * p, pairs, 5 * std::sqrt(n * p * p) + 1) << p;
	}
}

/* the chain's own formulas: share of the bad state p / (p + r), mean stay in it 1 / r */
TEST(Loss, ComesInBurstsByGilbertAndElliott)
{
	const double n = draws(2000000);

	for (double begin : {0.001, 0.02})
		for (double end : {0.1, 0.25, 1.0}) {
			fg_impair_config config = {};
			double bursts = 0, share = begin / (begin + end);

			config.burst_begin = begin;
			config.burst_end = end;
			config.burst_loss = 1;
			std::vector<bool> lost = Path(config).Losses(size_t(n));
			for (size_t i = 1; i < lost.size(); i++)
				bursts += lost[i] && !lost[i - 1];
			EXPECT_NEAR(share, sum(lost) / n, share * 5 * std::sqrt(2 / (n * share * end)));
			EXPECT_NEAR(1 / end, sum(lost) / bursts, 5 / end / std::sqrt(bursts));
		}
}

TEST(Loss, IsPartialInTheTwoStatesIfSo)
{
	fg_impair_config config = {};
	const double n = 1e6;

	config.burst_begin = config.burst_end = 0.5;
	config.burst_loss = 0.6;
	config.burst_between = 0.2;
	EXPECT_NEAR(0.4, sum(Path(config).Losses(size_t(n))) / n, 5 * std::sqrt(0.24 / n));
}

TEST(Impair, RepeatsItselfWithTheSameSeedOnly)
{
	fg_impair_config config = {};

	config.loss.random = 0.5;
	config.burst_begin = config.burst_end = 0.1;
	config.burst_loss = 0.5;
	Path path(config), again(config), other(config, 2);
	std::vector<bool> first = path.Losses(1000);

	EXPECT_EQ(first, again.Losses(1000));
	EXPECT_NE(first, other.Losses(1000));
	EXPECT_NE(first, path.Losses(1000)) << "it goes on";
	fg_impair_reset(&path.impair, 1);
	EXPECT_EQ(first, path.Losses(1000));
}

TEST(Impair, OneKindDoesNotChangeThePatternOfAnother)
{
	fg_impair_config alone = {}, all = {};

	alone.duplicate.random = all.duplicate.random = 0.3;
	all.loss.random = all.corrupt.random = all.reorder.random = 0.5;
	all.reorder_ns = 1;
	all.jitter_mean_ns = 10;
	Path one(alone), two(all);
	for (int i = 0; i < 1000; i++) {
		fg_impair_lost(&two.impair);
		ASSERT_EQ(one.Decide().duplicate, two.Decide().duplicate);
	}
}

TEST(Impair, FiresForEveryNth)
{
	fg_impair_config config = {};

	config.duplicate.every = 3;
	config.duplicate_ns = 40;
	config.corrupt.every = 4;
	config.reorder.every = 5;
	config.reorder_ns = 1000;
	Path path(config);
	EXPECT_TRUE(path.impair.alters);
	for (int i = 1; i <= 600; i++) {
		fg_verdict verdict = path.Decide(7);

		ASSERT_EQ(i % 3 == 0, verdict.duplicate);
		ASSERT_EQ(i % 4 == 0, verdict.actions == 1u << FG_IMPAIR_CORRUPT);
		ASSERT_EQ(i % 5 == 0 ? 1007u : 7u, verdict.time);
		ASSERT_EQ(verdict.time + 40, verdict.copy_time);
		ASSERT_EQ(0u, verdict.places);
	}
}

TEST(Impair, AsksForPlacesOfThoseItReorders)
{
	fg_impair_config config = {};

	config.reorder.every = 2;
	config.reorder_places = 7;
	config.reorder_ns = 50;
	Path path(config);
	EXPECT_EQ(0u, path.Decide(1).places);
	fg_verdict verdict = path.Decide(1);
	EXPECT_EQ(7u, verdict.places);
	EXPECT_EQ(51u, verdict.time);
}

TEST(Corruption, InvertsSoManyBitsWhereItMay)
{
	for (uint32_t bits : {0, 1, 2, 17, 64})
		for (uint32_t length : {15, 16, 60, 1514}) {
			fg_impair_config config = {};

			config.corrupt_bits = bits;
			config.corrupt_skip = 6;
			config.corrupt_spare = 4;
			Path path(config);
			for (int round = 0; round < 200; round++) {
				std::vector<uint8_t> frame(length, 0xa5);
				size_t inverted = 0;

				EXPECT_TRUE(path.Corrupt(frame.data(), length));
				for (uint32_t i = 0; i < length; i++) {
					size_t here = std::bitset<8>(frame[i] ^ 0xa5u).count();

					inverted += here;
					ASSERT_TRUE(here == 0 || (i >= 6 && i < length - 4));
				}
				ASSERT_EQ(std::min<size_t>(bits == 0 ? 1 : bits, 8 * (length - 10)),
					  inverted);
			}
		}
}

TEST(Corruption, LeavesAFrameAloneThatIsTooShort)
{
	fg_impair_config config = {};
	uint8_t frame[10] = {};

	config.corrupt_skip = 6;
	config.corrupt_spare = 4;
	Path path(config);
	EXPECT_FALSE(path.Corrupt(frame, 10));
	EXPECT_EQ(0, memcmp(frame, "\0\0\0\0\0\0\0\0\0", 10));
}

TEST(Corruption, ReachesEveryBit)
{
	fg_impair_config config = {};
	std::vector<uint8_t> frame(16), all(16);
	Path path(config);

	for (int i = 0; i < 5000; i++) {
		std::fill(frame.begin(), frame.end(), 0);
		path.Corrupt(frame.data(), 16);
		for (int k = 0; k < 16; k++)
			all[k] |= frame[k];
	}
	EXPECT_EQ(std::vector<uint8_t>(16, 0xff), all);
}

TEST(Impair, RefusesWhatIsNone)
{
	fg_impair_config config = {};

	config.loss.random = 1.5;
	expect_refused(config, "path.loss_random");
	config = {};
	config.burst_end = -1;
	expect_refused(config, "path.loss_bursts.end");
	config = {};
	config.loss.every = 3;
	config.loss_run = 4;
	expect_refused(config, "path.loss_run");
	config = {};
	config.loss_pattern_length = 65;
	expect_refused(config, "path.loss_pattern");
	config = {};
	config.jitter_mean_ns = NAN;
	expect_refused(config, "path.jitter.mean");
	config = {};
	config.jitter = FG_JITTER_PARETO;
	config.jitter_mean_ns = 1;
	config.jitter_shape = 1;
	expect_refused(config, "path.jitter.shape");
	config = {};
	config.reorder.every = 3;
	expect_refused(config, "path.reorder.late");
	config = {};
	config.corrupt_bits = 65;
	expect_refused(config, "path.corrupt.bits");
}

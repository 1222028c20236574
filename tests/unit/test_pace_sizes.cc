/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of frame sizes, and loads that are paced by the bytes in them. */
#include <cerrno>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "fg_pace.h"

namespace
{

const uint64_t wire_hz = 1000000000000; /* picoseconds */

struct Free {
	void
	operator()(fg_sizes *s) const
	{
		fg_sizes_free(s);
	}
};
using Sizes = std::unique_ptr<fg_sizes, Free>;

Sizes
cycle(const std::vector<uint16_t> &list)
{
	fg_sizes *out = nullptr;

	EXPECT_EQ(0, fg_sizes_create(list.data(), unsigned(list.size()), &out, nullptr));
	return Sizes(out);
}

/* RFC 6985, 3: IMIX aaafg */
const std::vector<uint16_t> aaafg = {64, 64, 64, 1280, 1518};
const std::vector<uint16_t> simple = {64, 64, 570, 64, 64, 570, 64, 570, 64, 64, 570, 1518};

} // namespace

TEST(Sizes, FollowFromTheNumberAlone)
{
	Sizes s = cycle(aaafg), copy(fg_sizes_copy(s.get(), nullptr));
	uint64_t octets = 0;

	EXPECT_EQ(5u, s->length);
	EXPECT_EQ(3u, s->kinds);
	EXPECT_EQ(3u * 64 + 1280 + 1518, s->octets);
	for (uint64_t n = 0; n < 100; n++) {
		EXPECT_EQ(aaafg[n % 5], fg_sizes_of(s.get(), n));
		EXPECT_EQ(aaafg[n % 5], fg_sizes_of(copy.get(), n));
		EXPECT_EQ(octets, fg_sizes_octets(s.get(), n));
		EXPECT_EQ(octets, fg_sizes_octets(copy.get(), n));
		octets += aaafg[n % 5];
	}
}

TEST(Sizes, OfEveryLengthAndKind)
{
	std::vector<uint16_t> all;

	for (unsigned size = 65535; size > 0; size--)
		all.push_back(uint16_t(size));
	Sizes s = cycle(all), one = cycle({1});
	EXPECT_EQ(65535u, s->kinds);
	EXPECT_EQ(65535ull * 65536 / 2, s->octets);
	EXPECT_EQ(65535u, fg_sizes_of(s.get(), 0));
	EXPECT_EQ(1u, fg_sizes_of(s.get(), 65534));
	EXPECT_EQ(65535u, fg_sizes_of(s.get(), 65535));
	EXPECT_EQ(7u, fg_sizes_octets(one.get(), 7));
}

TEST(Sizes, RefuseListsThatAreNone)
{
	std::vector<uint16_t> long_list(FG_SIZES_MAX + 1, 64);
	fg_sizes *out = nullptr;
	fg_error err = {};
	uint16_t nothing = 0;

	EXPECT_EQ(-ERANGE, fg_sizes_create(long_list.data(), 0, &out, nullptr));
	EXPECT_EQ(-ERANGE, fg_sizes_create(long_list.data(), FG_SIZES_MAX + 1, &out, &err));
	EXPECT_STREQ("stream.size", err.where);
	EXPECT_EQ(-ERANGE, fg_sizes_create(&nothing, 1, &out, nullptr));
	EXPECT_EQ(nullptr, out);
	EXPECT_EQ(0, fg_sizes_create(long_list.data(), FG_SIZES_MAX, &out, nullptr));
	fg_sizes_free(out);
}

/* at the line rate of 10 Gb/s, by the bytes at layer 1, each frame begins when the one before it has left
 * the line */
TEST(PaceOctets, FillALine)
{
	for (const std::vector<uint16_t> &list : {aaafg, simple}) {
		Sizes s = cycle(list);
		double mean = double(s->octets) / s->length;
		const uint64_t frames = 100000;
		uint64_t octets = 0;
		fg_pace p;

		ASSERT_EQ(0, fg_pace_constant(&p, 10e9 / (8 * (mean + 20)), wire_hz, 3, frames, 0, nullptr));
		ASSERT_EQ(0, fg_pace_octets(&p, s.get(), 0, 20, nullptr));
		for (uint64_t i = 0; i < frames; i++) {
			/* 800 ps a byte; a mean rate is no exact double */
			ASSERT_NEAR(3 + 800.0 * double(octets), double(fg_pace_at(&p, i)), 1) << i;
			ASSERT_EQ(fg_pace_at(&p, i), fg_pace_next(&p)) << i;
			octets += list[i % list.size()] + 20;
			fg_pace_commit(&p, 1);
		}
		EXPECT_EQ(UINT64_MAX, fg_pace_next(&p));
	}
}

/* the rates of the table of simple mixes, in frames/s at 10 Gb/s */
TEST(PaceOctets, HaveTheMeanRateOfTheMix)
{
	const struct {
		uint16_t middle;
		unsigned fps;
	} mixes[] = {{570, 3343736}, {594, 3273679}, {576, 3325942}};

	for (const auto &mix : mixes) {
		Sizes s = cycle(
			{64, 64, mix.middle, 64, 64, mix.middle, 64, mix.middle, 64, 64, mix.middle, 1518});
		double mean = double(s->octets) / s->length;

		EXPECT_EQ(mix.fps, unsigned(10e9 / (8 * (mean + 20))));
	}
}

TEST(PaceOctets, CountsWhatTheLayerOfTheRateCounts)
{
	Sizes s = cycle({64, 1518});
	fg_pace p;

	/* layer 3 of untagged frames: 46 and 1500 bytes */
	ASSERT_EQ(0, fg_pace_constant(&p, 1000, wire_hz, 0, 100, 0, nullptr));
	ASSERT_EQ(0, fg_pace_octets(&p, s.get(), 0, -18, nullptr));
	for (uint64_t k = 0; k < 50; k++) {
		EXPECT_EQ(k * 2000000000, fg_pace_at(&p, 2 * k));
		EXPECT_NEAR(double(k) * 2e9 + 2e9 * 46 / 1546, double(fg_pace_at(&p, 2 * k + 1)), 1);
	}
	ASSERT_EQ(0, fg_pace_constant(&p, 1000, wire_hz, 0, 100, 0, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_octets(&p, s.get(), 0, -64, nullptr));
	EXPECT_TRUE(p.even);
}

TEST(PaceOctets, GoesOnWhereTheCycleStands)
{
	Sizes s = cycle(simple);
	fg_pace whole, rest;

	ASSERT_EQ(0, fg_pace_constant(&whole, 1000, wire_hz, 0, 100, 0, nullptr));
	rest = whole;
	ASSERT_EQ(0, fg_pace_octets(&whole, s.get(), 0, 20, nullptr));
	ASSERT_EQ(0, fg_pace_octets(&rest, s.get(), 31, 20, nullptr));
	for (uint64_t i = 0; i < 60; i++)
		EXPECT_NEAR(double(fg_pace_at(&whole, 31 + i) - fg_pace_at(&whole, 31)),
			    double(fg_pace_at(&rest, i)), 1);
}

TEST(PaceOctets, InBurstsAndRamps)
{
	Sizes s = cycle({100, 300});
	fg_pace bursts, ramp;

	ASSERT_EQ(0, fg_pace_constant(&bursts, 1000, wire_hz, 0, 1000, 0, nullptr));
	ramp = bursts;
	ASSERT_EQ(0, fg_pace_bursts(&bursts, 10, 100000, wire_hz, nullptr)); /* 50 ns a byte */
	ASSERT_EQ(0, fg_pace_octets(&bursts, s.get(), 0, 0, nullptr));
	for (uint64_t i = 0; i < 1000; i++)
		ASSERT_NEAR(double(i / 10) * 1e10 + 5e4 * double(i % 10 / 2 * 400 + i % 2 * 100),
			    double(fg_pace_at(&bursts, i)), 1);
	ASSERT_EQ(0, fg_pace_ramp(&ramp, 1000, 3000, wire_hz, wire_hz, nullptr));
	ASSERT_EQ(0, fg_pace_octets(&ramp, s.get(), 0, 0, nullptr));
	EXPECT_EQ(2000u, ramp.total);
	for (uint64_t i = 0; i < 2000; i++) {
		double t = double(fg_pace_at(&ramp, i)) / double(wire_hz);

		/* 200 bytes in the mean: the integral of the bit rate is what has left */
		ASSERT_NEAR(double(i / 2 * 400 + i % 2 * 100), 200 * (1000 * t + 1000 * t * t), 1e-3);
	}
}

TEST(PaceOctets, ScattersAFrameInTheTimeOfItsOctets)
{
	Sizes s = cycle(aaafg);
	double mean = double(s->octets) / s->length;
	fg_pace p, even;

	ASSERT_EQ(0, fg_pace_constant(&p, 8e6 / (8 * mean), wire_hz, 0, 1000, UINT64_MAX, nullptr));
	even = p;
	fg_pace_scatter(&p, 1, 1);
	ASSERT_EQ(0, fg_pace_octets(&p, s.get(), 0, 0, nullptr));
	ASSERT_EQ(0, fg_pace_octets(&even, s.get(), 0, 0, nullptr));
	for (uint64_t i = 0; i < 1000; i++) {
		ASSERT_EQ(fg_pace_at(&p, i), fg_pace_next(&p)) << i;
		ASSERT_GE(fg_pace_next(&p), fg_pace_at(&even, i)) << i;
		ASSERT_LT(fg_pace_next(&p), fg_pace_at(&even, i + 1)) << i;
		fg_pace_commit(&p, 1);
	}
}

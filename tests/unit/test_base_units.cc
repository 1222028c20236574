/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "fg_units.h"

namespace
{

struct Reading {
	const char *text;
	double value;
	fg_unit unit;
	int layer;
};

class Reads : public testing::TestWithParam<Reading>
{
};

TEST_P(Reads, AsWritten)
{
	const Reading &want = GetParam();
	fg_quantity got = {};
	fg_error err = {};

	ASSERT_EQ(0, fg_units_parse(want.text, &got, &err)) << err.message;
	EXPECT_DOUBLE_EQ(want.value, got.value);
	EXPECT_EQ(want.unit, got.unit);
	EXPECT_EQ(want.layer, got.layer);
}

INSTANTIATE_TEST_SUITE_P(BitRates, Reads,
			 testing::Values(Reading{"10Gbps", 10e9, FG_UNIT_BPS, 0},
					 Reading{"10 Gbps L2", 10e9, FG_UNIT_BPS, 2},
					 Reading{"5Gbps l1", 5e9, FG_UNIT_BPS, 1},
					 Reading{"\t1.5  Mbit/s  L3 ", 1.5e6, FG_UNIT_BPS, 3},
					 Reading{"64Kbps", 64e3, FG_UNIT_BPS, 0},
					 Reading{"2Tbps", 2e12, FG_UNIT_BPS, 0},
					 Reading{"0bps", 0, FG_UNIT_BPS, 0}));

INSTANTIATE_TEST_SUITE_P(FrameRates, Reads,
			 testing::Values(Reading{"1e3fps", 1e3, FG_UNIT_FPS, 0},
					 Reading{"900kfps", 900e3, FG_UNIT_FPS, 0},
					 Reading{"14.88Mfps", 14.88e6, FG_UNIT_FPS, 0},
					 Reading{"+1 Gfps", 1e9, FG_UNIT_FPS, 0}));

INSTANTIATE_TEST_SUITE_P(Ratios, Reads,
			 testing::Values(Reading{"40%", 0.4, FG_UNIT_RATIO, 0},
					 Reading{"5 %", 0.05, FG_UNIT_RATIO, 0},
					 Reading{"0.1%", 0.001, FG_UNIT_RATIO, 0},
					 Reading{"100ppm", 1e-4, FG_UNIT_RATIO, 0},
					 Reading{"-5%", -0.05, FG_UNIT_RATIO, 0}));

INSTANTIATE_TEST_SUITE_P(
	Times, Reads,
	testing::Values(Reading{"120us", 120e3, FG_UNIT_NS, 0},
			Reading{"120 \xc2\xb5s", 120e3, FG_UNIT_NS, 0}, Reading{".5s", 5e8, FG_UNIT_NS, 0},
			Reading{"2 min", 120e9, FG_UNIT_NS, 0}, Reading{"24h", 86400e9, FG_UNIT_NS, 0},
			Reading{"10e-3s", 1e7, FG_UNIT_NS, 0}, Reading{"1e-400s", 0, FG_UNIT_NS, 0}));

INSTANTIATE_TEST_SUITE_P(Sizes, Reads,
			 testing::Values(Reading{"64B", 64, FG_UNIT_BYTES, 0},
					 Reading{"1 byte", 1, FG_UNIT_BYTES, 0},
					 Reading{"9kB", 9000, FG_UNIT_BYTES, 0},
					 Reading{"1.5KiB", 1536, FG_UNIT_BYTES, 0},
					 Reading{"1GiB", 1073741824.0, FG_UNIT_BYTES, 0},
					 Reading{"512 frames", 512, FG_UNIT_FRAMES, 0},
					 Reading{"1 frame", 1, FG_UNIT_FRAMES, 0}));

INSTANTIATE_TEST_SUITE_P(BareNumbers, Reads,
			 testing::Values(Reading{" 7 ", 7, FG_UNIT_NONE, 0}, Reading{"0", 0, FG_UNIT_NONE, 0},
					 Reading{"-3.25", -3.25, FG_UNIT_NONE, 0},
					 Reading{"5.", 5, FG_UNIT_NONE, 0},
					 Reading{"007", 7, FG_UNIT_NONE, 0}));

class Refuses : public testing::TestWithParam<const char *>
{
};

TEST_P(Refuses, WithTheTextAndWhatWasExpected)
{
	fg_quantity out = {123, FG_UNIT_FRAMES, 9};
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_units_parse(GetParam(), &out, &err));
	EXPECT_EQ(EINVAL, err.code);
	EXPECT_NE(nullptr, strstr(err.message, "10Gbps"));
	EXPECT_EQ(0, strncmp(err.message + 1, GetParam(), std::min<size_t>(40, strlen(GetParam()))));
	EXPECT_EQ(123, out.value) << "untouched on failure";
	EXPECT_EQ(FG_UNIT_FRAMES, out.unit);
	EXPECT_EQ(9, out.layer);
}

INSTANTIATE_TEST_SUITE_P(NoNumber, Refuses,
			 testing::Values("", " ", "Gbps", ".", "+", "-", "+-5", "e5", "nan", "-nan", "inf",
					 "-inf", "+infinity", "0x10", "-0X10", "1,5s", "1.2.3", "1_000"));

INSTANTIATE_TEST_SUITE_P(NoUnit, Refuses,
			 testing::Values("5%%", "5 % %", "1e", "1e+", "10gbps", "10mbps", "1MS", "1kiB",
					 "5 apples", "1 500fps", "5\n", "10 Gigabits per second"));

INSTANTIATE_TEST_SUITE_P(NoLayer, Refuses,
			 testing::Values("10Gbps L4", "10Gbps L0", "10Gbps L", "10Gbps L22", "10Gbps L2 L2",
					 "10GbpsL1", "900kfps L2", "64B L1", "5 L1", "L1"));

TEST(Units, NumbersWithoutEndAreOutOfRange)
{
	for (const char *text : {"1e400", "-1e400", "1e308Tbps"}) {
		fg_quantity out;
		fg_error err = {};

		EXPECT_EQ(-ERANGE, fg_units_parse(text, &out, &err)) << text;
		EXPECT_EQ(ERANGE, err.code);
	}
}

TEST(Units, PercentIsTheNearestDouble)
{
	fg_quantity out;

	for (int percent = 0; percent <= 100; percent++) {
		ASSERT_EQ(0, fg_units_parse((std::to_string(percent) + "%").c_str(), &out, nullptr));
		EXPECT_EQ(percent / 100.0, out.value);
	}
}

TEST(Units, MinusZeroIsZero)
{
	fg_quantity out;

	ASSERT_EQ(0, fg_units_parse("-0", &out, nullptr));
	EXPECT_FALSE(std::signbit(out.value));
}

TEST(Units, AnEndlessTextIsCutInTheMessage)
{
	fg_quantity out;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_units_parse(std::string(100000, 'x').c_str(), &out, &err));
	EXPECT_LT(strlen(err.message), 150u);
}

} // namespace

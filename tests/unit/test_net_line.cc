/* SPDX-License-Identifier: BSD-3-Clause */
#include <gtest/gtest.h>

#include "fg_net.h"

namespace
{

const uint64_t rates[] = {10000000,    100000000,   1000000000,   2500000000,   10000000000,
			  25000000000, 40000000000, 100000000000, 200000000000, 400000000000};

/* RFC 5180, A.1, without its misprints */
const struct {
	unsigned size;
	uint64_t fps[10];
} table[] = {
	{64,
	 {14880, 148809, 1488095, 3720238, 14880952, 37202380, 59523809, 148809523, 297619047, 595238095}},
	{128, {8445, 84459, 844594, 2111486, 8445945, 21114864, 33783783, 84459459, 168918918, 337837837}},
	{256, {4528, 45289, 452898, 1132246, 4528985, 11322463, 18115942, 45289855, 90579710, 181159420}},
	{512, {2349, 23496, 234962, 587406, 2349624, 5874060, 9398496, 23496240, 46992481, 93984962}},
	{1024, {1197, 11973, 119731, 299329, 1197318, 2993295, 4789272, 11973180, 23946360, 47892720}},
	{1280, {961, 9615, 96153, 240384, 961538, 2403846, 3846153, 9615384, 19230769, 38461538}},
	{1518, {812, 8127, 81274, 203185, 812743, 2031859, 3250975, 8127438, 16254876, 32509752}},
	{1522, {810, 8106, 81063, 202658, 810635, 2026588, 3242542, 8106355, 16212710, 32425421}},
	{9018, {138, 1383, 13830, 34576, 138304, 345762, 553219, 1383049, 2766098, 5532197}},
};

} // namespace

TEST(Line, CarriesWhatRfc5180Says)
{
	for (const auto &row : table)
		for (int i = 0; i < 10; i++)
			EXPECT_EQ(row.fps[i], fg_line_max_fps(rates[i], row.size))
				<< row.size << " octets at " << rates[i] << " bit/s";
}

TEST(Line, IsRightWhereRfc5180IsMisprinted)
{
	EXPECT_EQ(30369u, fg_line_max_fps(1000000000, 4096));
	EXPECT_EQ(303692u, fg_line_max_fps(10000000000, 4096));
	EXPECT_EQ(13533u, fg_line_max_fps(1000000000, 9216));
}

TEST(Line, CarriesNothingAtNoRate)
{
	EXPECT_EQ(0u, fg_line_max_fps(0, 64));
	EXPECT_EQ(0u, fg_line_max_fps(100, 64));
}

TEST(Line, NeverPromisesMoreThanFits)
{
	for (uint64_t rate : rates)
		for (unsigned size = FG_ETHER_MIN; size <= FG_FRAME_MAX; size++) {
			uint64_t fps = fg_line_max_fps(rate, size), bits = 8 * (size + 20);

			ASSERT_LE(fps * bits, rate);
			ASSERT_GT((fps + 1) * bits, rate);
		}
}

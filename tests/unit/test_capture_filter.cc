/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters in the language of pcap-filter(7). */
#include <cstring>

#include <gtest/gtest.h>

#include <pcap/pcap.h>

#include "fg_filter.h"

TEST(Filter, KnowsTheLengthOfAFrameOfWhichLessIsKept)
{
	const uint8_t frame[64] = {};
	bpf_program longer = {};

	ASSERT_EQ(0, fg_filter_compile("greater 1000", "filter", &longer, nullptr));
	EXPECT_TRUE(fg_filter_passes(&longer, frame, 1000, sizeof(frame)));
	EXPECT_FALSE(fg_filter_passes(&longer, frame, 999, sizeof(frame)));
	pcap_freecode(&longer);
}

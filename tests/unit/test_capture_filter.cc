/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters in the language of pcap-filter(7). */
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

#include <pcap/pcap.h>

#include "fg_filter.h"

TEST(Filter, RefusesWhatOnlyTheKernelKnows)
{
	for (const char *text : {"inbound", "outbound", "udp and inbound"}) {
		fg_error err = {};

		EXPECT_EQ(-EINVAL, fg_filter_check(text, "filter", &err)) << text;
		EXPECT_NE(nullptr, strstr(err.message, "only the kernel knows")) << err.message;
	}
	for (const char *text :
	     {"", "vlan", "vlan and vlan 7", "ip6 and udp", "ether[12:2] & 0x800 != 0", "len > 100"})
		EXPECT_EQ(0, fg_filter_check(text, "filter", nullptr)) << text;
}

TEST(Filter, KnowsTheLengthOfAFrameOfWhichLessIsKept)
{
	const uint8_t frame[64] = {};
	bpf_program longer = {};

	ASSERT_EQ(0, fg_filter_compile("greater 1000", "filter", &longer, nullptr));
	EXPECT_TRUE(fg_filter_passes(&longer, frame, 1000, sizeof(frame)));
	EXPECT_FALSE(fg_filter_passes(&longer, frame, 999, sizeof(frame)));
	pcap_freecode(&longer);
}

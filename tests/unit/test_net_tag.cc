/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN tags out of and into a frame. */
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fg_net.h"

namespace
{

const std::vector<uint8_t> tagged = {1,  2,  3,    4, 5,    6,  11, 12, 13,   14,
				     15, 16, 0x81, 0, 0x60, 10, 8,  6,  0xaa, 0xbb};
const std::vector<uint8_t> plain = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 8, 6, 0xaa, 0xbb};

TEST(Tag, ComesOutWithItsPriorityAndLeavesTheRest)
{
	std::vector<uint8_t> frame = tagged;

	EXPECT_EQ(0x8100600au, fg_net_untag(frame.data(), frame.size()));
	EXPECT_EQ(plain, std::vector<uint8_t>(frame.begin() + FG_NET_TAG, frame.end()));
}

TEST(Tag, GoesBackIn)
{
	std::vector<uint8_t> frame(FG_NET_TAG);

	frame.insert(frame.end(), plain.begin(), plain.end());
	fg_net_tag(frame.data(), 0x8100600a);
	EXPECT_EQ(tagged, frame);
}

TEST(Tag, IsThePortsByItsVlanOrAtAPortWithoutOneByItsPriorityAlone)
{
	std::vector<uint8_t> priority = tagged, service = tagged;

	priority[15] = 0;
	service[12] = 0x88;
	service[13] = 0xa8;
	EXPECT_EQ(FG_NET_TAG, fg_net_own_tag(tagged.data(), tagged.size(), 0x8100000a));
	EXPECT_EQ(-1, fg_net_own_tag(tagged.data(), tagged.size(), 0x8100000b));
	EXPECT_EQ(-1, fg_net_own_tag(priority.data(), priority.size(), 0x8100000a));
	EXPECT_EQ(-1, fg_net_own_tag(plain.data(), plain.size(), 0x8100000a));
	EXPECT_EQ(0, fg_net_own_tag(plain.data(), plain.size(), 0));
	EXPECT_EQ(-1, fg_net_own_tag(tagged.data(), tagged.size(), 0)) << "the frame is of a VLAN";
	EXPECT_EQ(-1, fg_net_own_tag(service.data(), service.size(), 0)) << "and this one of a provider's";
	EXPECT_EQ(FG_NET_TAG, fg_net_own_tag(priority.data(), priority.size(), 0));
	EXPECT_EQ(0, fg_net_own_tag(priority.data(), 17, 0)) << "too short for a tag";
}

TEST(Tag, AnUntaggedOrShortFrameIsLeftAlone)
{
	std::vector<uint8_t> frame = plain;

	frame.resize(60);
	auto before = frame;
	EXPECT_EQ(0u, fg_net_untag(frame.data(), frame.size()));
	EXPECT_EQ(before, frame);
	for (size_t length = 0; length < 18; length++) {
		std::vector<uint8_t> cut(tagged.begin(), tagged.begin() + static_cast<long>(length));

		EXPECT_EQ(0u, fg_net_untag(cut.data(), cut.size()));
	}
}

} // namespace

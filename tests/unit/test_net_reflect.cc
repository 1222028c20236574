/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are turned round: what changes places, and that checksums stay right. */
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fg_net.h"

namespace
{

using Bytes = std::vector<uint8_t>;

const Bytes macs = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, macs_back = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
const Bytes ipv4 = {0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x10, 0x20, 198, 18, 1, 2, 198, 19, 1, 2};
const Bytes ipv4_back = {0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x10, 0x20, 198, 19, 1, 2, 198, 18, 1, 2};
const Bytes udp = {0xc0, 0x20, 0, 7, 0, 8, 0xab, 0xcd}, udp_back = {0, 7, 0xc0, 0x20, 0, 8, 0xab, 0xcd};

Bytes
join(std::initializer_list<Bytes> parts)
{
	Bytes all;

	for (const Bytes &part : parts)
		all.insert(all.end(), part.begin(), part.end());
	return all;
}

Bytes
ipv6(uint8_t next, uint8_t src, uint8_t dst)
{
	Bytes header(40);

	header[0] = 0x60;
	header[6] = next;
	header[8] = header[24] = 0x20;
	header[23] = src;
	header[39] = dst;
	return header;
}

void
expect_reflected(const Bytes &before, const Bytes &after)
{
	Bytes frame = before;

	EXPECT_TRUE(fg_net_reflect(frame.data(), frame.size()));
	EXPECT_EQ(after, frame);
	EXPECT_TRUE(fg_net_reflect(frame.data(), frame.size()));
	EXPECT_EQ(before, frame) << "twice is as it was";
}

void
expect_left_alone(const Bytes &before)
{
	Bytes frame = before;

	EXPECT_FALSE(fg_net_reflect(frame.data(), frame.size()));
	EXPECT_EQ(before, frame);
}

} // namespace

TEST(Reflect, SwapsMacAddressesAndPorts)
{
	expect_reflected(join({macs, {8, 0}, ipv4, udp}), join({macs_back, {8, 0}, ipv4_back, udp_back}));
	for (uint8_t protocol : {6, 17, 132})
		expect_reflected(join({macs, {0x86, 0xdd}, ipv6(protocol, 1, 2), udp}),
				 join({macs_back, {0x86, 0xdd}, ipv6(protocol, 2, 1), udp_back}));
}

TEST(Reflect, LeavesTagsWhereTheyAre)
{
	const Bytes tags = {0x88, 0xa8, 0x60, 7, 0x81, 0, 0x20, 9, 8, 0};

	expect_reflected(join({macs, tags, ipv4, udp}), join({macs_back, tags, ipv4_back, udp_back}));
}

TEST(Reflect, FindsPortsBehindOptionsOnly)
{
	Bytes longer = ipv4, longer_back = ipv4_back;
	const Bytes options = {1, 1, 1, 0};

	longer[0] = longer_back[0] = 0x46;
	expect_reflected(join({macs, {8, 0}, longer, options, udp}),
			 join({macs_back, {8, 0}, longer_back, options, udp_back}));
}

TEST(Reflect, TouchesNoPortsWhereThereAreNone)
{
	Bytes later = ipv4, later_back = ipv4_back, gre = ipv4, gre_back = ipv4_back;

	later[7] = later_back[7] = 1; /* not the first fragment */
	expect_reflected(join({macs, {8, 0}, later, udp}), join({macs_back, {8, 0}, later_back, udp}));
	gre[9] = gre_back[9] = 47;
	expect_reflected(join({macs, {8, 0}, gre, udp}), join({macs_back, {8, 0}, gre_back, udp}));
	expect_reflected(join({macs, {8, 0}, ipv4, {1, 2, 3}}),
			 join({macs_back, {8, 0}, ipv4_back, {1, 2, 3}}));
	expect_reflected(join({macs, {0x88, 0x47}, udp}), join({macs_back, {0x88, 0x47}, udp}));
}

TEST(Reflect, LeavesAloneWhatWouldOnlyConfuse)
{
	Bytes many = macs, from_many = macs, icmp = ipv4, cut = ipv4;

	many[0] = 0xff;
	from_many[6] = 3;
	icmp[9] = 1;
	cut[0] = 0x4f;
	expect_left_alone(join({many, {8, 0}, ipv4, udp}));
	expect_left_alone(join({from_many, {8, 0}, ipv4, udp}));
	expect_left_alone(join({macs, {8, 0}, icmp, udp}));
	expect_left_alone(join({macs, {8, 0}, cut, udp}));
	expect_left_alone(join({macs, {0x86, 0xdd}, ipv6(58, 1, 2), udp}));
	expect_left_alone(join({macs, {8, 6}, Bytes(28)}));
	for (size_t length : {0, 13, 14, 33}) {
		Bytes frame = join({macs, {8, 0}, ipv4, udp});

		frame.resize(length);
		expect_left_alone(frame);
	}
	expect_left_alone(join({macs, {0x81, 0, 0}}));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the IP packet of a frame is, and whether it is a fragment or quotes another. */
#include <gtest/gtest.h>

#include "net_frames.h"

namespace
{

using frames::Bytes;

Bytes
header(unsigned type, const Bytes &rest)
{
	Bytes b = frames::ethernet(frames::peer_mac, frames::host_mac, type);

	frames::append(b, rest);
	return b;
}

Bytes
ipv4(uint8_t protocol, const Bytes &inside, uint16_t fragment = 0)
{
	size_t all = 20 + inside.size();
	Bytes b = {0x45,
		   0,
		   uint8_t(all >> 8),
		   uint8_t(all),
		   0,
		   0,
		   uint8_t(fragment >> 8),
		   uint8_t(fragment),
		   64,
		   protocol,
		   0,
		   0,
		   198,
		   18,
		   1,
		   2,
		   198,
		   18,
		   1,
		   1};

	frames::append(b, inside);
	return b;
}

Bytes
ipv6(uint8_t next, const Bytes &inside)
{
	Bytes b = {0x60, 0, 0, 0, uint8_t(inside.size() >> 8), uint8_t(inside.size()), next, 64};

	frames::append(b, frames::host_ipv6);
	frames::append(b, frames::peer_ipv6);
	frames::append(b, inside);
	return b;
}

Bytes
joined(Bytes a, const Bytes &b)
{
	frames::append(a, b);
	return a;
}

fg_net_packet
found(const Bytes &frame)
{
	fg_net_packet out;

	memset(&out, 0xa5, sizeof(out));
	fg_net_find_packet(frame.data(), frame.size(), &out);
	return out;
}

const Bytes udp = {0, 7, 0, 7, 0, 12, 0, 0, 1, 2, 3, 4};

void
expect(const Bytes &frame, unsigned version, unsigned protocol, size_t before, size_t content)
{
	fg_net_packet p = found(frame);

	EXPECT_EQ(version, p.version);
	EXPECT_EQ(protocol, p.protocol);
	EXPECT_EQ(before, p.header);
	EXPECT_EQ(content, p.content);
	EXPECT_FALSE(p.fragment || p.error);
}

} // namespace

TEST(NetPacket, IsBehindTagsLabelsAndPppoe)
{
	expect(header(0x0800, ipv4(17, udp)), 4, 17, 14, 34);
	expect(header(0x86dd, ipv6(17, udp)), 6, 17, 14, 54);
	expect(header(0x8100, joined({0, 5, 8, 0}, ipv4(17, udp))), 4, 17, 18, 38);
	expect(header(0x88a8, joined({0, 5, 0x81, 0, 0, 6, 0x86, 0xdd}, ipv6(17, udp))), 6, 17, 22, 62);
	expect(header(0x8847, joined({0, 0, 0x10, 64, 0, 0, 0x21, 64}, ipv4(17, udp))), 4, 17, 22, 42);
	expect(header(0x8864, joined({0x11, 0, 0, 1, 0, 34, 0, 0x21}, ipv4(17, udp))), 4, 17, 22, 42);
}

TEST(NetPacket, IsTheInnermostOfIpInIpAndBehindExtensionHeaders)
{
	expect(header(0x0800, ipv4(4, ipv4(17, udp))), 4, 17, 34, 54);
	expect(header(0x0800, ipv4(41, ipv6(17, udp))), 6, 17, 34, 74);
	expect(header(0x86dd, ipv6(0, joined({60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0}, udp))), 6,
	       17, 14, 70);
	expect(header(0x86dd, ipv6(44, joined({17, 0, 0, 0, 0, 0, 0, 9}, udp))), 6, 17, 14, 62);
}

TEST(NetPacket, IsAFragment)
{
	EXPECT_TRUE(found(header(0x0800, ipv4(17, udp, 0x2000))).fragment) << "the first";
	EXPECT_TRUE(found(header(0x0800, ipv4(17, udp, 0x00ac))).fragment) << "the last";
	EXPECT_FALSE(found(header(0x0800, ipv4(17, udp, 0x4000))).fragment) << "it must not be one";
	EXPECT_TRUE(found(header(0x86dd, ipv6(44, joined({17, 0, 0, 1, 0, 0, 0, 9}, udp)))).fragment);
	EXPECT_TRUE(found(header(0x86dd, ipv6(44, joined({17, 0, 5, 0, 0, 0, 0, 9}, udp)))).fragment);
}

TEST(NetPacket, IsAnErrorThatQuotesAnother)
{
	const Bytes quoted = ipv4(17, udp);

	for (unsigned type = 0; type < 20; type++) {
		Bytes icmp = {uint8_t(type), 3, 0, 0, 0, 0, 0, 0};
		bool error = type == 3 || type == 4 || type == 5 || type == 11 || type == 12;

		EXPECT_EQ(error, found(header(0x0800, ipv4(1, joined(icmp, quoted)))).error) << type;
	}
	EXPECT_TRUE(found(header(0x86dd, ipv6(58, {2, 0, 0, 0, 0, 0, 5, 0}))).error) << "packet too big";
	EXPECT_FALSE(found(header(0x86dd, ipv6(58, {128, 0, 0, 0, 0, 0, 0, 0}))).error) << "echo";
}

TEST(NetPacket, IsNotWhereItIsCutOff)
{
	const Bytes all[] = {header(0x0800, ipv4(17, udp)),
			     header(0x86dd, ipv6(44, {17, 0, 5, 0, 0, 0, 0, 9})),
			     header(0x8847, {0, 0, 0x10, 64}), header(0x0806, Bytes(28))};

	for (const Bytes &frame : all)
		for (size_t length = 0; length <= frame.size(); length++) {
			Bytes cut(frame.begin(), frame.begin() + long(length));
			fg_net_packet p = found(cut);

			EXPECT_TRUE(p.version == 0 || p.content <= length);
		}
	EXPECT_EQ(0u, found(all[2]).version);
	EXPECT_EQ(0u, found(all[3]).version);
}

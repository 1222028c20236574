/* SPDX-License-Identifier: BSD-3-Clause */
/* What frames are called that the tester did not send. */
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_net.h"
#include "net_frames.h"

namespace
{

using frames::Bytes;

Bytes
frame(unsigned type, const Bytes &inside)
{
	Bytes b = frames::ethernet(frames::host_mac, frames::peer_mac, type);

	frames::append(b, inside);
	return b;
}

Bytes
ipv4(uint8_t protocol)
{
	Bytes b(20);

	b[0] = 0x45;
	b[9] = protocol;
	return b;
}

/* with a hop-by-hop header in front, as MLD has it */
Bytes
ipv6(uint8_t protocol, uint8_t type, bool alert = false)
{
	Bytes b(40);

	b[0] = 0x60;
	b[6] = alert ? 0 : protocol;
	if (alert)
		frames::append(b, Bytes{protocol, 0, 5, 2, 0, 0, 1, 0});
	b.push_back(type);
	return b;
}

std::string
kind(const Bytes &b)
{
	return fg_net_kind_name(fg_net_kind(b.data(), b.size()));
}

TEST(Kind, IsToldByTypeAndProtocol)
{
	const std::pair<Bytes, const char *> table[] = {
		{frame(0x0806, {}), "arp"},
		{frame(0x0800, ipv4(17)), "ipv4"},
		{frame(0x0800, ipv4(1)), "icmp"},
		{frame(0x0800, ipv4(2)), "membership"},
		{frame(0x86dd, ipv6(17, 0)), "ipv6"},
		{frame(0x86dd, ipv6(58, 128)), "icmp"},
		{frame(0x86dd, ipv6(58, 133)), "nd"},
		{frame(0x86dd, ipv6(58, 136)), "nd"},
		{frame(0x86dd, ipv6(58, 143, true)), "membership"},
		{frame(0x86dd, ipv6(17, 143, true)), "ipv6"},
		{frame(0x8847, {}), "mpls"},
		{frame(0x88cc, {}), "lldp"},
		{frame(0x8809, {1}), "lacp"},
		{frame(0x8809, {3}), "other"}, /* OAM */
		{frame(0x8808, {0, 1}), "pause"},
		{frame(38, {0x42, 0x42, 3}), "stp"},
		{frame(38, {0xfe, 0xfe, 3}), "other"}, /* IS-IS */
		{frame(0x9000, {0x42}), "other"},
	};

	for (const auto &row : table)
		EXPECT_EQ(row.second, kind(row.first)) << testing::PrintToString(row.first);
}

TEST(Kind, IsThatBehindTheTags)
{
	EXPECT_EQ("arp", kind(frame(0x8100, {0x60, 10, 8, 6})));
	EXPECT_EQ("lldp", kind(frame(0x88a8, {0, 1, 0x81, 0, 0, 2, 0x88, 0xcc})));
}

TEST(Kind, OfWhatIsCutShortIsWhatCanBeSeen)
{
	const Bytes whole = frame(0x8100, {0, 1, 0x86, 0xdd});

	for (size_t length = 0; length < 18; length++) {
		Bytes cut(whole.begin(), whole.begin() + long(length));

		EXPECT_EQ("other", kind(cut)) << length;
	}
	EXPECT_EQ("ipv6", kind(whole));
	EXPECT_EQ("ipv4", kind(frame(0x0800, {0x45, 0, 0})));
	for (size_t length = 0; length < 49; length++) {
		Bytes cut = ipv6(58, 143, true);

		cut.resize(length);
		EXPECT_EQ("ipv6", kind(frame(0x86dd, cut))) << length;
	}
}

TEST(Kind, EachHasAName)
{
	for (int i = 0; i < FG_NET_KINDS; i++)
		EXPECT_NE(nullptr, fg_net_kind_name(static_cast<enum fg_net_kind>(i)));
	EXPECT_EQ(nullptr, fg_net_kind_name(FG_NET_KINDS));
}

} // namespace

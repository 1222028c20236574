// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_membership.h"

namespace
{

// 198.18.1.2 and fe80::1 with the MAC 02:00:00:00:00:01
fg_host
host()
{
	fg_host h = {};

	h.has_ipv4 = h.has_ipv6 = true;
	fg_mac_parse("02:00:00:00:00:01", h.mac, nullptr);
	fg_ipv4_parse("198.18.1.2", h.ipv4, nullptr);
	fg_ipv6_parse("fe80::1", h.ipv6, nullptr);
	return h;
}

fg_membership_group
group(const char *text, const char *source = nullptr)
{
	fg_membership_group g = {};
	bool six = strchr(text, ':') != nullptr;

	(six ? fg_ipv6_parse : fg_ipv4_parse)(text, g.group, nullptr);
	g.has_source = source != nullptr;
	if (g.has_source)
		(six ? fg_ipv6_parse : fg_ipv4_parse)(source, g.source, nullptr);
	return g;
}

std::string
hex(const std::vector<uint8_t> &octets, size_t from = 0)
{
	std::string out;
	char two[3];

	for (size_t i = from; i < octets.size(); i++) {
		snprintf(two, sizeof(two), "%02x", octets[i]);
		out += two;
	}
	return out;
}

std::vector<uint8_t>
report(fg_membership_version version, fg_membership_change change,
       const std::vector<fg_membership_group> &groups)
{
	std::vector<uint8_t> out(FG_MEMBERSHIP_ROOM);
	fg_host h = host();

	out.resize(fg_membership_report(&h, version, change, groups.data(), (unsigned)groups.size(),
					out.data()));
	return out;
}

std::vector<uint8_t>
query(fg_membership_version version, const fg_membership_group *group, uint64_t ns)
{
	std::vector<uint8_t> out(FG_MEMBERSHIP_ROOM);
	fg_host h = host();

	out.resize(
		fg_membership_query(&h, version, group == nullptr ? nullptr : group->group, ns, out.data()));
	return out;
}

// what a reader finds in it: "join", "leave", each with an address' last byte; "damaged"
std::string
read(const std::vector<uint8_t> &frame)
{
	fg_membership_message m;
	fg_membership_record r;
	std::string out;

	if (!fg_membership_open(frame.data(), frame.size(), &m))
		return "damaged";
	if (m.query)
		return "query " + std::to_string(m.version) + " " + std::to_string(m.response_ns / 1000000);
	while (fg_membership_next(&m, &r))
		out += (r.change == FG_MEMBERSHIP_LEAVE ? "leave " : "join ") +
		       std::to_string(r.group[fg_membership_is_ipv6(m.version) ? 15 : 3]) +
		       (r.sources ? " of sources " : " ");
	return out;
}

const size_t IP = 14, IGMP = 14 + 24, MLD = 14 + 48;

} // namespace

TEST(Membership, JoinsByIgmpV2)
{
	auto frame = report(FG_IGMPV2, FG_MEMBERSHIP_JOIN, {group("239.1.1.1")});

	EXPECT_EQ("01005e010101"
		  "020000000001"
		  "0800"
		  "46c000200000000001026d01c6120102ef010101940400001600f9fcef010101",
		  hex(frame));
	EXPECT_EQ("join 1 ", read(frame));
}

TEST(Membership, LeavesByIgmpV2ToAllRoutersAndNamesTheGroup)
{
	auto frame = report(FG_IGMPV2, FG_MEMBERSHIP_LEAVE, {group("239.1.1.1")});

	EXPECT_EQ("01005e000002", hex(frame).substr(0, 12));
	EXPECT_EQ("46c000200000000001027d01c6120102e0000002940400001700f8fcef010101", hex(frame, IP));
	EXPECT_EQ("leave 1 ", read(frame));
}

TEST(Membership, JoinsAndLeavesByIgmpV3)
{
	auto join = report(FG_IGMPV3, FG_MEMBERSHIP_JOIN, {group("239.1.1.1")});
	auto leave = report(FG_IGMPV3, FG_MEMBERSHIP_LEAVE, {group("239.1.1.1")});

	EXPECT_EQ("01005e000016", hex(join).substr(0, 12));
	EXPECT_EQ("46c000280000000001027ce5c6120102e0000016940400002200e9fb0000000104000000ef010101",
		  hex(join, IP));
	EXPECT_EQ("2200eafb0000000103000000ef010101", hex(leave, IGMP));
	EXPECT_EQ("join 1 ", read(join));
	EXPECT_EQ("leave 1 ", read(leave));
}

TEST(Membership, JoinsAndLeavesOneSourceByIgmpV3)
{
	auto allow = report(FG_IGMPV3, FG_MEMBERSHIP_JOIN, {group("232.1.1.1", "198.18.2.2")});
	auto block = report(FG_IGMPV3, FG_MEMBERSHIP_LEAVE, {group("232.1.1.1", "198.18.2.2")});

	EXPECT_EQ("220027e60000000105000001e8010101c6120202", hex(allow, IGMP));
	EXPECT_EQ("220026e60000000106000001e8010101c6120202", hex(block, IGMP));
	EXPECT_EQ("join 1 of sources ", read(allow));
	EXPECT_EQ("leave 1 of sources ", read(block));
}

TEST(Membership, JoinsAndLeavesByMld)
{
	auto join = report(FG_MLDV1, FG_MEMBERSHIP_JOIN, {group("ff1e::1:1")});
	auto done = report(FG_MLDV1, FG_MEMBERSHIP_LEAVE, {group("ff1e::1:1")});
	auto v2 = report(FG_MLDV2, FG_MEMBERSHIP_JOIN, {group("ff1e::1:1")});

	EXPECT_EQ("333300010001", hex(join).substr(0, 12));
	EXPECT_EQ("6000000000200001"
		  "fe800000000000000000000000000001"
		  "ff1e0000000000000000000000010001"
		  "3a00050200000100"
		  "83007fe900000000ff1e0000000000000000000000010001",
		  hex(join, IP));
	EXPECT_EQ("333300000002", hex(done).substr(0, 12));
	EXPECT_EQ("84007f05", hex(done, MLD).substr(0, 8));
	EXPECT_EQ("333300000016", hex(v2).substr(0, 12));
	EXPECT_EQ("8f006fec0000000104000000ff1e0000000000000000000000010001", hex(v2, MLD));
	EXPECT_EQ("join 1 ", read(join));
	EXPECT_EQ("leave 1 ", read(done));
	EXPECT_EQ("join 1 ", read(v2));
}

TEST(Membership, AsksForOneGroupOrForAll)
{
	auto one = group("239.1.1.1"), six = group("ff1e::1:1");

	EXPECT_EQ("110afef2ef010101", hex(query(FG_IGMPV2, &one, 1000000000), IGMP));
	EXPECT_EQ("query 0 1000", read(query(FG_IGMPV2, &one, 1000000000)));
	EXPECT_EQ("query 0 10000", read(query(FG_IGMPV2, nullptr, 10000000000)));
	EXPECT_EQ("query 1 1000", read(query(FG_IGMPV3, &one, 1000000000)));
	EXPECT_EQ("query 2 1000", read(query(FG_MLDV1, &six, 1000000000)));
	EXPECT_EQ("query 3 10000", read(query(FG_MLDV2, nullptr, 10000000000)));
	EXPECT_EQ("01005e000001", hex(query(FG_IGMPV2, nullptr, 0)).substr(0, 12));
	EXPECT_EQ("333300010001", hex(query(FG_MLDV1, &six, 0)).substr(0, 12));
}

TEST(Membership, HoldsAsManyGroupsAsAPacketOf1500Octets)
{
	std::vector<fg_membership_group> groups(183, group("239.1.1.1"));
	std::string all;

	EXPECT_EQ(183u, fg_membership_records(FG_IGMPV3, false));
	EXPECT_EQ(72u, fg_membership_records(FG_MLDV2, false));
	EXPECT_EQ(1u, fg_membership_records(FG_IGMPV2, false));
	EXPECT_GE(size_t(FG_MEMBERSHIP_ROOM), report(FG_IGMPV3, FG_MEMBERSHIP_ANSWER, groups).size());
	for (unsigned i = 0; i < 183; i++)
		all += "join 1 ";
	EXPECT_EQ(all, read(report(FG_IGMPV3, FG_MEMBERSHIP_ANSWER, groups)));
}

TEST(Membership, ComesFromTheLinkLocalAddressOfTheMac)
{
	fg_membership_group g = group("ff1e::1:1");
	std::vector<uint8_t> out(FG_MEMBERSHIP_ROOM);
	fg_host h = host();

	fg_ipv6_parse("2001:2::5", h.ipv6, nullptr);
	fg_membership_report(&h, FG_MLDV1, FG_MEMBERSHIP_JOIN, &g, 1, out.data());
	EXPECT_EQ("fe80000000000000000000fffe000001", hex(out, IP + 8).substr(0, 32));
}

TEST(Membership, IsReadBehindATag)
{
	auto frame = report(FG_IGMPV2, FG_MEMBERSHIP_JOIN, {group("239.1.1.1")});
	const uint8_t tag[] = {0x81, 0x00, 0x20, 0x07};
	fg_membership_message m;

	frame.insert(frame.begin() + 12, tag, tag + 4);
	ASSERT_TRUE(fg_membership_open(frame.data(), frame.size(), &m));
	EXPECT_EQ(7, m.vlan);
}

// whatever is cut off or changed is no message, or one with fewer groups
TEST(Membership, IsNotReadWhenItIsDamaged)
{
	for (auto version : {FG_IGMPV2, FG_IGMPV3, FG_MLDV1, FG_MLDV2}) {
		auto whole = report(version, FG_MEMBERSHIP_JOIN,
				    {group(fg_membership_is_ipv6(version) ? "ff1e::1:1" : "239.1.1.1")});

		for (size_t length = 0; length < whole.size(); length++)
			EXPECT_EQ("damaged", read({whole.begin(), whole.begin() + (long)length})) << length;
		for (size_t at = fg_membership_is_ipv6(version) ? MLD : IGMP; at < whole.size(); at++) {
			auto changed = whole;

			changed[at] ^= 0x10;
			EXPECT_EQ("damaged", read(changed)) << at;
		}
	}
}

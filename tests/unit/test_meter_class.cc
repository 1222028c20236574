/* SPDX-License-Identifier: BSD-3-Clause */
/* What is read out of frames, and what follows for their service and colour. */
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fg_checksum.h"
#include "fg_class.h"
#include "fg_net.h"

namespace
{

using Bytes = std::vector<uint8_t>;

/* a frame of 60 octets: tags, then the type and what follows it */
Bytes
Frame(const std::vector<uint32_t> &tags, const Bytes &rest)
{
	Bytes f(12, 0x02);

	for (uint32_t tag : tags)
		for (int shift = 24; shift >= 0; shift -= 8)
			f.push_back(uint8_t(tag >> shift));
	f.insert(f.end(), rest.begin(), rest.end());
	f.resize(60);
	return f;
}

Bytes
Ipv4(uint8_t dscp)
{
	return {0x08, 0x00, 0x45, uint8_t(dscp << 2 | 3)};
}

Bytes
Ipv6(uint8_t dscp)
{
	return {0x86, 0xdd, uint8_t(0x60 | dscp >> 2), uint8_t(dscp << 6 | 0x3f)};
}

fg_class_fields
Read(const Bytes &f)
{
	return fg_class_read(f.data(), f.size());
}

TEST(Class, MarksFramesAndKeepsTheirChecksumRight)
{
	for (unsigned dscp = 0; dscp < 64; dscp++) {
		/* an IPv4 header in which only this changes; its words with the checksum add up to ffff */
		Bytes f = Frame({0x8100000a},
				{0x08, 0x00, 0x45, 0xbb, 0x00, 0x2a, 0x12, 0x34, 0x00, 0x00, 0x40,
				 0x11, 0x00, 0x00, 0xc6, 0x12, 0x01, 0x02, 0xc6, 0x13, 0x01, 0x02});
		uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &f[18], 20));

		memcpy(&f[28], &sum, 2);
		fg_class_mark(f.data(), f.size(), FG_MARK_DSCP, dscp);
		EXPECT_EQ(dscp, Read(f).dscp);
		EXPECT_EQ(3, f[19] & 3) << "ECN changed";
		EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &f[18], 20)));

		Bytes v6 = Frame({}, Ipv6(63 - dscp));
		fg_class_mark(v6.data(), v6.size(), FG_MARK_DSCP, dscp);
		EXPECT_EQ(Frame({}, Ipv6(uint8_t(dscp))), v6);
	}
	for (unsigned ecn = 0; ecn < 4; ecn++) {
		Bytes f = Frame({0x8100000a},
				{0x08, 0x00, 0x45, 0xb9, 0x00, 0x2a, 0x12, 0x34, 0x00, 0x00, 0x40,
				 0x11, 0x00, 0x00, 0xc6, 0x12, 0x01, 0x02, 0xc6, 0x13, 0x01, 0x02});
		uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &f[18], 20));

		memcpy(&f[28], &sum, 2);
		EXPECT_EQ(1, Read(f).ecn);
		fg_class_mark(f.data(), f.size(), FG_MARK_ECN, ecn);
		EXPECT_EQ(ecn, Read(f).ecn);
		EXPECT_EQ(0xb8 | ecn, f[19]);
		EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &f[18], 20)));

		Bytes v6 = Frame({}, {0x86, 0xdd, 0x6b, 0x9f});
		EXPECT_EQ(1, Read(v6).ecn);
		fg_class_mark(v6.data(), v6.size(), FG_MARK_ECN, ecn);
		EXPECT_EQ(Frame({}, {0x86, 0xdd, 0x6b, uint8_t(0x8f | ecn << 4)}), v6);
		EXPECT_EQ(ecn, Read(v6).ecn);
	}
	Bytes tagged = Frame({0x8100500a}, Ipv4(1));

	fg_class_mark(tagged.data(), tagged.size(), FG_MARK_PCP, 5);
	EXPECT_EQ(Frame({0x8100b00a}, Ipv4(1)), tagged);
	fg_class_mark(tagged.data(), tagged.size(), FG_MARK_DEI, 0);
	EXPECT_EQ(Frame({0x8100a00a}, Ipv4(1)), tagged);
	Bytes plain = Frame({}, {0x88, 0xb5}), same = plain;

	for (fg_mark_kind kind : {FG_MARK_NONE, FG_MARK_DSCP, FG_MARK_PCP, FG_MARK_DEI, FG_MARK_ECN})
		fg_class_mark(plain.data(), plain.size(), kind, 1);
	EXPECT_EQ(same, plain);
}

TEST(Class, ReadsTagsAndDscp)
{
	for (uint8_t dscp = 0; dscp < 64; dscp++)
		for (const Bytes &ip : {Ipv4(dscp), Ipv6(dscp)}) {
			fg_class_fields f = Read(Frame({}, ip));

			EXPECT_TRUE(f.ip);
			EXPECT_FALSE(f.tagged);
			EXPECT_EQ(dscp, f.dscp);
			f = Read(Frame({0x88a8b064, 0x8100600a}, ip));
			EXPECT_EQ(dscp, f.dscp);
			EXPECT_TRUE(f.tagged && f.tagged_twice && f.dei);
			EXPECT_EQ(5, f.pcp);
			EXPECT_EQ(100, f.vlan);
			EXPECT_EQ(10, f.inner);
		}
	EXPECT_FALSE(Read(Frame({}, {0x08, 0x06, 0xff, 0xff})).ip);
}

TEST(Class, ReadsNothingBeyondTheEnd)
{
	Bytes whole = Frame({0x88a8b064, 0x8100600a}, Ipv4(46));

	for (size_t length = 0; length < 24; length++) {
		Bytes cut(whole.begin(), whole.begin() + long(length));

		EXPECT_FALSE(Read(cut).ip) << length;
	}
}

TEST(Class, MatchesWhatIsGiven)
{
	fg_class_fields voice = Read(Frame({0x8100a00a}, Ipv4(46))), plain = Read(Frame({}, Ipv4(46)));

	EXPECT_TRUE(fg_class_matches(&(const fg_class &)fg_class{}, &plain)) << "anything";
	for (const fg_class &c :
	     {fg_class{10, 0, 0, 0}, fg_class{0, 0, 1 << 5, 0}, fg_class{0, 0, 0, 1ULL << 46},
	      fg_class{10, 0, 1 << 5 | 1 << 4, 1ULL << 46 | 1}})
		EXPECT_TRUE(fg_class_matches(&c, &voice));
	for (const fg_class &c : {fg_class{11, 0, 0, 0}, fg_class{10, 7, 0, 0}, fg_class{0, 0, 1 << 4, 0},
				  fg_class{0, 0, 0, 1ULL << 45}, fg_class{10, 0, 1 << 5, 1}})
		EXPECT_FALSE(fg_class_matches(&c, &voice));
	for (const fg_class &c : {fg_class{10, 0, 0, 0}, fg_class{0, 0, 1, 0}})
		EXPECT_FALSE(fg_class_matches(&c, &plain)) << "without a tag there is neither VLAN nor PCP";
}

TEST(Class, KnowsYellowByEachOfTheThree)
{
	const fg_colouring by_dscp = {1ULL << 12 | 1ULL << 14, 0, false}, by_pcp = {0, 1 << 4, false},
			   by_dei = {0, 0, true}, none = {0, 0, false};
	fg_class_fields af11 = Read(Frame({0x8100a00a}, Ipv4(10))),
			af12 = Read(Frame({0x8100a00a}, Ipv6(12))),
			pcp4 = Read(Frame({0x8100800a}, Ipv4(10))), dei = Read(Frame({0x8100b00a}, Ipv4(10)));

	EXPECT_EQ(FG_GREEN, fg_class_colour(&by_dscp, &af11));
	EXPECT_EQ(FG_YELLOW, fg_class_colour(&by_dscp, &af12));
	EXPECT_EQ(FG_GREEN, fg_class_colour(&by_pcp, &af11));
	EXPECT_EQ(FG_YELLOW, fg_class_colour(&by_pcp, &pcp4));
	EXPECT_EQ(FG_GREEN, fg_class_colour(&by_dei, &pcp4));
	EXPECT_EQ(FG_YELLOW, fg_class_colour(&by_dei, &dei));
	for (const fg_class_fields &f : {af11, af12, pcp4, dei})
		EXPECT_EQ(FG_GREEN, fg_class_colour(&none, &f));
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of a captured frame change, and its checksums with them: they are held against sums made anew. */
#include "rewrite_frames.h"

TEST(CaptureRewrite, FramesUnderTestAreRight)
{
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &frame4()[14], 20)));
	EXPECT_EQ(0, sum_of(frame4(), 14, 4));
	EXPECT_EQ(0, sum_of(frame6(), 14, 6));
}

TEST(CaptureRewrite, NothingToDoChangesNothing)
{
	fg_rewrite r = {};

	EXPECT_EQ(frame4(), rewritten(r, frame4()));
	EXPECT_EQ(frame6(), rewritten(r, frame6()));
}

TEST(CaptureRewrite, Ipv4NetworksMoveWithTheirChecksums)
{
	fg_rewrite r = {};

	r.moves = 2;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 15);
	r.move[1] = move4("192.168.5.6", "198.19.1.2", 32);
	Bytes f = rewritten(r, frame4());
	EXPECT_EQ(0, memcmp(&f[26], "\xc6\x13\x02\x03\xc6\x13\x01\x02", 8)); /* of 10.1 the last bit stays */
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &f[14], 20)));
	EXPECT_EQ(0, sum_of(f, 14, 4));
}

TEST(CaptureRewrite, WhatWasWrongStaysWrong)
{
	fg_rewrite r = {};
	Bytes bad = frame4();

	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 15);
	bad[24] ^= 1;
	bad[udp4 + 7] ^= 1;
	Bytes f = rewritten(r, bad);
	EXPECT_NE(0, fg_checksum_finish(fg_checksum_add(0, &f[14], 20)));
	EXPECT_NE(0, sum_of(f, 14, 4));
}

TEST(CaptureRewrite, UdpWithoutAChecksumHasNoneAfterwards)
{
	fg_rewrite r = {};
	Bytes bare = frame4();

	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 8);
	put16(&bare[udp4 + 6], 0);
	EXPECT_EQ(0, get16(&rewritten(r, bare)[udp4 + 6]));
}

TEST(CaptureRewrite, ALaterFragmentHasNoHeaderToMend)
{
	fg_rewrite r = {};
	Bytes fragment = frame4();

	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 8);
	put16(&fragment[20], 185);
	Bytes f = rewritten(r, fragment);
	EXPECT_EQ(0, memcmp(&fragment[udp4], &f[udp4], f.size() - udp4));
}

TEST(CaptureRewrite, Ipv6NetworksMoveWithTheUdpChecksum)
{
	fg_rewrite r = {};

	r.moves = 1;
	r.move[0].octets = 16;
	r.move[0].prefix = 48;
	ASSERT_EQ(0, fg_ipv6_parse("2001:db8::", r.move[0].from, nullptr));
	ASSERT_EQ(0, fg_ipv6_parse("2001:2::", r.move[0].to, nullptr));
	Bytes f = rewritten(r, frame6());
	EXPECT_EQ(0, memcmp(&f[22], "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 16));
	EXPECT_EQ(0, memcmp(&f[38], "\x20\x01\x0d\xb8\0\1", 6)); /* another network */
	EXPECT_EQ(0, sum_of(f, 14, 6));
}

/* frame6 with a header of eight bytes before UDP */
Bytes
extended6(uint8_t kind, uint8_t fourth = 0)
{
	Bytes f = frame6();

	f[20] = kind;
	f.insert(f.begin() + udp6, {17, 0, 0, fourth, 0, 0, 0, 0});
	return f;
}

TEST(CaptureRewrite, ChecksumsBehindExtensionHeadersAreMended)
{
	const uint8_t hop_by_hop = 0, fragment = 44, destination_options = 60;
	fg_rewrite r = {};

	r.moves = 1;
	r.move[0].octets = 16;
	r.move[0].prefix = 32;
	EXPECT_EQ(0, fg_ipv6_parse("2001:db8::", r.move[0].from, nullptr));
	EXPECT_EQ(0, fg_ipv6_parse("2001:2::", r.move[0].to, nullptr));
	Bytes plain = rewritten(r, frame6());
	for (uint8_t kind : {hop_by_hop, fragment, destination_options}) {
		Bytes f = rewritten(r, extended6(kind));
		EXPECT_EQ(0, memcmp(&plain[udp6], &f[udp6 + 8], plain.size() - udp6)) << int(kind);
	}
}

/* a later fragment has no UDP header; the destination is not in the sum while there are hops to go */
TEST(CaptureRewrite, ChecksumsThatAreNotThereOrOfTheLastHopAreLeftAlone)
{
	const uint8_t routing = 43, fragment = 44;
	fg_rewrite r = {};

	r.moves = 1;
	r.move[0].octets = 16;
	r.move[0].prefix = 128;
	memcpy(r.move[0].from, &frame6()[38], 16);
	EXPECT_EQ(0, fg_ipv6_parse("2001:2::", r.move[0].to, nullptr));
	Bytes later = extended6(fragment, 8), hops = extended6(routing, 1);
	Bytes f = rewritten(r, later);
	EXPECT_NE(0, memcmp(&later[38], &f[38], 16));
	EXPECT_EQ(0, memcmp(&later[udp6], &f[udp6], f.size() - udp6));
	f = rewritten(r, hops);
	EXPECT_EQ(0, memcmp(&hops[udp6], &f[udp6], f.size() - udp6));
}

/* the route begins at an odd byte; UDP sums up its last hop instead of the next one (RFC 791, 3.1) */
TEST(CaptureRewrite, HopsOfASourceRouteMove)
{
	const size_t header = 28, udp = 14 + header;
	const uint8_t route[] = {131, 7, 4, 10, 1, 5, 5, 0};
	fg_rewrite r = {};
	Bytes f = frame4();
	uint16_t sum;

	r.moves = 1;
	r.move[0] = move4("10.1.0.0", "198.18.0.0", 16);
	f.insert(f.begin() + udp4, route, route + sizeof(route));
	f[14] = 0x47;
	put16(&f[16], uint16_t(f.size() - 14));
	memcpy(&f[30], "\x0a\x01\x09\x09", 4);
	auto udp_sum = [&](const Bytes &frame) {
		fg_ipv4 ip;
		memcpy(&ip, &frame[14], sizeof(ip));
		memcpy(reinterpret_cast<uint8_t *>(&ip) + 16, &frame[udp4 + 3], 4);
		uint16_t length = uint16_t(frame.size() - udp);
		return fg_checksum_finish(
			fg_checksum_add(fg_checksum_pseudo4(&ip, 17, length), &frame[udp], length));
	};
	put16(&f[24], 0);
	put16(&f[udp + 6], 0);
	sum = fg_checksum_finish(fg_checksum_add(0, &f[14], header));
	memcpy(&f[24], &sum, 2);
	sum = udp_sum(f);
	memcpy(&f[udp + 6], &sum, 2);
	Bytes out = rewritten(r, f);
	EXPECT_EQ(0, memcmp(&out[30], "\xc6\x12\x09\x09", 4));
	EXPECT_EQ(0, memcmp(&out[udp4 + 3], "\xc6\x12\x05\x05", 4));
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &out[14], header)));
	EXPECT_EQ(0, udp_sum(out));
}

/* three hops have room and one is there: the pointer is at the second (RFC 791, 3.1) */
TEST(CaptureRewrite, RoomForHopsIsLeftAlone)
{
	const uint8_t route[] = {7, 15, 8, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	fg_rewrite r = {};
	Bytes f = frame4();

	r.moves = 1;
	r.move[0] = move4("0.0.0.0", "198.18.0.0", 16);
	f.insert(f.begin() + udp4, route, route + sizeof(route));
	f[14] = 0x49;
	Bytes out = rewritten(r, f);
	EXPECT_EQ(0, memcmp(&out[udp4], "\x07\x0f\x08\xc6\x12\x05\x05\0\0\0\0\0\0\0\0", 15));
}

TEST(CaptureRewrite, PppoeMayNameItsProtocolInOneByte)
{
	const uint8_t pppoe[] = {0x11, 0, 0, 1, 0, 0, 0x21};
	fg_rewrite r = {};
	Bytes f = frame4();

	r.moves = 1;
	r.move[0] = move4("10.1.0.0", "198.18.0.0", 16);
	put16(&f[12], 0x8864);
	f.insert(f.begin() + 14, pppoe, pppoe + sizeof(pppoe));
	EXPECT_EQ(0, memcmp(&rewritten(r, f)[14 + sizeof(pppoe) + 12], "\xc6\x12", 2));
}

TEST(CaptureRewrite, ArpFollows)
{
	fg_rewrite r = {};
	Bytes f(14 + 28);

	put16(&f[12], FG_ETHER_ARP);
	memcpy(&f[14], "\0\1\x08\0\6\4\0\1", 8);
	memcpy(&f[28], "\x0a\1\2\3", 4);
	memcpy(&f[38], "\x0a\1\2\4", 4);
	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 15);
	Bytes g = rewritten(r, f);
	EXPECT_EQ(0, memcmp(&g[28], "\xc6\x13\2\3", 4));
	EXPECT_EQ(0, memcmp(&g[38], "\xc6\x13\2\4", 4));
	f[18] = 8; /* some other network's addresses */
	EXPECT_EQ(f, rewritten(r, f));
}

TEST(CaptureRewrite, MacsAndTags)
{
	fg_rewrite r = {};

	r.has_source_mac = r.has_destination_mac = true;
	memcpy(r.source_mac, "\2\0\0\0\0\1", 6);
	memcpy(r.destination_mac, "\2\0\0\0\0\2", 6);
	r.vlan = FG_VLAN_SET;
	r.vlan_id = 100;
	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 8);
	Bytes tagged = rewritten(r, frame4());
	EXPECT_EQ(frame4().size() + 4, tagged.size());
	EXPECT_EQ(0, memcmp(tagged.data(), "\2\0\0\0\0\2\2\0\0\0\0\1\x81\0\0\x64\x08\0", 18));
	EXPECT_EQ(0, sum_of(tagged, 18, 4)); /* the addresses behind the tag were found */

	tagged[14] = 0xe0; /* priority 7 */
	r.vlan_id = 4094;
	EXPECT_EQ(0xeffe, get16(&rewritten(r, tagged)[14]));

	fg_rewrite untag = {};
	untag.vlan = FG_VLAN_REMOVE;
	EXPECT_EQ(frame4(), rewritten(untag, rewritten(untag, frame4())));
	EXPECT_EQ(0x0800, get16(&rewritten(untag, tagged)[12]));
}

/* whatever the length: nothing outside is read or written (the sanitizers look) */
TEST(CaptureRewrite, ShortFramesAreSafe)
{
	fg_rewrite r = {};

	r.vlan = FG_VLAN_SET;
	r.moves = 1;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 8);
	for (const Bytes &whole : {frame4(), frame6(), extended6(60), extended6(51)})
		for (size_t n = 0; n <= whole.size(); n++)
			rewritten(r, Bytes(whole.begin(), whole.begin() + long(n)));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in messages about addresses move, too, and packets are found behind other headers than tags. */
#include "rewrite_frames.h"

namespace
{

/* 10.1.2.3 and 192.168.5.6, 2001:db8::1 and 2001:db8:1::2, as the frames have them */
fg_rewrite
moves()
{
	fg_rewrite r = {};

	r.moves = 4;
	r.move[0] = move4("10.0.0.0", "198.18.0.0", 15);
	r.move[1] = move4("239.1.0.0", "239.130.0.0", 16);
	r.move[2] = move6("2001:db8::", "2001:2::", 32);
	r.move[3] = move6("ff05::", "ff05:0:0:0:0:0:7:0", 112);
	return r;
}

/* the IP packet of a frame, behind other headers */
Bytes
behind(Bytes headers, const Bytes &frame)
{
	headers.insert(headers.begin(), frame.begin(), frame.begin() + 12);
	headers.insert(headers.end(), frame.begin() + 14, frame.end());
	return headers;
}

/* a payload with its checksum made anew, in the packet of a frame: without pseudo-header for ICMP and IGMP */
Bytes
with_payload(int version, uint8_t protocol, Bytes payload, size_t sum_at)
{
	Bytes f = version == 4 ? frame4() : frame6();
	size_t begin = version == 4 ? udp4 : udp6;

	f.resize(begin);
	f.insert(f.end(), payload.begin(), payload.end());
	put16(&f[version == 4 ? 16 : 18], uint16_t(f.size() - (version == 4 ? 14 : udp6)));
	f[version == 4 ? 23 : 20] = protocol;
	if (version == 4) {
		put16(&f[24], 0);
		uint16_t header_sum = fg_checksum_finish(fg_checksum_add(0, &f[14], 20));
		memcpy(&f[24], &header_sum, 2);
	}
	put16(&f[begin + sum_at], 0);
	uint16_t sum = sum_of(f, 14, version, protocol);
	if (protocol == 1 || protocol == 2)
		sum = fg_checksum_finish(fg_checksum_add(0, &f[begin], f.size() - begin));
	memcpy(&f[begin + sum_at], &sum, 2);
	return f;
}

uint16_t
plain_sum(const Bytes &f, size_t begin)
{
	return fg_checksum_finish(fg_checksum_add(0, &f[begin], f.size() - begin));
}

Bytes
error_about(int version, const Bytes &frame)
{
	Bytes message(8);

	message[0] = version == 4 ? 3 : 1;
	message.insert(message.end(), frame.begin() + 14, frame.end());
	return with_payload(version, version == 4 ? 1 : 58, message, 2);
}

Bytes
solicitation()
{
	Bytes ns(24 + 8);

	ns[0] = 135;
	memcpy(&ns[8], "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x22", 16);
	memcpy(&ns[24], "\1\1\2\0\0\0\0\x0a", 8);
	Bytes f = with_payload(6, 58, ns, 2);
	memcpy(&f[0], "\x33\x33\xff\0\0\x22\2\0\0\0\0\x0a", 12);
	memcpy(&f[38], "\xff\2\0\0\0\0\0\0\0\0\0\1\xff\0\0\x22", 16);
	put16(&f[udp6 + 2], 0);
	uint16_t sum = sum_of(f, 14, 6, 58);
	memcpy(&f[udp6 + 2], &sum, 2);
	return f;
}

/* the destination is the second of two hops, and the last is another */
Bytes
segments()
{
	Bytes f = frame6(), header(8 + 32);

	memcpy(&header[0], "\x11\4\4\1\1\0\0\0", 8);
	memcpy(&header[8], "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x77", 16);
	memcpy(&header[24], &f[38], 16);
	f[20] = 43;
	f.insert(f.begin() + udp6, header.begin(), header.end());
	put16(&f[18], uint16_t(f.size() - udp6));
	return f;
}

/* what UDP behind the segments of such a frame sums up to, with the last hop as its destination */
uint16_t
sum_behind_segments(Bytes f)
{
	memcpy(&f[38], &f[udp6 + 8], 16);
	f.erase(f.begin() + udp6, f.begin() + udp6 + 40);
	return sum_of(f, 14, 6);
}

} // namespace

TEST(CaptureMessages, ErrorsQuoteThePacketAsItIsNow)
{
	Bytes plain4 = rewritten(moves(), frame4()), plain6 = rewritten(moves(), frame6());
	Bytes f = rewritten(moves(), error_about(4, frame4()));

	EXPECT_TRUE(std::equal(plain4.begin() + 14, plain4.end(), f.begin() + udp4 + 8));
	EXPECT_EQ(0, plain_sum(f, udp4));
	f = rewritten(moves(), error_about(6, frame6()));
	EXPECT_TRUE(std::equal(plain6.begin() + 14, plain6.end(), f.begin() + udp6 + 8));
	EXPECT_EQ(0, sum_of(f, 14, 6, 58));
}

TEST(CaptureMessages, NeighboursFindEachOther)
{
	fg_rewrite r = moves();

	ASSERT_EQ(0, sum_of(solicitation(), 14, 6, 58));
	r.move[2] = move6("2001:db8::", "2001:2::3300", 120);
	r.has_source_mac = true;
	memcpy(r.source_mac, "\2\0\0\0\0\x0b", 6);
	Bytes f = rewritten(r, solicitation());
	EXPECT_EQ(0, memcmp(&f[udp6 + 8], "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\x33\x22", 16));
	EXPECT_EQ(0, memcmp(&f[udp6 + 26], r.source_mac, 6));
	EXPECT_EQ(0, memcmp(&f[51], "\0\x33\x22", 3)); /* the group of the new target, and its MAC address */
	EXPECT_EQ(0, memcmp(&f[0], "\x33\x33\xff\0\x33\x22\2\0\0\0\0\x0b", 12));
	EXPECT_EQ(0, sum_of(f, 14, 6, 58));
}

TEST(CaptureMessages, SegmentsMoveWithTheLastHopInTheSum)
{
	Bytes f = segments();
	fg_rewrite r = moves();

	r.move[2] = move6("2001:db8:0::", "2001:2::", 48); /* the last hop and the source */
	uint16_t before = sum_behind_segments(f);
	f = rewritten(r, f);
	EXPECT_EQ(0, memcmp(&f[udp6 + 8], "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\x77", 16));
	EXPECT_EQ(0, memcmp(&f[38], &frame6()[38], 16));
	EXPECT_EQ(before, sum_behind_segments(f));
	r.move[2] = move6("2001:db8:1::", "2001:2::", 48); /* the destination, which no sum has */
	f = rewritten(r, segments());
	EXPECT_EQ(0, memcmp(&f[udp6 + 24], &f[38], 16));
	EXPECT_EQ(0, memcmp(&f[38], "\x20\x01\0\2\0\0", 6));
	EXPECT_EQ(before, sum_behind_segments(f));
}

TEST(CaptureMessages, GroupsAndTheirMacAddressesMove)
{
	Bytes f = frame4();

	memcpy(&f[0], "\1\0\x5e\1\2\3", 6);
	memcpy(&f[30], "\xef\1\2\3", 4);
	Bytes g = rewritten(moves(), f);
	EXPECT_EQ(0, memcmp(&g[0], "\1\0\x5e\2\2\3", 6)); /* 23 bits of 239.130.2.3 */
	f[5] = 4;                                         /* not the group's: who knows why */
	EXPECT_EQ(0, memcmp(&rewritten(moves(), f)[0], &f[0], 6));

	Bytes report(8 + 8 + 4);
	memcpy(&report[0], "\x22\0\0\0\0\0\0\1\1\0\0\1\xef\1\2\3\x0a\1\2\3", 20);
	g = rewritten(moves(), with_payload(4, 2, report, 2));
	EXPECT_EQ(0, memcmp(&g[udp4 + 12], "\xef\x82\2\3\xc6\x13\2\3", 8));
	EXPECT_EQ(0, plain_sum(g, udp4));

	Bytes report6(8 + 20);
	memcpy(&report6[0], "\x8f\0\0\0\0\0\0\1\4\0\0\0\xff\5", 14);
	report6[27] = 9;
	g = rewritten(moves(), with_payload(6, 58, report6, 2));
	EXPECT_EQ(0, memcmp(&g[udp6 + 12], "\xff\5\0\0\0\0\0\0\0\0\0\0\0\7\0\x09", 16));
	EXPECT_EQ(0, sum_of(g, 14, 6, 58));
}

TEST(CaptureMessages, PacketsAreFoundBehindOtherHeaders)
{
	const Bytes headers4[] = {
		{0x91, 0, 0x20, 5, 8, 0},
		{0, 66, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0},
		{0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x21},
		{0x88, 0x47, 0, 0x10, 0, 64, 0, 0x20, 1, 64},
	};
	const Bytes headers6[] = {
		{0x88, 0xa8, 0, 1, 0x91, 0, 0, 5, 0x86, 0xdd},
		{0x88, 0x64, 0x11, 0, 0, 1, 0, 80, 0, 0x57},
		{0x88, 0x47, 0, 0x20, 1, 64},
	};

	for (const Bytes &h : headers4)
		EXPECT_EQ(behind(h, rewritten(moves(), frame4())), rewritten(moves(), behind(h, frame4())));
	for (const Bytes &h : headers6)
		EXPECT_EQ(behind(h, rewritten(moves(), frame6())), rewritten(moves(), behind(h, frame6())));
	/* behind a label, but too long for the frame: something else that begins so */
	Bytes other = behind({0x88, 0x47, 0, 0x20, 1, 64}, frame4());
	put16(&other[20], 1000);
	EXPECT_EQ(other, rewritten(moves(), other));
}

TEST(CaptureMessages, AnOldTagIsATag)
{
	Bytes f = behind({0x91, 0, 0xe0, 5, 8, 0}, frame4());
	fg_rewrite r = {};

	r.vlan = FG_VLAN_SET;
	r.vlan_id = 77;
	Bytes g = rewritten(r, f);
	EXPECT_EQ(f.size(), g.size());
	EXPECT_EQ(0, memcmp(&g[12], "\x91\0\xe0\x4d\x08", 5));
	r.vlan = FG_VLAN_REMOVE;
	EXPECT_EQ(frame4(), rewritten(r, f));
}

TEST(CaptureMessages, UdpLiteAndDccpHaveThePseudoHeader)
{
	for (uint8_t protocol : {uint8_t(136), uint8_t(33)}) {
		EXPECT_EQ(0, sum_of(rewritten(moves(), with_payload(4, protocol, Bytes(32, 7), 6)), 14, 4,
				    protocol));
		EXPECT_EQ(0, sum_of(rewritten(moves(), with_payload(6, protocol, Bytes(32, 7), 6)), 14, 6,
				    protocol));
	}
}

TEST(CaptureMessages, MacAddressesInArpFollow)
{
	Bytes f(14 + 28);
	fg_rewrite r = {};

	memcpy(&f[0],
	       "\2\0\0\0\0\x0b\2\0\0\0\0\x0a\x08\x06\0\1\x08\0\6\4\0\2\2\0\0\0\0\x0a\x0a\1\2\3\2\0\0\0\0\x0b",
	       38);
	r.has_source_mac = r.has_destination_mac = true;
	memcpy(r.source_mac, "\2\0\0\0\0\x1a", 6);
	memcpy(r.destination_mac, "\2\0\0\0\0\x1b", 6);
	Bytes g = rewritten(r, f);
	EXPECT_EQ(0x1a, g[27]);
	EXPECT_EQ(0x1b, g[37]);
	f[27] = 0x33; /* of somebody else */
	EXPECT_EQ(0x33, rewritten(r, f)[27]);
}

TEST(CaptureMessages, WhatMovedIsCounted)
{
	fg_rewrite_found found = {};
	Bytes other(60);

	rewritten(moves(), frame4(), &found);
	rewritten(moves(), error_about(4, frame4()), &found);
	rewritten(moves(), other, &found);
	EXPECT_EQ(3u, found.moved[0]);
	EXPECT_EQ(0u, found.moved[1] + found.moved[2] + found.moved[3]);
	EXPECT_EQ(1u, found.unmoved);
}

/* whatever the length: nothing outside is read or written (the sanitizers look) */
TEST(CaptureMessages, ShortFramesAreSafe)
{
	Bytes discovery = solicitation(), reports = with_payload(6, 58, Bytes(60, 143), 2);

	for (const Bytes &whole : {error_about(4, frame4()), error_about(6, segments()), discovery,
				   segments(), reports, with_payload(4, 2, Bytes(40, 0x22), 2),
				   behind({0x88, 0x47, 0, 0x10, 0, 64, 0, 0x20, 1, 64}, frame4()),
				   behind({0, 66, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, frame4())})
		for (size_t n = 0; n <= whole.size(); n++) {
			/* no byte behind it, so that a sanitizer sees one that is looked at */
			Bytes f(whole.begin(), whole.begin() + long(n));
			const fg_rewrite r = moves();

			EXPECT_EQ(n, fg_rewrite_apply(&r, f.data(), n, nullptr));
		}
}

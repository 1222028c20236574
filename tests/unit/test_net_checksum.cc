/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <random>

#include <gtest/gtest.h>

#include "fg_checksum.h"
#include "fg_crc32c.h"
#include "net_frames.h"

using frames::Bytes;

namespace
{

/* in host order, as people write checksums down */
uint16_t
checksum(const Bytes &b)
{
	return ntohs(fg_checksum_finish(fg_checksum_add(0, b.data(), b.size())));
}

Bytes
random_bytes(std::mt19937_64 &random, size_t length)
{
	Bytes b(length);

	for (uint8_t &octet : b)
		octet = uint8_t(random());
	return b;
}

} // namespace

TEST(Checksum, IsThatOfTheExampleInRfc1071)
{
	/* RFC 1071, 3: the sum is ddf2 */
	EXPECT_EQ(uint16_t(~0xddf2), checksum({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}));
}

TEST(Checksum, IsThatOfAnIpv4Header)
{
	Bytes header = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
			0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};

	EXPECT_EQ(0xb861, checksum(header));
	frames::put16(header, 10, 0xb861);
	EXPECT_EQ(0, checksum(header)) << "the sum with the checksum in it is zero";
}

TEST(Checksum, OfNothingIsAllOnes)
{
	EXPECT_EQ(0xffff, fg_checksum_finish(fg_checksum_add(0, nullptr, 0)));
}

TEST(Checksum, PadsAnOddOctetWithZero)
{
	EXPECT_EQ(checksum({0x12, 0x34, 0x56, 0x00}), checksum({0x12, 0x34, 0x56}));
	EXPECT_EQ(uint16_t(~0xab00), checksum({0xab}));
}

TEST(Checksum, OfTheLargestSumsDoesNotOverflow)
{
	Bytes ones(1 << 20, 0xff);

	EXPECT_EQ(0, checksum(ones));
	EXPECT_EQ(0, fg_checksum_finish(UINT64_MAX));
	EXPECT_EQ(0xfffe, fg_checksum_finish(UINT64_MAX - 0xfffe));
}

TEST(Checksum, AgreesWithTheDefinitionOnRandomOctets)
{
	std::mt19937_64 random(1);

	for (int i = 0; i < 2000; i++) {
		Bytes b = random_bytes(random, random() % 300);

		ASSERT_EQ(uint16_t(~frames::sum(b, 0, b.size())), checksum(b)) << b.size() << " octets";
	}
}

TEST(Checksum, MayBeAddedUpInPiecesOfEvenLength)
{
	std::mt19937_64 random(2);

	for (int i = 0; i < 500; i++) {
		Bytes b = random_bytes(random, 2 + random() % 200);
		size_t cut = random() % b.size() / 2 * 2;
		uint64_t sum = fg_checksum_add(0, b.data(), cut);

		sum = fg_checksum_add(sum, b.data() + cut, b.size() - cut);
		ASSERT_EQ(checksum(b), ntohs(fg_checksum_finish(sum)));
	}
}

TEST(Checksum, DoesNotCareWhereInMemoryItReads)
{
	std::mt19937_64 random(3);
	Bytes b = random_bytes(random, 101), shifted = {0};

	frames::append(shifted, b);
	EXPECT_EQ(checksum(b), ntohs(fg_checksum_finish(fg_checksum_add(0, shifted.data() + 1, b.size()))));
}

TEST(Checksum, CoversTheIpv4PseudoHeader)
{
	std::mt19937_64 random(4);

	for (size_t length : {0, 1, 8, 26, 1480, 65535}) {
		Bytes b = random_bytes(random, 20), addresses(b.begin() + 12, b.end());
		fg_ipv4 ip;

		memcpy(&ip, b.data(), sizeof(ip));
		EXPECT_EQ(uint16_t(~frames::pseudo_sum(addresses, 17, length)),
			  ntohs(fg_checksum_finish(fg_checksum_pseudo4(&ip, 17, uint16_t(length)))));
	}
}

TEST(Checksum, CoversTheIpv6PseudoHeader)
{
	std::mt19937_64 random(5);

	for (uint32_t length : {0u, 1u, 8u, 1440u, 65535u, 70000u}) {
		Bytes b = random_bytes(random, 40), pseudo(b.begin() + 8, b.end());
		fg_ipv6 ip;

		memcpy(&ip, b.data(), sizeof(ip));
		frames::append16(pseudo, length >> 16);
		frames::append16(pseudo, length & 0xffff);
		frames::append(pseudo, Bytes{0, 0, 0, 58});
		EXPECT_EQ(uint16_t(~frames::sum(pseudo, 0, pseudo.size())),
			  ntohs(fg_checksum_finish(fg_checksum_pseudo6(&ip, 58, length))));
	}
}

namespace
{

/* random addresses and content; the checksum at @p field is the sum of the pseudo-header */
Bytes
left_to_a_card(std::mt19937_64 &random, bool ipv6, uint8_t protocol, size_t field, size_t length)
{
	const size_t header = ipv6 ? 40 : 20, address = ipv6 ? 32 : 8;
	Bytes b = frames::ethernet(frames::host_mac, frames::peer_mac, ipv6 ? 0x86dd : 0x0800);

	frames::append(b, random_bytes(random, header + length));
	b[14] = ipv6 ? 0x60 : 0x45;
	b[ipv6 ? 20 : 23] = protocol;
	frames::put16(b, ipv6 ? 18 : 16, unsigned(ipv6 ? length : header + length));
	if (!ipv6)
		frames::put16(b, 20, 0);
	const Bytes addresses(b.begin() + 14 + long(header - address), b.begin() + 14 + long(header));
	frames::put16(b, 14 + header + field, frames::pseudo_sum(addresses, protocol, length));
	return b;
}

} // namespace

TEST(PartialChecksum, IsCompleted)
{
	std::mt19937_64 random(6);

	for (int i = 0; i < 400; i++) {
		const bool ipv6 = i % 2 != 0, tcp = i % 4 < 2;
		const size_t field = tcp ? 16 : 6, length = 20 + random() % 100, at = 14 + (ipv6 ? 40 : 20);
		Bytes b = left_to_a_card(random, ipv6, tcp ? 6 : 17, field, length), expected = b;

		frames::put16(expected, at + field, uint16_t(~frames::sum(b, at, b.size())));
		b.insert(b.end(), i % 3, 0xa5); /* padding is no part of it */
		expected.insert(expected.end(), i % 3, 0xa5);
		b = frames::Exact(b);
		ASSERT_TRUE(fg_net_complete_checksum(b.data(), b.size())) << i;
		ASSERT_EQ(expected, b) << i;
		ASSERT_FALSE(fg_net_complete_checksum(b.data(), b.size())) << "again " << i;
	}
}

/* the field is 0 then, and there is no pseudo-header; as it is sent, low byte first (RFC 9260, appendix A) */
TEST(PartialChecksum, OfSctpIsCompleted)
{
	std::mt19937_64 random(8);

	for (int i = 0; i < 40; i++) {
		const bool ipv6 = i % 2 != 0;
		const size_t length = 12 + random() % 100, at = 14 + (ipv6 ? 40 : 20);
		Bytes b = left_to_a_card(random, ipv6, 132, 8, length), expected;

		frames::put16(b, at + 8, 0);
		frames::put16(b, at + 10, 0);
		const uint32_t crc = fg_crc32c_by_table(0, &b[at], length);
		expected = b;
		for (int k = 0; k < 4; k++)
			expected[at + 8 + k] = uint8_t(crc >> 8 * k);
		b.insert(b.end(), i % 3, 0xa5); /* padding is no part of it */
		expected.insert(expected.end(), i % 3, 0xa5);
		b = frames::Exact(b);
		ASSERT_TRUE(fg_net_complete_checksum(b.data(), b.size())) << i;
		ASSERT_EQ(expected, b) << i;
		ASSERT_FALSE(fg_net_complete_checksum(b.data(), b.size())) << "again " << i;
		b.resize(at + 11); /* cut short */
		b = frames::Exact(b);
		EXPECT_FALSE(fg_net_complete_checksum(b.data(), b.size()));
	}
}

TEST(PartialChecksum, IsNotSeenInOtherFrames)
{
	std::mt19937_64 random(7);
	const Bytes frame = left_to_a_card(random, false, 17, 6, 30);
	Bytes b = frame;

	b[40] ^= 1; /* a checksum, right or wrong */
	EXPECT_FALSE(fg_net_complete_checksum(b.data(), b.size()));
	b = frame;
	b[40] = b[41] = 0; /* no checksum */
	EXPECT_FALSE(fg_net_complete_checksum(b.data(), b.size()));
	b = frame;
	b[20] = 0x20; /* the first fragment of several */
	EXPECT_FALSE(fg_net_complete_checksum(b.data(), b.size()));
	for (size_t length = 0; length < frame.size(); length++) {
		b = frames::Exact(Bytes(frame.begin(), frame.begin() + long(length)));
		EXPECT_FALSE(fg_net_complete_checksum(b.data(), b.size())) << length;
	}
}

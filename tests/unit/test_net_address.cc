/* SPDX-License-Identifier: BSD-3-Clause */
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_net.h"

namespace
{

using Bytes = std::vector<uint8_t>;

/* the bytes, or none and a complaint that shows what was given */
template <size_t size>
Bytes
parse(int (*parser)(const char *, uint8_t *, fg_error *), const std::string &text)
{
	std::vector<char> exact(text.begin(), text.end()); /* a read beyond its end is seen */
	Bytes out(size, 0xa5);
	fg_error err = {};

	exact.push_back('\0');
	if (parser(exact.data(), out.data(), &err) == 0)
		return out;
	EXPECT_EQ(-EINVAL, parser(exact.data(), out.data(), nullptr));
	EXPECT_EQ(EINVAL, err.code) << text;
	EXPECT_NE(nullptr, strstr(err.message, text.substr(0, 30).c_str())) << err.message;
	EXPECT_EQ(Bytes(size, 0xa5), out) << "touched by \"" << text << "\"";
	return {};
}

Bytes
mac(const std::string &text)
{
	return parse<6>(fg_mac_parse, text);
}

Bytes
ipv4(const std::string &text)
{
	return parse<4>(fg_ipv4_parse, text);
}

Bytes
ipv6(const std::string &text)
{
	return parse<16>(fg_ipv6_parse, text);
}

} // namespace

TEST(Address, ReadsMacs)
{
	EXPECT_EQ((Bytes{2, 0, 0, 0, 0, 1}), mac("02:00:00:00:00:01"));
	EXPECT_EQ((Bytes{0xde, 0xad, 0xbe, 0xef, 0xca, 0xfe}), mac("dE:Ad:bE:EF:ca:FE"));
	EXPECT_EQ((Bytes{255, 255, 255, 255, 255, 255}), mac("ff:ff:ff:ff:ff:ff"));
}

TEST(Address, RefusesWhatIsNoMac)
{
	for (const char *text : {"",
				 "0",
				 "02",
				 "02:",
				 "02:00:00:00:00",
				 "02:00:00:00:00:",
				 "02:00:00:00:00:0",
				 "02:00:00:00:00:001",
				 "02:00:00:00:00:01:02",
				 "02:00:00:00:00:01 ",
				 " 02:00:00:00:00:01",
				 "2:0:0:0:0:1",
				 "02-00-00-00-00-01",
				 "0200.0000.0001",
				 "020000000001",
				 "0g:00:00:00:00:01",
				 "02:00:00:00:00:gg",
				 " 2:00:00:00:00:01",
				 "02:00:00:00:00: 1",
				 "-1:00:00:00:00:01",
				 "+1:00:00:00:00:01",
				 "0x:00:00:00:00:01",
				 "02:00:00::00:00:01",
				 "02:00:00:00:00:01\n",
				 "\xff\xfe:00:00:00:00:01"})
		EXPECT_EQ(Bytes{}, mac(text)) << text;
}

TEST(Address, ReadsIpv4)
{
	EXPECT_EQ((Bytes{198, 18, 1, 2}), ipv4("198.18.1.2"));
	EXPECT_EQ((Bytes{0, 0, 0, 0}), ipv4("0.0.0.0"));
	EXPECT_EQ((Bytes{255, 255, 255, 255}), ipv4("255.255.255.255"));
}

TEST(Address, RefusesWhatIsNoIpv4)
{
	for (const char *text :
	     {"", "198", "198.18.1", "198.18.1.", "198.18.1.2.3", "256.1.1.1", "1.2.3.4/24", "-1.2.3.4",
	      "1.2.3.4 ", " 1.2.3.4", "01.2.3.04", "0x1.2.3.4", "a.b.c.d", "1..2.3", "::1"})
		EXPECT_EQ(Bytes{}, ipv4(text)) << text;
}

TEST(Address, ReadsIpv6)
{
	Bytes one(16, 0), any(16, 0), mapped(16, 0);

	one[0] = 0x20, one[1] = 1, one[3] = 2, one[15] = 1;
	mapped[10] = mapped[11] = 0xff, mapped[12] = 1, mapped[13] = 2, mapped[14] = 3, mapped[15] = 4;
	EXPECT_EQ(one, ipv6("2001:2::1"));
	EXPECT_EQ(one, ipv6("2001:0002:0000:0000:0000:0000:0000:0001"));
	EXPECT_EQ(one, ipv6("2001:2:0:0::0.0.0.1"));
	EXPECT_EQ(any, ipv6("::"));
	EXPECT_EQ(mapped, ipv6("::FFFF:1.2.3.4"));
}

TEST(Address, RefusesWhatIsNoIpv6)
{
	for (const char *text : {"", ":", ":::", "1", "2001:2::1::2", "2001:2:::1", "1:2:3:4:5:6:7",
				 "1:2:3:4:5:6:7:8:9", "12345::", "g::", "2001:2::1/64", "fe80::1%eth0",
				 "[::1]", " ::1", "::1 ", "1.2.3.4", "::1.2.3", "::256.1.1.1"})
		EXPECT_EQ(Bytes{}, ipv6(text)) << text;
}

TEST(Address, ComplainsOfLongTextWithoutOverrun)
{
	EXPECT_EQ(Bytes{}, mac(std::string(5000, '0')));
	EXPECT_EQ(Bytes{}, ipv4(std::string(5000, '1')));
	EXPECT_EQ(Bytes{}, ipv6(std::string(5000, ':')));
}

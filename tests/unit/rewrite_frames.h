/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of rewriting share: frames with right checksums, and the sums of others. */
#ifndef REWRITE_FRAMES_H
#define REWRITE_FRAMES_H

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "fg_checksum.h"
#include "fg_net.h"
#include "fg_rewrite.h"

using Bytes = std::vector<uint8_t>;

constexpr size_t udp4 = 14 + 20, udp6 = 14 + 40;

inline void
put16(uint8_t *at, uint16_t value)
{
	at[0] = uint8_t(value >> 8);
	at[1] = uint8_t(value);
}

inline uint16_t
get16(const uint8_t *at)
{
	return uint16_t(at[0] << 8 | at[1]);
}

/* zero when the checksum in it is right */
inline uint16_t
sum_of(const Bytes &frame, size_t ip, int version, uint8_t protocol = 17)
{
	size_t header = version == 4 ? 20 : 40;
	uint16_t length = uint16_t(frame.size() - ip - header);
	const uint8_t *at = frame.data() + ip;
	uint64_t pseudo =
		version == 4 ? fg_checksum_pseudo4(reinterpret_cast<const fg_ipv4 *>(at), protocol, length)
			     : fg_checksum_pseudo6(reinterpret_cast<const fg_ipv6 *>(at), protocol, length);

	return fg_checksum_finish(fg_checksum_add(pseudo, at + header, length));
}

inline Bytes
frame4()
{
	Bytes f(udp4 + 8 + 30);

	put16(&f[12], FG_ETHER_IPV4);
	f[14] = 0x45;
	put16(&f[16], uint16_t(f.size() - 14));
	f[22] = 64;
	f[23] = 17;
	memcpy(&f[26], "\x0a\x01\x02\x03\xc0\xa8\x05\x06", 8);
	uint16_t header_sum = fg_checksum_finish(fg_checksum_add(0, &f[14], 20));
	memcpy(&f[24], &header_sum, 2);
	put16(&f[udp4], 1234);
	put16(&f[udp4 + 2], 53);
	put16(&f[udp4 + 4], uint16_t(f.size() - udp4));
	for (size_t i = udp4 + 8; i < f.size(); i++)
		f[i] = uint8_t(i * 7);
	uint16_t sum = sum_of(f, 14, 4);
	memcpy(&f[udp4 + 6], &sum, 2);
	return f;
}

inline Bytes
frame6()
{
	Bytes f(udp6 + 8 + 30);

	put16(&f[12], FG_ETHER_IPV6);
	f[14] = 0x60;
	put16(&f[18], uint16_t(f.size() - udp6));
	f[20] = 17;
	f[21] = 64;
	memcpy(&f[22], "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	memcpy(&f[38], "\x20\x01\x0d\xb8\0\1\0\0\0\0\0\0\0\0\0\2", 16);
	put16(&f[udp6], 1234);
	put16(&f[udp6 + 4], uint16_t(f.size() - udp6));
	for (size_t i = udp6 + 8; i < f.size(); i++)
		f[i] = uint8_t(i * 7);
	uint16_t sum = sum_of(f, 14, 6);
	memcpy(&f[udp6 + 6], &sum, 2);
	return f;
}

inline fg_move
move4(const char *from, const char *to, unsigned prefix)
{
	fg_move m = {};

	m.prefix = uint8_t(prefix);
	m.octets = 4;
	EXPECT_EQ(0, fg_ipv4_parse(from, m.from, nullptr));
	EXPECT_EQ(0, fg_ipv4_parse(to, m.to, nullptr));
	return m;
}

inline Bytes
rewritten(const fg_rewrite &r, Bytes frame, fg_rewrite_found *found = nullptr)
{
	size_t length = frame.size();

	frame.resize(length + FG_REWRITE_ROOM);
	frame.resize(fg_rewrite_apply(&r, frame.data(), length, found));
	return frame;
}

inline fg_move
move6(const char *from, const char *to, unsigned prefix)
{
	fg_move m = {};

	m.prefix = uint8_t(prefix);
	m.octets = 16;
	EXPECT_EQ(0, fg_ipv6_parse(from, m.from, nullptr));
	EXPECT_EQ(0, fg_ipv6_parse(to, m.to, nullptr));
	return m;
}

#endif

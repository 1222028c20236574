/* SPDX-License-Identifier: BSD-3-Clause */
/* SCTP's CRC: right in every frame, and with it the checksums of the tunnels around it. */
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_checksum.h"
#include "fg_crc32c.h"
#include "fg_frame.h"
#include "fg_net.h"

namespace
{

struct Sealed {
	explicit Sealed(const std::vector<std::string> &stack, unsigned size = 302, bool bad = false)
	{
		fg_vary_config ports = {};
		fg_frame *frame = fg_frame_create();

		ports.count = 1000;
		ports.every = 1;
		ports.step = 7;
		for (const std::string &protocol : stack) {
			EXPECT_EQ(0, fg_frame_push(frame, protocol.c_str(), &err)) << err.message;
			if (protocol == "sctp" && bad) {
				EXPECT_EQ(0, fg_frame_set_bad(frame, "checksum", &err)) << err.message;
			}
			if (protocol == "sctp" || protocol == "udp") {
				EXPECT_EQ(0, fg_frame_vary(frame, "source", &ports, &err)) << err.message;
			}
		}
		EXPECT_EQ(0, fg_frame_finish(frame, size, &t, &err)) << err.message;
		fg_frame_free(frame);
	}
	~Sealed()
	{
		fg_template_free(t);
	}
	std::vector<uint8_t>
	Make(uint64_t n) const
	{
		std::vector<uint8_t> out(t->length);

		fg_template_make(t, 3, n, n * 1234567, out.data());
		return out;
	}

	fg_template *t = nullptr;
	fg_error err = {};
};

/* by a receiver's rule: the field as zero (RFC 9260, 6.8), low byte first */
bool
crc_is_right(std::vector<uint8_t> frame, size_t packet)
{
	uint32_t found = uint32_t(frame[packet + 8]) | uint32_t(frame[packet + 9]) << 8 |
			 uint32_t(frame[packet + 10]) << 16 | uint32_t(frame[packet + 11]) << 24;

	std::fill_n(frame.begin() + long(packet) + 8, 4, 0);
	return found == fg_crc32c_by_table(0, frame.data() + packet, frame.size() - packet);
}

/* over IPv4 whose header begins at an octet: what it carries sums to all ones with its pseudo-header */
bool
udp_is_right(const std::vector<uint8_t> &frame, size_t ip)
{
	const auto *header = reinterpret_cast<const fg_ipv4 *>(frame.data() + ip);
	size_t length = frame.size() - ip - 20;
	uint64_t sum = fg_checksum_pseudo4(header, 17, uint16_t(length));

	return fg_checksum_finish(fg_checksum_add(sum, frame.data() + ip + 20, length)) == 0;
}

TEST(Seal, IsRightInEveryFrame)
{
	Sealed plain({"ethernet", "ipv4", "sctp"}), inner({"ethernet", "ipv6", "sctp"}, 334);

	for (uint64_t n = 0; n < 500; n++) {
		EXPECT_TRUE(crc_is_right(plain.Make(n), 34)) << n;
		EXPECT_TRUE(crc_is_right(inner.Make(n), 54)) << n;
	}
	EXPECT_FALSE(crc_is_right(plain.Make(1), 35));
}

TEST(Seal, ChecksumsAroundItFollow)
{
	Sealed tunnel({"ethernet", "ipv4", "udp", "vxlan", "ethernet", "ipv4", "sctp"}, 300);
	Sealed twice({"ethernet", "ipv4", "udp", "vxlan", "ethernet", "ipv4", "udp", "vxlan", "ethernet",
		      "ipv4", "sctp"});
	Sealed uneven({"ethernet", "ipv4", "udp", "gtpu", "ipv4", "sctp"});

	for (uint64_t n = 0; n < 500; n++) {
		EXPECT_TRUE(udp_is_right(tunnel.Make(n), 14)) << n;
		EXPECT_TRUE(crc_is_right(tunnel.Make(n), 84)) << n;
		EXPECT_TRUE(udp_is_right(twice.Make(n), 14)) << n;
		EXPECT_TRUE(udp_is_right(twice.Make(n), 64)) << n;
		EXPECT_TRUE(crc_is_right(twice.Make(n), 134)) << n;
		EXPECT_TRUE(udp_is_right(uneven.Make(n), 14)) << n;
	}
}

/* RFC 9260, 3.2: chunks are whole words, so a packet is; only who writes the chunk's length gets another */
TEST(Seal, APacketIsAMultipleOfFourOctets)
{
	fg_frame *frame = fg_frame_create();
	fg_template *t = nullptr;
	fg_error err = {};

	for (const char *protocol : {"ethernet", "ipv4", "sctp"})
		EXPECT_EQ(0, fg_frame_push(frame, protocol, &err)) << err.message;
	for (unsigned size = 80; size < 400; size++) {
		bool fits = size >= 84 && (size - 4 - 34) % 4 == 0;

		EXPECT_EQ(fits ? 0 : -EMSGSIZE, fg_frame_finish(frame, size, &t, &err)) << size;
		fg_template_free(t);
		t = nullptr;
	}
	EXPECT_EQ(-EMSGSIZE, fg_frame_finish(frame, 128, &t, &err));
	EXPECT_NE(std::string::npos, std::string(err.message).find("126 or 130")) << err.message;
	EXPECT_EQ(0, fg_frame_set(frame, "length", 91, &err));
	EXPECT_EQ(0, fg_frame_finish(frame, 129, &t, &err)) << err.message;
	fg_template_free(t);
	fg_frame_free(frame);
}

TEST(Seal, WhatShallBeWrongIsWrong)
{
	Sealed bad({"ethernet", "ipv4", "sctp"}, 302, true);

	for (uint64_t n = 0; n < 100; n++)
		EXPECT_FALSE(crc_is_right(bad.Make(n), 34)) << n;
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums behind an IPv6 routing header, whose pseudo-header has the final destination (RFC 8200, 8.1). */
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "fg_checksum.h"
#include "fg_net.h"
#include "frame_template.h"

namespace
{

/* ethernet, IPv6, two segments, UDP: the datagram begins at byte 94 */
struct Segmented : Template {
	explicit Segmented(uint64_t type, uint64_t left)
	{
		std::vector<uint8_t> segments(32);

		for (unsigned i = 0; i < segments.size(); i++)
			segments[i] = uint8_t(i * 7);
		push("ethernet").push("ipv6").push("routing");
		EXPECT_EQ(0, fg_frame_set(frame, "type", type, &err));
		EXPECT_EQ(0, fg_frame_set(frame, "segments_left", left, &err));
		EXPECT_EQ(0, fg_frame_set_bytes(frame, "segments", segments.data(), 32, &err));
	}
	Segmented &
	change(uint16_t offset, uint8_t octets)
	{
		fg_vary_config all = {
			.first = 3, .step = octets < 4 ? 1 : 0x01010101u, .count = 200, .every = 1};

		EXPECT_EQ(0,
			  fg_frame_vary_octets(frame, offset, octets, (1ull << 8 * octets) - 1, &all, &err));
		return *this;
	}
	/* with the address at a byte of the frame as the final destination */
	void
	expect_destination(size_t at) const
	{
		for (uint64_t n = 0; n < 500; n++) {
			auto bytes = make(n);
			fg_ipv6 ip;

			memcpy(&ip, &bytes[14], sizeof(ip));
			memcpy(ip.dst, &bytes[at], 16);
			EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(
					     fg_checksum_pseudo6(&ip, FG_IP_UDP, uint32_t(bytes.size() - 94)),
					     &bytes[94], bytes.size() - 94)))
				<< n;
		}
	}
};

/* RFC 8200, 8.1: while segments are left the pseudo-header has the address of the last of them */
TEST(Segments, ChecksumBehindSegmentsIsOverTheFinalDestination)
{
	const size_t address = 38, first = 62, second = 78;

	for (auto [type, left, at] : {std::tuple<uint64_t, uint64_t, size_t>{4, 1, first},
				      {4, 2, first},
				      {4, 0, address},
				      {0, 1, second},
				      {2, 1, second},
				      {0, 0, address}}) {
		Segmented still(type, left), first_changes(type, left), second_changes(type, left);

		still.push("udp").finish(200);
		still.expect_destination(at);
		first_changes.change(8 + 12, 4).push("udp").finish(200);
		first_changes.expect_destination(at);
		second_changes.change(24 + 7, 5).push("udp").finish(200);
		second_changes.expect_destination(at);
	}
}

TEST(Segments, RefusesToChangeWhichAddressAChecksumCovers)
{
	for (auto [offset, octets] : {std::pair<uint16_t, uint8_t>{2, 1}, {3, 1}, {0, 4}, {8 + 14, 4}}) {
		Segmented t(4, 1);

		t.change(offset, octets).push("udp");
		EXPECT_EQ(-EINVAL, fg_frame_finish(t.frame, 200, &t.t, &t.err)) << offset;
	}
	for (uint64_t checksum : {0, 0x1234}) { /* of the user: nothing depends on it */
		Segmented t(4, 1);

		t.change(3, 1).push("udp");
		EXPECT_EQ(0, fg_frame_set(t.frame, "checksum", checksum, &t.err));
		t.finish(200);
	}
}

} // namespace

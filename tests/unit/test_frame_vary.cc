/* SPDX-License-Identifier: BSD-3-Clause */
/* Field programs: the right values in the right frames, and every checksum still right, computed from
 * scratch. */
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fg_checksum.h"
#include "fg_frame.h"
#include "fg_net.h"
#include "fg_vary.h"
#include "frame_template.h"

namespace
{

uint64_t
number(const std::vector<uint8_t> &bytes, size_t at, size_t octets)
{
	uint64_t value = 0;

	for (size_t i = 0; i < octets; i++)
		value = value << 8 | bytes[at + i];
	return value;
}

/* a checksum over data that contains it comes out as zero, that is, all ones before inversion */
void
expect_valid_udp4(const std::vector<uint8_t> &bytes, size_t ip_at)
{
	const auto *ip = reinterpret_cast<const fg_ipv4 *>(&bytes[ip_at]);
	size_t udp_at = ip_at + sizeof(*ip), length = bytes.size() - udp_at;

	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, ip, sizeof(*ip))));
	EXPECT_NE(0u, number(bytes, udp_at + 6, 2));
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(
			     fg_checksum_pseudo4(ip, FG_IP_UDP, static_cast<uint16_t>(length)),
			     &bytes[udp_at], length)));
}

TEST(Vary, CountsThroughItsValuesAndBeginsAgain)
{
	Template t;
	t.push("ethernet").push("ipv4").push("udp").vary("source", {1000, 3, 5, 1, 0, false}).finish(64);

	for (uint64_t n = 0; n < 12; n++)
		EXPECT_EQ(1000 + 3 * (n % 5), number(t.make(n), 34, 2)) << n;
}

TEST(Vary, EveryNthFrameOnly)
{
	Template t;
	t.push("ethernet")
		.vary("destination", {0xffffffffffff, 0, 1, 100, 0, false})
		.push("ipv4")
		.push("udp")
		.finish(64);

	for (uint64_t n = 0; n < 301; n++)
		EXPECT_EQ(n % 100 == 0 ? 0xffffffffffff : 0, number(t.make(n), 0, 6)) << n;
}

TEST(Vary, RandomValuesStayInRangeCoverItAndFollowFromTheSeed)
{
	Template one, same, other;
	std::set<uint64_t> seen;
	unsigned alike = 0;

	for (auto [t, seed] : {std::pair{&one, 1}, {&same, 1}, {&other, 2}})
		t->push("ethernet")
			.push("ipv4")
			.vary("destination", {0xc6130002, 256, 256, 1, static_cast<uint64_t>(seed), true})
			.push("udp")
			.finish(64);
	for (uint64_t n = 0; n < 10000; n++) {
		uint64_t value = number(one.make(n), 30, 4);

		EXPECT_EQ(0xc6130002u, value & 0xffff00ff);
		EXPECT_EQ(value, number(same.make(n), 30, 4));
		alike += value == number(other.make(n), 30, 4);
		seen.insert(value);
	}
	EXPECT_EQ(256u, seen.size());
	EXPECT_LT(alike, 200u);
}

TEST(Vary, ChecksumsStayRightWhateverChanges)
{
	Template t;
	t.push("ethernet")
		.push("vlan")
		.vary("id", {1, 1, 4000, 1, 0, false})
		.push("ipv4")
		.vary("source", {0xc6120000, 1, 65536, 1, 3, true})
		.vary("destination", {0xc6130000, 7, 9000, 1, 4, false})
		.vary("ttl", {1, 1, 255, 1, 5, true})
		.vary("dscp", {0, 1, 64, 3, 5, false})
		.push("udp")
		.vary("source", {0, 1, 65536, 1, 5, true})
		.vary("destination", {0, 1, 65536, 1, 6, true});
	for (unsigned size : {69u, 128u, 1517u}) {
		fg_template_free(t.t);
		t.finish(size);
		for (uint64_t n = 0; n < 20000; n++)
			expect_valid_udp4(t.make(n), 18);
	}
}

TEST(Vary, ChecksumOverIpv6AddressesOfWhichTheLast64BitsChange)
{
	Template t;
	t.push("ethernet")
		.push("ipv6")
		.vary("destination", {1, 0x10001, 1u << 20, 1, 9, true})
		.push("udp")
		.finish(84);

	for (uint64_t n = 0; n < 20000; n++) {
		auto bytes = t.make(n);
		const auto *ip = reinterpret_cast<const fg_ipv6 *>(&bytes[14]);
		size_t length = bytes.size() - 54;

		EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(
				     fg_checksum_pseudo6(ip, FG_IP_UDP, static_cast<uint32_t>(length)),
				     &bytes[54], length)));
	}
}

TEST(Vary, AChecksumTheUserSetIsLeftAlone)
{
	Template t;
	t.push("ethernet").push("ipv4").vary("source", {0, 1, 1000, 1, 0, false}).push("udp");
	ASSERT_EQ(0, fg_frame_set(t.frame, "checksum", 0, &t.err));
	t.finish(64);

	for (uint64_t n = 0; n < 1000; n++)
		EXPECT_EQ(0u, number(t.make(n), 40, 2));
}

TEST(Vary, RefusesWhatDoesNotFit)
{
	Template t;
	fg_vary_config too_far = {65000, 1, 1000, 1, 0, false}, none = {0, 1, 0, 1, 0, false},
		       good = {0, 1, 2, 1, 0, false}, one_too_far = {65535, 1, 2, 1, 0, false},
		       below = {1, uint64_t(-2), 2, 1, 0, false}, all = {0, 1, 65536, 1, 0, false};

	EXPECT_EQ(-ENOENT, fg_frame_vary(t.frame, "source", &good, &t.err));
	t.push("ethernet").push("ipv4").push("udp");
	EXPECT_EQ(-ENOENT, fg_frame_vary(t.frame, "colour", &good, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &too_far, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &none, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &one_too_far, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &below, &t.err));
	EXPECT_EQ(0, fg_frame_vary(t.frame, "source", &all, &t.err));
	for (int i = 1; i < FG_MAX_VARIES; i++)
		EXPECT_EQ(0, fg_frame_vary(t.frame, "source", &good, &t.err));
	EXPECT_EQ(-E2BIG, fg_frame_vary(t.frame, "source", &good, &t.err));
	EXPECT_EQ(-EINVAL, fg_frame_finish(t.frame, 64, &t.t, &t.err)) << "one field changes twice";
}

TEST(Vary, HoldsEachValueSoThatFieldsNest)
{
	Template t;
	t.push("ethernet")
		.push("ipv4")
		.vary("destination", {.first = 0xc6130000, .step = 1, .count = 5, .every = 1, .hold = 3})
		.push("udp")
		.vary("source", {.first = 7, .step = 2, .count = 3, .every = 1})
		.finish(64);

	for (uint64_t n = 0; n < 40; n++) {
		EXPECT_EQ(0xc6130000 + n / 3 % 5, number(t.make(n), 30, 4)) << n;
		EXPECT_EQ(7 + 2 * (n % 3), number(t.make(n), 34, 2)) << n;
		expect_valid_udp4(t.make(n), 14);
	}
}

TEST(Vary, GoesDownAndThroughLists)
{
	const uint64_t ports[] = {80, 443, 8080};
	Template t, copy;
	t.push("ethernet")
		.push("ipv4")
		.vary("ttl", {.first = 255, .step = 0 - uint64_t(5), .count = 51, .every = 1})
		.push("udp")
		.vary("source", {.count = 3, .every = 1, .list = ports})
		.finish(70);
	copy.t = fg_template_copy(t.t);

	for (uint64_t n = 0; n < 120; n++) {
		EXPECT_EQ(255 - 5 * (n % 51), number(t.make(n), 22, 1)) << n;
		EXPECT_EQ(ports[n % 3], number(copy.make(n), 34, 2)) << n;
		EXPECT_EQ(t.make(n), copy.make(n));
		expect_valid_udp4(t.make(n), 14);
	}
}

TEST(Vary, ChangesOctetsOfTheFrameAndOfALayerUnderAMask)
{
	Template t;
	fg_vary_config all = {.first = 0, .step = 1, .count = 256, .every = 1};
	fg_vary_config wide = {.first = 0, .step = 0x010101, .count = 200, .every = 1};

	ASSERT_EQ(0, fg_frame_vary_octets(t.frame, 49, 3, 0x0ff0f0, &wide, &t.err));
	t.push("ethernet").push("vlan").push("ipv4");
	ASSERT_EQ(0, fg_frame_vary_octets(t.frame, 1, 1, 0xf0, &all, &t.err)); /* half of DSCP and ECN */
	t.push("udp").finish(128);
	for (uint64_t n = 0; n < 600; n++) {
		uint64_t was = number(std::vector<uint8_t>(t.t->bytes, t.t->bytes + 60), 49, 3);

		EXPECT_EQ(n % 256 & 0xf0, number(t.make(n), 19, 1)) << n;
		EXPECT_EQ((was & ~0x0ff0f0ull) | (0x010101 * (n % 200) & 0x0ff0f0), number(t.make(n), 49, 3))
			<< n;
		expect_valid_udp4(t.make(n), 18);
	}
	EXPECT_EQ(52, t.t->header) << "what changes is written for each frame";
}

TEST(Vary, FieldsMayShareOctets)
{
	Template t;
	t.push("ethernet")
		.push("vlan")
		.vary("priority", {.first = 0, .step = 1, .count = 8, .every = 1})
		.vary("id", {.first = 1, .step = 1, .count = 4094, .every = 1})
		.push("ipv4")
		.vary("dscp", {.first = 0, .step = 1, .count = 64, .every = 1})
		.vary("ecn", {.first = 0, .step = 1, .count = 4, .every = 1})
		.push("udp")
		.finish(80);

	for (uint64_t n = 0; n < 5000; n++) {
		EXPECT_EQ(n % 8 << 13 | (1 + n % 4094), number(t.make(n), 14, 2)) << n;
		EXPECT_EQ(n % 64 << 2 | n % 4, number(t.make(n), 19, 1)) << n;
		expect_valid_udp4(t.make(n), 18);
	}
}

/* an inner field changes its own checksums and, by what these make up for, the tunnel's */
TEST(Vary, ChecksumsOfATunnelAndOfWhatIsInside)
{
	Template t;
	t.push("ethernet")
		.push("ipv4")
		.vary("source",
		      {.first = 0xc6120000, .step = 1, .count = 65536, .every = 1, .seed = 3, .random = true})
		.push("udp")
		.push("vxlan")
		.vary("vni", {.first = 0, .step = 77, .count = 200000, .every = 1, .seed = 9, .random = true})
		.push("ethernet")
		.vary("source", {.first = 0x020000000000,
				 .step = 1,
				 .count = 1u << 24,
				 .every = 1,
				 .seed = 4,
				 .random = true})
		.push("ipv4")
		.vary("destination",
		      {.first = 0xc6130000, .step = 1, .count = 65536, .every = 1, .seed = 5, .random = true})
		.vary("ttl", {.first = 1, .step = 1, .count = 255, .every = 1, .seed = 6, .random = true})
		.push("udp")
		.vary("destination",
		      {.first = 0, .step = 1, .count = 65536, .every = 1, .seed = 7, .random = true})
		.finish(191);

	for (uint64_t n = 0; n < 20000; n++) {
		expect_valid_udp4(t.make(n), 14);
		expect_valid_udp4(t.make(n), 64);
	}
}

/* a byte between puts all that follows at odd offsets, and its words with it */
TEST(Vary, ChecksumsOfWhatBeginsAtAnOddOctet)
{
	Template t;
	const uint8_t one = 0xaa;
	t.push("ethernet").push("ipv4").push("udp").push("raw");
	ASSERT_EQ(0, fg_frame_set_bytes(t.frame, "octets", &one, 1, &t.err));
	t.push("ipv4")
		.vary("source",
		      {.first = 0xc6120000, .step = 1, .count = 65536, .every = 1, .seed = 3, .random = true})
		.push("udp")
		.vary("source",
		      {.first = 0, .step = 1, .count = 65536, .every = 1, .seed = 4, .random = true})
		.finish(150);

	for (uint64_t n = 0; n < 20000; n++) {
		expect_valid_udp4(t.make(n), 14);
		expect_valid_udp4(t.make(n), 43);
	}
}

TEST(Vary, AChecksumMadeWrongStaysWrong)
{
	Template t;
	t.push("ethernet").push("ipv4").vary("source", {.first = 0, .step = 1, .count = 65536, .every = 1});
	ASSERT_EQ(0, fg_frame_set_bad(t.frame, "checksum", &t.err));
	t.push("udp").finish(64);

	for (uint64_t n = 0; n < 65536; n++)
		EXPECT_NE(0, fg_checksum_finish(fg_checksum_add(0, &t.make(n)[14], 20))) << n;
}

TEST(Vary, RefusesOctetsThatAreComputedOrTheSignature)
{
	fg_vary_config c = {.first = 0, .step = 1, .count = 2, .every = 1};

	for (unsigned at : {24u, 25u, 40u, 46u, 59u}) {
		Template t;

		ASSERT_EQ(0, fg_frame_vary_octets(t.frame, uint16_t(at), 1, 0xff, &c, &t.err));
		t.push("ethernet").push("ipv4").vary("id", c).push("udp");
		EXPECT_GT(0, fg_frame_finish(t.frame, 64, &t.t, &t.err)) << at;
	}
	Template t;
	EXPECT_EQ(-ERANGE, fg_frame_vary_octets(t.frame, 0, 9, 0xff, &c, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary_octets(t.frame, 0, 1, 0x100, &c, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary_octets(t.frame, 0, 1, 0, &c, &t.err));
}

TEST(Vary, FramesInARowAreThoseMadeByNumber)
{
	Template t;
	t.push("ethernet")
		.vary("destination", {.first = 0xffffffffffff, .step = 0, .count = 1, .every = 100})
		.push("ipv4")
		.vary("destination", {.first = 1, .step = 3, .count = 77, .every = 1, .hold = 5})
		.push("udp")
		.vary("source",
		      {.first = 0, .step = 1, .count = 60000, .every = 1, .seed = 1, .random = true})
		.finish(64);

	for (uint64_t start : {0ull, 99ull, 123456789ull, 281474976710000ull})
		for (unsigned n = 1; n <= FG_VARY_BURST; n += 9) {
			std::vector<std::vector<uint8_t>> frames(n, {t.t->bytes, t.t->bytes + t.t->length});
			std::vector<uint8_t *> data;

			for (auto &frame : frames)
				data.push_back(frame.data());
			fg_vary_burst(t.t, start, data.data(), n);
			for (unsigned i = 0; i < n; i++) {
				fg_signature_write(data[i] + t.t->length, 7, start + i, (start + i) * 1000);
				EXPECT_EQ(t.make(start + i), frames[i]) << start + i;
			}
		}
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Field programs: the right values in the right frames, and every checksum still right, computed from scratch. */
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fg_frame.h"
#include "fg_net.h"
#include "fg_signature.h"
#include "fg_vary.h"

namespace
{

struct Template {
	fg_frame *frame = fg_frame_create();
	fg_template *t = nullptr;
	fg_error err = {};

	~Template()
	{
		fg_frame_free(frame);
		fg_template_free(t);
	}
	Template &
	push(const char *protocol)
	{
		EXPECT_EQ(0, fg_frame_push(frame, protocol, &err)) << err.message;
		return *this;
	}
	Template &
	vary(const char *field, fg_vary_config c)
	{
		EXPECT_EQ(0, fg_frame_vary(frame, field, &c, &err)) << err.message;
		return *this;
	}
	Template &
	finish(unsigned size)
	{
		EXPECT_EQ(0, fg_frame_finish(frame, size, &t, &err)) << err.message;
		return *this;
	}
	std::vector<uint8_t>
	make(uint64_t n) const
	{
		std::vector<uint8_t> bytes(t->bytes, t->bytes + t->length);

		for (unsigned i = 0; i < t->varies; i++)
			fg_vary_apply(&t->vary[i], bytes.data(), n);
		fg_signature_write(bytes.data() + bytes.size(), 7, n, n * 1000);
		return bytes;
	}
};

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
		       good = {0, 1, 2, 1, 0, false};

	EXPECT_EQ(-ENOENT, fg_frame_vary(t.frame, "source", &good, &t.err));
	t.push("ethernet").push("ipv4").push("udp");
	EXPECT_EQ(-ENOENT, fg_frame_vary(t.frame, "colour", &good, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &too_far, &t.err));
	EXPECT_EQ(-ERANGE, fg_frame_vary(t.frame, "source", &none, &t.err));
	for (int i = 0; i < FG_MAX_VARIES; i++)
		EXPECT_EQ(0, fg_frame_vary(t.frame, "source", &good, &t.err));
	EXPECT_EQ(-E2BIG, fg_frame_vary(t.frame, "source", &good, &t.err));
}

} // namespace

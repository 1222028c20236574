/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fg_checksum.h"
#include "fg_frame.h"
#include "fg_net.h"
#include "fg_signature.h"

namespace
{

using Bytes = std::vector<uint8_t>;

struct Free {
	void
	operator()(fg_frame *f) const
	{
		fg_frame_free(f);
	}
	void
	operator()(fg_template *t) const
	{
		fg_template_free(t);
	}
};
using Frame = std::unique_ptr<fg_frame, Free>;
using Template = std::unique_ptr<fg_template, Free>;

const Bytes dst_mac = {2, 0, 0, 0, 0, 9}, src_mac = {2, 0, 0, 0, 0, 1};
const Bytes src_ip = {198, 18, 1, 2}, dst_ip = {198, 19, 1, 2};

void
set(Frame &frame, const char *field, const Bytes &value)
{
	fg_error err = {};

	ASSERT_EQ(0, fg_frame_set_bytes(frame.get(), field, value.data(), value.size(), &err)) << err.message;
}

void
set(Frame &frame, const char *field, uint64_t value)
{
	fg_error err = {};

	ASSERT_EQ(0, fg_frame_set(frame.get(), field, value, &err)) << err.message;
}

Frame
stack(const std::vector<const char *> &layers)
{
	Frame frame(fg_frame_create());
	fg_error err = {};

	for (const char *layer : layers)
		EXPECT_EQ(0, fg_frame_push(frame.get(), layer, &err)) << err.message;
	return frame;
}

Template
finish(Frame &frame, unsigned size)
{
	fg_template *out = nullptr;
	fg_error err = {};

	EXPECT_EQ(0, fg_frame_finish(frame.get(), size, &out, &err)) << err.message;
	return Template(out);
}

Bytes
bytes(const Template &t)
{
	return Bytes(t->bytes, t->bytes + t->length);
}

/* RFC 2544, C.2.6.4, but for the UDP checksum, which is computed where `checksum` says so */
Frame
rfc2544(bool checksum = false)
{
	Frame frame = stack({"ethernet"});

	set(frame, "destination", dst_mac);
	set(frame, "source", src_mac);
	EXPECT_EQ(0, fg_frame_push(frame.get(), "ipv4", nullptr));
	set(frame, "source", src_ip);
	set(frame, "destination", dst_ip);
	EXPECT_EQ(0, fg_frame_push(frame.get(), "udp", nullptr));
	if (!checksum)
		set(frame, "checksum", 0);
	return frame;
}

/* one's complement sum of big-endian words, the last padded: RFC 1071 as it is written down */
uint16_t
sum(const Bytes &b, size_t from, size_t to, uint32_t s = 0)
{
	for (size_t i = from; i < to; i += 2) {
		s += uint32_t(b[i] << 8 | (i + 1 < to ? b[i + 1] : 0));
		s = (s & 0xffff) + (s >> 16);
	}
	return uint16_t(s);
}

/* of UDP from byte 34 to the end, pseudo-header and checksum included: 0xffff when the checksum is right */
uint16_t
udp_sum(const Bytes &b)
{
	return sum(b, 34, b.size(), sum(b, 26, 34) + uint32_t(17 + b.size() - 34));
}

void
expect_rfc2544_frame(unsigned size)
{
	Frame frame = rfc2544();
	Template t = finish(frame, size);
	unsigned ip_length = size - 18, udp_length = size - 38;
	Bytes expected = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x08, 0x00};
	Bytes ip = {0x45, 0, uint8_t(ip_length >> 8), uint8_t(ip_length), 0, 0, 0, 0, 10, 17, 0, 0};
	Bytes udp = {0xc0, 0x20, 0x00, 0x07, uint8_t(udp_length >> 8), uint8_t(udp_length), 0, 0};
	uint16_t checksum;

	ip.insert(ip.end(), src_ip.begin(), src_ip.end());
	ip.insert(ip.end(), dst_ip.begin(), dst_ip.end());
	checksum = uint16_t(~sum(ip, 0, ip.size()));
	ip[10] = uint8_t(checksum >> 8);
	ip[11] = uint8_t(checksum);
	expected.insert(expected.end(), ip.begin(), ip.end());
	expected.insert(expected.end(), udp.begin(), udp.end());
	for (unsigned i = 0; expected.size() < size - 4 - FG_SIGNATURE_SIZE; i++)
		expected.push_back(uint8_t(i));
	/* the signature's place: magic, and what balances it */
	expected.insert(expected.end(), {'F', 'g', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xb9, 0x98});
	ASSERT_EQ(size, t->frame_size);
	ASSERT_EQ(size - 4, t->length);
	ASSERT_EQ(42, t->header);
	ASSERT_EQ(expected, bytes(t)) << size << " octets";
}

} // namespace

TEST(Frame, IsTheTestFrameOfRfc2544)
{
	for (unsigned size : {64, 65, 128, 256, 512, 768, 1024, 1280, 1518, 9018, 16128})
		expect_rfc2544_frame(size);
}

TEST(Frame, HasTheHeaderThatRfc2544Prints)
{
	/* C.2.6.4 with the addresses above; the words of the IPv4 header sum to dd69 by hand */
	Frame frame = rfc2544();
	Bytes b = bytes(finish(frame, 64));

	EXPECT_EQ((Bytes{0x45, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x11, 0x22, 0x96}),
		  Bytes(b.begin() + 14, b.begin() + 26));
	EXPECT_EQ((Bytes{0xc0, 0x20, 0x00, 0x07, 0x00, 0x1a, 0x00, 0x00}),
		  Bytes(b.begin() + 34, b.begin() + 42));
}

TEST(Frame, HasRightChecksumsWhateverTheSize)
{
	for (unsigned size = 64; size <= 1518; size++) {
		Frame frame = rfc2544(true);
		Bytes b = bytes(finish(frame, size));

		ASSERT_EQ(0xffff, sum(b, 14, 34)) << size;
		ASSERT_NE(0, b[40] << 8 | b[41]) << "zero would say that there is none";
		ASSERT_EQ(0xffff, udp_sum(b)) << size;
	}
}

TEST(Frame, KeepsItsChecksumWithAnySignatureAtEvenAndOddOffsets)
{
	std::mt19937_64 random(1);

	for (unsigned size : {64, 65, 128, 129, 1517, 1518}) {
		Frame frame = rfc2544(true);
		Bytes b = bytes(finish(frame, size));

		for (int i = 0; i < 2000; i++) {
			fg_signature_write(b.data() + b.size(), uint16_t(random()), random(), random());
			ASSERT_EQ(0xffff, udp_sum(b)) << size;
		}
	}
}

TEST(Frame, SendsAComputedChecksumOfZeroAsAllOnes)
{
	Bytes port = {0, 0};

	/* one port of all of them brings the sum to 0xffff */
	for (unsigned p = 0; p < 0x10000; p++) {
		Frame frame = rfc2544(true);
		Bytes b;

		set(frame, "source", p);
		b = bytes(finish(frame, 64));
		ASSERT_NE(0, b[40] << 8 | b[41]) << p;
		if (b[40] == 0xff && b[41] == 0xff)
			port = Bytes(b.begin() + 34, b.begin() + 36);
	}
	EXPECT_NE((Bytes{0, 0}), port);
}

TEST(Frame, KeepsWhatTheUserSets)
{
	const std::vector<std::pair<const char *, uint64_t>> ipv4 = {
		{"version", 5},   {"header_length", 6}, {"dscp", 0x2e}, {"length", 1234},
		{"id", 0xbeef},   {"flags", 5},         {"ttl", 1},     {"fragment_offset", 0x1abc},
		{"protocol", 99}, {"checksum", 0x1234}};
	Frame frame = stack({"ethernet"});
	Bytes b;

	set(frame, "type", 0x9000);
	ASSERT_EQ(0, fg_frame_push(frame.get(), "ipv4", nullptr));
	for (const auto &field : ipv4)
		set(frame, field.first, field.second);
	ASSERT_EQ(0, fg_frame_push(frame.get(), "udp", nullptr));
	set(frame, "source", 1);
	set(frame, "destination", 0xffff);
	set(frame, "length", 3);
	set(frame, "checksum", 0xfedc);
	b = bytes(finish(frame, 64));
	EXPECT_EQ((Bytes{0x90, 0x00, 0x56, 0xb8, 0x04, 0xd2, 0xbe, 0xef, 0xba, 0xbc, 1, 99, 0x12, 0x34}),
		  Bytes(b.begin() + 12, b.begin() + 26));
	EXPECT_EQ((Bytes{0, 1, 0xff, 0xff, 0, 3, 0xfe, 0xdc}), Bytes(b.begin() + 34, b.begin() + 42));
}

TEST(Frame, SetsNumbersAndOctetsAlike)
{
	Frame one = rfc2544(), two = stack({"ethernet"});

	set(two, "destination", 0x020000000009);
	set(two, "source", 0x020000000001);
	ASSERT_EQ(0, fg_frame_push(two.get(), "ipv4", nullptr));
	set(two, "source", 0xc6120102);
	set(two, "destination", 0xc6130102);
	ASSERT_EQ(0, fg_frame_push(two.get(), "udp", nullptr));
	set(two, "checksum", Bytes{0, 0});
	EXPECT_EQ(bytes(finish(one, 100)), bytes(finish(two, 100)));
}

TEST(Frame, NamesWhatFollows)
{
	Frame alone = stack({"ethernet"}), ip = stack({"ethernet", "ipv4"});
	Bytes b = bytes(finish(alone, 64));

	EXPECT_EQ((Bytes{0x88, 0xb5}), Bytes(b.begin() + 12, b.begin() + 14)) << "local experimental";
	b = bytes(finish(ip, 64));
	EXPECT_EQ((Bytes{0x08, 0x00}), Bytes(b.begin() + 12, b.begin() + 14));
	EXPECT_EQ(253, b[23]) << "experimental";
}

TEST(Frame, MayBeFinishedInSeveralSizes)
{
	Frame frame = rfc2544(true);
	Bytes first = bytes(finish(frame, 64)), large = bytes(finish(frame, 1518));

	EXPECT_EQ(first, bytes(finish(frame, 64)));
	EXPECT_EQ(0xffff, udp_sum(large));
}

TEST(Frame, IsJustLargeEnough)
{
	fg_template *out = nullptr;
	fg_error err = {};

	for (const auto &c :
	     std::vector<std::pair<std::vector<const char *>, unsigned>>{{{}, 22},
									 {{"ethernet"}, 36},
									 {{"ethernet", "ipv4"}, 56},
									 {{"ethernet", "ipv4", "udp"}, 64}}) {
		Frame frame = stack(c.first);
		Template t = finish(frame, c.second);

		EXPECT_EQ(t->length, t->header + FG_SIGNATURE_SIZE);
		EXPECT_EQ(-EMSGSIZE, fg_frame_finish(frame.get(), c.second - 1, &out, &err));
		EXPECT_NE(nullptr, strstr(err.message, std::to_string(c.second).c_str())) << err.message;
	}
	EXPECT_EQ(nullptr, out);
}

TEST(Frame, IsNeverTooLarge)
{
	Frame frame = rfc2544();
	fg_template *out = nullptr;

	EXPECT_EQ(16128, finish(frame, 16128)->frame_size);
	for (unsigned size : {16129u, 65535u, 65536u, 65600u, ~0u})
		EXPECT_EQ(-EMSGSIZE, fg_frame_finish(frame.get(), size, &out, nullptr)) << size;
	for (unsigned size : {0u, 1u, 4u, 21u})
		EXPECT_EQ(-EMSGSIZE, fg_frame_finish(frame.get(), size, &out, nullptr)) << size;
}

TEST(Frame, RefusesUnknownProtocols)
{
	Frame frame = stack({"ethernet"});

	for (const char *name : {"", "Ethernet", "ipv", "ipv44", "tcp%s%n"}) {
		fg_error err = {};

		EXPECT_EQ(-ENOENT, fg_frame_push(frame.get(), name, &err));
		EXPECT_EQ(ENOENT, err.code);
		EXPECT_STREQ(name, err.where);
	}
	EXPECT_EQ(36, finish(frame, 36)->frame_size) << "nothing was pushed";
}

TEST(Frame, RefusesUnknownFields)
{
	Frame frame = stack({"ethernet", "ipv4"});
	fg_error err = {};

	for (const char *name : {"", "nonsense", "type", "Source"})
		EXPECT_EQ(-ENOENT, fg_frame_set(frame.get(), name, 1, &err)) << name;
	EXPECT_EQ(-ENOENT, fg_frame_set_bytes(frame.get(), "nonsense", src_ip.data(), 4, &err));
	EXPECT_NE(nullptr, strstr(err.message, "ipv4")) << err.message;
}

TEST(Frame, HasNoFieldsBeforeItsFirstLayer)
{
	Frame frame(fg_frame_create());

	EXPECT_EQ(-ENOENT, fg_frame_set(frame.get(), "source", 1, nullptr));
	EXPECT_EQ(-ENOENT, fg_frame_set_bytes(frame.get(), "source", src_mac.data(), 6, nullptr));
}

TEST(Frame, RefusesValuesThatAreTooWideAndComputesTheField)
{
	Frame touched = rfc2544(), fresh = rfc2544();
	Frame with = stack({"ethernet", "ipv4"}), without = stack({"ethernet", "ipv4"});

	for (const auto &field : std::vector<std::pair<const char *, uint64_t>>{{"version", 16},
										{"flags", 8},
										{"fragment_offset", 0x2000},
										{"ttl", 256},
										{"length", 0x10000},
										{"checksum", 0x10000},
										{"protocol", ~0ull},
										{"source", 1ull << 32}})
		EXPECT_EQ(-ERANGE, fg_frame_set(with.get(), field.first, field.second, nullptr))
			<< field.first;
	EXPECT_EQ(-ERANGE, fg_frame_set_bytes(with.get(), "source", src_mac.data(), 6, nullptr));
	EXPECT_EQ(-ERANGE, fg_frame_set_bytes(with.get(), "source", src_ip.data(), 3, nullptr));
	EXPECT_EQ(-ERANGE, fg_frame_set_bytes(with.get(), "source", src_ip.data(), 0, nullptr));
	EXPECT_EQ(-ERANGE, fg_frame_set_bytes(with.get(), "version", src_ip.data(), 1, nullptr));
	EXPECT_EQ(-ERANGE, fg_frame_set_bytes(with.get(), "flags", src_ip.data(), 1, nullptr));
	EXPECT_EQ(bytes(finish(without, 100)), bytes(finish(with, 100)));
}

/* RFC 2236, 2.3: over the whole IGMP message, that is, all that IP carries. tshark looks at eight bytes. */
TEST(Frame, ChecksumOfIgmpCoversTheWholeMessage)
{
	Frame frame = stack({"ethernet", "ipv4", "igmp"});
	std::vector<uint8_t> b = bytes(finish(frame, 100));

	EXPECT_EQ(2, b[23]);
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &b[34], b.size() - 34)));
}

TEST(Frame, PayloadIsRepeatedUpToTheSignature)
{
	Frame frame = rfc2544(true);
	const Bytes pattern = {0xde, 0xad, 0xbe};

	EXPECT_EQ(-EINVAL, fg_frame_set_payload(frame.get(), pattern.data(), 0, nullptr));
	ASSERT_EQ(0, fg_frame_set_payload(frame.get(), src_ip.data(), src_ip.size(), nullptr));
	ASSERT_EQ(0, fg_frame_set_payload(frame.get(), pattern.data(), pattern.size(), nullptr));

	Template t = finish(frame, 70);
	EXPECT_EQ(Bytes({0xde, 0xad, 0xbe, 0xde, 0xad, 0xbe}), Bytes(t->bytes + 42, t->bytes + 48));
	EXPECT_EQ(0xffff, udp_sum(bytes(t)));
}

TEST(Frame, WithoutSignatureIsPayloadUpToItsEnd)
{
	Frame frame = rfc2544(true);
	const Bytes pattern = {0xde, 0xad};

	ASSERT_EQ(0, fg_frame_set_payload(frame.get(), pattern.data(), pattern.size(), nullptr));
	fg_frame_leave_unsigned(frame.get());
	Template t = finish(frame, 64);
	Bytes made(t->length);
	fg_template_make(t.get(), 7, 9, 11, made.data());
	EXPECT_EQ(bytes(t), made);
	EXPECT_EQ(Bytes({0xad, 0xde, 0xad}), Bytes(made.end() - 3, made.end()));
	EXPECT_EQ(0xffff, udp_sum(made));
	EXPECT_EQ(46u, finish(frame, 46)->frame_size); // headers and FCS
}

TEST(Frame, RefusesToGrowTooDeep)
{
	Frame frame = stack(std::vector<const char *>(48, "ipv4"));
	fg_error err = {};
	Template t;

	EXPECT_EQ(-E2BIG, fg_frame_push(frame.get(), "udp", &err));
	EXPECT_EQ(E2BIG, err.code);
	t = finish(frame, 1518);
	EXPECT_EQ(960, t->header);
}

TEST(Frame, MayBeFreedWhenThereIsNone)
{
	fg_frame_free(nullptr);
	fg_template_free(nullptr);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STAMP, TWAMP Light and Y.1731, byte by octet: times and error estimates, and the replies of a reflector to
 * requests that are written out here. The bytes were decoded by Wireshark.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fg_checksum.h"
#include "fg_oam.h"

namespace
{

using Bytes = std::vector<uint8_t>;

/* 2024-01-01 00:00:00.5 UTC */
const int64_t T1 = 1704067200500000000, US = 1000;
const Bytes SENDER_MAC = {2, 0, 0, 0, 0, 1}, OUR_MAC = {2, 0, 0, 0, 0, 2};

Bytes
hex(const std::string &text)
{
	Bytes out;
	std::string digits;

	for (char c : text)
		if (c != ' ')
			digits += c;
	for (size_t i = 0; i + 1 < digits.size(); i += 2)
		out.push_back((uint8_t)std::stoi(digits.substr(i, 2), nullptr, 16));
	return out;
}

Bytes
operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

Bytes
zeros(size_t n)
{
	return Bytes(n);
}

void
put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* a datagram from 198.18.1.1, port 50000, to 198.18.1.2, port 862, or back */
Bytes
datagram(const Bytes &content, bool back = false, uint8_t ttl = 63, uint8_t tos = 0)
{
	Bytes from = {198, 18, 1, 1}, to = {198, 18, 1, 2}, ports = hex("c350 035e");
	Bytes ip = {0x45, tos, 0, 0, 0, 0, 0, 0, back ? (uint8_t)255 : ttl, 17, 0, 0};

	if (back) {
		std::swap(from, to);
		ports = hex("035e c350");
	}
	ip = ip + from + to;
	put16(&ip[2], 28 + content.size());
	uint16_t sum = fg_checksum_finish(fg_checksum_add(0, ip.data(), ip.size()));
	memcpy(&ip[10], &sum, 2);
	Bytes udp = ports + zeros(4) + content;
	put16(&udp[4], udp.size());
	sum = fg_checksum_finish(fg_checksum_add(
		fg_checksum_pseudo4((const struct fg_ipv4 *)ip.data(), FG_IP_UDP, (uint16_t)udp.size()),
		udp.data(), udp.size()));
	memcpy(&udp[6], &sum, 2);
	return (back ? SENDER_MAC + OUR_MAC : OUR_MAC + SENDER_MAC) + hex("0800") + ip + udp;
}

Bytes
y1731(const Bytes &message, bool back = false)
{
	return (back ? SENDER_MAC + OUR_MAC : OUR_MAC + SENDER_MAC) + hex("8902") + message;
}

class Reflector
{
      public:
	fg_oam_reflector_config config = {};

	explicit Reflector(fg_oam_test test)
	{
		config.test = test;
		memcpy(config.host.mac, OUR_MAC.data(), 6);
		config.port = FG_OAM_PORT;
		config.level = 4;
		config.mep = 12;
	}

	~Reflector()
	{
		fg_oam_reflector_free(reflector);
	}

	/* the reply; empty without one */
	Bytes
	answer(Bytes frame, int64_t arrival = T1 + 20 * US, int64_t departure = T1 + 25 * US)
	{
		if (reflector == nullptr) {
			fg_error err;
			EXPECT_EQ(0, fg_oam_reflector_create(&config, &reflector, &err)) << err.message;
			fg_oam_reflector_set_clock(reflector, T1, fg_oam_estimate(1000, FG_OAM_SYNCHRONISED));
		}
		Bytes before = frame;
		size_t n = frame.size(), octets;
		frame.resize(n + FG_OAM_ROOM);
		octets = fg_oam_reflector_answer(reflector, frame.data(), n, (uint64_t)(arrival - T1));
		if (octets == 0) {
			frame.resize(n);
			EXPECT_EQ(before, frame) << "what is not answered stays as it was";
			return {};
		}
		fg_oam_reflector_depart(reflector, frame.data(), octets, (uint64_t)(departure - T1));
		frame.resize(octets);
		return frame;
	}

	fg_oam_reflector_counts
	counts()
	{
		fg_oam_reflector_counts out;

		fg_oam_reflector_read(reflector, &out);
		return out;
	}

      private:
	fg_oam_reflector *reflector = nullptr;
};

Bytes
stamp_request(const std::string &sequence = "00000029")
{
	return hex(sequence + "e93c7f0080000000 8587 1234") + zeros(28);
}

TEST(OamTime, NtpAndPtp)
{
	EXPECT_EQ(0xe93c7f0080000000u, fg_oam_to_ntp(T1));
	EXPECT_EQ(0xe93c7f008001a36eu, fg_oam_to_ntp(T1 + 41 * US - 16 * US)) << "25 us";
	EXPECT_EQ(0x659200801dcd6500u, fg_oam_to_ptp(T1));
	for (int64_t ns : {T1, T1 + 1, T1 + 499999999, T1 + 500000000, T1 + 123456789}) {
		EXPECT_EQ(ns, fg_oam_from_ntp(fg_oam_to_ntp(ns)));
		EXPECT_EQ(ns, fg_oam_from_ptp(fg_oam_to_ptp(ns)));
	}
}

TEST(OamTime, ErrorEstimates)
{
	EXPECT_EQ(0x81d7, fg_oam_estimate(100, FG_OAM_SYNCHRONISED));
	EXPECT_EQ(0x8587, fg_oam_estimate(1000, FG_OAM_SYNCHRONISED));
	EXPECT_EQ(0x8f84, fg_oam_estimate(1e6, FG_OAM_SYNCHRONISED));
	EXPECT_EQ(0x0001, fg_oam_estimate(0, 0)) << "a multiplier of 0 is invalid";
	EXPECT_NEAR(1005.8, fg_oam_estimate_ns(0x8587), 0.1);
	for (double ns = 1; ns < 1e12; ns *= 3)
		EXPECT_GE(fg_oam_estimate_ns(fg_oam_estimate(ns, 0)), ns);
}

TEST(OamReflector, AnswersStamp)
{
	Reflector r(FG_OAM_STAMP);

	for (int i = 0; i < 40; i++)
		ASSERT_FALSE(r.answer(datagram(stamp_request())).empty());
	EXPECT_EQ(datagram(hex("00000028 e93c7f008001a36e 8587 1234 e93c7f0080014f8b 00000029"
			       "e93c7f0080000000 8587 0000 3f 000000"),
			   true),
		  r.answer(datagram(stamp_request())));
	EXPECT_EQ(41u, r.counts().answered);
	EXPECT_EQ(1u, r.counts().sessions);
}

TEST(OamReflector, CountsEachSession)
{
	Reflector r(FG_OAM_STAMP);
	Bytes other = stamp_request();

	other[15]++; /* SSID */
	for (uint8_t i = 0; i < 3; i++) {
		EXPECT_EQ(i, r.answer(datagram(stamp_request()))[45]);
		EXPECT_EQ(i, r.answer(datagram(other))[45]);
	}
	EXPECT_EQ(2u, r.counts().sessions);
	const int64_t later = T1 + 901 * INT64_C(1000000000);
	EXPECT_EQ(0, r.answer(datagram(other), later, later)[45]) << "forgotten after 900 s";
}

TEST(OamReflector, StatelessReturnsTheNumberOfTheSender)
{
	Reflector r(FG_OAM_STAMP);

	r.config.stateless = true;
	EXPECT_EQ(0x29, r.answer(datagram(stamp_request()))[45]);
	EXPECT_EQ(0x07, r.answer(datagram(stamp_request("00000007")))[45]);
}

/* RFC 768: a sum of 0 is sent as all ones, for 0 says that it has no checksum */
TEST(OamReflector, AlwaysSendsAChecksum)
{
	Reflector r(FG_OAM_STAMP);
	unsigned ones = 0;

	r.config.stateless = true;
	for (unsigned n = 0; n <= 0xffff; n++) {
		Bytes request = stamp_request();

		put16(&request[2], n);
		Bytes reply = r.answer(datagram(request));
		ASSERT_NE(0, reply[40] << 8 | reply[41]) << n;
		ones += reply[40] == 0xff && reply[41] == 0xff;
	}
	EXPECT_LT(0u, ones);
}

TEST(OamReflector, AnswersTwampLight)
{
	const Bytes request = hex("00000029 e93c7f0080000000 8587"), padding(40, 0xaa);
	const Bytes reply = hex("00000000 e93c7f008001a36e 8587 0000 e93c7f0080014f8b 00000029"
				"e93c7f0080000000 8587 0000 3f");
	Reflector r(FG_OAM_TWAMP_LIGHT), again(FG_OAM_TWAMP_LIGHT), stamp(FG_OAM_STAMP);

	EXPECT_EQ(datagram(reply, true), r.answer(datagram(request)));
	EXPECT_EQ(datagram(reply, true), stamp.answer(datagram(request))) << "RFC 8762, 4.6";
	EXPECT_EQ(datagram(reply + Bytes(13, 0xaa), true), again.answer(datagram(request + padding)))
		<< "27 bytes of padding are taken off";
}

TEST(OamReflector, AnswersWithPtpTimesWhereAsked)
{
	Reflector r(FG_OAM_STAMP);

	EXPECT_EQ(datagram(hex("00000000 659200801dcdc6a8 c587 1234 659200801dcdb320 00000029"
			       "659200801dcd6500 c587 0000 3f 000000"),
			   true),
		  r.answer(datagram(hex("00000029 659200801dcd6500 c587 1234") + zeros(28))));
}

TEST(OamReflector, TreatsTlvsAsTheirTypeAsks)
{
	Reflector r(FG_OAM_STAMP);
	/* padding, class of service (back with 46; came with 10, ECN 2), an unknown one, one cut off */
	Bytes tlvs = hex("8001 0003 aabbcc 8004 0004 b8000000 80f0 0001 55 8001 00ff");
	Bytes reply = r.answer(datagram(stamp_request() + tlvs, false, 63, 10 << 2 | 2));

	ASSERT_EQ(42 + 44 + tlvs.size(), reply.size());
	EXPECT_EQ(hex("0001 0003 aabbcc 0004 0004 b8a80000 80f0 0001 55 c001 00ff"),
		  Bytes(reply.begin() + 42 + 44, reply.end()));
	EXPECT_EQ(46 << 2, reply[15]) << "the reply's DSCP";
}

TEST(OamReflector, LeavesOthersFramesAlone)
{
	Reflector r(FG_OAM_STAMP);
	Bytes frame = datagram(stamp_request());
	auto changed = [&frame](size_t at, uint8_t by) {
		Bytes copy = frame;
		copy[at] ^= by;
		return copy;
	};

	r.config.host.has_ipv4 = true;
	memcpy(r.config.host.ipv4, Bytes({198, 18, 1, 2}).data(), 4);
	EXPECT_FALSE(r.answer(frame).empty());
	for (size_t at : {0, 6, 12, 14, 16, 20, 23, 24, 30, 37, 38, 41, 42, 60})
		EXPECT_TRUE(r.answer(changed(at, 1)).empty()) << "octet " << at;
	for (size_t n = 0; n < frame.size(); n++)
		EXPECT_TRUE(r.answer(Bytes(frame.begin(), frame.begin() + (long)n)).empty())
			<< n << " octets";
	EXPECT_TRUE(r.answer(datagram(zeros(13))).empty());
	EXPECT_TRUE(r.answer(y1731(hex("8003 0004 00000001 00") + zeros(40))).empty());
	EXPECT_EQ(1u, r.counts().answered);
}

TEST(OamReflector, AnswersLoopback)
{
	Reflector r(FG_OAM_LOOPBACK);
	const Bytes rest = hex("0004 0000002a 03 0004 01020304 00") + zeros(30);

	EXPECT_EQ(y1731(hex("8002") + rest, true), r.answer(y1731(hex("8003") + rest)));
	EXPECT_TRUE(r.answer(y1731(hex("6003") + rest)).empty()) << "level 3";
	Bytes group = y1731(hex("8003") + rest);
	memcpy(group.data(), hex("0180c2000034").data(), 6);
	EXPECT_EQ(y1731(hex("8002") + rest, true), r.answer(group)) << "the multicast address of level 4";
	group[5]++;
	EXPECT_TRUE(r.answer(group).empty());
}

TEST(OamReflector, AnswersDelayMeasurement)
{
	Reflector r(FG_OAM_DELAY);

	EXPECT_EQ(y1731(hex("812e 0020 659200801dcd6500 659200801dcdb320 659200801dcdc6a8 0000000000000000"
			    "00") +
				zeros(9),
			true),
		  r.answer(y1731(hex("812f 0020 659200801dcd6500") + zeros(34))));
}

TEST(OamReflector, AnswersSyntheticLoss)
{
	Reflector r(FG_OAM_SYNTHETIC);
	Bytes reply;

	for (int i = 0; i < 40; i++)
		reply = r.answer(y1731(hex("8037 0010 000b 0000 00000063 00000029 00000000 00") + zeros(25)));
	EXPECT_EQ(y1731(hex("8036 0010 000b 000c 00000063 00000029 00000028 00") + zeros(25), true), reply);
}

/* two reflectors would send each other any other frame for ever */
TEST(OamReflector, ReturnsAFrameOfAServiceOnceAndNoFrameOfAStream)
{
	Reflector r(FG_OAM_LOSS);
	const Bytes local = hex("88b5"), request = hex("46472d4c4f53533f") + zeros(38);
	const Bytes reply = SENDER_MAC + OUR_MAC + local + hex("46472d4c4f535321") + zeros(38);

	EXPECT_EQ(reply, r.answer(OUR_MAC + SENDER_MAC + local + request));
	EXPECT_TRUE(r.answer(OUR_MAC + SENDER_MAC + local + hex("46472d4c4f535321") + zeros(38)).empty());
	EXPECT_TRUE(r.answer(OUR_MAC + SENDER_MAC + local + zeros(46)).empty()) << "a stream's";
	EXPECT_TRUE(r.answer(OUR_MAC + SENDER_MAC + local + hex("46472d4c4f5353")).empty()) << "cut off";
	EXPECT_TRUE(r.answer(SENDER_MAC + SENDER_MAC + local + request).empty()) << "of another";
	EXPECT_EQ(y1731(hex("802a 000c 00000009 00000005 00000001 00") + zeros(30), true),
		  r.answer(y1731(hex("802b 000c 00000009 00000000 00000000 00") + zeros(30))))
		<< "all of them came";
}

TEST(OamReflector, RefusesWhatIsNoRequest)
{
	Reflector r(FG_OAM_DELAY);

	EXPECT_TRUE(r.answer(y1731(hex("812e 0020") + zeros(42))).empty()) << "a reply";
	EXPECT_TRUE(r.answer(y1731(hex("812f 0020") + zeros(32))).empty()) << "without its end TLV";
	EXPECT_TRUE(r.answer(y1731(hex("812f 0010") + zeros(42))).empty()) << "fields that are too short";
	EXPECT_TRUE(r.answer(y1731(hex("812f 00ff") + zeros(42))).empty()) << "a TLV behind its end";
	EXPECT_EQ(0u, r.counts().answered);
	EXPECT_EQ(4u, r.counts().refused);
}

TEST(OamReflector, RefusesALevelThatIsNone)
{
	fg_oam_reflector *reflector = nullptr;
	fg_oam_reflector_config config = {};
	fg_error err;

	config.level = 8;
	EXPECT_EQ(-EINVAL, fg_oam_reflector_create(&config, &reflector, &err));
}

} // namespace

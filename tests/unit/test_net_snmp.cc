/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "net_frames.h"

using namespace frames;

namespace
{

const uint32_t values[FG_SNMP_OBJECTS] = {123456, 0xffffffff, 0x80, 0x7f, 0};

fg_host
agent()
{
	fg_host h = host();

	memcpy(h.mac, peer_mac.data(), 6);
	memcpy(h.ipv4, peer_ipv4.data(), 4);
	return h;
}

fg_snmp_query
question(uint32_t request, uint32_t interface = 1, const char *community = "public")
{
	fg_snmp_query q = {};

	memcpy(q.agent_mac, peer_mac.data(), 6);
	memcpy(q.agent, peer_ipv4.data(), 4);
	strcpy(q.community, community);
	q.interface = interface;
	q.request = request;
	return q;
}

Bytes
ask(const fg_snmp_query &q)
{
	fg_host h = host();
	Bytes out(FG_DATAGRAM_ROOM, 0xee);

	out.resize(fg_net_snmp_query(&h, &q, out.data()));
	return out;
}

Bytes
answer(const fg_host &h, Bytes frame)
{
	size_t length = frame.size();

	frame.resize(FG_DATAGRAM_ROOM, 0xee);
	frame.resize(fg_net_snmp_answer(&h, values, frame.data(), length));
	return frame;
}

bool
replies(uint32_t request, const Bytes &frame)
{
	fg_host h = host();
	Bytes exact = Exact(frame);

	return fg_net_snmp_replies(&h, request, exact.data(), exact.size());
}

/* sum of the datagram with its pseudo-header: 0xffff when the checksum is right */
uint16_t
datagram_sum(const Bytes &frame)
{
	Bytes addresses(frame.begin() + 26, frame.begin() + 34);

	return sum(frame, 34, frame.size(), pseudo_sum(addresses, 17, frame.size() - 34));
}

Bytes
content(const Bytes &frame)
{
	return Bytes(frame.begin() + 42, frame.end());
}

} // namespace

TEST(NetSnmp, AsksWhatRfc2544AsksFor)
{
	Bytes frame = ask(question(0x1234, 300, "lab"));
	/* ifIndex 300 is 0x82 0x2c in base 128 */
	const Bytes expected = {
		0x30, 0x68, 0x02, 1,    0,    0x04, 3,    'l',  'a',  'b',  0xa0, 0x5e, 0x02, 2,
		0x12, 0x34, 0x02, 1,    0,    0x02, 1,    0,    0x30, 0x52, 0x30, 12,   0x06, 8,
		0x2b, 6,    1,    2,    1,    1,    3,    0,    0x05, 0,    0x30, 15,   0x06, 11,
		0x2b, 6,    1,    2,    1,    2,    2,    1,    10,   0x82, 0x2c, 0x05, 0,    0x30,
		15,   0x06, 11,   0x2b, 6,    1,    2,    1,    2,    2,    1,    16,   0x82, 0x2c,
		0x05, 0,    0x30, 15,   0x06, 11,   0x2b, 6,    1,    2,    1,    2,    2,    1,
		11,   0x82, 0x2c, 0x05, 0,    0x30, 15,   0x06, 11,   0x2b, 6,    1,    2,    1,
		2,    2,    1,    17,   0x82, 0x2c, 0x05, 0,
	};

	EXPECT_EQ(expected, content(frame));
	EXPECT_EQ(Bytes(peer_mac.begin(), peer_mac.end()), Bytes(frame.begin(), frame.begin() + 6));
	EXPECT_EQ(161, frame[36] << 8 | frame[37]);
	EXPECT_EQ(0xffff, sum(frame, 14, 34));
	EXPECT_EQ(0xffff, datagram_sum(frame));
}

TEST(NetSnmp, AnAnswerRepliesToItsRequestOnly)
{
	Bytes frame = answer(agent(), ask(question(7)));

	ASSERT_FALSE(frame.empty());
	EXPECT_EQ(Bytes(host_mac.begin(), host_mac.end()), Bytes(frame.begin(), frame.begin() + 6));
	EXPECT_EQ(0xffff, sum(frame, 14, 34));
	EXPECT_EQ(0xffff, datagram_sum(frame));
	EXPECT_TRUE(replies(7, frame));
	EXPECT_FALSE(replies(8, frame));
	EXPECT_FALSE(replies(7, ask(question(7))));
}

TEST(NetSnmp, AnAnswerHasTheValuesInAsFewOctetsAsTheyTake)
{
	Bytes frame = content(answer(agent(), ask(question(1))));
	const Bytes expected[] = {
		{0x43, 3, 0x01, 0xe2, 0x40},
		{0x41, 5, 0, 0xff, 0xff, 0xff, 0xff},
		{0x41, 2, 0, 0x80},
		{0x41, 1, 0x7f},
		{0x41, 1, 0},
	};

	for (const Bytes &value : expected)
		EXPECT_NE(frame.end(), std::search(frame.begin(), frame.end(), value.begin(), value.end()));
	EXPECT_EQ(0x30, frame[0]);
	EXPECT_EQ(frame.size(), 2U + frame[1]);
}

TEST(NetSnmp, TheLongestQuestionHasAnAnswer)
{
	std::string longest(FG_SNMP_COMMUNITY, 'x');
	Bytes frame = answer(agent(), ask(question(0xffffffff, 0xffffffff, longest.c_str())));

	EXPECT_TRUE(replies(0xffffffff, frame));
	EXPECT_LE(frame.size(), size_t(FG_DATAGRAM_ROOM));
	EXPECT_EQ(0x81, frame[43]); /* one byte of length does not say it */
	EXPECT_EQ(frame.size(), 42U + 3 + frame[44]);
}

TEST(NetSnmp, NobodyElseAnswers)
{
	fg_host other = host(), bridge = agent();

	bridge.has_ipv4 = false;
	EXPECT_TRUE(answer(other, ask(question(1))).empty());
	EXPECT_TRUE(answer(bridge, ask(question(1))).empty());
}

TEST(NetSnmp, AnErrorIsNoReply)
{
	Bytes frame = answer(agent(), ask(question(7)));
	/* error-status, behind version, community and the request: noSuchName */
	const Bytes status = {0x02, 1, 7, 0x02, 1, 0, 0x02, 1, 0};
	auto at = std::search(frame.begin(), frame.end(), status.begin(), status.end());

	ASSERT_NE(frame.end(), at);
	at[5] = 2;
	frame[40] = frame[41] = 0; /* without UDP checksum */
	EXPECT_FALSE(replies(7, frame));
	at[5] = 0;
	EXPECT_TRUE(replies(7, frame));
}

TEST(NetSnmp, NothingDamagedOrCutShortIsTaken)
{
	const Bytes query = ask(question(7)), reply = answer(agent(), query);

	for (size_t i = 14; i < reply.size(); i++) {
		Bytes damaged = reply;

		damaged[i] ^= 1;
		/* of all bytes only the source's do not matter to either; they are in the checksum */
		EXPECT_FALSE(replies(7, damaged)) << i;
	}
	for (size_t i = 0; i < reply.size(); i++)
		EXPECT_FALSE(replies(7, Bytes(reply.begin(), reply.begin() + i))) << i;
	for (size_t i = 0; i < query.size(); i++)
		EXPECT_TRUE(answer(agent(), Bytes(query.begin(), query.begin() + i)).empty()) << i;
}

/* without UDP checksum every byte reaches the reader: none of its lengths may lead out of the frame */
TEST(NetSnmp, LengthsThatLieLeadNowhere)
{
	Bytes query = ask(question(7));

	query[40] = query[41] = 0;
	for (size_t i = 42; i < query.size(); i++)
		for (unsigned value : {0U, 1U, 0x7fU, 0x80U, 0x81U, 0x82U, 0x83U, 0xffU}) {
			Bytes lying = query;

			lying[i] = uint8_t(value);
			Bytes frame = answer(agent(), lying);
			EXPECT_LE(frame.size(), size_t(FG_DATAGRAM_ROOM));
			replies(7, lying);
		}
}

TEST(NetRip, TellsSixNetworksThatNobodyTests)
{
	fg_host h = host();
	Bytes first(FG_DATAGRAM_ROOM), second(FG_DATAGRAM_ROOM);

	first.resize(fg_net_rip_update(&h, false, first.data()));
	second.resize(fg_net_rip_update(&h, true, second.data()));
	EXPECT_EQ(42U + 4 + 6 * 20, first.size());
	EXPECT_EQ(Bytes(6, 0xff), Bytes(first.begin(), first.begin() + 6));
	EXPECT_EQ(520, first[34] << 8 | first[35]);
	EXPECT_EQ(520, first[36] << 8 | first[37]);
	EXPECT_EQ(0xffff, datagram_sum(first));
	EXPECT_EQ((Bytes{2, 1, 0, 0}), Bytes(first.begin() + 42, first.begin() + 46));
	for (unsigned i = 0; i < 6; i++) {
		Bytes entry = {0, 2, 0, 0, 198, 18, uint8_t(58 + i), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
		auto at = first.begin() + 46 + 20 * i;

		EXPECT_EQ(entry, Bytes(at, at + 20));
		entry.back() = 8;
		at = second.begin() + 46 + 20 * i;
		EXPECT_EQ(entry, Bytes(at, at + 20));
	}
	h.ipv4[1] = 19;
	first.resize(FG_DATAGRAM_ROOM);
	fg_net_rip_update(&h, false, first.data());
	EXPECT_EQ(19, first[51]);
}

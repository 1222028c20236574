/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "net_frames.h"

using namespace frames;

namespace
{

const size_t room = FG_ANSWER_ROOM; /* what the header asks for */

/* the answer to a frame that lies in memory of no more than the promised size, filled up with
 * `filler` */
Bytes
answer_over(const fg_host &host, const Bytes &question, uint8_t filler)
{
	size_t size = std::max(question.size(), room);
	std::unique_ptr<uint8_t[]> memory(new uint8_t[size]);
	size_t length;

	std::fill_n(memory.get(), size, filler);
	std::copy(question.begin(), question.end(), memory.get());
	length = fg_net_answer(&host, memory.get(), question.size());
	EXPECT_LE(length, size);
	if (length == 0) {
		EXPECT_TRUE(std::equal(question.begin(), question.end(), memory.get()))
			<< "a frame that is not answered is left alone";
	}
	return Bytes(memory.get(), memory.get() + length);
}

/* what lies behind the frame must not matter */
Bytes
answer(const fg_host &host, const Bytes &question)
{
	Bytes one = answer_over(host, question, 0x00);

	EXPECT_EQ(one, answer_over(host, question, 0xff));
	return one;
}

Bytes
answer(const Bytes &question)
{
	return answer(host(), question);
}

Bytes
pad(Bytes b, size_t length = 60)
{
	b.resize(std::max(b.size(), length));
	return b;
}

Bytes
arp_question()
{
	return arp(1, peer_mac, peer_ipv4, host_mac, host_ipv4);
}

Bytes
arp_answer()
{
	return arp(2, host_mac, host_ipv4, peer_mac, peer_ipv4);
}

Bytes
echo_question()
{
	return icmp(8, host_mac, peer_mac, host_ipv4, peer_ipv4);
}

Bytes
echo6_question()
{
	return echo6(128, host_mac, peer_mac, host_ipv6, peer_ipv6);
}

Bytes
advertisement(const Ipv6 &to, const Mac &mac, uint32_t flags)
{
	return icmpv6(mac, host_mac, to, host_ipv6, neighbour(136, flags, host_ipv6, host_mac));
}

const std::vector<Bytes> questions = {arp_question(), echo_question(), solicitation(), echo6_question()};

} // namespace

TEST(Answer, TellsOurMacByArp)
{
	EXPECT_EQ(arp_answer(), answer(arp_question()));
	EXPECT_EQ(arp_answer(), answer(pad(arp_question()))) << "padding is not repeated";
}

TEST(Answer, KeepsQuietOnArpThatIsNotForUs)
{
	EXPECT_EQ(Bytes{}, answer(arp(1, peer_mac, peer_ipv4, host_mac, {198, 18, 1, 3})));
	EXPECT_EQ(Bytes{}, answer(arp(2, peer_mac, peer_ipv4, host_mac, host_ipv4))) << "a reply";
	EXPECT_EQ(Bytes{}, answer(arp(0, peer_mac, peer_ipv4, host_mac, host_ipv4)));
	EXPECT_EQ(Bytes{}, answer(arp(8, peer_mac, peer_ipv4, host_mac, host_ipv4))) << "inverse ARP";
	EXPECT_EQ(Bytes{}, answer(arp(1, peer_mac, host_ipv4, host_mac, host_ipv4))) << "an announcement";
}

TEST(Answer, KeepsQuietOnArpOfOtherKinds)
{
	for (size_t at = 14; at < 20; at++) {
		Bytes question = arp_question();

		question[at] ^= 1;
		EXPECT_EQ(Bytes{}, answer(question)) << "octet " << at;
	}
}

TEST(Answer, RepliesToAnEcho)
{
	for (size_t payload : {0, 1, 2, 56, 57, 1472}) {
		Bytes expected = icmp(0, peer_mac, host_mac, peer_ipv4, host_ipv4, payload);

		expected[22] = 64;
		mend_icmp(expected);
		EXPECT_EQ(expected, answer(icmp(8, host_mac, peer_mac, host_ipv4, peer_ipv4, payload)));
		EXPECT_EQ(expected, answer(pad(icmp(8, host_mac, peer_mac, host_ipv4, peer_ipv4, payload))));
	}
}

TEST(Answer, KeepsQuietOnIpv4ThatIsNoEchoForUs)
{
	EXPECT_EQ(Bytes{}, answer(icmp(8, host_mac, peer_mac, {198, 18, 1, 3}, peer_ipv4)));
	EXPECT_EQ(Bytes{}, answer(icmp(0, host_mac, peer_mac, host_ipv4, peer_ipv4))) << "a reply";
	for (auto change :
	     {std::pair<size_t, uint8_t>{14, 0x46}, {14, 0x65}, {14, 0x44}, {23, 17}, {23, 58}}) {
		Bytes question = echo_question();

		question[change.first] = change.second;
		mend_icmp(question);
		EXPECT_EQ(Bytes{}, answer(question)) << "octet " << change.first;
	}
}

TEST(Answer, KeepsQuietOnFragments)
{
	for (unsigned fragment : {0x2000, 0x0001, 0x1fff, 0x3000, 0x2001}) {
		Bytes question = echo_question();

		put16(question, 20, fragment);
		mend_icmp(question);
		EXPECT_EQ(Bytes{}, answer(question)) << std::hex << fragment;
	}
	for (unsigned fragment : {0x0000, 0x4000}) { /* may, may not be fragmented */
		Bytes question = echo_question();

		put16(question, 20, fragment);
		mend_icmp(question);
		EXPECT_NE(Bytes{}, answer(question)) << std::hex << fragment;
	}
}

TEST(Answer, KeepsQuietOnWrongLengths)
{
	for (unsigned length : {0u, 1u, 19u, 20u, 27u, 86u, 87u, 1500u, 65535u}) {
		Bytes question = echo_question(); /* 85 bytes of IPv4 */

		put16(question, 16, length);
		mend_icmp(question);
		EXPECT_EQ(Bytes{}, answer(question)) << length;
	}
	for (unsigned length : {0u, 1u, 7u, 66u, 1500u, 65535u}) {
		Bytes question = echo6_question(); /* 65 bytes of ICMPv6 */

		put16(question, 18, length);
		mend_icmpv6(question);
		EXPECT_EQ(Bytes{}, answer(question)) << length;
	}
}

TEST(Answer, TellsOurMacByNeighborDiscovery)
{
	EXPECT_EQ(advertisement(peer_ipv6, peer_mac, 0x60000000), answer(solicitation()));
}

TEST(Answer, TellsOurMacToAUnicastQuestionWithoutOption)
{
	Bytes message = neighbour(135, 0, host_ipv6, peer_mac);

	message.resize(24);
	EXPECT_EQ(advertisement(peer_ipv6, peer_mac, 0x60000000),
		  answer(icmpv6(host_mac, peer_mac, host_ipv6, peer_ipv6, message)));
}

TEST(Answer, DefendsOurAddressAgainstWhoeverWantsToTakeIt)
{
	/* RFC 4861, 7.2.4: to all nodes, and not as solicited */
	EXPECT_EQ(advertisement(all_nodes, group_mac(all_nodes), 0x20000000),
		  answer(solicitation(host_ipv6, no_ipv6)));
}

TEST(Answer, KeepsQuietOnSolicitationsThatAreNotValid)
{
	Ipv6 other = host_ipv6;

	other[0] ^= 1;
	EXPECT_EQ(Bytes{}, answer(solicitation(other)));
	for (auto change :
	     {std::pair<size_t, uint8_t>{21, 254}, {21, 0}, {55, 1}, {54, 136}, {20, 17}, {14, 0x40}}) {
		Bytes question = solicitation();

		question[change.first] = change.second;
		mend_icmpv6(question);
		EXPECT_EQ(Bytes{}, answer(question)) << "octet " << change.first;
	}
}

TEST(Answer, RepliesToAnIpv6Echo)
{
	for (size_t payload : {0, 1, 2, 56, 57, 1448}) {
		Bytes expected = echo6(129, peer_mac, host_mac, peer_ipv6, host_ipv6, payload);

		expected[21] = 64;
		EXPECT_EQ(expected, answer(echo6(128, host_mac, peer_mac, host_ipv6, peer_ipv6, payload)));
	}
	EXPECT_EQ(Bytes{}, answer(echo6(129, host_mac, peer_mac, host_ipv6, peer_ipv6))) << "a reply";
	EXPECT_EQ(Bytes{}, answer(echo6(128, host_mac, peer_mac, all_nodes, peer_ipv6)));
}

TEST(Answer, DoesNotMendADamagedQuestion)
{
	for (const Bytes &question : {echo_question(), solicitation(), echo6_question()})
		for (size_t at = 14; at < question.size(); at++) {
			Bytes damaged = question;

			damaged[at] ^= 0x10;
			/* the checksum of IPv6 does not cover these: class, flow label and hop limit */
			if (question[12] == 0x86 && (at < 18 || at == 21))
				continue;
			EXPECT_EQ(Bytes{}, answer(damaged)) << "octet " << at << " of " << question.size();
		}
}

TEST(Answer, SpeaksOnlyTheProtocolsTheHostHas)
{
	fg_host only4 = host(), only6 = host();

	only4.has_ipv6 = only6.has_ipv4 = false;
	EXPECT_NE(Bytes{}, answer(only4, arp_question()));
	EXPECT_NE(Bytes{}, answer(only4, echo_question()));
	EXPECT_EQ(Bytes{}, answer(only4, solicitation()));
	EXPECT_EQ(Bytes{}, answer(only4, echo6_question()));
	EXPECT_EQ(Bytes{}, answer(only6, arp_question()));
	EXPECT_EQ(Bytes{}, answer(only6, echo_question()));
	EXPECT_NE(Bytes{}, answer(only6, solicitation()));
	EXPECT_NE(Bytes{}, answer(only6, echo6_question()));
}

TEST(Answer, KeepsQuietOnOtherProtocols)
{
	for (unsigned type = 0; type < 0x10000; type++) {
		Bytes question = arp_question();

		if (type == 0x0806)
			continue;
		put16(question, 12, type);
		ASSERT_EQ(Bytes{}, answer_over(host(), question, 0)) << std::hex << type;
	}
}

TEST(Answer, KeepsQuietOnEveryTruncatedQuestion)
{
	for (const Bytes &question : questions) {
		ASSERT_NE(Bytes{}, answer(question));
		for (size_t length = 0; length < question.size(); length++)
			EXPECT_EQ(Bytes{}, answer(Bytes(question.begin(), question.begin() + long(length))))
				<< length << " of " << question.size();
	}
}

TEST(Answer, SurvivesHostileFrames)
{
	std::mt19937_64 random(7);

	for (int i = 0; i < 50000; i++) {
		Bytes b = questions[random() % questions.size()];

		for (unsigned changes = unsigned(random() % 8); changes > 0; changes--)
			b[random() % b.size()] = uint8_t(random());
		if (random() % 2 == 0)
			b.resize(random() % 200);
		if (b.size() >= 58 && b[12] == 0x86)
			mend_icmpv6(b);
		else if (b.size() >= 42 && b[12] == 0x08 && b[13] == 0)
			mend_icmp(b);
		answer(b);
	}
}

TEST(Answer, SpeaksForEveryAddressOfItsRange)
{
	fg_host many = host();
	Ipv4 last4 = host_ipv4, beyond4 = host_ipv4;
	Ipv6 last6 = host_ipv6, beyond6 = host_ipv6;

	many.addresses = 300; /* over the end of a byte */
	last4[2] += 1, last4[3] = 45;
	beyond4[2] += 1, beyond4[3] = 46;
	last6[14] += 1, last6[15] = 45;
	beyond6[14] += 1, beyond6[15] = 46;
	EXPECT_EQ(arp(2, host_mac, last4, peer_mac, peer_ipv4),
		  answer(many, arp(1, peer_mac, peer_ipv4, host_mac, last4)));
	EXPECT_EQ(Bytes{}, answer(many, arp(1, peer_mac, peer_ipv4, host_mac, beyond4)));
	EXPECT_EQ(Bytes{}, answer(many, arp(1, peer_mac, last4, host_mac, host_ipv4))) << "our own question";
	EXPECT_NE(Bytes{}, answer(many, icmp(8, host_mac, peer_mac, last4, peer_ipv4)));
	EXPECT_EQ(Bytes{}, answer(many, icmp(8, host_mac, peer_mac, beyond4, peer_ipv4)));
	EXPECT_EQ(icmpv6(peer_mac, host_mac, peer_ipv6, last6, neighbour(136, 0x60000000, last6, host_mac)),
		  answer(many, solicitation(last6)));
	EXPECT_EQ(Bytes{}, answer(many, solicitation(beyond6)));
	EXPECT_NE(Bytes{}, answer(many, echo6(128, host_mac, peer_mac, last6, peer_ipv6)));
}

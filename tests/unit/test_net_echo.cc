/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo requests of ours, their replies, and which of these a frame is about. */
#include <gtest/gtest.h>

#include "net_frames.h"

using namespace frames;

namespace
{

fg_host
of_version(int version)
{
	fg_host h = host();

	h.has_ipv4 = version == 4;
	h.has_ipv6 = version == 6;
	return h;
}

fg_echo
to_peer(int version)
{
	fg_echo echo = {};

	memcpy(echo.mac, peer_mac.data(), 6);
	if (version == 4)
		memcpy(echo.to, peer_ipv4.data(), 4);
	else
		memcpy(echo.to, peer_ipv6.data(), 16);
	echo.identifier = 0x1234;
	echo.number = 7;
	return echo;
}

/* the request, and what a host at the other end makes of it */
Bytes
request(int version)
{
	fg_host h = of_version(version);
	fg_echo echo = to_peer(version);
	Bytes frame(FG_ANSWER_ROOM);

	frame.resize(fg_net_echo(&h, &echo, frame.data()));
	return frame;
}

Bytes
reply(int version)
{
	fg_host peer = of_version(version);
	Bytes frame = request(version);
	size_t length = frame.size();

	memcpy(peer.mac, peer_mac.data(), 6);
	memcpy(peer.ipv4, peer_ipv4.data(), 4);
	memcpy(peer.ipv6, peer_ipv6.data(), 16);
	frame.resize(FG_ANSWER_ROOM);
	frame.resize(fg_net_answer(&peer, frame.data(), length));
	return frame;
}

bool
replies(int version, const Bytes &frame)
{
	fg_host h = of_version(version);
	fg_echo echo = to_peer(version);
	Bytes exact = Exact(frame);

	return fg_net_echo_replies(&h, &echo, exact.data(), exact.size());
}

/* "4 198.18.1.2"-like: version and the bytes of the address */
std::pair<int, Bytes>
addressed(const Bytes &frame, size_t tags = 0)
{
	Bytes exact = Exact(frame), address(16, 0xee);
	int version = fg_net_addressed(exact.data(), exact.size(), tags, address.data());

	return {version, version == 0 ? Bytes() : address};
}

Bytes
sixteen(const Ipv4 &address)
{
	Bytes b(address.begin(), address.end());

	b.resize(16);
	return b;
}

Bytes
sixteen(const Ipv6 &address)
{
	return Bytes(address.begin(), address.end());
}

TEST(Echo, ARequestIsAnsweredByTheHostThatItGoesTo)
{
	for (int version : {4, 6}) {
		Bytes question = request(version), answer = reply(version);

		EXPECT_EQ(Bytes(peer_mac.begin(), peer_mac.end()),
			  Bytes(question.begin(), question.begin() + 6));
		EXPECT_EQ(question.size(), answer.size()) << version;
		EXPECT_TRUE(replies(version, answer)) << version;
		EXPECT_FALSE(replies(version, question)) << version;
	}
}

TEST(Echo, NothingElseIsItsReply)
{
	for (int version : {4, 6}) {
		const Bytes answer = reply(version);

		for (size_t i = 12; i < answer.size(); i++) {
			Bytes other = answer;

			if (version == 6 && i >= 14 && (i < 18 || i == 21))
				continue; /* class, flow label and hop limit are not verified */
			other[i] ^= 1;
			EXPECT_FALSE(replies(version, other)) << version << " byte " << i;
		}
		for (size_t length = 0; length < answer.size(); length++)
			EXPECT_FALSE(replies(version, Bytes(answer.begin(), answer.begin() + length)));
	}
}

TEST(Echo, AFirstFragmentIsNoReply)
{
	Bytes fragment = reply(4);

	mend_icmp(fragment);
	EXPECT_TRUE(replies(4, fragment));
	fragment[20] |= 0x20; /* more fragments */
	mend_icmp(fragment);
	EXPECT_FALSE(replies(4, fragment));
}

TEST(Echo, AReplyBelongsToOneRequestOfOneHost)
{
	for (int version : {4, 6}) {
		const Bytes answer = reply(version);
		fg_host own = of_version(version), other = own;
		fg_echo echo[3] = {to_peer(version), to_peer(version), to_peer(version)};

		echo[0].number++;
		echo[1].identifier++;
		echo[2].to[3]++;
		for (const fg_echo &one : echo)
			EXPECT_FALSE(fg_net_echo_replies(&own, &one, answer.data(), answer.size()));
		other.ipv4[3]++;
		other.ipv6[15]++;
		echo[0].number--;
		EXPECT_FALSE(fg_net_echo_replies(&other, &echo[0], answer.data(), answer.size()));
		EXPECT_TRUE(fg_net_echo_replies(&own, &echo[0], answer.data(), answer.size()));
	}
}

TEST(Echo, AFrameIsAboutWhomItAsksForOrGoesTo)
{
	Bytes request4 = icmp(8, host_mac, peer_mac, host_ipv4, peer_ipv4);
	fg_host peer = of_version(6);
	Bytes solicitation(FG_ANSWER_ROOM);

	memcpy(peer.ipv6, peer_ipv6.data(), 16);
	solicitation.resize(fg_net_ask_ipv6(&peer, host_ipv6.data(), solicitation.data()));
	EXPECT_EQ(std::make_pair(4, sixteen(host_ipv4)),
		  addressed(arp(1, peer_mac, peer_ipv4, host_mac, host_ipv4)));
	EXPECT_EQ(std::make_pair(4, sixteen(host_ipv4)), addressed(request4));
	EXPECT_EQ(std::make_pair(6, sixteen(host_ipv6)), addressed(solicitation));
	EXPECT_EQ(std::make_pair(6, sixteen(host_ipv6)), addressed(reply(6)));
	request4.insert(request4.begin() + 12, {0x81, 0, 0, 5, 0x88, 0xa8, 0, 6});
	EXPECT_EQ(std::make_pair(4, sixteen(host_ipv4)), addressed(request4, 2 * FG_NET_TAG));
	EXPECT_EQ(0, addressed(request4).first);
}

TEST(Echo, AFrameThatIsCutShortIsAboutNobody)
{
	for (const Bytes &frame : {arp(1, peer_mac, peer_ipv4, host_mac, host_ipv4), request(4), request(6)})
		for (size_t length = 0; length < 34; length++)
			EXPECT_EQ(0, addressed(Bytes(frame.begin(), frame.begin() + length)).first) << length;
}

} // namespace

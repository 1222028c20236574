/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "net_frames.h"

using namespace frames;

namespace
{

fg_host
peer()
{
	fg_host h = host();

	memcpy(h.mac, peer_mac.data(), 6);
	memcpy(h.ipv4, peer_ipv4.data(), 4);
	memcpy(h.ipv6, peer_ipv6.data(), 16);
	return h;
}

Bytes
ask(const fg_host &h, const Ipv4 &target)
{
	Bytes out(42, 0xee);

	EXPECT_EQ(out.size(), fg_net_ask_ipv4(&h, target.data(), out.data()));
	return out;
}

Bytes
ask(const fg_host &h, const Ipv6 &target)
{
	Bytes out(86, 0xee);

	EXPECT_EQ(out.size(), fg_net_ask_ipv6(&h, target.data(), out.data()));
	return out;
}

Bytes
announce_ipv6(const fg_host &h)
{
	Bytes out(86, 0xee);

	EXPECT_EQ(out.size(), fg_net_announce_ipv6(&h, out.data()));
	return out;
}

/* the MAC learned, all zero when none was */
Mac
learn(const Bytes &frame, const Ipv4 &address)
{
	Bytes exact = Exact(frame);
	Mac mac = {};
	bool learned = fg_net_learn_ipv4(exact.data(), exact.size(), address.data(), mac.data());

	EXPECT_EQ(learned, mac != Mac{});
	return mac;
}

Mac
learn(const Bytes &frame, const Ipv6 &address)
{
	Bytes exact = Exact(frame);
	Mac mac = {};
	bool learned = fg_net_learn_ipv6(exact.data(), exact.size(), address.data(), mac.data());

	EXPECT_EQ(learned, mac != Mac{});
	return mac;
}

Bytes
answer(const fg_host &h, Bytes question)
{
	question.resize(128);
	question.resize(fg_net_answer(&h, question.data(), question.size()));
	return question;
}

const Mac none = {};

} // namespace

TEST(Query, AsksByArp)
{
	EXPECT_EQ(arp(1, host_mac, host_ipv4, none, peer_ipv4), ask(host(), peer_ipv4));
}

TEST(Query, AnnouncesByArp)
{
	EXPECT_EQ(arp(1, host_mac, host_ipv4, none, host_ipv4), ask(host(), host_ipv4));
}

TEST(Query, AsksByNeighborDiscovery)
{
	Ipv6 group = solicited_node(peer_ipv6);

	EXPECT_EQ(
		icmpv6(group_mac(group), host_mac, group, host_ipv6, neighbour(135, 0, peer_ipv6, host_mac)),
		ask(host(), peer_ipv6));
}

TEST(Query, AnnouncesByNeighborDiscovery)
{
	EXPECT_EQ(icmpv6(group_mac(all_nodes), host_mac, all_nodes, host_ipv6,
			 neighbour(136, 0x20000000, host_ipv6, host_mac)),
		  announce_ipv6(host()));
}

TEST(Query, LearnsFromTheAnswer)
{
	EXPECT_EQ(peer_mac, learn(answer(peer(), ask(host(), peer_ipv4)), peer_ipv4));
	EXPECT_EQ(peer_mac, learn(answer(peer(), ask(host(), peer_ipv6)), peer_ipv6));
}

TEST(Query, LearnsFromAnAnnouncement)
{
	EXPECT_EQ(peer_mac, learn(ask(peer(), peer_ipv4), peer_ipv4));
	EXPECT_EQ(peer_mac, learn(announce_ipv6(peer()), peer_ipv6));
}

TEST(Query, LearnsFromAnArpRequestOfTheNeighbour)
{
	EXPECT_EQ(peer_mac, learn(arp(1, peer_mac, peer_ipv4, none, host_ipv4), peer_ipv4));
}

TEST(Query, LearnsNothingOfOthers)
{
	EXPECT_EQ(none, learn(arp(2, peer_mac, {198, 18, 1, 7}, host_mac, host_ipv4), peer_ipv4));
	EXPECT_EQ(none, learn(arp(2, peer_mac, {198, 18, 1, 7}, host_mac, peer_ipv4), peer_ipv4));
	EXPECT_EQ(none, learn(announce_ipv6(host()), peer_ipv6));
	EXPECT_EQ(none, learn(ask(host(), peer_ipv6), peer_ipv6)) << "a question for it";
	EXPECT_EQ(none, learn(announce_ipv6(peer()), peer_ipv4));
	EXPECT_EQ(none, learn(ask(peer(), peer_ipv4), peer_ipv6));
}

TEST(Query, TakesTheSenderForAnAdvertisementWithoutOption)
{
	Bytes message = neighbour(136, 0x60000000, peer_ipv6, {2, 0, 0, 0, 0, 0x55});

	EXPECT_EQ((Mac{2, 0, 0, 0, 0, 0x55}),
		  learn(icmpv6(host_mac, peer_mac, host_ipv6, peer_ipv6, message), peer_ipv6));
	message.resize(24); /* RFC 4861, 4.4: the option may be left out */
	EXPECT_EQ(peer_mac, learn(icmpv6(host_mac, peer_mac, host_ipv6, peer_ipv6, message), peer_ipv6));
	for (auto other : {std::pair<uint8_t, uint8_t>{1, 1}, {2, 0}, {2, 2}, {14, 1}}) {
		message.resize(32);
		message[24] = other.first;
		message[25] = other.second;
		EXPECT_EQ(peer_mac,
			  learn(icmpv6(host_mac, peer_mac, host_ipv6, peer_ipv6, message), peer_ipv6));
	}
}

TEST(Query, LearnsNothingFromForeignOrDamagedFrames)
{
	for (auto change : {std::pair<size_t, uint8_t>{14, 9}, {16, 9}, {18, 5}, {19, 5}, {12, 9}}) {
		Bytes b = arp(2, peer_mac, peer_ipv4, host_mac, host_ipv4);

		b[change.first] = change.second;
		EXPECT_EQ(none, learn(b, peer_ipv4)) << "octet " << change.first;
	}
	for (auto change : {std::pair<size_t, uint8_t>{21, 254}, {55, 1}, {20, 17}, {14, 0x45}}) {
		Bytes b = announce_ipv6(peer());

		b[change.first] = change.second;
		mend_icmpv6(b);
		EXPECT_EQ(none, learn(b, peer_ipv6)) << "octet " << change.first;
	}
	for (size_t at = 56; at < 86; at++) {
		Bytes b = announce_ipv6(peer());

		b[at] ^= 1;
		EXPECT_EQ(none, learn(b, peer_ipv6)) << "octet " << at;
	}
}

TEST(Query, LearnsNothingFromTruncatedFrames)
{
	for (const Bytes &whole : {arp(2, peer_mac, peer_ipv4, host_mac, host_ipv4), announce_ipv6(peer())})
		for (size_t length = 0; length < whole.size(); length++) {
			Bytes cut(whole.begin(), whole.begin() + long(length));

			EXPECT_EQ(none, learn(cut, peer_ipv4)) << length;
			EXPECT_EQ(none, learn(cut, peer_ipv6)) << length;
		}
}

TEST(Query, WritesNoMoreThanItSays)
{
	std::mt19937_64 random(11);

	for (int i = 0; i < 1000;
	     i++) { /* ask() and announce() have room for just that: the sanitizer looks on */
		fg_host h = host();
		Ipv6 target;

		for (uint8_t &octet : target)
			octet = uint8_t(random());
		memcpy(h.mac, target.data() + 5, 6);
		memcpy(h.ipv6, target.data(), 16);
		EXPECT_EQ((Mac{h.mac[0], h.mac[1], h.mac[2], h.mac[3], h.mac[4], h.mac[5]}),
			  learn(announce_ipv6(h), target));
		ask(h, target);
	}
}

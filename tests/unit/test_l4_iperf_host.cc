/* SPDX-License-Identifier: BSD-3-Clause */
/* The client of iperf3 and a server that is played by hand. */
#include "l4_iperf_peer.h"

using namespace l4;

TEST(L4IperfPeer, TheClientOpensSendsAndHaltsByItself)
{
	fg_l4_iperf_test test = IperfTest(false, 1, 1000, 80000);
	IperfPeer p(true);

	test.time_s = 1;
	talker_wait(p.t, ms);
	ASSERT_EQ(1u, State(p.l4).session);
	EXPECT_TRUE(State(p.l4).connected);
	EXPECT_EQ(iperf_port, State(p.l4).remote_port);
	EXPECT_EQ("", p.Heard());
	p.Send("cookie");
	EXPECT_EQ("cookie", p.Heard());
	p.Say("\x9");
	EXPECT_EQ("\x9", p.Received());
	p.Do(FG_L4_IPERF_OPEN, &test);
	EXPECT_EQ(1u, State(p.l4).streams);
	EXPECT_EQ(std::string(iperf_cookie, 37), p.Heard(1));
	p.Do(FG_L4_IPERF_RUN);
	for (int i = 0; i < 995; i++)
		talker_wait(p.t, ms);
	EXPECT_FALSE(State(p.l4).halted);
	for (int i = 0; i < 50; i++)
		talker_wait(p.t, ms);
	EXPECT_TRUE(State(p.l4).halted);
	EXPECT_NEAR(37 + 10000, double(p.Heard(1).size()), 1000);
	EXPECT_EQ(p.Heard(1).size() - 37, p.Counts().stream[0].all.octets);
	EXPECT_NEAR(1.0, p.Counts().stream[0].to_s, 0.002);
	p.Send("\x10");
	p.Do(FG_L4_IPERF_END);
	EXPECT_EQ('\x10', p.Heard().back());
	EXPECT_TRUE(p.Ended() && p.Ended(1));
	talker_wait(p.t, 20 * second);
	EXPECT_EQ(0u, fg_l4_open(p.l4));
	EXPECT_EQ(1u, State(p.l4).session);
}

TEST(L4IperfPeer, WhatTheServerSaysHaltsTheClient)
{
	fg_l4_iperf_test test = IperfTest(false, 1, 1000, 80000);
	IperfPeer p(true);

	talker_wait(p.t, ms);
	p.Do(FG_L4_IPERF_OPEN, &test);
	p.Do(FG_L4_IPERF_RUN);
	EXPECT_FALSE(State(p.l4).halted);
	p.Say("\xb");
	EXPECT_TRUE(State(p.l4).halted);
	uint64_t octets = p.Counts().stream[0].all.octets;
	talker_wait(p.t, 100 * ms);
	EXPECT_EQ(octets, p.Counts().stream[0].all.octets);
}

TEST(L4IperfPeer, TheClientShowsThatTheServerHasGone)
{
	for (bool reset : {false, true}) {
		IperfPeer p(true);
		fg_l4_result r;

		talker_wait(p.t, ms);
		EXPECT_FALSE(State(p.l4).gone);
		talker_close(p.t, 0, reset);
		EXPECT_TRUE(State(p.l4).gone);
		p.Do(FG_L4_IPERF_END | FG_L4_IPERF_REFUSED);
		for (int i = 0; i < 20; i++)
			talker_wait(p.t, second);
		EXPECT_EQ(0u, fg_l4_open(p.l4));
		fg_l4_read(p.l4, 0, &r);
		EXPECT_EQ(1u, r.total.refused);
	}
}

TEST(L4IperfPeer, AnAbortedClientIsReset)
{
	IperfPeer p(true);

	talker_wait(p.t, ms);
	p.Do(FG_L4_IPERF_END | FG_L4_IPERF_ABORT);
	EXPECT_EQ(nullptr, p.t->line[0].conn);
	EXPECT_EQ(0u, fg_l4_open(p.l4));
}

TEST(L4IperfPeer, TheClientAsksForStreamsOfDatagramsOneByOne)
{
	fg_l4_iperf_test test = IperfTest(true, 2, 16);
	IperfPeer p(true);
	uint16_t port[4];

	test.both = true;
	talker_wait(p.t, ms);
	Order(p.l4, FG_L4_IPERF_OPEN, &test);
	for (uint16_t &from : port) {
		talker_wait(p.t, 10 * ms);
		from = p.t->datagram_from;
		ASSERT_EQ("9876", std::string((const char *)p.t->datagram, p.t->datagram_octets));
		p.t->datagram_octets = 0;
		talker_wait(p.t, 10 * ms);
		EXPECT_EQ(0u, p.t->datagram_octets);
		talker_wait(p.t, second); /* no answer: it asks again */
		EXPECT_EQ(4u, p.t->datagram_octets);
		EXPECT_EQ(from, p.t->datagram_from);
		talker_send(p.t, iperf_port, from, "6789", 4);
	}
	EXPECT_EQ(4u, State(p.l4).streams);
	EXPECT_NE(port[0], port[1]);
	EXPECT_NE(port[2], port[3]);
}

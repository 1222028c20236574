/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of iperf3, and a client that does what it should not. */
#include "l4_iperf_peer.h"

using namespace l4;

TEST(L4IperfPeer, LossAndOrderAreCountedAsIperf3Does)
{
	IperfPeer p;
	char d[20] = {};

	p.Begin(IperfTest(true, 1, 20));
	talker_send(p.t, 50000, iperf_port, "9876", 4);
	ASSERT_EQ("6789", std::string((const char *)p.t->datagram, p.t->datagram_octets));
	talker_send(p.t, 50000, iperf_port, "9876", 4); /* asked twice, it is one stream */
	talker_send(p.t, 50001, iperf_port, "9876", 4); /* more than the test has */
	ASSERT_EQ(1u, State(p.l4).streams);
	p.Do(FG_L4_IPERF_RUN);
	for (char number : {1, 2, 5, 3, 6}) {
		d[11] = number;
		talker_send(p.t, 50000, iperf_port, d, sizeof(d));
		talker_send(p.t, 50001, iperf_port, d, sizeof(d)); /* a stranger */
	}
	const fg_l4_iperf_stream &s = p.Counts().stream[0];
	EXPECT_EQ(6u, s.all.datagrams);
	EXPECT_EQ(1u, s.all.lost);
	EXPECT_EQ(1u, s.all.out_of_order);
	EXPECT_EQ(100u, s.all.octets);
}

/* 32 bits last 5 minutes at 14.88 Mpps */
TEST(L4IperfPeer, NumbersGoOnBehindTheLast)
{
	const uint32_t step = 0x7fff0000;
	IperfPeer p;
	uint8_t d[20] = {};
	uint64_t last = 0, lost = 0, came = 0;
	auto send = [&](uint64_t number) {
		for (unsigned i = 0; i < 4; i++)
			d[8 + i] = uint8_t(number >> (24 - 8 * i));
		talker_send(p.t, 50000, iperf_port, d, sizeof(d));
		lost += number - last - 1;
		last = number;
		came++;
	};

	p.Begin(IperfTest(true, 1, 20));
	talker_send(p.t, 50000, iperf_port, "9876", 4);
	p.Do(FG_L4_IPERF_RUN);
	send(1);
	send(1 + step);
	send(1 + 2ULL * step);
	for (uint64_t number = (1ULL << 32) - 10; number < (1ULL << 32) + 100; number += 2)
		send(number);
	const fg_l4_iperf_stream &s = p.Counts().stream[0];
	EXPECT_EQ(last, s.all.datagrams);
	EXPECT_EQ(lost, s.all.lost);
	EXPECT_EQ(0u, s.all.out_of_order);
	EXPECT_EQ(20 * came, s.all.octets);
}

TEST(L4IperfPeer, OnlyTheStreamsHaveTheTcpThatTheClientAsksFor)
{
	fg_l4_iperf_test test = IperfTest(false, 1, 1000);
	IperfPeer p;

	test.mss = 536;
	for (uint32_t window : {2304u, 100000000u}) {
		test.window = window;
		p.Begin(test);
		p.Send("\xa"); /* the window of the first segment has no scale */
		p.OpenStream(1);
		EXPECT_EQ(524u, fg_stream_segment(p.t->line[1].conn));  /* with time stamps */
		EXPECT_EQ(1448u, fg_stream_segment(p.t->line[0].conn)); /* in the second test, too */
		p.Do(FG_L4_IPERF_RUN);
		p.Say(std::string(5000, 'x'), 1);
		EXPECT_EQ(5000u, p.Counts().stream[0].all.octets);
		p.Say("\x4");
		EXPECT_EQ(window == 2304, conn_of(p.t->line[1].conn)->snd_wnd <= 2304);
		EXPECT_LT(500000u, conn_of(p.t->line[0].conn)->snd_wnd);
		EXPECT_GT(2000000u, conn_of(p.t->line[0].conn)->snd_wnd);
		p.Say(std::string(100000, ' '));
		EXPECT_EQ(100001u, p.Received().size());
		p.Do(FG_L4_IPERF_END);
		talker_close(p.t, 0, true);
		talker_close(p.t, 1, true);
	}
}

/* clients since 3.16 look only once a second whether they have it */
TEST(L4IperfPeer, TheServerSendsAsMuchAsTheClientWants)
{
	const struct {
		uint64_t blocks;
		double rate_bps;
		uint64_t octets; /* of both streams */
	} cases[] = {{5, 0, 5000}, {3, 0, 3000}, {1, 0, 1000}, {5, 800000, 5000}};

	for (const auto &c : cases) {
		fg_l4_iperf_test test = IperfTest(false, 2, 1000, c.rate_bps);
		IperfPeer p;

		test.reverse = true;
		test.blocks = c.blocks;
		p.Begin(test);
		p.OpenStream(1);
		p.OpenStream(2);
		p.Do(FG_L4_IPERF_RUN);
		for (int i = 0; i < 1000; i++)
			talker_wait(p.t, ms);
		p.Say("\x4");
		const fg_l4_iperf_counts &counts = p.Counts();
		EXPECT_EQ(c.octets, counts.stream[0].all.octets + counts.stream[1].all.octets);
		p.Do(FG_L4_IPERF_END);
		EXPECT_EQ(c.octets, p.Heard(1).size() + p.Heard(2).size());
	}
}

/* what a sender sends after the end does not count; what a receiver gets does, until all is over */
TEST(L4IperfPeer, WhatThePeerSaysEndsTheFigures)
{
	fg_l4_iperf_test test = IperfTest(false, 1, 1000, 800000);
	IperfPeer p;

	test.both = true;
	p.Begin(test);
	p.OpenStream(1);
	p.OpenStream(2);
	p.Do(FG_L4_IPERF_RUN);
	p.Say("some octets", 1);
	for (int i = 0; i < 100; i++)
		talker_wait(p.t, ms);
	EXPECT_EQ(0.0, p.Counts().stream[0].to_s);
	p.Say("\x4");
	uint64_t sent = p.Counts().stream[1].all.octets, heard = p.Heard(2).size();
	talker_wait(p.t, 100 * ms);
	p.Say(" and more", 1);
	const fg_l4_iperf_counts &c = p.Counts();
	EXPECT_EQ(20u, c.stream[0].all.octets);
	EXPECT_EQ(sent, c.stream[1].all.octets);
	EXPECT_LT(heard, p.Heard(2).size()); /* a client reads whole blocks before it reads a message */
	EXPECT_NEAR(0.1, c.now_s, 0.02);
	EXPECT_NEAR(0.1, c.stream[1].to_s, 0.02);
	EXPECT_NEAR(0.2, c.stream[0].to_s, 0.02);
	p.ExpectServes();
}

TEST(L4IperfPeer, AnOrderEndsTheFiguresToo)
{
	IperfPeer p;

	p.Begin(IperfTest(false, 1, 1000));
	p.OpenStream(1);
	p.Do(FG_L4_IPERF_RUN);
	p.Do(FG_L4_IPERF_HALT | FG_L4_IPERF_COUNT | FG_L4_IPERF_END);
	EXPECT_EQ(1u, State(p.l4).counted);
	EXPECT_EQ(1u, fg_l4_iperf_read(p.l4, 0)->streams);
	EXPECT_LT(0.0, fg_l4_iperf_read(p.l4, 0)->stream[0].to_s);
	p.ExpectServes();
}

TEST(L4IperfPeer, OneSessionAtATimeAndTheNextOneAfterIt)
{
	IperfPeer p;

	p.Begin(IperfTest(false, 1, 1000));
	p.OpenStream(1);
	p.Do(FG_L4_IPERF_RUN);
	talker_open(p.t, 2, iperf_port);
	EXPECT_EQ("\xff", p.Heard(2));
	EXPECT_TRUE(p.Ended(2));
	EXPECT_EQ(1u, State(p.l4).session);
	p.Say("\x4");
	p.Send("last words");
	p.Do(FG_L4_IPERF_END);
	EXPECT_EQ("last words", p.Heard());
	EXPECT_TRUE(p.Ended());
	p.ExpectServes();
}

/* control learns of the end of a session a moment later */
TEST(L4IperfPeer, AClientThatComesAfterOneThatHasGoneIsNotDenied)
{
	for (bool reset : {false, true}) {
		IperfPeer p;

		p.Begin(IperfTest(false, 1, 1000));
		talker_close(p.t, 0, reset);
		p.Do(FG_L4_IPERF_RUN);
		EXPECT_TRUE(State(p.l4).gone);
		talker_open(p.t, 1, iperf_port);
		p.Say("cookie", 1);
		talker_open(p.t, 2, iperf_port); /* but one of them alone */
		EXPECT_EQ("\xff", p.Heard(2));
		EXPECT_EQ(1u, State(p.l4).session);
		p.Do(FG_L4_IPERF_END);
		EXPECT_EQ(2u, State(p.l4).session);
		EXPECT_FALSE(State(p.l4).gone);
		talker_wait(p.t, second); /* it sends it again */
		EXPECT_EQ("cookie", p.Received());
		p.ExpectServes();
	}
}

TEST(L4IperfPeer, AClientThatWaitsIsDeniedWhenTheServerStops)
{
	IperfPeer p;

	p.Begin(IperfTest(false, 1, 1000));
	talker_close(p.t, 0, false);
	p.Do(FG_L4_IPERF_RUN);
	talker_open(p.t, 1, iperf_port);
	EXPECT_EQ("", p.Heard(1));
	p.Do(FG_L4_IPERF_STOP);
	p.Do(FG_L4_IPERF_END);
	EXPECT_EQ(1u, State(p.l4).session);
	EXPECT_EQ("\xff", p.Heard(1));
	EXPECT_TRUE(p.Ended(1));
}

TEST(L4IperfPeer, AStreamNeedsTheCookieAndARoom)
{
	IperfPeer p;

	p.Begin(IperfTest(false, 1, 1000));
	p.OpenStream(1, "abcdefghijklmnopqrstuvwxyz2345672346");
	EXPECT_EQ("\xff", p.Heard(1));
	EXPECT_EQ(0u, State(p.l4).streams);
	talker_open(p.t, 3, iperf_port); /* sends nothing */
	p.OpenStream(2);
	EXPECT_EQ(1u, State(p.l4).streams);
	p.OpenStream(4); /* one more than the test has */
	EXPECT_EQ("\xff", p.Heard(4));
	EXPECT_EQ(1u, State(p.l4).streams);
	for (int i = 0; i < 20; i++)
		talker_wait(p.t, second);
	EXPECT_TRUE(p.Ended(3));
	EXPECT_FALSE(p.Ended(2));
	p.ExpectServes();
}

TEST(L4IperfPeer, AClientThatGoesIsShown)
{
	for (bool reset : {false, true}) {
		IperfPeer p;

		p.Begin(IperfTest(false, 2, 1000));
		p.OpenStream(1);
		p.OpenStream(2);
		p.Do(FG_L4_IPERF_RUN);
		p.Say("some octets", 1);
		talker_close(p.t, 1, reset); /* the others go on without it */
		EXPECT_FALSE(State(p.l4).gone);
		EXPECT_FALSE(p.Counts().stream[0].open);
		EXPECT_TRUE(p.Counts().stream[1].open);
		EXPECT_EQ(11u, p.Counts().stream[0].all.octets);
		talker_close(p.t, 0, reset);
		EXPECT_TRUE(State(p.l4).gone);
		p.ExpectServes();
	}
}

TEST(L4IperfPeer, NeitherEndCanSendMoreThanThereIsRoomFor)
{
	IperfPeer p;

	talker_open(p.t, 0, iperf_port);
	p.Say(std::string(262144, 'x'));
	for (int i = 0; i < 20; i++)
		talker_wait(p.t, 50 * ms);
	EXPECT_EQ(262144u, State(p.l4).received);
	EXPECT_FALSE(State(p.l4).gone);
	p.Say("x");
	EXPECT_TRUE(State(p.l4).gone);
	EXPECT_EQ(262144u, State(p.l4).received);
	p.ExpectServes();

	IperfPeer q;
	std::string most(131072, 'y');
	talker_open(q.t, 0, iperf_port);
	EXPECT_TRUE(fg_l4_iperf_send(q.l4, 0, most.data(), 131071));
	EXPECT_FALSE(fg_l4_iperf_send(q.l4, 0, most.data(), 2));
	q.Send("z");
	talker_wait(q.t, second);
	EXPECT_EQ(131072u, q.Heard().size());
	EXPECT_EQ('z', q.Heard().back());
	q.ExpectServes();
}

TEST(L4IperfPeer, AServerThatIsStoppedTakesNobody)
{
	IperfPeer p;

	p.Begin(IperfTest(false, 1, 1000));
	Order(p.l4, FG_L4_IPERF_STOP);
	p.Send("\xb");
	p.Do(FG_L4_IPERF_END);
	EXPECT_EQ("\xb", p.Heard());
	talker_wait(p.t, 20 * second);
	talker_open(p.t, 2, iperf_port);
	EXPECT_EQ("\xff", p.Heard(2));
	EXPECT_EQ(1u, State(p.l4).session);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of iperf3, whose client says what it should not. */
#include "l4_iperf_peer.h"

using namespace l4;

TEST(L4IperfPeer, LossAndOrderAreCountedAsIperf3Does)
{
	IperfPeer p;
	char d[20] = {};

	p.Begin("{\"udp\":true,\"parallel\":1,\"time\":1,\"len\":20}");
	talker_send(p.t, 50000, iperf_port, "9876", 4);
	ASSERT_EQ("6789", std::string((const char *)p.t->datagram, p.t->datagram_octets));
	talker_send(p.t, 50000, iperf_port, "9876", 4); /* asked twice, it is one stream */
	ASSERT_EQ("\x9\xa\x1\x2", p.Heard());
	for (char number : {1, 2, 5, 3, 6}) {
		d[11] = number;
		talker_send(p.t, 50000, iperf_port, d, sizeof(d));
		talker_send(p.t, 50001, iperf_port, d, sizeof(d)); /* a stranger */
	}
	p.Say("\x4");
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":120,\"packets\":6}]}");
	p.Say("\x10");
	auto results = OfKind(Reports(p.t->other), FG_L4_IPERF_RESULT);
	ASSERT_EQ(1u, results.size());
	EXPECT_EQ(6u, results[0].ours.datagrams);
	EXPECT_EQ(1u, results[0].ours.lost);
	EXPECT_EQ(1u, results[0].ours.out_of_order);
	EXPECT_EQ(100u, results[0].ours.octets);
	EXPECT_EQ(6u, results[0].theirs.datagrams);
	EXPECT_NE(std::string::npos, p.Heard().find("\"errors\":1,\"omitted_errors\":0,\"packets\":6"));
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

	p.Begin("{\"udp\":true,\"parallel\":1,\"time\":1,\"len\":20}");
	talker_send(p.t, 50000, iperf_port, "9876", 4);
	send(1);
	send(1 + step);
	send(1 + 2ULL * step);
	for (uint64_t number = (1ULL << 32) - 10; number < (1ULL << 32) + 100; number += 2)
		send(number);
	p.Say("\x4");
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":120,\"packets\":6}]}");
	p.Say("\x10");
	auto results = OfKind(Reports(p.t->other), FG_L4_IPERF_RESULT);
	ASSERT_EQ(1u, results.size());
	EXPECT_EQ(last, results[0].ours.datagrams);
	EXPECT_EQ(lost, results[0].ours.lost);
	EXPECT_EQ(0u, results[0].ours.out_of_order);
	EXPECT_EQ(20 * came, results[0].ours.octets);
}

/* as Linux, which gives a socket 2304 at least */
TEST(L4IperfPeer, AWindowOfAnOctetStopsNothing)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"window\":1}");
	p.OpenStream(1);
	p.Say(std::string(1000, 'x'), 1);
	p.Say("\x4");
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":1000,\"retransmits\":-1}]}");
	p.Say("\x10");
	auto all = Reports(p.t->other);
	ASSERT_EQ(1u, OfKind(all, FG_L4_IPERF_RESULT).size());
	EXPECT_EQ(1000u, OfKind(all, FG_L4_IPERF_RESULT)[0].ours.octets);
	EXPECT_EQ(FG_L4_IPERF_DONE, all.back().end);
}

TEST(L4IperfPeer, OnlyTheStreamsHaveTheTcpThatTheClientAsksFor)
{
	IperfPeer p;

	for (const char *window : {"1", "100000000"}) {
		p.Begin(std::string("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"MSS\":536,") +
			"\"window\":" + window + "}");
		p.OpenStream(1);
		EXPECT_EQ(524u, fg_stream_segment(p.t->line[1].conn));  /* with time stamps */
		EXPECT_EQ(1448u, fg_stream_segment(p.t->line[0].conn)); /* in the second test, too */
		p.Say(std::string(5000, 'x'), 1);
		p.Say("\x4");
		EXPECT_EQ(window[1] == '\0', conn_of(p.t->line[1].conn)->snd_wnd <= 2304);
		EXPECT_LT(500000u, conn_of(p.t->line[0].conn)->snd_wnd);
		EXPECT_GT(2000000u, conn_of(p.t->line[0].conn)->snd_wnd);
		p.SayText("{\"streams\":[{\"id\":1,\"bytes\":5000}]}" + std::string(100000, ' '));
		p.Say("\x10");
		EXPECT_EQ(FG_L4_IPERF_DONE, p.Last().end);
		talker_close(p.t, 0, true);
		talker_close(p.t, 1, true);
	}
}

/* clients since 3.16 look only once a second whether they have it */
TEST(L4IperfPeer, TheServerSendsAsMuchAsTheClientWants)
{
	const struct {
		const char *what;
		uint64_t octets; /* of both streams */
	} cases[] = {
		{"\"num\":4500", 5000}, /* in whole blocks */
		{"\"blockcount\":3", 3000},
		{"\"num\":1", 1000},
		{"\"num\":4500,\"bandwidth\":800000", 5000},
	};

	for (const auto &c : cases) {
		IperfPeer p;
		uint64_t octets = 0;

		p.Begin(std::string("{\"parallel\":2,\"reverse\":true,\"len\":1000,") + c.what + "}");
		p.OpenStream(1);
		p.OpenStream(2);
		for (int i = 0; i < 1000; i++)
			talker_wait(p.t, ms);
		p.Say("\x4");
		p.SayText("{\"streams\":[]}");
		p.Say("\x10");
		for (const fg_l4_iperf_report &r : OfKind(Reports(p.t->other), FG_L4_IPERF_RESULT))
			octets += r.ours.octets;
		EXPECT_EQ(c.octets, octets) << c.what;
		EXPECT_EQ(c.octets, p.Heard(1).size() + p.Heard(2).size()) << c.what;
	}
}

/* its option --rcv-timeout, or a port that is in use */
TEST(L4IperfPeer, AClientMayGiveUp)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.Say("\x10");
	EXPECT_EQ(FG_L4_IPERF_TERMINATED, p.Last().end);
	p.ExpectServes();
}

/* newer clients send more than they say; some of it comes when the results have been exchanged */
TEST(L4IperfPeer, WhatTheClientIsToldIsWhatIsReported)
{
	IperfPeer p;
	char d[20] = {};

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.OpenStream(1);
	p.Say("some octets", 1);
	p.Say("\x4");
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":5,\"retransmits\":-1}]}");
	p.Say(" and more", 1);
	p.Say("\x10");
	auto results = OfKind(Reports(p.t->other), FG_L4_IPERF_RESULT);
	ASSERT_EQ(1u, results.size());
	EXPECT_NE(std::string::npos, p.Heard().find("\"bytes\":11,"));
	EXPECT_EQ(11u, results[0].ours.octets);
	EXPECT_EQ(5u, results[0].theirs.octets);
	EXPECT_EQ(UINT64_MAX, results[0].theirs.retransmits);
	p.ExpectServes();

	for (unsigned i = 0; i < TALKER_LINES; i++)
		talker_close(p.t, i, true);
	p.Begin("{\"udp\":true,\"parallel\":1,\"time\":1,\"len\":20}");
	talker_send(p.t, 50000, iperf_port, "9876", 4);
	d[11] = 1;
	talker_send(p.t, 50000, iperf_port, d, sizeof(d));
	p.Say("\x4");
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":20,\"packets\":1}]}");
	d[11] = 3;
	talker_send(p.t, 50000, iperf_port, d, sizeof(d));
	p.Say("\x10");
	results = OfKind(Reports(p.t->other), FG_L4_IPERF_RESULT);
	ASSERT_EQ(1u, results.size());
	EXPECT_NE(std::string::npos, p.Heard().find("\"packets\":1,"));
	EXPECT_EQ(1u, results[0].ours.datagrams);
	EXPECT_EQ(20u, results[0].ours.octets);
	EXPECT_EQ(0u, results[0].ours.lost);
}

TEST(L4IperfPeer, OneTestAtATimeAndTheNextOneAfterIt)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.OpenStream(1);
	talker_open(p.t, 2, iperf_port);
	EXPECT_EQ("\xff", p.Heard(2));
	EXPECT_TRUE(p.Ended(2));
	p.Say("\x4");
	EXPECT_EQ("\x9\xa\x1\x2\xd", p.Heard());
	p.SayText("{\"streams\":[]}");
	p.Say("\x10");
	EXPECT_EQ(FG_L4_IPERF_DONE, p.Last().end);
	p.ExpectServes();
}

TEST(L4IperfPeer, AStreamWithAnotherCookieIsDenied)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.OpenStream(1, "abcdefghijklmnopqrstuvwxyz2345672346");
	EXPECT_EQ("\xff", p.Heard(1));
	EXPECT_EQ("\x9\xa", p.Heard());
	p.OpenStream(2);
	EXPECT_EQ("\x9\xa\x1\x2", p.Heard());
	p.ExpectServes();
}

TEST(L4IperfPeer, RefusesParametersByIperf3sNumber)
{
	const struct {
		const char *params;
		char error;
	} cases[] = {
		{"{\"tcp\":true,\"parallel\":1", 114}, /* ends too early */
		{"{\"tcp\":true,\"parallel\":1}}", 114},
		{"{\"parallel\":+1}", 114},
		{"{\"parallel\":1,}", 114},
		{"{\"a\":\"\n\"}", 114},
		{"[1]", 114},
		{"{\"a\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}", 114},
		{"{\"parallel\":1,\"reverse\":true,\"bidirectional\":true}", 114},
		{"{\"parallel\":0}", 6},
		{"{\"parallel\":129}", 6},
		{"{\"parallel\":1e999,\"len\":-1e999,\"time\":1e99,\"bandwidth\":1e999}", 6},
		{"{\"parallel\":-1}", 6},
		{"{\"time\":86401}", 5},
		{"{\"omit\":-1}", 5},
		{"{\"sctp\":true}", 18},
		{"{\"udp\":true,\"len\":15}", 20},
		{"{\"udp\":true,\"len\":1473}", 20}, /* an IPv4 packet of 1501 */
		{"{\"MSS\":87}", 10},
		{"{\"congestion\":\"vegas\"}", static_cast<char>(134)},
	};

	for (const auto &c : cases) {
		IperfPeer p;

		p.Begin(c.params);
		ASSERT_EQ(std::string("\x9\xfe\0\0\0", 5) + c.error + std::string(4, '\0'), p.Heard())
			<< c.params;
		fg_l4_iperf_report last = p.Last();
		EXPECT_EQ(FG_L4_IPERF_REFUSED, last.end);
		EXPECT_EQ(uint8_t(c.error), last.refusal);
		EXPECT_TRUE(p.Ended());
		p.ExpectServes();
	}
}

TEST(L4IperfPeer, ReadsWhatMattersAndPassesOverTheRest)
{
	IperfPeer p;

	p.Begin(" {\"title\":\"a \\\"quoted\\\" {[ title\", \"extra\" : "
		"{\"parallel\":7,\"list\":[1,2.5e3,null,false]},\r\n"
		"\t\"parallel\":2,\"udp\":false,\"time\":1,\"len\":2000,\"congestion\":\"reno\"} ");
	EXPECT_EQ("\x9\xa", p.Heard());
	auto all = Reports(p.t->other);
	ASSERT_EQ(1u, all.size());
	EXPECT_EQ(2u, all[0].parallel);
	EXPECT_EQ(2000u, all[0].length);
	EXPECT_FALSE(all[0].udp);
}

TEST(L4IperfPeer, SurvivesWhatIsSaidOutOfTurn)
{
	const struct {
		const char *what;
		std::string octets;
		uint8_t end;
	} cases[] = {
		{"a length of nothing", std::string(4, '\0'), FG_L4_IPERF_REFUSED},
		{"a length of gigabytes", "\xff\xff\xff\xff{}", FG_L4_IPERF_REFUSED},
		{"a length with less behind it", std::string("\0\0\0\x9{}", 6), FG_L4_IPERF_GONE},
		{"nothing", "", FG_L4_IPERF_GONE},
	};

	for (const auto &c : cases) {
		IperfPeer p;

		talker_open(p.t, 0, iperf_port);
		p.Say(std::string(iperf_cookie, 37) + c.octets);
		talker_close(p.t, 0, false);
		EXPECT_EQ(c.end, p.Last().end) << c.what;
		p.ExpectServes();
	}
	for (char state : {0, 1, 2, 3, 9, 10, 11, 13, 14, 15, 16, -1, -2}) {
		IperfPeer p;

		p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
		p.Say(std::string(1, state));
		EXPECT_EQ(state == 16 ? FG_L4_IPERF_TERMINATED : FG_L4_IPERF_NONSENSE, p.Last().end)
			<< int(state);
		p.ExpectServes();
		p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
		p.OpenStream(1);
		p.Say("\x4");
		p.SayText(std::string(1, state));
		EXPECT_EQ(FG_L4_IPERF_NONSENSE, p.Last().end) << int(state);
		p.ExpectServes();
	}
}

TEST(L4IperfPeer, AClientThatGoesOrStaysAwayHasItsTestEnded)
{
	for (bool reset : {false, true}) {
		IperfPeer p;

		p.Begin("{\"tcp\":true,\"parallel\":2,\"time\":100,\"len\":1000}");
		p.OpenStream(1);
		p.OpenStream(2);
		talker_close(p.t, 1, reset); /* the others go on without it */
		EXPECT_EQ("\x9\xa\x1\x2", p.Heard());
		EXPECT_FALSE(p.Ended());
		talker_close(p.t, 0, reset);
		EXPECT_EQ(FG_L4_IPERF_GONE, p.Last().end);
		p.ExpectServes();
	}
	IperfPeer p;
	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.OpenStream(1);
	p.Say("\xc");
	EXPECT_EQ(FG_L4_IPERF_TERMINATED, p.Last().end);
	talker_open(p.t, 3, iperf_port);
	for (int i = 0; i < 20; i++)
		talker_wait(p.t, second);
	EXPECT_EQ(FG_L4_IPERF_LATE, p.Last().end);
	EXPECT_TRUE(p.Ended(3));
	p.ExpectServes();
}

TEST(L4IperfPeer, EachStreamHasItsTimeToCome)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":3,\"time\":1,\"len\":1000}");
	for (unsigned line : {1, 2, 3}) {
		talker_wait(p.t, 8 * second);
		p.OpenStream(line);
	}
	EXPECT_EQ("\x9\xa\x1\x2", p.Heard());
}

TEST(L4IperfPeer, TheServerCanEndATest)
{
	IperfPeer p;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
	p.OpenStream(1);
	fg_l4_iperf_stop(p.t->other, 0);
	talker_wait(p.t, ms);
	EXPECT_EQ("\x9\xa\x1\x2\xb", p.Heard());
	EXPECT_EQ(FG_L4_IPERF_STOPPED, p.Last().end);
	talker_wait(p.t, 20 * second);
	talker_open(p.t, 2, iperf_port);
	EXPECT_EQ("\xff", p.Heard(2));
}

TEST(L4IperfPeer, ReportsThatNobodyReadsAreCounted)
{
	IperfPeer p;
	std::vector<fg_l4_iperf_report> all;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":3000,\"len\":1000}");
	p.OpenStream(1);
	for (int i = 0; i < 1100; i++)
		talker_wait(p.t, second);
	EXPECT_EQ(1024u, Reports(p.t->other).size());
	talker_close(p.t, 0, true);
	EXPECT_LT(70u, p.Last().missed);
}

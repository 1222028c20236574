/* SPDX-License-Identifier: BSD-3-Clause */
/* Either role of iperf3 with a peer that is told what to say, and says what it should not. */
#include <cstring>
#include <string>

#include "l4_iperf.h"

extern "C" {
#include "l4_talker.h"
}

using namespace l4;

namespace
{
/* a peer that controls a test by hand */
class Peer
{
      public:
	/* of our server; with parameters, of our client */
	explicit Peer(const char *params = nullptr)
	{
		fg_l4_app app = {};

		app.kind = FG_L4_IPERF;
		app.server = params == nullptr;
		app.port = iperf_port;
		app.host = iperf_cookie;
		app.params = params;
		t = talker_create(&app, 1500);
	}
	~Peer()
	{
		talker_free(t);
	}
	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;

	void
	Say(const std::string &octets, unsigned line = 0)
	{
		talker_say(t, line, octets.data(), octets.size());
	}
	void
	SayText(const std::string &text)
	{
		uint32_t length = htonl(uint32_t(text.size()));

		Say(std::string((const char *)&length, 4) + text);
	}
	/* cookie and parameters */
	void
	Begin(const std::string &params)
	{
		talker_wait(t, 2 * second); /* the end of TIME_WAIT, if there was one before */
		talker_open(t, 0, iperf_port);
		Say(std::string(iperf_cookie, 37));
		SayText(params);
	}
	void
	OpenStream(unsigned line, const char *word = iperf_cookie)
	{
		talker_open(t, line, iperf_port);
		Say(std::string(word, 37), line);
	}
	std::string
	Heard(unsigned line = 0) const
	{
		return std::string((const char *)t->line[line].in, t->line[line].heard);
	}
	bool
	Ended(unsigned line = 0) const
	{
		return t->line[line].ended;
	}
	fg_l4_iperf_report
	Last()
	{
		std::vector<fg_l4_iperf_report> all = Reports(t->other);

		return all.empty() ? fg_l4_iperf_report{} : all.back();
	}
	/* a whole test: the server is as good as new */
	void
	ExpectServes()
	{
		for (unsigned i = 0; i < TALKER_LINES; i++)
			talker_close(t, i, true);
		talker_wait(t, 20 * second);
		Reports(t->other);
		Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
		OpenStream(1);
		ASSERT_EQ("\x9\xa\x1\x2", Heard());
		Say("some octets", 1);
		Say("\x4");
		SayText("{\"streams\":[{\"id\":1,\"bytes\":11}]}");
		Say("\x10");
		EXPECT_EQ(FG_L4_IPERF_DONE, Last().end);
	}

	struct talker *t;
};
} /* namespace */

TEST(L4IperfPeer, LossAndOrderAreCountedAsIperf3Does)
{
	Peer p;
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

/* newer clients send more than they say; some of it comes when the results have been exchanged */
TEST(L4IperfPeer, WhatTheClientIsToldIsWhatIsReported)
{
	Peer p;
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
	Peer p;

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
	Peer p;

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
		Peer p;

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
	Peer p;

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
		Peer p;

		talker_open(p.t, 0, iperf_port);
		p.Say(std::string(iperf_cookie, 37) + c.octets);
		talker_close(p.t, 0, false);
		EXPECT_EQ(c.end, p.Last().end) << c.what;
		p.ExpectServes();
	}
	for (char state : {0, 1, 2, 3, 9, 10, 11, 13, 14, 15, 16, -1, -2}) {
		Peer p;

		p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
		p.Say(std::string(1, state));
		EXPECT_EQ(FG_L4_IPERF_NONSENSE, p.Last().end) << int(state);
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
		Peer p;

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
	Peer p;
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
	Peer p;

	p.Begin("{\"tcp\":true,\"parallel\":3,\"time\":1,\"len\":1000}");
	for (unsigned line : {1, 2, 3}) {
		talker_wait(p.t, 8 * second);
		p.OpenStream(line);
	}
	EXPECT_EQ("\x9\xa\x1\x2", p.Heard());
}

TEST(L4IperfPeer, TheServerCanEndATest)
{
	Peer p;

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
	Peer p;
	std::vector<fg_l4_iperf_report> all;

	p.Begin("{\"tcp\":true,\"parallel\":1,\"time\":3000,\"len\":1000}");
	p.OpenStream(1);
	for (int i = 0; i < 1100; i++)
		talker_wait(p.t, second);
	EXPECT_EQ(1024u, Reports(p.t->other).size());
	talker_close(p.t, 0, true);
	EXPECT_LT(70u, p.Last().missed);
}

TEST(L4IperfPeer, TheClientDoesWhatTheServerSays)
{
	const std::string params =
		"{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"bandwidth\":80000}";
	Peer p(params.c_str());

	EXPECT_EQ(std::string(iperf_cookie, 37), p.Heard());
	p.Say("\x9");
	EXPECT_EQ(std::string(3, '\0') + char(params.size()) + params, p.Heard().substr(37));
	p.Say("\xa");
	talker_wait(p.t, ms);
	p.Say("\x1\x2");
	for (int i = 0; i < 1005; i++)
		talker_wait(p.t, ms);
	EXPECT_EQ(std::string(iperf_cookie, 37), p.Heard(1).substr(0, 37));
	EXPECT_NEAR(37 + 10000, double(p.Heard(1).size()), 1000);
	EXPECT_EQ('\x4', p.Heard().back());
	p.Say("\xd");
	EXPECT_EQ('}', p.Heard().back());
	p.SayText("{\"streams\":[{\"id\":1,\"bytes\":9999,\"end_time\":1.0}]}");
	p.Say("\xe");
	EXPECT_EQ('\x10', p.Heard().back());
	EXPECT_TRUE(p.Ended() && p.Ended(1));
	auto all = Reports(p.t->other);
	ASSERT_EQ(3u, all.size());
	EXPECT_TRUE(all[0].client);
	EXPECT_EQ(9999u, all[1].theirs.octets);
	EXPECT_EQ(p.Heard(1).size() - 37, all[1].ours.octets);
	EXPECT_EQ(FG_L4_IPERF_DONE, all[2].end);
}

TEST(L4IperfPeer, TheClientSaysWhyThereIsNoTest)
{
	const struct {
		std::string octets;
		uint8_t end;
		uint32_t refusal;
	} cases[] = {
		{"\xff", FG_L4_IPERF_REFUSED, 121},
		{std::string("\x9\xfe\0\0\0\x14\0\0\0\0", 10), FG_L4_IPERF_REFUSED, 20},
		{"\x9\xa\xb", FG_L4_IPERF_TERMINATED, 0},
		{"\x7", FG_L4_IPERF_NONSENSE, 0},
		{std::string("\0", 1), FG_L4_IPERF_NONSENSE, 0},
		{"\x9\x9", FG_L4_IPERF_NONSENSE, 0},
		{"\x9\xa\xa", FG_L4_IPERF_NONSENSE, 0},
		{"\x9\xa\x1", FG_L4_IPERF_NONSENSE, 0}, /* before there are streams */
		{"\xa", FG_L4_IPERF_NONSENSE, 0},
		{"\x2", FG_L4_IPERF_NONSENSE, 0},
		{"\x9\xd", FG_L4_IPERF_NONSENSE, 0},
		{"\xe", FG_L4_IPERF_NONSENSE, 0},
		{"\x9\xa", FG_L4_IPERF_GONE, 0},
		{"", FG_L4_IPERF_GONE, 0},
	};

	for (const char *params :
	     {"{\"tcp\":true,\"parallel\":2,\"time\":1,\"len\":1000}",
	      "{\"udp\":true,\"parallel\":2,\"time\":1,\"len\":1000,\"reverse\":true}"}) {
		for (const auto &c : cases) {
			Peer p(params);

			p.Say(c.octets);
			talker_wait(p.t, second / 2);
			talker_close(p.t, 0, false);
			for (int i = 0; i < 20; i++)
				talker_wait(p.t, second);
			fg_l4_iperf_report last = p.Last();
			EXPECT_EQ(c.end, last.end) << &c - cases;
			EXPECT_EQ(c.refusal, last.refusal) << &c - cases;
			EXPECT_EQ(0u, fg_l4_open(p.t->other)) << &c - cases;
		}
	}
}

TEST(L4IperfPeer, TheClientBelievesNoResultsThatAreNone)
{
	for (const std::string &text :
	     {std::string(4, '\0'), std::string("\xff\xff\xff\xff"), std::string("\0\0\0\x2{]", 6)}) {
		Peer p("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"bandwidth\":80000}");

		p.Say("\x9\xa");
		talker_wait(p.t, ms);
		p.Say("\x1\x2");
		talker_wait(p.t, 2 * second);
		p.Say("\xd" + text);
		EXPECT_EQ(FG_L4_IPERF_NONSENSE, p.Last().end);
		EXPECT_TRUE(p.Ended());
	}
}

TEST(L4IperfPeer, TheClientAsksForStreamsOfDatagramsOneByOne)
{
	Peer p("{\"udp\":true,\"parallel\":2,\"time\":1,\"len\":16,\"bidirectional\":true}");
	uint16_t port[4];

	p.Say("\x9\xa");
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
	EXPECT_NE(port[0], port[1]);
	EXPECT_NE(port[2], port[3]);
}

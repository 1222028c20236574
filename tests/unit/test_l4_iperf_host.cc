/* SPDX-License-Identifier: BSD-3-Clause */
/* The client of iperf3, whose server says what it should not. */
#include "l4_iperf_peer.h"

using namespace l4;

TEST(L4IperfPeer, TheClientDoesWhatTheServerSays)
{
	const std::string params =
		"{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"bandwidth\":80000}";
	IperfPeer p(params.c_str());

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
			IperfPeer p(params);

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
		IperfPeer p("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000,\"bandwidth\":80000}");

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
	IperfPeer p("{\"udp\":true,\"parallel\":2,\"time\":1,\"len\":16,\"bidirectional\":true}");
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

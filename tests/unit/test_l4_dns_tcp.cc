/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS over TCP: our client and our server over a line, and our server with a peer that says good and bad. */
#include "l4_dns.h"

using namespace l4;

/* --- both */

TEST(L4DnsTcp, EveryAnswerIsMatchedAndCompared)
{
	for (uint32_t requests : {0u, 7u}) {
		fg_l4_dns zone = Zone();
		fg_l4_app a = Client("DNS_TCP");

		zone.text = 3000; /* of several segments */
		a.dns = &zone;
		a.connections = 5;
		a.requests = requests;
		Wire w(a);
		fg_l4_result c = w.Client();

		EXPECT_LT(200u, c.total.transactions) << requests;
		EXPECT_EQ(c.total.own[DNS_SUM_QUERIES], c.total.transactions);
		EXPECT_EQ(c.total.own[DNS_SUM_NOERROR], c.total.transactions);
		EXPECT_EQ(w.Server().total.transactions, c.total.transactions);
		EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(0u, c.total.expired);
		EXPECT_EQ(requests == 0, c.total.opened == 5);
		w.ExpectNoFaults();
	}
}

TEST(L4DnsTcp, QueriesAreDueWhateverIsAnswered)
{
	fg_l4_dns zone = Zone();
	fg_l4_app a = Client("DNS_TCP");

	a.dns = &zone;
	a.connections = 10;
	a.tcp.nodelay = true;
	a.requests_per_s = 1000;
	Wire w(a, 2 * second, 100 * ms);
	fg_l4_result c = w.Client();

	EXPECT_NEAR(1900, c.measured.transactions, 2);
	EXPECT_NEAR(2.3e6, c.transaction.mean, 0.1e6); /* 1 ms each way, and the frames */
	EXPECT_EQ(0u, c.off_schedule);
	w.ExpectNoFaults();
}

TEST(L4DnsTcp, AsksAgainForWhatWasTruncated)
{
	for (bool fallback : {true, false}) {
		fg_l4_dns zone = Zone();
		fg_l4_app a = Client("DNS");

		zone.questions = "a.fg.test TXT\nb.fg.test A";
		zone.text = 2000;
		zone.fallback = fallback;
		a.dns = &zone;
		a.connections = 3;
		Wire w(a);
		fg_l4_result c = w.Client();
		const uint64_t *own = c.total.own;

		EXPECT_LT(100u, c.total.transactions);
		EXPECT_EQ(c.total.datagrams_out, c.total.transactions);
		EXPECT_LT(50u, own[DNS_SUM_TRUNCATED]);
		EXPECT_EQ(fallback ? own[DNS_SUM_TRUNCATED] : 0, own[DNS_SUM_QUERIES]);
		EXPECT_EQ(own[DNS_SUM_QUERIES], c.total.opened);
		EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(c.total.transactions + own[DNS_SUM_QUERIES], own[DNS_SUM_NOERROR]);
		EXPECT_EQ(0u, own[DNS_SUM_LATE] + own[DNS_SUM_TWICE] + own[DNS_SUM_CUT]);
		/* there and back by UDP, for SYN and by TCP */
		EXPECT_EQ(fallback, c.transaction.max > 6e6);
		w.ExpectNoFaults();
	}
}

/* --- the server */

TEST(L4DnsTcpServer, AnswersAllQueriesHoweverTheyAreCut)
{
	fg_l4_dns zone = Zone();
	std::string all;
	std::vector<std::string> expected;

	zone.text = 4000;
	for (uint16_t i = 0; i < 12; i++) {
		std::string q = Query(i, "h" + std::to_string(i), i % 3 == 0 ? 16 : 1);

		if (i == 5) /* with an option of 300 bytes: it is longer than a block */
			q = q.replace(11, 1, 1, '\1') +
			    std::string("\0\0\x29\x04\xd0\0\0\0\0\1\x30\0\x0c\1\x2c", 15) +
			    std::string(300, '\0');
		all += Framed(q);
		expected.push_back(Answer(q, zone));
	}
	for (size_t piece : {1, 2, 3, 29, 100, 5000}) {
		DnsPeer p(true, zone);

		for (size_t at = 0; at < all.size(); at += piece)
			p.Say(all.substr(at, piece));
		talker_wait(p.t, second);
		EXPECT_EQ(expected, p.Hear()) << piece;
		EXPECT_EQ(12u, p.Tally().transactions);
		p.ExpectSums({{DNS_SUM_NOERROR, 12}});
		talker_close(p.t, 0, false);
		p.ExpectNothingKept();
	}
}

TEST(L4DnsTcpServer, TruncatesOnlyWhatNoMessageHolds)
{
	fg_l4_dns zone = Zone();

	zone.text = 60000;
	DnsPeer p(true, zone);
	p.Say(Framed(Query(1, "h1", 16)));
	for (int i = 0; i < 100; i++)
		talker_wait(p.t, 100 * ms);
	std::vector<std::string> said = p.Hear();
	ASSERT_EQ(1u, said.size());
	EXPECT_EQ(Answer(Query(1, "h1", 16), zone), said[0]);
	EXPECT_LT(60000u, said[0].size());
	p.ExpectSums({{DNS_SUM_NOERROR, 1}});
	zone.answers = 2;
	DnsPeer two(true, zone);
	two.Say(Framed(Query(1, "h1", 16)));
	said = two.Hear();
	ASSERT_EQ(1u, said.size());
	EXPECT_EQ(DNS_TC, fg_get16((const uint8_t *)said[0].data() + 2) & DNS_TC);
	two.ExpectSums({{DNS_SUM_NOERROR, 1}, {DNS_SUM_TRUNCATED, 1}});
}

TEST(L4DnsTcpServer, GoesOnBehindWhatIsNoQuery)
{
	DnsPeer p(true);
	std::string answer = Query(3);

	answer[2] |= '\x80';
	p.Say(Framed("") + Framed("short") + Framed(answer) + Framed(Query(4, std::string(70, 'x'))) +
	      Framed(Query(5)));
	std::vector<std::string> said = p.Hear();
	ASSERT_EQ(2u, said.size()); /* FORMERR, and an answer */
	EXPECT_EQ(Number16(4) + "\x81\1" + std::string(8, '\0'), said[0]);
	EXPECT_EQ(Answer(Query(5)), said[1]);
	p.ExpectSums({{DNS_SUM_MALFORMED, 3}, {DNS_SUM_OTHER, 1}, {DNS_SUM_NOERROR, 1}});
}

TEST(L4DnsTcpServer, EndsWithAPeerThatEndsInTheMiddle)
{
	for (const std::string &part : {Number16(300), Number16(300) + "abc", std::string("\0", 1)}) {
		for (bool reset : {false, true}) {
			DnsPeer p(true);

			p.Say(Framed(Query(1)) + part);
			talker_close(p.t, 0, reset);
			EXPECT_EQ(1u, p.Tally().transactions);
			EXPECT_EQ(reset ? 0u : 1u, p.Sum(DNS_SUM_MALFORMED));
			p.ExpectNothingKept();
		}
	}
}

TEST(L4DnsTcpServer, ClosesWhatIsIdle)
{
	fg_l4_dns zone = Zone();

	zone.idle_ns = 2 * second;
	DnsPeer p(true, zone);
	for (uint16_t i = 0; i < 4; i++) {
		talker_wait(p.t, second * 3 / 2);
		p.Say(Framed(Query(i)));
		ASSERT_EQ(1u, p.Hear().size());
	}
	p.Say(std::string("\0\x1f", 2)); /* the begin of a query is no query */
	talker_wait(p.t, second * 3 / 2);
	EXPECT_FALSE(p.t->line[0].ended);
	talker_wait(p.t, second);
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

/* nothing is taken from a peer that does not take its answers, until it does */
TEST(L4DnsTcpServer, BoundsWhatItKeepsOfAConnection)
{
	DnsPeer p(true);
	fg_l4 *w = p.t->other;
	const dns *d = reinterpret_cast<const dns *>(w->app[0]);
	static fg_stream *s;
	std::string few;
	uint32_t n = 0;

	for (uint16_t i = 0; i < 40; i++)
		few += Framed(Query(i));
	fg_stream_each(w, 0, [](fg_l4 *, fg_stream *each) { s = each; });
	w->out = talker_rooms(p.t);
	for (; dns_server_receive(w, s, 0, (const uint8_t *)few.data(), uint32_t(few.size()), false); n += 40)
		ASSERT_GT(2000u, n);
	EXPECT_LE(1024u, n);
	EXPECT_EQ(n, d->entries_taken);
	dns_server_flush(w, s);
	talker_wait(p.t, second);
	EXPECT_EQ(n, p.Hear().size());
	EXPECT_EQ(0u, d->entries_taken);
	p.Say(few);
	EXPECT_EQ(40u, p.Hear().size());
}

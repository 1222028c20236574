/* SPDX-License-Identifier: BSD-3-Clause */
/* Our client over TCP, and over UDP where it asks again over TCP, with a server that says good and bad. */
#include "l4_dns.h"

using namespace l4;

TEST(L4DnsTcpClient, TakesAnswersInAnyOrder)
{
	DnsPeer p(false, Zone(), "DNS_TCP", 4);
	std::vector<std::string> asked = p.Hear();

	ASSERT_EQ(4u, asked.size());
	for (unsigned i : {2, 0, 3, 1})
		p.Say(Framed(Answer(asked[i])));
	EXPECT_EQ(4u, p.Tally().transactions);
	p.ExpectSums({{DNS_SUM_QUERIES, 4}, {DNS_SUM_NOERROR, 4}});
	EXPECT_EQ(0u, p.t->other->counters.wrong_octets);
	EXPECT_TRUE(p.t->line[0].ended); /* they were all */
	p.ExpectNothingKept();
}

TEST(L4DnsTcpClient, AsksTheNextWhenOneIsAnswered)
{
	DnsPeer p(false);
	std::vector<std::string> asked = p.Hear(), more;

	ASSERT_EQ(4u, asked.size());
	EXPECT_NE(std::string::npos, asked[2].find("\4H333"));
	p.Say(Framed(Answer(asked[3])) + Framed(Answer(asked[0])));
	more = p.Hear();
	ASSERT_EQ(2u, more.size());
	EXPECT_EQ(asked[0].substr(2), more[0].substr(2)); /* the first name again, with an id of its own */
	EXPECT_EQ(uint16_t(fg_get16((const uint8_t *)asked[3].data()) + 1),
		  fg_get16((const uint8_t *)more[0].data()));
}

TEST(L4DnsTcpClient, CountsWhatIsNoAnswer)
{
	DnsPeer p(false);
	std::vector<std::string> asked = p.Hear();
	ASSERT_EQ(4u, asked.size());
	std::string good = Answer(asked[0]), other = good, broken = Answer(asked[1]);
	const std::string before = Number16(fg_get16((const uint8_t *)asked[0].data()) - 1u);

	other.replace(13, 2, "x9"); /* another name */
	broken.resize(broken.size() - 3);
	p.Say(Framed("") + Framed(std::string(11, '\x80')) +
	      Framed(asked[0])); /* not even a header; a query */
	p.Say(Framed(before + good.substr(2)) + Framed(other));
	EXPECT_EQ(0u, p.Tally().transactions);
	p.ExpectSums({{DNS_SUM_QUERIES, 4},
		      {DNS_SUM_MALFORMED, 3},
		      {DNS_SUM_UNEXPECTED, 1},
		      {DNS_SUM_MISMATCHED, 1}});
	p.Say(Framed(good) + Framed(good) + Framed(broken));
	EXPECT_EQ(2u, p.Tally().transactions);
	EXPECT_EQ(1u, p.Tally().refused);
	p.ExpectSums({{DNS_SUM_QUERIES, 6},
		      {DNS_SUM_MALFORMED, 4},
		      {DNS_SUM_UNEXPECTED, 1},
		      {DNS_SUM_MISMATCHED, 1},
		      {DNS_SUM_NOERROR, 1},
		      {DNS_SUM_TWICE, 1}});
}

TEST(L4DnsTcpClient, GivesUpWhatIsNotAnsweredInTime)
{
	DnsPeer p(false, Zone(), "DNS_TCP", 5);
	std::vector<std::string> asked = p.Hear();

	ASSERT_EQ(4u, asked.size());
	talker_wait(p.t, second / 2);
	p.Say(Framed(Answer(asked[1])));
	ASSERT_EQ(1u, p.Hear().size());
	talker_wait(p.t, second * 6 / 10);
	EXPECT_EQ(3u, p.Tally().expired);
	p.Say(Framed(Answer(asked[0])) + Framed(Answer(asked[3])));
	p.ExpectSums({{DNS_SUM_QUERIES, 5}, {DNS_SUM_NOERROR, 1}, {DNS_SUM_LATE, 2}});
	talker_wait(p.t, second);
	EXPECT_EQ(4u, p.Tally().expired);
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

TEST(L4DnsTcpClient, EndsWithAServerThatEndsInTheMiddle)
{
	for (bool reset : {false, true}) {
		DnsPeer p(false);
		std::vector<std::string> asked = p.Hear();

		ASSERT_EQ(4u, asked.size());
		p.Say(Framed(Answer(asked[0])) + Framed(Answer(asked[1])).substr(0, 20));
		talker_close(p.t, 0, reset);
		EXPECT_EQ(4u, p.Tally().expired);
		p.ExpectSums({{DNS_SUM_QUERIES, 5},
			      {DNS_SUM_NOERROR, 1},
			      {DNS_SUM_CUT, 4},
			      {DNS_SUM_MALFORMED, reset ? 0 : 1}});
		p.ExpectNothingKept();
	}
}

/* --- the client over UDP whose answer is truncated */

TEST(L4DnsTcpClient, AsksAgainOnAConnectionOfItsOwn)
{
	fg_l4_dns zone = Zone();
	zone.fallback = true;
	DnsPeer p(false, zone, "DNS");
	std::string query((const char *)p.t->datagram, p.t->datagram_octets), truncated = query;

	ASSERT_LT(12u, query.size());
	truncated[2] |= '\x82'; /* QR, TC */
	talker_send(p.t, PORT, 10000, truncated.data(), truncated.size());
	talker_settle(p.t);
	std::vector<std::string> asked = p.Hear();
	ASSERT_EQ(1u, asked.size());
	EXPECT_EQ(query.substr(2), asked[0].substr(2));
	talker_send(p.t, PORT, 10000, truncated.data(), truncated.size());
	EXPECT_EQ(1u, p.Sum(DNS_SUM_TWICE)); /* and is not asked a third time */
	EXPECT_EQ(0u, p.Tally().transactions);
	p.Say(Framed(Answer(asked[0])));
	EXPECT_EQ(1u, p.Tally().transactions);
	EXPECT_TRUE(p.t->line[0].ended);
	EXPECT_EQ(1u, p.Sum(DNS_SUM_QUERIES));
	p.ExpectNothingKept();
}

/* what is asked for over TCP at last was answered once */
TEST(L4DnsTcpClient, AsksOnAConnectionWhereItsCookieIsNeverRight)
{
	fg_l4_dns zone = Zone();
	zone.fallback = zone.cookies = true;
	zone.udp_size = 1232;
	DnsPeer p(false, zone, "DNS");
	std::string bad((const char *)p.t->datagram, p.t->datagram_octets);
	const size_t opt = bad.size() - DNS_OPTION - DNS_COOKIE_CLIENT - DNS_OPT;

	bad[2] |= '\x80'; /* QR */
	bad[3] = DNS_BADCOOKIE & 0xf;
	bad[opt + 5] = DNS_BADCOOKIE >> 4;
	bad[opt + 10] = DNS_OPTION + DNS_COOKIE;
	bad[opt + 14] = DNS_COOKIE;
	bad += std::string(DNS_COOKIE - DNS_COOKIE_CLIENT, 's');
	talker_send(p.t, PORT, 10000, bad.data(), bad.size());
	talker_settle(p.t);
	EXPECT_EQ(0u, p.Hear().size());
	EXPECT_EQ(2u, p.Tally().datagrams_out);
	talker_send(p.t, PORT, 10000, bad.data(), bad.size());
	talker_settle(p.t);
	std::vector<std::string> asked = p.Hear();
	ASSERT_EQ(1u, asked.size());
	EXPECT_EQ(2u, p.Sum(DNS_SUM_BAD_COOKIE));
	EXPECT_EQ(0u, p.Sum(DNS_SUM_OTHER));
	p.Say(Framed(Answer(asked[0])));
	EXPECT_EQ(1u, p.Tally().transactions);
	p.ExpectNothingKept();
}

TEST(L4DnsTcpClient, AnAnswerThatIsAskedForAgainExpires)
{
	fg_l4_dns zone = Zone();
	zone.fallback = true;
	DnsPeer p(false, zone, "DNS");
	std::string truncated((const char *)p.t->datagram, p.t->datagram_octets);

	truncated[2] |= '\x82';
	talker_send(p.t, PORT, 10000, truncated.data(), truncated.size());
	talker_settle(p.t);
	ASSERT_EQ(1u, p.Hear().size());
	talker_wait(p.t, second * 11 / 10);
	EXPECT_EQ(1u, p.Tally().expired);
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS over HTTPS (RFC 8484): client and server of ours, and our client with a server that sends anything. */
#include "l4_doh.h"
#include "l4_tls.h"

using namespace l4;

TEST(L4Doh, EveryAnswerIsMatchedAndCompared)
{
	for (bool post : {false, true})
		for (uint16_t text : {64, 8000, 30000}) {
			fg_l4_dns zone = DohZone(post, text);
			fg_l4_app a = Doh(&zone);

			SCOPED_TRACE(std::to_string(post) + " " + std::to_string(text));
			a.connections = 3;
			Wire w(a, 20 * second);
			fg_l4_result c = w.Client(), s = w.Server();

			EXPECT_EQ(120u, c.total.transactions);
			EXPECT_EQ(120u, s.total.transactions);
			EXPECT_EQ(0u, c.total.refused);
			EXPECT_EQ(120u, c.total.own[DOH_SUMS + DNS_SUM_NOERROR]);
			EXPECT_EQ(120u, s.total.own[DOH_SUMS + DNS_SUM_NOERROR]);
			EXPECT_EQ(120u, c.total.own[DOH_SUMS + DNS_SUM_QUERIES]);
			EXPECT_EQ(0u, c.total.own[DOH_SUMS + DNS_SUM_TRUNCATED]);
			EXPECT_EQ(3u, c.total.ended[FG_L4_END_CLOSED]);
			w.ExpectNoFaults();
		}
}

/* as other servers do: dnsperf loses the second answer of a record, and every later one of the connection */
TEST(L4Doh, EachAnswerIsARecordOfTls)
{
	fg_l4_dns zone = DohZone(false);
	Options o;

	o.stop = 20 * second;
	Pair pair(Doh(&zone), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(40u, pair.result[0].total.transactions);
	EXPECT_LE(40u, pair.result[1].tls.tally.records_out);
}

TEST(L4Doh, AnotherServersAnswerIsWrong)
{
	fg_l4_dns zone = DohZone(false), other = DohZone(false);
	fg_l4_app a = Doh(&zone), b = Doh(&other);

	other.ttl = 299;
	b.server = true;
	memcpy(b.local, a.remote, 16);
	Wire w(a, b);
	fg_l4_counters n;

	fg_l4_read_counters(w.l4[0], &n);
	EXPECT_LT(0u, n.wrong_octets);
	EXPECT_EQ(40u, w.Client().total.transactions);
}

TEST(L4Doh, AnAnswerWithAnotherIdIsUnexpected)
{
	for (uint16_t id : {0, 0x1234, 0x8000, 1}) {
		DohAsker c;

		ASSERT_LT(unsigned(DNS_HEADER), c.query.size());
		c.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()) +
		      Http2Frame(H2_DATA, H2_END_STREAM, 1, c.Answer(id)));
		const fg_l4_tally &tally = c.App()->app.base.tally;
		EXPECT_EQ(id == 0, tally.transactions) << id;
		EXPECT_EQ(id != 0, tally.refused) << id;
		EXPECT_EQ(id != 0, tally.own[DOH_SUMS + DNS_SUM_UNEXPECTED]) << id;
		EXPECT_EQ(id == 0, tally.own[DOH_SUMS + DNS_SUM_NOERROR]) << id;
		EXPECT_EQ(0u, c.t->other->counters.wrong_octets) << id;
	}
}

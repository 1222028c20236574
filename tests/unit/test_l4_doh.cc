/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS over HTTPS (RFC 8484): client and server of ours, and our client with a server that sends anything. */
#include "l4_doh.h"
#include "l4_tls.h"

using namespace l4;

namespace
{
/* as Wire, but frames are lost */
class LossyWire : public Line
{
      public:
	LossyWire(const fg_l4_app &client, double lost, uint64_t seed)
	{
		const fg_l4_app apps[2] = {client, ServerOf(client)};
		std::mt19937_64 random(seed);

		ns_per_octet = 800;
		gap = 24;
		delay = ms;
		capacity = 65400;
		sees = [lost, random](unsigned, uint64_t, std::vector<uint8_t> &) mutable {
			return double(random() >> 11) * 0x1p-53 >= lost;
		};
		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 64;
			config.seed = seed + i;
			config.mtu = 1500;
			config.max_lag_ns = ms;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], &err)) << err.message;
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, 61 * second, 0, 0, &err));
		}
		Run(90 * second);
	}
};
} /* namespace */

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

TEST(L4Doh, EveryByteArrivesWhateverThePathDoes)
{
	for (unsigned seed = 0; seed < 40; seed++) {
		fg_l4_dns zone = DohZone(seed % 2, seed % 3 == 0 ? 20000 : 100);
		fg_l4_app a = Doh(&zone);
		fg_l4_result r;
		fg_l4_counters n;

		a.tcp.retries = 30;
		a.tcp.syn_retries = 12;
		a.window = seed % 5 == 0 ? 3000 : 0;
		LossyWire w(a, 0.01 * (1 + seed % 8), seed);
		fg_l4_read(w.l4[0], 0, &r);
		fg_l4_read_counters(w.l4[0], &n);
		ASSERT_EQ(40u, r.total.transactions) << seed;
		ASSERT_EQ(0u, r.total.refused + n.wrong_octets + n.not_used + n.held_refused) << seed;
	}
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

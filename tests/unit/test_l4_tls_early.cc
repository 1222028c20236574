// SPDX-License-Identifier: BSD-3-Clause
/*
 * Early data (0-RTT) of TLS 1.3 between two workers: what it saves, what is counted, and that a request
 * arrives once, whatever the server and the path make of it.
 */
#include "l4_tls.h"

namespace
{
using l4::ms;
using l4::Options;
using l4::Pair;
using l4::second;

fg_l4_app
Crr(unsigned cycles)
{
	fg_l4_app client = l4::Client("TCP_CRR");

	client.cycles = cycles;
	client.request = 200;
	client.response = 3000;
	return client;
}

Options
Early(uint32_t octets = 16384)
{
	Options o;

	o.resume = true;
	o.early_data = octets;
	return o;
}

// of both ends
void
ExpectEarly(const Pair &pair, uint64_t offered, uint64_t accepted, uint64_t octets)
{
	for (unsigned i : {0, 1}) {
		const struct fg_secure_tally &t = pair.result[i].tls.tally;

		EXPECT_EQ(offered, t.early_offered) << i;
		EXPECT_EQ(accepted, t.early_accepted) << i;
		EXPECT_EQ(octets, t.early_octets) << i;
	}
}

TEST(TlsEarly, ARequestIsAnsweredOneRoundTripSooner)
{
	Pair pair(Crr(20), Early());

	pair.ExpectNoFaults();
	ExpectEarly(pair, 19, 19, 19 * 200);
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_EQ(20u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(20u * 200, pair.result[1].total.octets_in);
	EXPECT_EQ(20u * 200, pair.result[0].total.octets_out);
	EXPECT_EQ(19u, pair.result[0].tls.tally.resumed) << "tickets come although data comes first";
	EXPECT_EQ(0u, pair.result[1].tls.tally.early_replayed);
	// of TCP, of TLS and of the request, each 4 ms; or without the one in the middle
	const fg_l4_times &first = pair.result[0].first_octet;
	EXPECT_NEAR(12.0 * ms, double(first.max), 0.7 * ms) << "of the first one";
	EXPECT_NEAR(8.0 * ms, double(first.min), 0.7 * ms);
	EXPECT_NEAR(8.0 * ms, double(first.p50), 0.7 * ms);
}

TEST(TlsEarly, WhatIsRefusedGoesAgainAndCountsOnce)
{
	Options o = Early();

	o.refuse_every = 1;
	Pair pair(Crr(20), o);
	pair.ExpectNoFaults();
	ExpectEarly(pair, 19, 0, 0);
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_EQ(20u * 200, pair.result[1].total.octets_in);
	EXPECT_EQ(20u * 200, pair.result[0].total.octets_out);
	EXPECT_EQ(19u, pair.result[0].tls.tally.resumed);
	EXPECT_NEAR(12.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
}

TEST(TlsEarly, NotMoreThanIsAllowed)
{
	Pair exact(Crr(5), Early(200)), less(Crr(5), Early(199));

	exact.ExpectNoFaults();
	less.ExpectNoFaults();
	ExpectEarly(exact, 4, 4, 800);
	ExpectEarly(less, 0, 0, 0);
	EXPECT_EQ(5u, less.result[0].total.transactions);
}

TEST(TlsEarly, ATicketThatIsUsedAgainIsAReplayAndIsServed)
{
	Options o = Early();

	o.reuse = true;
	Pair pair(Crr(20), o);
	pair.ExpectNoFaults();
	ExpectEarly(pair, 19, 19, 19 * 200);
	EXPECT_EQ(18u, pair.result[1].tls.tally.early_replayed);
	EXPECT_EQ(20u, pair.result[0].total.transactions);
}

TEST(TlsEarly, OldVersionsAndOtherTestsDoWithout)
{
	Options o = Early();

	o.version = FG_TLS_1_2;
	Pair old(Crr(5), o);
	old.ExpectNoFaults();
	ExpectEarly(old, 0, 0, 0);
	fg_l4_app client = l4::Client("TCP_CC");
	client.cycles = 5;
	Pair nothing(client, Early());
	nothing.ExpectNoFaults();
	ExpectEarly(nothing, 0, 0, 0);
	EXPECT_EQ(4u, nothing.result[0].tls.tally.resumed);
}

TEST(TlsEarly, AConnectionGoesOnAfterIt)
{
	fg_l4_app client = l4::Client("TCP_RR");
	Options o = Early();

	client.cycles = 5;
	client.requests = 10;
	client.request = 5000;
	client.response = 70000;
	o.key_update_every = 3;
	Pair pair(client, o);
	pair.ExpectNoFaults();
	ExpectEarly(pair, 4, 4, 4 * 5000);
	EXPECT_EQ(50u, pair.result[0].total.transactions);
	EXPECT_EQ(50u * 70000, pair.result[0].total.octets_in);
	EXPECT_EQ(50u * 5000, pair.result[0].total.octets_out);
	EXPECT_LT(0u, pair.result[1].tls.tally.key_updates_out);
}

class TlsEarlyLossy : public testing::TestWithParam<int>
{
};

TEST_P(TlsEarlyLossy, EveryByteArrivesOnce)
{
	static const char *const kinds[] = {"TCP_CRR", "TCP_RR", "HTTP"};

	for (int i = 0; i < 25; i++) {
		uint64_t seed = 5000 + 1000 * GetParam() + i;
		fg_l4_app client = l4::Client(kinds[GetParam()]);
		Options o = Early();

		client.path = "/30000";
		client.host = "fg.test";
		client.request = GetParam() == 2 ? 0 : 9000;
		client.response = 30000;
		client.requests = GetParam() == 0 ? 0 : 3;
		client.cycles = 6;
		client.tcp.retries = 30;
		client.tcp.syn_retries = 12;
		o.stop = 200 * second;
		o.loss = 0.01 * (1 + i % 5);
		o.seed = seed;
		o.refuse_every = i % 3;
		o.key_update_every = i % 2 == 0 ? 2 : 0;
		o.record = i % 4 == 0 ? 0 : i % 4 == 1 ? 1000 : 16384;
		SCOPED_TRACE(std::string(kinds[GetParam()]) + ", seed " + std::to_string(seed));
		Pair pair(client, o);
		pair.ExpectNoFaults();
		const struct fg_secure_tally &t = pair.result[0].tls.tally;
		EXPECT_EQ(GetParam() == 0 ? 6u : 18u, pair.result[0].total.transactions);
		EXPECT_EQ(6u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(pair.result[0].total.octets_out, pair.result[1].total.octets_in);
		EXPECT_LE(1u, t.early_offered);
		EXPECT_EQ(i % 3 == 1   ? 0u
			  : i % 3 == 2 ? t.early_offered - t.early_offered / 2
				       : t.early_offered,
			  t.early_accepted);
		EXPECT_EQ(t.early_octets, pair.result[1].tls.tally.early_octets);
		EXPECT_EQ(t.early_offered, pair.result[1].tls.tally.early_offered);
	}
}

INSTANTIATE_TEST_SUITE_P(Kinds, TlsEarlyLossy, testing::Range(0, 3));

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions of QUIC that are resumed, and early data (0-RTT), between two workers: what is saved, what is
 * counted, and that every byte arrives once, whatever the server and the path make of it.
 */
#include "l4_quic.h"

namespace
{
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

fg_l4_app
Crr(unsigned cycles)
{
	fg_l4_app client = l4::Client("TCP_CRR");

	client.cycles = cycles;
	client.request = 200;
	client.response = 1000;
	return client;
}

QuicOptions
Resume(uint32_t early = 0, uint32_t refuse_every = 0)
{
	QuicOptions o;

	o.set = [early, refuse_every](fg_quic_config &client, fg_quic_config &server) {
		client.tls.resume = true;
		server.tls.tickets = 2;
		client.tls.early_data = server.tls.early_data = early;
		server.tls.refuse_every = refuse_every;
	};
	return o;
}

TEST(QuicResumption, ATicketIsForOneConnectionAndBringsTheNext)
{
	QuicPair pair(Crr(20), Resume());

	pair.ExpectNoFaults();
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	for (unsigned i : {0, 1}) {
		EXPECT_EQ(20u, pair.Tally(i).handshakes) << i;
		EXPECT_EQ(19u, pair.Tally(i).resumed) << i;
		EXPECT_EQ(0u, pair.Tally(i).early_offered + pair.Tally(i).early_accepted) << i;
	}
	EXPECT_EQ(21u, pair.Tally(0).tickets) << "two of the first connection";
	EXPECT_EQ(2u, pair.result[0].quic.sessions);
	EXPECT_LT(200u, pair.result[0].quic.agreed.certificate_octets) << "of the first connection";
	EXPECT_NEAR(8.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
}

TEST(QuicResumption, OneTicketCanDoForAll)
{
	QuicOptions o = Resume(16384);
	auto set = o.set;

	o.set = [set](fg_quic_config &client, fg_quic_config &server) {
		set(client, server);
		client.tls.reuse = true;
	};
	QuicPair pair(Crr(20), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(19u, pair.Tally(0).resumed);
	EXPECT_EQ(19u, pair.Tally(1).early_accepted) << "replays are taken";
	EXPECT_EQ(1u, pair.result[0].quic.sessions);
}

TEST(QuicResumption, WithoutItEachHandshakeIsAFullOne)
{
	QuicPair pair(Crr(5), QuicOptions());

	pair.ExpectNoFaults();
	EXPECT_EQ(0u, pair.Tally(0).resumed + pair.Tally(0).tickets);
}

TEST(QuicResumption, AServerWithoutTicketsIsAskedInFull)
{
	QuicOptions o;

	o.set = [](fg_quic_config &client, fg_quic_config &server) { client.tls.resume = true; };
	QuicPair pair(Crr(5), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(5u, pair.result[0].total.transactions);
	EXPECT_EQ(0u, pair.Tally(0).resumed + pair.Tally(0).tickets);
}

fg_l4_app
Http3(unsigned cycles)
{
	fg_l4_app client = l4::Client("HTTP3");

	client.path = "/2000";
	client.host = "fg.test";
	client.request = 0;
	client.response = 2000;
	client.requests = 5;
	client.streams = 3;
	client.cycles = cycles;
	return client;
}

TEST(QuicEarlyHttp3, RequestsGoWithTheFirstPacket)
{
	QuicPair pair(Http3(10), Resume(16384));

	pair.ExpectNoFaults();
	EXPECT_EQ(50u, pair.result[0].total.transactions);
	EXPECT_EQ(50u, pair.result[1].total.transactions);
	EXPECT_EQ(9u, pair.Tally(0).resumed);
	EXPECT_EQ(9u, pair.Tally(0).early_offered);
	EXPECT_EQ(9u, pair.Tally(0).early_accepted);
	EXPECT_EQ(9u, pair.Tally(1).early_accepted);
	EXPECT_EQ(pair.Tally(0).early_octets, pair.Tally(1).early_octets);
	EXPECT_NEAR(8.0 * ms, double(pair.result[0].first_octet.max), 0.7 * ms);
	EXPECT_NEAR(4.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
}

TEST(QuicEarlyHttp3, WhatIsRefusedIsAskedAgainFromTheBegin)
{
	QuicPair pair(Http3(10), Resume(16384, 1));

	pair.ExpectNoFaults();
	EXPECT_EQ(50u, pair.result[0].total.transactions);
	EXPECT_EQ(50u, pair.result[1].total.transactions);
	EXPECT_EQ(0u, pair.result[0].total.refused);
	EXPECT_EQ(9u, pair.Tally(0).early_offered);
	EXPECT_EQ(0u, pair.Tally(0).early_accepted + pair.Tally(1).early_accepted);
	EXPECT_NEAR(8.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
	EXPECT_LT(8.0 * ms, double(pair.result[0].transaction.max)) << "from the first time on";
}

TEST(QuicEarlyHttp3, NotMoreThanIsAllowed)
{
	QuicPair pair(Http3(5), Resume(50));

	pair.ExpectNoFaults();
	EXPECT_EQ(25u, pair.result[0].total.transactions);
	EXPECT_EQ(4u, pair.Tally(1).early_accepted);
	EXPECT_EQ(4u * 50, pair.Tally(1).early_octets);
}

TEST(QuicEarly, ARequestIsAnsweredOneRoundTripSooner)
{
	QuicPair pair(Crr(20), Resume(16384));

	pair.ExpectNoFaults();
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_EQ(20u * 200, pair.result[1].total.octets_in);
	for (unsigned i : {0, 1}) {
		EXPECT_EQ(19u, pair.Tally(i).resumed) << i;
		EXPECT_EQ(19u, pair.Tally(i).early_offered) << i;
		EXPECT_EQ(19u, pair.Tally(i).early_accepted) << i;
		EXPECT_EQ(19u * 200, pair.Tally(i).early_octets) << i;
	}
	// of the handshake and of the request, each 4 ms; or both at a time
	const fg_l4_times &first = pair.result[0].first_octet;
	EXPECT_NEAR(8.0 * ms, double(first.max), 0.7 * ms) << "of the first one";
	EXPECT_NEAR(4.0 * ms, double(first.min), 0.7 * ms);
	EXPECT_NEAR(4.0 * ms, double(first.p50), 0.7 * ms);
}

TEST(QuicEarly, WhatIsRefusedGoesAgainAndCountsOnce)
{
	QuicPair pair(Crr(20), Resume(16384, 1));

	pair.ExpectNoFaults();
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_EQ(20u * 200, pair.result[1].total.octets_in);
	EXPECT_EQ(19u, pair.Tally(0).resumed);
	EXPECT_EQ(19u, pair.Tally(0).early_offered);
	for (unsigned i : {0, 1})
		EXPECT_EQ(0u, pair.Tally(i).early_accepted + pair.Tally(i).early_octets) << i;
	EXPECT_NEAR(8.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
}

TEST(QuicEarly, NotMoreThanIsAllowed)
{
	QuicPair exact(Crr(5), Resume(200)), less(Crr(5), Resume(199));

	exact.ExpectNoFaults();
	less.ExpectNoFaults();
	EXPECT_EQ(4u, exact.Tally(1).early_accepted);
	EXPECT_EQ(0u, less.Tally(0).early_offered + less.Tally(1).early_accepted);
	EXPECT_EQ(4u, less.Tally(0).resumed);
	EXPECT_EQ(5u, less.result[0].total.transactions);
}

TEST(QuicEarly, AConnectionGoesOnAfterIt)
{
	fg_l4_app client = l4::Client("TCP_RR");

	client.cycles = 5;
	client.requests = 10;
	client.request = 5000;
	client.response = 70000;
	QuicPair pair(client, Resume(16384));
	pair.ExpectNoFaults();
	EXPECT_EQ(50u, pair.result[0].total.transactions);
	EXPECT_EQ(50u * 70000, pair.result[0].total.octets_in);
	EXPECT_EQ(50u * 5000, pair.result[1].total.octets_in);
	EXPECT_EQ(4u, pair.Tally(1).early_accepted);
	EXPECT_EQ(4u * 5000, pair.Tally(0).early_octets);
}

TEST(QuicEarly, RetryMakesItGoTwice)
{
	QuicOptions o = Resume(16384);
	auto set = o.set;

	o.set = [set](fg_quic_config &client, fg_quic_config &server) {
		set(client, server);
		server.retry = true;
	};
	QuicPair pair(Crr(5), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(5u, pair.result[0].total.transactions);
	EXPECT_EQ(5u, pair.Tally(0).retries);
	EXPECT_EQ(4u, pair.Tally(0).early_accepted);
	EXPECT_NEAR(8.0 * ms, double(pair.result[0].first_octet.p50), 0.7 * ms);
}

class QuicEarlyLossy : public testing::TestWithParam<int>
{
};

TEST_P(QuicEarlyLossy, EveryByteArrivesOnce)
{
	static const char *const kinds[] = {"TCP_CRR", "TCP_RR", "HTTP3"};

	for (int i = 0; i < 25; i++) {
		uint64_t seed = 5000 + 1000 * GetParam() + i;
		fg_l4_app client = l4::Client(kinds[GetParam()]);
		QuicOptions o = Resume(16384, i % 3);

		client.path = "/30000";
		client.host = "fg.test";
		client.request = GetParam() == 2 ? 0 : 9000;
		client.response = 30000;
		client.requests = GetParam() == 0 ? 0 : 3;
		client.cycles = 6;
		o.stop = 200 * second;
		o.loss = o.reorder = 0.01 * (1 + i % 5);
		o.duplicate = o.loss / 4;
		o.seed = seed;
		SCOPED_TRACE(std::string(kinds[GetParam()]) + ", seed " + std::to_string(seed));
		QuicPair pair(client, o);
		for (unsigned n : {0, 1}) {
			EXPECT_EQ(0u, pair.counters[n].wrong_octets) << n;
			EXPECT_EQ(0u, pair.Tally(n).failed) << pair.result[n].quic.reason;
			EXPECT_EQ(0u, fg_l4_open(pair.l4[n])) << n;
		}
		EXPECT_EQ(GetParam() == 0 ? 6u : 18u, pair.result[0].total.transactions);
		EXPECT_EQ(6u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
		if (GetParam() < 2) {
			EXPECT_EQ(6u * 9000 * (GetParam() == 0 ? 1 : 3), pair.result[1].total.octets_in);
		}
		EXPECT_LE(1u, pair.Tally(0).early_offered);
		EXPECT_LE(pair.Tally(0).early_accepted, pair.Tally(0).early_offered);
	}
}

INSTANTIATE_TEST_SUITE_P(Kinds, QuicEarlyLossy, testing::Range(0, 3));

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Applications over TLS over TCP, between two workers and a path that loses, delays, reorders and duplicates
 * as a seed says. Whatever it does, every byte is compared by the applications, and no record is wrong.
 */
#include "l4_tls.h"

namespace
{
using l4::ms;
using l4::Options;
using l4::Pair;
using l4::second;
using l4::Tls;

class Versions : public testing::TestWithParam<uint16_t>
{
};

TEST_P(Versions, ARequestAndItsResponseGoThrough)
{
	fg_l4_app client = l4::Client("TCP_RR");
	Options o;

	client.requests = 3;
	client.cycles = 1;
	client.request = 200;
	client.response = 70000;
	o.version = GetParam();
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(3u, pair.result[0].total.transactions);
	EXPECT_EQ(210000u, pair.result[0].total.octets_in);
	EXPECT_EQ(210000u, pair.result[1].total.octets_out);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, pair.result[0].tls.tally.full);
	EXPECT_EQ(1u, pair.result[1].tls.tally.full);
	EXPECT_EQ(1u, pair.result[0].setup.count) << "the handshake of TCP";
	EXPECT_EQ(1u, pair.result[0].tls.handshake.count) << "and that of TLS";
	EXPECT_EQ(3u * 5 + 1, pair.result[1].tls.tally.records_out + 1);
	EXPECT_EQ(3u * 5 + 1, pair.result[0].tls.tally.records_in) << "with close_notify";
}

TEST_P(Versions, OnlyTheHandshake)
{
	fg_l4_app client = l4::Client("TCP_CC");
	Options o;

	client.cycles = 20;
	client.connections = 3;
	o.version = GetParam();
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(60u, pair.result[0].total.transactions);
	EXPECT_EQ(60u, pair.result[0].tls.tally.full);
	EXPECT_EQ(60u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
}

TEST_P(Versions, ARecordThatDoesNotFitIsCounted)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	Options o;

	client.octets = 100000;
	o.version = GetParam();
	o.hold = 8192; /* half a record */
	Pair pair(client, o);
	EXPECT_LT(0u, pair.counters[1].held_refused);
	EXPECT_GT(16384u, pair.result[1].total.octets_in);
}

TEST_P(Versions, OneFullHandshakeIsEnough)
{
	fg_l4_app client = l4::Client("TCP_CRR");
	Options o;

	client.cycles = 20;
	client.response = 100;
	o.version = GetParam();
	o.resume = true;
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_EQ(1u, pair.result[0].tls.tally.full);
	EXPECT_EQ(19u, pair.result[0].tls.tally.resumed);
	EXPECT_EQ(19u, pair.result[1].tls.tally.resumed);
}

TEST_P(Versions, HttpGoesThrough)
{
	fg_l4_app client = l4::Client("HTTP");
	Options o;

	client.path = "/20000";
	client.host = "fg.test";
	client.request = 0;
	client.response = 20000;
	client.requests = 4;
	client.cycles = 2;
	o.version = GetParam();
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(8u, pair.result[0].total.transactions);
	EXPECT_EQ(0u, pair.result[0].total.refused);
}

TEST_P(Versions, EverySuiteCarriesAStream)
{
	for (const char *suites : {"TLS_AES_256_GCM_SHA384:ECDHE-ECDSA-CHACHA20-POLY1305",
				   "TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"}) {
		fg_l4_app client = l4::Client("TCP_MAERTS");
		Options o;

		client.octets = 300000;
		o.version = GetParam();
		o.ciphers = suites;
		Pair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_EQ(300000u, pair.result[0].total.octets_in);
	}
}

INSTANTIATE_TEST_SUITE_P(All, Versions, testing::Values(FG_TLS_1_3, FG_TLS_1_2));

TEST(Tls, AStreamThatIsStoppedEndsWithAWholeRecord)
{
	Options o;

	o.stop = 300 * ms;
	Pair pair(l4::Client("TCP_STREAM"), o);
	pair.ExpectNoFaults();
	EXPECT_LT(1000000u, pair.result[1].total.octets_in);
	EXPECT_EQ(pair.result[0].total.octets_out, pair.result[1].total.octets_in);
	EXPECT_EQ(1u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
}

TEST(Tls, WritesOfOneSizeShareWhatIsKnownOfThem)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	Options o;

	client.message = 100;
	client.tcp.nodelay = true;
	client.octets = 50000;
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(50000u, pair.result[1].total.octets_in);
	EXPECT_EQ(500u, pair.result[0].tls.tally.records_out);
}

class Lossy : public testing::TestWithParam<int>
{
};

TEST_P(Lossy, EveryByteArrivesWhateverThePathDoes)
{
	static const char *const kinds[] = {"TCP_STREAM", "TCP_MAERTS", "TCP_RR", "HTTP", "HTTP2"};

	for (int i = 0; i < 25; i++) {
		uint64_t seed = 1000 * GetParam() + i;
		fg_l4_app client = l4::Client(kinds[GetParam()]);
		Options o;

		client.octets = GetParam() < 2 ? 400000 : 0;
		client.path = "/50000";
		client.host = "fg.test";
		client.request = GetParam() >= 3 ? 0 : 5000;
		client.response = 50000;
		client.requests = 8;
		client.cycles = 1;
		client.tcp.retries = 30;
		client.tcp.syn_retries = 12;
		o.stop = 200 * second;
		o.loss = 0.01 * (1 + i % 5);
		o.seed = seed;
		o.version = i % 3 == 2 ? FG_TLS_1_2 : FG_TLS_1_3;
		o.key_update_every = i % 2 == 0 ? 7 : 0;
		o.record = i % 4 == 0 ? 0 : i % 4 == 1 ? 1000 : 16384;
		SCOPED_TRACE(std::string(kinds[GetParam()]) + ", seed " + std::to_string(seed));
		Pair pair(client, o);
		pair.ExpectNoFaults();
		if (GetParam() < 2)
			EXPECT_EQ(400000u, pair.result[1 - GetParam()].total.octets_in);
		else
			EXPECT_EQ(8u, pair.result[0].total.transactions);
		EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
	}
}

INSTANTIATE_TEST_SUITE_P(Kinds, Lossy, testing::Range(0, 5));

TEST(Tls, KeysChangeUnderWay)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	Options o;

	client.octets = 500000;
	o.record = 1000;
	o.key_update_every = 50;
	Pair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(500000u, pair.result[1].total.octets_in);
	EXPECT_EQ(9u, pair.result[0].tls.tally.key_updates_out);
	EXPECT_EQ(9u, pair.result[1].tls.tally.key_updates_in);
}

TEST(Tls, TheSameSeedGivesTheSameResult)
{
	uint64_t mean[2], octets[2];

	for (unsigned i : {0, 1}) {
		Options o;

		o.loss = 0.02;
		o.stop = 300 * ms;
		Pair pair(l4::Client("TCP_CRR"), o);
		mean[i] = (uint64_t)pair.result[0].tls.handshake.mean;
		octets[i] = pair.result[0].tls.tally.handshake_octets_in;
	}
	EXPECT_EQ(mean[0], mean[1]);
	EXPECT_EQ(octets[0], octets[1]);
}

TEST(TlsFaults, AWrongTagEndsTheConnection)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	Options o;

	client.octets = 100000;
	o.corrupt = 12; // behind the handshake
	Pair pair(client, o);
	EXPECT_EQ(1u, pair.result[1].tls.tally.bad_records);
	EXPECT_EQ(1u, pair.result[1].tls.tally.alerts_out[FG_TLS_BAD_RECORD_MAC]);
	EXPECT_EQ(1u, pair.result[0].tls.tally.alerts_in[FG_TLS_BAD_RECORD_MAC]);
	EXPECT_EQ(0u, pair.counters[1].wrong_octets) << "nothing of it has reached the application";
	EXPECT_GT(100000u, pair.result[1].total.octets_in);
	EXPECT_EQ(0u, fg_l4_open(pair.l4[0]) + fg_l4_open(pair.l4[1]));
}

TEST(TlsFaults, PlainHttpAtATlsPort)
{
	fg_l4_app client = l4::Client("HTTP");
	Options o;

	client.path = "/100";
	client.host = "fg.test";
	client.cycles = 1;
	o.plain_client = true;
	Pair pair(client, o);
	EXPECT_EQ(1u, pair.result[1].tls.tally.malformed);
	EXPECT_EQ(1u, pair.result[1].tls.tally.alerts_out[FG_TLS_UNEXPECTED_MESSAGE]);
	EXPECT_EQ(0u, fg_l4_open(pair.l4[0]) + fg_l4_open(pair.l4[1]));
}

TEST(TlsFaults, TlsAtAPlainPort)
{
	fg_l4_app client = l4::Client("HTTP");
	Options o;

	client.path = "/100";
	client.host = "fg.test";
	client.cycles = 1;
	o.plain_server = true;
	Pair pair(client, o);
	EXPECT_EQ(1u, pair.result[0].tls.tally.failed);
	EXPECT_EQ(0u, pair.result[0].tls.tally.full);
	EXPECT_EQ(0u, fg_l4_open(pair.l4[0]) + fg_l4_open(pair.l4[1]));
}

TEST(TlsFaults, IperfDoesNotGoThroughTls)
{
	fg_l4_app app = l4::Client("UDP_RR");
	fg_secure_config tls = Tls(false, FG_TLS_1_3);
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	app.tls = &tls;
	config.connections = 10;
	config.mtu = 1500;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &app, &l4, &err));
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
/*
 * QUIC between two workers: every byte is compared by the applications, every connection accounted for, and
 * what the path did is what the figures say.
 */
#include "l4_quic.h"

namespace
{
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

TEST(Quic, RequestsAndTheirResponsesGoThrough)
{
	fg_l4_app client = l4::Client("TCP_RR");

	client.requests = 3;
	client.cycles = 1;
	client.request = 200;
	client.response = 70000;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(3u, pair.result[0].total.transactions);
	EXPECT_EQ(210000u, pair.result[0].total.octets_in);
	EXPECT_EQ(210000u, pair.result[1].total.octets_out);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, pair.Tally(0).handshakes);
	EXPECT_EQ(1u, pair.Tally(1).handshakes);
	EXPECT_EQ(1u, pair.result[0].setup.count);
	EXPECT_EQ(pair.result[0].setup.max, pair.result[0].quic.handshake.max);
	EXPECT_NEAR(4 * ms, pair.result[0].setup.max, ms) << "one round trip";
	EXPECT_STREQ("TLS_AES_128_GCM_SHA256", pair.result[0].quic.agreed.cipher);
	EXPECT_STREQ("X25519", pair.result[0].quic.agreed.group);
	EXPECT_STREQ("perf", pair.result[0].quic.agreed.alpn);
}

TEST(Quic, OnlyTheHandshake)
{
	fg_l4_app client = l4::Client("TCP_CC");

	client.cycles = 20;
	client.connections = 3;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(60u, pair.result[0].total.transactions);
	EXPECT_EQ(60u, pair.Tally(0).handshakes);
	EXPECT_EQ(60u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
}

TEST(Quic, AStreamEachWay)
{
	for (const char *kind : {"TCP_STREAM", "TCP_MAERTS"}) {
		fg_l4_app client = l4::Client(kind);

		QuicPair pair(client, {});
		unsigned to = client.kind[4] == 'S' ? 1 : 0;
		pair.ExpectNoFaults();
		EXPECT_LT(20000000u, pair.result[to].total.octets_in) << kind;
		EXPECT_EQ(pair.result[1 - to].total.octets_out, pair.result[to].total.octets_in) << kind;
		EXPECT_EQ(0u, pair.Tally(1 - to).packets_lost) << kind;
		EXPECT_EQ(0u, pair.Tally(1 - to).octets_sent_again) << kind;
	}
}

TEST(Quic, ACloseForEachRequest)
{
	fg_l4_app client = l4::Client("TCP_CRR");

	client.cycles = 10;
	client.response = 5000;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(10u, pair.result[0].total.transactions);
	EXPECT_EQ(50000u, pair.result[0].total.octets_in);
}

TEST(Quic, AFileIsSentFromWhereItLies)
{
	fg_l4_app client = l4::Client("TCP_SENDFILE");

	client.file = "/proc/self/exe";
	client.octets = 300000;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(300000u, pair.result[1].total.octets_in);
}

TEST(Quic, ManyConnectionsEachWithIdsOfItsOwn)
{
	fg_l4_app client = l4::Client("TCP_CC");

	QuicOptions o;

	client.connections = 20;
	o.stop = 200 * ms;
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(300u, pair.result[0].total.transactions);
	EXPECT_EQ(pair.result[0].total.opened, pair.result[0].total.transactions);
}

class QuicLossy : public testing::TestWithParam<int>
{
};

TEST_P(QuicLossy, EveryByteArrivesWhateverThePathDoes)
{
	static const char *const kinds[] = {"TCP_STREAM", "TCP_MAERTS", "TCP_RR"};

	for (int i = 0; i < 6; i++) {
		fg_l4_app client = l4::Client(kinds[GetParam()]);
		QuicOptions o;

		client.octets = GetParam() < 2 ? 400000 : 0;
		client.request = 5000;
		client.response = 20000;
		client.requests = 5;
		client.cycles = 1;
		client.connections = 2;
		o.seed = 100 * GetParam() + i;
		o.loss = o.reorder = 0.02 * (i % 3);
		o.duplicate = 0.01;
		o.stop = 60 * second;
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		if (GetParam() < 2)
			EXPECT_EQ(800000u, pair.result[1 - GetParam()].total.octets_in) << o.seed;
		else
			EXPECT_EQ(10u, pair.result[0].total.transactions) << o.seed;
	}
}

INSTANTIATE_TEST_SUITE_P(All, QuicLossy, testing::Values(0, 1, 2));

TEST(Quic, WhatIsLostIsWhatThePathLost)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	QuicOptions o;
	unsigned full = 0, dropped = 0;

	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		bool drop = from == 0 && frame.size() == l4::DATAGRAM + 1452 && full++ % 50 == 49;

		dropped += drop;
		return !drop;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(20u, dropped);
	EXPECT_EQ(dropped, pair.Tally(0).packets_lost);
	EXPECT_EQ(0u, pair.Tally(0).packets_spurious);
	EXPECT_NEAR(dropped * 1418.0, pair.Tally(0).octets_sent_again, dropped * 10.0);
	EXPECT_EQ(0u, pair.Tally(1).packets_lost);
	EXPECT_EQ(pair.Tally(0).packets_out - dropped, pair.Tally(1).packets_in);
	EXPECT_NEAR(pair.Tally(1).acks_out, pair.Tally(0).acks_in, 1) << "the last may go to nobody";
}

TEST(Quic, WhatIsOnlyLateIsSpurious)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	QuicOptions o;

	o.reorder = 0.01;
	o.stop = 300 * ms;
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(0u, pair.Tally(0).packets_spurious);
	EXPECT_EQ(pair.Tally(0).packets_lost, pair.Tally(0).packets_spurious);
}

/* no acknowledgement comes back for a while, so probes send a part of what is under way again */
TEST(Quic, OnlyWhatAProbeSendsAgainIsLost)
{
	fg_l4_app client = l4::Client("TCP_RR");
	QuicOptions o;
	unsigned came = 0, dropped = 0;

	client.request = 10000;
	client.requests = 2;
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		bool drop = from == 1 && ++came > 6 && dropped < 8;

		dropped += drop;
		return !drop;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(0u, pair.Tally(0).packets_lost);
	EXPECT_NEAR(pair.Tally(0).packets_lost * 1418.0, pair.Tally(0).octets_sent_again, 100);
}

TEST(Quic, AChangedByteIsFoundOut)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	QuicOptions o;
	unsigned n = 0;

	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		if (from == 0 && n++ == 20) {
			frame.back() ^= 1;
			l4::WithoutChecksum(frame);
		}
		return true;
	};
	o.stop = 100 * ms;
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(1u, pair.Tally(1).undecryptable);
	EXPECT_EQ(1u, pair.Tally(0).packets_lost);
}

TEST(Quic, KeysChangeUnderWay)
{
	for (unsigned by : {0, 1}) {
		fg_l4_app client = l4::Client("TCP_STREAM");
		QuicOptions o;

		o.set = [=](fg_quic_config &client, fg_quic_config &server) {
			(by == 0 ? client : server).key_update_every = by == 0 ? 1000 : 100;
		};
		o.loss = 0.001;
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_LT(5u, pair.Tally(by).key_updates) << by;
		EXPECT_GE(pair.Tally(by).packets_out / (by == 0 ? 1000 : 100), pair.Tally(by).key_updates);
		EXPECT_NEAR(pair.Tally(0).key_updates, pair.Tally(1).key_updates, 1);
		EXPECT_EQ(0u, pair.Tally(0).undecryptable + pair.Tally(1).undecryptable);
	}
}

TEST(Quic, RetryTakesARoundTrip)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;

	client.cycles = 5;
	o.set = [](fg_quic_config &, fg_quic_config &server) { server.retry = true; };
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(5u, pair.result[0].total.transactions);
	EXPECT_EQ(5u, pair.Tally(0).retries);
	EXPECT_EQ(5u, pair.Tally(1).retries);
	EXPECT_NEAR(8 * ms, pair.result[0].setup.max, ms);
}

/* the first datagram of a client is changed; it sends another one when nothing useful comes */
static void
ExpectRecovery(std::function<void(std::vector<uint8_t> &)> change, uint64_t negotiations)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;
	unsigned n = 0;

	client.cycles = 1;
	o.stop = 5 * second;
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		if (from == 0 && n++ == 0) {
			change(frame);
			l4::WithoutChecksum(frame);
		}
		return true;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(1u, pair.result[0].total.transactions);
	EXPECT_EQ(negotiations, pair.Tally(1).version_negotiations);
	EXPECT_EQ(2 - negotiations, pair.Tally(1).discarded) << "and the client's close, when it comes again";
	EXPECT_EQ(1u, pair.Tally(1).handshakes);
}

TEST(Quic, AnUnknownVersionIsAnsweredByOurs)
{
	ExpectRecovery([](std::vector<uint8_t> &frame) { memset(&frame[l4::DATAGRAM + 1], 0x5a, 4); }, 1);
}

TEST(Quic, WhatBeginsNoConnectionIsDropped)
{
	ExpectRecovery([](std::vector<uint8_t> &frame) { frame[l4::DATAGRAM] &= ~0x40; }, 0);
	ExpectRecovery([](std::vector<uint8_t> &frame) { frame[l4::DATAGRAM] &= ~0x80; }, 0);
	ExpectRecovery([](std::vector<uint8_t> &frame) { frame[l4::DATAGRAM + 5] = 21; }, 0);
	ExpectRecovery([](std::vector<uint8_t> &frame) { frame[l4::DATAGRAM + 100] ^= 1; }, 0);
}

TEST(Quic, AServerThatIsFullRefuses)
{
	fg_l4_app client = l4::Client("TCP_MAERTS");
	QuicOptions o;

	client.connections = 4;
	client.cycles = 1;
	o.connections[1] = 3;
	o.stop = 100 * ms;
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.counters[1].table_full);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_REFUSED]);
	EXPECT_EQ(3u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, pair.Tally(0).closed_with_error_in);
	EXPECT_STREQ("the peer: error 0x2 ", pair.result[0].quic.reason);
}

TEST(Quic, NobodyAnswers)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;

	client.cycles = 1;
	o.server = false;
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_NO_ANSWER]);
	EXPECT_EQ(1u, pair.Tally(0).failed);
	EXPECT_EQ(1u, pair.Tally(0).timed_out);
	EXPECT_LT(3u, pair.Tally(0).datagrams_out) << "it asked again";
}

TEST(Quic, APeerThatFallsSilentIsLost)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	QuicOptions o;
	unsigned n = 0;

	o.path = [&](unsigned, std::vector<uint8_t> &) { return n++ < 100; };
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_LOST]);
	EXPECT_EQ(1u, pair.result[1].total.ended[FG_L4_END_LOST]);
}

/* what a client says last is as short as an acknowledgement */
static bool
IsShort(unsigned from, const std::vector<uint8_t> &frame)
{
	return from == 0 && frame.size() <= l4::DATAGRAM + 31;
}

TEST(Quic, ALostCloseIsSaidAgainAndLeavesNobodyBehind)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;
	unsigned closes = 0;

	client.cycles = 1;
	o.look = 250 * ms; /* three PTO of 37 ms each, and two round trips before */
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		return !IsShort(from, frame) || closes++ > 0;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(2u, closes);
	EXPECT_EQ(1u, pair.result[1].total.ended[FG_L4_END_CLOSED]);
}

TEST(Quic, AClientWhoseCloseNeverComesIsGivenUpAfterItsSilence)
{
	for (uint64_t look : {1900 * ms, 2200 * ms}) {
		fg_l4_app client = l4::Client("TCP_CC");
		QuicOptions o;

		client.cycles = 1;
		o.look = look;
		o.set = [](fg_quic_config &, fg_quic_config &server) { server.idle_ns = 2 * second; };
		o.path = [](unsigned from, std::vector<uint8_t> &frame) { return !IsShort(from, frame); };
		QuicPair pair(client, o);
		EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(0u, fg_l4_open(pair.l4[0]));
		EXPECT_EQ(look < 2 * second ? 1u : 0u, fg_l4_open(pair.l4[1]));
		EXPECT_EQ(1u - fg_l4_open(pair.l4[1]), pair.result[1].total.ended[FG_L4_END_LOST]);
	}
}

TEST(Quic, TheNameMustBeTheCertificates)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;

	client.cycles = 1;
	o.set = [](fg_quic_config &c, fg_quic_config &) { c.tls.server_name = "other.example"; };
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_ABORTED]);
	EXPECT_EQ(1u, pair.Tally(0).certificates_refused);
	EXPECT_EQ(1u, pair.Tally(0).failed);
	EXPECT_EQ(1u, pair.Tally(1).failed);
	EXPECT_EQ(1u, pair.Tally(1).closed_with_error_in);
	EXPECT_EQ(0u, pair.result[1].total.opened) << "its application never learned of it";
}

TEST(Quic, ProtocolsMustAgree)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;

	client.cycles = 1;
	o.set = [](fg_quic_config &c, fg_quic_config &s) {
		c.tls.alpn = "perf";
		s.tls.alpn = "h3,hq-interop";
	};
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.Tally(0).failed);
	EXPECT_EQ(1u, pair.Tally(1).closed_with_error_out);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_REFUSED]);
	EXPECT_STREQ("the peer: error 0x178 ", pair.result[0].quic.reason);
}

TEST(Quic, TheKeyLogHasEverySecret)
{
	fg_l4_app client = l4::Client("TCP_CC");
	QuicOptions o;

	client.cycles = 1;
	o.set = [](fg_quic_config &c, fg_quic_config &) { c.tls.key_log = 100; };
	QuicPair pair(client, o);
	for (const char *label : {"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_HANDSHAKE_TRAFFIC_SECRET ",
				  "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "})
		EXPECT_NE(nullptr, strstr(pair.result[0].quic.key_log, label)) << label;
}

TEST(Quic, AKindThatCannotRefuses)
{
	fg_l4_app app = l4::Client("HTTP");
	fg_quic_config quic = l4::Quic(false);
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	config.connections = 10;
	config.mtu = 1500;
	app.path = "/1";
	app.host = "fg.test";
	app.quic = &quic;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &app, &l4, &err));
	EXPECT_STREQ("this kind does not go through QUIC", err.message);
}
} // namespace

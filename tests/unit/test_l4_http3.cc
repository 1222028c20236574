// SPDX-License-Identifier: BSD-3-Clause
/*
 * HTTP/3 between two workers: every byte of every body is compared, every request answered or accounted for,
 * whatever the path does.
 */
#include "l4_http3.h"

namespace
{
using l4::Http3;
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

TEST(Http3, RequestsAndTheirResponsesGoThrough)
{
	fg_l4_app client = Http3(20000);

	client.requests = 100;
	client.cycles = 2;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(200u, pair.result[0].total.transactions);
	EXPECT_EQ(200u, pair.result[1].total.transactions);
	EXPECT_EQ(0u, pair.result[0].total.refused);
	EXPECT_EQ(200u, pair.result[0].transaction.count);
	EXPECT_EQ(2u, pair.result[0].first_octet.count);
	EXPECT_EQ(2u, pair.result[0].last_octet.count);
	EXPECT_EQ(2u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
	EXPECT_LT(200u * 20000, pair.result[0].total.octets_in);
	EXPECT_GT(200u * 20100, pair.result[0].total.octets_in);
	EXPECT_EQ(0u, pair.Tally(0).octets_sent_again + pair.Tally(1).octets_sent_again);
	EXPECT_STREQ("h3", pair.result[0].quic.agreed.alpn);
}

TEST(Http3, OneRequestAtATimeTakesARoundTripEach)
{
	fg_l4_app client = Http3(100);

	client.requests = 20;
	client.cycles = 1;
	client.streams = 1;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(20u, pair.result[0].total.transactions);
	EXPECT_NEAR(4 * ms, pair.result[0].transaction.mean, ms / 4.0);
}

TEST(Http3, ManyRequestsAtATimeShareTheirPackets)
{
	fg_l4_app client = Http3(0);

	client.requests = 256;
	client.cycles = 1;
	client.streams = 256;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(256u, pair.result[0].total.transactions);
	EXPECT_GT(60u, pair.Tally(0).packets_out) << "a request takes some 60 bytes";
}

TEST(Http3, TheServerSaysHowManyRequestsAtATime)
{
	fg_l4_app client = Http3(1000);
	QuicOptions o;

	client.streams = 100;
	o.stop = 200 * ms;
	o.set = [](fg_quic_config &, fg_quic_config &server) { server.streams = 3; };
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	/* it hears that a response has arrived, and then says that there may be another one */
	EXPECT_NEAR(3 * 200 / 8, pair.result[0].total.transactions, 5) << "three in two round trips";
}

TEST(Http3, BodiesThatAreSent)
{
	fg_l4_app client = Http3(0);

	client.request = 300000;
	client.response = 0;
	client.requests = 10;
	client.cycles = 1;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(10u, pair.result[0].total.transactions);
	EXPECT_LT(3000000u, pair.result[1].total.octets_in);
}

TEST(Http3, HeadsWithoutBodies)
{
	fg_l4_app client = Http3(5000);

	client.head = true;
	client.requests = 10;
	client.cycles = 1;
	QuicPair pair(client, {});
	pair.ExpectNoFaults();
	EXPECT_EQ(10u, pair.result[0].total.transactions);
	EXPECT_GT(2000u, pair.result[0].total.octets_in);
}

TEST(Http3, AResponseOfAnotherLengthIsNoTransaction)
{
	fg_l4_app client = Http3(5000);

	client.response = 4000;
	client.requests = 10;
	client.cycles = 1;
	QuicPair pair(client, {});
	EXPECT_EQ(0u, pair.result[0].total.transactions);
	EXPECT_EQ(10u, pair.result[0].total.refused);
	EXPECT_EQ(10u, pair.result[0].total.own[MESSAGE_LENGTH]);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_CLOSED]);
}

TEST(Http3, PausesBetweenResponsesAndRequests)
{
	fg_l4_app client = Http3(100);

	client.requests = 40;
	client.cycles = 1;
	client.streams = 10;
	client.think_ns = 100 * ms;
	for (unsigned rounds : {2, 3}) {
		QuicOptions o;

		o.stop = rounds * 105 * ms; /* a round trip of 4 ms each, and one for the handshake */
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_EQ(10 * rounds, pair.result[0].total.transactions);
	}
}

TEST(Http3, SmallWindows)
{
	const uint64_t wide = 1 << 20;
	const std::pair<uint64_t, uint64_t> windows[] = {{3000, 6000}, {20000, 40000}, {wide, 5000}};

	for (auto [of_stream, of_connection] : windows) {
		fg_l4_app client = Http3(30000);
		QuicOptions o;

		client.requests = 20;
		client.cycles = 1;
		o.set = [of_stream = of_stream, of_connection = of_connection](fg_quic_config &c,
									       fg_quic_config &s) {
			c.stream_window = s.stream_window = of_stream;
			c.window = s.window = of_connection;
		};
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_EQ(20u, pair.result[0].total.transactions) << of_stream;
	}
}

TEST(Http3, ConnectionsThatLastUntilTheEnd)
{
	fg_l4_app client = Http3(2000);
	QuicOptions o;

	client.connections = 10;
	client.streams = 4;
	o.stop = 300 * ms;
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(10u, pair.result[0].total.opened);
	EXPECT_LT(1000u, pair.result[0].total.transactions);
	EXPECT_EQ(pair.result[0].total.transactions, pair.result[1].total.transactions);
}

TEST(Http3, EveryByteArrivesWhateverThePathDoes)
{
	uint64_t again = 0, lost = 0;

	for (unsigned seed = 1; seed <= 6; seed++) {
		fg_l4_app client = Http3(40000);
		QuicOptions o;

		client.requests = 20;
		client.cycles = 2;
		client.streams = 8;
		o.seed = seed;
		o.loss = 0.03;
		o.reorder = seed % 2 * 0.05;
		o.duplicate = 0.02;
		o.stop = 60 * second;
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_EQ(40u, pair.result[0].total.transactions) << seed;
		again += pair.Tally(1).octets_sent_again;
		lost += pair.Tally(1).packets_lost;
	}
	EXPECT_LT(100u, lost);
	EXPECT_LT(100u * 1000, again);
}

TEST(Http3, LossesAreOfEachStream)
{
	fg_l4_app client = Http3(2000); /* all streams have the same positions */
	QuicOptions o;

	client.requests = 1000;
	client.cycles = 1;
	client.streams = 20;
	o.loss = 0.03;
	o.stop = 60 * second;
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	uint64_t lost = pair.Tally(1).packets_out - pair.Tally(0).packets_in;
	uint64_t counted = pair.Tally(1).packets_lost - pair.Tally(1).packets_spurious;
	EXPECT_LT(30u, lost);
	EXPECT_GE(lost, counted);
	EXPECT_GT(lost / 4, pair.Tally(1).packets_spurious) << "probes, but no packets of other streams";
	EXPECT_LT(lost * 3 / 4, counted) << "but for those with acknowledgements alone";
}

TEST(Http3, ItsKindIsNotForTcp)
{
	fg_l4_app client = Http3(100);
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	config.connections = 1;
	config.mtu = 1500;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &client, &l4, &err));
	EXPECT_STREQ("HTTP3 goes through QUIC alone", err.message);
}

/*
 * The line takes all that the server has at once, so that is always blocked while the response is under way,
 * except for the ways of 2 ms of the request and the last bytes, and in slow start two rounds with less in
 * flight than the window.
 */
TEST(Http3, TheTimeThatWindowsKeepDataBack)
{
	const uint64_t wide = 1 << 24;

	for (bool of_stream : {true, false}) {
		const uint64_t window = 50000, body = 2000000;
		fg_l4_app client = Http3(uint32_t(body));
		QuicOptions o;

		client.requests = 1;
		client.cycles = 1;
		client.streams = 1;
		o.set = [&](fg_quic_config &c, fg_quic_config &s) {
			c.stream_window = s.stream_window = of_stream ? window : wide;
			c.window = s.window = of_stream ? wide : window;
		};
		QuicPair pair(client, o);
		const fg_l4_result &s = pair.result[1];
		const double blocked =
			double(s.flow_blocked_ns[of_stream ? FG_L4_WINDOW_STREAM : FG_L4_WINDOW_CONNECTION]);
		const double waited = double(pair.result[0].transaction.max) - 4e6 - 2 * 4.3e6;

		pair.ExpectNoFaults();
		EXPECT_EQ(1u, pair.result[0].total.transactions);
		EXPECT_NEAR(waited, blocked, 0.02 * waited) << of_stream;
		EXPECT_EQ(0u, s.flow_blocked_ns[of_stream ? FG_L4_WINDOW_CONNECTION : FG_L4_WINDOW_STREAM]);
	}
}

/* the client falls silent in the middle of a response: the time counts to the end of the figures */
TEST(Http3, TheTimeThatAWindowStaysClosed)
{
	fg_l4_app client = Http3(2000000);
	fg_l4_result end;
	unsigned heard = 0;
	QuicOptions o;

	client.requests = client.cycles = client.streams = 1;
	o.look = 2 * second;
	o.path = [&](unsigned from, std::vector<uint8_t> &) { return from == 1 || heard++ < 20; };
	o.set = [](fg_quic_config &c, fg_quic_config &) { c.stream_window = 50000; };
	QuicPair pair(client, o);
	fg_l4_finish(pair.l4[1], 3 * second);
	fg_l4_read(pair.l4[1], 0, &end);
	EXPECT_LT(second / 2, end.flow_blocked_ns[FG_L4_WINDOW_STREAM]);
	EXPECT_GT(second, end.flow_blocked_ns[FG_L4_WINDOW_STREAM]);
	EXPECT_GT(second / 2, pair.result[1].flow_blocked_ns[FG_L4_WINDOW_STREAM]);
}

/* at the rate that was asked for; more than 1,000 in a second end the connection */
/* a server ends only what it learns of: also where an answer would be there before the next request is due */
TEST(Http3, AFloodOfResetsThatAServerBearsOrEnds)
{
	const std::pair<double, uint64_t> loads[] = {
		{500, 2 * ms}, {2500, 2 * ms}, {100, 50000}, {2500, 50000}};

	for (auto [rate, delay] : loads) {
		fg_l4_app client = Http3(100);
		l4::QuicOptions o;

		SCOPED_TRACE(std::to_string(rate) + " a second, one way in ns " + std::to_string(delay));
		client.flood = FG_L4_FLOOD_RST;
		client.requests = 0;
		client.flood_per_s = rate;
		client.connections = 1;
		o.stop = 2 * l4::second;
		o.delay = delay;
		l4::QuicPair pair(client, o);
		const fg_l4_result &c = pair.result[0], &s = pair.result[1];
		const uint64_t faulty = s.total.own[MESSAGE_FAULTY];

		EXPECT_LT(0u, c.total.transactions);
		if (rate < 1000) {
			pair.ExpectNoFaults();
			EXPECT_EQ(0u, faulty);
			EXPECT_NEAR(2 * rate, double(c.flooded), 2 + 0.03 * 2 * rate);
		} else { /* each connection lasts for 1,001 of them and the way there and back */
			EXPECT_NEAR(2 * rate / 1001, double(faulty), 1.1);
			EXPECT_GE(c.flooded, 1001 * faulty);
			EXPECT_STREQ("the peer: error 0x107",
				     std::string(c.quic.reason).substr(0, 21).c_str());
		}
	}
}
} // namespace

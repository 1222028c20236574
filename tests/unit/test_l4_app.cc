/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients and servers of each kind, two workers with a wire of known length between them, and what they
 * count. */
#include "l4_wire.h"

using namespace l4;

namespace
{
/* of a line of 10 Mbit/s with full segments and time stamps: metrics, 8 */
const double line_octets = 10e6 / 8 * (1500 - 52) / 1538;
} /* namespace */

TEST(L4App, StreamFillsTheLine)
{
	Wire w(Client("TCP_STREAM"), 4 * second, second);
	fg_l4_result c = w.Client(), s = w.Server();

	EXPECT_EQ(3 * second, s.measured_ns);
	EXPECT_NEAR(3 * line_octets, double(s.measured.octets_in), 0.002 * 3 * line_octets);
	EXPECT_EQ(c.total.octets_out, s.total.octets_in);
	EXPECT_EQ(1u, c.total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, s.total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

/* the table that finds it has room for 4096, and is not one connection's */
TEST(L4App, AConnectionHasItsOwnMemory)
{
	Wire w(Client("TCP_RR"));
	fg_l4_memory memory;

	fg_l4_read_memory(w.l4[0], &memory);
	EXPECT_EQ(1u, memory.connections);
	EXPECT_EQ(256u + 4, memory.octets);
}

/* the same bytes in fewer frames, and each that the receiver gets in one piece is acknowledged at once */
TEST(L4App, StreamsLeaveCuttingToThePort)
{
	fg_l4_app a = Client("TCP_STREAM");

	a.octets = 1234567;
	a.connections = 3;
	Wire plain(a), w(a, 10 * second, 0, 0, true);
	fg_l4_counters one, many;

	EXPECT_EQ(3 * 1234567u, w.Server().total.octets_in);
	EXPECT_EQ(3u, w.Client().total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
	EXPECT_EQ(0u, plain.cut);
	EXPECT_LT(50u, w.cut);
	fg_l4_read_counters(plain.l4[0], &many);
	fg_l4_read_counters(w.l4[0], &one);
	EXPECT_LT(3 * one.tx_frames, 2 * many.tx_frames);
	EXPECT_EQ(0u, one.segments_retransmitted);
	fg_l4_read_counters(w.l4[1], &one);
	EXPECT_LE(w.cut, one.tx_frames);
}

TEST(L4App, MaertsFillsTheLineTheOtherWay)
{
	Wire w(Client("TCP_MAERTS"), 4 * second, second);

	EXPECT_NEAR(3 * line_octets, double(w.Client().measured.octets_in), 0.002 * 3 * line_octets);
	EXPECT_EQ(w.Server().total.octets_out, w.Client().total.octets_in);
	w.ExpectNoFaults();
}

TEST(L4App, StreamOfSoManyOctetsEndsByItself)
{
	fg_l4_app a = Client("TCP_STREAM");

	a.octets = 123457;
	a.connections = 3;
	Wire w(a);
	EXPECT_EQ(3 * 123457u, w.Server().total.octets_in);
	EXPECT_EQ(3u, w.Client().total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(3u, w.Client().total.opened);
	w.ExpectNoFaults();
}

TEST(L4App, TransactionsTakeARoundTrip)
{
	fg_l4_app a = Client("TCP_RR");

	a.request = 100;
	a.response = 200;
	Wire w(a);
	fg_l4_result c = w.Client();
	/* TCP over IPv4 with time stamps: 66 bytes of headers, 24 around the frame */
	double rtt = 2e6 + (100 + 66 + 24 + 200 + 66 + 24) * 800;

	EXPECT_NEAR(rtt, c.transaction.mean, 1e-3 * rtt);
	EXPECT_NEAR(2e9 / rtt, double(c.measured.transactions), 2);
	EXPECT_EQ(c.measured.transactions, c.transaction.count);
	EXPECT_EQ(1u, c.total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

TEST(L4App, ConnectRequestResponseCloseOverAndOver)
{
	for (const char *kind : {"TCP_CRR", "TCP_CC"}) {
		fg_l4_app a = Client(kind);

		a.connections = 4;
		Wire w(a);
		fg_l4_result c = w.Client(), s = w.Server();

		EXPECT_LT(1000u, c.measured.transactions);
		EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(c.total.opened, s.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(c.total.opened, c.total.transactions);
		EXPECT_EQ(4u, c.concurrent_max);
		w.ExpectNoFaults();
	}
}

TEST(L4App, FewPortsAreUsedAgainOutOfTimeWait)
{
	fg_l4_app a = Client("TCP_CRR");
	fg_l4_counters counters;

	a.port_last = a.port_first + 9;
	a.tcp.time_wait_ms = 60000;
	Wire w(a);
	fg_l4_read_counters(w.l4[1], &counters); /* the server closes first */
	EXPECT_LT(200u, w.Client().measured.transactions);
	EXPECT_LT(200u, counters.time_wait_reused);
	EXPECT_EQ(w.Client().total.opened, w.Client().total.ended[FG_L4_END_CLOSED]);
}

TEST(L4App, RampOpensSoManyASecond)
{
	fg_l4_app a = Client("TCP_RR");
	fg_l4_interval series[8];

	a.connections = 25;
	a.connections_start = 5;
	a.connections_per_s = 10;
	Wire w(a, 4 * second, 0, second);
	ASSERT_EQ(4u, fg_l4_series(w.l4[0], 0, series, 8));
	/* the last of a second opens with the next */
	EXPECT_EQ(14u, series[0].open);
	EXPECT_EQ(24u, series[1].open);
	EXPECT_EQ(25u, series[2].open);
	EXPECT_EQ(25u, w.Client().concurrent_max);
	w.ExpectNoFaults();
}

TEST(L4App, SeriesAddsUpToTheTotal)
{
	fg_l4_interval series[16];
	Wire w(Client("TCP_STREAM"), 3 * second, second / 2, second / 4);
	uint64_t sum = 0;
	unsigned n = fg_l4_series(w.l4[1], 0, series, 16);

	ASSERT_EQ(10u, n);
	for (unsigned i = 0; i < n; i++)
		sum += series[i].octets_in;
	EXPECT_EQ(w.Server().measured.octets_in, sum);
}

TEST(L4App, UdpStreamAtItsRate)
{
	fg_l4_app a = Client("UDP_STREAM");

	a.datagrams_per_s = 500;
	a.connections = 4;
	Wire w(a);
	fg_l4_result c = w.Client(), s = w.Server();

	EXPECT_EQ(1000u, c.total.datagrams_out);
	EXPECT_EQ(1000u, s.total.datagrams_in);
	EXPECT_EQ(1000u * 1000, s.total.datagram_octets_in);
	EXPECT_EQ(0u, s.lost + s.duplicates + s.reordered);
	EXPECT_NEAR(0, s.jitter_ns, 1000);
	EXPECT_EQ(0u, c.off_schedule);
	w.ExpectNoFaults();
}

/* what a client counts without any answer, in a second of a tester that looks in only every 10 ms */
static fg_l4_result
LookedInEvery10Ms(const fg_l4_app &a, uint64_t max_lag)
{
	fg_l4_config config = {};
	fg_l4 *l4;
	fg_burst burst = {};
	std::vector<uint8_t> memory(FG_BURST_ROOMS * 2048);
	fg_l4_result r = {};

	config.connections = 16;
	config.mtu = 1500;
	config.max_lag_ns = max_lag;
	EXPECT_EQ(0, fg_l4_create(&config, 1, &a, &l4, nullptr));
	EXPECT_EQ(0, fg_l4_schedule(l4, second, 2 * second, 0, 0, nullptr));
	burst.rooms = FG_BURST_ROOMS;
	burst.capacity = 2048;
	for (unsigned i = 0; i < FG_BURST_ROOMS; i++)
		burst.room[i] = &memory[i * 2048];
	for (uint64_t now = second; now < 2 * second; now += 10 * ms) {
		burst.frames = 0;
		fg_l4_endpoint(l4)->poll(fg_l4_endpoint(l4), now, &burst);
	}
	fg_l4_read(l4, 0, &r);
	fg_l4_free(l4);
	return r;
}

/* what is no later than max_lag is sent, what is later is not; and what is late at all is counted */
TEST(L4App, DatagramsAreLeftOutWhenTheyAreLaterThanMaxLag)
{
	const struct {
		uint64_t max_lag;
		unsigned expected;
	} cases[] = {{10 * ms, 1000}, {5 * ms + ms / 2, 600}, {ms + ms / 2, 200}};
	fg_l4_app stream = Client("UDP_STREAM"), requests = Client("UDP_RR");

	stream.datagrams_per_s = requests.requests_per_s = 1000;
	requests.connections = 1000;
	for (const auto &one : cases)
		for (const auto &a : {stream, requests}) {
			fg_l4_result r = LookedInEvery10Ms(a, one.max_lag);

			EXPECT_NEAR(one.expected, double(r.total.datagrams_out), 10) << one.max_lag;
			/* of ten that came due together all but two are later than a gap */
			EXPECT_NEAR(800, double(r.off_schedule), 10) << one.max_lag;
			EXPECT_NEAR(std::min(one.max_lag, 9 * ms), r.lag_max_ns, ms) << one.max_lag;
		}
}

/* a request that waits until another has been answered, or has expired, is not late by the tester's doing */
TEST(L4App, RequestsThatWaitForASlotAreOnSchedule)
{
	fg_l4_app a = Client("UDP_RR");
	fg_l4_result r;

	a.requests_per_s = 1000;
	a.connections = 1;
	a.timeout_ns = 20 * ms;
	r = LookedInEvery10Ms(a, 10 * ms);
	EXPECT_LT(40u, r.total.datagrams_out);
	EXPECT_EQ(0u, r.off_schedule);
}

TEST(L4App, UdpStreamAsFastAsTheLine)
{
	Wire w(Client("UDP_STREAM"));
	double most = 10e6 / 8 / (1000 + 42 + 24) * 2;

	EXPECT_NEAR(most, double(w.Server().measured.datagrams_in), 0.005 * most);
	EXPECT_EQ(w.Client().total.datagrams_out, w.Server().total.datagrams_in);
}

TEST(L4App, UdpTransactionsTakeARoundTrip)
{
	fg_l4_app a = Client("UDP_RR");

	a.connections = 3;
	Wire w(a);
	fg_l4_result c = w.Client();
	double rtt = 2e6 + 2 * (60 + 24) * 800;

	EXPECT_NEAR(3 * 2e9 / rtt, double(c.measured.transactions), 0.06 * 3 * 2e9 / rtt);
	EXPECT_EQ(0u, c.total.expired);
	w.ExpectNoFaults();
}

TEST(L4App, HttpRequestsOnConnectionsThatLastOrDoNot)
{
	for (unsigned body : {0u, 3000u}) {
		for (unsigned requests : {0u, 1u, 5u}) {
			fg_l4_app a = Client("HTTP");

			a.path = "/octets/5000";
			a.host = "198.19.0.1";
			a.request = body;
			a.response = body > 0 ? 0 : 5000;
			a.requests = requests;
			a.connections = 3;
			Wire w(a);
			fg_l4_result c = w.Client(), s = w.Server();

			EXPECT_LT(100u, c.measured.transactions);
			EXPECT_EQ(c.total.transactions, s.total.transactions);
			EXPECT_EQ(0u, c.total.refused);
			EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
			EXPECT_EQ(c.total.opened, s.total.ended[FG_L4_END_CLOSED]);
			if (requests == 0)
				EXPECT_EQ(3u, c.total.opened);
			else
				EXPECT_LE((c.total.transactions + requests - 1) / requests, c.total.opened);
			w.ExpectNoFaults();
		}
	}
}

TEST(L4App, HttpResponseOfAnotherLengthIsRefused)
{
	fg_l4_app a = Client("HTTP");

	a.path = "/octets/5000";
	a.host = "198.19.0.1";
	a.request = 0;
	a.response = 4999;
	Wire w(a, second / 10);
	const unsigned http_length = 3;
	EXPECT_STREQ("http_length", fg_l4_own_name("HTTP", http_length));
	EXPECT_EQ(0u, w.Client().total.transactions);
	EXPECT_LT(10u, w.Client().total.refused);
	EXPECT_EQ(w.Client().total.refused, w.Client().total.own[http_length]);
	EXPECT_EQ(w.Server().total.transactions, w.Client().total.refused);
	EXPECT_EQ(1u, w.Client().total.opened);
	w.ExpectNoFaults();
}

TEST(L4App, HttpHeadsHaveNoBody)
{
	fg_l4_app a = Client("HTTP");

	a.path = "/octets/5000";
	a.host = "198.19.0.1";
	a.request = 0;
	a.head = true;
	a.response = 5000;
	Wire w(a, second / 10);
	EXPECT_LT(20u, w.Client().total.transactions);
	EXPECT_EQ(w.Server().total.transactions, w.Client().total.transactions);
	EXPECT_GT(5000u * 20, w.Client().total.octets_in);
	EXPECT_EQ(0u, w.Client().total.refused);
	w.ExpectNoFaults();
}

TEST(L4App, RefusesWhatMakesNoSense)
{
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	config.connections = 16;
	config.mtu = 1500;
	fg_l4_app a = Client("UDP_STREAM");
	a.datagram = 1473;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	EXPECT_STREQ("datagrams that do not fit into an MTU of 1500", err.message);
	a.datagram = 8;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = Client("TCP_RR");
	a.response = 0;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = Client("TCP_RR");
	a.connections = 0;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
}

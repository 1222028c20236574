/* SPDX-License-Identifier: BSD-3-Clause */
/* How clients pace themselves: pauses, cycles, connections that are held, open loops, messages; and what is
 * measured. */
#include <cstdio>

#include <unistd.h>

#include "l4_wire.h"

using namespace l4;

namespace
{
/* a round trip of a byte each way: 66 bytes of headers, 24 around the frame */
const double rtt = 2e6 + 2 * (1 + 66 + 24) * 800;

struct File {
	explicit File(size_t octets)
	{
		int fd = mkstemp(path);

		for (size_t i = 0; i < octets; i++) {
			uint8_t c = uint8_t(i * i >> 3);

			EXPECT_EQ(1, write(fd, &c, 1));
		}
		close(fd);
	}
	~File()
	{
		unlink(path);
	}
	char path[32] = "/tmp/framegauge-file-XXXXXX";
};
} /* namespace */

TEST(L4Client, PausesBeforeTheNextRequest)
{
	fg_l4_app a = Client("TCP_RR");

	a.think_ns = 10 * ms;
	a.connections = 20;
	Wire w(a, 4 * second);
	fg_l4_result c = w.Client();

	/* Little's law: 20 clients, each busy for a round trip and idle for 10 ms; a tick of the timers is 66
	 * us */
	EXPECT_NEAR(20 * 4e9 / (rtt + 10e6), double(c.measured.transactions), 0.01 * 20 * 4e9 / (rtt + 10e6));
	EXPECT_NEAR(rtt, c.transaction.mean, 0.02 * rtt);
	EXPECT_EQ(20u, c.total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

TEST(L4Client, PausesOfARangeHaveTheirMean)
{
	fg_l4_app a = Client("TCP_RR");
	double mean = rtt + 30e6;

	a.think_ns = 10 * ms;
	a.think_ns_max = 50 * ms;
	a.connections = 50;
	Wire w(a, 4 * second);
	EXPECT_NEAR(50 * 4e9 / mean, double(w.Client().measured.transactions), 0.02 * 50 * 4e9 / mean);
}

TEST(L4Client, OpensSoManyConnectionsAndNoMore)
{
	fg_l4_app a = Client("TCP_RR");

	a.requests = 3;
	a.cycles = 5;
	a.connections = 4;
	Wire w(a);
	EXPECT_EQ(20u, w.Client().total.opened);
	EXPECT_EQ(60u, w.Client().total.transactions);
	EXPECT_EQ(20u, w.Client().total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

TEST(L4Client, HoldsConnectionsUntilTheStop)
{
	for (const char *kind : {"TCP_RR", "HTTP"}) {
		fg_l4_app a = Client(kind);
		fg_l4_interval series[4];

		a.path = "/octets/1";
		a.host = "198.19.0.1";
		a.request = std::string(kind) == "TCP_RR";
		a.requests = 1;
		a.hold = true;
		a.connections = 200;
		Wire w(a, 2 * second, 0, second);
		ASSERT_EQ(2u, fg_l4_series(w.l4[0], 0, series, 4));
		EXPECT_EQ(200u, series[0].open);
		EXPECT_EQ(200u, w.Client().total.opened);
		EXPECT_EQ(200u, w.Client().total.transactions);
		EXPECT_EQ(200u, w.Client().total.ended[FG_L4_END_CLOSED]);
		w.ExpectNoFaults();
	}
}

TEST(L4Client, OpenLoopDoesNotWaitForAnswers)
{
	fg_l4_app a = Client("TCP_CRR");

	a.opens_per_s = 700;
	a.connections = 1000;
	Wire w(a);
	EXPECT_EQ(1400u, w.Client().total.opened);
	EXPECT_EQ(1400u, w.Client().total.transactions);
	w.ExpectNoFaults();
}

TEST(L4Client, HalfAResponseIsNoTransaction)
{
	fg_l4_app a = Client("TCP_CRR"), server;

	a.cycles = 10;
	a.response = 200;
	server = ServerOf(a);
	server.response = 100; /* and then its FIN */
	Wire w(a, server);
	EXPECT_EQ(10u, w.Client().total.opened);
	EXPECT_EQ(10u, w.Client().total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(0u, w.Client().total.transactions);
	w.ExpectNoFaults();
}

TEST(L4Client, OpenLoopRampsUpAlongATriangle)
{
	fg_l4_app a = Client("TCP_CRR");
	fg_l4_interval series[4];

	a.opens_per_s = 400;
	a.ramp_up_ns = second;
	a.connections = 1000;
	Wire w(a, 2 * second, 0, second / 2);
	ASSERT_EQ(4u, fg_l4_series(w.l4[0], 0, series, 4));
	/* 400 t^2 / 2: 50 in the first half of the ramp, 150 in the second; then 200 in each half second */
	EXPECT_NEAR(50, double(series[0].established), 3);
	EXPECT_NEAR(150, double(series[1].established), 3);
	EXPECT_NEAR(200, double(series[2].established), 3);
	EXPECT_NEAR(200, double(series[3].established), 3);
	EXPECT_EQ(600u, w.Client().total.opened);
	w.ExpectNoFaults();
}

TEST(L4Client, HeldConnectionsCloseInTheirTurnOfTheRampDown)
{
	for (const char *kind : {"TCP_RR", "HTTP"}) {
		fg_l4_app a = Client(kind);

		a.path = "/octets/1";
		a.host = "198.19.0.1";
		a.request = std::string(kind) == "TCP_RR";
		a.requests = 1;
		a.hold = true;
		a.connections = 100;
		a.ramp_down_ns = second;
		Wire w(a, second);
		EXPECT_EQ(100u, w.Client().total.ended[FG_L4_END_CLOSED]);
		EXPECT_LE(990 * ms, w.last_frame - second);
		EXPECT_GE(1010 * ms, w.last_frame - second);
		w.ExpectNoFaults();
	}
}

TEST(L4Client, OpenLoopMeasuresFromWhenItWasDue)
{
	fg_l4_app a = Client("TCP_CRR");

	/* one at a time takes 4 ms and more: at 1000/s the queue before it grows all the time */
	a.opens_per_s = 1000;
	a.connections = 1;
	Wire w(a);
	EXPECT_LT(double(second) / 2, w.Client().transaction.max);
	EXPECT_LT(double(second) / 4, w.Client().setup.mean);
}

TEST(L4Client, FirstAndLastOctetCountFromTheSyn)
{
	fg_l4_app a = Client("HTTP");

	a.path = "/octets/20000";
	a.host = "198.19.0.1";
	a.request = 0;
	a.response = 20000;
	a.requests = 3;
	a.tcp.handshake_ack_alone = true; /* the first request waits for it: not all take as long */
	Wire w(a);
	fg_l4_result c = w.Client();

	EXPECT_LT(0u, c.first_octet.count);
	EXPECT_GE(c.last_octet.count + 1, c.first_octet.count); /* the stop comes in the middle of one */
	/* two round trips and the request; then 20 kB at 10 Mbit/s, ten segments at once */
	EXPECT_NEAR(4e6 + 1.5e6, c.first_octet.mean, 0.6e6);
	EXPECT_NEAR(c.first_octet.mean + 20000 * 800 * 1.06, c.last_octet.mean, 3e6);
	EXPECT_GT(c.transaction.p50, c.transaction.min);
	EXPECT_LT(c.transaction.p50, c.transaction.max);
}

TEST(L4Client, SeriesShowsWindowAndRoundTrip)
{
	fg_l4_app a = Client("TCP_STREAM");
	fg_l4_interval series[4];

	a.tcp.receive_buffer = 8192;
	a.tcp.timestamps = false;
	Wire w(a, 2 * second, 0, second / 2);
	ASSERT_EQ(4u, fg_l4_series(w.l4[0], 0, series, 4));
	EXPECT_EQ(1u, series[2].sampled);
	EXPECT_EQ(8192u, series[2].window);
	EXPECT_LE(series[2].flight, 8192u);
	/* rate times round trip is what is under way: no more than the window, and most of it */
	EXPECT_GE(8192, double(series[2].octets_out) * 2 * series[2].rtt_us * 1e-6);
	EXPECT_LE(8192 / 2, double(series[2].octets_out) * 2 * series[2].rtt_us * 1e-6);
	EXPECT_LT(0u, w.Client().rtt.count);
}

TEST(L4Client, MessagesGoOneByOneWithoutNagle)
{
	for (bool nodelay : {true, false}) {
		fg_l4_app a = Client("TCP_STREAM");
		fg_l4_counters n;

		a.message = 100;
		a.octets = 1000;
		a.tcp.nodelay = nodelay;
		Wire w(a);
		fg_l4_read_counters(w.l4[0], &n);
		EXPECT_EQ(1000u, w.Server().total.octets_in);
		/* SYN, FIN's ACK; ten messages, the last with the FIN, or one and the nine others */
		EXPECT_EQ(nodelay ? 12u : 4u, n.tx_frames);
		w.ExpectNoFaults();
	}
}

/* SYN, request, FIN; SYN-ACK, response with FIN, ACK. Without them SYN, FIN, ACK; SYN-ACK, FIN. */
TEST(L4Client, ConnectionTakesThreeSegmentsEachWay)
{
	for (const char *kind : {"TCP_CC", "TCP_CRR", "HTTP"}) {
		for (bool alone : {false, true}) {
			fg_l4_app a = Client(kind);
			fg_l4_counters client, server;

			a.path = "/octets/200";
			a.host = "198.19.0.1";
			a.request = a.kind == std::string("HTTP") ? 0 : a.request;
			a.response = 200;
			a.requests = 1;
			a.cycles = 20;
			a.tcp.handshake_ack_alone = alone;
			Wire w(a);
			fg_l4_read_counters(w.l4[0], &client);
			fg_l4_read_counters(w.l4[1], &server);
			EXPECT_EQ(20u, w.Client().total.transactions);
			EXPECT_EQ(alone ? 80u : 60u, client.tx_frames) << kind;
			EXPECT_EQ(a.kind == std::string("TCP_CC") ? 40u : 60u, server.tx_frames) << kind;
			w.ExpectNoFaults();
		}
	}
}

TEST(L4Client, SendBufferOfOneMessageIsStopAndWait)
{
	fg_l4_app a = Client("TCP_STREAM");

	a.message = a.tcp.send_buffer = 1000;
	a.tcp.delayed_ack_ms = 0;
	Wire w(a);
	double turn = 2e6 + (1000 + 66 + 24 + 66 + 24) * 800;

	EXPECT_NEAR(2e9 / turn * 1000, double(w.Server().measured.octets_in), 5000);
}

TEST(L4Client, SendsAFileOverAndOver)
{
	File file(70001);
	fg_l4_app a = Client("TCP_SENDFILE");

	a.file = file.path;
	Wire w(a);
	EXPECT_LT(1000000u, w.Server().total.octets_in);
	EXPECT_EQ(w.Client().total.octets_out, w.Server().total.octets_in);
	w.ExpectNoFaults();
}

TEST(L4Client, AFileThatIsNoneIsRefused)
{
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;
	fg_l4_app a = Client("TCP_SENDFILE");

	config.connections = 16;
	config.mtu = 1500;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a.file = "/nonexistent";
	EXPECT_EQ(-ENOENT, fg_l4_create(&config, 1, &a, &l4, &err));
	a.file = "/tmp";
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
}

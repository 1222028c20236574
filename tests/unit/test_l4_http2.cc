/* SPDX-License-Identifier: BSD-3-Clause */
/* Client and server of HTTP/2 that talk to each other: what they count and how long it takes. */
#include "l4_http2.h"

using namespace l4;

TEST(L4Http2, RequestsOnConnectionsThatLastOrDoNot)
{
	for (unsigned body : {0u, 3000u, 100000u}) {
		for (unsigned requests : {0u, 1u, 70u}) {
			fg_l4_app a = Http2(requests);

			a.request = body;
			a.response = body > 0 ? 0 : 3000;
			a.connections = 3;
			Wire w(a);
			fg_l4_result c = w.Client(), s = w.Server();

			SCOPED_TRACE(std::to_string(body) + " bytes, " + std::to_string(requests));
			EXPECT_LT(20u, c.total.transactions);
			EXPECT_EQ(c.total.transactions, s.total.transactions);
			EXPECT_EQ(0u, c.total.refused);
			EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
			EXPECT_EQ(c.total.opened, s.total.ended[FG_L4_END_CLOSED]);
			EXPECT_EQ(c.measured.transactions, c.transaction.count);
			if (requests == 0) {
				EXPECT_EQ(3u, c.total.opened);
			}
			w.ExpectNoFaults();
		}
	}
}

TEST(L4Http2, SoManyRequestsAtATimeShareARoundTrip)
{
	double rate[2];

	for (unsigned many : {0, 1}) {
		fg_l4_app a = Http2(0, 10);

		a.path = "/10";
		a.streams = many ? 4 : 1;
		Wire w(a);
		rate[many] = double(w.Client().measured.transactions);
		w.ExpectNoFaults();
	}
	EXPECT_NEAR(4, rate[1] / rate[0], 0.5);
}

TEST(L4Http2, LargeBodiesFillTheLine)
{
	fg_l4_app a = Http2(0, 1000000);
	double line = 10e6 / 8 * 1448 / 1538 * 3;

	a.path = "/1000000";
	a.streams = 3;
	Wire w(a, 4 * second, second);
	EXPECT_NEAR(line, double(w.Client().measured.octets_in), 0.01 * line);
	EXPECT_LT(3u, w.Client().total.transactions);
	w.ExpectNoFaults();
}

TEST(L4Http2, SmallWindowsAreRenewed)
{
	for (uint32_t window : {1000u, 70000u}) {
		fg_l4_app a = Http2(8, 200000);

		a.path = "/200000";
		a.window = window;
		a.cycles = 1;
		Wire w(a, 30 * second);
		EXPECT_EQ(8u, w.Client().total.transactions);
		w.ExpectNoFaults();
		a.request = 200000;
		a.response = 0;
		Wire post(a, 30 * second);
		EXPECT_EQ(8u, post.Client().total.transactions);
		post.ExpectNoFaults();
	}
}

TEST(L4Http2, HeadsHaveNoBodyAndOtherLengthsAreCounted)
{
	fg_l4_app a = Http2(0);

	a.head = true;
	Wire heads(a, second / 10);
	EXPECT_LT(20u, heads.Client().total.transactions);
	EXPECT_GT(1000u * heads.Client().total.transactions, heads.Client().total.octets_in);
	heads.ExpectNoFaults();
	a.head = false;
	a.response = 2999;
	Wire w(a, second / 10);
	EXPECT_EQ(0u, w.Client().total.transactions);
	EXPECT_LT(10u, w.Client().total.own[MESSAGE_LENGTH]);
	EXPECT_EQ(w.Client().total.refused, w.Client().total.own[MESSAGE_LENGTH]);
	EXPECT_EQ(1u, w.Client().total.opened);
	w.ExpectNoFaults();
}

TEST(L4Http2, PausesAreBetweenAllResponsesAndAllRequests)
{
	fg_l4_app a = Http2(0, 10);

	a.path = "/10";
	a.streams = 5;
	a.think_ns = 100 * ms;
	Wire w(a);
	EXPECT_EQ(0u, w.Client().total.transactions % 5);
	EXPECT_NEAR(5 * 20, double(w.Client().total.transactions), 10);
	w.ExpectNoFaults();
}

TEST(L4Http2, AConnectionMayStayOpen)
{
	fg_l4_app a = Http2(3, 10);

	a.path = "/10";
	a.hold = true;
	Wire w(a);
	EXPECT_EQ(3u, w.Client().total.transactions);
	EXPECT_EQ(1u, w.Client().total.opened);
	EXPECT_EQ(1u, w.Client().total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

/*
 * A window of a stream that is one frame: the server sends a frame, in 11 full segments and one of 465 bytes,
 * and waits for the update. When the last one leaves 2 ms of the line are before it in the ring; then follow
 * its own bytes, the way of 1 ms, and the update's bytes and way.
 */
TEST(L4Http2, TheTimeThatWindowsKeepDataBack)
{
	const uint32_t frames = 61, body = frames * H2_FRAME_MAX;
	fg_l4_app a = Http2(0, body);

	a.path = "/999424";
	a.streams = 1;
	a.window = H2_FRAME_MAX;
	Wire w(a, 10 * second, 2 * second);
	fg_l4_result c = w.Client(), s = w.Server();
	const double waits = double(c.measured.octets_in) / H2_FRAME_MAX * (frames - 1) / frames;
	const double each = 2e6 + (465 + 66 + 24) * 800 + 1e6 + (13 + 66 + 24) * 800 + 1e6;

	EXPECT_LT(2u, c.measured.transactions);
	EXPECT_NEAR(each * waits, double(s.flow_blocked_ns[FG_L4_WINDOW_STREAM]), 0.01 * each * waits);
	EXPECT_EQ(0u, s.flow_blocked_ns[FG_L4_WINDOW_CONNECTION]);
	EXPECT_EQ(0u, c.flow_blocked_ns[FG_L4_WINDOW_STREAM] + c.flow_blocked_ns[FG_L4_WINDOW_CONNECTION]);
	a.window = 0;
	Wire open(a);
	EXPECT_EQ(0u, open.Server().flow_blocked_ns[FG_L4_WINDOW_STREAM]);
	EXPECT_EQ(0u, open.Server().flow_blocked_ns[FG_L4_WINDOW_CONNECTION]);
}

/* at the rate that was asked for; more than 1,000 in a second end the connection */
TEST(L4Http2, FloodsThatAServerBearsOrEnds)
{
	for (fg_l4_flood frame :
	     {FG_L4_FLOOD_RST, FG_L4_FLOOD_PING, FG_L4_FLOOD_SETTINGS, FG_L4_FLOOD_EMPTY}) {
		for (double rate : {500.0, 2500.0}) {
			fg_l4_app a = Http2(0, 100);

			SCOPED_TRACE(std::to_string(frame) + ", " + std::to_string(rate));
			a.path = "/100";
			if (frame == FG_L4_FLOOD_EMPTY) { /* a body that is always under way */
				a.request = 100000000;
				a.response = 0;
				a.tcp.send_buffer = 2 * H2_FRAME_MAX; /* little is before the flood */
			}
			a.streams = 2;
			a.flood = frame;
			a.flood_per_s = rate;
			Wire w(a);
			fg_l4_result c = w.Client(), s = w.Server();
			const uint64_t faulty = s.total.own[MESSAGE_FAULTY];

			if (rate < 1000) {
				EXPECT_EQ(0u, faulty);
				EXPECT_NEAR(2 * rate, double(c.flooded), 0.03 * 2 * rate);
				EXPECT_EQ(1u, c.total.opened);
			} else { /* each connection lasts for 1,001 frames and the way there and back */
				EXPECT_NEAR(2 * rate / 1001, double(faulty), 1.1);
				EXPECT_GE(c.flooded, 1001 * faulty);
				EXPECT_NEAR(double(faulty), double(c.total.own[MESSAGE_AWAY]), 1.1);
			}
		}
	}
}

namespace
{
/* a client and a server, far apart; from a time on the server hears of the client only what is short */
class Far : public Line
{
      public:
	Far(const fg_l4_app &client, uint64_t way, uint64_t deaf_from, uint64_t end)
	{
		const fg_l4_app apps[2] = {client, ServerOf(client)};

		sees = [deaf_from](unsigned from, uint64_t now, std::vector<uint8_t> &frame) {
			return from == 1 || now < deaf_from || frame.size() < 70;
		};
		ns_per_octet = 8;
		gap = 24;
		delay = way;
		ring = 2 * ms;
		capacity = 65400;
		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 64;
			config.seed = 1 + i;
			config.mtu = 1500;
			config.max_lag_ns = ms;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], &err)) << err.message;
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, 4 * second, 0, 0, &err));
		}
		Run(end);
		for (unsigned i : {0, 1}) {
			fg_l4_finish(l4[i], end);
			fg_l4_read(l4[i], 0, &result[i]);
		}
	}
	fg_l4_result result[2];
};
} /* namespace */

/* it answers streams that were reset before as many others as are noted */
TEST(L4Http2, AFloodOfAServerThatAnswersLate)
{
	fg_l4_app a = Http2(0, 100);

	a.path = "/100";
	a.streams = 2;
	a.flood = FG_L4_FLOOD_RST;
	a.flood_per_s = 900;
	Far w(a, 100 * ms, UINT64_MAX, 14 * second);
	EXPECT_LT(0.2 * a.flood_per_s, double(w.result[0].flooded)); /* more than H2_RESETS */
	EXPECT_EQ(1u, w.result[0].total.opened);
	EXPECT_EQ(0u, w.result[0].total.own[MESSAGE_FAULTY] + w.result[0].total.own[MESSAGE_AWAY]);
	EXPECT_EQ(0u, w.result[1].total.own[MESSAGE_FAULTY]);
}

/* a window that is never renewed: the time counts to the end of the figures */
TEST(L4Http2, TheTimeThatAWindowStaysClosed)
{
	fg_l4_app a = Http2(0, 1000000);

	a.path = "/1000000";
	a.streams = 1;
	a.window = 1000;
	Far w(a, ms, 2 * second, 5 * second);
	EXPECT_LT(2 * second, w.result[1].flow_blocked_ns[FG_L4_WINDOW_STREAM]);
	EXPECT_GT(3 * second, w.result[1].flow_blocked_ns[FG_L4_WINDOW_STREAM]);
}

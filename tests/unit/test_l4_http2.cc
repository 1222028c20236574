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

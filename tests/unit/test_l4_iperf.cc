/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3: the streams of our client and our server over a wire. */
#include "l4_iperf.h"

using namespace l4;

namespace
{
/* of a line of 10 Mbit/s with full segments and time stamps: metrics, 8 */
const double line_octets = 10e6 / 8 * (1500 - 52) / 1538;
} /* namespace */

TEST(L4Iperf, EveryOctetThatTheClientSentIsCounted)
{
	IperfWire w(IperfTest(false, 3, 131072));
	uint64_t octets = 0;

	ASSERT_EQ(3u, w.server.streams);
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_TRUE(w.client.stream[i].sends && !w.server.stream[i].sends);
		EXPECT_EQ(w.client.stream[i].all.octets, w.server.stream[i].all.octets);
		octets += w.server.stream[i].all.octets;
	}
	EXPECT_NEAR(line_octets, double(octets) / w.server.stream[0].to_s, 0.02 * line_octets);
	EXPECT_NEAR(2.0, w.client.stream[0].to_s, 0.001);
	EXPECT_EQ(w.client.now_s, w.client.stream[0].to_s);
}

TEST(L4Iperf, TheServerSendsInReverse)
{
	fg_l4_iperf_test t = IperfTest(false, 2, 1000);

	t.reverse = true;
	IperfWire w(t);
	EXPECT_TRUE(w.server.stream[0].sends && w.server.stream[1].sends);
	EXPECT_NEAR(2 * line_octets, double(w.server.stream[0].all.octets + w.server.stream[1].all.octets),
		    0.05 * 2 * line_octets);
	EXPECT_LE(w.client.stream[0].all.octets, w.server.stream[0].all.octets);
}

TEST(L4Iperf, BothSendAtOnce)
{
	fg_l4_iperf_test t = IperfTest(false, 1, 1000);

	t.both = true;
	IperfWire w(t);
	ASSERT_EQ(2u, w.server.streams);
	EXPECT_FALSE(w.server.stream[0].sends);
	EXPECT_TRUE(w.server.stream[1].sends);
	EXPECT_EQ(w.client.stream[0].all.octets, w.server.stream[0].all.octets);
	EXPECT_LT(0.8 * 2 * line_octets, double(w.server.stream[0].all.octets));
	EXPECT_LT(0.8 * 2 * line_octets, double(w.client.stream[1].all.octets));
}

/* more would be written behind the end of the list */
TEST(L4Iperf, StreamsAreNoMoreThanTheListHolds)
{
	IperfWire w(IperfTest(false, FG_L4_IPERF_STREAMS / 2 + 1, 100, 800));

	EXPECT_EQ(FG_L4_IPERF_STREAMS / 2, int(w.client.streams));
	EXPECT_EQ(FG_L4_IPERF_STREAMS / 2, int(w.server.streams));
}

TEST(L4Iperf, StreamsKeepToTheirRate)
{
	IperfWire w(IperfTest(false, 2, 1000, 800000));

	/* 100 writes a second */
	for (unsigned i : {0, 1})
		EXPECT_NEAR(200000, double(w.server.stream[i].all.octets), 2000);
}

TEST(L4Iperf, OmittedSecondsAreNoPartOfTheResult)
{
	fg_l4_iperf_test t = IperfTest(false, 1, 1000, 800000);

	t.omit_s = 1;
	IperfWire w(t);
	EXPECT_NEAR(200000, double(Octets(w.server.stream[0])), 2000);
	EXPECT_NEAR(1.0, w.server.from_s, 0.01);
	EXPECT_NEAR(3.0, w.server.stream[0].to_s, 0.02);
	EXPECT_FALSE(w.server.omitting);
}

TEST(L4Iperf, OmittedDatagramsAreNoPartOfEither)
{
	for (bool reverse : {false, true}) {
		fg_l4_iperf_test t = IperfTest(true, 1, 1000, 1600000);

		t.omit_s = 1;
		t.reverse = reverse;
		IperfWire w(t);
		for (const fg_l4_iperf_counts *side : {&w.client, &w.server}) {
			EXPECT_NEAR(400, double(Datagrams(side->stream[0])), 5);
			EXPECT_NEAR(400e3, double(Octets(side->stream[0])), 5e3);
			EXPECT_EQ(0u, side->stream[0].all.lost);
		}
	}
}

/* 16 Mbit/s were asked for, and the line takes 10 */
TEST(L4Iperf, ReportsTheDatagramsThatWereTooLate)
{
	fg_l4_iperf_test t = IperfTest(true, 1, 1000, 16000000);

	t.reverse = true;
	IperfWire w(t);
	EXPECT_NEAR(4000, double(w.server.stream[0].all.datagrams + w.server.stream[0].all.left_out), 20);
	EXPECT_LT(1500u, w.server.stream[0].all.left_out);
	EXPECT_EQ(0u, w.client.stream[0].all.left_out);
}

TEST(L4Iperf, DatagramsAreCountedOnBothSides)
{
	for (unsigned direction : {0, 1, 2}) {
		for (bool wide : {false, true}) {
			fg_l4_iperf_test t = IperfTest(true, 2, 1000, 1600000);

			t.reverse = direction == 1;
			t.both = direction == 2;
			t.wide_counters = wide;
			IperfWire w(t);
			ASSERT_EQ(direction == 2 ? 4u : 2u, w.server.streams);
			for (unsigned i = 0; i < w.server.streams; i++) {
				bool ours = w.server.stream[i].sends;
				const fg_l4_iperf_stream &sender = (ours ? w.server : w.client).stream[i];
				const fg_l4_iperf_stream &receiver = (ours ? w.client : w.server).stream[i];

				EXPECT_TRUE(sender.sends && !receiver.sends);
				EXPECT_NEAR(400, double(sender.all.datagrams), 5); /* 200 a second */
				EXPECT_EQ(1000 * sender.all.datagrams, sender.all.octets);
				EXPECT_NEAR(double(sender.all.datagrams), double(receiver.all.datagrams), 2);
				EXPECT_EQ(0u, receiver.all.lost);
				EXPECT_EQ(1000 * receiver.all.datagrams, receiver.all.octets);
				EXPECT_GT(1e6, receiver.jitter_ns);
			}
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3: our client with our server over a wire. */
#include <cstring>
#include <string>

#include "l4_iperf.h"

using namespace l4;

namespace
{
/* of a line of 10 Mbit/s with full segments and time stamps: metrics, 8 */
const double line_octets = 10e6 / 8 * (1500 - 52) / 1538;

fg_l4_app
IperfClient(const char *params)
{
	fg_l4_app a = Client("IPERF");

	a.port = iperf_port;
	a.host = iperf_cookie;
	a.params = params;
	return a;
}

void
ExpectDone(const std::vector<fg_l4_iperf_report> &all)
{
	ASSERT_LT(2u, all.size());
	EXPECT_EQ(FG_L4_IPERF_TEST, all.front().kind);
	EXPECT_EQ(FG_L4_IPERF_END, all.back().kind);
	EXPECT_EQ(FG_L4_IPERF_DONE, all.back().end);
	EXPECT_EQ(0u, all.back().missed);
}
} /* namespace */

TEST(L4Iperf, EveryOctetThatTheClientSentIsCounted)
{
	Wire w(IperfClient("{\"tcp\":true,\"omit\":0,\"time\":2,\"parallel\":3,\"len\":131072}"), 2 * second);
	auto all = Reports(w.l4[1]);
	auto results = OfKind(all, FG_L4_IPERF_RESULT);
	uint64_t octets = 0, shown = 0;

	ExpectDone(all);
	ASSERT_EQ(3u, results.size());
	for (const fg_l4_iperf_report &r : results) {
		EXPECT_FALSE(r.sent);
		EXPECT_EQ(r.theirs.octets, r.ours.octets);
		octets += r.ours.octets;
	}
	for (const fg_l4_iperf_report &r : OfKind(all, FG_L4_IPERF_INTERVAL))
		shown += r.ours.octets;
	EXPECT_EQ(octets, shown);
	EXPECT_EQ(1u, results[0].stream);
	EXPECT_EQ(3u, results[1].stream);
	EXPECT_EQ(4u, results[2].stream);
	EXPECT_NEAR(line_octets, double(octets) / results[0].ours.to_s, 0.02 * line_octets);
	EXPECT_NE(nullptr, strstr(fg_l4_peer_results(w.l4[0], 0), "\"id\":4"));
	EXPECT_EQ(0u, w.Client().total.refused);
	w.ExpectNoFaults();
}

TEST(L4Iperf, TheServerSendsInReverse)
{
	Wire w(IperfClient("{\"tcp\":true,\"time\":2,\"parallel\":2,\"len\":1000,\"reverse\":true}"),
	       2 * second);
	auto all = Reports(w.l4[1]);
	auto results = OfKind(all, FG_L4_IPERF_RESULT);

	ExpectDone(all);
	ASSERT_EQ(2u, results.size());
	EXPECT_TRUE(results[0].sent && results[1].sent);
	EXPECT_NEAR(2 * line_octets, double(results[0].ours.octets + results[1].ours.octets),
		    0.05 * 2 * line_octets);
	EXPECT_LE(results[0].theirs.octets, results[0].ours.octets);
	w.ExpectNoFaults();
}

TEST(L4Iperf, BothSendAtOnce)
{
	Wire w(IperfClient("{\"tcp\":true,\"time\":2,\"parallel\":1,\"len\":1000,\"bidirectional\":true}"),
	       2 * second);
	auto results = OfKind(Reports(w.l4[1]), FG_L4_IPERF_RESULT);

	ASSERT_EQ(2u, results.size());
	EXPECT_FALSE(results[0].sent);
	EXPECT_TRUE(results[1].sent);
	EXPECT_EQ(results[0].theirs.octets, results[0].ours.octets);
	EXPECT_LT(0.8 * 2 * line_octets, double(results[0].ours.octets));
	EXPECT_LT(0.8 * 2 * line_octets, double(results[1].theirs.octets));
	w.ExpectNoFaults();
}

TEST(L4Iperf, StreamsKeepToTheirRate)
{
	Wire w(IperfClient("{\"tcp\":true,\"time\":2,\"parallel\":2,\"len\":1000,\"bandwidth\":800000}"),
	       2 * second);

	/* 100 writes a second; the handshakes take some milliseconds of the time */
	for (const fg_l4_iperf_report &r : OfKind(Reports(w.l4[1]), FG_L4_IPERF_RESULT))
		EXPECT_NEAR(200000, double(r.ours.octets), 2000);
}

TEST(L4Iperf, OmittedSecondsAreNoPartOfTheResult)
{
	Wire w(IperfClient("{\"tcp\":true,\"time\":2,\"omit\":1,\"parallel\":1,\"len\":1000,\"bandwidth\":"
			   "800000}"),
	       3 * second);
	auto all = Reports(w.l4[1]);
	auto results = OfKind(all, FG_L4_IPERF_RESULT);

	ASSERT_EQ(1u, results.size());
	EXPECT_NEAR(200000, double(results[0].ours.octets), 2000);
	EXPECT_NEAR(1.0, results[0].ours.from_s, 0.01);
	EXPECT_NEAR(3.0, results[0].ours.to_s, 0.02);
	EXPECT_TRUE(OfKind(all, FG_L4_IPERF_INTERVAL).front().omitted);
	EXPECT_FALSE(OfKind(all, FG_L4_IPERF_INTERVAL).back().omitted);
}

TEST(L4Iperf, OmittedDatagramsAreNoPartOfEither)
{
	for (const char *direction : {"", ",\"reverse\":true"}) {
		std::string params = std::string("{\"udp\":true,\"time\":2,\"omit\":1,\"parallel\":1,\"len\":"
						 "1000,\"bandwidth\":1600000") +
				     direction + "}";
		Wire w(IperfClient(params.c_str()), 3 * second);

		for (fg_l4 *side : {w.l4[0], w.l4[1]}) {
			auto results = OfKind(Reports(side), FG_L4_IPERF_RESULT);

			ASSERT_EQ(1u, results.size());
			EXPECT_NEAR(400, double(results[0].ours.datagrams), 5);
			EXPECT_NEAR(400, double(results[0].theirs.datagrams), 5);
			EXPECT_NEAR(400e3, double(results[0].theirs.octets), 5e3);
			EXPECT_EQ(0u, results[0].ours.lost + results[0].theirs.lost);
		}
	}
}

/* 16 Mbit/s were asked for, and the line takes 10 */
TEST(L4Iperf, ReportsTheDatagramsThatWereTooLate)
{
	Wire w(IperfClient("{\"udp\":true,\"reverse\":true,\"time\":2,\"parallel\":1,\"len\":1000,"
			   "\"bandwidth\":16000000}"),
	       2 * second);
	auto results = OfKind(Reports(w.l4[1]), FG_L4_IPERF_RESULT);

	ASSERT_EQ(1u, results.size());
	EXPECT_NEAR(4000, double(results[0].ours.datagrams + results[0].ours.left_out),
		    50); /* handshakes take 7 ms */
	EXPECT_LT(1500u, results[0].ours.left_out);
	EXPECT_EQ(0u, results[0].theirs.left_out);
}

TEST(L4Iperf, DatagramsAreCountedOnBothSides)
{
	for (const char *direction : {"", ",\"reverse\":true", ",\"bidirectional\":true"}) {
		for (const char *width : {"", ",\"udp_counters_64bit\":1"}) {
			std::string params = std::string("{\"udp\":true,\"time\":2,\"parallel\":2,\"len\":"
							 "1000,\"bandwidth\":1600000") +
					     direction + width + "}";
			Wire w(IperfClient(params.c_str()), 2 * second);
			auto all = Reports(w.l4[1]);
			auto results = OfKind(all, FG_L4_IPERF_RESULT);

			ExpectDone(all);
			ASSERT_EQ(strstr(direction, "bidir") != nullptr ? 4u : 2u, results.size());
			for (const fg_l4_iperf_report &r : results) {
				const fg_l4_iperf_count &sender = r.sent ? r.ours : r.theirs;
				const fg_l4_iperf_count &receiver = r.sent ? r.theirs : r.ours;

				EXPECT_NEAR(400, double(sender.datagrams), 5); /* 200 a second */
				EXPECT_EQ(1000 * sender.datagrams, sender.octets);
				EXPECT_NEAR(double(sender.datagrams), double(receiver.datagrams), 2);
				EXPECT_EQ(0u, receiver.lost);
				EXPECT_EQ(1000 * receiver.datagrams, receiver.octets);
				EXPECT_GT(1e6, receiver.jitter_ns);
			}
			w.ExpectNoFaults();
		}
	}
}

TEST(L4Iperf, RefusesAClientWithoutParameters)
{
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	config.connections = 16;
	config.mtu = 1500;
	fg_l4_app a = IperfClient("{\"parallel\":");
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = IperfClient(nullptr);
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = IperfClient("{\"parallel\":1}");
	a.host = "short";
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
}

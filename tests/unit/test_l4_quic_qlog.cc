// SPDX-License-Identifier: BSD-3-Clause
/* Logs (qlog) of connections of QUIC, as far as there is room. */
#include "l4_quic.h"

namespace
{
using l4::QuicOptions;
using l4::QuicPair;

unsigned
Count(const char *in, const char *what)
{
	unsigned n = 0;

	for (const char *at = in; (at = strstr(at, what)) != nullptr; at++)
		n++;
	return n;
}

QuicOptions
Logged(uint32_t connections)
{
	QuicOptions o;

	o.set = [=](fg_quic_config &client, fg_quic_config &server) {
		client.qlog = server.qlog = connections;
	};
	return o;
}

TEST(QuicLog, TheFirstConnectionsHaveOneEach)
{
	fg_l4_app client = l4::Client("TCP_CRR");
	uint64_t lost;

	client.cycles = 3;
	QuicPair pair(client, Logged(2));
	pair.ExpectNoFaults();
	for (unsigned i : {0, 1}) {
		for (unsigned n : {0, 1}) {
			const char *log = fg_l4_qlog(pair.l4[i], 0, n, &lost);

			ASSERT_NE(nullptr, log);
			EXPECT_EQ(0u, lost);
			EXPECT_EQ(1u, Count(log, "qlog_version"));
			EXPECT_LT(2u, Count(log, "packet_sent"));
			EXPECT_LT(2u, Count(log, "packet_received"));
			EXPECT_EQ(Count(log, "\x1e"), Count(log, "\n"));
		}
		EXPECT_EQ(nullptr, fg_l4_qlog(pair.l4[i], 0, 2, &lost));
	}
	EXPECT_STRNE(fg_l4_qlog(pair.l4[0], 0, 0, &lost), fg_l4_qlog(pair.l4[0], 0, 1, &lost));
}

TEST(QuicLog, AFullOneEndsBehindAWholeRecordAndCountsTheRest)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	uint64_t lost = 0;

	QuicPair pair(client, Logged(1));
	pair.ExpectNoFaults();
	std::string log = fg_l4_qlog(pair.l4[0], 0, 0, &lost);
	EXPECT_LT(0u, lost);
	EXPECT_GE(4U << 20, log.size());
	EXPECT_LT((4U << 20) - 1000, log.size());
	EXPECT_EQ('\n', log.back());
	EXPECT_LE(pair.Tally(0).packets_out, Count(log.c_str(), "packet_sent") + lost);
}

TEST(QuicLog, ThereIsNoneUnlessItIsAskedFor)
{
	fg_l4_app client = l4::Client("TCP_CC");
	uint64_t lost;

	client.cycles = 1;
	QuicPair pair(client, QuicOptions());
	EXPECT_EQ(nullptr, fg_l4_qlog(pair.l4[0], 0, 0, &lost));
}
} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client of HTTP asks our server for, and which answers it takes for good ones. */
#include "l4_wire.h"

using namespace l4;

namespace
{
fg_l4_app
Asking(const char *kind)
{
	fg_l4_app a = Client(kind);

	a.requests = 7;
	a.request = 0;
	a.response = 5000;
	a.path = "/octets/5000";
	a.host = "198.19.0.1";
	a.streams = 1;
	return a;
}

/* bytes that the client has received for each request, whole heads and bodies; 0: some were not good */
uint64_t
Each(const fg_l4_app &client)
{
	Wire wire(client, second / 5);
	fg_l4_tally t = wire.Client().total;

	wire.ExpectNoFaults();
	EXPECT_LT(0u, t.transactions + t.refused);
	return t.refused > 0 ? 0 : t.octets_in / t.transactions;
}
} /* namespace */

TEST(L4Answers, RangesAreOfTheirBytes)
{
	const struct {
		const char *range;
		uint32_t first, octets;
	} cases[] = {{"0-99", 0, 100}, {"4990-", 4990, 10}, {"-3", 4997, 3}, {"10-9999", 10, 4990}};
	fg_l4_app client = Asking("HTTP");

	for (const auto &one : cases) {
		client.range = one.range;
		client.range_first = one.first;
		client.response = one.octets;
		EXPECT_EQ(205u + one.octets, Each(client)) << one.range;
	}
	client.range_first = 0; /* these are other bytes */
	Wire wrong(client, second / 5);
	fg_l4_counters c;
	fg_l4_read_counters(wrong.l4[0], &c);
	EXPECT_LT(0u, c.wrong_octets);
}

TEST(L4Answers, AreGoodByTheirStatus)
{
	fg_l4_app client = Asking("HTTP");

	client.range = "5000-";
	EXPECT_EQ(0u, Each(client));
	client.statuses[0] = 404;
	client.statuses[1] = 416;
	EXPECT_EQ(205u, Each(client));
	for (const char *kind : {"HTTP", "HTTP2"}) {
		client = Asking(kind);
		client.statuses[0] = 206;
		EXPECT_EQ(0u, Each(client)) << kind;
		client.statuses[1] = 200;
		EXPECT_LT(5000u, Each(client)) << kind;
	}
}

TEST(L4Answers, AreWithoutABodyToHead)
{
	for (const char *kind : {"HTTP", "HTTP2"}) {
		fg_l4_app client = Asking(kind);

		client.head = true;
		EXPECT_GT(300u, Each(client)) << kind;
		EXPECT_LT(0u, Each(client)) << kind;
	}
}

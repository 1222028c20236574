/* SPDX-License-Identifier: BSD-3-Clause */
/* A flood of SYNs from addresses that never answer: memory stays bounded, and who does answer is served. */
#include <algorithm>
#include <random>

#include "l4_host.h"

using l4::Frame;
using l4::Host;

namespace
{
const uint64_t ms = 1000000;
const uint32_t places = 1024;

fg_l4_tcp
Defaults()
{
	fg_l4_tcp t;

	fg_l4_tcp_defaults(&t);
	return t;
}

class Flood : public ::testing::Test
{
      protected:
	Flood() : client(true, Defaults(), 1500, 512), server(false, Defaults(), 1500, places), random(1)
	{
		client.send = [this](const Frame &f) { to_server.push_back(f); };
		server.send = [this](const Frame &f) { to_client.push_back(f); };
		server.on_established = [this](conn *c) { tcp_write(server.w, c, 1000); };
		server.on_eof = [this](conn *c) { tcp_close(server.w, c); };
		client.on_established = [this](conn *c) { tcp_close(client.w, c); };
		/* what the server answers to others goes nowhere: their segments never reach the client's table */
	}

	void
	Syns(unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			server.Do(now, [this] {
				segment s = {};

				s.flow = server.Flow(uint16_t(random()));
				s.flow.remote[12] = 10;
				s.flow.remote[13] = uint8_t(random());
				s.protocol = 6;
				s.flags = TCP_SYN;
				s.seq = uint32_t(random());
				s.window = 1000;
				tcp_input(server.w, &s);
				most = std::max(most, server.w->open);
			});
		server.Poll(now);
	}
	/* what is under way arrives, a millisecond later */
	void
	Pass()
	{
		std::vector<Frame> there, back;

		now += ms;
		there.swap(to_server);
		back.swap(to_client);
		for (const Frame &f : there)
			server.Input(f, now);
		for (const Frame &f : back)
			client.Input(f, now);
		client.Poll(now);
		server.Poll(now);
	}

	uint64_t now = 1000 * ms;
	Host client, server;
	std::mt19937_64 random;
	std::vector<Frame> to_server, to_client;
	uint32_t most = 0;
};
} /* namespace */

TEST_F(Flood, TakesAShareOfTheTableAndNoMore)
{
	Syns(100000);
	EXPECT_EQ(places / 4, most);
	/* a few are from one who has asked before */
	EXPECT_NEAR(100000 - places / 4, server.w->counters.half_open_dropped, 16);
	EXPECT_EQ(0u, server.w->counters.table_full);
}

TEST_F(Flood, LeavesThoseWhoAnswerAlone)
{
	for (unsigned i = 0; i < 200; i++) {
		Syns(100);
		client.Do(now, [&] {
			flow f = client.Flow(uint16_t(30000 + i));

			ASSERT_NE(nullptr, tcp_open(client.w, 0, &f));
		});
		client.Poll(now);
		Pass();
	}
	for (unsigned i = 0; i < 10; i++)
		Pass();
	EXPECT_EQ(200u, client.established);
	EXPECT_EQ(200u, server.established);
	EXPECT_EQ(200u, client.closed);
	EXPECT_EQ(200u * 1000, client.received);
	EXPECT_EQ(0u, client.wrong);
	EXPECT_EQ(0u, client.w->counters.segments_retransmitted + client.w->counters.syn_retransmits);
}

TEST_F(Flood, IsForgottenWhenItEnds)
{
	Syns(1000);
	for (unsigned i = 0; i < 300; i++) {
		now += 1000 * ms;
		server.Poll(now);
	}
	EXPECT_EQ(0u, server.w->open);
	EXPECT_EQ(0u, server.w->half_open);
}

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
	explicit Flood(uint32_t room = places)
	    : client(true, Defaults(), 1500, 4096), server(false, Defaults(), 1500, room), random(1)
	{
		client.send = [this](const Frame &f) { to_server.push_back(f); };
		server.send = [this](const Frame &f) {
			if (memcmp(f.data() + 30, client.Address(true) + 12, 4) == 0)
				to_client.push_back(f);
		};
		server.on_established = [this](fg_stream *c) { fg_stream_write(server.w, c, 1000); };
		server.on_eof = [this](fg_stream *c) { fg_stream_close(server.w, c); };
		client.on_established = [this](fg_stream *c) { fg_stream_close(client.w, c); };
		/* what the server answers to others goes nowhere: their segments never reach the client's
		 * table */
	}

	/* a segment from anybody but the client */
	void
	Anybody(uint8_t flags)
	{
		server.Do(now, [this, flags] {
			segment s = {};

			s.flow = server.Flow(uint16_t(random()));
			s.flow.remote[12] = 10;
			s.flow.remote[13] = uint8_t(random());
			s.flow.remote[14] = uint8_t(random());
			s.protocol = 6;
			s.flags = flags;
			s.seq = uint32_t(random());
			s.ack = uint32_t(random());
			s.window = 1000;
			s.hash = table_hash(server.w, &s.flow);
			tcp_input(server.w, &s);
			most = std::max(most, own(server.w)->open);
		});
	}
	void
	Syns(unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			Anybody(TCP_SYN);
		server.Poll(now);
	}
	/* this number of connections, each with a response of 1000 bytes, begin each ms, and this number of
	 * SYNs in addition */
	void
	Serve(unsigned connections, unsigned syns, unsigned for_ms)
	{
		unsigned port = 1024;

		for (unsigned i = 0; i < for_ms; i++) {
			Syns(syns);
			for (unsigned k = 0; k < connections; k++)
				client.Do(now, [&] {
					fg_flow f = client.Flow(uint16_t(port++));

					ASSERT_NE(nullptr, fg_stream_open(client.w, 0, &f));
				});
			client.Poll(now);
			Pass();
		}
		for (unsigned i = 0; i < 10; i++)
			Pass();
		EXPECT_EQ(connections * for_ms, client.established);
		EXPECT_EQ(connections * for_ms, server.established);
		EXPECT_EQ(connections * for_ms, client.closed);
		EXPECT_EQ(connections * for_ms * 1000u, client.received);
		EXPECT_EQ(0u, client.wrong);
		EXPECT_EQ(0u, client.w->counters.segments_retransmitted + client.w->counters.syn_retransmits);
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
	EXPECT_NEAR(100000 - places / 4, server.w->counters.cookies_sent, 16);
	EXPECT_EQ(0u, server.w->counters.half_open_dropped);
	EXPECT_EQ(0u, server.w->counters.table_full);
}

TEST_F(Flood, LeavesThoseWhoAnswerAlone)
{
	Serve(1, 1000, 200);
	EXPECT_LT(150u, server.w->counters.cookies_taken);
	EXPECT_EQ(0u, server.w->counters.no_connection);
}

TEST_F(Flood, OpensNothingForForgedAnswers)
{
	Syns(10000);
	for (unsigned i = 0; i < 100000; i++)
		Anybody(TCP_ACK);
	EXPECT_EQ(0u, server.established);
	EXPECT_EQ(0u, server.w->counters.cookies_taken);
	EXPECT_LT(99000u, server.w->counters.no_connection); /* the others hit half-open ones */
}

TEST_F(Flood, ATableOfStrangersMakesRoomForWhoAnswers)
{
	server.w->config.connections = 16; /* all of them may be half open */
	Syns(1000);
	EXPECT_EQ(server.w->config.connections, own(server.w)->open);
	Serve(1, 0, 10);
	EXPECT_EQ(10u, server.w->counters.cookies_taken);
	EXPECT_EQ(0u, server.w->counters.table_full);
}

TEST_F(Flood, IsForgottenWhenItEnds)
{
	Syns(1000);
	for (unsigned i = 0; i < 300; i++) {
		now += 1000 * ms;
		server.Poll(now);
	}
	EXPECT_EQ(0u, own(server.w)->open);
	EXPECT_EQ(0u, own(server.w)->half_open);
}

/* with room for four million connections */
class LargeFlood : public Flood
{
      protected:
	LargeFlood() : Flood(1 << 22)
	{
	}
};

/* SYNs of 64 bytes at 10 Gbit/s: a hundred milliseconds of them, and a thousand clients that do not
 * notice */
TEST_F(LargeFlood, AtLineRateWithAMillionHalfOpen)
{
	const unsigned syns_a_ms = 14880;
	fg_l4_memory memory;

	Serve(10, syns_a_ms, 100);
	EXPECT_NEAR(1 << 20, own(server.w)->half_open, 100);
	EXPECT_LT(400000u, server.w->counters.cookies_sent);
	fg_l4_read_memory(server.w, &memory);
	EXPECT_GT(300 * ((1u << 20) + 1000), memory.octets);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts and a path between them that loses, delays, reorders and duplicates segments as a seed says.
 * Whatever it does, every byte arrives, at its place, and both sides see the connection closed.
 */
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "draws.h"
#include "l4_host.h"
extern "C" {
#include "l4_talker.h"
}

using l4::Frame;
using l4::Host;

namespace
{
const uint64_t ms = 1000000;

struct PathConfig {
	double loss = 0, duplicate = 0, reorder = 0; /* probabilities */
	uint64_t delay = 5 * ms, extra = 20 * ms;    /* the second for what is reordered */
	double rate_bps = 0;                         /* 0: any */
	uint64_t buffer = 100;                       /* frames that wait for the rate */
};

/* One direction; arrivals in order of time, and of one time in the order of sending. */
class Path
{
      public:
	Path(const PathConfig &config, uint64_t seed) : c(config), random(seed)
	{
	}

	void
	Send(const Frame &f, uint64_t now)
	{
		uint64_t at = now + c.delay;

		sent++;
		if (Chance(c.loss))
			return;
		if (c.rate_bps > 0) {
			uint64_t time = uint64_t(double(f.size() + 24) * 8e9 / c.rate_bps);

			if (free_at > now + c.buffer * time)
				return;
			free_at = std::max(free_at, now) + time;
			at = free_at + c.delay;
		}
		if (Chance(c.reorder))
			at += random() % c.extra;
		arrivals.emplace(at, f);
		if (Chance(c.duplicate))
			arrivals.emplace(at + random() % c.extra, f);
	}
	uint64_t
	Next() const
	{
		return arrivals.empty() ? UINT64_MAX : arrivals.begin()->first;
	}
	void
	Arrive(Host &host, uint64_t now)
	{
		while (Next() <= now) {
			Frame f = arrivals.begin()->second;

			arrivals.erase(arrivals.begin());
			host.Input(f, now);
		}
	}

	uint64_t sent = 0;

      private:
	bool
	Chance(double p)
	{
		return p > 0 && double(random() >> 11) * 0x1p-53 < p;
	}

	PathConfig c;
	std::mt19937_64 random;
	uint64_t free_at = 0;
	std::multimap<uint64_t, Frame> arrivals;
};

fg_l4_tcp
Defaults()
{
	fg_l4_tcp t;

	fg_l4_tcp_defaults(&t);
	return t;
}

struct Both {
	Both(const fg_l4_tcp &a, const fg_l4_tcp &b, const PathConfig &path, uint64_t seed, bool ipv6 = false)
	    : client(true, a, 1500, 64, seed), server(false, b, 1500, 64, seed + 1000000),
	      there(path, seed * 2), back(path, seed * 2 + 1)
	{
		client.SetAddress(ipv6);
		server.SetAddress(ipv6);
		client.send = [this](const Frame &f) { there.Send(f, now); };
		server.send = [this](const Frame &f) { back.Send(f, now); };
	}

	/* until both sides have seen the end of this number of connections */
	void
	Run(unsigned connections, uint64_t deadline)
	{
		while (client.closed < connections || server.closed < connections) {
			uint64_t due = std::min(client.Poll(now), server.Poll(now));

			due = std::min({due, there.Next(), back.Next()});
			ASSERT_LT(now, deadline) << "client " << client.closed << " server " << server.closed;
			ASSERT_NE(UINT64_MAX, due) << "nothing will happen any more";
			ASSERT_GE(due, now);
			now = due;
			there.Arrive(server, now);
			back.Arrive(client, now);
		}
	}
	/* the client sends `up` bytes, the server `down`; both close when they have sent all */
	void
	Transfer(uint64_t up, uint64_t down, uint64_t deadline = 3600 * 1000 * ms)
	{
		client.on_established = [this, up](fg_stream *c) {
			fg_stream_write(client.w, c, up);
			fg_stream_close(client.w, c);
		};
		server.on_established = [this, down](fg_stream *c) {
			fg_stream_write(server.w, c, down);
			fg_stream_close(server.w, c);
		};
		client.Do(now, [this] {
			fg_flow f = client.Flow();

			ASSERT_NE(nullptr, fg_stream_open(client.w, 0, &f));
		});
		Run(1, deadline);
	}
	void
	ExpectDelivered(uint64_t up, uint64_t down)
	{
		EXPECT_EQ(FG_L4_END_CLOSED, client.last_end);
		EXPECT_EQ(FG_L4_END_CLOSED, server.last_end);
		EXPECT_EQ(0u, client.wrong + server.wrong);
		EXPECT_LE(up, server.received); /* data that arrived twice out of order was checked twice */
		EXPECT_LE(down, client.received);
	}

	uint64_t now = 1000 * ms;
	Host client, server;
	Path there, back;
};

/* the sides of each option, by bits of the seed */
fg_l4_tcp
Varied(uint64_t seed)
{
	fg_l4_tcp t = Defaults();

	t.sack = !(seed & 1);
	t.timestamps = !(seed & 2);
	t.window_scaling = !(seed & 4);
	t.congestion = seed & 8 ? FG_L4_NEWRENO : FG_L4_CUBIC;
	t.ecn = seed & 16;
	t.nodelay = seed & 32;
	t.receive_buffer = seed & 64 ? 20000 : 1 << 20;
	t.time_wait_ms = seed & 128 ? 0 : 1000;
	t.retries = 40; /* whatever the path does, it is not to be given up */
	t.syn_retries = 20;
	return t;
}
} /* namespace */

TEST(L4Path, CarriesWhatIsSentBothWays)
{
	for (bool ipv6 : {false, true}) {
		Both b(Defaults(), Defaults(), {}, 1, ipv6);

		b.Transfer(1000000, 3000000);
		b.ExpectDelivered(1000000, 3000000);
		EXPECT_EQ(1000000u, b.server.received);
		EXPECT_EQ(3000000u, b.client.received);
		EXPECT_EQ(0u, b.client.w->counters.segments_retransmitted);
		EXPECT_EQ(0u, b.server.w->counters.segments_retransmitted);
	}
}

TEST(L4Path, EveryOctetArrivesWhateverThePathDoes)
{
	for (uint64_t seed = 0; seed < draws(3000); seed++) {
		PathConfig path;
		std::mt19937_64 random(seed);

		path.loss = double(random() % 20) / 100;
		path.duplicate = double(random() % 10) / 100;
		path.reorder = double(random() % 30) / 100;
		path.delay = random() % (50 * ms);

		uint64_t up = random() % 60000, down = random() % 60000;
		Both b(Varied(random()), Varied(random()), path, seed);

		b.client.refuse_early = random() % 8 == 0;
		b.client.rooms = 1 + random() % FG_BURST_ROOMS;
		b.Transfer(up, down);
		b.ExpectDelivered(up, down);
		if (HasFailure()) {
			ADD_FAILURE() << "seed " << seed;
			return;
		}
	}
}

/* as an application that needs the head of a message first: nothing of it comes again for that */
TEST(L4Path, WhatCannotBeUsedYetIsKept)
{
	for (unsigned every : {1, 2, 3}) {
		uint64_t again[2] = {0, 0};

		for (uint64_t seed = 0; seed < draws(150); seed++)
			for (bool refuse : {false, true}) {
				PathConfig path;
				std::mt19937_64 random(seed);

				path.loss = double(random() % 10) / 100;
				path.duplicate = double(random() % 10) / 100;
				path.reorder = double(random() % 30) / 100;
				Both b(Defaults(), Defaults(), path, seed);

				b.client.refuse_early = b.server.refuse_early = refuse;
				b.client.refuse_every = b.server.refuse_every = every;
				b.Transfer(30000, 60000);
				b.ExpectDelivered(30000, 60000);
				for (Host *host : {&b.client, &b.server}) {
					EXPECT_EQ(0u, host->w->counters.not_used +
							      host->w->counters.held_refused);
					EXPECT_EQ(0u, talker_taken(&own(host->w)->kept));
					again[refuse] += host->w->counters.segments_retransmitted;
				}
				if (refuse && every == 1) {
					EXPECT_EQ(30000u, b.server.received) << "each byte once";
					EXPECT_EQ(60000u, b.client.received);
				}
				ASSERT_FALSE(HasFailure()) << "seed " << seed << ", every " << every;
			}
		EXPECT_EQ(again[0], again[1]);
	}
}

/*
 * as a server that reads the next request when its response is acknowledged: what waits for it is
 * acknowledged, and never selectively, which a sender would take for memory that was given up (RFC 2018, 8)
 */
TEST(L4Path, WhatWaitsForTheApplicationIsAcknowledged)
{
	uint64_t refused = 0;

	for (uint64_t seed = 0; seed < draws(300); seed++) {
		PathConfig path;
		std::mt19937_64 random(seed);

		path.loss = double(random() % 10) / 100;
		path.duplicate = double(random() % 10) / 100;
		path.reorder = double(random() % 30) / 100;
		Both b(Varied(random() & ~1ULL), Varied(random() & ~1ULL), path, seed);

		b.server.answer = 1 + random() % 3000;
		b.server.send = [&b](const Frame &f) {
			fg_l4_counters none = {};
			fg_arrival in = {f.data(), uint32_t(f.size()), b.now};
			segment s;

			ASSERT_TRUE(segment_read(&in, &s, &none));
			for (unsigned i = 0; i < s.sacks; i++)
				EXPECT_NE(s.ack, s.sack[i].from);
			b.back.Send(f, b.now);
		};
		b.client.on_established = [&b](fg_stream *c) {
			fg_stream_write(b.client.w, c, 60000);
			fg_stream_close(b.client.w, c);
		};
		b.server.on_eof = [&b](fg_stream *c) { fg_stream_close(b.server.w, c); };
		b.client.Do(b.now, [&b] {
			fg_flow f = b.client.Flow();

			ASSERT_NE(nullptr, fg_stream_open(b.client.w, 0, &f));
		});
		b.Run(1, 3600 * 1000 * ms);
		EXPECT_EQ(FG_L4_END_CLOSED, b.server.last_end);
		EXPECT_EQ(60000u, b.server.received) << "each byte once";
		EXPECT_EQ(0u, b.client.wrong + b.server.wrong);
		EXPECT_EQ(0u, talker_taken(&own(b.server.w)->kept));
		EXPECT_EQ(0u, talker_taken(&own(b.server.w)->ranges));
		refused += b.server.w->counters.not_used;
		ASSERT_FALSE(HasFailure()) << "seed " << seed;
	}
	EXPECT_LT(0u, refused);
}

/* Mathis et al. 1997, "The macroscopic behavior of the TCP congestion avoidance algorithm": what a window
 * that is halved at each loss, and grows by a segment a round trip, carries. CUBIC carries as much on a path
 * like this (RFC 9438, 4.3), but for what the model leaves out: a window of two segments is not reduced any
 * more, and what is sent again may be lost. */
TEST(L4Path, GoodputUnderLossIsWhatTheWindowAllows)
{
	for (double loss : {0.01, 0.05})
		for (uint64_t delay : {10 * ms, 50 * ms}) {
			double bits = 0, seconds = 0, rtt = 2e-9 * double(delay);
			PathConfig path, back;

			path.loss = loss;
			path.delay = back.delay = delay;
			for (uint64_t seed = 0; seed < 8; seed++) {
				Both b(Defaults(), Defaults(), path, seed);
				uint64_t begin = b.now;

				b.back = Path(back, seed);
				b.Transfer(2000000, 0);
				bits += 8 * 2e6;
				seconds += double(b.now - begin) * 1e-9;
			}
			EXPECT_LT(0.8 * 1.22 * 1448 * 8 / (rtt * sqrt(loss)), bits / seconds)
				<< loss << " " << delay / ms << " ms";
		}
}

/* RFC 9406: 20 Mbit/s, 40 ms (66 segments), and a queue of 500 segments. Without time stamps there are too
 * few round trips to see it grow, and slow start ends with the loss of much of a window. */
TEST(L4Path, SlowStartEndsBeforeTheQueueIsFull)
{
	PathConfig path;

	path.delay = 20 * ms;
	path.rate_bps = 20e6;
	path.buffer = 500;
	for (fg_l4_congestion congestion : {FG_L4_CUBIC, FG_L4_NEWRENO}) {
		fg_l4_tcp stamped = Defaults(), plain = Defaults();

		stamped.congestion = plain.congestion = uint8_t(congestion);
		plain.timestamps = false;
		Both with(stamped, stamped, path, 1), without(plain, plain, path, 1);

		with.Transfer(2000 * 1448, 0); /* full segments: the path takes a number, of any size */
		without.Transfer(2000 * 1460, 0);
		EXPECT_EQ(0u, with.client.w->counters.segments_retransmitted);
		EXPECT_LT(50u, without.client.w->counters.segments_retransmitted);
		EXPECT_LE(with.now, without.now);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients and servers of each kind, two workers with a wire of known length between them, and what they count. */
#include <map>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "fg_endpoint.h"
#include "fg_l4_app.h"
}

namespace
{
const uint64_t ms = 1000000, second = 1000 * ms;

fg_l4_app
Client(fg_l4_kind kind)
{
	fg_l4_app a = {};

	a.kind = uint8_t(kind);
	a.locals = a.remotes = 1;
	memcpy(a.local, "\xc6\x12\0\1", 4);
	memcpy(a.remote, "\xc6\x13\0\1", 4);
	a.port = 5001;
	a.port_first = 10000;
	a.port_last = 60000;
	a.connections = 1;
	a.request = a.response = 1;
	a.datagram = 1000;
	a.timeout_ns = second;
	fg_l4_tcp_defaults(&a.tcp);
	return a;
}

fg_l4_app
ServerOf(const fg_l4_app &client)
{
	fg_l4_app a = client;

	a.server = true;
	memcpy(a.local, client.remote, 16);
	a.locals = client.remotes;
	return a;
}

/* 10 Mbit/s and 1 ms each way; whatever the line cannot take now waits */
class Wire
{
      public:
	explicit Wire(const fg_l4_app &client, uint64_t stop = 2 * second, uint64_t omit = 0,
		      uint64_t interval = 0)
	{
		fg_l4_app apps[2] = {client, ServerOf(client)};

		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 4096;
			config.seed = 1 + i;
			config.mtu = 1500;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], &err)) << err.message;
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, second + stop, omit, interval, &err));
		}
		until = second + stop + 10 * second;
		Run();
	}
	~Wire()
	{
		fg_l4_free(l4[0]);
		fg_l4_free(l4[1]);
	}
	Wire(const Wire &) = delete;
	Wire &operator=(const Wire &) = delete;

	fg_l4_result
	Client() const
	{
		return Result(0);
	}
	fg_l4_result
	Server() const
	{
		return Result(1);
	}
	void
	ExpectNoFaults() const
	{
		for (unsigned i : {0, 1}) {
			fg_l4_counters c;

			fg_l4_read_counters(l4[i], &c);
			EXPECT_EQ(0u, c.wrong_octets);
			EXPECT_EQ(0u, c.rx_bad_checksum + c.rx_malformed + c.no_connection + c.table_full);
			EXPECT_EQ(0u, fg_l4_open(l4[i]));
		}
	}

	fg_l4 *l4[2];
	unsigned lose_every = 0;

      private:
	fg_l4_result
	Result(unsigned i) const
	{
		fg_l4_result r;

		fg_l4_read(l4[i], 0, &r);
		return r;
	}
	struct Frame {
		std::vector<uint8_t> octets;
	};
	fg_burst *
	Rooms(unsigned i, uint64_t now)
	{
		burst.frames = 0;
		/* a NIC's ring: 2 ms of frames */
		burst.rooms = line_free[i] > now + 2 * ms ? 0 : 1;
		burst.capacity = sizeof(memory);
		burst.room[0] = memory;
		return &burst;
	}
	void
	Send(unsigned from, uint64_t now)
	{
		if (burst.frames == 0)
			return;
		line_free[from] = std::max(line_free[from], now) + (burst.length[0] + 24) * 800;
		arrivals[1 - from].emplace(line_free[from] + ms,
					   std::vector<uint8_t>(memory, memory + burst.length[0]));
	}
	void
	Run()
	{
		for (uint64_t now = 0; now < until;) {
			uint64_t next = UINT64_MAX;

			for (unsigned i : {0, 1}) {
				fg_endpoint *e = fg_l4_endpoint(l4[i]);

				while (!arrivals[i].empty() && arrivals[i].begin()->first <= now) {
					std::vector<uint8_t> f = arrivals[i].begin()->second;

					arrivals[i].erase(arrivals[i].begin());
					e->input(e, f.data(), f.size(), now, Rooms(i, now));
					Send(i, now);
				}
				uint64_t due;
				do {
					due = e->poll(e, now, Rooms(i, now));
					Send(i, now);
				} while (burst.frames > 0);
				if (due <= now)
					due = std::max(now + 1, line_free[i] - 2 * ms);
				next = std::min(next, due);
			}
			for (unsigned i : {0, 1})
				if (!arrivals[i].empty())
					next = std::min(next, arrivals[i].begin()->first);
			if (next == UINT64_MAX)
				return;
			ASSERT_GE(next, now);
			now = std::max(next, now + 1);
		}
	}

	uint64_t until = 0, line_free[2] = {};
	fg_burst burst = {};
	uint8_t memory[2048];
	std::multimap<uint64_t, std::vector<uint8_t>> arrivals[2];
};

/* of a line of 10 Mbit/s with full segments and time stamps: metrics, 8 */
const double line_octets = 10e6 / 8 * (1500 - 52) / 1538;
} /* namespace */

TEST(L4App, StreamFillsTheLine)
{
	Wire w(Client(FG_L4_STREAM), 4 * second, second);
	fg_l4_result c = w.Client(), s = w.Server();

	EXPECT_EQ(3 * second, s.measured_ns);
	EXPECT_NEAR(3 * line_octets, double(s.measured.octets_in), 0.002 * 3 * line_octets);
	EXPECT_EQ(c.total.octets_out, s.total.octets_in);
	EXPECT_EQ(1u, c.total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(1u, s.total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

TEST(L4App, MaertsFillsTheLineTheOtherWay)
{
	Wire w(Client(FG_L4_MAERTS), 4 * second, second);

	EXPECT_NEAR(3 * line_octets, double(w.Client().measured.octets_in), 0.002 * 3 * line_octets);
	EXPECT_EQ(w.Server().total.octets_out, w.Client().total.octets_in);
	w.ExpectNoFaults();
}

TEST(L4App, StreamOfSoManyOctetsEndsByItself)
{
	fg_l4_app a = Client(FG_L4_STREAM);

	a.octets = 123457;
	a.connections = 3;
	Wire w(a);
	EXPECT_EQ(3 * 123457u, w.Server().total.octets_in);
	EXPECT_EQ(3u, w.Client().total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(3u, w.Client().total.opened);
	w.ExpectNoFaults();
}

TEST(L4App, TransactionsTakeARoundTrip)
{
	fg_l4_app a = Client(FG_L4_RR);

	a.request = 100;
	a.response = 200;
	Wire w(a);
	fg_l4_result c = w.Client();
	/* TCP over IPv4 with time stamps: 66 octets of headers, 24 around the frame */
	double rtt = 2e6 + (100 + 66 + 24 + 200 + 66 + 24) * 800;

	EXPECT_NEAR(rtt, c.transaction.mean, 1e-3 * rtt);
	EXPECT_NEAR(2e9 / rtt, double(c.measured.transactions), 2);
	EXPECT_EQ(c.measured.transactions, c.transaction.count);
	EXPECT_EQ(1u, c.total.ended[FG_L4_END_CLOSED]);
	w.ExpectNoFaults();
}

TEST(L4App, ConnectRequestResponseCloseOverAndOver)
{
	for (fg_l4_kind kind : {FG_L4_CRR, FG_L4_CC}) {
		fg_l4_app a = Client(kind);

		a.connections = 4;
		Wire w(a);
		fg_l4_result c = w.Client(), s = w.Server();

		EXPECT_LT(1000u, c.measured.transactions);
		EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(c.total.opened, s.total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(c.total.opened, c.total.transactions);
		EXPECT_EQ(4u, c.concurrent_max);
		w.ExpectNoFaults();
	}
}

TEST(L4App, FewPortsAreUsedAgainOutOfTimeWait)
{
	fg_l4_app a = Client(FG_L4_CRR);
	fg_l4_counters counters;

	a.port_last = a.port_first + 9;
	a.tcp.time_wait_ms = 60000;
	Wire w(a);
	fg_l4_read_counters(w.l4[0], &counters);
	EXPECT_LT(200u, w.Client().measured.transactions);
	EXPECT_LT(200u, counters.time_wait_reused);
	EXPECT_EQ(w.Client().total.opened, w.Client().total.ended[FG_L4_END_CLOSED]);
}

TEST(L4App, RampOpensSoManyASecond)
{
	fg_l4_app a = Client(FG_L4_RR);
	fg_l4_interval series[8];

	a.connections = 25;
	a.connections_start = 5;
	a.connections_per_s = 10;
	Wire w(a, 4 * second, 0, second);
	ASSERT_EQ(4u, fg_l4_series(w.l4[0], 0, series, 8));
	/* the last of a second opens with the next */
	EXPECT_EQ(14u, series[0].open);
	EXPECT_EQ(24u, series[1].open);
	EXPECT_EQ(25u, series[2].open);
	EXPECT_EQ(25u, w.Client().concurrent_max);
	w.ExpectNoFaults();
}

TEST(L4App, SeriesAddsUpToTheTotal)
{
	fg_l4_interval series[16];
	Wire w(Client(FG_L4_STREAM), 3 * second, second / 2, second / 4);
	uint64_t sum = 0;
	unsigned n = fg_l4_series(w.l4[1], 0, series, 16);

	ASSERT_EQ(10u, n);
	for (unsigned i = 0; i < n; i++)
		sum += series[i].octets_in;
	EXPECT_EQ(w.Server().measured.octets_in, sum);
}

TEST(L4App, UdpStreamAtItsRate)
{
	fg_l4_app a = Client(FG_L4_UDP_STREAM);

	a.datagrams_per_s = 500;
	a.connections = 4;
	Wire w(a);
	fg_l4_result c = w.Client(), s = w.Server();

	EXPECT_EQ(1000u, c.total.datagrams_out);
	EXPECT_EQ(1000u, s.total.datagrams_in);
	EXPECT_EQ(1000u * 1000, s.total.datagram_octets_in);
	EXPECT_EQ(0u, s.lost + s.duplicates + s.reordered);
	EXPECT_NEAR(0, s.jitter_ns, 1000);
	w.ExpectNoFaults();
}

TEST(L4App, UdpStreamAsFastAsTheLine)
{
	Wire w(Client(FG_L4_UDP_STREAM));
	double most = 10e6 / 8 / (1000 + 42 + 24) * 2;

	EXPECT_NEAR(most, double(w.Server().measured.datagrams_in), 0.005 * most);
	EXPECT_EQ(w.Client().total.datagrams_out, w.Server().total.datagrams_in);
}

TEST(L4App, UdpTransactionsTakeARoundTrip)
{
	fg_l4_app a = Client(FG_L4_UDP_RR);

	a.connections = 3;
	Wire w(a);
	fg_l4_result c = w.Client();
	double rtt = 2e6 + 2 * (60 + 24) * 800;

	EXPECT_NEAR(3 * 2e9 / rtt, double(c.measured.transactions), 0.06 * 3 * 2e9 / rtt);
	EXPECT_EQ(0u, c.total.expired);
	w.ExpectNoFaults();
}

TEST(L4App, HttpRequestsOnConnectionsThatLastOrDoNot)
{
	for (unsigned body : {0u, 3000u}) {
		for (unsigned requests : {0u, 1u, 5u}) {
			fg_l4_app a = Client(FG_L4_HTTP);

			a.path = "/octets/5000";
			a.host = "198.19.0.1";
			a.request = body;
			a.response = body > 0 ? 0 : 5000;
			a.requests = requests;
			a.connections = 3;
			Wire w(a);
			fg_l4_result c = w.Client(), s = w.Server();

			EXPECT_LT(100u, c.measured.transactions);
			EXPECT_EQ(c.total.transactions, s.total.transactions);
			EXPECT_EQ(0u, c.total.refused);
			EXPECT_EQ(c.total.opened, c.total.ended[FG_L4_END_CLOSED]);
			EXPECT_EQ(c.total.opened, s.total.ended[FG_L4_END_CLOSED]);
			if (requests == 0)
				EXPECT_EQ(3u, c.total.opened);
			else
				EXPECT_LE((c.total.transactions + requests - 1) / requests, c.total.opened);
			w.ExpectNoFaults();
		}
	}
}

TEST(L4App, HttpResponseOfAnotherLengthIsRefused)
{
	fg_l4_app a = Client(FG_L4_HTTP);

	a.path = "/octets/5000";
	a.host = "198.19.0.1";
	a.request = 0;
	a.response = 4999;
	Wire w(a, second / 10);
	EXPECT_EQ(0u, w.Client().total.transactions);
	EXPECT_LT(0u, w.Client().total.refused);
	/* the last may not have come to ask any more */
	EXPECT_LE(w.Client().total.opened - 1, w.Client().total.ended[FG_L4_END_ABORTED]);
}

TEST(L4App, RefusesWhatMakesNoSense)
{
	fg_l4_config config = {};
	fg_error err = {};
	fg_l4 *l4;

	config.connections = 16;
	config.mtu = 1500;
	fg_l4_app a = Client(FG_L4_UDP_STREAM);
	a.datagram = 1473;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	EXPECT_STREQ("datagrams that do not fit into an MTU of 1500", err.message);
	a.datagram = 8;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = Client(FG_L4_RR);
	a.response = 0;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
	a = Client(FG_L4_RR);
	a.connections = 0;
	EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A client and a server, each a worker of its own, and a wire of known length between them. */
#ifndef L4_WIRE_H
#define L4_WIRE_H

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "fg_checksum.h"
#include "fg_endpoint.h"
#include "fg_l4_app.h"
}

namespace l4
{
const uint64_t ms = 1000000, second = 1000 * ms;

inline fg_l4_app
Client(const char *kind)
{
	fg_l4_app a = {};

	a.kind = kind;
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

inline fg_l4_app
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
		      uint64_t interval = 0, bool cuts = false)
	{
		burst.cuts = cuts;
		fg_l4_app apps[2] = {client, ServerOf(client)};

		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 4096;
			config.seed = 1 + i;
			config.mtu = 1500;
			config.max_lag_ns = ms;
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
	unsigned cut = 0; /* frames that were left to the port to cut */

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
		if (burst.segment[0] != 0)
			ExpectSegments();
		line_free[from] = std::max(line_free[from], now) + (burst.length[0] + 24) * 800;
		arrivals[1 - from].emplace(line_free[from] + ms,
					   std::vector<uint8_t>(memory, memory + burst.length[0]));
	}
	/* as they are to be cut: full ones of 1448 octets, and the sum of the pseudo-header alone */
	void
	ExpectSegments()
	{
		uint64_t sum = fg_checksum_pseudo4((const fg_ipv4 *)(memory + 14), 6, burst.length[0] - 34);
		uint16_t expected = ~fg_checksum_finish(sum), checksum;

		memcpy(&checksum, memory + 50, 2);
		EXPECT_EQ(expected, checksum);
		EXPECT_EQ(1448u, burst.segment[0]);
		EXPECT_EQ(0u, (burst.length[0] - 66) % 1448);
		EXPECT_LT(1448, burst.length[0] - 66);
		cut++;
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
					const fg_arrival in = {f.data(), f.size(), now, burst.cuts};
					e->input(e, &in, 1, Rooms(i, now));
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
	uint8_t memory[65400];
	std::multimap<uint64_t, std::vector<uint8_t>> arrivals[2];
};

} /* namespace l4 */

#endif

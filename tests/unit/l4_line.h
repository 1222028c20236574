/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers at the ends of a line, each way with a rate and a delay, which loses, delays and duplicates
 * frames as a seed says. Time is the line's own: it goes on to when the next thing happens.
 */
#ifndef L4_LINE_H
#define L4_LINE_H

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "fg_endpoint.h"
#include "fg_l4_app.h"
}
#include "l4_time.h"

namespace l4
{

class Line
{
      public:
	Line(const Line &) = delete;
	Line &operator=(const Line &) = delete;

	fg_l4 *l4[2] = {};

      protected:
	/* 200 Mbit/s and 2 ms */
	explicit Line(uint64_t seed = 1) : seed(seed), random(seed)
	{
	}
	~Line()
	{
		fg_l4_free(l4[0]);
		fg_l4_free(l4[1]);
	}

	/* the worker of one end, whose clients run from 1 s to @p stop */
	void
	Create(unsigned i, const fg_l4_app &app, uint32_t connections, uint64_t stop, uint64_t omit = 0,
	       uint64_t interval = 0)
	{
		fg_l4_config config = {};
		fg_error err = {};

		config.connections = connections;
		config.seed = seed + i;
		config.mtu = 1500;
		config.max_lag_ns = max_lag;
		EXPECT_EQ(0, fg_l4_create(&config, 1, &app, &l4[i], &err)) << err.message;
		EXPECT_EQ(0, fg_l4_schedule(l4[i], second, stop, omit, interval, &err));
	}

	const uint64_t seed;
	uint64_t max_lag = 0;
	double loss = 0, reorder = 0, duplicate = 0;
	uint64_t ns_per_octet = 40, gap = 0, delay = 2 * ms;
	uint64_t ring = UINT64_MAX; /* what the line cannot take for so long waits in the worker */
	bool checked = false;       /* a card has found the checksums right */
	size_t capacity = 2048;
	fg_burst burst = {};
	/* sees each frame before the line does; false: it is lost */
	std::function<bool(unsigned from, uint64_t now, std::vector<uint8_t> &frame)> sees;
	std::function<void(uint64_t now)> looks; /* whenever something happens */

	void
	Run(uint64_t until)
	{
		for (uint64_t now = 0; now < until;) {
			uint64_t next = std::min(Serve(0, now), Serve(1, now));

			for (unsigned i : {0, 1})
				if (!arrivals[i].empty())
					next = std::min(next, arrivals[i].begin()->first);
			if (looks)
				looks(now);
			if (next == UINT64_MAX)
				return;
			now = std::max(next, now + 1);
		}
	}

      private:
	bool
	Chance(double p)
	{
		return p > 0 && double(random() >> 11) * 0x1p-53 < p;
	}
	fg_burst *
	Rooms(unsigned from, uint64_t now)
	{
		burst.frames = 0;
		burst.rooms = IsFull(from, now) ? 0 : 1;
		burst.capacity = capacity;
		burst.room[0] = memory;
		return &burst;
	}
	bool
	IsFull(unsigned from, uint64_t now) const
	{
		return line_free[from] > now && line_free[from] - now > ring;
	}
	void
	Send(unsigned from, uint64_t now)
	{
		if (burst.frames == 0)
			return;
		std::vector<uint8_t> frame(memory, memory + burst.length[0]);
		line_free[from] = std::max(line_free[from], now) + (frame.size() + gap) * ns_per_octet;
		uint64_t at = line_free[from] + delay;
		if ((sees && !sees(from, now, frame)) || Chance(loss))
			return;
		if (Chance(reorder))
			at += random() % (5 * ms);
		arrivals[1 - from].emplace(at, frame);
		if (Chance(duplicate))
			arrivals[1 - from].emplace(at + random() % (5 * ms), frame);
	}
	/* @return when that side has to be served next */
	uint64_t
	Serve(unsigned i, uint64_t now)
	{
		fg_endpoint *e = fg_l4_endpoint(l4[i]);
		uint64_t due;

		while (!arrivals[i].empty() && arrivals[i].begin()->first <= now) {
			std::vector<uint8_t> f = arrivals[i].begin()->second;

			arrivals[i].erase(arrivals[i].begin());
			const fg_arrival in = {f.data(), f.size(), now, checked};
			e->input(e, &in, 1, Rooms(i, now));
			Send(i, now);
		}
		do {
			due = e->poll(e, now, Rooms(i, now));
			Send(i, now);
		} while (burst.frames > 0);
		return due <= now && IsFull(i, now) ? line_free[i] - ring : due;
	}

	std::mt19937_64 random;
	uint8_t memory[65400];
	uint64_t line_free[2] = {};
	std::multimap<uint64_t, std::vector<uint8_t>> arrivals[2];
};

} /* namespace l4 */

#endif

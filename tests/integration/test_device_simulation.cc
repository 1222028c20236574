/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device against a simulation that knows nothing of how the device does it: events in order of
 * time, a queue, a server.
 */
#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "fg_int128.h"
#include "device_under_test.h"

namespace
{

struct Sent {
	unsigned size;
	uint64_t launch;
};

/* ps with 64 bits of fraction: exact where a byte takes a whole number of them, and never drifting apart */
using Time = fg_u128;

Time
picoseconds(long double ps)
{
	return Time(ps * 0x1p64L);
}

struct Fate {
	uint32_t number;
	Time first_bit_out;
};

/* One direction of the device, event by event. A frame that ends its wait makes room at that moment. */
class Simulation
{
      public:
	Simulation(double rate_bps, const fg_device_direction &direction)
	    : octet(picoseconds(8e12L / rate_bps)), d(direction)
	{
	}

	std::vector<Fate>
	Run(const std::vector<Sent> &traffic)
	{
		Time line = 0;

		for (uint32_t i = 0; i < traffic.size(); i++) {
			unsigned size = traffic[i].size;
			Time first_bit = std::max(Time(traffic[i].launch) << 64, line);

			line = first_bit + octet * (size + 20);
			Arrive({i, size, first_bit + octet * (d.cut_through ? 14 : size)});
		}
		ServeUntil(~Time(0));
		return out;
	}

	uint64_t lost = 0;

      private:
	struct Frame {
		uint32_t number;
		unsigned size;
		Time eligible;
	};

	Time
	ServiceTime(unsigned size) const
	{
		Time longest = octet * (size + 20);

		if (d.capacity_fps > 0)
			longest = std::max(longest, picoseconds(1e12L / d.capacity_fps));
		if (d.capacity_bps > 0)
			longest = std::max(longest, picoseconds(8e12L * size / d.capacity_bps));
		return longest;
	}
	void
	Serve(const Frame &frame, Time start)
	{
		Time delay = picoseconds(std::round(1e3L * d.latency_ns) +
					 1e3L * d.latency_ns_per_octet * frame.size);

		free_at = start + ServiceTime(frame.size);
		out.push_back({frame.number, std::max(start + delay, out_line)});
		out_line = out.back().first_bit_out + octet * (frame.size + 20);
	}
	void
	ServeUntil(Time now)
	{
		while (!queue.empty() && free_at <= now) {
			Frame next = queue.front();

			queue.pop_front();
			held -= next.size;
			Serve(next, free_at);
		}
	}
	void
	Arrive(const Frame &frame)
	{
		ServeUntil(frame.eligible);
		if (queue.empty() && free_at <= frame.eligible) {
			Serve(frame, frame.eligible);
		} else if (d.buffer_octets ? held + frame.size <= d.buffer : queue.size() < d.buffer) {
			queue.push_back(frame);
			held += frame.size;
		} else {
			lost++;
		}
	}

	Time octet, free_at = 0, out_line = 0;
	fg_device_direction d;
	std::deque<Frame> queue;
	uint64_t held = 0;
	std::vector<Fate> out;
};

void
expect_same(const std::vector<Fate> &expected, const std::vector<Arrival> &got)
{
	ASSERT_EQ(expected.size(), got.size());
	for (size_t i = 0; i < got.size(); i++) {
		ASSERT_EQ(expected[i].number, got[i].number) << "arrival " << i;
		ASSERT_EQ(uint64_t(expected[i].first_bit_out >> 64), got[i].time)
			<< "frame " << got[i].number;
	}
}

/* the same traffic through both */
void
compare(const fg_device_config &config, const std::vector<Sent> &traffic)
{
	Wire wire(config);
	Simulation simulation(config.rate_bps, config.direction[0]);
	std::vector<Fate> expected = simulation.Run(traffic);

	for (uint32_t i = 0; i < traffic.size(); i++)
		wire.Launch(0, i, traffic[i].size, traffic[i].launch);
	expect_same(expected, wire.Receive(1));
	EXPECT_EQ(traffic.size(), wire.Counters(0).received);
	EXPECT_EQ(expected.size(), wire.Counters(0).forwarded);
	EXPECT_EQ(simulation.lost, wire.Counters(0).buffer_full);
}

std::vector<Sent>
burst(unsigned size, unsigned frames)
{
	return std::vector<Sent>(frames, Sent{size, 0});
}

} // namespace

TEST(Device, AgreesWithTheSimulationOnBursts)
{
	for (double rate : {1e9, 3e9})
		for (uint64_t buffer : {0, 1, 7, 100})
			for (bool cut_through : {false, true}) {
				fg_device_config config = Device(rate, buffer);

				config.direction[0].capacity_fps = 734000;
				config.direction[0].cut_through = cut_through;
				config.direction[0].latency_ns = 20000;
				compare(config, burst(64, 2000));
				compare(config, burst(1518, 2000));
			}
}

TEST(Device, AgreesWithTheSimulationOnRandomTraffic)
{
	std::mt19937_64 random(1);
	const double rates[] = {1e8, 1e9, 2.5e9, 3e9, 1e10, 7.7e10};

	for (int run = 0; run < 150; run++) {
		double rate = rates[random() % 6];
		fg_device_config config = Device(rate, random() % 3 == 0 ? random() % 4 : random() % 200);
		fg_device_direction &d = config.direction[0];
		unsigned largest = random() % 2 == 0 ? 64 : 1518;
		double mean = line_time(rate, (64 + largest) / 2);
		uint64_t launch = 0;
		std::vector<Sent> traffic;

		d.cut_through = random() % 2;
		d.buffer_octets = random() % 2;
		d.buffer *= d.buffer_octets ? 700 : 1;
		d.capacity_fps = random() % 2 ? 1e12 / mean * double(1 + random() % 100) / 60 : 0;
		d.capacity_bps = random() % 2 ? rate * double(1 + random() % 100) / 70 : 0;
		d.latency_ns = double(random() % 100000) / 7;
		d.latency_ns_per_octet = random() % 2 ? double(random() % 1000) / 300 : 0;
		for (int i = 0; i < 3000; i++) {
			traffic.push_back({unsigned(64 + random() % (largest - 63)), launch});
			launch += random() % 3 == 0 ? 0 : random() % uint64_t(3 * mean);
		}
		compare(config, traffic);
		if (HasFailure()) {
			FAIL() << "run " << run;
		}
	}
}

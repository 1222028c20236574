/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device against closed formulas, and against a simulation that knows nothing of how the device does
 * it: events in order of time, a queue, a server.
 */
#include <cmath>
#include <deque>
#include <random>

#include "fg_int128.h"
#include "wire_under_test.h"

namespace
{

const uint64_t ns = 1000, us = 1000 * ns; /* in ps */

/* first bit in to first bit of the next, and to the last of the frame itself, ps */
double
line_time(double rate, unsigned size)
{
	return 8e12 / rate * (size + 20);
}

double
store_time(double rate, unsigned size)
{
	return 8e12 / rate * size;
}

struct Sent {
	unsigned size;
	uint64_t launch;
};

/* ps with 64 bits of fraction: exact where an octet takes a whole number of them, and never drifting apart */
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
		Time delay = picoseconds(1e3L * d.latency_ns + 1e3L * d.latency_ns_per_octet * frame.size);

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

TEST(WireLine, SendsFramesOneAfterTheOther)
{
	for (double rate : {1e7, 1e9, 1e10, 1e11, 4e11})
		for (unsigned size : {64, 65, 512, 1518, 9018, 16128}) {
			Wire wire(Device(rate));
			std::vector<Arrival> got;

			for (uint32_t i = 0; i < 10; i++)
				wire.Launch(0, i, size, 0);
			got = wire.Receive(1);
			ASSERT_EQ(10u, got.size());
			for (uint32_t i = 0; i < 10; i++) {
				EXPECT_EQ(i, got[i].number);
				EXPECT_NEAR(store_time(rate, size) + i * line_time(rate, size),
					    double(got[i].time), 1);
			}
		}
}

TEST(WireLine, CarriesItsFullRateWithoutAnyBuffer)
{
	/* also where an octet takes no whole number of picoseconds */
	for (double rate : {1e9, 3e9, 7e9, 1e11, 1.7e9})
		for (unsigned size : {64, 65, 1518}) {
			Wire wire(Device(rate, 0));

			for (uint32_t i = 0; i < 5000; i++)
				wire.Launch(0, i, size, 0);
			EXPECT_EQ(5000u, wire.Receive(1).size()) << rate << " bit/s, " << size;
		}
}

TEST(WireLine, SendsAtTheLaunchTimeButNotBeforeTheLineIsFree)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	wire.Launch(0, 0, 64, 5 * us);
	wire.Launch(0, 1, 64, 5 * us + 100 * ns); /* the line is busy for 672 ns */
	wire.Launch(0, 2, 64, 10 * us);
	wire.Launch(0, 3, 64, 4 * us); /* too late for that */
	got = wire.Receive(1);
	ASSERT_EQ(4u, got.size());
	EXPECT_EQ(5 * us + 512 * ns, got[0].time);
	EXPECT_EQ(5 * us + (672 + 512) * ns, got[1].time);
	EXPECT_EQ(10 * us + 512 * ns, got[2].time);
	EXPECT_EQ(10 * us + (672 + 512) * ns, got[3].time);
}

TEST(WireLine, SendsNothingBeforeNow)
{
	Wire wire(Device(1e9));

	wire.Launch(0, 0, 64, 5 * us, /*now*/ 7 * us);
	wire.Send(0, frames::Bytes(60), 9 * us); /* without launch time */
	EXPECT_EQ(7 * us + 512 * ns, wire.Receive(1)[0].time);
	EXPECT_EQ(9 * us + 512 * ns, wire.Receive(1).empty() ? 9 * us + 512 * ns : 0) << "all came at once";
}

TEST(WireLine, TakesNoLessThanSixtyFourOctets)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	for (size_t length : {4, 20, 59, 60})
		wire.Send(0, frames::Bytes(length));
	got = wire.Receive(1);
	ASSERT_EQ(4u, got.size());
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ((512 + i * 672) * ns, got[i].time);
}

TEST(WireLine, HandsOutNothingBeforeItArrives)
{
	Wire wire(Device(1e9));

	EXPECT_EQ(UINT64_MAX, wire.Port(1)->next_arrival(wire.Port(1)));
	wire.Launch(0, 0, 64, 0);
	wire.Launch(0, 1, 64, 5 * us);
	EXPECT_EQ(512 * ns, wire.Port(1)->next_arrival(wire.Port(1)));
	EXPECT_EQ(0u, wire.Receive(1, 512 * ns - 1).size());
	EXPECT_EQ(1u, wire.Receive(1, 512 * ns).size());
	EXPECT_EQ(5 * us + 512 * ns, wire.Port(1)->next_arrival(wire.Port(1)));
	EXPECT_EQ(1u, wire.Receive(1).size());
	EXPECT_EQ(0u, wire.Receive(0).size()) << "nothing for the sender";
}

TEST(WireLine, IsFullDuplex)
{
	Wire wire(Device(1e9));

	for (uint32_t i = 0; i < 100; i++) {
		wire.Launch(0, i, 1518, 0);
		wire.Launch(1, i, 64, 0);
	}
	EXPECT_EQ(uint64_t(store_time(1e9, 1518) + 99 * line_time(1e9, 1518)), wire.Receive(1).back().time);
	EXPECT_EQ(uint64_t(store_time(1e9, 64) + 99 * line_time(1e9, 64)), wire.Receive(0).back().time);
}

TEST(Device, DelaysByWhatItStoresAndByItsLatency)
{
	for (double rate : {1e8, 1e9, 1e10, 1e11})
		for (unsigned size : {64, 512, 1518, 9018})
			for (bool cut_through : {false, true})
				for (double latency : {0.0, 1.0, 20000.0, 1e6 / 3})
					for (double per_octet : {0.0, 0.8, 12.5}) {
						fg_device_config config = Device(rate);
						double expected = store_time(rate, cut_through ? 14 : size) +
								  1e3 * (latency + per_octet * size);

						config.direction[0].cut_through = cut_through;
						config.direction[0].latency_ns = latency;
						config.direction[0].latency_ns_per_octet = per_octet;
						Wire wire(config);
						wire.Launch(0, 0, size, 1 * us);
						EXPECT_NEAR(1e6 + expected, double(wire.Receive(1)[0].time),
							    1);
					}
}

TEST(Device, ForwardsNoMoreThanItsCapacity)
{
	for (double fps : {1000.0, 734000.0, 900000.0, 1488095.0, 2e6}) {
		fg_device_config config = Device(1e9, 100000);
		double spacing = std::max(1e12 / fps, line_time(1e9, 64));
		std::vector<Arrival> got;

		config.direction[0].capacity_fps = fps;
		Wire wire(config);
		for (uint32_t i = 0; i < 1000; i++)
			wire.Launch(0, i, 64, 0);
		got = wire.Receive(1);
		ASSERT_EQ(1000u, got.size());
		for (uint32_t i = 0; i < 1000; i++)
			ASSERT_NEAR(store_time(1e9, 64) + i * spacing, double(got[i].time), 1) << fps;
	}
}

TEST(Device, ForwardsNoMoreBitsThanItsBandwidth)
{
	for (double bps : {1e6, 3e8, 9e8, 2e9})
		for (unsigned size : {64, 1518}) {
			fg_device_config config = Device(1e9, 100000);
			double spacing = std::max(8e12 * size / bps, line_time(1e9, size));
			std::vector<Arrival> got;

			config.direction[0].capacity_bps = bps;
			Wire wire(config);
			for (uint32_t i = 0; i < 1000; i++)
				wire.Launch(0, i, size, 0);
			got = wire.Receive(1);
			ASSERT_EQ(1000u, got.size());
			for (uint32_t i = 0; i < 1000; i++)
				ASSERT_NEAR(store_time(1e9, size) + i * spacing, double(got[i].time), 1)
					<< bps;
		}
}

/*
 * A burst of N at the line's rate A (ps a frame) into a server of S > A with room for B. While there is room, nothing is
 * lost; once full, the buffer is full again after every arrival. So when the last one has come, at (N - 1) A,
 * floor((N - 1) A / S) + 1 frames have been taken out and B are still in.
 */
TEST(Device, LosesOfABurstWhatItCannotHold)
{
	const uint64_t A = 672 * ns;

	for (double fps : {100000.0, 500000.0, 800000.0, 1250000.0})
		for (uint64_t B : {1, 2, 16, 512, 4096}) {
			fg_device_config config = Device(1e9, B);
			uint64_t S = uint64_t(1e12 / fps), first_lost = 0;

			config.direction[0].capacity_fps = fps;
			while (first_lost <= B + first_lost * A / S)
				first_lost++;
			for (uint64_t N :
			     {uint64_t(1), first_lost, first_lost + 1, first_lost + 2, uint64_t(20000)}) {
				uint64_t forwarded = N <= first_lost ? N : (N - 1) * A / S + 1 + B;
				Wire wire(config);

				for (uint32_t i = 0; i < N; i++)
					wire.Launch(0, i, 64, 0);
				EXPECT_EQ(forwarded, wire.Counters(0).forwarded)
					<< fps << " fps, " << B << ", " << N;
				EXPECT_EQ(N - forwarded, wire.Counters(0).buffer_full);
				EXPECT_EQ(forwarded, wire.Receive(1).size());
			}
		}
}

TEST(Device, TakesOneAtATimeWithoutBuffer)
{
	const uint64_t A = 672 * ns;

	for (double fps : {100000.0, 500000.0, 800000.0, 1250000.0, 1e12 / 672000}) {
		fg_device_config config = Device(1e9, 0);
		uint64_t S = uint64_t(1e12 / fps), every = (S + A - 1) / A;

		config.direction[0].capacity_fps = fps;
		Wire wire(config);
		for (uint32_t i = 0; i < 20000; i++)
			wire.Launch(0, i, 64, 0);
		EXPECT_EQ((20000 + every - 1) / every, wire.Counters(0).forwarded) << fps;
	}
}

TEST(Device, LosesNothingAtItsCapacityAndSomethingAbove)
{
	fg_device_config config = Device(1e9, 1);

	config.direction[0].capacity_fps = 500000;
	for (uint64_t spacing : {2 * us, 2 * us - 1}) {
		Wire wire(config);

		/* a frame gains a picosecond at most: the buffer lasts for two million of them */
		for (uint32_t i = 0; i < 2000; i++)
			wire.Launch(0, i, 64, i * spacing);
		EXPECT_EQ(0u, wire.Counters(0).buffer_full);
	}
	for (uint64_t spacing : {2 * us, 2 * us - 2 * ns}) {
		Wire wire(config);

		for (uint32_t i = 0; i < 2000; i++)
			wire.Launch(0, i, 64, i * spacing);
		EXPECT_EQ(spacing<2 * us, wire.Counters(0).buffer_full> 0);
	}
}

TEST(Device, CountsItsBufferInOctetsIfSo)
{
	/* one is being forwarded, slowly; of those that wait, as many as fit */
	for (unsigned size : {64, 128, 1518})
		for (uint64_t octets : {0, 63, 64, 65, 1517, 1518, 1519, 10000, 65536}) {
			fg_device_config config = Device(1e9, octets);

			config.direction[0].buffer_octets = true;
			config.direction[0].capacity_fps = 1;
			Wire wire(config);
			for (uint32_t i = 0; i < 2000; i++)
				wire.Launch(0, i, size, 0);
			EXPECT_EQ(1 + std::min<uint64_t>(octets / size, 1999), wire.Counters(0).forwarded)
				<< size << " in " << octets;
		}
}

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

TEST(Device, LosesEveryNth)
{
	for (uint64_t every : {1, 2, 3, 10, 1000}) {
		fg_device_config config = Device(1e9);
		std::vector<Arrival> got;
		uint64_t next = 0;

		config.direction[0].loss_every = every;
		Wire wire(config);
		for (uint32_t i = 0; i < 10000; i++) {
			wire.Launch(0, i, 64, 0);
			wire.Launch(1, i, 64, 0);
		}
		EXPECT_EQ(10000 / every, wire.Counters(0).lossy);
		EXPECT_EQ(10000 - 10000 / every, wire.Counters(0).forwarded);
		EXPECT_EQ(10000u, wire.Receive(0).size()) << "the other direction has its own";
		for (const Arrival &a : wire.Receive(1)) {
			next += (next + 1) % every == 0;
			ASSERT_EQ(next++, a.number);
		}
	}
}

TEST(Device, LosesAtRandomWhatIsExpected)
{
	const double n = 200000;

	for (double p : {0.0, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.999, 1.0}) {
		fg_device_config config = Device(1e9);

		config.direction[0].loss_random = config.direction[1].loss_random = p;
		Wire wire(config);
		for (uint32_t i = 0; i < n; i++) {
			wire.Launch(0, i, 64, 0);
			if (i % 1000 == 0)
				wire.Receive(1);
		}
		EXPECT_NEAR(n * p, double(wire.Counters(0).lossy), 5 * std::sqrt(n * p * (1 - p)));
	}
}

namespace
{

/* which of 1000 frames arrive at a loss of a half */
std::vector<uint32_t>
survivors(Wire &wire, unsigned side)
{
	std::vector<uint32_t> numbers;

	for (uint32_t i = 0; i < 1000; i++)
		wire.Launch(side, i, 64, 0);
	for (const Arrival &a : wire.Receive(1 - side))
		numbers.push_back(a.number);
	return numbers;
}

} // namespace

TEST(Device, LosesTheSameAgainWithTheSameSeed)
{
	fg_device_config config = Device(1e9);

	config.direction[0].loss_random = config.direction[1].loss_random = 0.5;
	Wire one(config), two(config);
	config.seed = 2;
	Wire other(config);
	std::vector<uint32_t> first = survivors(one, 0), second = survivors(one, 0);

	EXPECT_NE(first, second) << "it goes on";
	EXPECT_EQ(first, survivors(two, 0));
	EXPECT_EQ(second, survivors(two, 0));
	EXPECT_NE(first, survivors(one, 1)) << "directions are independent";
	EXPECT_NE(first, survivors(other, 0));
	fg_wire_reset(one.Get());
	EXPECT_EQ(first, survivors(one, 0)) << "begins again after a reset";
}

TEST(Device, HasAnOutageWhenTold)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	fg_wire_outage(wire.Get(), 100 * 1000, 200 * 1000); /* ns: 100 to 200 us */
	for (uint32_t i = 0; i < 300; i++)
		wire.Launch(0, i, 64, i * us);
	/* complete at i us + 512 ns */
	EXPECT_EQ(100u, wire.Counters(0).outage);
	got = wire.Receive(1);
	ASSERT_EQ(200u, got.size());
	EXPECT_EQ(99u, got[99].number);
	EXPECT_EQ(200u, got[100].number);
	fg_wire_reset(wire.Get());
	for (uint32_t i = 0; i < 300; i++)
		wire.Launch(0, i, 64, i * us);
	EXPECT_EQ(0u, wire.Counters(0).outage);
}

TEST(Device, RecoversSlowlyIfSo)
{
	fg_device_config config = Device(1e9, 10);
	uint64_t last = 0;

	config.direction[0].capacity_fps = 500000;
	config.direction[0].recovery_ns = 50e6;
	Wire wire(config);
	for (uint32_t i = 0; i < 1000; i++)
		wire.Launch(0, i, 64, 0);
	last = uint64_t(999 * line_time(1e9, 64) + store_time(1e9, 64));
	EXPECT_EQ(0u, wire.Counters(0).upset) << "not during the overload";
	/* then a frame each 100 us for 100 ms: from 1 ms after the last one lost to 50 ms after it every second is lost */
	for (uint32_t i = 0; i < 1000; i++)
		wire.Launch(0, i, 64, last + (i + 1) * 100 * us);
	EXPECT_NEAR(245, double(wire.Counters(0).upset), 1);
	EXPECT_EQ(2000u, wire.Counters(0).received);
	EXPECT_EQ(2000u, wire.Counters(0).forwarded + wire.Counters(0).buffer_full + wire.Counters(0).upset);
}

TEST(WireReset, ForgetsWhatIsOnTheWay)
{
	fg_device_config config = Device(1e9);
	std::vector<Arrival> got;

	config.direction[0].capacity_fps = 1;
	Wire wire(config);
	for (uint32_t i = 0; i < 5000; i++)
		wire.Launch(0, i, 64, 0);
	EXPECT_EQ(513u, Wire::InUse());
	fg_wire_reset(wire.Get());
	EXPECT_EQ(0u, Wire::InUse());
	EXPECT_EQ(0u, wire.Receive(1).size());
	EXPECT_EQ(0u, wire.Counters(0).received);
	wire.Launch(0, 7, 64, 3 * us);
	got = wire.Receive(1);
	ASSERT_EQ(1u, got.size());
	EXPECT_EQ(3 * us + 512 * ns, got[0].time) << "line and server are idle";
}

TEST(WireRoom, CountsWhatItHasNoRoomForAsMissed)
{
	Wire wire(Device(1e9), 64);

	for (uint32_t i = 0; i < 100; i++)
		wire.Launch(0, i, 64, 0);
	EXPECT_EQ(36u, wire.PortCounters(1).rx_missed);
	EXPECT_EQ(64u, Wire::InUse());
	EXPECT_EQ(64u, wire.Receive(1).size());
	EXPECT_EQ(100u, wire.PortCounters(0).tx_frames);
	EXPECT_EQ(64u, wire.PortCounters(1).rx_frames);
	wire.Launch(0, 0, 64, 0);
	EXPECT_EQ(1u, wire.Receive(1).size()) << "there is room again";
}

TEST(WireRoom, SufficesForWhatCanBeInFlight)
{
	for (double rate : {1e9, 1e10})
		for (unsigned size : {64, 1518})
			for (double latency : {0.0, 20e3, 1e6})
				for (uint64_t buffer : {1, 512, 8192}) {
					fg_device_config config = Device(rate, buffer);
					uint32_t room;
					uint64_t burst_time = uint64_t(32 * line_time(rate, size)), now = 0;

					for (fg_device_direction &d : config.direction) {
						d.latency_ns = latency;
						d.capacity_fps = rate / 1e4;
					}
					room = fg_wire_in_flight(&config, size);
					Wire wire(config, room);
					for (uint32_t i = 0; i < 30000; i++) {
						wire.Launch(0, i, size, 0, now);
						if (i % 32 == 31) {
							now += burst_time;
							wire.Receive(1, now);
						}
					}
					EXPECT_EQ(0u, wire.PortCounters(1).rx_missed);
				}
}

TEST(WireRoom, IsNotPromisedBeyondReason)
{
	fg_device_config config = Device(1e9, 1 << 20);

	EXPECT_EQ(0u, fg_wire_in_flight(&config, 64));
	config = Device(1e11);
	config.direction[0].latency_ns = 10e9;
	EXPECT_EQ(0u, fg_wire_in_flight(&config, 64));
	EXPECT_EQ(0u, fg_wire_in_flight(&config, 1518));
}

namespace
{

void
expect_refused(const fg_device_config &config, uint32_t in_flight, const char *where)
{
	fg_wire *wire = nullptr;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_wire_create(&config, in_flight, &wire, &err)) << where;
	EXPECT_STREQ(where, err.where) << err.message;
	EXPECT_EQ(nullptr, wire);
}

} // namespace

TEST(WireCreate, RefusesWhatMakesNoSense)
{
	const double none = std::nan("");

	expect_refused(Device(1e9), 0, "wire");
	expect_refused(Device(1e9), (1 << 20) + 1, "wire");
	for (double rate : {0.0, -1e9, 999.0, 1.1e12, none, double(INFINITY)})
		expect_refused(Device(rate), 64, "reference_device.rate");
	expect_refused(Device(1e9, (1 << 20) + 1), 64, "reference_device.buffer");
	expect_refused(Device(1e9, UINT64_MAX), 64, "reference_device.buffer");
	for (double value : {-1.0, none, double(INFINITY), 1e30}) {
		for (unsigned side : {0, 1}) {
			fg_device_config config = Device(1e9);
			fg_device_direction &d = config.direction[side];

			d.capacity_fps = value;
			expect_refused(config, 64, "reference_device.capacity");
			d = {};
			d.capacity_bps = value;
			expect_refused(config, 64, "reference_device.bandwidth");
			d = {};
			d.latency_ns = value;
			expect_refused(config, 64, "reference_device.latency");
			d = {};
			d.latency_ns_per_octet = value;
			expect_refused(config, 64, "reference_device.latency_per_byte");
			d = {};
			d.loss_random = value;
			expect_refused(config, 64, "reference_device.loss_random");
		}
	}
	fg_wire_free(nullptr);
}

TEST(WirePort, IsAPortLikeAnyOther)
{
	Wire wire(Device(2.5e9));

	for (unsigned side : {0, 1}) {
		fg_port *port = wire.Port(side);

		EXPECT_STREQ("wire", port->caps.driver);
		EXPECT_EQ(2500000000u, port->caps.line_rate_bps);
		EXPECT_TRUE(port->caps.launch_time);
		EXPECT_TRUE(port->caps.rx_timestamp);
		EXPECT_FALSE(port->caps.physical);
		EXPECT_TRUE(port->ops->link_up(port));
		EXPECT_STREQ(side == 0 ? "wire0" : "wire1", port->device);
		fg_port_close(port);
	}
	EXPECT_NE(0, memcmp(wire.Port(0)->caps.mac, wire.Port(1)->caps.mac, 6));
	wire.Launch(0, 1, 64, 0);
	EXPECT_EQ(1u, wire.Receive(1).size()) << "closing did nothing";
}

TEST(WireBridge, PassesFramesOnAsTheyAre)
{
	std::mt19937_64 random(5);
	Wire wire(Device(1e9));

	for (int i = 0; i < 1000; i++) {
		frames::Bytes frame(14 + random() % 1500);
		std::vector<Arrival> got;

		for (uint8_t &octet : frame)
			octet = uint8_t(random());
		wire.Send(0, frame, 1);
		got = wire.Receive(1);
		ASSERT_EQ(1u, got.size());
		ASSERT_EQ(frame, got[0].bytes);
	}
	EXPECT_EQ(1000u, wire.Counters(0).forwarded);
}

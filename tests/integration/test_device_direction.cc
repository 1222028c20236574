/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device against closed formulas. */
#include <algorithm>
#include <cmath>

#include "device_under_test.h"
#include "draws.h"

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
 * A burst of N at the line's rate A (ps a frame) into a server of S > A with room for B. While there is room,
 * nothing is lost; once full, the buffer is full again after every arrival. So when the last one has come, at
 * (N - 1) A, floor((N - 1) A / S) + 1 frames have been taken out and B are still in.
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

TEST(Device, LosesEveryNth)
{
	for (uint64_t every : {1, 2, 3, 10, 1000}) {
		fg_device_config config = Device(1e9);
		std::vector<Arrival> got;
		uint64_t next = 0;

		config.direction[0].impair.loss.every = every;
		Wire wire(config);
		for (uint32_t i = 0; i < 10000; i++) {
			wire.Launch(0, i, 64, 0);
			wire.Launch(1, i, 64, 0);
		}
		EXPECT_EQ(10000 / every, wire.Counters(0).lost_on_path);
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
	const double n = draws(200000);

	for (double p : {0.0, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.999, 1.0}) {
		fg_device_config config = Device(1e9);

		config.direction[0].impair.loss.random = config.direction[1].impair.loss.random = p;
		Wire wire(config);
		for (uint32_t i = 0; i < n; i++) {
			wire.Launch(0, i, 64, 0);
			if (i % 1000 == 0)
				wire.Receive(1);
		}
		EXPECT_NEAR(n * p, double(wire.Counters(0).lost_on_path), 5 * std::sqrt(n * p * (1 - p)));
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

	config.direction[0].impair.loss.random = config.direction[1].impair.loss.random = 0.5;
	Wire one(config), two(config);
	config.seed = 2;
	Wire other(config);
	std::vector<uint32_t> first = survivors(one, 0), second = survivors(one, 0);

	EXPECT_NE(first, second) << "it goes on";
	EXPECT_EQ(first, survivors(two, 0));
	EXPECT_EQ(second, survivors(two, 0));
	EXPECT_NE(first, survivors(one, 1)) << "directions are independent";
	EXPECT_NE(first, survivors(other, 0));
	fg_device_reset(one.Get(), 0);
	EXPECT_EQ(first, survivors(one, 0)) << "begins again after a reset";
	fg_device_reset(one.Get(), 1);
	std::vector<uint32_t> trial = survivors(one, 0);
	EXPECT_NE(first, trial) << "another trial, other draws";
	EXPECT_NE(second, trial);
	fg_device_reset(two.Get(), 1);
	EXPECT_EQ(trial, survivors(two, 0)) << "that follow from seed and number";
}

TEST(Device, HasAnOutageWhenTold)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	fg_device_outage(wire.Get(), 100 * 1000, 200 * 1000); /* ns: 100 to 200 us */
	for (uint32_t i = 0; i < 300; i++)
		wire.Launch(0, i, 64, i * us);
	/* complete at i us + 512 ns */
	EXPECT_EQ(100u, wire.Counters(0).outage);
	got = wire.Receive(1);
	ASSERT_EQ(200u, got.size());
	EXPECT_EQ(99u, got[99].number);
	EXPECT_EQ(200u, got[100].number);
	fg_device_reset(wire.Get(), 0);
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
	EXPECT_EQ(0u, wire.Counters(0).recovering) << "not during the overload";
	/* then a frame each 100 us for 100 ms: from 1 ms after the last one lost to 50 ms after it every
	 * second is lost */
	for (uint32_t i = 0; i < 1000; i++)
		wire.Launch(0, i, 64, last + (i + 1) * 100 * us);
	EXPECT_NEAR(245, double(wire.Counters(0).recovering), 1);
	EXPECT_EQ(2000u, wire.Counters(0).received);
	EXPECT_EQ(2000u,
		  wire.Counters(0).forwarded + wire.Counters(0).buffer_full + wire.Counters(0).recovering);
}

/* when frames of different sizes come out, and which of them */
static std::vector<Arrival>
PassedThrough(Wire &wire)
{
	for (uint32_t i = 0; i < 2000; i++)
		wire.Launch(0, i, 64 + i % 1400, i * 12 * us);
	return wire.Receive(1);
}

TEST(Device, IsAsOneJustMadeAfterAChange)
{
	fg_device_config plain = Device(1e9, 100), lossy = plain, jittery = plain;
	fg_error err = {};
	Wire changed(plain);

	lossy.seed = jittery.seed = 7;
	lossy.direction[0].impair.loss.random = 0.1;
	lossy.direction[0].capacity_bps = 2e8;
	lossy.direction[0].latency_ns = 5e6;
	jittery.direction[0].impair.jitter_mean_ns = 1e5;
	jittery.direction[0].impair.jitter_reorders = true;
	for (const fg_device_config &config : {lossy, jittery, plain, jittery, lossy}) {
		fg_port *port = changed.Port(1);
		Wire fresh(config);
		std::vector<Arrival> expected = PassedThrough(fresh), got;

		changed.Launch(0, 1, 64, 1 * us); /* is on its way when the device changes */
		ASSERT_EQ(0, fg_device_change(changed.Get(), &config, 65536, &err)) << err.message;
		EXPECT_EQ(port, changed.Port(1));
		EXPECT_EQ(0u, changed.Counters(0).received);
		got = PassedThrough(changed);
		ASSERT_EQ(expected.size(), got.size());
		EXPECT_TRUE(got.size() < 2000 || config.direction[0].impair.loss.random == 0);
		for (size_t i = 0; i < got.size(); i++) {
			ASSERT_EQ(expected[i].number, got[i].number) << i;
			ASSERT_EQ(expected[i].time, got[i].time) << i;
		}
	}
}

TEST(Device, StaysUsableAfterAChangeThatIsNone)
{
	fg_device_config good = Device(1e9), bad = good;
	fg_error err = {};
	Wire wire(good);

	bad.direction[1].impair.loss.random = 2;
	EXPECT_EQ(-EINVAL, fg_device_change(wire.Get(), &bad, 65536, &err));
	EXPECT_STREQ("reference_device.loss_random", err.where);
	ASSERT_EQ(0, fg_device_change(wire.Get(), &good, 65536, &err));
	wire.Launch(0, 3, 64, 1 * us);
	EXPECT_EQ(1u, wire.Receive(1).size());
}

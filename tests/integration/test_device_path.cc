/* SPDX-License-Identifier: BSD-3-Clause */
/* What the impaired wire does to frames, held against what its device says it did. */
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "device_under_test.h"

namespace
{

const unsigned N = 10000;

/* N frames of a size, one each `spacing` ps */
std::vector<Arrival>
pass(Wire &wire, unsigned size = 64, uint64_t spacing = 10 * us, unsigned side = 0)
{
	std::vector<Arrival> all;

	for (uint32_t i = 0; i < N; i++) {
		wire.Launch(side, i, size, i * spacing);
		for (Arrival &a : wire.Receive(1 - side, i * spacing))
			all.push_back(std::move(a));
	}
	for (Arrival &a : wire.Receive(1 - side))
		all.push_back(std::move(a));
	return all;
}

/* RFC 4737, 3: behind a later one; the first copy of each */
uint64_t
reordered(const std::vector<Arrival> &got)
{
	std::set<uint32_t> seen;
	uint64_t next = 0, count = 0;

	for (const Arrival &a : got) {
		if (!seen.insert(a.number).second)
			continue;
		if (a.number < next)
			count++;
		else
			next = a.number + 1;
	}
	return count;
}

} // namespace

TEST(Path, LosesRunsAndPatterns)
{
	fg_device_config config = Device(1e9);

	config.direction[0].impair.loss.every = 100;
	config.direction[0].impair.loss_run = 7;
	Wire wire(config);
	std::vector<Arrival> got = pass(wire);
	EXPECT_EQ(N - N / 100 * 7, got.size());
	for (const Arrival &a : got)
		ASSERT_LT(a.number % 100, 93u);
	EXPECT_EQ(N / 100 * 7, wire.Counters(0).lost_on_path);
}

TEST(Path, LetsKFramesPassEveryNth)
{
	for (uint32_t places : {1, 3, 50}) {
		fg_device_config config = Device(1e9);

		config.direction[0].impair.reorder.every = 100;
		config.direction[0].impair.reorder_places = places;
		config.direction[0].impair.reorder_ns = 1e9;
		Wire wire(config);
		std::vector<Arrival> got = pass(wire);
		ASSERT_EQ(N, got.size());
		/* frame 99 comes `places` places later, and so on; the very last has nothing to wait for */
		for (uint32_t i = 99; i + places < N; i += 100)
			ASSERT_EQ(i, got[i + places].number);
		EXPECT_EQ(N / 100 - 1, reordered(got));
		EXPECT_EQ(N / 100 - 1, wire.Counters(0).reordered);
		for (size_t i = 1; i < got.size(); i++)
			ASSERT_GE(got[i].time - got[i - 1].time, uint64_t(line_time(1e9, 64)));
	}
}

TEST(Path, SendsEveryNthLater)
{
	fg_device_config config = Device(1e9);

	config.direction[0].impair.reorder.every = 10;
	config.direction[0].impair.reorder_ns = 25e3; /* two frames and a half */
	Wire wire(config);
	std::vector<Arrival> got = pass(wire);
	for (const Arrival &a : got) {
		uint64_t plain = a.number * 10 * us + uint64_t(store_time(1e9, 64));

		ASSERT_EQ(plain + (a.number % 10 == 9 ? 25 * us : 0), a.time);
	}
	EXPECT_EQ(N / 10 - 1, wire.Counters(0).reordered);
	EXPECT_EQ(N / 10 - 1, reordered(got));
}

TEST(Path, DeliversCopiesByteByByte)
{
	fg_device_config config = Device(1e9);
	std::map<uint32_t, unsigned> times;

	config.direction[0].impair.duplicate.every = 4;
	config.direction[0].impair.duplicate_ns = 1e3;
	Wire wire(config);
	std::vector<Arrival> got = pass(wire);
	ASSERT_EQ(N + N / 4, got.size());
	for (const Arrival &a : got) {
		frames::Bytes payload(a.bytes.begin(), a.bytes.end() - 4);

		ASSERT_EQ(frames::Bytes(56, 0x5a), payload);
		times[a.number]++;
	}
	for (uint32_t i = 0; i < N; i++)
		ASSERT_EQ(i % 4 == 3 ? 2u : 1u, times[i]);
	EXPECT_EQ(N / 4, wire.Counters(0).duplicated);
	EXPECT_EQ(N, wire.Counters(0).forwarded);
	EXPECT_EQ(0u, wire.Counters(0).reordered);
	EXPECT_EQ(0u, wire.PortCounters(1).rx_no_mbuf);
}

TEST(Path, CorruptsWhereItMay)
{
	for (unsigned size : {64, 1518}) {
		fg_device_config config = Device(1e9);
		uint64_t changed = 0;

		config.direction[0].impair.corrupt.random = 0.1;
		config.direction[0].impair.corrupt_bits = 3;
		config.direction[0].impair.corrupt_skip = 14;
		config.direction[0].impair.corrupt_spare = 4; /* the number */
		Wire wire(config);
		std::vector<Arrival> got = pass(wire, size, 20 * us);
		ASSERT_EQ(N, got.size());
		for (uint32_t i = 0; i < N; i++) {
			frames::Bytes payload(got[i].bytes.begin(), got[i].bytes.end() - 4);
			unsigned bits = 0;

			ASSERT_EQ(i, got[i].number);
			for (size_t k = 0; k < payload.size(); k++) {
				ASSERT_TRUE(payload[k] == 0x5a || k >= 14);
				bits += unsigned(__builtin_popcount(payload[k] ^ 0x5au));
			}
			ASSERT_TRUE(bits == 0 || bits == 3);
			changed += bits > 0;
		}
		EXPECT_EQ(changed, wire.Counters(0).corrupted);
		EXPECT_NEAR(0.1 * N, double(changed), 5 * std::sqrt(0.09 * N));
	}
}

TEST(Path, SaysSoWhenAFrameIsTooLargeToCopy)
{
	fg_device_config config = Device(1e9);

	config.direction[0].impair.duplicate.every = 1;
	config.max_frame = 100;
	Wire wire(config);
	EXPECT_EQ(2 * N, pass(wire, 100).size());
	EXPECT_EQ(N, pass(wire, 1518, 20 * us).size());
	EXPECT_EQ(N, wire.PortCounters(1).rx_no_mbuf);
	EXPECT_EQ(N, wire.Counters(0).duplicated);
}

TEST(Path, JittersInOrderUnlessTold)
{
	for (bool reorders : {false, true}) {
		fg_device_config config = Device(10e9);

		config.direction[0].impair.jitter = FG_JITTER_EXPONENTIAL;
		config.direction[0].impair.jitter_mean_ns = 50e3;
		config.direction[0].impair.jitter_reorders = reorders;
		Wire wire(config);
		std::vector<Arrival> got = pass(wire);
		double sum = 0;

		ASSERT_EQ(N, got.size());
		for (const Arrival &a : got)
			sum += double(a.time - a.number * 10 * us) - store_time(10e9, 64);
		if (reorders) { /* else one waits for another */
			EXPECT_NEAR(50e6, sum / N, 5 * 50e6 / std::sqrt(N));
		}
		EXPECT_EQ(reorders, reordered(got) > 0);
		EXPECT_EQ(reordered(got), wire.Counters(0).reordered);
		for (size_t i = 1; i < got.size(); i++)
			ASSERT_GE(got[i].time + 1 - got[i - 1].time, uint64_t(line_time(10e9, 64)));
	}
}

TEST(Path, KeepsCountWithEverythingAtOnce)
{
	fg_device_config config = Device(1e9);
	std::set<uint32_t> numbers;

	for (fg_device_direction &d : config.direction) {
		d.capacity_fps = 200000;
		d.impair.loss.random = 0.01;
		d.impair.burst_begin = 0.001;
		d.impair.burst_end = 0.3;
		d.impair.burst_loss = 1;
		d.impair.jitter_mean_ns = 30e3;
		d.impair.jitter_reorders = true;
		d.impair.reorder = {100, 0.01};
		d.impair.reorder_places = 5;
		d.impair.reorder_ns = 1e6;
		d.impair.duplicate = {50, 0.01};
		d.impair.corrupt = {30, 0.01};
		d.impair.corrupt_spare = 4;
	}
	Wire wire(config), again(config);
	std::vector<Arrival> got = pass(wire), same = pass(again);
	fg_device_counters c = wire.Counters(0);

	for (const Arrival &a : got)
		numbers.insert(a.number);
	EXPECT_EQ(N, c.received);
	EXPECT_EQ(N - c.lost_on_path, c.forwarded);
	EXPECT_EQ(c.forwarded, numbers.size());
	EXPECT_EQ(c.forwarded + c.duplicated, got.size());
	EXPECT_EQ(reordered(got), c.reordered);
	EXPECT_GT(c.corrupted, N / 30);
	EXPECT_EQ(0u, wire.PortCounters(1).rx_missed);
	ASSERT_EQ(same.size(), got.size());
	for (size_t i = 0; i < got.size(); i++)
		ASSERT_TRUE(got[i].time == same[i].time && got[i].bytes == same[i].bytes);
	fg_device_reset(wire.Get(), 0);
	EXPECT_EQ(0u, wire.Counters(0).reordered);
	same = pass(wire);
	EXPECT_EQ(got.size(), same.size()) << "begins again after a reset";
}

TEST(Path, OneWayDoesNotImpairTheOther)
{
	fg_device_config config = Device(1e9);

	config.direction[1].impair.duplicate.every = 1;
	Wire wire(config);
	std::vector<Arrival> got = pass(wire);
	ASSERT_EQ(N, got.size());
	EXPECT_EQ(uint64_t(store_time(1e9, 64)), got[0].time);
	EXPECT_EQ(2 * N, pass(wire, 64, 10 * us, 1).size());
}

TEST(Path, ReflectsToThePortItCameFrom)
{
	for (double jitter : {0.0, 1e3}) {
		fg_device_config config = Device(1e9);
		frames::Bytes frame(60, 0), back;
		const frames::Bytes macs = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0},
				    macs_back = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0},
				    ip = {0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0,
					  1,    2, 3, 4,  5, 6, 7, 8, 0,  1,  0, 2},
				    ip_back = {0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0,
					       5,    6, 7, 8,  1, 2, 3, 4, 0,  2,  0, 1};

		config.reflect = true;
		config.direction[0].latency_ns = 5e3;
		config.direction[0].impair.jitter_mean_ns = jitter;
		Wire wire(config);
		std::copy(macs.begin(), macs.end(), frame.begin());
		std::copy(ip.begin(), ip.end(), frame.begin() + 14);
		back = frame;
		std::copy(macs_back.begin(), macs_back.end(), back.begin());
		std::copy(ip_back.begin(), ip_back.end(), back.begin() + 14);
		wire.Send(0, frame);
		EXPECT_TRUE(wire.Receive(1).empty());
		std::vector<Arrival> got = wire.Receive(0);
		ASSERT_EQ(1u, got.size());
		EXPECT_EQ(back, got[0].bytes);
		EXPECT_NEAR(5e6 + store_time(1e9, 64) + 1e3 * jitter, double(got[0].time), 1e3 * jitter + 1);
		frame[0] = 0xff; /* to all */
		wire.Send(0, frame);
		EXPECT_TRUE(wire.Receive(0).empty());
		EXPECT_EQ(1u, wire.Counters(0).unroutable);
		EXPECT_EQ(1u, wire.Counters(0).forwarded);
	}
}

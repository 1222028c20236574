/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a path of known properties does to frames is measured: counts exactly, for one stream and for
 * thousands at once, and times within what the configuration allows.
 */
#include <algorithm>

#include "engine_on_wire.h"

namespace
{

const unsigned size = 128, headers = 42, signature = 18;
const unsigned everything = FG_MEASURE_VARIATION | FG_MEASURE_SERIES | FG_MEASURE_PAYLOAD;

/* streams that take turns in a load, so that frame n of the load is frame n / streams of stream n %
 * streams */
struct Path {
	Path(const fg_impair_config &impair, unsigned streams, uint64_t frames, double fps = 500000,
	     unsigned measured = everything)
	    : bench(device(impair), roomy()), frame(TestFrame(size))
	{
		std::vector<Stream> all;

		for (unsigned i = 0; i < streams; i++)
			all.push_back({0, 1, frame, {{fps, frames}}, {i, 1, streams}, false, measured});
		bench.engine.Run(all, {0, uint64_t(double(frames) / fps * 1000), 100, 0});
		for (unsigned i = 0; i < streams; i++) {
			results.push_back(bench.engine.Result(i));
			ExpectConsistent(results.back());
		}
	}

	static fg_device_config
	device(const fg_impair_config &impair)
	{
		fg_device_config device = Device(1e9, 8192);

		device.direction[0].impair = impair;
		return device;
	}
	static fg_engine_config
	roomy()
	{
		fg_engine_config config = free_time();

		config.max_frame = size;
		return config;
	}
	fg_device_counters
	Truth() const
	{
		return bench.wire.Counters(0);
	}
	/* of all streams */
	template <typename T>
	uint64_t
	Sum(T fg_stream_result::*member) const
	{
		uint64_t sum = 0;

		for (const fg_stream_result &r : results)
			sum += uint64_t(r.*member);
		return sum;
	}

	Bench bench;
	Template frame;
	std::vector<fg_stream_result> results;
};

bool
struck(uint64_t n, uint64_t every)
{
	return (n + 1) % every == 0;
}

/* what RFC 4737 says of one stream, when of all frames every n-th lets some later ones pass */
struct Reordered {
	uint64_t reordered = 0, extent_max = 0, offset_sum = 0, n3 = 0;
};

Reordered
reordering(uint64_t frames, unsigned streams, unsigned stream, unsigned every, unsigned places)
{
	std::vector<uint64_t> all, numbers;
	Reordered r;

	for (uint64_t n = 0; n < frames; n++) {
		if (!struck(n, every))
			all.push_back(n);
		/* the one held back is behind `places` others; the last one is n */
		if (n >= places && struck(n - places, every))
			all.push_back(n - places);
	}
	for (uint64_t n : all)
		if (n % streams == stream)
			numbers.push_back(n / streams);
	for (size_t i = 1; i < numbers.size(); i++) {
		auto larger = [&](uint64_t n) { return n > numbers[i]; };
		auto begin = numbers.begin() + (i < 1000 ? 0 : long(i) - 1000),
		     end = numbers.begin() + long(i);
		auto first = std::find_if(begin, end, larger);

		if (first == end)
			continue;
		r.reordered++;
		r.extent_max = std::max<uint64_t>(r.extent_max, uint64_t(end - first));
		r.offset_sum += uint64_t(std::count_if(begin, end, larger));
		r.n3 += i >= 3 && std::all_of(end - 3, end, larger);
	}
	return r;
}

} // namespace

TEST(EngineTruth, LossRunsAreBurstsOfTheirLength)
{
	fg_impair_config impair = {};

	impair.loss.every = 1000;
	impair.loss_run = 10;
	Path path(impair, 1, 100000);
	const fg_stream_result &r = path.results[0];

	EXPECT_EQ(1000, r.lost);
	EXPECT_EQ(100u, r.loss_bursts);
	EXPECT_EQ(10u, r.max_loss_burst);
	EXPECT_EQ(100u, r.loss.lengths[3]) << "8 to 15";
	EXPECT_EQ(99u, r.loss.distances[9]) << "991, and the last frames are lost, too";
	EXPECT_EQ(path.Truth().lost_on_path, uint64_t(r.lost));
	EXPECT_EQ(20000, r.loss.longest_outage_ns) << "ten frames at 500,000 a second";
}

TEST(EngineTruth, RandomLossIsTheDevicesOfEveryStream)
{
	for (unsigned streams : {1, 100, 10000}) {
		fg_impair_config impair = {};

		impair.loss.random = 0.05;
		Path path(impair, streams, 50000);
		EXPECT_EQ(path.Truth().lost_on_path, path.Sum(&fg_stream_result::lost)) << streams;
		EXPECT_NEAR(2500, double(path.Sum(&fg_stream_result::lost)), 250);
		EXPECT_EQ(path.Truth().forwarded, path.Sum(&fg_stream_result::rx));
		EXPECT_EQ(0u,
			  path.Sum(&fg_stream_result::reordered) + path.Sum(&fg_stream_result::duplicates));
	}
}

TEST(EngineTruth, FewPayloadsAreComparedUntilOneHasChanged)
{
	const uint64_t frames = 64000;

	for (unsigned streams : {1, 100}) {
		for (uint32_t every : {0, 2, 64}) {
			fg_impair_config impair = {};
			uint64_t changed = 0;

			impair.corrupt.every = every;
			impair.corrupt_skip = headers;
			impair.corrupt_spare = signature;
			Path path(impair, streams, frames, 500000, 0);
			for (const fg_stream_result &r : path.results) {
				changed += r.altered[FG_ALTERED_PAYLOAD];
				EXPECT_EQ(uint64_t(r.lost), r.altered[FG_ALTERED_PAYLOAD]);
				EXPECT_EQ(0u, r.stale + r.duplicates + r.reordered + r.corrupted);
			}
			EXPECT_EQ(frames, path.Sum(&fg_stream_result::rx) + changed);
			EXPECT_LE(changed, path.Truth().corrupted);
			if (every == 0) {
				EXPECT_NEAR(double(frames) / 64,
					    double(path.Sum(&fg_stream_result::payload_checked)),
					    double(frames) / 64 / 5);
				continue;
			}
			/* some 64 * every frames before the first that was compared are unknown */
			EXPECT_GT(changed + streams * 64 / 2 * every, path.Truth().corrupted / 2) << every;
			EXPECT_GT(changed, 0u) << streams << " streams, every " << every;
		}
	}
}

/* of many streams, a receiver of plain counts only notes what is in order, and enters it later */
TEST(EngineTruth, WhatIsNotedFirstCountsTheSame)
{
	std::vector<fg_impair_config> impairs(5);

	impairs[1].loss.random = 0.05;
	impairs[2].reorder.every = 350;
	impairs[2].reorder_places = 210;
	impairs[2].reorder_ns = 1e9;
	impairs[3].duplicate.every = 7;
	impairs[3].duplicate_ns = 300000;
	impairs[4].jitter = FG_JITTER_UNIFORM;
	impairs[4].jitter_mean_ns = 500000;
	impairs[4].jitter_reorders = true;
	for (const fg_impair_config &impair : impairs) {
		std::vector<fg_stream_result> all = Path(impair, 100, 100003).results,
					      plain = Path(impair, 100, 100003, 500000, 0).results;

		for (unsigned i = 0; i < 100; i++)
			ASSERT_EQ(0, memcmp(&all[i], &plain[i], offsetof(fg_stream_result, variation)))
				<< "stream " << i << " of impairment " << &impair - impairs.data();
	}
}

/* the delays of the frames that are asked for, and of no others: the later a frame, the longer the queue
 * before the device */
TEST(EngineTruth, TagsAreThoseOfTheirFramesAmongManyStreams)
{
	const unsigned streams = 100, frames = 20000;
	fg_device_config slow = Device(1e9, 65536);
	std::vector<Stream> all;
	Template frame = TestFrame(size);

	slow.direction[0].capacity_fps = 250000; /* a frame waits 2 us for each one before it */
	Bench bench(slow, free_time());
	for (unsigned i = 0; i < streams; i++)
		all.push_back({0, 1, frame, {{500000, frames}}, {i, 1, streams}});
	ASSERT_EQ(0, bench.engine.Prepare(
			     all, {0, frames * 2, 100000, 0}, 1000000, nullptr, [&](fg_trial_config &c) {
				     for (unsigned i = 0; i < streams; i++) {
					     auto *s = const_cast<fg_stream_config *>(&c.stream[i]);

					     s->tag_first = i % 20;
					     s->tag_every = 1 + i % 10;
					     s->tags = 8;
				     }
			     }));
	fg_engine_start(bench.engine.Get());
	bench.engine.Await();
	for (unsigned i = 0; i < streams; i++) {
		uint64_t least = bench.engine.Result(i).latency.min_ns;
		int64_t delay[9];

		ASSERT_EQ(8u, fg_engine_tags(bench.engine.Get(), i, delay, 9));
		for (unsigned k = 0; k < 8; k++)
			ASSERT_EQ(least + 2000 * 100 * (i % 20 + k * (1 + i % 10)), uint64_t(delay[k]))
				<< "stream " << i << ", tag " << k;
	}
}

TEST(EngineTruth, ReorderingIsThatOfThePath)
{
	for (unsigned streams : {1, 3, 100}) {
		fg_impair_config impair = {};
		const unsigned every = 350, places = 210, frames = 57 * every + places + 70;

		impair.reorder.every = every;
		impair.reorder_places = places;
		impair.reorder_ns = 1e9;
		Path path(impair, streams, frames);
		uint64_t all = 0;

		for (unsigned i = 0; i < streams; i++) {
			Reordered want = reordering(frames, streams, i, every, places);
			const fg_stream_result &r = path.results[i];

			ASSERT_EQ(want.reordered, r.reordered) << streams << " streams, stream " << i;
			ASSERT_EQ(want.extent_max, r.order.extent_max);
			ASSERT_EQ(want.offset_sum, r.order.offset_sum);
			ASSERT_EQ(want.n3, r.order.n_reordered[3 - 1]);
			ASSERT_EQ(want.reordered, r.order.runs);
			ASSERT_EQ(0, r.lost);
			ASSERT_EQ(0u, r.stale);
			all += want.reordered;
		}
		if (streams == 1) {
			EXPECT_EQ(path.Truth().reordered, all);
			/* let pass by 210 frames of 2 us each, and behind them on the line; found after the
			 * first of them */
			EXPECT_NEAR(209 * 2000 + 1184, double(path.results[0].order.late_max), 2);
			EXPECT_EQ(210u, path.results[0].order.extent_max);
		}
		EXPECT_GT(all, frames / every - 5);
	}
}

TEST(EngineTruth, CopiesAreCountedAndNotMeasured)
{
	for (unsigned streams : {1, 100, 10000}) {
		fg_impair_config impair = {};

		impair.duplicate.every = 7;
		Path path(impair, streams, 50000, 400000);
		for (unsigned i = 0; i < streams; i++) {
			const fg_stream_result &r = path.results[i];
			uint64_t copies = 0;

			for (uint64_t n = i; n < 50000; n += streams)
				copies += struck(n, 7);
			ASSERT_EQ(copies, r.duplicates) << streams << " streams, stream " << i;
			ASSERT_EQ(copies, r.duplicated);
			ASSERT_EQ(r.tx, r.rx);
			ASSERT_EQ(r.rx, r.latency.count);
			ASSERT_EQ(0u, r.reordered);
			ASSERT_EQ(copies, path.bench.engine.Series(i)[0].duplicates);
		}
		EXPECT_EQ(path.Truth().duplicated, path.Sum(&fg_stream_result::duplicates));
	}
}

TEST(EngineTruth, InvertedBitsAreFound)
{
	for (unsigned streams : {1, 100}) {
		fg_impair_config impair = {};

		impair.corrupt.every = 9;
		impair.corrupt_bits = 3;
		impair.corrupt_skip = headers;
		impair.corrupt_spare = signature;
		Path path(impair, streams, 50000);
		for (unsigned i = 0; i < streams; i++) {
			const fg_stream_result &r = path.results[i];
			uint64_t corrupted = 0;

			for (uint64_t n = i; n < 50000; n += streams)
				corrupted += struck(n, 9);
			ASSERT_EQ(corrupted, r.corrupted) << streams << " streams, stream " << i;
			ASSERT_EQ(3 * corrupted, r.bit_errors);
			ASSERT_EQ(r.tx, r.rx);
		}
		EXPECT_EQ(path.Truth().corrupted, path.Sum(&fg_stream_result::corrupted));
	}
}

TEST(EngineTruth, ACorruptedSignatureIsALossAndAForeignFrame)
{
	fg_impair_config impair = {};

	impair.corrupt.every = 10;
	impair.corrupt_skip = size - 4 - signature;
	Path path(impair, 1, 10000);
	const fg_stream_result &r = path.results[0];

	EXPECT_EQ(1000, r.lost);
	EXPECT_EQ(0u, r.corrupted);
	EXPECT_EQ(1000u, path.bench.engine.PortResult(1).unsolicited);
	EXPECT_EQ(1000u, path.bench.engine.PortResult(1).unsolicited_kind[FG_NET_KIND_IPV4]);
}

TEST(EngineTruth, JitterHasItsDistribution)
{
	fg_impair_config impair = {};

	/* from 0 to 200 us, each frame long after the one before */
	impair.jitter = FG_JITTER_UNIFORM;
	impair.jitter_mean_ns = 100000;
	Path path(impair, 1, 50000, 2000);
	const fg_stream_result &r = path.results[0];
	const uint64_t least = 1024; /* stored and forwarded */

	EXPECT_EQ(0u, uint64_t(r.lost) + r.reordered);
	EXPECT_NEAR(double(least), double(r.latency.min_ns), 50);
	EXPECT_NEAR(double(least) + 200000, double(r.latency.max_ns), 50);
	EXPECT_NEAR(double(least) + 100000, r.latency.mean_ns, 1000);
	EXPECT_NEAR(double(least) + 100000, double(r.latency.p50_ns), 2000);
	EXPECT_NEAR(double(least) + 199800, double(r.latency.p999_ns), 400);
	/* the difference of two has a triangular distribution: of its magnitude the mean is a third of the
	 * range */
	EXPECT_EQ(49999u, r.variation.pairs);
	EXPECT_NEAR(0, r.variation.mean, 5);
	EXPECT_NEAR(0, r.variation.median, 2000);
	EXPECT_NEAR(200000 / 3.0, r.variation.mean_magnitude, 1000);
	EXPECT_NEAR(200000, double(r.variation.max), 2000);
	EXPECT_NEAR(-200000, double(r.variation.min), 2000);
	/* J is the mean of the last 16 or so */
	EXPECT_NEAR(200000 / 3.0, r.variation.jitter, 45000);
	EXPECT_LT(r.variation.jitter, r.variation.jitter_max);
	for (const fg_interval &s : path.bench.engine.Series(0)) {
		EXPECT_EQ(2000u, s.rx);
		EXPECT_NEAR(double(least) + 100000, s.delay_mean_ns, 5500);
		EXPECT_LE(s.delay_p999_ns, s.delay_max_ns);
		EXPECT_GE(double(s.delay_p999_ns), double(least) + 198000);
	}
}

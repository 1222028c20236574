/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves, and when: sizes and shapes of load on the wire, every single departure against what was
 * intended. */
#include <cmath>

#include "engine_departures.h"
#include "fg_pace.h"

namespace
{

const std::vector<uint16_t> simple = {64, 64, 570, 64, 64, 570, 64, 570, 64, 64, 570, 1518};

fg_load
endless(double fps, uint64_t milliseconds)
{
	fg_load l = {};

	l.fps = fps;
	l.ns = milliseconds * 1000000;
	return l;
}

fg_pace
pace_of(const fg_load &l, uint64_t start_ns, uint64_t frames)
{
	fg_pace p;

	EXPECT_EQ(0, fg_pace_constant(&p, l.fps, FG_DEVICE_HZ, start_ns * ns, frames, UINT64_MAX, nullptr));
	return p;
}

/* all frames left, each at its time, and came through without waiting for another */
void
expect_departures(const Watch &watch, const fg_pace &pace)
{
	ASSERT_EQ(pace.total, watch.list.size());
	for (uint64_t i = 0; i < pace.total; i++) {
		const Departure &d = watch.list[i];

		ASSERT_EQ(i, d.number);
		/* a rate of whole frames a second may be a trifle above what the line carries */
		ASSERT_NEAR(double(fg_pace_at(&pace, i) / ns), double(d.ns), 1) << i;
	}
}

} // namespace

/* at the rate of the line, by bytes at layer 1: no frame waits, and no time is left between them */
TEST(EngineSizes, FillTheLine)
{
	Template none;
	Mix mix(simple);
	fg_load load = endless(1e9 / (8 * (mix.Mean() + 20)), 500);
	Watch watch;
	uint64_t octets = 0;

	Bench b(limited(0, 32)); /* small frames are stored while a large one leaves */
	load.by_octets = true;
	load.overhead = 20;
	uint64_t start =
		run_watched(b, {{0, 1, none, {load}, {}, false, 0, 0, false, mix.sizes, mix.frames.data()}},
			    second, watch);
	fg_stream_result r = b.engine.Result(0);
	expect_lossless(r, uint64_t(load.fps * 0.5 + 0.5));
	ASSERT_EQ(r.rx, watch.list.size());
	for (const Departure &d : watch.list) {
		ASSERT_EQ(simple[d.number % simple.size()], d.size);
		ASSERT_NEAR(double(start + octets * 8), double(d.ns), 1) << d.number;
		/* stored, 20 us in the device; on the way out a small frame waits for the large one before */
		ASSERT_GE(d.arrival_ns - d.ns, 8 * d.size + 19999);
		octets += d.size + 20;
	}
	EXPECT_EQ(octets - 20 * r.tx, r.octets);
}

TEST(EngineSizes, LeaveEvenlyByFrames)
{
	Template none;
	Mix mix({64, 1518, 128});
	fg_load load = endless(50000, 300);
	Watch watch;

	Bench b(limited(0, 16));
	uint64_t start =
		run_watched(b, {{0, 1, none, {load}, {}, false, 0, 0, false, mix.sizes, mix.frames.data()}},
			    second, watch);
	expect_lossless(b.engine.Result(0), 15000);
	expect_departures(watch, pace_of(load, start, 15000));
	for (const Departure &d : watch.list)
		ASSERT_EQ(mix.sizes->size[d.number % 3], d.size);
}

/* buffers go from frame to frame, of one size and another, and from trial to trial */
TEST(EngineSizes, LeaveNothingInEachOthersPayload)
{
	Template none, longest = TestFrame(1518);
	Mix few(simple), close({1518, 64, 66, 80, 81, 99, 1000}),
		many({1518, 64, 65, 66, 70, 80, 99, 128, 512, 64});
	Bench b(limited(0, 4096));

	for (const std::vector<const Mix *> &mixes : std::vector<std::vector<const Mix *>>{
		     {&few}, {&close}, {&many}, {&few, &close}, {}, {&few, &few, &many}, {&close}}) {
		std::vector<Stream> streams;

		for (const Mix *mix : mixes)
			streams.push_back({0,
					   1,
					   none,
					   {endless(20000, 200)},
					   {},
					   false,
					   FG_MEASURE_PAYLOAD,
					   0,
					   false,
					   mix->sizes,
					   mix->frames.data()});
		if (mixes.size() != 1)
			streams.push_back(
				{0, 1, longest, {endless(10000, 200)}, {}, false, FG_MEASURE_PAYLOAD});
		b.engine.Run(streams, second);
		for (unsigned i = 0; i < streams.size(); i++) {
			fg_stream_result r = b.engine.Result(i);

			expect_lossless(r, uint64_t(streams[i].loads[0].fps / 5));
			EXPECT_EQ(r.octets - r.tx * (42 + 18 + 4), r.payload_octets);
			EXPECT_EQ(0u, r.corrupted) << "stream " << i << " of " << streams.size();
		}
	}
}

TEST(EngineSizes, NeedAFrameOfEachSize)
{
	Template none;
	Mix mix({64, 128}), other({64, 129});
	Bench b(Device(1e9));

	EXPECT_EQ(
		-EINVAL,
		b.engine.Prepare(
			{{0, 1, none, {{1000, 10}}, {}, false, 0, 0, false, mix.sizes, other.frames.data()}},
			second));
	EXPECT_STREQ("stream.size", b.engine.err.where);
}

TEST(EngineLoads, SendBurstsInTheirOrder)
{
	Template frame = TestFrame(64);
	fg_load load = endless(100000, 500);
	Watch watch;

	load.shape = FG_LOAD_BURSTS;
	load.burst = 50;
	load.burst_fps = 1e9 / (8 * 84);
	Bench b(limited(0, 64));
	uint64_t start = run_watched(b, {{0, 1, frame, {load}}}, second, watch);
	fg_pace expected = pace_of(load, start, 50000);
	ASSERT_EQ(0, fg_pace_bursts(&expected, 50, load.burst_fps, FG_DEVICE_HZ, nullptr));
	expect_lossless(b.engine.Result(0), 50000);
	expect_departures(watch, expected);
	EXPECT_NEAR(20512, double(b.engine.Result(0).latency.max_ns), 1) << "back to back, but not more";
}

TEST(EngineLoads, RampUpAndDown)
{
	Template frame = TestFrame(64);
	fg_load up = endless(1000, 400), down = endless(1400000, 400);
	Watch watch;

	up.shape = down.shape = FG_LOAD_RAMP;
	up.end_fps = 1400000;
	Bench b(limited(0, 64));
	uint64_t start = run_watched(b, {{0, 1, frame, {up, down}}}, second, watch);
	fg_stream_result r = b.engine.Result(0);
	expect_lossless(r, uint64_t((1000 + 1400000) * 0.2 + 1400000 * 0.2));
	for (const Departure &d : watch.list) {
		double t = double(d.ns - start) * 1e-9, i = double(d.number);

		/* the area under the rates */
		ASSERT_NEAR(t < 0.4 ? 1000 * t + 1399000 / 0.4 * t * t / 2
				    : 280200 + 1400000 * (t - 0.4) -
					      1400000 / 0.4 * (t - 0.4) * (t - 0.4) / 2,
			    i, 0.01);
	}
}

/* steps of parts of a frame are one curve: the first frame of a step departs when the last one before it has
 * had its time */
TEST(EngineLoads, ClimbStairs)
{
	Template frame = TestFrame(64);
	std::vector<fg_load> stairs;
	Watch watch;

	for (unsigned i = 1; i <= 5; i++)
		stairs.push_back(endless(i * 33333.3, 100));
	Bench b(limited(0, 64));
	uint64_t start = run_watched(b, {{0, 1, frame, stairs}}, second, watch);
	expect_lossless(b.engine.Result(0), 50000); /* 49,999.95 */
	for (const Departure &d : watch.list) {
		double due = double(d.number), t = 0;

		for (const fg_load &step : stairs) {
			double frames = std::min(due, step.fps * 0.1);

			due -= frames;
			t += frames / step.fps;
		}
		ASSERT_NEAR(double(start) + t * 1e9, double(d.ns), 1.1) << d.number;
	}
}

TEST(EngineLoads, SendFramesOfManySenders)
{
	Template frame = TestFrame(64);
	fg_load load = endless(300000, 1000);
	Watch watch;

	load.shape = FG_LOAD_POISSON;
	load.seed = 77;
	Bench b(limited(0, 512));
	uint64_t start = run_watched(b, {{0, 1, frame, {load}}}, second, watch);
	fg_pace expected = pace_of(load, start, UINT64_MAX);
	fg_stream_result r = b.engine.Result(0);
	uint64_t n = 0, line_free = 0, longest = 0;

	/* each when it is due, or when the one before has left the line: 64 bytes take 672 ns */
	fg_pace_poisson(&expected, 77);
	for (; fg_pace_next(&expected) < (start + 1000000000) * ns; fg_pace_commit(&expected, 1), n++) {
		const uint64_t due = fg_pace_next(&expected), left = std::max(due, line_free);

		ASSERT_EQ(left / ns, watch.list.at(n).ns);
		longest = std::max(longest, left - due);
		line_free = left + 672 * ns;
	}
	EXPECT_EQ(longest / ns, r.own_queue_max_ns);
	expect_lossless(r, n);
	EXPECT_NEAR(300000, double(n), 4 * std::sqrt(300000));
}

/* how many frames a Poisson process sends is known when it ends: the loads behind it send the others */
TEST(EngineLoads, SendTheNumberOfFramesThatIsAskedForWhateverTheirShape)
{
	Template frame = TestFrame(64);
	fg_load random = endless(300000, 10), even = endless(100000, 10);
	Bench b(limited(0, 512));

	random.shape = FG_LOAD_POISSON;
	random.seed = 5;
	for (const std::vector<fg_load> &loads : {std::vector<fg_load>{random, even}, {even, random, even}}) {
		std::vector<Stream> streams = {{0, 1, frame, loads}};

		streams[0].limit = 3700;
		b.engine.Run(streams, {0, 50, 10, 0});
		expect_lossless(b.engine.Result(0), 3700);
		streams[0].limit = 1500; /* within the first, or within the second load */
		b.engine.Run(streams, {0, 50, 10, 0});
		expect_lossless(b.engine.Result(0), 1500);
	}
}

TEST(EngineLoads, MustHaveAnEndIfAnotherFollows)
{
	Template frame = TestFrame(64);
	Bench b(Device(1e9));

	EXPECT_EQ(-EINVAL, b.engine.Prepare({{0, 1, frame, {{1000, FG_ENDLESS}, {1000, 10}}}}, second));
}

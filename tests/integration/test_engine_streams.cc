/* SPDX-License-Identifier: BSD-3-Clause */
/* Many streams on a port: the order of their frames, and control over each while they run. */
#include <algorithm>

#include "engine_departures.h"
#include "fg_pace.h"

namespace
{

/* frames left in the order of their times, and each at its own, or behind the one before, at 1 Gbit/s */
void
expect_order(const Watch &watch, const std::vector<Stream> &streams, uint64_t start_ns)
{
	std::vector<fg_pace> paces(streams.size());
	uint16_t first_id = UINT16_MAX;
	uint64_t before = 0, line_free = 0;

	for (const Departure &d : watch.list)
		first_id = std::min(first_id, d.stream);
	for (size_t i = 0; i < streams.size(); i++) {
		const fg_load &l = streams[i].loads[0];
		uint64_t start = start_ns * ns + uint64_t(streams[i].phase * 1e12 / l.fps);

		ASSERT_EQ(0, fg_pace_constant(&paces[i], l.fps, FG_DEVICE_HZ, start, l.frames, 0, nullptr));
	}
	for (const Departure &d : watch.list) {
		const fg_pace &p = paces.at(uint16_t(d.stream - first_id));

		const uint64_t left = std::max(fg_pace_at(&p, d.number), line_free);

		ASSERT_EQ(left / ns, d.ns);
		ASSERT_GE(d.ns, before);
		line_free = left + (d.size + 20) * 8 * ns;
		before = d.ns;
	}
}

/* waits until control sees that a stream has sent a number of frames */
void
await_frames(const Bench &b, unsigned stream, uint64_t frames)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
	fg_stream_live live = {};

	do {
		const uint64_t before = b.engine.Live(stream).tx_frames;

		ASSERT_LT(std::chrono::steady_clock::now(), end) << live.tx_frames << " of stream " << stream;
		std::this_thread::sleep_for(std::chrono::microseconds(100));
		live = b.engine.Live(stream);
		ASSERT_EQ(0u, live.tx_octets % 64);
		ASSERT_GE(live.tx_octets, before * 64);
		/* which are counted before the frames, a burst at a time */
		ASSERT_LE(live.tx_octets, (b.engine.Live(stream).tx_frames + 64) * 64);
	} while (live.tx_frames < frames);
}

const Times open_end = {0, FG_ENDLESS / 1000000 + 1, 0, 0};

} // namespace

TEST(EngineStreams, LeaveInTheOrderOfTheirTimes)
{
	Template frame = TestFrame(64);
	std::vector<Stream> equal, different;

	/* as many as fill a gigabit; each stream of the second kind has a rate of its own */
	for (unsigned i = 0; i < 2000; i++) {
		equal.push_back({0, 1, frame, {constant(700, 70)}, {}, false, 0, i / 2000.0});
		different.push_back({0,
				     1,
				     frame,
				     {constant(1 + i * 0.7, 1 + uint64_t(i * 0.07))},
				     {},
				     false,
				     0,
				     i / 2000.0});
	}
	for (const std::vector<Stream> &streams : {equal, different}) {
		fg_engine_config config = free_time();
		Watch watch;

		config.max_frame = 64;
		Bench b(limited(0, 2048), config);
		uint64_t start = run_watched(b, streams, {0, 1000, 100, 0}, watch);
		for (unsigned i = 0; i < streams.size(); i++)
			expect_lossless(b.engine.Result(i), streams[i].loads[0].frames);
		expect_order(watch, streams, start);
	}
}

TEST(EngineStreams, SpreadEvenlyOverTheLine)
{
	const double line_fps = 1e9 / (8 * 84);
	Template frame = TestFrame(64);
	std::vector<Stream> streams;

	for (unsigned i = 0; i < 500; i++)
		streams.push_back({0, 1, frame, {constant(line_fps / 500, 200)}, {}, false, 0, i / 500.0});
	Bench b(limited(0, 1));
	b.engine.Run(streams, {0, 100, 100, 0});
	for (unsigned i = 0; i < 500; i++) {
		expect_lossless(b.engine.Result(i), 200);
		EXPECT_NEAR(20512, double(b.engine.Result(i).latency.max_ns), 1) << "none waits for another";
	}
}

TEST(EngineStreams, OfManyPayloads)
{
	std::vector<Template> frames;
	std::vector<Stream> streams;

	for (unsigned size = 64; size < 104; size++)
		frames.push_back(TestFrame(size));
	for (unsigned i = 0; i < frames.size(); i++)
		streams.push_back({0, 1, frames[i], {constant(1000, 50)}, {}, false, 0, i / 40.0});
	Bench b(limited(0, 64));
	Watch watch;
	run_watched(b, streams, {0, 100, 10, 0}, watch);
	for (unsigned i = 0; i < frames.size(); i++) {
		expect_lossless(b.engine.Result(i), 50);
		EXPECT_EQ(50u * (64 + i), b.engine.Result(i).octets);
	}
}

TEST(EngineOrders, BeforeTheStartCountFromTheFirstFrame)
{
	Template frame = TestFrame(64);
	Bench b(limited(0, 64));
	fg_engine *e = b.engine.Get();
	fg_load faster = constant(10000, 500);
	Watch watch;

	uint64_t start = run_watched(b,
				     {{0, 1, frame, {constant(1000, 100)}},
				      {0, 1, frame, {constant(1000, 100)}, {}, false, 0, 0, /*idle*/ true},
				      {0, 1, frame, {constant(1000, 100)}, {}, false, 0, 0, /*idle*/ true},
				      {0, 1, frame, {constant(1000, 100)}}},
				     second, watch, [&] {
					     EXPECT_EQ(0, fg_engine_stream_load(e, 0, &faster, nullptr));
					     EXPECT_EQ(0, fg_engine_stream_start(e, 1, nullptr));
					     EXPECT_EQ(0, fg_engine_stream_stop(e, 3, nullptr));
				     });
	expect_lossless(b.engine.Result(0), 500);
	expect_lossless(b.engine.Result(1), 100);
	expect_lossless(b.engine.Result(2), 0);
	expect_lossless(b.engine.Result(3), 0);
	EXPECT_EQ(start, watch.list.at(0).ns);
}

TEST(EngineOrders, StartStopAndChangeWhileFramesFly)
{
	Template frame = TestFrame(64);
	Bench b(limited(0, 64), real_time());
	fg_engine *e = b.engine.Get();
	fg_load rate = constant(200000, FG_ENDLESS);
	fg_stream_live before, after;

	ASSERT_EQ(0,
		  b.engine.Prepare(
			  {{0, 1, frame, {constant(1000, FG_ENDLESS)}},
			   {0, 1, frame, {constant(20000, FG_ENDLESS)}, {}, false, 0, 0, /*idle*/ true},
			   {1, 0, frame, {constant(20000, FG_ENDLESS)}}},
			  open_end, 1000000, nullptr, [](fg_trial_config &c) { c.traffic_ns = FG_ENDLESS; }));
	fg_engine_start(e);
	await_frames(b, 0, 5);
	fg_engine_stream_live(e, 1, &before);
	EXPECT_EQ(0u, before.tx_frames);
	EXPECT_EQ(0, fg_engine_stream_start(e, 1, nullptr));
	EXPECT_EQ(0, fg_engine_stream_load(e, 0, &rate, nullptr));
	await_frames(b, 1, 100);
	await_frames(b, 0, 2000);
	/* 20 ms of the wire's time, whatever that is on the clock on the wall */
	auto later = [&] { await_frames(b, 0, b.engine.Live(0).tx_frames + 4000); };
	EXPECT_EQ(0, fg_engine_stream_stop(e, 1, nullptr));
	EXPECT_EQ(0, fg_engine_stream_stop(e, 2, nullptr)); /* the only one of its port */
	later();
	fg_engine_stream_live(e, 2, &before);
	later();
	fg_engine_stream_live(e, 2, &after);
	EXPECT_EQ(before.tx_frames, after.tx_frames);
	EXPECT_EQ(0, fg_engine_stream_start(e, 2, nullptr));
	await_frames(b, 2, after.tx_frames + 100);
	for (unsigned i : {0, 1, 2})
		EXPECT_EQ(0, fg_engine_stream_stop(e, i, nullptr));
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	EXPECT_TRUE(fg_engine_poll(e) == FG_ENGINE_RUNNING) << "it has no end of its own";
	fg_engine_stop(e);
	b.engine.Await();
	for (unsigned i : {0, 1, 2})
		expect_lossless(b.engine.Result(i), b.engine.Result(i).intended);
	EXPECT_EQ(20512u, b.engine.Result(2).latency.max_ns);
}

/* streams of one rate take turns until control wants anything of one of them; the others do not notice */
TEST(EngineOrders, ToOneOfManyThatTakeTurns)
{
	Template frame = TestFrame(64);
	std::vector<Stream> streams;

	/* the one has no end of its own, and time enough for orders on an overloaded machine */
	for (unsigned i = 0; i < 7; i++)
		streams.push_back(
			{0, 1, frame, {constant(20000, i == 3 ? FG_ENDLESS : 2000)}, {}, false, 0, i / 7.0});
	Bench b(limited(0, 64), real_time());
	b.engine.Start(streams, {0, 2000, 10, 0});
	await_frames(b, 3, 300);
	EXPECT_EQ(0, fg_engine_stream_stop(b.engine.Get(), 3, nullptr));
	b.engine.Await();
	for (unsigned i = 0; i < 7; i++) {
		fg_stream_result r = b.engine.Result(i);

		expect_lossless(r, i == 3 ? r.intended : 2000);
		EXPECT_EQ(20512u, r.latency.max_ns) << "none leaves when it is another's turn";
		EXPECT_EQ(64 * r.tx, r.octets);
	}
	EXPECT_LT(b.engine.Result(3).tx, 40000u);
}

/* no order is lost, however many come at once */
TEST(EngineOrders, ToManyStreamsAtOnce)
{
	Template frame = TestFrame(64);
	std::vector<Stream> streams;
	fg_engine_config config = real_time();

	for (unsigned i = 0; i < 500; i++)
		streams.push_back({0, 1, frame, {constant(10, FG_ENDLESS)}, {}, false, 0, i / 500.0});
	config.max_frame = 64;
	Bench b(limited(0, 512), config);
	ASSERT_EQ(0, b.engine.Prepare(streams, open_end, 1000000, nullptr,
				      [](fg_trial_config &c) { c.traffic_ns = FG_ENDLESS; }));
	fg_engine_start(b.engine.Get());
	for (int round = 0; round < 3; round++)
		for (unsigned i = 0; i < 500; i++) {
			fg_load load = constant(round == 2 ? 1e6 : 100 + i, round == 2 ? 20 : FG_ENDLESS);

			ASSERT_EQ(0, fg_engine_stream_load(b.engine.Get(), i, &load, nullptr));
		}
	for (unsigned i = 0; i < 500; i++)
		await_frames(b, i, 20);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	fg_engine_stop(b.engine.Get());
	b.engine.Await();
	for (unsigned i = 0; i < 500; i++) {
		fg_stream_result r = b.engine.Result(i);

		ExpectConsistent(r);
		EXPECT_GE(r.tx, 20u);
		EXPECT_LT(r.tx, 100u) << "twenty of the last load";
		EXPECT_EQ(r.intended, r.tx + r.late);
	}
}

TEST(EngineOrders, NeedAStreamAndALoad)
{
	Template frame = TestFrame(64);
	Bench b(Device(1e9));
	fg_engine *e = b.engine.Get();
	fg_load none = constant(-1, 1);
	fg_error err = {};

	EXPECT_EQ(-ENOENT, fg_engine_stream_start(e, 0, &err)) << "there is no trial";
	ASSERT_EQ(0, b.engine.Prepare({{0, 1, frame, {constant(1000, 10)}}}, second));
	EXPECT_EQ(-ENOENT, fg_engine_stream_stop(e, 1, &err));
	EXPECT_EQ(-ENOENT, fg_engine_stream_load(e, 1, &none, &err));
	EXPECT_EQ(-ERANGE, fg_engine_stream_load(e, 0, &none, &err));
	EXPECT_STREQ("stream.rate", err.where);
}

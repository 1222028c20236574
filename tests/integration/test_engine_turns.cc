/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of one port that take turns: together they are one load, evenly spaced; alone they are bursts. */
#include "engine_under_test.h"
#include "device_under_test.h"

namespace
{

const Times second = {10, 1000, 100, 0};
const double line_fps = 1488095; /* of 64 bytes at 1 Gb/s: a frame every 672 ns */
const uint64_t line_frames = 1488095;

fg_engine_config
free_time()
{
	fg_engine_config c = {};

	c.time = FG_TIME_WIRE_FREE;
	c.buffers = 8191;
	return c;
}

fg_device_config
device(uint64_t buffer, double capacity_fps = 0)
{
	fg_device_config config = Device(1e9, buffer);

	for (fg_device_direction &d : config.direction) {
		d.capacity_fps = capacity_fps;
		d.latency_ns = 20000;
	}
	return config;
}

/* every frame left when it should: one that had to wait for another on the line took longer */
void
expect_on_time(const fg_stream_result &r, uint64_t frames)
{
	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_EQ(frames, r.rx);
	EXPECT_NEAR(20512, double(r.latency.min_ns), 1);
	EXPECT_NEAR(20512, double(r.latency.max_ns), 1);
}

} // namespace

TEST(EngineTurns, FillTheLine)
{
	Template frame = TestFrame(64);

	for (unsigned n : {2, 3, 8}) {
		Wire wire(device(1));
		Engine engine(free_time(), wire.Port(0), wire.Port(1));
		std::vector<Stream> streams;
		uint64_t sum = 0;

		for (unsigned i = 0; i < n; i++)
			streams.push_back({0, 1, frame, {{line_fps, line_frames}}, {i, 1, n}});
		engine.Run(streams, second);
		for (unsigned i = 0; i < n; i++) {
			expect_on_time(engine.Result(i), (line_frames + n - 1 - i) / n);
			sum += engine.Result(i).tx;
		}
		EXPECT_EQ(line_frames, sum);
	}
}

TEST(EngineTurns, LeaveEveryHundredthFrameToAnotherStream)
{
	Template frame = TestFrame(64), broadcast = TestFrame(64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
	Wire wire(device(1));
	Engine engine(free_time(), wire.Port(0), wire.Port(1));

	engine.Run({{0, 1, frame, {{line_fps, line_frames}}, {0, 99, 100}},
		    {0, 1, broadcast, {{line_fps, line_frames}}, {99, 1, 100}, /*unmeasured*/ true}},
		   second);
	expect_on_time(engine.Result(0), line_frames - line_frames / 100);
	EXPECT_EQ(line_frames / 100, engine.Result(1).tx);
	EXPECT_EQ(0u, engine.Result(1).rx) << "not looked for";
	EXPECT_EQ(0u, engine.PortResult(1).misdirected + engine.PortResult(1).unsolicited);
}

/* at a third of the line the device keeps two thirds of a burst, and has forwarded it before the next one */
TEST(EngineTurns, SendBurstsThatFillABuffer)
{
	const uint64_t burst = 30, every = 100, trains = 1000;
	Template frame = TestFrame(64);

	for (uint64_t buffer : {20, 19, 18}) {
		Wire wire(device(buffer, line_fps / 3));
		Engine engine(free_time(), wire.Port(0), wire.Port(1));
		fg_stream_result r;

		engine.Run({{0, 1, frame, {{line_fps, trains * every}}, {0, burst, every}}}, second);
		r = engine.Result(0);
		EXPECT_EQ(trains * burst, r.tx);
		EXPECT_EQ(int64_t(20 - buffer), r.lost / int64_t(trains))
			<< buffer << " of 20 that have to wait";
	}
}

/* from one load to the next the order stays, and times are those since the start of traffic */
TEST(EngineTurns, GoOnWithTheNextLoad)
{
	const std::vector<fg_load> loads = {{1000000, 100000}, {500000, 100000}};
	Template frame = TestFrame(64);
	fg_device_config lossy = device(16);
	fg_stream_result r;

	lossy.direction[0].impair.loss.every = 200000; /* the last frame of all */
	Wire wire(lossy);
	Engine engine(free_time(), wire.Port(0), wire.Port(1));

	engine.Run({{0, 1, frame, loads, {0, 1, 4}},
		    {0, 1, frame, loads, {1, 1, 4}},
		    {0, 1, frame, loads, {2, 1, 4}},
		    {0, 1, frame, loads, {3, 1, 4}}},
		   second);
	for (unsigned i = 0; i < 3; i++)
		expect_on_time(engine.Result(i), 50000);
	r = engine.Result(3);
	EXPECT_EQ(1, r.lost);
	EXPECT_NEAR(100e6 + 200e6 - 2000, double(r.last_lost_ns), 1);
	EXPECT_EQ(20512u, r.latency.max_ns);
}

TEST(EngineTurns, RefusesMoreThanThereIs)
{
	Template frame = TestFrame(64);
	Wire wire(device(1));
	Engine engine(free_time(), wire.Port(0), wire.Port(1));

	EXPECT_EQ(-ERANGE, engine.Prepare({{0, 1, frame, {{1000, 10}}, {3, 2, 4}}}, second));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting, watching, stopping and refusing trials; engines that come and go. */
#include <sys/resource.h>

#include "fg_host.h"
#include "engine_on_wire.h"

TEST(EngineWire, StopsInMidRun)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);

	for (int delay_us : {0, 0, 10, 100, 1000, 20000}) {
		fg_stream_result r;

		/* a day of traffic */
		b.engine.Start({{0, 1, frame, {{1000000, 86400000000}}}}, {0, 86400000, 0, 0});
		std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
		fg_engine_stop(b.engine.Get());
		b.engine.Await();
		r = b.engine.Result(0);
		ExpectConsistent(r);
		EXPECT_EQ(86400000000u, r.intended);
		EXPECT_LE(r.rx, r.tx);
		EXPECT_EQ(0u, r.late);
		fg_device_reset(b.wire.Get(), 0);
		b.engine.Run({{0, 1, frame, {{1000000, 1000}}}}, {0, 1, 1, 0});
		expect_lossless(b.engine.Result(0), 1000);
	}
	fg_engine_stop(b.engine.Get()); /* nothing runs: nothing happens */
}

TEST(EngineWire, IsFreedInMidRun)
{
	Template frame = TestFrame(64);

	for (int i = 0; i < 5; i++) {
		Bench b(Device(1e9));

		b.engine.Start({{0, 1, frame, {{1000000, 86400000000}}}}, {0, 86400000, 0, 0});
		if (i > 0)
			std::this_thread::sleep_for(std::chrono::milliseconds(i));
	}
}

TEST(EngineWire, IsMadeAndFreedAgainAndAgain)
{
	Template frame = TestFrame(64);

	for (int i = 0; i < 20; i++) {
		Bench b(Device(1e9));

		b.engine.Run({{0, 1, frame, {{100000, 100}}}}, {0, 1, 1, 0});
		expect_lossless(b.engine.Result(0), 100);
	}
	fg_engine_free(nullptr);
}

TEST(EngineWire, TakesOneTrialAtATime)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);

	b.engine.Start({{0, 1, frame, {{1000000, 86400000000}}}}, {0, 86400000, 0, 0});
	EXPECT_EQ(-EBUSY, b.engine.Prepare({}, {0, 1, 1, 0}));
	fg_engine_stop(b.engine.Get());
	b.engine.Await();
}

TEST(EngineWire, RefusesTrialsThatCannotBe)
{
	fg_engine_config config = free_time();
	Template frame = TestFrame(64), large = TestFrame(1600);

	Bench b(Device(1e9), config);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({{0, 2, frame, {{1, 1}}}}, second));
	EXPECT_EQ(-EINVAL, b.engine.Prepare({{2, 0, frame, {{1, 1}}}}, second));
	EXPECT_EQ(-EINVAL, b.engine.Prepare({{0, 1, frame, {}}}, second));
	EXPECT_EQ(-ERANGE, b.engine.Prepare({{0, 1, frame, {{-1, 1}}}}, second));
	EXPECT_EQ(-ERANGE, b.engine.Prepare({{0, 1, frame, {{1000, 1}, {-1, 1}}}}, second));
	EXPECT_EQ(-EMSGSIZE, b.engine.Prepare({{0, 1, large, {{1, 1}}}}, second));
	/* and works as before */
	b.engine.Run({{0, 1, frame, {{1000, 100}}}}, {0, 100, 10, 0});
	expect_lossless(b.engine.Result(0), 100);
}

TEST(EngineWire, HasAResultEvenWithoutTraffic)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);
	fg_stream_result r;

	b.engine.Run({{0, 1, frame, {{1000, 0}}}}, {0, 0, 0, 0});
	r = b.engine.Result(0);
	ExpectConsistent(r);
	EXPECT_EQ(0u, r.tx + r.rx + r.intended + r.tx_duration_ns + r.latency.count);
}

TEST(EngineWire, ShowsLiveTotals)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);
	fg_live live = {}, last = {};

	fg_engine_live(b.engine.Get(), &live);
	EXPECT_EQ(0u, live.tx + live.rx + live.elapsed_ns) << "no trial yet";
	b.engine.Start({{0, 1, frame, {{1000000, 2000000}}}}, {10, 2000, 10, 0});
	while (fg_engine_poll(b.engine.Get()) == FG_ENGINE_RUNNING) {
		fg_engine_live(b.engine.Get(), &live);
		EXPECT_GE(live.tx, last.tx);
		EXPECT_GE(live.rx, last.rx);
		EXPECT_GE(live.elapsed_ns, last.elapsed_ns);
		EXPECT_LE(live.elapsed_ns, 2000000000u);
		last = live;
	}
	fg_engine_live(b.engine.Get(), &live);
	EXPECT_EQ(2000000u, live.tx);
	EXPECT_EQ(2000000u, live.rx);
}

TEST(EngineWire, TellsWhenTrafficWillStart)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);
	uint64_t first = 0, second_start = 0;

	ASSERT_EQ(0, b.engine.Prepare({{0, 1, frame, {{1000, 1}}}}, {20, 100, 30, 50}, 0, &first));
	EXPECT_EQ(20000000u, first);
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	ASSERT_EQ(0, b.engine.Prepare({{0, 1, frame, {{1000, 1}}}}, {20, 100, 30, 50}, 0, &second_start));
	EXPECT_EQ(first + (100 + 30 + 50 + 20) * 1000000, second_start) << "learn, traffic, drain, settle";
	fg_engine_start(b.engine.Get());
	b.engine.Await();
}

TEST(EngineRealTime, KeepsStepWithTheClockOnTheWall)
{
	Bench b(Device(1e9), real_time());
	Template frame = TestFrame(64);
	auto begin = std::chrono::steady_clock::now();

	b.engine.Run({{0, 1, frame, {{10000, 2000}}}}, {10, 200, 20, 0});
	EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(230));
	expect_lossless(b.engine.Result(0), 2000);
	EXPECT_EQ(512u, b.engine.Result(0).latency.max_ns) << "its time is the wire's all the same";
}

static double
processor_seconds()
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* four frames in each millisecond: a few passes over the tasks, and nothing to do in between */
TEST(EngineRealTime, LeavesTheProcessorToOthersMeanwhile)
{
	Bench b(Device(1e9), real_time());
	Template frame = TestFrame(64);
	double used = processor_seconds();

	b.engine.Run({{0, 1, frame, {{4000, 2000}}}}, {10, 500, 20, 0});
	EXPECT_LT(processor_seconds() - used, 0.53 / 2);
	expect_lossless(b.engine.Result(0), 2000);
}

TEST(EngineRealTime, StopsInMidRun)
{
	Bench b(Device(1e9), real_time());
	Template frame = TestFrame(64);

	b.engine.Start({{0, 1, frame, {{1, 86400}}}}, {0, 86400000, 0, 0});
	std::this_thread::sleep_for(std::chrono::milliseconds(5));
	fg_engine_stop(b.engine.Get());
	b.engine.Await();
	ExpectConsistent(b.engine.Result(0));
	EXPECT_EQ(1u, b.engine.Result(0).tx);
}

namespace
{

void
expect_refused(const fg_engine_config &config)
{
	fg_engine *engine = nullptr;
	fg_error err = {};

	EXPECT_LT(fg_engine_create(&config, &engine, &err), 0);
	EXPECT_EQ(nullptr, engine);
	EXPECT_NE(0, err.code);
}

} // namespace

TEST(EngineCreate, RefusesWhatCannotBe)
{
	Wire wire(Device(1e9));
	fg_lcore_info lcore;
	fg_engine_config good = free_time(), bad;

	ASSERT_GE(fg_host_lcores(&lcore, 1), 1u);
	good.ports = 2;
	good.lcores = 1;
	good.lcore[0] = lcore.id;
	good.port[0].port = wire.Port(0);
	good.port[1].port = wire.Port(1);
	good.max_frame = 1518;
	for (unsigned n : {0, FG_MAX_PORTS + 1}) {
		bad = good;
		bad.ports = n;
		expect_refused(bad);
	}
	for (unsigned n : {0, 2, FG_MAX_LCORES + 1}) { /* the wire is run by one */
		bad = good;
		bad.lcores = n;
		expect_refused(bad);
	}
	bad = good;
	bad.port[1].tx_lcore[0] = 1;
	expect_refused(bad);
	bad = good;
	bad.port[0].rx_lcore[0] = 7;
	expect_refused(bad);
	bad = good;
	bad.lcore[0] = 0; /* the main one */
	expect_refused(bad);
	bad.lcore[0] = 999;
	expect_refused(bad);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials on the virtual wire: what the engine counts is what the device did, exactly and every time. */
#include "engine_under_test.h"
#include "wire_under_test.h"

namespace
{

const Times second = {10, 1000, 100, 0};

fg_engine_config
free_time()
{
	fg_engine_config c = {};

	c.time = FG_TIME_WIRE_FREE;
	c.buffers = 8191;
	return c;
}

fg_engine_config
real_time()
{
	fg_engine_config c = free_time();

	c.time = FG_TIME_WIRE_REAL;
	return c;
}

/* a wire and the engine on it, in the order in which they must go */
struct Bench {
	explicit Bench(const fg_device_config &device, const fg_engine_config &config = free_time())
	    : wire(device), engine(config, wire.Port(0), wire.Port(1))
	{
	}

	Wire wire;
	Engine engine;
};

fg_device_config
limited(double capacity_fps, uint64_t buffer)
{
	fg_device_config config = Device(1e9, buffer);

	for (fg_device_direction &d : config.direction) {
		d.capacity_fps = capacity_fps;
		d.latency_ns = 20000;
	}
	return config;
}

void
expect_clean(const Bench &b)
{
	for (unsigned i : {0, 1}) {
		fg_port_result p = b.engine.PortResult(i);

		EXPECT_EQ(0u, p.rx_missed + p.rx_no_mbuf + p.rx_errors + p.tx_errors + p.link_changes);
		EXPECT_EQ(0u, p.misdirected);
	}
}

/* all of it left on time and arrived, in order */
void
expect_lossless(const fg_stream_result &r, uint64_t frames)
{
	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_EQ(frames, r.tx);
	EXPECT_EQ(frames, r.rx);
	EXPECT_EQ(frames, r.latency.count);
	EXPECT_EQ(0u, r.late + r.refused + r.no_mbuf + r.duplicates + r.stale + r.reordered);
}

} // namespace

TEST(EngineWire, CountsEveryFrame)
{
	for (unsigned size : {64, 512, 1518})
		for (double share : {0.001, 0.5, 1.0}) {
			Bench b(Device(1e9));
			Template frame = TestFrame(size);
			double fps = share * 1e9 / (8 * (size + 20));
			uint64_t n = uint64_t(fps);

			b.engine.Run({{0, 1, frame, {{fps, n}}}, {1, 0, frame, {{fps, n}}}}, second);
			for (unsigned i : {0, 1}) {
				expect_lossless(b.engine.Result(i), n);
				EXPECT_EQ(n, b.wire.Counters(i).forwarded);
			}
			expect_clean(b);
		}
}

TEST(EngineWire, MeasuresTheLatencyOfTheDevice)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);
	fg_stream_result r;

	device.direction[0].latency_ns = 20000;
	Bench b(device);
	b.engine.Run({{0, 1, frame, {{100000, 100000}}}}, second);
	r = b.engine.Result(0);
	expect_lossless(r, 100000);
	EXPECT_EQ(20512u, r.latency.min_ns) << "first bit to first bit: 64 octets and 20 us";
	EXPECT_EQ(20512u, r.latency.max_ns);
	EXPECT_EQ(20512.0, r.latency.mean_ns);
	EXPECT_EQ(999990000u, r.tx_duration_ns);
}

TEST(EngineWire, LosesWhatTheDeviceLoses)
{
	Bench b(limited(900000, 512));
	Template frame = TestFrame(64);

	b.engine.Run({{0, 1, frame, {{1000000, 1000000}}}, {1, 0, frame, {{800000, 800000}}}}, second);
	for (unsigned i : {0, 1}) {
		fg_stream_result r = b.engine.Result(i);

		ExpectConsistent(r);
		EXPECT_EQ(r.intended, r.tx);
		EXPECT_EQ(b.wire.Counters(i).buffer_full, uint64_t(r.lost));
		EXPECT_EQ(b.wire.Counters(i).forwarded, r.rx);
	}
	/* nine tenths pass, and what the buffer holds at the end */
	EXPECT_NEAR(900000 + 512, double(b.engine.Result(0).rx), 2);
	EXPECT_EQ(0, b.engine.Result(1).lost);
	expect_clean(b);
}

TEST(EngineWire, CountsLossByNumber)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);
	fg_stream_result r;

	device.direction[0].loss_every = 1000;
	Bench b(device);
	b.engine.Run({{0, 1, frame, {{500000, 500000}}}}, {0, 1000, 100, 0});
	r = b.engine.Result(0);
	EXPECT_EQ(500, r.lost);
	/* the last frame is lost, and no number after it tells */
	EXPECT_EQ(500u, r.loss_bursts);
	EXPECT_EQ(1u, r.max_loss_burst);
	EXPECT_EQ(0u, r.duplicates + r.reordered + r.stale);
}

TEST(EngineWire, IsTheSameEveryTime)
{
	fg_device_config device = limited(700000, 64);
	Template small = TestFrame(64), large = TestFrame(1518);
	fg_stream_result first[3], again[3];

	device.direction[0].loss_random = 0.01;
	device.direction[1].latency_ns_per_octet = 3;
	for (fg_stream_result *results : {first, again}) {
		Bench b(device);

		b.engine.Run({{0, 1, small, {{654321, 500000}}},
			      {1, 0, large, {{70001.5, 60000}}},
			      {0, 1, small, {{123.25, 100}}}},
			     second);
		for (unsigned i : {0, 1, 2})
			results[i] = b.engine.Result(i);
	}
	EXPECT_EQ(0, memcmp(first, again, sizeof(first)));
	EXPECT_GT(first[0].lost, 0);
}

TEST(EngineWire, IsTheSameInTheNextTrialAfterAReset)
{
	fg_device_config device = limited(700000, 64);
	Template frame = TestFrame(64);
	fg_stream_result first;

	device.direction[0].loss_random = 0.01;
	Bench b(device);
	for (int run = 0; run < 5; run++) {
		fg_stream_result r;

		fg_wire_reset(b.wire.Get());
		b.engine.Run({{0, 1, frame, {{750000, 200000}}}}, {0, 300, 100, 0});
		r = b.engine.Result(0);
		if (run == 0)
			first = r;
		EXPECT_EQ(first.rx, r.rx);
		EXPECT_EQ(first.loss_bursts, r.loss_bursts);
		EXPECT_EQ(first.latency.mean_ns, r.latency.mean_ns);
		EXPECT_EQ(b.wire.Counters(0).forwarded, r.rx);
	}
}

TEST(EngineWire, SendsLoadsOneAfterTheOther)
{
	fg_device_config device = limited(0, 512);
	Template frame = TestFrame(64);
	fg_stream_result r;

	Bench b(device);
	b.engine.Run({{0, 1, frame, {{1000000, 100001}, {10, 1}, {1488095, 100000}, {5000, 7}, {300000, 3}}}},
		     {0, 400, 100, 0});
	r = b.engine.Result(0);
	expect_lossless(r, 200012);
	EXPECT_EQ(20512u, r.latency.min_ns);
	EXPECT_EQ(20512u, r.latency.max_ns) << "each left at its time, also where one load meets the next";
	/* 100001 at a million, a tenth of a second, 100000 at line rate, 7 at 5000, and two gaps of 3.33 us */
	EXPECT_NEAR(100001e3 + 1e8 + 100000 * 672.0 + 1.4e6 + 6667, double(r.tx_duration_ns), 100);
}

TEST(EngineWire, RunsManyStreamsAtOnce)
{
	for (unsigned streams : {2, 100, 1000}) {
		fg_engine_config config = free_time();
		Template frame = TestFrame(64);
		std::vector<Stream> all;
		double fps = 1000000.0 / streams;
		uint64_t total = 0;

		config.max_frame = 64;
		Bench b(Device(1e9, 8192), config);
		for (unsigned i = 0; i < streams; i++)
			all.push_back({0, 1, frame, {{fps, uint64_t(fps * 0.3) + i % 3}}});
		b.engine.Run(all, {0, 301, 100, 0});
		for (unsigned i = 0; i < streams; i++) {
			expect_lossless(b.engine.Result(i), all[i].loads[0].frames);
			total += all[i].loads[0].frames;
		}
		EXPECT_EQ(total, b.wire.Counters(0).forwarded) << streams << " streams";
		expect_clean(b);
		if (HasFailure())
			return;
	}
}

TEST(EngineWire, CountsMisdirectedFrames)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);

	/* said to come back to the port that sends it */
	b.engine.Run({{0, 0, frame, {{1000, 100}}}, {0, 1, frame, {{1000, 50}}}}, {0, 100, 100, 0});
	EXPECT_EQ(100u, b.engine.PortResult(1).misdirected);
	EXPECT_EQ(0u, b.engine.PortResult(0).misdirected);
	EXPECT_EQ(0u, b.engine.Result(0).rx);
	EXPECT_EQ(100, b.engine.Result(0).lost);
	EXPECT_EQ(50u, b.engine.Result(1).rx);
}

TEST(EngineWire, DoesNotCountStragglersOfAnEarlierTrial)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);

	device.direction[0].latency_ns = 50e6;
	Bench b(device);
	/* without drain the last 50 ms are still on the way; without reset they arrive in the next trial */
	b.engine.Run({{0, 1, frame, {{10000, 1000}}}}, {0, 100, 0, 0});
	EXPECT_NEAR(500, double(b.engine.Result(0).rx), 1);
	b.engine.Run({{0, 1, frame, {{10000, 1000}}}}, {0, 100, 60, 0});
	expect_lossless(b.engine.Result(0), 1000);
	EXPECT_NEAR(500, double(b.engine.PortResult(1).foreign), 1);
}

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
		fg_wire_reset(b.wire.Get());
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
	EXPECT_EQ(-ERANGE, b.engine.Prepare({{0, 1, frame, {{0, 1}}}}, second));
	EXPECT_EQ(-ERANGE, b.engine.Prepare({{0, 1, frame, {{1000, 1}, {-1, 1}}}}, second));
	EXPECT_EQ(-EMSGSIZE, b.engine.Prepare({{0, 1, large, {{1, 1}}}}, second));
	/* and is none the worse for it */
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

TEST(EngineWire, SaysWhenItHasNoBuffers)
{
	fg_engine_config config = free_time();
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);
	fg_stream_result r;

	/* 511 buffers, and the wire holds frames for a tenth of a second */
	config.buffers = 511;
	device.direction[0].latency_ns = 100e6;
	Bench b(device, config);
	b.engine.Run({{0, 1, frame, {{100000, 50000}}}}, {0, 500, 200, 0});
	r = b.engine.Result(0);
	ExpectConsistent(r);
	EXPECT_GT(r.no_mbuf, 0u);
	EXPECT_GT(r.late, 40000u);
	EXPECT_EQ(r.tx, r.rx);
}

TEST(EngineWire, ShowsLiveTotals)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);
	fg_live live = {}, last = {};

	fg_engine_live(b.engine.Get(), &live);
	EXPECT_EQ(0u, live.tx + live.rx + live.late + live.elapsed_ns) << "no trial yet";
	b.engine.Start({{0, 1, frame, {{1000000, 2000000}}}}, {10, 2000, 10, 0});
	while (fg_engine_running(b.engine.Get())) {
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

namespace
{

const frames::Mac router_mac[2] = {{2, 0xf6, 0, 0, 0xff, 1}, {2, 0xf6, 0, 0, 0xff, 2}};
const frames::Ipv4 gateway[2] = {{198, 18, 1, 1}, {198, 19, 1, 1}},
		   address[2] = {{198, 18, 1, 2}, {198, 19, 1, 2}};

frames::Ipv6
ipv6(unsigned side, uint8_t last)
{
	return {0x20, 0x01, 0, 2, uint8_t(side * 0x80), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
}

fg_device_config
router()
{
	fg_device_config device = Device(1e9);

	for (unsigned i : {0, 1}) {
		device.interface[i].has_ipv4 = device.interface[i].has_ipv6 = true;
		memcpy(device.interface[i].ipv4, gateway[i].data(), 4);
		memcpy(device.interface[i].ipv6, ipv6(i, 1).data(), 16);
	}
	return device;
}

fg_engine_config
with_gateways()
{
	fg_engine_config c = free_time();

	for (unsigned i : {0, 1}) {
		fg_engine_port &p = c.port[i];

		p.has_ipv4 = p.has_ipv6 = p.has_gateway4 = p.has_gateway6 = true;
		memcpy(p.ipv4, address[i].data(), 4);
		memcpy(p.gateway4, gateway[i].data(), 4);
		memcpy(p.ipv6, ipv6(i, 2).data(), 16);
		memcpy(p.gateway6, ipv6(i, 1).data(), 16);
	}
	return c;
}

} // namespace

TEST(EngineRouter, FindsItsGateways)
{
	Bench b(router(), with_gateways());

	for (unsigned i : {0, 1})
		for (int version : {4, 6}) {
			frames::Mac mac = {};

			EXPECT_FALSE(fg_engine_gateway(b.engine.Get(), i, version, mac.data()));
		}
	b.engine.Run({}, {0, 0, 10, 0});
	for (unsigned i : {0, 1})
		for (int version : {4, 6}) {
			frames::Mac mac = {};

			EXPECT_TRUE(fg_engine_gateway(b.engine.Get(), i, version, mac.data()));
			EXPECT_EQ(router_mac[i], mac);
		}
}

TEST(EngineRouter, DoesNotFindAGatewayThatIsNotThere)
{
	fg_engine_config config = with_gateways();
	frames::Mac mac = {};

	config.port[0].gateway4[3] = 77;
	Bench b(router(), config);
	b.engine.Run({}, {0, 0, 10, 0});
	EXPECT_FALSE(fg_engine_gateway(b.engine.Get(), 0, 4, mac.data()));
	EXPECT_TRUE(fg_engine_gateway(b.engine.Get(), 1, 4, mac.data()));
}

TEST(EngineRouter, SendsThroughIt)
{
	Bench b(router(), with_gateways());
	Template frame[2] = {TestFrame(64, router_mac[0]), TestFrame(64, router_mac[1])};

	b.engine.Run({}, {0, 0, 10, 0});
	for (int trial = 0; trial < 3;
	     trial++) { /* headers are written anew, whatever the router made of them */
		fg_wire_reset(b.wire.Get());
		b.engine.Run({{0, 1, frame[0], {{1000000, 100000}}}, {1, 0, frame[1], {{1000000, 100000}}}},
			     {10, 100, 10, 0});
		for (unsigned i : {0, 1}) {
			expect_lossless(b.engine.Result(i), 100000);
			EXPECT_EQ(100000u, b.wire.Counters(i).forwarded);
			/* two announcements; the questions for the gateways are answered */
			EXPECT_EQ(2u, b.wire.Counters(i).unroutable);
			EXPECT_EQ(2u, b.wire.Counters(i).answered);
			EXPECT_EQ(2u, b.engine.PortResult(i).foreign);
		}
	}
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
	bad.port[1].tx_lcore = 1;
	expect_refused(bad);
	bad = good;
	bad.port[0].rx_lcore = 7;
	expect_refused(bad);
	bad = good;
	bad.lcore[0] = 0; /* the main one */
	expect_refused(bad);
	bad.lcore[0] = 999;
	expect_refused(bad);
}

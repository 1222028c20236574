/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials on the virtual wire: what the engine counts is what the device did, exactly and every time. */
#include "engine_on_wire.h"

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
	EXPECT_EQ(20512u, r.latency.min_ns) << "first bit to first bit: 64 bytes and 20 us";
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

	device.direction[0].impair.loss.every = 1000;
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

	device.direction[0].impair.loss.random = 0.01;
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

	device.direction[0].impair.loss.random = 0.01;
	Bench b(device);
	for (int run = 0; run < 5; run++) {
		fg_stream_result r;

		fg_device_reset(b.wire.Get(), 0);
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
	/* 100001 at a million, a tenth of a second, 100000 at line rate, 7 at 5000, and two gaps of 3.33
	 * us */
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
	EXPECT_NEAR(500, double(b.engine.PortResult(1).unsolicited), 1);
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
		fg_device_reset(b.wire.Get(), 0);
		b.engine.Run({{0, 1, frame[0], {{1000000, 100000}}}, {1, 0, frame[1], {{1000000, 100000}}}},
			     {10, 100, 10, 0});
		for (unsigned i : {0, 1}) {
			expect_lossless(b.engine.Result(i), 100000);
			EXPECT_EQ(100000u, b.wire.Counters(i).forwarded);
			/* two announcements; the questions for the gateways are answered */
			EXPECT_EQ(2u, b.wire.Counters(i).unroutable);
			EXPECT_EQ(2u, b.wire.Counters(i).answered);
			EXPECT_EQ(2u, b.engine.PortResult(i).unsolicited);
		}
	}
}

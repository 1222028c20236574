/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured of streams, against the device that did it: exactly, for one stream and for thousands. */
#include "engine_on_wire.h"

namespace
{

const unsigned everything = FG_MEASURE_VARIATION | FG_MEASURE_SERIES | FG_MEASURE_PAYLOAD;
const uint64_t second_ns = 1000000000;

/* one stream from east to west that runs into an outage, both in ns since the start */
struct Outage {
	Outage(double fps, unsigned seconds, uint64_t from, uint64_t to, uint64_t series_ns = 0,
	       unsigned measure = everything)
	    : bench(limited(0, 512)), frame(TestFrame(128))
	{
		std::vector<Stream> streams = {
			{0, 1, frame, {{fps, uint64_t(fps * seconds)}}, {}, false, measure}};
		uint64_t start;

		bench.engine.series_ns = series_ns;
		EXPECT_EQ(0, bench.engine.Prepare(streams, {0, seconds * 1000, 100, 0}, 1000000, &start))
			<< bench.engine.err.message;
		fg_device_outage(bench.wire.Get(), start + from, start + to);
		fg_engine_start(bench.engine.Get());
		bench.engine.Await();
		result = bench.engine.Result(0);
		series = bench.engine.Series(0);
	}

	Bench bench;
	Template frame;
	fg_stream_result result;
	std::vector<fg_interval> series;
};

/* 128 bytes at 1 Gbps, stored and forwarded, and the 20 us of the device */
const int64_t latency_ns = 1024 + 20000;

/* the fewest frames of each stream that tell */
void
expect_the_losses_of_the_device(unsigned streams, uint64_t frames, unsigned every)
{
	fg_device_config device = Device(1e9, 8192);
	fg_engine_config config = free_time();
	Template frame = TestFrame(64);
	std::vector<Stream> all;
	std::vector<uint64_t> sent(streams), lost(streams), bursts(streams);
	std::vector<bool> open(streams);

	config.max_frame = 64;
	device.direction[0].impair.loss.every = every;
	for (uint64_t n = 0; n < frames; n++) {
		bool loses = (n + 1) % every == 0;

		sent[n % streams]++;
		lost[n % streams] += loses;
		bursts[n % streams] += loses && !open[n % streams];
		open[n % streams] = loses;
	}
	Bench b(device, config);
	for (unsigned i = 0; i < streams; i++)
		all.push_back({0,
			       1,
			       frame,
			       {{1e6, frames}},
			       {i, 1, streams},
			       false,
			       unsigned(i % 2 ? FG_MEASURE_VARIATION : 0)});
	b.engine.Run(all, {0, frames / 1000 + 1, 10, 0});
	for (unsigned i = 0; i < streams; i++) {
		fg_stream_result r = b.engine.Result(i);

		ExpectConsistent(r);
		ASSERT_EQ(sent[i], r.tx) << "stream " << i;
		ASSERT_EQ(int64_t(lost[i]), r.lost) << "stream " << i;
		ASSERT_EQ(bursts[i], r.loss_bursts) << "stream " << i;
		ASSERT_EQ(r.rx, r.latency.count);
		ASSERT_EQ(r.rx * 64, r.rx_octets);
		ASSERT_EQ(0u, r.duplicates + r.reordered + r.stale + r.order.runs);
		ASSERT_EQ(0, r.variation.max);
	}
}

} // namespace

TEST(EngineMeasure, LossOfEachStreamIsThatOfTheDevice)
{
	expect_the_losses_of_the_device(1, 100000, 7);
	expect_the_losses_of_the_device(100, 100000, 7);
	expect_the_losses_of_the_device(1000, 100000, 7);
	expect_the_losses_of_the_device(10000, 30000, 7);
}

TEST(EngineMeasure, SeriesTellsTheSecondsApart)
{
	Outage o(1000, 3, 1250000000, 1750000000);
	const uint64_t rx[] = {1000, 500, 1000};

	ASSERT_EQ(3u, o.series.size());
	EXPECT_EQ(3u, o.result.series_intervals);
	for (unsigned i = 0; i < 3; i++) {
		const fg_interval &s = o.series[i];

		EXPECT_EQ(1000u, s.tx) << "second " << i;
		EXPECT_EQ(rx[i], s.rx) << "second " << i;
		EXPECT_EQ(rx[i] * 128, s.octets);
		EXPECT_EQ(0u, s.duplicates + s.reordered);
		EXPECT_EQ(latency_ns, s.delay_min_ns);
		EXPECT_EQ(latency_ns, s.delay_max_ns);
		EXPECT_EQ(double(latency_ns), s.delay_mean_ns);
		EXPECT_EQ(latency_ns, s.delay_p999_ns);
	}
	EXPECT_EQ(500, o.result.lost);
	EXPECT_EQ(500000000u, o.result.loss.longest_outage_ns);
	EXPECT_EQ(1249000000u + latency_ns, o.result.loss.outage_begin_ns);
	EXPECT_EQ(1u, o.result.loss.lengths[8]) << "256 to 511 frames";
}

TEST(EngineMeasure, SeriesGoesByDepartureWhateverTheDelay)
{
	fg_device_config device = limited(0, 512);
	Template frame = TestFrame(64);

	/* every frame arrives two intervals after the one it departed in */
	device.direction[0].latency_ns = 25e6;
	Bench b(device);
	b.engine.series_ns = 10000000;
	b.engine.Run({{0, 1, frame, {{100000, 20000}}, {}, false, FG_MEASURE_SERIES}}, {0, 200, 100, 0});
	std::vector<fg_interval> series = b.engine.Series(0);
	ASSERT_EQ(20u, series.size());
	for (const fg_interval &s : series) {
		EXPECT_EQ(1000u, s.tx);
		EXPECT_EQ(1000u, s.rx);
		EXPECT_EQ(25000512, s.delay_p999_ns);
	}
}

TEST(EngineMeasure, TenSecondsDecideOnAvailability)
{
	for (unsigned outage : {0, 9, 10, 12}) {
		Outage o(100, 60, 20 * second_ns, (20 + outage) * second_ns);
		const fg_availability_counts &a = o.result.available;

		EXPECT_EQ(60u, a.blocks);
		EXPECT_EQ(outage, a.severely_errored);
		EXPECT_EQ(outage < 10 ? 0 : outage, a.unavailable);
		EXPECT_EQ(a.available.sent, (60 - a.unavailable) * 100);
		EXPECT_EQ(a.available.received, (60 - outage) * 100) << "with nine, the loss counts";
		EXPECT_EQ(latency_ns, a.available.delay_max);
		EXPECT_EQ(outage * second_ns, o.result.loss.longest_outage_ns);
	}
}

TEST(EngineMeasure, AvailabilityGoesBySecondsOfShorterIntervals)
{
	/* from 20.4 s to 31.6 s: the seconds 21 to 30 are lost whole, 20 and 31 by more than half */
	Outage o(100, 60, 20400000000, 31600000000, 100000000);

	ASSERT_EQ(600u, o.series.size());
	EXPECT_EQ(10u, o.series[203].rx);
	EXPECT_EQ(0u, o.series[204].rx);
	EXPECT_EQ(0u, o.series[315].rx);
	EXPECT_EQ(10u, o.series[316].rx);
	EXPECT_EQ(12u, o.result.available.unavailable);
}

TEST(EngineMeasure, ADayOfSecondsHasRoom)
{
	Outage o(4, 86400, 40000 * second_ns, 40012 * second_ns, 0, FG_MEASURE_SERIES);

	ASSERT_EQ(86400u, o.series.size());
	EXPECT_EQ(86400u, o.result.available.blocks);
	EXPECT_EQ(12u, o.result.available.unavailable);
	EXPECT_EQ(4u, o.series[86399].rx);
	EXPECT_EQ(0u, o.series[40011].rx);
}

TEST(EngineMeasure, OutagesAtTheEndsAreOutages)
{
	const struct {
		uint64_t from, to, longest, begin;
	} outages[] = {
		{0, 300000000, 300000000, latency_ns},
		{1800000000, 9000000000, 200000000, 1799000000 + latency_ns},
		{0, 9000000000, 2000000000, 0},
		{0, 0, 0, 0},
	};

	for (const auto &want : outages) {
		Outage o(1000, 2, want.from, want.to);

		EXPECT_EQ(want.longest, o.result.loss.longest_outage_ns) << want.from;
		EXPECT_EQ(want.begin, o.result.loss.outage_begin_ns) << want.from;
	}
}

TEST(EngineMeasure, TooManyIntervalsAreRefused)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);

	b.engine.series_ns = 1000;
	EXPECT_EQ(-E2BIG, b.engine.Prepare({{0, 1, frame, {{10, 100}}, {}, false, FG_MEASURE_SERIES}},
					   {0, 10000, 0, 0}));
	EXPECT_STREQ("series", b.engine.err.where);
}

TEST(EngineMeasure, StreamsThatTakeTurnsDoNotVaryEachOther)
{
	fg_device_config device = limited(500000, 512);
	Template frame = TestFrame(64);

	Bench b(device);
	b.engine.Run({{0, 1, frame, {{500000, 10000}}, {0, 1, 2}, false, everything},
		      {0, 1, frame, {{500000, 10000}}, {1, 1, 2}, false, everything}},
		     {0, 100, 100, 0});
	for (unsigned i : {0, 1}) {
		fg_stream_result r = b.engine.Result(i);

		EXPECT_EQ(4999u, r.variation.pairs);
		EXPECT_EQ(0u, r.variation.unknown);
		EXPECT_EQ(0, r.variation.min);
		EXPECT_EQ(0, r.variation.max);
		EXPECT_EQ(0, r.variation.jitter_max);
		EXPECT_EQ(0u, r.corrupted + r.bit_errors);
	}
}

TEST(EngineMeasure, JitterIsThatOfAnOverload)
{
	/* each frame waits a microsecond longer than the one before it: J goes to that, and IPDV is it */
	fg_device_config device = limited(500000, 10000);
	Template frame = TestFrame(64);
	fg_stream_result r;

	Bench b(device);
	b.engine.Run({{0, 1, frame, {{1000000, 10000}}, {}, false, everything}}, {0, 100, 100, 0});
	r = b.engine.Result(0);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(9999u, r.variation.pairs);
	EXPECT_EQ(1000, r.variation.min);
	EXPECT_EQ(1000, r.variation.max);
	EXPECT_EQ(1000, r.variation.mean);
	EXPECT_NEAR(1000, r.variation.median, 1);
	EXPECT_NEAR(1000, r.variation.jitter, 1);
}

TEST(EngineMeasure, MisdirectedFramesAreKnownByStreamAndPort)
{
	Bench b(Device(1e9));
	Template frame = TestFrame(64);

	/* two streams are said to come back to the port that sends them */
	b.engine.Run({{0, 0, frame, {{1000, 100}}}, {0, 1, frame, {{1000, 50}}}, {1, 1, frame, {{1000, 70}}}},
		     {0, 100, 100, 0});
	for (unsigned port : {0, 1}) {
		const uint64_t expected[2][3] = {{0, 0, 70}, {100, 0, 0}};

		for (unsigned stream : {0, 1, 2})
			EXPECT_EQ(expected[port][stream],
				  fg_engine_misdirected(b.engine.Get(), stream, port));
	}
}

TEST(EngineMeasure, StragglersAreForeignOfTheirOwnKind)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);

	device.direction[0].latency_ns = 50e6;
	Bench b(device);
	b.engine.Run({{0, 1, frame, {{10000, 1000}}}}, {0, 100, 0, 0});
	b.engine.Run({{0, 1, frame, {{10000, 1000}}}}, {0, 100, 60, 0});
	EXPECT_GT(b.engine.PortResult(1).unsolicited_kind[FG_NET_KIND_TEST], 490u);
	EXPECT_EQ(b.engine.PortResult(1).unsolicited,
		  b.engine.PortResult(1).unsolicited_kind[FG_NET_KIND_TEST]);
}

TEST(EngineMeasure, LiveCountsComeToTheResult)
{
	fg_device_config device = limited(0, 512);
	Template frame = TestFrame(64);

	device.direction[0].impair.loss.every = 10;
	Bench b(device);
	/* more than are copied at a time; the first 99 frames of the device's are the first stream's */
	std::vector<Stream> all = {{0, 1, frame, {{1000, 99}}}};
	for (unsigned i = 1; i < 40; i++)
		all.push_back({1, 0, frame, {{1000, 50}}});
	b.engine.Run(all, {0, 100, 100, 0});
	for (unsigned i = 0; i < all.size(); i++) {
		fg_stream_result r = b.engine.Result(i);
		fg_stream_live live;

		fg_engine_stream_live(b.engine.Get(), i, &live);
		EXPECT_EQ(r.tx, live.tx_frames);
		EXPECT_EQ(r.rx, live.rx_frames);
		EXPECT_EQ(r.rx_octets, live.rx_octets);
		EXPECT_EQ(r.lost, int64_t(live.missing)) << "the last frame came and tells of all";
		EXPECT_DOUBLE_EQ(r.latency.mean_ns * double(r.rx), double(live.delay_sum_ns));
		EXPECT_EQ(r.latency.min_ns, live.delay_min_ns);
		EXPECT_EQ(r.latency.max_ns, live.delay_max_ns);
		fg_stream_delays delays;
		fg_engine_stream_delays(b.engine.Get(), i, &delays);
		EXPECT_EQ(r.latency.p50_ns, delays.p50_ns);
		EXPECT_EQ(r.latency.p99_ns, delays.p99_ns);
		EXPECT_EQ(r.latency.p999_ns, delays.p999_ns);
		EXPECT_GT(0, delays.jitter_ns) << "nobody asked for it";
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What two testers need of an engine to share streams: a common start, the other's clock, and what it
 * sent. */
#include <cerrno>

#include "engine_on_wire.h"

namespace
{

const Times times = {10, 100, 10, 0};

TEST(EngineOther, StartsWhenItIsTold)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	std::vector<Stream> streams = {{0, 1, frame, {{1000, 100}}}};
	uint64_t start = 0;
	auto at = [](uint64_t ns) { return [ns](fg_trial_config &c) { c.start_ns = ns; }; };

	ASSERT_EQ(0, b.engine.Prepare(streams, times, 1000000, &start, at(500000000)));
	EXPECT_EQ(500000000u, start);
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	EXPECT_EQ(100u, b.engine.Result(0).rx);
	/* learning takes until after that */
	EXPECT_EQ(-ETIME, b.engine.Prepare(streams, times, 1000000, &start,
					   at(fg_engine_now_ns(b.engine.Get()) + 1)));
}

TEST(EngineOther, AddsWhatItsClockIsAhead)
{
	for (int64_t ahead : {0, 5000, -300}) {
		Bench b(limited(0, 512));
		Template frame = TestFrame(128);
		fg_stream_result r;

		ASSERT_EQ(0, b.engine.Prepare({{0, 1, frame, {{1000, 100}}, {}, false, FG_MEASURE_SERIES}},
					      times));
		fg_engine_peer_clock(b.engine.Get(), ahead);
		fg_engine_start(b.engine.Get());
		b.engine.Await();
		r = b.engine.Result(0);
		/* 128 octets at 1 Gbps, stored and forwarded, and the 20 us of the device */
		EXPECT_EQ(uint64_t(1024 + 20000 + ahead), r.latency.min_ns);
		EXPECT_EQ(r.latency.min_ns, r.latency.max_ns);
	}
}

TEST(EngineOther, TakesItsWordForWhatItSent)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	Stream stream = {0, 1, frame, {{1000, 100}}};
	fg_stream_result r;

	stream.idle = true;
	b.engine.Run({stream}, times);
	EXPECT_EQ(0u, b.engine.Result(0).tx);
	fg_engine_peer_sent(b.engine.Get(), 0, 10);
	r = b.engine.Result(0);
	EXPECT_EQ(10, r.lost);
	EXPECT_EQ(10u, r.max_loss_burst);
}

TEST(EngineOther, CountsMarks)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	fg_codepoints marked[2];

	b.engine.Run({{0, 1, frame, {{1000, 100}}, {}, false, FG_MEASURE_CODEPOINTS}}, times);
	ASSERT_EQ(1u, fg_engine_codepoints(b.engine.Get(), 0, marked, 2));
	EXPECT_TRUE(marked[0].ip && !marked[0].tagged && marked[0].dscp == 0);
	EXPECT_EQ(100u, marked[0].frames);
}

} // namespace

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

TEST(EngineOther, AddsWhatTheClockOfEachStreamIsAhead)
{
	for (int64_t ahead : {0, 5000, -300}) {
		Bench b(limited(0, 512));
		Template frame = TestFrame(128);
		Stream measured = {0, 1, frame, {{1000, 100}}, {}, false, FG_MEASURE_SERIES};
		Stream counted = {1, 0, frame, {{1000, 100}}};

		counted.other_clock = true;
		ASSERT_EQ(0, b.engine.Prepare({measured, counted}, times));
		fg_engine_peer_clock(b.engine.Get(), 0, ahead);
		fg_engine_peer_clock(b.engine.Get(), 1, 3 * ahead);
		fg_engine_start(b.engine.Get());
		b.engine.Await();
		for (int64_t i : {0, 1}) {
			fg_stream_result r = b.engine.Result((unsigned)i);

			/* 128 bytes at 1 Gbps, stored and forwarded, and the 20 us of the device */
			EXPECT_EQ(uint64_t(1024 + 20000 + (1 + 2 * i) * ahead), r.latency.min_ns);
			EXPECT_EQ(r.latency.min_ns, r.latency.max_ns);
		}
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
	/* the last of ten in the millisecond after nine */
	EXPECT_EQ(10000000u, r.loss.longest_outage_ns);
	EXPECT_EQ(0u, r.loss.outage_begin_ns);
}

/* What this tester sends to another one must not come back. */
TEST(EngineOther, MisdirectsWhatItShouldNotReceive)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	Stream sent = {0, 1, frame, {{1000, 100}}}, there = {0, 1, frame, {{1000, 50}}};
	fg_port_result port;

	sent.elsewhere = true;
	b.engine.Run({sent, there}, times);
	EXPECT_EQ(100u, b.engine.Result(0).tx);
	EXPECT_EQ(0u, b.engine.Result(0).rx);
	EXPECT_EQ(0u, fg_engine_misdirected(b.engine.Get(), 0, 0));
	EXPECT_EQ(100u, fg_engine_misdirected(b.engine.Get(), 0, 1));
	EXPECT_EQ(50u, b.engine.Result(1).rx);
	fg_engine_port_result(b.engine.Get(), 1, &port);
	EXPECT_EQ(100u, port.misdirected);
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

/* the lowest two bits of the sequence number, and the type of the frame before them */
const fg_value_fields LOW_BITS = {2, 4, {{96, 16}, {(106 + 9) * 8 + 6, 2}}};

TEST(EngineOther, CountsFramesByTheirBits)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	fg_value found[5], other;
	uint64_t delay = 0;

	b.engine.Run({{0,
		       1,
		       frame,
		       {{1000, 98}},
		       {},
		       false,
		       0,
		       0,
		       false,
		       nullptr,
		       nullptr,
		       nullptr,
		       false,
		       false,
		       0,
		       &LOW_BITS}},
		     times);
	ASSERT_EQ(4u, fg_engine_values(b.engine.Get(), 0, found, 5, &other));
	EXPECT_EQ(0u, other.frames);
	for (const fg_value &one : found) {
		if (&one == found + 4)
			break;
		EXPECT_EQ(0x0800u, one.value >> 2);
		EXPECT_EQ((one.value & 3) < 2 ? 25u : 24u, one.frames);
		EXPECT_EQ(128 * one.frames, one.octets);
		EXPECT_LE(one.delay_min_ns * one.frames, one.delay_sum_ns);
		EXPECT_LE(one.delay_sum_ns, one.delay_max_ns * one.frames);
		EXPECT_LT(one.first_arrival_ns, 4000000u + one.delay_max_ns);
		EXPECT_EQ(one.first_arrival_ns + (one.frames - 1) * 4000000, one.last_arrival_ns);
		delay += one.delay_sum_ns;
	}
	EXPECT_EQ(b.engine.Live(0).delay_sum_ns, delay);
	ASSERT_EQ(3u, fg_engine_values(b.engine.Get(), 0, found, 3, &other)) << "there is room for three";
	EXPECT_EQ(98 - found[0].frames - found[1].frames - found[2].frames, other.frames);
}

TEST(EngineOther, TellsHowManyFramesHaveValuesThatAreTooMany)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);
	const fg_value_fields few = {2, 3, {LOW_BITS.field[1], {127 * 8, 1}}}; /* one bit behind the frame */
	fg_value found[5], other;

	b.engine.Run({{0,
		       1,
		       frame,
		       {{1000, 98}},
		       {},
		       false,
		       0,
		       0,
		       false,
		       nullptr,
		       nullptr,
		       nullptr,
		       false,
		       false,
		       0,
		       &few}},
		     times);
	ASSERT_EQ(3u, fg_engine_values(b.engine.Get(), 0, found, 5, &other));
	EXPECT_EQ(24u, other.frames);
	EXPECT_EQ(24u * 128, other.octets);
	EXPECT_LE(other.delay_min_ns * 24, other.delay_sum_ns);
	EXPECT_EQ(other.first_arrival_ns + 23 * 4000000, other.last_arrival_ns);
	ASSERT_EQ(1u, fg_engine_values(b.engine.Get(), 0, found, 1, &other));
	EXPECT_EQ(98u, found[0].frames + other.frames) << "there is room for one only";
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(0u, found[i].value & 1);
}

TEST(EngineOther, RefusesValuesThatDoNotFit)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(128);

	for (const fg_value_fields &wrong :
	     {fg_value_fields{1, 4, {{0, 0}}}, fg_value_fields{1, 4, {{0, 33}}},
	      fg_value_fields{3, 4, {{0, 32}, {0, 32}, {0, 1}}}, fg_value_fields{1, 0, {{0, 8}}},
	      fg_value_fields{1, 1025, {{0, 8}}}, fg_value_fields{9, 4, {{0, 1}}}})
		EXPECT_EQ(-EINVAL, b.engine.Prepare({{0,
						      1,
						      frame,
						      {{1000, 98}},
						      {},
						      false,
						      0,
						      0,
						      false,
						      nullptr,
						      nullptr,
						      nullptr,
						      false,
						      false,
						      0,
						      &wrong}},
						    times));
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that come and go while others run. */
#include "engine_departures.h"
#include "fg_sizes.h"

namespace
{

enum { SPARES = 4, FRAMES = 50 };

/* a trial with streams of its own that do not end, and room for more */
struct Spared {
	explicit Spared(unsigned own, unsigned spares = SPARES) : bench(limited(0, 256), Wire())
	{
		std::vector<Stream> streams;

		for (unsigned i = 0; i < own; i++) {
			left.push_back(i);
			streams.push_back(
				{0, 1, frame, {constant(1000, FG_ENDLESS)}, {}, false, 0, i / double(own)});
		}
		EXPECT_EQ(0, bench.engine.Prepare(streams, {0, 1, 0, 0}, 1000000, nullptr,
						  [own, spares](fg_trial_config &c) {
							  c.traffic_ns = FG_ENDLESS;
							  c.spares = spares;
							  c.values = own == 1;
						  }));
		fg_engine_start(e);
	}
	static fg_engine_config
	Wire()
	{
		fg_engine_config c = real_time();

		c.max_frame = 512;
		return c;
	}
	/* -EAGAIN is for a moment only */
	int
	Add(fg_stream_config config, const fg_load &load, unsigned &stream)
	{
		fg_error err = {};
		int rc;

		config.load = &load;
		config.loads = 1;
		if (config.sizes == nullptr)
			config.frame = frame.get();
		while ((rc = fg_engine_stream_add(e, &config, &stream, &err)) == -EAGAIN)
			std::this_thread::sleep_for(std::chrono::microseconds(100));
		return rc;
	}
	void
	AwaitReceived(unsigned stream, uint64_t frames)
	{
		auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);

		while (bench.engine.Live(stream).rx_frames < frames) {
			ASSERT_LT(std::chrono::steady_clock::now(), end);
			std::this_thread::sleep_for(std::chrono::microseconds(100));
		}
	}
	/* it sends no more, and what was on its way has come */
	void
	Retire(unsigned stream)
	{
		ASSERT_EQ(0, fg_engine_stream_retire(e, stream, nullptr));
		while (!fg_engine_stream_retired(e, stream))
			std::this_thread::sleep_for(std::chrono::microseconds(100));
		AwaitReceived(stream, bench.engine.Live(stream).tx_frames);
	}
	void
	Remove(unsigned stream)
	{
		Retire(stream);
		ASSERT_EQ(0, fg_engine_stream_forget(e, stream, nullptr));
	}
	void
	End()
	{
		for (unsigned i : left)
			Retire(i);
		fg_engine_stop(e);
		bench.engine.Await();
	}

	std::vector<unsigned> left = {}; /* streams that did not end by themselves */
	Template frame = TestFrame(64);
	Bench bench;
	fg_engine *e = bench.engine.Get();
};

} // namespace

/* more often than there is room: every time from 0, and nobody else notices */
TEST(EngineSpares, StartAgainWithCountsOfTheirOwn)
{
	Spared s(2);
	fg_port_live port;
	unsigned stream;

	for (unsigned round = 0; round < 3 * SPARES; round++) {
		ASSERT_EQ(0, s.Add({.tx_port = 0, .rx_port = 1}, constant(50000, FRAMES), stream));
		s.AwaitReceived(stream, FRAMES);
		const fg_stream_live live = s.bench.engine.Live(stream);

		ASSERT_EQ(FRAMES, live.tx_frames);
		ASSERT_EQ(FRAMES, live.rx_frames);
		ASSERT_EQ(0u, live.missing);
		ASSERT_EQ(FRAMES * 64u, live.rx_octets);
		ASSERT_EQ(20512u, live.delay_min_ns);
		ASSERT_LE(live.delay_max_ns, 20512u + 2 * 672) << "behind frames of the other two";
		s.Remove(stream);
		EXPECT_EQ(0u, s.bench.engine.Live(stream).tx_frames);
	}
	s.End();
	for (unsigned i : {0, 1})
		EXPECT_EQ(0, s.bench.engine.Result(i).lost);
	fg_engine_port_live(s.e, 1, &port);
	EXPECT_GE(port.rx_frames, 3u * SPARES * FRAMES) << "what has gone stays counted for the port";
	EXPECT_EQ(64 * port.rx_frames, port.rx_octets);
}

/* from the number on at which another one stopped, over a queue that had no stream, and idle until told */
TEST(EngineSpares, GoOnWhereAnotherStopped)
{
	Spared s(1);
	unsigned stream;

	ASSERT_EQ(0, s.Add({.tx_port = 1, .rx_port = 0, .idle = true, .first = 1000}, constant(50000, FRAMES),
			   stream));
	std::this_thread::sleep_for(std::chrono::milliseconds(5));
	EXPECT_EQ(0u, s.bench.engine.Live(stream).tx_frames);
	ASSERT_EQ(0, fg_engine_stream_start(s.e, stream, nullptr));
	s.AwaitReceived(stream, FRAMES);
	EXPECT_EQ(0u, s.bench.engine.Live(stream).missing);
	s.End();
	const fg_stream_result r = s.bench.engine.Result(stream);

	EXPECT_EQ(FRAMES, r.tx);
	EXPECT_EQ(FRAMES, r.rx);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.stale + r.excess);
}

/* among enough streams that their frames are measured in batches, one of several sizes, which is not */
TEST(EngineSpares, OfSeveralSizesAmongMany)
{
	const uint16_t list[] = {64, 128};
	fg_sizes *sizes;
	Spared s(70);
	unsigned stream;

	ASSERT_EQ(0, fg_sizes_create(list, 2, &sizes, nullptr));
	Template longer = TestFrame(128);
	const fg_template *frames[] = {s.frame.get(), longer.get()};

	ASSERT_EQ(0, s.Add({.tx_port = 0, .rx_port = 1, .first = 1, .sizes = sizes, .frames = frames},
			   constant(20000, FRAMES), stream));
	fg_sizes_free(sizes);
	s.AwaitReceived(stream, FRAMES);
	EXPECT_EQ(FRAMES * 96u, s.bench.engine.Live(stream).rx_octets);
	s.Remove(stream);
	s.Remove(3); /* one that was there from the start */
	s.left.erase(s.left.begin() + 3);
	ASSERT_EQ(0, s.Add({.tx_port = 0, .rx_port = 1}, constant(20000, FRAMES), stream));
	s.AwaitReceived(stream, FRAMES);
	EXPECT_EQ(FRAMES * 64u, s.bench.engine.Live(stream).rx_octets);
	s.End();
	EXPECT_EQ(0, s.bench.engine.Result(69).lost);
}

TEST(EngineSpares, NeedRoomAndPlainCounts)
{
	Spared s(1);
	const fg_stream_config config = {.tx_port = 0, .rx_port = 1, .idle = true};
	const fg_load load = constant(1000, 1);
	unsigned stream, last = 0;

	EXPECT_EQ(SPARES, fg_engine_stream_room(s.e));
	EXPECT_EQ(-EINVAL, s.Add({.tx_port = 0, .rx_port = 9}, load, stream));
	EXPECT_EQ(-EINVAL,
		  s.Add({.tx_port = 0, .rx_port = 1, .measure = FG_MEASURE_VARIATION}, load, stream));
	EXPECT_EQ(-EINVAL, s.Add({.tx_port = 0, .rx_port = 1, .copies_of = 3}, load, stream));
	EXPECT_EQ(-ERANGE, s.Add({.tx_port = 0, .rx_port = 1}, constant(-1, 1), stream));
	for (unsigned i = 0; i < SPARES; i++)
		ASSERT_EQ(0, s.Add(config, load, last)) << "what was refused takes no room";
	EXPECT_EQ(-ENOSPC, s.Add(config, load, stream));
	EXPECT_EQ(-EBUSY, fg_engine_stream_forget(s.e, last, nullptr));
	s.Remove(last);
	EXPECT_EQ(-ENOENT, fg_engine_stream_start(s.e, last, nullptr));
	EXPECT_EQ(-ENOENT, fg_engine_stream_retire(s.e, last, nullptr));
	EXPECT_EQ(0, s.Add(config, load, stream));
	s.End();
	EXPECT_EQ(-ENOENT, s.Add(config, load, stream)) << "no trial runs";
}

/* and by nothing that the one before in its place has left */
TEST(EngineSpares, AreCountedByValues)
{
	const fg_value_fields low_bits = {1, 4, {{(42 + 9) * 8 + 6, 2}}};
	Spared s(1);
	fg_value found[4], other;
	unsigned stream;

	for (unsigned round = 0; round < 2 * SPARES; round++) {
		ASSERT_EQ(0, s.Add({.tx_port = 0, .rx_port = 1, .values = &low_bits}, constant(50000, FRAMES),
				   stream));
		s.AwaitReceived(stream, FRAMES);
		s.Retire(stream);
		ASSERT_EQ(4u, fg_engine_values(s.e, stream, found, 4, &other));
		EXPECT_EQ(FRAMES + 0u, found[0].frames + found[1].frames + found[2].frames + found[3].frames);
		EXPECT_EQ(0, fg_engine_stream_forget(s.e, stream, nullptr));
	}
	s.End();
}

TEST(EngineSpares, AreCountedByValuesOnlyWhereTheTrialBeganSo)
{
	const fg_value_fields low_bits = {1, 4, {{(42 + 9) * 8 + 6, 2}}};
	Spared s(2);
	unsigned stream;

	EXPECT_EQ(-EINVAL,
		  s.Add({.tx_port = 0, .rx_port = 1, .values = &low_bits}, constant(50000, FRAMES), stream));
	s.End();
}

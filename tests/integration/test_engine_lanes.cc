/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports with several queues, each with lcores of its own. The device is one of this process's: it knows what
 * it lost and duplicated, and puts every frame into whichever queue the test wants, so that what the tester
 * says can be compared to the frame.
 */
#include "device_of_lanes.h"
#include "engine_under_test.h"

namespace
{

const uint64_t any_lag = 30000000000; /* ns: late is only what an overloaded machine makes so */
const Times moment = {20, 300, 500, 0};
const unsigned everything = FG_MEASURE_VARIATION | FG_MEASURE_SERIES | FG_MEASURE_PAYLOAD;

/* the lanes of both ports on two lcores by turns */
fg_engine_config
on_two_lcores(unsigned queues)
{
	fg_engine_config c = {};

	c.time = FG_TIME_TSC;
	c.buffers = 32768 / queues - 1; /* of each */
	c.lcores = 2;
	for (unsigned i : {0, 1}) {
		c.port[i].queues = queues;
		for (unsigned k = 0; k < queues; k++) {
			c.port[i].tx_lcore[k] = k % 2;
			c.port[i].rx_lcore[k] = k % 2;
		}
	}
	return c;
}

struct Bench {
	explicit Bench(unsigned queues, LaneDevice::Spread spread = LaneDevice::SAME)
	    : east(queues, spread), west(queues, spread), engine(on_two_lcores(queues), &east, &west)
	{
	}

	fg_queue_result
	Queue(unsigned k)
	{
		fg_queue_result out;

		fg_engine_queue_result(engine.Get(), 0, k, &out);
		return out;
	}

	LaneDevice east, west;
	Engine engine;
};

void
expect_all(const fg_stream_result &r, uint64_t frames)
{
	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_EQ(frames, r.tx);
	EXPECT_EQ(frames, r.rx);
	EXPECT_EQ(frames, r.latency.count);
	EXPECT_EQ(frames * 64, r.rx_octets);
	EXPECT_EQ(0u, r.duplicates + r.reordered + r.stale + r.latency.negative);
}

} // namespace

TEST(EngineLanes, DivideAStream)
{
	for (unsigned queues : {2, 3, 16}) {
		Bench b(queues);
		Template frame = TestFrame(64);
		uint64_t tx = 0;

		b.engine.RunOut({{0, 0, frame, {{20000, 5003}}, {}, false, everything}});
		fg_stream_result r = b.engine.Result(0);
		expect_all(r, 5003);
		EXPECT_EQ(queues, r.parts);
		EXPECT_FALSE(r.unordered);
		EXPECT_EQ(5003 - queues, r.variation.pairs) << "within each part";
		/* no frame leaves before it is due, and the last one is seldom of the first part */
		EXPECT_GT(r.last_arrival_ns, 5002 * 50000u - 1000);
		EXPECT_EQ(0u, r.corrupted);
		for (unsigned k = 0; k < queues; k++) {
			fg_queue_result q = b.Queue(k);

			EXPECT_EQ((5003 + queues - 1 - k) / queues, q.tx);
			EXPECT_EQ(q.tx, q.rx);
			EXPECT_EQ(0u, q.passed) << "each part is measured where it arrives";
			tx += q.tx;
		}
		EXPECT_EQ(5003u, tx);
	}
}

TEST(EngineLanes, DealWholeStreams)
{
	Bench b(3);
	Template frame = TestFrame(64);
	std::vector<Stream> streams;

	for (unsigned i = 0; i < 7; i++)
		streams.push_back({0, 0, frame, {{3000, 700 + i}}});
	streams.push_back({1, 1, frame, {{3000, 500}}}); /* alone on its port: divided */
	b.engine.RunOut(streams);
	for (unsigned i = 0; i < 7; i++) {
		expect_all(b.engine.Result(i), 700 + i);
		EXPECT_EQ(1u, b.engine.Result(i).parts);
	}
	expect_all(b.engine.Result(7), 500);
	EXPECT_EQ(3u, b.engine.Result(7).parts);
	EXPECT_GE(b.Queue(2).tx, 1400u) << "two or three of seven";
}

TEST(EngineLanes, KeepWholeWhatIsNotEven)
{
	Bench b(2);
	Template frame = TestFrame(64);
	fg_load bursts = {10000, 2000};

	bursts.shape = FG_LOAD_BURSTS;
	bursts.burst = 10;
	bursts.burst_fps = 1e6;
	b.engine.RunOut({{0, 0, frame, {bursts}}});
	expect_all(b.engine.Result(0), 2000);
	EXPECT_EQ(1u, b.engine.Result(0).parts);
	EXPECT_EQ(2000u, b.Queue(0).tx + b.Queue(1).tx);
}

/* one flow that a card puts into one queue: every part is ordered, and the other lcores measure for the
 * first */
TEST(EngineLanes, ShareTheWorkOfOneQueue)
{
	Bench b(2, LaneDevice::FIRST);
	Template frame = TestFrame(64);

	b.engine.RunOut({{0, 0, frame, {{20000, 5000}}}});
	expect_all(b.engine.Result(0), 5000);
	EXPECT_FALSE(b.engine.Result(0).unordered);
	EXPECT_EQ(5000u, b.Queue(0).rx);
	EXPECT_EQ(2500u, b.Queue(0).passed);
	EXPECT_EQ(0u, b.Queue(1).rx);
}

/* fewer frames than fit on the way to the lane that measures them: an overloaded machine may let them pile up
 * there */
TEST(EngineLanes, CountFramesOfOneStreamOverAllQueues)
{
	const uint64_t frames = 1500;

	for (unsigned streams : {1, 4}) {
		Bench b(2, LaneDevice::SCATTER);
		Template frame = TestFrame(64);
		std::vector<Stream> list;

		for (unsigned i = 0; i < streams; i++)
			list.push_back({0, 0, frame, {{20000, frames}}, {}, false, everything});
		b.engine.RunOut(list);
		for (unsigned i = 0; i < streams; i++) {
			fg_stream_result r = b.engine.Result(i);
			uint64_t tx = 0, rx = 0, octets = 0;

			expect_all(r, frames);
			EXPECT_TRUE(r.unordered);
			EXPECT_EQ(frames - r.parts, r.variation.pairs);
			EXPECT_EQ(0u, r.corrupted);
			for (const fg_interval &interval : b.engine.Series(i)) {
				tx += interval.tx;
				rx += interval.rx;
				octets += interval.octets;
			}
			EXPECT_EQ(frames, tx);
			EXPECT_EQ(frames, rx);
			EXPECT_EQ(frames * 64, octets);
		}
		EXPECT_GT(b.Queue(0).passed + b.Queue(1).passed, 0u);
		EXPECT_EQ(frames * streams, b.Queue(0).rx + b.Queue(1).rx);
		EXPECT_EQ(0u, b.engine.PortResult(0).rx_overflow);
	}
}

/* every seventh frame is lost, and of every tenth a copy comes over another queue */
TEST(EngineLanes, FindLossAndCopiesToTheFrame)
{
	const uint64_t frames = 2000; /* see above */

	for (unsigned streams : {1, 3})
		for (unsigned queues : {2, 3}) {
			Bench b(queues, LaneDevice::SCATTER);
			Template frame = TestFrame(64);
			std::vector<Stream> list;
			uint64_t lost = 0, duplicates = 0;

			b.east.lose = 7;
			b.east.duplicate = 10;
			for (unsigned i = 0; i < streams; i++)
				list.push_back({0, 0, frame, {{10000, frames}}});
			b.engine.RunOut(list, [&] {
				uint64_t rx = 0;

				for (unsigned i = 0; i < streams; i++)
					rx += b.engine.Live(i).rx_frames;
				return rx + b.east.lost == frames * streams && b.east.Empty();
			});
			for (unsigned i = 0; i < streams; i++) {
				fg_stream_result r = b.engine.Result(i);

				ExpectConsistent(r);
				EXPECT_EQ(frames, r.tx);
				EXPECT_EQ(0u, r.stale);
				lost += uint64_t(r.lost);
				duplicates += r.duplicates;
			}
			EXPECT_EQ(b.east.lost, lost);
			EXPECT_EQ(frames * streams / 7, lost);
			EXPECT_EQ(b.east.duplicated, duplicates);
		}
}

/* what found no room on the way to the lane that measures it is said to be lost by the tester, to the
 * frame */
TEST(EngineLanes, TellWhatTheyCouldNotPassOn)
{
	LaneDevice east(2, LaneDevice::SCATTER), west(2);
	Template frame = TestFrame(64);
	fg_engine_config config = on_two_lcores(2);

	config.port[0].tx_lcore[0] = 1; /* the other lcore only receives from the first queue */
	config.port[1].tx_lcore[0] = config.port[1].rx_lcore[0] = 1;
	east.stall = 12000;
	Engine engine(config, &east, &west);
	engine.Run({{0, 0, frame, {{200000, 30000}}}}, {100, 200, 2000, 0}, any_lag);
	fg_stream_result r = engine.Result(0);
	ExpectConsistent(r);
	EXPECT_EQ(0u, r.stale + r.duplicates);
	EXPECT_EQ(uint64_t(r.lost), engine.PortResult(0).rx_overflow);
	if (east.second >= 12000) { /* half of them are the first queue's */
		EXPECT_GT(r.lost, 0);
	}
}

TEST(EngineLanes, BeginOneSchedule)
{
	Bench b(2);
	Template frame = TestFrame(64);

	b.engine.RunOut({{0, 0, frame, {{10000, 2000}}}});
	for (unsigned k : {0, 1}) {
		fg_queue_result q = b.Queue(k);

		EXPECT_NEAR(100000.0 * k, double(q.first_due_ns), 1.0) << "a frame apart, to the tick";
		EXPECT_GE(q.first_ns, q.first_due_ns);
		RecordProperty("first_departure_late_ns_" + std::to_string(k),
			       std::to_string(q.first_ns - q.first_due_ns));
	}
	EXPECT_NE(b.Queue(0).tx_lcore, b.Queue(1).tx_lcore);
}

/* what a frame carries follows from its number in the whole stream */
TEST(EngineLanes, VaryFieldsAsOneStream)
{
	std::unique_ptr<fg_frame, void (*)(fg_frame *)> f(fg_frame_create(), fg_frame_free);
	fg_vary_config vary = {};
	fg_template *made = nullptr;
	Bench b(3);
	std::vector<uint16_t> found(1000);

	vary.first = 5000;
	vary.step = 1;
	vary.count = 60000;
	vary.every = 1;
	ASSERT_EQ(0, fg_frame_push(f.get(), "ethernet", nullptr));
	ASSERT_EQ(0, fg_frame_push(f.get(), "ipv4", nullptr));
	ASSERT_EQ(0, fg_frame_push(f.get(), "udp", nullptr));
	ASSERT_EQ(0, fg_frame_vary(f.get(), "source", &vary, nullptr));
	ASSERT_EQ(0, fg_frame_finish(f.get(), 64, &made, nullptr));
	Template frame(made);
	b.east.look = true;
	b.engine.RunOut({{0, 0, frame, {{10000, 1000}}}});
	expect_all(b.engine.Result(0), 1000);
	for (unsigned k = 0; k < 3; k++)
		for (auto [number, port] : b.east.ports[k]) {
			ASSERT_LT(k + 3 * number, found.size());
			found[k + 3 * number] = port;
		}
	for (unsigned i = 0; i < found.size(); i++)
		ASSERT_EQ(5000 + i, found[i]);
}

TEST(EngineLanes, TagFramesOfTheWholeStream)
{
	for (uint64_t every : {1, 10, 7}) {
		Bench b(2);
		Template frame = TestFrame(64);
		fg_stream_result r;
		int64_t delays[32];

		b.engine.RunOut({{0, 0, frame, {{10000, 1000}}}}, {}, [&](fg_trial_config &c) {
			auto *s = const_cast<fg_stream_config *>(c.stream);

			s->tag_first = 13;
			s->tag_every = every;
			s->tags = 21;
		});
		r = b.engine.Result(0);
		expect_all(r, 1000);
		EXPECT_EQ(21u, fg_engine_tags(b.engine.Get(), 0, delays, 32));
		EXPECT_EQ(5u, fg_engine_tags(b.engine.Get(), 0, delays, 5));
		for (unsigned i = 0; i < 5; i++)
			EXPECT_LE(uint64_t(delays[i]), r.latency.max_ns);
	}
}

TEST(EngineLanes, ObeyOrdersTogether)
{
	Bench b(2);
	Template frame = TestFrame(64);
	fg_engine *e = b.engine.Get();
	fg_load faster = {40000, FG_ENDLESS}, uneven = {40000, FG_ENDLESS};
	fg_stream_live live = {};
	fg_stream_delays delays = {};
	fg_error err = {};

	b.engine.Start({{0, 0, frame, {{10000, FG_ENDLESS}}}}, {0, 86400000, 0, 0}, any_lag);
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	EXPECT_EQ(0, fg_engine_stream_stop(e, 0, &err));
	EXPECT_EQ(0, fg_engine_stream_start(e, 0, &err));
	uneven.shape = FG_LOAD_POISSON;
	EXPECT_EQ(-EINVAL, fg_engine_stream_load(e, 0, &uneven, &err));
	EXPECT_STREQ("only an even load can be shared by the 2 queues that send the stream", err.message);
	EXPECT_EQ(0, fg_engine_stream_load(e, 0, &faster, &err));
	for (int i = 0; i < 10000 && live.rx_frames < 3000; i++) {
		fg_engine_stream_live(e, 0, &live);
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	fg_engine_stream_delays(e, 0, &delays);
	EXPECT_GT(delays.p999_ns, 0u);
	EXPECT_EQ(0, fg_engine_stream_stop(e, 0, &err));
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	fg_engine_stop(e);
	b.engine.Await();
	expect_all(b.engine.Result(0), b.engine.Result(0).tx);
	fg_engine_stream_live(e, 0, &live);
	EXPECT_EQ(b.engine.Result(0).rx, live.rx_frames);
}

TEST(EngineLanes, FindFramesOfAnotherPort)
{
	Bench b(2);
	Template frame = TestFrame(64);

	b.engine.RunOut({{0, 1, frame, {{10000, 500}}}}, [&] { return b.east.Empty(); });
	EXPECT_EQ(500u, b.engine.PortResult(0).misdirected);
	EXPECT_EQ(500u, fg_engine_misdirected(b.engine.Get(), 0, 0));
	EXPECT_EQ(500, b.engine.Result(0).lost);
}

TEST(EngineLanes, ShowAllFramesToNobody)
{
	Bench b(2);
	fg_tap tap = {[](fg_tap *, rte_mbuf *const *, const uint64_t *, unsigned) {}};

	EXPECT_EQ(-EINVAL,
		  b.engine.Prepare({}, moment, 0, nullptr, [&](fg_trial_config &c) { c.tap[1] = &tap; }));
	EXPECT_STREQ("device", b.engine.err.where);
}

TEST(EngineLanes, AreThoseThePortHas)
{
	LaneDevice east(1), west(1);
	fg_engine_config c = on_two_lcores(2);
	fg_engine *none = nullptr;
	fg_error err = {};

	c.ports = 2;
	c.port[0].port = &east;
	c.port[1].port = &west;
	EXPECT_EQ(-EINVAL, fg_engine_create(&c, &none, &err));
	EXPECT_STREQ("2 queues of 1", err.message);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials in the processor's time, over DPDK's own devices: rings that give back what they took, and a memif
 * pair with both ends in this process. Nothing is asserted on speed; where frames must be on time, the time
 * allowed is long.
 */
#include <unistd.h>

#include <rte_cycles.h>

#include "engine_on_rings.h"
#include "scratch_folder.h"

namespace
{

/* a port whose frames leave with a priority tag, as frames of some hypervisors and switches do */
struct PriorityTags : fg_port {
	explicit PriorityTags(fg_port *real) : fg_port(*real), inner(real)
	{
		tx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t now) {
			fg_port *real = static_cast<PriorityTags *>(port)->inner;

			for (unsigned i = 0; i < n; i++)
				fg_net_tag(reinterpret_cast<uint8_t *>(
						   rte_pktmbuf_prepend(frames[i], FG_NET_TAG)),
					   FG_NET_PRIORITY_TAG | 0x6000);
			return real->tx(real, frames, n, now);
		};
		rx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t now) {
			fg_port *real = static_cast<PriorityTags *>(port)->inner;

			return real->rx(real, frames, n, now);
		};
		static const fg_port_ops asks = {
			[](fg_port *port, fg_port_counters *out) {
				fg_port *real = static_cast<PriorityTags *>(port)->inner;

				real->ops->counters(real, out);
			},
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};
		ops = &asks;
	}

	fg_port *inner;
};

class Memif
{
      public:
	explicit Memif(const fg_engine_config &config = processor_time(1), bool tags = false)
	    : path(scratch_path("engine")), east("memif:" + path + ",server"), west("memif:" + path),
	      tagged_east(east.port), tagged_west(west.port)
	{
		linked = fg_port_wait_link(west.port, 5000, nullptr) == 0 &&
			 fg_port_wait_link(east.port, 5000, nullptr) == 0;
		engine.reset(tags ? new Engine(config, &tagged_east, &tagged_west)
				  : new Engine(config, east.port, west.port));
	}
	/* DPDK's driver is not safe against being closed while its interrupt thread learns that the other end
	 * is gone */
	~Memif()
	{
		engine.reset();
		west.Close();
		for (int i = 0; i < 5000 && east.port->ops->link_up(east.port); i++)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
	}

      private:
	std::string path;
	Port east, west;
	PriorityTags tagged_east, tagged_west;

      public:
	bool linked;
	std::unique_ptr<Engine> engine;
};

void
expect_all(const Engine &engine, unsigned stream, uint64_t frames)
{
	fg_stream_result r = engine.Result(stream);

	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_EQ(frames, r.tx);
	EXPECT_EQ(frames, r.rx);
	EXPECT_EQ(0u, r.duplicates + r.reordered + r.stale + r.latency.negative);
	EXPECT_EQ(frames, r.latency.count);
}

} // namespace

TEST(EngineTsc, CountsEveryFrame)
{
	for (unsigned lcores : {1, 2})
		for (unsigned size : {64, 1518}) {
			Rings b(lcores);
			Template frame = TestFrame(size);

			b.engine.RunOut({{0, 0, frame, {{10000, 3000}}}, {1, 1, frame, {{7001.5, 2000}}}});
			expect_all(b.engine, 0, 3000);
			expect_all(b.engine, 1, 2000);
			for (unsigned i : {0, 1}) {
				fg_port_result p = b.engine.PortResult(i);

				EXPECT_EQ(0u, p.misdirected + p.unsolicited + p.rx_missed + p.tx_errors);
			}
		}
}

TEST(EngineTsc, CountsEveryFrameOverMemif)
{
	for (unsigned lcores : {1, 2}) {
		Memif b(processor_time(lcores));
		Template frame = TestFrame(64);

		ASSERT_TRUE(b.linked);
		for (int trial = 0; trial < 2; trial++) {
			b.engine->RunOut({{0, 1, frame, {{10000, 3000}}}, {1, 0, frame, {{5000, 1500}}}});
			expect_all(*b.engine, 0, 3000);
			expect_all(*b.engine, 1, 1500);
		}
	}
}

/* errors on purpose: who receives follows who sends, on another lcore, too */
TEST(EngineTsc, TellsErrorsOnPurposeFromThoseOfThePath)
{
	for (unsigned lcores : {1, 2}) {
		Memif b(processor_time(lcores));
		Template frame = TestFrame(64);
		fg_stream_faults faults = {};
		fg_stream_result r;

		faults.fields.runt_size = 60;
		for (auto [kind, every] : {std::pair(FG_INJECT_SKIP, 3), std::pair(FG_INJECT_DUPLICATE, 5),
					   std::pair(FG_INJECT_REORDER, 8), std::pair(FG_INJECT_RUNT, 10)})
			faults.program.rule[kind] = {{uint64_t(every), 0}, 1, 0, 3};
		ASSERT_TRUE(b.linked);
		b.engine->RunOut(
			{{0, 1, frame, {{10000, 3000}}, {}, false, 0, 0, false, nullptr, nullptr, &faults}});
		r = b.engine->Result(0);
		ExpectConsistent(r);
		EXPECT_EQ(3000u, r.tx);
		EXPECT_EQ(0, r.lost);
		EXPECT_EQ(0u, r.duplicates + r.reordered + r.stale);
		EXPECT_GT(r.faults[FG_INJECT_RUNT].sent, 200u);
		EXPECT_EQ(r.faults[FG_INJECT_RUNT].sent, r.faults[FG_INJECT_RUNT].received);
	}
}

TEST(EngineTsc, SendsNothingBeforeItsTime)
{
	Rings b;
	Template frame = TestFrame(64);
	auto begin = std::chrono::steady_clock::now();
	fg_stream_result r;

	b.engine.RunOut({{0, 0, frame, {{1000, 201}}}});
	r = b.engine.Result(0);
	expect_all(b.engine, 0, 201);
	EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(220));
	/* the first may have been late, by no more than it says */
	EXPECT_GE(r.tx_duration_ns + r.worst_lag_ns, 200000000u);
}

TEST(EngineTsc, CountsWhatNobodyCouldSendAsLate)
{
	Rings b;
	Template frame = TestFrame(64);
	double fps = double(rte_get_tsc_hz()) * 0.99;
	uint64_t frames = uint64_t(fps * 0.1);
	fg_stream_result r;

	b.engine.Run({{0, 0, frame, {{fps, frames}}}}, {0, 100, 200, 0}, 1000000);
	r = b.engine.Result(0);
	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_GT(r.late, 0u);
	EXPECT_GT(r.tx, 0u);
	EXPECT_LE(r.worst_lag_ns, 1000000u) << "beyond that it is not sent";
	EXPECT_EQ(r.tx, r.rx);
}

TEST(EngineTsc, SeesNothingOfAnEarlierTrial)
{
	Rings b;
	Template one = TestFrame(64), other = TestFrame(128);

	for (int trial = 0; trial < 3; trial++) {
		b.engine.Run({{0, 0, one, {{100000, 1000}}}}, {0, 10, 0, 0}, any_lag); /* no drain */
		b.engine.RunOut({{0, 0, other, {{10000, 100}}}});
		expect_all(b.engine, 0, 100);
	}
}

TEST(EngineTsc, CountsMisdirectedFrames)
{
	Rings b;
	Template frame = TestFrame(64);

	b.engine.Run({{0, 1, frame, {{1000, 100}}}}, moment, any_lag);
	EXPECT_EQ(100u, b.engine.PortResult(0).misdirected);
	EXPECT_EQ(100, b.engine.Result(0).lost);
}

TEST(EngineTsc, StopsInMidRun)
{
	for (unsigned lcores : {1, 2}) {
		Rings b(lcores);
		Template frame = TestFrame(64);

		for (int delay_us : {0, 0, 100, 7000, 20000}) {
			b.engine.Start({{0, 0, frame, {{100000, 8640000000}}}}, {0, 86400000, 0, 0}, any_lag);
			std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
			fg_engine_stop(b.engine.Get());
			b.engine.Await();
			ExpectConsistent(b.engine.Result(0));
			EXPECT_LE(b.engine.Result(0).rx, b.engine.Result(0).tx);
		}
	}
}

TEST(EngineTsc, SettlesBeforeTheNextTrial)
{
	Rings b;
	Template frame = TestFrame(64);
	uint64_t first = 0, second = 0;

	ASSERT_EQ(0, b.engine.Prepare({{0, 0, frame, {{1000, 1}}}}, {10, 10, 20, 300}, any_lag, &first));
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	ASSERT_EQ(0, b.engine.Prepare({{0, 0, frame, {{1000, 1}}}}, {10, 10, 20, 0}, any_lag, &second));
	EXPECT_GE(second - first, 339000000u) << "traffic, drain, settle, learn";
	fg_engine_start(b.engine.Get());
	b.engine.Await();
}

TEST(EngineTsc, IsMadeAndFreedAgainAndAgain)
{
	Template frame = TestFrame(64);

	for (int i = 0; i < 10; i++) {
		Rings b(1 + i % 2);

		b.engine.RunOut({{0, 0, frame, {{10000, 10}}}});
		expect_all(b.engine, 0, 10);
	}
}

namespace
{

/* of two ports, each the other's gateway */
void
expect_neighbours(bool tags)
{
	fg_engine_config config = processor_time(1);
	const frames::Ipv6 ipv6[2] = {frames::host_ipv6, frames::peer_ipv6};
	const frames::Ipv4 ipv4[2] = {frames::host_ipv4, frames::peer_ipv4};
	const frames::Mac mac[2] = {frames::host_mac, frames::peer_mac};
	unsigned found = 0;

	for (unsigned i : {0, 1}) {
		fg_engine_port &p = config.port[i];

		p.has_ipv4 = p.has_ipv6 = p.has_gateway4 = p.has_gateway6 = true;
		memcpy(p.ipv4, ipv4[i].data(), 4);
		memcpy(p.ipv6, ipv6[i].data(), 16);
		memcpy(p.gateway4, ipv4[1 - i].data(), 4);
		memcpy(p.gateway6, ipv6[1 - i].data(), 16);
	}
	Memif b(config, tags);
	ASSERT_TRUE(b.linked);
	for (int tries = 0; tries < 20 && found < 4; tries++) {
		found = 0;
		b.engine->Run({}, {0, 0, 200, 0});
		for (unsigned i : {0, 1})
			for (int version : {4, 6}) {
				frames::Mac learned;

				if (!fg_engine_gateway(b.engine->Get(), i, version, learned.data()))
					continue;
				EXPECT_EQ(mac[1 - i], learned);
				found++;
			}
	}
	EXPECT_EQ(4u, found);
}

} // namespace

TEST(EngineTsc, NeighboursFindEachOther)
{
	expect_neighbours(false);
}

TEST(EngineTsc, NeighboursWithPriorityTagsFindEachOther)
{
	expect_neighbours(true);
}

namespace
{

/* a port that takes now and then only some of its frames, or nothing */
struct Reluctant : fg_port {
	explicit Reluctant(fg_port *real) : fg_port(*real), inner(real)
	{
		tx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t now) {
			auto *r = static_cast<Reluctant *>(port);

			r->turns++;
			if (r->turns % 3 == 0)
				n = uint16_t(r->turns / 3 % 5 * n / 4);
			return r->inner->tx(r->inner, frames, n, now);
		};
		rx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t now) {
			fg_port *real = static_cast<Reluctant *>(port)->inner;

			return real->rx(real, frames, n, now);
		};
		static const fg_port_ops asks = {
			[](fg_port *port, fg_port_counters *out) {
				fg_port *real = static_cast<Reluctant *>(port)->inner;

				real->ops->counters(real, out);
			},
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};
		ops = &asks;
	}

	fg_port *inner;
	unsigned turns = 0;
};

} // namespace

TEST(EngineTsc, LooksAtTheLinksDuringATrial)
{
	static unsigned looks;
	Port east("vdev:net_ring22"), west("vdev:net_ring23");
	Reluctant port(east.port);
	fg_port_ops asks = *port.ops;

	asks.link_up = [](fg_port *) { return looks++ % 2 == 0; };
	asks.counters = [](fg_port *, fg_port_counters *out) {
		*out = {};
		out->link_changes = looks;
	};
	port.ops = &asks;
	Engine engine(processor_time(1), &port, west.port);
	engine.Run({}, {0, 300, 0, 0}, any_lag);
	EXPECT_GE(engine.PortResult(0).link_changes, 2u) << "a short outage is one, too";
}

/* @return the longest wait of a small frame that is due together with a large one */
static uint64_t
longest_wait(uint64_t line_rate_bps)
{
	Template large = TestFrame(1518), small = TestFrame(64);
	Port east("vdev:net_ring20"), west("vdev:net_ring21");

	east.port->caps.line_rate_bps = line_rate_bps;
	Engine engine(processor_time(1), east.port, west.port);
	engine.RunOut({{0, 0, large, {{1000, 50}}}, {0, 0, small, {{1000, 50}}}});
	expect_all(engine, 0, 50);
	expect_all(engine, 1, 50);
	return engine.Result(1).own_queue_max_ns;
}

/* a port that sends at once, and not at a frame's own time, knows how long its line lets one wait at least */
TEST(EngineTsc, KnowsHowLongFramesWaitForTheLine)
{
	EXPECT_GE(longest_wait(100000000) + 1, (1518 + 20) * 80u); /* in whole ticks */
	EXPECT_EQ(0u, longest_wait(0)) << "no line, no wait";
}

/* what a port refuses keeps its place and its number, in one stream and in many */
TEST(EngineTsc, OffersAgainWhatThePortRefused)
{
	Template frame = TestFrame(64);

	for (unsigned n : {1, 40}) {
		Port east("vdev:net_ring20"), west("vdev:net_ring21");
		Reluctant port(east.port);
		Engine engine(processor_time(1), &port, west.port);
		std::vector<Stream> streams;

		for (unsigned i = 0; i < n; i++)
			streams.push_back({0, 0, frame, {{200000.0 / n, 40000 / n}}});
		engine.RunOut(streams);
		uint64_t refused = 0;
		for (unsigned i = 0; i < n; i++) {
			expect_all(engine, i, 40000 / n);
			refused += engine.Result(i).refused;
		}
		EXPECT_GT(refused, 0u);
	}
}

/* and too late, it is given up without a gap in the numbers */
TEST(EngineTsc, GivesUpWhatThePortRefusedForTooLong)
{
	Template frame = TestFrame(64);
	Port east("vdev:net_ring20"), west("vdev:net_ring21");
	Reluctant port(east.port);
	std::vector<Stream> streams;
	uint64_t late = 0;

	/* nothing for a while, then everything */
	port.tx = [](fg_port *p, rte_mbuf **frames, uint16_t n, uint64_t now) {
		auto *r = static_cast<Reluctant *>(p);

		return r->turns++ < 2000 ? uint16_t(0) : r->inner->tx(r->inner, frames, n, now);
	};
	Engine engine(processor_time(1), &port, west.port);
	for (unsigned i = 0; i < 5; i++)
		streams.push_back({0, 0, frame, {{40000, 8000}}});
	engine.Run(streams, moment, /*max_lag*/ 1000);
	for (unsigned i = 0; i < 5; i++) {
		fg_stream_result r = engine.Result(i);

		ExpectConsistent(r);
		EXPECT_EQ(0, r.lost) << "numbers go on where they stopped";
		EXPECT_EQ(0u, r.unsent);
		late += r.late;
	}
	EXPECT_GT(late, 0u);
}

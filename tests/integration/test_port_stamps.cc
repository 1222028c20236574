/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive stamps of a card's own clock, by a card that is played: its clock has an origin and a pace of its
 * own, answers after a while, and its driver shows frames long after they have arrived. What lies between is
 * known.
 */
#include <cmath>
#include <ctime>
#include <deque>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "engine_under_test.h"
#include "fg_port_stamps.h"

namespace
{

/* ticks of the TSC at which things happened, as the card's clock says them */
struct Clock {
	double pace;     /* its ticks in one of the TSC's */
	uint64_t origin; /* its time at `born` */
	uint64_t asks = 0;
	uint64_t born = rte_rdtsc();

	uint64_t
	At(uint64_t tsc) const
	{
		return origin + uint64_t(int64_t(llround(double(int64_t(tsc - born)) * pace)));
	}
	static int
	Read(void *of, uint64_t *ticks)
	{
		Clock *c = static_cast<Clock *>(of);

		rte_delay_us_block(c->asks++ % 3 == 0 ? 4 : 1); /* the bus takes its time, there ... */
		*ticks = c->At(rte_rdtsc());
		rte_delay_us_block(1); /* ... and back */
		return 0;
	}
};

uint64_t
in_ns(uint64_t ticks)
{
	return uint64_t(double(ticks) * 1e9 / double(rte_get_tsc_hz()));
}

class Stamps : public testing::Test
{
      protected:
	void
	SetUp() override
	{
		pool = rte_pktmbuf_pool_create("stamps", 63, 0, 0, 256, SOCKET_ID_ANY);
		ASSERT_NE(nullptr, pool);
		ASSERT_EQ(0, rte_mbuf_dyn_rx_timestamp_register(&offset, &flag));
		ASSERT_EQ(0, fg_port_stamps_create(Clock::Read, &clock, &stamps));
		frame = rte_pktmbuf_alloc(pool);
	}
	void
	TearDown() override
	{
		rte_pktmbuf_free(frame);
		fg_port_stamps_free(stamps);
		rte_mempool_free(pool);
	}
	/* what becomes of the stamp of a frame; counts in `bad` if it could not be one */
	uint64_t
	Turned(uint64_t card, uint64_t flags)
	{
		uint64_t *stamp = RTE_MBUF_DYNFIELD(frame, offset, uint64_t *);

		*stamp = card;
		frame->ol_flags = flags;
		bad += fg_port_stamps_turn(stamps, &frame, 1);
		return *stamp;
	}
	/* how far a frame that arrived at @p tsc is put beside that, ns */
	uint64_t
	Off(uint64_t tsc)
	{
		int64_t off = int64_t(Turned(clock.At(tsc), flag) - tsc);

		return in_ns(uint64_t(std::abs(off)));
	}
	fg_port_stamps_state
	State() const
	{
		fg_port_stamps_state state;

		fg_port_stamps_read(stamps, &state);
		return state;
	}

	Clock clock{0.0301, 5000000000};
	fg_port_stamps *stamps = nullptr;
	rte_mempool *pool = nullptr;
	rte_mbuf *frame = nullptr;
	int offset = 0;
	uint64_t flag = 0;
	unsigned bad = 0;
};

} // namespace

TEST_F(Stamps, AreTurnedIntoTicksOfTheTscWithinTheBound)
{
	const uint64_t tick_ns = uint64_t(1e9 / (0.0301 * double(rte_get_tsc_hz()))) + 1;

	fg_port_stamps_begin(stamps);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t since = rte_rdtsc();

		rte_delay_us_sleep(5000);
		for (uint64_t arrived : {since, (since + rte_rdtsc()) / 2, rte_rdtsc()})
			EXPECT_LE(Off(arrived), State().error_ns + tick_ns);
		fg_port_stamps_look(stamps);
	}
	EXPECT_EQ(0u, bad);
	EXPECT_EQ(0u, State().jumps);
	EXPECT_GT(State().error_ns, 0u);
}

TEST_F(Stamps, AreReplacedWhereTheyCannotBe)
{
	uint64_t before = rte_rdtsc(), second = rte_get_tsc_hz();

	EXPECT_GE(Turned(clock.At(before), 0), before) << "without the flag it is no stamp";
	EXPECT_EQ(1u, bad);
	EXPECT_GE(Turned(clock.At(before - 2 * second), flag), before) << "two seconds ago";
	EXPECT_GE(Turned(clock.At(before + second), flag), before) << "not yet";
	EXPECT_GE(Turned(UINT64_MAX / 2, flag), before) << "any number";
	EXPECT_EQ(4u, bad);
	EXPECT_LT(Turned(clock.At(before - second / 2), flag), before) << "half a second ago";
	EXPECT_EQ(4u, bad);
}

TEST_F(Stamps, NoticeThatTheClockWasSet)
{
	clock.origin += 1000000000;
	fg_port_stamps_look(stamps);
	EXPECT_EQ(1u, State().jumps);
	EXPECT_LE(Off(rte_rdtsc()), State().error_ns + 100);
	clock.origin = 1000000;
	fg_port_stamps_look(stamps);
	EXPECT_EQ(2u, State().jumps);
	EXPECT_LE(Off(rte_rdtsc()), State().error_ns + 100);
	EXPECT_EQ(0u, bad);
}

namespace
{

/* What is sent arrives there a while later, and is shown by the driver only now and then. */
struct Card : fg_port {
	Card(double pace, uint64_t origin, bool stamped) : fg_port{}, clock{pace, origin}
	{
		static const fg_port_ops nothing = {
			[](fg_port *, fg_port_counters *out) { *out = {}; },
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};
		tx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t) {
			Card *far = static_cast<Card *>(port)->far;

			for (unsigned i = 0; i < n; i++)
				far->waiting.push_back({frames[i], rte_rdtsc() + far->path});
			return n;
		};
		rx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t) {
			return static_cast<Card *>(port)->Receive(frames, n);
		};
		ops = &nothing;
		caps.rx_timestamp = stamped;
		caps.max_frame = 1518;
		caps.numa_node = -1;
		EXPECT_EQ(0, rte_mbuf_dyn_rx_timestamp_register(&offset, &flag));
		if (stamped) {
			EXPECT_EQ(0, fg_port_stamps_create(Clock::Read, &clock, &stamps));
		}
	}
	~Card()
	{
		for (const Frame &f : waiting)
			rte_pktmbuf_free(f.mbuf);
		fg_port_stamps_free(stamps);
	}
	Card(const Card &) = delete;
	Card &operator=(const Card &) = delete;

	uint16_t
	Receive(rte_mbuf **frames, uint16_t most)
	{
		uint64_t now = rte_rdtsc();
		uint16_t n = 0;

		if (now < shows_at)
			return 0;
		for (; n < most && !waiting.empty() && waiting.front().arrival <= now; n++) {
			frames[n] = waiting.front().mbuf;
			frames[n]->ol_flags = flag;
			*RTE_MBUF_DYNFIELD(frames[n], offset, uint64_t *) = clock.At(waiting.front().arrival);
			waiting.pop_front();
		}
		if (n < most)
			shows_at = now + rte_get_tsc_hz() / 500;
		if (stamps != nullptr)
			unstamped += fg_port_stamps_turn(stamps, frames, n);
		return n;
	}

	struct Frame {
		rte_mbuf *mbuf;
		uint64_t arrival;
	};
	Clock clock;
	Card *far = nullptr;
	uint64_t path = rte_get_tsc_hz() / 20000; /* 50 us */
	uint64_t shows_at = 0;
	unsigned unstamped = 0;
	int offset;
	uint64_t flag;
	std::deque<Frame> waiting;
};

const uint64_t frames_sent = 4000;

struct Outcome {
	fg_stream_result stream;
	fg_port_result port;
	unsigned unstamped;
};

Outcome
trial(bool stamped)
{
	Card east(0.4, 7, stamped), west(0.385, 123456789, stamped);
	Template frame = TestFrame(64);
	fg_engine_config c = {};

	east.far = &west;
	west.far = &east;
	c.time = FG_TIME_TSC;
	c.buffers = 1023;
	Engine engine(c, &east, &west);
	engine.RunOut({{0, 1, frame, {{20000, frames_sent}}}});
	return {engine.Result(0), engine.PortResult(1), west.unstamped};
}

} // namespace

TEST(StampsOfATrial, LeaveOutTheTimeToTheNextLook)
{
	const Outcome software = trial(false), card = trial(true);
	const double bound = double(card.port.rx_stamp_error_ns);

	EXPECT_EQ(0u, software.port.rx_stamp_error_ns);
	EXPECT_GT(bound, 0);
	EXPECT_EQ(0u, card.unstamped);
	EXPECT_EQ(0u, card.port.rx_stamp_jumps);
	ASSERT_EQ(frames_sent, card.stream.rx);
	/* a frame is stamped before it is handed over: it is never faster than the path */
	EXPECT_GE(double(card.stream.latency.min_ns), 50000 - bound - 2);
	/* what the driver shows every two milliseconds has waited for it, by the card's stamps it has not */
	EXPECT_LT(double(card.stream.latency.p50_ns), 50000 + bound + 200000);
	EXPECT_GT(double(software.stream.latency.max_ns), double(card.stream.latency.p50_ns) + 300000);
}

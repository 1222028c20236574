/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are due and that the port does not take. */
#include <random>

#include "data_plane.h"

namespace
{

struct Outcome {
	uint64_t intended, tx, late, unsent;
	bool
	operator==(const Outcome &o) const
	{
		return intended == o.intended && tx == o.tx && late == o.late && unsent == o.unsent;
	}
};

Outcome
of(const Senders &s, unsigned stream)
{
	fg_stream_result r = {};

	tx_result(&s.all, &s.all.stream[stream], 1, &r);
	return {r.intended, r.tx, r.late, r.unsent};
}

} // namespace

/* one waits for the port, and those behind it for that one: each is late when it has waited too long */
TEST(TxScheduled, WhatHasWaitedTooLongIsLate)
{
	Senders s({1e6, 5e5}); /* one each us, and one each 2 us */
	const uint64_t now = s.START + 50 * US;

	for (unsigned i : {0, 1})
		s.all.stream[i].pace.max_lag = 10 * US;
	s.port.takes = 0;
	s.Poll(s.START);
	s.port.takes = UINT16_MAX;
	for (unsigned i = 0; i < 8; i++)
		s.Poll(now);
	/* from 40 us on they may leave */
	EXPECT_EQ((Outcome{51, 11, 40, 0}), of(s, 0));
	EXPECT_EQ((Outcome{26, 6, 20, 0}), of(s, 1));
}

/* several queues of a port send a stream of a number of frames in turn */
TEST(TxScheduled, ALimitIsSharedByTheSubstreams)
{
	Senders s({1e6, 1e6});
	const uint64_t share[] = {4, 3};

	for (unsigned k : {0, 1}) {
		fg_load load = {};
		fg_stream_config c = {};
		tx_place place = {&s.port, 0, k, 2};
		fg_error err = {};

		load.fps = 2e6;
		load.frames = FG_ENDLESS;
		c.loads = 1;
		c.load = &load;
		c.frame = s.frame.t;
		c.turn = {k, 1, 2};
		c.limit = 7;
		tx_stream_clear(&s.all, k);
		ASSERT_EQ(0, tx_stream_init(&s.all, k, &c, &place, nullptr, &err)) << err.message;
		EXPECT_EQ(share[k], s.all.stream[k].pace.total);
		EXPECT_EQ(share[k], s.all.stream[k].limit);
	}
}

/* the turns begin anew with each load, so the first of them has more frames than its share of the whole */
TEST(TxScheduled, ALimitIsKeptByLoadsThatAreShared)
{
	for (uint64_t limit : {6, 5}) {
		Senders s({1e6, 1e6}, false, 2);
		fg_load loads[2] = {};

		loads[0].fps = loads[1].fps = 1e6;
		loads[0].frames = loads[1].frames = 3;
		for (unsigned k : {0, 1})
			s.Plan(k, loads, 2, limit, {k, 1, 2});
		for (uint64_t now = s.START; now < s.START + 20 * US; now += US)
			for (unsigned k : {0, 1})
				s.Poll(now, k);
		EXPECT_EQ(limit, s.all.stream[0].sent + s.all.stream[1].sent);
	}
}

/* another rate may send in time what the planned one would not have */
TEST(TxScheduled, ALimitIsOfTheStreamAndNotOfItsFirstLoad)
{
	Senders s({1e6});
	fg_load load = {};
	fg_stream_config c = {};
	tx_place place = {&s.port, 0, 0, 1};
	fg_error err = {};

	load.fps = 100;
	load.ns = 10000000000;
	load.frames = FG_ENDLESS;
	c.loads = 1;
	c.load = &load;
	c.frame = s.frame.t;
	c.limit = 5000;
	tx_stream_clear(&s.all, 0);
	ASSERT_EQ(0, tx_stream_init(&s.all, 0, &c, &place, nullptr, &err)) << err.message;
	EXPECT_EQ(1000u, s.all.stream[0].pace.total);
	EXPECT_EQ(5000u, s.all.stream[0].limit);
}

/* what begins with a pause is in the schedule by its next load */
TEST(TxScheduled, SendsWhatFollowsAPause)
{
	Senders s({1e6, 1e6});
	fg_load loads[3] = {};
	fg_stream_config c = {};
	tx_place place = {&s.port, 0, 0, 1};
	fg_error err = {};

	loads[0].ns = loads[1].ns = loads[2].ns = 10000;
	loads[1].fps = 1e6;
	c.loads = 3;
	c.load = loads;
	c.frame = s.frame.t;
	tx_stream_clear(&s.all, 0);
	ASSERT_EQ(0, tx_stream_init(&s.all, 0, &c, &place, nullptr, &err)) << err.message;
	EXPECT_EQ(s.START + 10 * US, fg_pace_next(&s.all.stream[0].pace));
	EXPECT_EQ(10u, s.all.stream[0].pace.total);
}

namespace
{

const uint64_t LINE = 10000000, EACH = 84 * 800000; /* bit/s; ps that a frame takes */

/** Two queues hand frames over to one line, which sends them in that order. */
struct TwoQueues {
	explicit TwoQueues(const std::vector<double> &rates) : s(rates, false, 2, LINE)
	{
		s.port.caps.max_frame = 1518;
		s.port.caps.tx_ring = 64;
	}
	/** For some time, with polls at random. */
	void
	Run(uint64_t us)
	{
		for (const uint64_t end = now + us * US; now < end; now += draw() % 100 * US) {
			const unsigned queue = draw() % 2;
			const uint64_t before = s.all.stream[queue].sent;

			s.Poll(now, queue);
			for (uint64_t n = before; n < s.all.stream[queue].sent; n++) {
				free = std::max(free, now);
				longest[queue] = std::max(longest[queue], free - now);
				free += EACH;
			}
		}
	}
	uint64_t
	Bound(unsigned queue) const
	{
		return tx_own_queue(&s.all, &s.all.stream[queue]);
	}
	/** No frame has waited for longer than is said. */
	void
	Expect(uint64_t most) const
	{
		for (unsigned i : {0, 1}) {
			EXPECT_GE(Bound(i), longest[i] / 1000) << "queue " << i;
			EXPECT_LE(Bound(i), most / 1000) << "queue " << i;
		}
	}
	/** What the port can hold: its rings, with frames of @p octets, and the card. */
	static uint64_t
	Held(uint64_t octets)
	{
		return (2 * 64 * (octets + 20) + (160 << 10)) * 800000;
	}
	Senders s;
	uint64_t now = Senders::START, free = 0, longest[2] = {0, 0};
	std::mt19937 draw{7};
};

} // namespace

/* no frame waits for longer than is said, and not much less */
TEST(TxLine, IsSharedByTheQueuesOfAPort)
{
	for (double fps : {2000, 14000}) /* 13 and 94 % of the line */
		for (double part : {0.5, 0.1}) {
			TwoQueues two({fps * part, fps * (1 - part)});

			tx_share_line(&two.s.all, 0, 2);
			two.Run(100000);
			two.Expect(2 * (two.longest[0] + two.longest[1] + EACH));
		}
}

/* the parts are of the mean loads: a burst has the line to itself for a while only */
TEST(TxLine, IsSharedByTheMeanLoadOfBursts)
{
	TwoQueues two({1400, 12600});
	fg_load bursts = constant(1400, 300 * ms);

	bursts.shape = FG_LOAD_BURSTS;
	bursts.burst = 10;
	bursts.burst_fps = 14880;
	two.s.Plan(0, &bursts, 1);
	tx_share_line(&two.s.all, 0, 2);
	two.Run(300000);
	two.Expect(4 * (two.longest[0] + two.longest[1] + EACH));
}

/* a queue may send more than its part for as long as it will: what waits is in the port */
TEST(TxLine, HoldsNoMoreThanThePort)
{
	TwoQueues two({13400, 13400});
	fg_load first[] = {constant(13400, 500 * ms), constant(0, 500 * ms)};
	fg_load second[] = {constant(0, 500 * ms), constant(13400, 500 * ms)};

	two.s.Plan(0, first, 2);
	two.s.Plan(1, second, 2);
	tx_share_line(&two.s.all, 0, 2);
	two.Run(1000000);
	two.Expect(TwoQueues::Held(64));
}

TEST(TxLine, HoldsNoMoreThanThePortWhenARateChanges)
{
	TwoQueues two({7000, 7000});

	tx_share_line(&two.s.all, 0, 2);
	two.Run(10000);
	two.s.Load(1, 100);
	two.Run(10000);
	two.s.Load(0, 13400);
	two.Run(500000);
	two.Expect(TwoQueues::Held(64));
}

/* streams that join may send anything, so each queue has an equal part */
TEST(TxLine, HoldsNoMoreThanThePortWhereStreamsMayJoin)
{
	TwoQueues two({13400, 500});

	two.s.all.spares = 1;
	tx_share_line(&two.s.all, 0, 2);
	two.s.all.spares = 0;
	two.Run(600000);
	two.Expect(TwoQueues::Held(1518));
}

/* what sends nothing at first may send on command */
TEST(TxLine, HasAPartForAQueueThatIsSilentAtFirst)
{
	TwoQueues two({7000, 7000});
	fg_load silence = constant(0, 1000 * ms);

	two.s.Plan(0, &silence, 1);
	tx_share_line(&two.s.all, 0, 2);
	two.Run(10000);
	EXPECT_LE(two.Bound(1), two.longest[1] * 2 / 1000) << "nothing is in the other queue";
	two.s.Load(0, 7000);
	two.Run(100000);
	two.Expect(3 * (two.longest[0] + two.longest[1] + EACH));
}

/* a port that departs frames at their times has the whole line for each queue */
TEST(TxLine, IsNotSharedWhereFramesHaveLaunchTimes)
{
	for (unsigned spares : {0, 1}) {
		TwoQueues two({7000, 7000});

		two.s.port.caps.launch_time = true;
		two.s.all.spares = spares;
		tx_share_line(&two.s.all, 0, 2);
		two.s.all.spares = 0;
		for (unsigned i : {0, 1})
			EXPECT_EQ(0, two.s.all.task[i].line.share);
	}
}

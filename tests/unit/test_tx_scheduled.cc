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

/* two queues hand frames over to one line, which sends them in that order: no frame waits for longer */
TEST(TxLine, IsSharedByTheQueuesOfAPort)
{
	for (double fps : {2000, 14000}) { /* 13 and 94 % of the line */
		Senders s({fps / 2, fps / 2}, false, 2, 100000000);
		const uint64_t each = 84 * 80000; /* ps */
		uint64_t free = 0, longest[2] = {0, 0};
		std::mt19937 draw(7);

		tx_share_line(&s.all, 0, 2);
		for (uint64_t now = s.START; now < s.START + 100000 * US; now += draw() % 100 * US) {
			const unsigned queue = draw() % 2;
			const uint64_t before = s.all.stream[queue].sent;

			s.Poll(now, queue);
			for (uint64_t n = before; n < s.all.stream[queue].sent; n++) {
				free = std::max(free, now);
				longest[queue] = std::max(longest[queue], free - now);
				free += each;
			}
		}
		for (unsigned i : {0, 1}) {
			const uint64_t most = tx_own_queue(&s.all, &s.all.stream[i]);

			EXPECT_GE(most, longest[i] / 1000) << fps;
			EXPECT_LE(most, 2 * (longest[0] + longest[1] + each) / 1000) << fps;
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>

#include "data_plane.h"

namespace
{

struct Streams {
	explicit Streams(unsigned n, double rates) : list(n)
	{
		for (unsigned i = 0; i < n; i++) {
			double fps = rates == 0 ? 1000 : 1000 + i % unsigned(rates);

			EXPECT_EQ(0, fg_pace_constant(&list[i].pace, fps, uint64_t(HZ), i, UINT64_MAX,
						      UINT64_MAX, nullptr));
			pointers.push_back(&list[i]);
		}
		EXPECT_EQ(0, tx_schedule_init(&schedule, pointers.data(), n, nullptr));
	}
	~Streams()
	{
		tx_schedule_free(&schedule);
	}
	uint64_t
	Earliest() const
	{
		uint64_t at = UINT64_MAX;

		for (const tx_stream &s : list)
			if (s.run != nullptr)
				at = std::min(at, fg_pace_next(&s.pace));
		return at;
	}
	/** What the front stream would do: send a frame. */
	void
	Send()
	{
		tx_stream *s = schedule.heap[0].run->front;

		ASSERT_EQ(Earliest(), fg_pace_next(&s->pace));
		fg_pace_commit(&s->pace, 1);
		tx_schedule_settle(&schedule);
	}
	std::vector<tx_stream> list;
	std::vector<tx_stream *> pointers;
	tx_schedule schedule;
};

TEST(TxSchedule, StreamsOfOneRateAreOneRun)
{
	Streams streams(100, 0);

	EXPECT_EQ(1u, streams.schedule.runs);
	for (unsigned i = 0; i < 1000; i++)
		streams.Send();
	EXPECT_EQ(1u, streams.schedule.runs);
}

TEST(TxSchedule, TheEarliestOfManyRatesIsNext)
{
	Streams streams(60, 17);

	EXPECT_EQ(17u, streams.schedule.runs);
	for (unsigned i = 0; i < 5000; i++)
		streams.Send();
}

/* what sifting passes is where it was put, or above: a run is found whatever has moved it since */
TEST(TxSchedule, FindsARunWhereverItHasMoved)
{
	Streams streams(200, 200);
	std::mt19937 random(1);

	for (unsigned i = 0; i < 20000; i++) {
		tx_stream *s = &streams.list[random() % streams.list.size()];

		streams.Send();
		if (i % 3 != 0)
			continue;
		if (s->run != nullptr) {
			tx_schedule_remove(&streams.schedule, s);
			ASSERT_EQ(nullptr, s->run);
		} else {
			fg_pace_move(&s->pace, random() % 100000);
			tx_schedule_add(&streams.schedule, s);
		}
	}
}

TEST(TxSchedule, WhoHasNothingMoreToSendIsNotInIt)
{
	Streams streams(3, 0);

	for (tx_stream &s : streams.list)
		s.pace.total = 2;
	for (unsigned i = 0; i < 6; i++)
		streams.Send();
	EXPECT_EQ(0u, streams.schedule.runs);
}

} // namespace

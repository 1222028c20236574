// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <climits>
#include <random>
#include <utility>

#include "data_plane.h"
#include "draws.h"

namespace
{

/** Streams in a schedule, and beside it a plain list of who is in it, sorted anew for every frame. */
struct Streams {
	explicit Streams(unsigned n, uint64_t begin = 0, double gap = 1) : list(n), arrived(n)
	{
		for (tx_stream &s : list)
			pointers.push_back(&s);
		EXPECT_EQ(0, tx_schedule_init(&schedule, pointers.data(), n, 0, begin, gap, nullptr));
	}
	~Streams()
	{
		tx_schedule_free(&schedule);
	}
	void
	Add(unsigned i)
	{
		arrived[i] = fg_pace_next(&list[i].pace) == UINT64_MAX ? 0 : ++arrivals;
		tx_schedule_add(&schedule, &list[i]);
	}
	void
	Remove(unsigned i)
	{
		arrived[i] = 0;
		tx_schedule_remove(&schedule, &list[i]);
	}
	/** The earliest; of several at one tick the fastest, and of these the one that came first. */
	tx_stream *
	First()
	{
		unsigned first = UINT_MAX, n = unsigned(list.size());
		const tx_stream *streams = list.data();
		const uint64_t *since = arrived.data();
		uint64_t earliest = 0;

		for (unsigned i = 0; i < n; i++) {
			uint64_t next;

			if (since[i] == 0)
				continue;
			next = fg_pace_next(&streams[i].pace);
			if (first == UINT_MAX || next < earliest ||
			    (next == earliest &&
			     std::make_pair(fg_pace_step(&streams[i].pace), since[i]) <
				     std::make_pair(fg_pace_step(&streams[first].pace), since[first]))) {
				first = i;
				earliest = next;
			}
		}
		return first == UINT_MAX ? nullptr : &list[first];
	}
	/** Send what departs up to a time. @return frames */
	unsigned
	Send(uint64_t until, unsigned most = UINT32_MAX)
	{
		unsigned n = 0;

		for (tx_stream *s; n < most && (s = tx_schedule_first(&schedule, until)) != nullptr; n++) {
			tx_stream *first = First();

			EXPECT_EQ(first - list.data(), s - list.data());
			if (s != first)
				return UINT32_MAX;
			fg_pace_commit(&s->pace, 1);
			arrived[size_t(s - list.data())] =
				fg_pace_next(&s->pace) == UINT64_MAX ? 0 : ++arrivals;
			tx_schedule_settle(&schedule, s);
		}
		return n;
	}
	uint64_t
	Next()
	{
		tx_stream *first = First();

		return first == nullptr ? UINT64_MAX : fg_pace_next(&first->pace);
	}
	std::vector<tx_stream> list;
	std::vector<tx_stream *> pointers;
	std::vector<uint64_t> arrived; /* 0: is not in it */
	uint64_t arrivals = 0;
	tx_schedule schedule;
};

void
Even(fg_pace *pace, double fps, uint64_t start, uint64_t total = UINT64_MAX)
{
	ASSERT_EQ(0, fg_pace_constant(pace, fps, uint64_t(HZ), start, total, UINT64_MAX, nullptr));
}

TEST(TxSchedule, TheFastestIsFirstOfFramesOfOneTick)
{
	for (unsigned n : {100u, 600u}) { /* few are dealt to bins, many are merged */
		Streams streams(n);

		for (unsigned i = 0; i < n; i++) {
			Even(&streams.list[i].pace, i % 2 ? 1000 : 500, 12345);
			streams.Add(i);
		}
		EXPECT_EQ(n, streams.Send(12345));
		EXPECT_EQ(0u, streams.Send(12346));
		EXPECT_EQ(2 * n, streams.Send(12345 + 4 * uint64_t(HZ) / 1000 - 1));
		EXPECT_EQ(n, streams.Send(12345 + 4 * uint64_t(HZ) / 1000));
	}
}

TEST(TxSchedule, WhoHasNothingMoreToSendIsNotInIt)
{
	Streams streams(3);

	for (unsigned i = 0; i < 3; i++) {
		Even(&streams.list[i].pace, 1000, i, 2);
		streams.Add(i);
	}
	EXPECT_EQ(6u, streams.Send(UINT64_MAX - 1));
	EXPECT_EQ(UINT64_MAX, tx_schedule_next(&streams.schedule));
	tx_schedule_remove(&streams.schedule, &streams.list[0]);
}

/* a rate from a frame in an hour to one a tick, most of them alike */
double
Rate(std::mt19937_64 &random)
{
	double around = std::exp(std::uniform_real_distribution<>(-8, 27)(random));

	return random() % 4 == 0 ? std::min(HZ, around) : double(1 + random() % 1000) * 1000;
}

/*
 * Against sorting: sets of streams whose rates, starts and ends are drawn, and that are stopped, started and
 * given other loads while they run. What is put in may be overdue.
 */
TEST(TxSchedule, IsTheOrderThatSortingGives)
{
	std::mt19937_64 random(1);

	for (unsigned set = 0; set < draws(2000); set++) {
		unsigned n = 1 + unsigned(random() % (set % 100 == 0 ? 300 : 40));
		uint64_t now = random() >> (2 + random() % 60);
		Streams streams(n, now, std::exp(std::uniform_real_distribution<>(0, 20)(random)));

		for (unsigned i = 0; i < n; i++) {
			Even(&streams.list[i].pace, Rate(random), now + random() % 3 * (random() % 100000),
			     random() % 4 == 0 ? 1 + random() % 50 : UINT64_MAX);
			if (random() % 2 == 0)
				fg_pace_poisson(&streams.list[i].pace, random());
			streams.Add(i);
		}
		for (unsigned poll = 0; poll < 20; poll++) {
			unsigned i = unsigned(random() % n);

			now += random() >> (20 + random() % 43);
			ASSERT_NE(UINT32_MAX, streams.Send(now, 32)) << "set " << set;
			ASSERT_EQ(streams.Next(), tx_schedule_next(&streams.schedule)) << "set " << set;
			if (random() % 3 == 0)
				continue;
			streams.Remove(i);
			ASSERT_EQ(streams.Next(), tx_schedule_next(&streams.schedule)) << "set " << set;
			if (random() % 4 == 0)
				continue;
			Even(&streams.list[i].pace, Rate(random), now - std::min(now, random() % 100000));
			streams.Add(i);
		}
	}
}

/* else each stream would be put among hundreds of others, frame by frame */
TEST(TxSchedule, SlotsBecomeShorterWhereRatesAreFarAboveThoseForeseen)
{
	std::mt19937_64 random(1);
	Streams streams(500, 0, 1e9);
	unsigned foreseen = streams.schedule.shift;

	for (unsigned i = 0; i < 500; i++) {
		Even(&streams.list[i].pace, 1e6 + double(random() % 1000000), random() % US);
		streams.Add(i);
	}
	EXPECT_EQ(3000u, streams.Send(UINT64_MAX - 1, 3000));
	EXPECT_GT(foreseen, streams.schedule.shift + 10);
}

} // namespace

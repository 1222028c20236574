/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_pace.h"

namespace
{

const uint64_t wire_hz = 1000000000000; /* picoseconds */

struct Turn {
	uint64_t first, take, every;
};

fg_pace
make(double fps, uint64_t total, const Turn &turn, uint64_t hz = wire_hz, uint64_t max_lag = UINT64_MAX)
{
	fg_pace p;
	fg_error err = {};

	EXPECT_EQ(0, fg_pace_constant(&p, fps, hz, 5, total, max_lag, &err)) << err.message;
	EXPECT_EQ(0, fg_pace_turns(&p, turn.first, turn.take, turn.every, &err)) << err.message;
	return p;
}

/* the departures of a load, as the turn says in words */
std::vector<uint64_t>
departures(double fps, uint64_t total, const Turn &turn, uint64_t hz = wire_hz)
{
	std::vector<uint64_t> list;
	fg_pace all;

	EXPECT_EQ(0, fg_pace_constant(&all, fps, hz, 5, total, 0, nullptr));
	for (uint64_t i = 0; i < total; i++)
		if (i % turn.every >= turn.first && i % turn.every < turn.first + turn.take)
			list.push_back(fg_pace_at(&all, i));
	return list;
}

/* how many are due, whatever the shape */
unsigned
due(fg_pace *p, uint64_t now, unsigned max)
{
	unsigned n = 0;
	fg_pace ahead;

	if (!fg_pace_ready(p, now))
		return 0;
	for (ahead = *p; n < max && fg_pace_next(&ahead) <= now; n++)
		fg_pace_commit(&ahead, 1);
	return n;
}

const Turn turns[] = {{0, 1, 2}, {1, 1, 2}, {0, 99, 100}, {99, 1, 100},    {3, 2, 7},
		      {0, 3, 3}, {0, 1, 1}, {16, 16, 64}, {0, 1024, 5000}, {7, 1, 8}};

} // namespace

TEST(PaceTurns, KeepsItsDeparturesOfTheLoad)
{
	for (const Turn &turn : turns)
		for (double fps : {1488095.0, 812743.0, 1000.0, 1488095.25})
			for (uint64_t total : {0, 1, 2, 15, 16, 17, 99, 100, 101, 4999, 20011}) {
				std::vector<uint64_t> expected = departures(fps, total, turn);
				fg_pace p = make(fps, total, turn);

				ASSERT_EQ(expected.size(), p.total);
				for (uint64_t i = 0; i < p.total; i++) {
					ASSERT_LE(fg_pace_at(&p, i), expected[i]) << i << " of " << turn.take;
					ASSERT_GE(fg_pace_at(&p, i) + 1, expected[i])
						<< i << " of " << turn.take;
				}
			}
}

TEST(PaceTurns, FillTheLoadTogether)
{
	for (uint64_t total : {1, 99, 100, 12345})
		for (uint64_t n : {2, 3, 7, 100}) {
			uint64_t sum = 0;

			for (uint64_t k = 0; k < n; k++)
				sum += make(1e6, total, {k, 1, n}).total;
			EXPECT_EQ(total, sum);
			EXPECT_EQ(total, make(1e6, total, {0, n - 1, n}).total +
						 make(1e6, total, {n - 1, 1, n}).total);
		}
}

TEST(PaceTurns, RefusesMoreThanThereIs)
{
	for (const Turn &turn :
	     {Turn{0, 0, 1}, Turn{0, 2, 1}, Turn{1, 1, 1}, Turn{5, 6, 10}, Turn{0, 0, 0}}) {
		fg_pace p;
		fg_error err = {};

		ASSERT_EQ(0, fg_pace_constant(&p, 10, 1000, 0, 100, 0, nullptr));
		EXPECT_EQ(-ERANGE, fg_pace_turns(&p, turn.first, turn.take, turn.every, &err));
		EXPECT_EQ(ERANGE, err.code);
		EXPECT_EQ(100u, p.total) << "untouched";
	}
}

TEST(PaceTurns, SendsABurstAndRests)
{
	fg_pace p = make(10, 1000, {0, 3, 10}, 1000); /* 5, 105, 205, then 1005 ... */

	EXPECT_EQ(300u, p.total);
	EXPECT_EQ(2u, due(&p, 105, 32));
	EXPECT_EQ(3u, due(&p, 205, 32));
	EXPECT_EQ(3u, due(&p, 1004, 32));
	EXPECT_EQ(4u, due(&p, 1005, 32));
	EXPECT_EQ(5u, due(&p, 5000, 5));
	fg_pace_commit(&p, 3);
	EXPECT_EQ(1005u, fg_pace_next(&p));
	EXPECT_EQ(0u, due(&p, 1004, 32));
	for (uint64_t i = 0; i + 1 < p.total; i++) {
		if (i % 3 != 2) {
			EXPECT_EQ((uint64_t)((fg_pace_exact(&p, i) + fg_pace_step(&p)) >> 64),
				  fg_pace_at(&p, i + 1));
		}
	}
}

TEST(PaceTurns, HaveNoEndWhereTheLoadHasNone)
{
	for (const Turn &turn : turns)
		EXPECT_EQ(UINT64_MAX, make(1e6, UINT64_MAX, turn).total);
}

TEST(PaceTurns, ForgivesAcrossTheRest)
{
	fg_pace p = make(10, 1000, {0, 3, 10}, 1000, /*max_lag*/ 150);

	EXPECT_EQ(1u, due(&p, 1005, 32)) << "the first burst is gone";
	EXPECT_EQ(3u, p.late);
	EXPECT_EQ(1005u, fg_pace_next(&p));
}

/* however it is polled, what is due is what has left the plan's departures and not been sent */
TEST(PaceTurns, IsDueWhenItsTurnHasCome)
{
	std::mt19937_64 random(4);

	for (int run = 0; run < 200; run++) {
		const Turn &turn = turns[random() % (sizeof(turns) / sizeof(*turns))];
		fg_pace p = make(1e6, 3000, turn);
		uint64_t now = 0, sent = 0;

		while (fg_pace_next(&p) != UINT64_MAX) {
			unsigned max = 1 + unsigned(random() % 40), n = due(&p, now, max);
			uint64_t expected = 0;

			while (sent + expected < p.total && fg_pace_at(&p, sent + expected) <= now)
				expected++;
			ASSERT_EQ(std::min<uint64_t>(expected, max), n);
			fg_pace_commit(&p, n);
			sent += n;
			now += random() % 50000000;
		}
		ASSERT_EQ(p.total, sent);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "fg_pace.h"

namespace
{

const uint64_t never = UINT64_MAX;
const uint64_t wire_hz = 1000000000000; /* picoseconds */
const uint64_t clocks[] = {1000, 1000000000, 2100000000, 2399998743, 3792871235, wire_hz};

/* any fraction of integers, which is what a double is: `fps` a `per` seconds */
struct Rate {
	uint64_t fps, per;

	double
	value() const
	{
		return double(fps) / double(per);
	}
	uint64_t
	departure(uint64_t i, uint64_t hz) const
	{
		return uint64_t(fg_u128(i) * hz * per / fps);
	}
};

const Rate rates[] = {
	{1, 1},         {3, 1},      {7, 1},       {10, 1},       {97, 1},       {1000, 1},
	{81274, 1},     {234962, 1}, {1488095, 1}, {14880952, 1}, {37202380, 1}, {148809523, 1},
	{595238095, 1}, {1, 2},      {1, 1024},    {3, 4},        {5952381, 4},  {1488095 * 16 + 3, 16}};

fg_pace
make(double fps, uint64_t hz, uint64_t start = 0, uint64_t total = never, uint64_t max_lag = never)
{
	fg_pace pace;
	fg_error err = {};

	EXPECT_EQ(0, fg_pace_constant(&pace, fps, hz, start, total, max_lag, &err)) << err.message;
	return pace;
}

} // namespace

TEST(Pace, DepartsExactlyOnTime)
{
	std::mt19937_64 random(1);

	for (uint64_t hz : clocks)
		for (const Rate &rate : rates) {
			fg_pace p;

			if (fg_pace_constant(&p, rate.value(), hz, 0, never, 0, nullptr) != 0)
				continue; /* faster than the clock */
			for (uint64_t i = 0; i < 2000; i++)
				ASSERT_EQ(rate.departure(i, hz), fg_pace_at(&p, i))
					<< i << " at " << rate.value() << " fps, " << hz << " Hz";
			for (int n = 0; n < 2000; n++) {
				/* within the hour */
				uint64_t i = random() % std::max<uint64_t>(3600 * rate.fps / rate.per, 2);
				uint64_t exact = rate.departure(i, hz), at = fg_pace_at(&p, i);

				ASSERT_GE(at, exact) << "early";
				ASSERT_LE(at, exact + (fg_u128(i) * rate.fps >> 64 != 0)) << i;
			}
		}
}

TEST(Pace, FallsOnTheTickWhereTheRateDivides)
{
	fg_pace third = make(3, wire_hz), line = make(1500000, wire_hz);

	for (uint64_t i = 0; i < 1000000; i++) {
		ASSERT_EQ(i * wire_hz, fg_pace_at(&third, 3 * i));
		ASSERT_EQ(i * 2000000, fg_pace_at(&line, 3 * i));
	}
}

TEST(Pace, DoesNotDriftInADay)
{
	const uint64_t day = 86400;

	for (uint64_t hz : clocks)
		for (const Rate &rate : rates) {
			fg_pace p;

			if (fg_pace_constant(&p, rate.value(), hz, 0, never, 0, nullptr) != 0)
				continue;
			for (uint64_t seconds : {day / 24, day / 2, day - 1, day}) {
				uint64_t frames = seconds * rate.fps / rate.per;
				uint64_t exact = rate.departure(frames, hz), at = fg_pace_at(&p, frames);

				ASSERT_GE(at, exact);
				ASSERT_LE(at - exact, 1u) << rate.value() << " fps, " << hz << " Hz";
			}
		}
}

TEST(Pace, CountsFromItsStart)
{
	const uint64_t start = 123456789012345678;
	fg_pace p = make(1488095, wire_hz, start), zero = make(1488095, wire_hz);

	for (uint64_t i = 0; i < 100000; i++)
		ASSERT_EQ(start + fg_pace_at(&zero, i), fg_pace_at(&p, i));
	EXPECT_EQ(start, fg_pace_next(&p));
	EXPECT_EQ(0u, fg_pace_due(&p, start - 1, 32));
	EXPECT_EQ(1u, fg_pace_due(&p, start, 32));
}

TEST(Pace, RefusesRatesThatAreNone)
{
	for (double fps : {0.0, -0.0, -1.0, 1001.0, 1e300, std::numeric_limits<double>::infinity(),
			   -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
			   std::numeric_limits<double>::denorm_min(), 1e-17}) {
		fg_pace p = {};
		fg_error err = {};

		EXPECT_EQ(-ERANGE, fg_pace_constant(&p, fps, 1000, 0, 1, 0, &err)) << fps;
		EXPECT_EQ(ERANGE, err.code);
		EXPECT_EQ(0u, p.total) << "untouched";
	}
	EXPECT_EQ(-ERANGE, fg_pace_constant(nullptr, 1, 0, 0, 1, 0, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_constant(nullptr, 0x1p64, UINT64_MAX, 0, 1, 0, nullptr));
}

TEST(Pace, TakesTheSlowestAndTheFastestRate)
{
	fg_pace fast = make(1e9, 1000000000), slow = make(1e-6, wire_hz);

	for (uint64_t i = 0; i < 100; i++)
		EXPECT_EQ(i, fg_pace_at(&fast, i));
	/* one in eleven days; a millionth is no double, so to its precision */
	EXPECT_NEAR(1e18, double(fg_pace_at(&slow, 1)), 1e3);
}

TEST(Pace, IsDueWhenItsTimeHasCome)
{
	fg_pace p = make(10, 1000); /* every 100 ticks */

	EXPECT_EQ(1u, fg_pace_due(&p, 0, 32));
	EXPECT_EQ(1u, fg_pace_due(&p, 99, 32));
	EXPECT_EQ(2u, fg_pace_due(&p, 100, 32));
	EXPECT_EQ(11u, fg_pace_due(&p, 1001, 32));
	fg_pace_commit(&p, 11);
	EXPECT_EQ(0u, fg_pace_due(&p, 1099, 32));
	EXPECT_EQ(1100u, fg_pace_next(&p));
	EXPECT_EQ(1u, fg_pace_due(&p, 1100, 32));
}

TEST(Pace, IsNeverDueBeyondWhatIsAskedFor)
{
	fg_pace p = make(10, 1000);

	for (unsigned max : {0u, 1u, 2u, 31u, 32u, 1000u})
		EXPECT_EQ(max, fg_pace_due(&p, 1000000, max));
	EXPECT_EQ(10001u, fg_pace_due(&p, 1000000, 20000));
}

TEST(Pace, KeepsRefusedFramesDue)
{
	fg_pace p = make(10, 1000);

	ASSERT_EQ(11u, fg_pace_due(&p, 1001, 32));
	fg_pace_commit(&p, 4);
	EXPECT_EQ(7u, fg_pace_due(&p, 1001, 32));
	fg_pace_commit(&p, 0);
	EXPECT_EQ(7u, fg_pace_due(&p, 1001, 32));
	EXPECT_EQ(0u, p.late);
}

TEST(Pace, EndsWithItsTotal)
{
	fg_pace p = make(10, 1000, 0, 5), none = make(10, 1000, 0, 0);

	EXPECT_EQ(5u, fg_pace_due(&p, 1000000, 32));
	fg_pace_commit(&p, 5);
	EXPECT_EQ(0u, fg_pace_due(&p, 1000000, 32));
	EXPECT_EQ(never, fg_pace_next(&p));
	EXPECT_EQ(never, fg_pace_next(&none));
	EXPECT_EQ(0u, fg_pace_due(&none, 1000000, 32));
	EXPECT_FALSE(fg_pace_ready(&none, 1000000));
}

TEST(Pace, ForgivesOnlyWhatIsBeyondTheLag)
{
	fg_pace p = make(10, 1000, 0, never, /*max_lag*/ 250);

	EXPECT_EQ(3u, fg_pace_due(&p, 250, 32)) << "frame 0 is just within";
	EXPECT_EQ(0u, p.late);
	EXPECT_EQ(250u, p.worst_lag);
	EXPECT_EQ(2u, fg_pace_due(&p, 251, 32)) << "frame 0 is gone, 1 and 2 are left";
	EXPECT_EQ(1u, p.late);
	EXPECT_EQ(100u, fg_pace_next(&p));
	EXPECT_EQ(250u, p.worst_lag);
}

TEST(Pace, ForgivesAllWhenAllIsBeyondTheLag)
{
	fg_pace p = make(10, 1000, 0, 5, /*max_lag*/ 50), between = make(10, 1000, 0, never, 50);

	EXPECT_EQ(0u, fg_pace_due(&p, 10000, 32));
	EXPECT_EQ(5u, p.late);
	EXPECT_EQ(never, fg_pace_next(&p));
	/* the last one gone is at 900; the next is not due before 1000 */
	EXPECT_EQ(0u, fg_pace_due(&between, 951, 32));
	EXPECT_EQ(10u, between.late);
	EXPECT_EQ(1000u, fg_pace_next(&between));
	EXPECT_EQ(0u, between.worst_lag) << "nothing was sent";
}

TEST(Pace, SendsOnTheTickOnlyWithoutAnyLag)
{
	fg_pace p = make(10, 1000, 0, never, /*max_lag*/ 0);

	EXPECT_EQ(1u, fg_pace_due(&p, 0, 32));
	EXPECT_EQ(0u, fg_pace_due(&p, 1, 32));
	EXPECT_EQ(1u, p.late);
	EXPECT_EQ(1u, fg_pace_due(&p, 100, 32));
}

TEST(Pace, MakesNoBurstOfWhatItForgave)
{
	const uint64_t lag = 2000000;
	fg_pace p = make(1488095, wire_hz, 0, never, lag);

	/* away for ten milliseconds: of 14880 frames two microseconds' worth may still leave */
	EXPECT_EQ(3u, fg_pace_due(&p, 10000000000, 32));
	EXPECT_EQ(14881u - 3, p.late);
}

TEST(Pace, CountsWhatLeavesOffSchedule)
{
	fg_pace p = make(10, 1000, 0, never, /*max_lag*/ 10000);

	fg_pace_on_time(&p, 150);
	EXPECT_EQ(2u, fg_pace_due(&p, 150, 32));
	EXPECT_EQ(0u, p.off_schedule) << "frame 0 is just on time";
	EXPECT_EQ(11u, fg_pace_due(&p, 1000, 32));
	EXPECT_EQ(9u, p.off_schedule) << "those due at 0 to 800";
	fg_pace_commit(&p, 4);
	EXPECT_EQ(7u, fg_pace_due(&p, 1000, 32));
	EXPECT_EQ(9u, p.off_schedule) << "each is counted once";
	EXPECT_EQ(9u, fg_pace_due(&p, 1200, 32));
	EXPECT_EQ(11u, p.off_schedule);
	EXPECT_EQ(0u, p.late);
}

TEST(Pace, IsOffScheduleOnlyWithinTheLag)
{
	fg_pace p = make(10, 1000, 0, never, /*max_lag*/ 250);

	fg_pace_on_time(&p, 1000000);
	EXPECT_EQ(3u, fg_pace_due(&p, 1000, 32));
	EXPECT_EQ(8u, p.late);
	EXPECT_EQ(0u, p.off_schedule) << "what is as late as may be is forgiven";
	fg_pace_on_time(&p, 150);
	EXPECT_EQ(3u, fg_pace_due(&p, 1000, 32));
	EXPECT_EQ(1u, p.off_schedule) << "that due at 800";
}

/* frame by frame, by a sender that is held up at random: those that it takes too late, and no others */
TEST(Pace, JudgesOneFrameWhenItIsItsTurn)
{
	std::mt19937_64 random(3);

	for (int run = 0; run < 100; run++) {
		const uint64_t hz = clocks[random() % 6], total = random() % 1000, step = 1 + random() % 5000;
		const uint64_t lag = random() % (step * 40), on_time = random() % (step * 10);
		fg_pace p = make(double(hz) / double(step), hz, 0, total, lag);
		uint64_t now = 0, sent = 0, belated = 0;

		fg_pace_on_time(&p, on_time);
		while (fg_pace_next(&p) != never) {
			now += random() % (random() % 8 == 0 ? 50 * step : step);
			while (fg_pace_ready_one(&p, now)) {
				ASSERT_LE(now - fg_pace_next(&p), lag) << "should be forgiven";
				ASSERT_TRUE(fg_pace_ready_one(&p, now)) << "as often as one likes";
				belated += now - fg_pace_next(&p) > p.on_time;
				sent++;
				fg_pace_commit(&p, 1);
			}
		}
		EXPECT_EQ(total, sent + p.late);
		EXPECT_EQ(belated, p.off_schedule);
	}
}

/* a generator that is held up, refused and late at random: nothing is lost from the books, nothing leaves
 * early */
TEST(Pace, KeepsItsBooksWhateverHappens)
{
	std::mt19937_64 random(2);

	for (int run = 0; run < 300; run++) {
		const uint64_t hz = clocks[random() % 6], total = random() % 3000, start = random() % 1000000;
		const uint64_t step = 1 + random() % 5000, lag = random() % (step * 40);
		const uint64_t on_time = random() % (step * 10);
		fg_pace p = make(double(hz) / double(step), hz, start, total, lag);
		std::set<uint64_t> off_schedule;
		uint64_t now = start - std::min<uint64_t>(start, random() % 100), sent = 0, rounds = 0;

		fg_pace_on_time(&p, on_time);
		while (fg_pace_next(&p) != never && rounds++ < 100000) {
			unsigned max = unsigned(random() % 40), due = fg_pace_due(&p, now, max), taken;
			uint64_t worst = 0;

			ASSERT_LE(due, max);
			for (unsigned i = 0; i < due; i++) {
				uint64_t at = fg_pace_at(&p, p.next + i);

				ASSERT_LE(at, now) << "before its time";
				ASSERT_LE(now - at, lag) << "should be forgiven";
				worst = std::max(worst, now - at);
			}
			ASSERT_LE(worst, p.worst_lag);
			for (uint64_t i = p.next; max > 0 && i < total; i++) {
				if (fg_pace_at(&p, i) + p.on_time >= now)
					break;
				off_schedule.insert(i);
			}
			ASSERT_EQ(off_schedule.size(), p.off_schedule);
			taken = due == 0 ? 0 : unsigned(random() % (due + 1));
			fg_pace_commit(&p, taken);
			sent += taken;
			ASSERT_EQ(total, sent + p.late + (total - p.next));
			now += random() % 10 == 0 ? random() % (100 * step) : random() % (2 * step);
		}
		ASSERT_EQ(never, fg_pace_next(&p)) << "it came to an end";
		ASSERT_EQ(total, sent + p.late);
		ASSERT_LE(p.worst_lag, lag);
	}
}

TEST(Pace, OffersWhatIsIntendedWhateverTheLengthOfTheTrial)
{
	std::mt19937_64 random(3);

	for (int run = 0; run < 20000; run++) {
		const Rate &rate = rates[random() % (sizeof(rates) / sizeof(*rates))];
		uint64_t hz = clocks[1 + random() % 5];
		uint64_t ticks = uint64_t(std::exp(std::uniform_real_distribution<>(0, 28)(random)));
		uint64_t intended = uint64_t(fg_u128(ticks) * rate.fps / rate.per / hz), low = 0,
			 high = intended + 10;
		fg_pace p = make(rate.value(), hz);

		/* how many have left before its end */
		while (low < high) {
			uint64_t middle = (low + high) / 2;

			if (fg_pace_at(&p, middle) < ticks)
				low = middle + 1;
			else
				high = middle;
		}
		ASSERT_GE(low, intended);
		ASSERT_LE(low, intended + 1)
			<< rate.value() << " fps for " << ticks << " ticks of " << hz << " Hz";
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts, ramps, Poisson processes and scattered frames: every departure is compared with what the words
 * say. */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fg_pace.h"

namespace
{

const uint64_t wire_hz = 1000000000000; /* picoseconds */
const uint64_t never = UINT64_MAX;

fg_pace
constant(double fps, uint64_t total, uint64_t max_lag = never, uint64_t start = 0)
{
	fg_pace p;

	EXPECT_EQ(0, fg_pace_constant(&p, fps, wire_hz, start, total, max_lag, nullptr));
	return p;
}

/* departures one by one, as the tester walks them */
std::vector<uint64_t>
walk(fg_pace p)
{
	std::vector<uint64_t> list;

	for (uint64_t at; (at = fg_pace_next(&p)) != never; fg_pace_commit(&p, 1))
		list.push_back(at);
	return list;
}

void
expect_the_same_by_number(const fg_pace &p)
{
	std::vector<uint64_t> list = walk(p);

	ASSERT_EQ(p.total, list.size());
	for (uint64_t i = 0; i < list.size(); i += 1 + i / 10)
		ASSERT_EQ(list[i], fg_pace_at(&p, i)) << i;
}

} // namespace

TEST(PaceBursts, BeginWhereTheirFirstFrameWouldHaveLeft)
{
	fg_pace p = constant(1000000, 1000, never, 7), load = p;
	std::vector<uint64_t> list;

	ASSERT_EQ(0, fg_pace_bursts(&p, 64, 14880952, wire_hz, nullptr));
	expect_the_same_by_number(p);
	list = walk(p);
	for (uint64_t i = 0; i < list.size(); i++)
		ASSERT_EQ(fg_pace_at(&load, i / 64 * 64) + uint64_t(fg_u128(i % 64) * wire_hz / 14880952),
			  list[i])
			<< i;
}

TEST(PaceBursts, RefusesOnesThatAreNone)
{
	fg_pace p = constant(1000, 100), before = p;

	EXPECT_EQ(-ERANGE, fg_pace_bursts(&p, 0, 2000, wire_hz, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_bursts(&p, 10, 999, wire_hz, nullptr)) << "slower than on the whole";
	EXPECT_EQ(-ERANGE, fg_pace_bursts(&p, 10, 2e12, wire_hz, nullptr));
	EXPECT_EQ(before.step, p.step);
	EXPECT_TRUE(p.even);
}

TEST(PaceRamp, SendsTheAreaUnderTheLine)
{
	/* rate from and to, seconds */
	const double ramps[][3] = {{1000, 2000, 1},   {2000, 1000, 2}, {1, 1488095, 1},
				   {1488095, 0, 0.5}, {500, 500, 1},   {0, 1488095, 0.5}};

	for (const double *r : ramps) {
		fg_pace p = constant(std::max(r[0], r[1]), 0);
		std::vector<uint64_t> list;
		double ticks = r[2] * double(wire_hz);

		ASSERT_EQ(0, fg_pace_ramp(&p, r[0], r[1], wire_hz, uint64_t(ticks), nullptr));
		EXPECT_NEAR((r[0] + r[1]) / 2 * r[2], double(p.total), 0.51);
		expect_the_same_by_number(p);
		list = walk(p);
		for (uint64_t i = 0; i < list.size(); i++) {
			double t = double(list[i]) / double(wire_hz);

			/* i frames lie before time t: the integral of the rate */
			ASSERT_NEAR(double(i), r[0] * t + (r[1] - r[0]) / r[2] * t * t / 2, 1e-3) << i;
			ASSERT_LE(list[i], ticks);
			if (i > 0) {
				ASSERT_GE(list[i], list[i - 1]);
			}
		}
	}
}

TEST(PaceRamp, RefusesOnesThatAreNone)
{
	fg_pace p = constant(1000, 100);

	EXPECT_EQ(-ERANGE, fg_pace_ramp(&p, 1000, 10, wire_hz, 0, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_ramp(&p, 1000, -1, wire_hz, 1000, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_ramp(&p, -1, 1000, wire_hz, 1000, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_ramp(&p, 0, 0, wire_hz, 1000, nullptr));
	EXPECT_EQ(-ERANGE, fg_pace_ramp(&p, 1000, NAN, wire_hz, 1000, nullptr));
	EXPECT_EQ(100u, p.total);
}

TEST(PacePoisson, FollowsFromTheSeedAlone)
{
	fg_pace a = constant(1000000, 5000), b = a, c = a;

	fg_pace_poisson(&a, 42);
	fg_pace_poisson(&b, 42);
	fg_pace_poisson(&c, 43);
	EXPECT_EQ(walk(a), walk(b));
	EXPECT_NE(walk(a), walk(c));
	expect_the_same_by_number(a);
}

/* mean and variance of the gaps, and their distribution against the exponential (Kolmogorov-Smirnov at 0.1
 * %) */
TEST(PacePoisson, HasExponentialGaps)
{
	const unsigned n = 100000;
	const double mean = 1e6; /* ticks */

	for (uint64_t seed : {1, 2, 3}) {
		fg_pace p = constant(1000000, n);
		std::vector<uint64_t> list;
		std::vector<double> gaps;
		double sum = 0, squares = 0, worst = 0, before = 0, together = 0;

		fg_pace_poisson(&p, seed);
		list = walk(p);
		for (uint64_t at : list) {
			double gap = double(at) - before;

			gaps.push_back(gap / mean);
			before = double(at);
		}
		for (unsigned i = 0; i < n; i++) {
			sum += gaps[i];
			squares += gaps[i] * gaps[i];
			together += i > 0 ? (gaps[i] - 1) * (gaps[i - 1] - 1) : 0;
		}
		EXPECT_NEAR(1, sum / n, 4 / std::sqrt(n));
		EXPECT_NEAR(2, squares / n, 4 * std::sqrt(20.0 / n));
		EXPECT_NEAR(0, together / n, 4 / std::sqrt(n)) << "one gap says nothing of the next";
		std::sort(gaps.begin(), gaps.end());
		for (unsigned i = 0; i < n; i++) {
			double expected = 1 - std::exp(-gaps[i]);

			worst = std::max({worst, expected - double(i) / n, double(i + 1) / n - expected});
		}
		EXPECT_LT(worst, 1.95 / std::sqrt(n));
	}
}

/* numbers in equal slots of time are Poisson distributed: their variance is their mean */
TEST(PacePoisson, ScattersItsCountsAsItShould)
{
	const unsigned slots = 10000;
	fg_pace p = constant(1000000, never);
	std::vector<double> count(slots);
	double sum = 0, squares = 0;

	fg_pace_poisson(&p, 9);
	fg_pace_end(&p, wire_hz / 10000 * slots); /* a hundred in each slot, in the mean */
	for (uint64_t at : walk(p))
		count[at / (wire_hz / 10000)]++;
	for (double c : count)
		sum += c;
	for (double c : count)
		squares += (c - sum / slots) * (c - sum / slots);
	EXPECT_NEAR(100, sum / slots, 4 * 10 / std::sqrt(slots));
	EXPECT_NEAR(1, squares / sum, 4 * std::sqrt(2.0 / slots));
}

TEST(PaceSilence, SendsNothing)
{
	fg_pace p;

	fg_pace_silence(&p, 7);
	EXPECT_EQ(never, fg_pace_next(&p));
	EXPECT_FALSE(fg_pace_ready(&p, wire_hz));
	EXPECT_EQ(0u, fg_pace_due(&p, wire_hz, 32));
	fg_pace_end(&p, wire_hz);
	fg_pace_move(&p, 10);
	EXPECT_EQ(never, fg_pace_next(&p));
	EXPECT_EQ(17u, fg_pace_at(&p, 0));
}

TEST(PaceLimit, EndsEveryShape)
{
	for (int shape = 0; shape < 4; shape++) {
		fg_pace p = constant(1000, never);

		if (shape == 1) {
			ASSERT_EQ(0, fg_pace_bursts(&p, 8, 1e6, wire_hz, nullptr));
		} else if (shape == 2) {
			ASSERT_EQ(0, fg_pace_ramp(&p, 0, 1000, wire_hz, wire_hz, nullptr));
		} else if (shape == 3) {
			fg_pace_poisson(&p, 1);
		}
		fg_pace_end(&p, wire_hz);
		fg_pace_limit(&p, 21);
		EXPECT_EQ(21u, walk(p).size()) << shape;
		fg_pace_limit(&p, 1000);
		EXPECT_EQ(21u, walk(p).size()) << shape;
	}
}

TEST(PaceEnd, KeepsWhatLeavesBefore)
{
	fg_pace even = constant(1000, never), bursts = even, ramp = constant(1000, 0), poisson = even,
		past = even;

	ASSERT_EQ(0, fg_pace_bursts(&bursts, 8, 1e6, wire_hz, nullptr));
	ASSERT_EQ(0, fg_pace_ramp(&ramp, 1000, 2000, wire_hz, wire_hz, nullptr));
	fg_pace_poisson(&poisson, 1);
	for (fg_pace *p : {&even, &bursts, &ramp, &poisson}) {
		fg_pace whole = *p;
		uint64_t end = wire_hz / 3, frames = 0;

		fg_pace_end(p, end);
		for (; fg_pace_next(&whole) < end; fg_pace_commit(&whole, 1))
			frames++;
		EXPECT_EQ(frames, walk(*p).size());
		EXPECT_LE(frames, 500u);
		EXPECT_GE(frames, 250u);
	}
	fg_pace_commit(&past, 10);
	fg_pace_end(&past, 0);
	EXPECT_EQ(10u, past.total) << "what has left, has left";
	EXPECT_EQ(never, fg_pace_next(&past));
}

TEST(PaceEnd, MovesWithWhatIsStillToLeave)
{
	fg_pace even = constant(1000, never), poisson = even;

	fg_pace_poisson(&poisson, 1);
	for (fg_pace *p : {&even, &poisson}) {
		std::vector<uint64_t> list;

		fg_pace_end(p, wire_hz);
		for (uint64_t at : walk(*p))
			list.push_back(at + 2 * wire_hz);
		fg_pace_move(p, 2 * wire_hz);
		EXPECT_EQ(list, walk(*p));
	}
}

TEST(PaceForgive, LetsGoOfTheSameFramesInEveryShape)
{
	for (int shape = 0; shape < 4; shape++) {
		fg_pace p = constant(100000, 3000, /*max_lag*/ 20000000), all;
		uint64_t now = 15000000000, expected = 0;

		if (shape == 1) {
			ASSERT_EQ(0, fg_pace_bursts(&p, 10, 1e6, wire_hz, nullptr));
		} else if (shape == 2) {
			ASSERT_EQ(0, fg_pace_ramp(&p, 100000, 200000, wire_hz, wire_hz / 50, nullptr));
		} else if (shape == 3) {
			fg_pace_poisson(&p, 5);
		}
		all = p;
		for (; fg_pace_next(&all) < now - p.max_lag; fg_pace_commit(&all, 1))
			expected++;
		EXPECT_TRUE(fg_pace_ready(&p, now) || fg_pace_next(&p) > now);
		EXPECT_EQ(expected, p.late) << "shape " << shape;
		EXPECT_EQ(fg_pace_next(&all), fg_pace_next(&p));
		EXPECT_GT(expected, 1000u);
	}
}

TEST(PaceScatter, KeepsEachFrameInItsIntervalAndApart)
{
	const double fps = 1000000, share = 0.75;
	const uint64_t interval = wire_hz / 1000000;
	fg_pace p = constant(fps, 100000), other = p;
	std::vector<uint64_t> list;
	double sum = 0, squares = 0;

	fg_pace_scatter(&p, share, 1);
	fg_pace_scatter(&other, share, 2);
	expect_the_same_by_number(p);
	list = walk(p);
	ASSERT_EQ(100000u, list.size());
	for (uint64_t i = 0; i < list.size(); i++) {
		double late = double(list[i] - i * interval) / double(interval);

		ASSERT_GE(list[i], i * interval);
		ASSERT_LT(late, share);
		if (i > 0) {
			ASSERT_GE(list[i] - list[i - 1], interval / 4);
		}
		sum += late;
		squares += late * late;
	}
	/* uniform: mean share/2 and mean square share^2/3, each within five deviations */
	EXPECT_NEAR(share / 2, sum / 1e5, 5 * share / std::sqrt(12e5));
	EXPECT_NEAR(share * share / 3, squares / 1e5, 5 * share * share * std::sqrt(4 / 45.0 / 1e5));
	EXPECT_NE(list, walk(other)) << "follows from the seed";
}

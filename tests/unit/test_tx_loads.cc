/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads one after the other: frame k departs when the integral of their rates has reached k. */
#include <cmath>

#include "data_plane.h"
#include "fg_sizes.h"

namespace
{

fg_load
ramp(double from, double to, uint64_t ns)
{
	fg_load l = constant(from, ns);

	l.shape = FG_LOAD_RAMP;
	l.end_fps = to;
	return l;
}

std::vector<fg_load>
again(const std::vector<fg_load> &profile, unsigned times)
{
	std::vector<fg_load> list;

	for (unsigned i = 0; i < times; i++)
		list.insert(list.end(), profile.begin(), profile.end());
	return list;
}

/* frames, of the mean size, that are due before a time */
double
integral(const std::vector<fg_load> &loads, double seconds)
{
	double frames = 0;

	for (const fg_load &l : loads) {
		double all = double(l.ns) * 1e-9, t = std::min(all, seconds);

		frames += l.fps * t;
		if (l.shape == FG_LOAD_RAMP)
			frames += (l.end_fps - l.fps) / all * t * t / 2;
		seconds -= t;
	}
	return frames;
}

double
length(const std::vector<fg_load> &loads)
{
	double seconds = 0;

	for (const fg_load &l : loads)
		seconds += double(l.ns) * 1e-9;
	return seconds;
}

/* seconds after the start at which each frame departs */
std::vector<double>
walk(tx_stream &s)
{
	std::vector<double> list;

	while (fg_pace_next(&s.pace) != UINT64_MAX) {
		list.push_back(double(fg_pace_next(&s.pace) - Senders::START) / HZ);
		fg_pace_commit(&s.pace, 1);
		s.sequence++;
		tx_next_load(&s);
	}
	return list;
}

std::vector<double>
departures(std::vector<fg_load> loads)
{
	Senders s({1});

	s.Plan(0, loads.data(), unsigned(loads.size()));
	return walk(s.all.stream[0]);
}

/* each at its time, and no more and no fewer than the whole is for, rounded */
void
expect_curve(const std::vector<fg_load> &loads)
{
	const std::vector<double> at = departures(loads);
	const double all = integral(loads, length(loads));

	EXPECT_LE(std::fabs(double(at.size()) - all), 1) << "frames";
	for (size_t k = 0; k < at.size(); k++)
		ASSERT_NEAR(double(k), integral(loads, at[k]), 1e-4) << "frame " << k;
}

} // namespace

TEST(TxLoads, StepsOfPartsOfAFrameAreOneCurve)
{
	EXPECT_EQ(1400u, departures(again({constant(1400, ms)}, 1000)).size());
	EXPECT_EQ(100u, departures(again({constant(100, ms)}, 1000)).size());
	EXPECT_EQ(7u, departures(again({constant(0.7, 100000)}, 100000)).size());
	expect_curve(again({constant(1400, ms)}, 1000));
	expect_curve(again({constant(100, ms), constant(1733, 3 * ms / 2)}, 400));
	expect_curve(again({constant(333.3, 7 * ms), constant(0, ms), constant(12345.6, ms / 7)}, 300));
	expect_curve(again({constant(0, ms), constant(1e6 / 3, ms / 1000)}, 1000));
}

TEST(TxLoads, RampsOfPartsOfAFrameAreOneCurve)
{
	expect_curve(again({ramp(0, 1500, ms), ramp(1500, 100, ms)}, 500));
	expect_curve(again({ramp(700, 0, ms), constant(0, ms), constant(150, 3 * ms)}, 300));
	expect_curve(again({ramp(0, 1234567, ms), constant(1234567, ms / 3), ramp(1234567, 0, ms)}, 20));
	expect_curve(again({ramp(0, 0, ms), ramp(0, 31, ms)}, 5000));
}

/* a step ends within a tick, and a frame that is due behind its last whole tick is the next step's */
TEST(TxLoads, StepsOfPartsOfATickAreOneCurve)
{
	for (const fg_load &step : {constant(123457, 1000), ramp(123000, 123914, 1000)}) {
		std::vector<fg_load> loads = again({step}, 100000);
		Senders s({1});

		fg_clock_init(&s.clock, 2399987654);
		s.Plan(0, loads.data(), unsigned(loads.size()));
		EXPECT_NEAR(12345.7, double(walk(s.all.stream[0]).size()), 1);
	}
}

/* also where a frame is a hundredth of a load, and the parts of one add up over 100,000 of them */
TEST(TxLoads, NothingAddsUp)
{
	const std::vector<fg_load> loads = again({constant(10004567.8, 10000)}, 100000);
	Senders s({1});

	s.Plan(0, const_cast<fg_load *>(loads.data()), unsigned(loads.size()));
	double frames = 0;
	for (unsigned i = 0; i < s.all.stream[0].loads; i++)
		frames += double(s.all.stream[0].load[i].total);
	EXPECT_EQ(std::round(integral(loads, length(loads))), frames);
}

/* loads of whole frames begin with their time, to the tick, whatever the rate is as a double */
TEST(TxLoads, WholeFramesBeginWithTheirLoad)
{
	for (double fps : {1000., 3000., 100., 1e6, 14e6}) {
		std::vector<fg_load> loads = again({constant(fps, 70 * ms), constant(0, 3 * ms)}, 50);
		Senders s({1});

		s.Plan(0, loads.data(), unsigned(loads.size()));
		ASSERT_EQ(51u, s.all.stream[0].loads) << "pauses are not kept, but the last load";
		for (unsigned i = 0; i < 50; i++) {
			EXPECT_EQ(s.START + i * 73 * ms * 1000, s.all.stream[0].load[i].start) << fps;
			EXPECT_EQ(uint64_t(std::round(fps * 0.07)), s.all.stream[0].load[i].total) << fps;
		}
	}
}

/* frame k departs when the bytes before it have passed, at whichever layer they count */
TEST(TxLoads, BytesAreOneCurve)
{
	const std::vector<uint16_t> cycle = {1518, 64, 64, 570, 64, 64, 64};
	std::vector<fg_load> loads = again({constant(1766.4, 1000000), ramp(300, 5000, 700000)}, 400);
	Senders s({1});
	fg_sizes *sizes = nullptr;
	fg_error err = {};

	ASSERT_EQ(0, fg_sizes_create(cycle.data(), unsigned(cycle.size()), &sizes, &err));
	for (int overhead : {0, 20, -18}) {
		const double mean = double(sizes->octets) / double(cycle.size()) + overhead;
		fg_stream_config c = {};
		tx_stream tx = {};
		double bytes = 0;

		for (fg_load &l : loads) {
			l.by_octets = true;
			l.overhead = overhead;
		}
		c.loads = unsigned(loads.size());
		c.load = loads.data();
		tx.sizes = sizes;
		ASSERT_EQ(0, tx_loads_init(&s.all.env, &s.port, &tx, &c, &err)) << err.message;
		const std::vector<double> at = walk(tx);
		for (size_t k = 0; k < at.size(); k++) {
			ASSERT_NEAR(bytes / mean, integral(loads, at[k]), 1e-4) << "frame " << k;
			bytes += cycle[k % cycle.size()] + overhead;
		}
		EXPECT_NEAR(integral(loads, length(loads)), bytes / mean, 1538 / mean);
		free(tx.load);
	}
	fg_sizes_free(sizes);
}

/* a number of frames is sent as told, and the load behind it begins with its time */
TEST(TxLoads, ANumberOfFramesIsNoPartOfTheCurve)
{
	fg_load group = constant(1000, 10000000);
	group.frames = 3;
	const std::vector<double> at = departures({constant(140, 10000000), group, constant(100, 10000000)});

	ASSERT_EQ(6u, at.size());
	EXPECT_NEAR(0.010, at[2], 1e-9);
	EXPECT_NEAR(0.020, at[5], 1e-9);
}

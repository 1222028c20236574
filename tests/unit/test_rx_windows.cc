// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "data_plane.h"

extern "C" {
#include "rx.h"
}

namespace
{

const double MIB = 1 << 20;

/* Receivers of a trial without end at 10 Gbit/s, whose senders may be an hour late */
struct Receivers {
	Receivers(unsigned streams, unsigned spares, double fps = 14880952)
	{
		rx_reach reach = {};

		load.fps = fps;
		config.load = &load;
		config.loads = 1;
		reach.drain_ns = 100000000;
		reach.max_lag_ns = 3600000000000;
		reach.traffic_ns = FG_ENDLESS;
		reach.line_bps = 10000000000;
		EXPECT_EQ(0, rx_alloc(&all, streams, spares, 1, 0, nullptr));
		rx_remember(&all, std::vector<fg_stream_config>(streams, config).data(), streams, &reach);
	}
	~Receivers()
	{
		rx_free(&all);
	}
	double
	Size(unsigned i) const
	{
		rx_window w = rx_window_of(&all, i, &config);

		return double(fg_sequence_size_apart(w.numbers, w.points));
	}
	double
	All() const
	{
		double sum = 0;

		for (unsigned i = 0; i < all.streams; i++)
			sum += Size(i);
		return sum;
	}

	struct rx all = {};
	fg_load load = {};
	fg_stream_config config = {};
};

} // namespace

/* all streams share the budget, also the ones that are not there yet */
TEST(RxWindows, StayWithinTheirBudgetWhenAllSparesAreTaken)
{
	for (unsigned spares : {0, 1, 62, 1000, 9000}) {
		Receivers few(2, spares);
		const double budget = few.all.precision.numbers_mib * MIB;
		const double least =
			double(fg_sequence_size_apart(few.all.precision.window, few.all.precision.points));

		EXPECT_LE(few.All(), budget + least * few.all.streams) << spares;
		EXPECT_GT(few.Size(0), budget / 16) << spares << ": the first ones are not starved";
	}
	EXPECT_GT(Receivers(2, 62).Size(2), 8 * MIB / 8) << "nor is one that joins";
}

/* slow streams are removed, and fast ones join in their places */
TEST(RxWindows, StayWithinTheirBudgetWhenTheFirstStreamsAreReplaced)
{
	for (unsigned spares : {100, 1000}) {
		Receivers many(50, spares, 1);
		const double budget = many.all.precision.numbers_mib * MIB, had = many.Size(0);
		const double least =
			double(fg_sequence_size_apart(many.all.precision.window, many.all.precision.points));

		for (unsigned i = 0; i < 50; i++)
			rx_stream_clear(&many.all, i);
		many.load.fps = 14880952;
		EXPECT_LE(many.All(), budget + least * many.all.streams) << spares;
		EXPECT_GE(many.Size(0), had) << "no less than the removed one";
	}
}

/* a share of 1,000 spares would be less */
TEST(RxWindows, OfAFastStreamGoToTheNextOneInItsPlace)
{
	Receivers few(2, 1000);
	const double had = few.Size(0);

	rx_stream_clear(&few.all, 0);
	EXPECT_EQ(had, few.Size(0));
	EXPECT_GT(had, few.Size(2));
}

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fg_series.h"

namespace
{

const uint64_t SECOND = 1000000000;

struct Series {
	explicit Series(uint64_t seconds)
	{
		EXPECT_EQ(0, fg_series_create(START, seconds * SECOND, SECOND, 3, &s, nullptr));
	}
	~Series()
	{
		fg_series_free(s);
	}
	static constexpr uint64_t START = 5000;
	fg_series *s = nullptr;
};

TEST(Series, SaysHowManyHadDepartedWhenAnIntervalEnded)
{
	Series series(3);
	fg_series *s = series.s;

	EXPECT_EQ(Series::START + SECOND, fg_series_end(s, 0));
	EXPECT_EQ(Series::START + 3 * SECOND, fg_series_depart(s, Series::START + 2 * SECOND + 1, 70));
	EXPECT_EQ(2u, fg_series_departing(s));
	EXPECT_EQ(70u, s->sent[0]);
	EXPECT_EQ(70u, s->sent[1]);
	EXPECT_EQ(UINT64_MAX, fg_series_end(s, 4)) << "one interval is spare for frames that left late";
}

TEST(Series, AFrameThatIsTakenBackIsInNoInterval)
{
	Series series(3);
	fg_series *s = series.s;

	fg_series_depart(s, Series::START + SECOND, 5);
	fg_series_depart(s, Series::START + 2 * SECOND, 9);
	fg_series_depart(s, Series::START + 3 * SECOND, 12);
	fg_series_take_back(s, 7);
	EXPECT_EQ(5u, s->sent[0]);
	EXPECT_EQ(7u, s->sent[1]);
	EXPECT_EQ(7u, s->sent[2]);
}

TEST(Series, AFrameCountsWhereItDeparted)
{
	Series series(3);
	fg_series *s = series.s;

	fg_series_arrive(s, Series::START + SECOND - 1, 200, 64, false);
	fg_series_arrive(s, Series::START + SECOND, 100, 64, false);
	fg_series_arrive(s, Series::START + SECOND - 1, 300, 64, true);
	fg_series_arrive_again(s, Series::START + 1);
	EXPECT_EQ(2u, s->cell[0].rx);
	EXPECT_EQ(200, s->cell[0].delay_min);
	EXPECT_EQ(300, s->cell[0].delay_max);
	EXPECT_EQ(1u, s->cell[0].reordered);
	EXPECT_EQ(1u, s->cell[0].duplicates);
	EXPECT_EQ(1u, s->cell[1].rx);
	fg_series_arrive(s, Series::START + 100 * SECOND, 1, 64, false); /* there is no room for it */
	EXPECT_EQ(1u, fg_series_arriving(s));
}

TEST(Series, ThePercentileIsTakenWhenTheNextIntervalIsOneOld)
{
	Series series(4);
	fg_series *s = series.s;

	for (unsigned i = 0; i < 4; i++)
		fg_series_arrive(s, Series::START + i * SECOND, 1000 * (i + 1), 64, false);
	EXPECT_EQ(1000, s->cell[0].delay_p999);
	EXPECT_EQ(2000, s->cell[1].delay_p999);
	EXPECT_EQ(0, s->cell[2].delay_p999) << "it is open still";
}

TEST(Series, RefusesMoreIntervalsThanItHasRoomFor)
{
	fg_series *s = nullptr;

	EXPECT_EQ(-E2BIG, fg_series_create(0, uint64_t(1) << 40, 1000, 3, &s, nullptr));
}

} // namespace

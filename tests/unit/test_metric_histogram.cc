/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_histogram.h"

namespace
{

constexpr uint64_t SECOND = 1000000000;

struct Free {
	void
	operator()(fg_histogram *h) const
	{
		fg_histogram_free(h);
	}
};
using Histogram = std::unique_ptr<fg_histogram, Free>;

Histogram
make(unsigned digits = 3, uint64_t highest = SECOND, const std::vector<int64_t> &values = {})
{
	Histogram h(fg_histogram_create(digits, highest, nullptr));

	for (int64_t v : values)
		fg_histogram_record(h.get(), v);
	return h;
}

/* values over the whole range, as many small as large */
std::vector<int64_t>
spread(size_t n, unsigned seed)
{
	std::mt19937_64 random(seed);
	std::vector<int64_t> values;

	for (size_t i = 0; i < n; i++)
		values.push_back((int64_t)((random() >> 34) >> (random() % 30)));
	return values;
}

/* RFC 2330, 11.3, on the values themselves */
uint64_t
percentile(std::vector<int64_t> values, uint64_t thousandths)
{
	size_t rank = (values.size() * thousandths + 999) / 1000;

	std::sort(values.begin(), values.end());
	return (uint64_t)values[rank == 0 ? 0 : rank - 1];
}

void
expect_same(const fg_histogram *a, const fg_histogram *b)
{
	ASSERT_EQ(a->bins, b->bins);
	EXPECT_EQ(a->count, b->count);
	EXPECT_EQ(fg_histogram_min(a), fg_histogram_min(b));
	EXPECT_EQ(a->max, b->max);
	EXPECT_TRUE(a->sum == b->sum);
	EXPECT_EQ(0, memcmp(a->counts, b->counts, (a->bins + 2) * sizeof(a->counts[0])));
}

TEST(Histogram, CountsWhatDoesNotExceedBounds)
{
	fg_histogram *h = fg_histogram_create(2, 1000000, nullptr);
	const uint64_t bounds[] = {10, 99, 1000, 2000000};
	uint64_t counts[5] = {1, 0, 0, 0, 0};

	for (int64_t value : {-3, 5, 10, 11, 99, 100, 999999})
		fg_histogram_record(h, value);
	fg_histogram_cumulate(h, bounds, 4, counts);
	EXPECT_EQ(4u, counts[0]); /* added to what was there */
	EXPECT_EQ(5u, counts[1]);
	EXPECT_EQ(6u, counts[2]);
	EXPECT_EQ(7u, counts[3]);
	EXPECT_EQ(7u, counts[4]);
	fg_histogram_free(h);
}

TEST(Histogram, LayoutHasTheCountersOfTheSpecification)
{
	EXPECT_EQ(21504u, make(3, SECOND)->bins);
	EXPECT_EQ(25600u, make(3, 10 * SECOND)->bins);
	EXPECT_EQ(3072u, make(2, SECOND)->bins);
	EXPECT_EQ(2048u, make(3, 1)->bins);
	EXPECT_EQ(2048u, make(3, 2047)->bins);
	EXPECT_EQ(3072u, make(3, 2048)->bins);
}

TEST(Histogram, ErrorBoundIsTwoOverS)
{
	EXPECT_DOUBLE_EQ(2.0 / 256, fg_histogram_error(make(2).get()));
	EXPECT_DOUBLE_EQ(2.0 / 2048, fg_histogram_error(make(3).get()));
}

TEST(Histogram, ImpossibleLayoutIsRefused)
{
	fg_error err = {};

	EXPECT_EQ(0u, fg_histogram_size(0, SECOND));
	EXPECT_EQ(0u, fg_histogram_size(4, SECOND));
	EXPECT_EQ(0u, fg_histogram_size(3, 0));
	EXPECT_EQ(0u, fg_histogram_size(3, 1ULL << 63));
	EXPECT_EQ(nullptr, fg_histogram_create(4, SECOND, &err));
	EXPECT_EQ(EINVAL, err.code);
	EXPECT_STREQ("histogram", err.where);
}

TEST(Histogram, LivesInMemoryOfTheCaller)
{
	size_t size = fg_histogram_size(2, SECOND);
	void *memory = aligned_alloc(64, size);
	auto *h = (fg_histogram *)memset(memory, 0xa5, size);

	EXPECT_EQ(0u, size % 64);
	ASSERT_EQ(0, fg_histogram_init(h, 2, SECOND, nullptr));
	expect_same(make(2).get(), h);
	free(memory);
}

TEST(Histogram, EveryValueLiesInItsBin)
{
	for (unsigned digits : {1u, 2u, 3u}) {
		Histogram h = make(digits, INT64_MAX);
		uint64_t bottom = 0;

		for (uint32_t bin = 0; bin < h->bins; bin++) {
			uint64_t top = fg_histogram_bin_top(h.get(), bin);

			ASSERT_LE(bottom, top);
			ASSERT_EQ(bin, fg_histogram_bin(h.get(), bottom));
			ASSERT_EQ(bin, fg_histogram_bin(h.get(), top));
			ASSERT_LE((double)(top - bottom), fg_histogram_error(h.get()) * (double)bottom);
			bottom = top + 1;
		}
		EXPECT_EQ(1ULL << 63, bottom);
	}
}

TEST(Histogram, EmptyOneAnswersZero)
{
	Histogram h = make();

	EXPECT_EQ(0u, fg_histogram_min(h.get()));
	EXPECT_EQ(0u, h->max);
	EXPECT_EQ(0u, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ(0, fg_histogram_mean(h.get()));
}

TEST(Histogram, PercentilesOfRfc2330)
{
	/* the sample -5 -2 4 7 7 18 of its section 11.3, moved by 5 to be free of negative values */
	Histogram h = make(3, SECOND, {18 + 5, 7 + 5, 4 + 5, -2 + 5, 7 + 5, -5 + 5});

	EXPECT_EQ(4u + 5, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ(5u - 2, fg_histogram_percentile(h.get(), 0.25));
	EXPECT_EQ(18u + 5, fg_histogram_percentile(h.get(), 1));
	EXPECT_EQ(0u, fg_histogram_percentile(h.get(), 0));
}

TEST(Histogram, PercentileDoesNotSlipByRounding)
{
	/* 1 .. N, each in a bin of its own: the p-quantile is p * N where that is whole */
	for (int n : {10, 100, 1000, 2000}) {
		Histogram h = make();

		for (int i = 1; i <= n; i++)
			fg_histogram_record(h.get(), i);
		for (int i = 1; i < n; i++)
			ASSERT_EQ((uint64_t)i, fg_histogram_percentile(h.get(), (double)i / n)) << n;
	}
	Histogram h = make();

	for (int i = 1; i <= 1000; i++)
		fg_histogram_record(h.get(), i);
	EXPECT_EQ(500u, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ(990u, fg_histogram_percentile(h.get(), 0.99));
	EXPECT_EQ(999u, fg_histogram_percentile(h.get(), 0.999));
	EXPECT_EQ(1000u, fg_histogram_percentile(h.get(), 0.9991));
}

TEST(Histogram, PercentilesKeepTheErrorBound)
{
	for (unsigned digits : {1u, 2u, 3u}) {
		for (unsigned seed = 0; seed < 20; seed++) {
			std::vector<int64_t> values = spread(997, seed);
			Histogram h = make(digits, 10 * SECOND, values);

			for (uint64_t thousandths : {1, 10, 250, 500, 900, 990, 999, 1000}) {
				uint64_t exact = percentile(values, thousandths);
				uint64_t got = fg_histogram_percentile(h.get(), (double)thousandths / 1000);

				ASSERT_GE(got, exact);
				ASSERT_LE((double)(got - exact), fg_histogram_error(h.get()) * (double)exact);
			}
		}
	}
}

TEST(Histogram, PercentileIsNeverAboveTheMaximum)
{
	Histogram h = make(2, SECOND, {1000001});

	EXPECT_EQ(1000001u, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ(1000001u, fg_histogram_percentile(h.get(), 0.999));
}

TEST(Histogram, KeepsExactFiguresBeside)
{
	Histogram h = make(2, SECOND, {123456789, 987654321, 5});

	EXPECT_EQ(3u, h->count);
	EXPECT_EQ(5u, fg_histogram_min(h.get()));
	EXPECT_EQ(987654321u, h->max);
	EXPECT_TRUE(h->sum == 123456789u + 987654321u + 5u);
	EXPECT_DOUBLE_EQ(1111111115.0 / 3, fg_histogram_mean(h.get()));
}

TEST(Histogram, ValuesAboveTheRangeAreCountedAndExactInTheMaximum)
{
	Histogram h = make(3, 1000, {7, 2047, 2048, INT64_MAX});

	EXPECT_EQ(4u, h->count);
	EXPECT_EQ(2u, h->counts[h->bins]);
	EXPECT_EQ(2047u, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ((uint64_t)INT64_MAX, fg_histogram_percentile(h.get(), 0.75));
	EXPECT_EQ((uint64_t)INT64_MAX, h->max);
}

TEST(Histogram, NegativeValuesAreZeroAndCounted)
{
	Histogram h = make(3, SECOND, {-1, INT64_MIN, 0, 10});

	EXPECT_EQ(4u, h->count);
	EXPECT_EQ(2u, fg_histogram_negative(h.get()));
	EXPECT_EQ(0u, h->counts[h->bins]);
	EXPECT_EQ(1u, h->counts[0]);
	EXPECT_EQ(0u, fg_histogram_min(h.get()));
	EXPECT_EQ(0u, fg_histogram_percentile(h.get(), 0.5));
	EXPECT_EQ(0u, fg_histogram_percentile(h.get(), 0.75));
	EXPECT_EQ(10u, fg_histogram_percentile(h.get(), 0.76));
	EXPECT_DOUBLE_EQ(2.5, fg_histogram_mean(h.get()));
}

TEST(Histogram, MergingIsAsIfAllWereRecordedInOne)
{
	std::vector<int64_t> a = spread(500, 1), b = spread(700, 2), both = a;

	a.push_back(-3);
	b.push_back(100 * (int64_t)SECOND);
	both = a;
	both.insert(both.end(), b.begin(), b.end());

	Histogram into = make(3, SECOND, a), from = make(3, SECOND, b);

	ASSERT_EQ(0, fg_histogram_merge(into.get(), from.get(), nullptr));
	expect_same(make(3, SECOND, both).get(), into.get());
}

TEST(Histogram, MergingAnEmptyOneChangesNothing)
{
	Histogram into = make(3, SECOND, {5, 9}), empty = make();

	ASSERT_EQ(0, fg_histogram_merge(into.get(), empty.get(), nullptr));
	expect_same(make(3, SECOND, {5, 9}).get(), into.get());
	ASSERT_EQ(0, fg_histogram_merge(empty.get(), into.get(), nullptr));
	expect_same(into.get(), empty.get());
}

TEST(Histogram, MergingAnotherLayoutIsRefused)
{
	Histogram into = make(3, SECOND, {5}), other = make(2, SECOND, {6});
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_histogram_merge(into.get(), other.get(), &err));
	EXPECT_EQ(EINVAL, err.code);
	expect_same(make(3, SECOND, {5}).get(), into.get());
}

TEST(Histogram, ResetForgetsEverything)
{
	Histogram h = make(3, SECOND, {-1, 5, 1000, INT64_MAX});

	fg_histogram_reset(h.get());
	expect_same(make().get(), h.get());
}

TEST(Histogram, FreeingNothingIsAllowed)
{
	fg_histogram_free(nullptr);
}

TEST(Histogram, ValuesCanBeRecordedTogether)
{
	std::vector<int64_t> values = spread(4096, 9);
	std::vector<uint32_t> narrow(values.begin(), values.end());
	Histogram each = make(2, SECOND, values), all = make(2);

	for (size_t i = 0, n = 1; i < narrow.size();
	     i += n, n = std::min<size_t>(n % 9 + 1, narrow.size() - i))
		fg_histogram_record_all(all.get(), &narrow[i], unsigned(n));
	expect_same(each.get(), all.get());
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Delay variation against the distribution functions themselves. */
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "fg_impair.h"

namespace
{

const uint64_t GHZ = 1000000000;
const double MEAN = 1e6; /* ns: a rounding to 1 ns does not show */
const size_t N = 200000;

fg_impair_config
jitter(fg_jitter kind)
{
	fg_impair_config config = {};

	config.jitter = kind;
	config.jitter_mean_ns = MEAN;
	config.jitter_deviation_ns = MEAN / 5;
	config.jitter_shape = 3;
	config.jitter_reorders = true;
	return config;
}

std::vector<double>
draw(const fg_impair_config &config, size_t n = N, uint64_t spacing = 0)
{
	fg_impair impair;
	fg_error err = {};
	std::vector<double> times;

	EXPECT_EQ(0, fg_impair_init(&impair, &config, GHZ, "path", &err)) << err.message;
	for (size_t i = 0; i < n; i++) {
		fg_verdict fate;

		fg_impair_decide(&impair, i * spacing, &fate);
		times.push_back(double(fate.time));
	}
	return times;
}

/* Kolmogorov and Smirnov: the largest distance exceeds 2.23 / sqrt(n) in one case of ten thousand; the seed
 * is fixed */
void
expect_distribution(std::vector<double> delays, const std::function<double(double)> &cdf)
{
	double distance = 0, n = double(delays.size());

	std::sort(delays.begin(), delays.end());
	for (size_t i = 0; i < delays.size(); i++)
		distance = std::max({distance, std::fabs(cdf(delays[i]) - double(i) / n),
				     std::fabs(cdf(delays[i]) - double(i + 1) / n)});
	EXPECT_LT(distance, 2.23 / std::sqrt(n));
}

} // namespace

TEST(Jitter, IsUniform)
{
	expect_distribution(draw(jitter(FG_JITTER_UNIFORM)),
			    [](double x) { return std::min(1.0, x / (2 * MEAN)); });
}

TEST(Jitter, IsNormal)
{
	expect_distribution(draw(jitter(FG_JITTER_NORMAL)),
			    [](double x) { return 0.5 * std::erfc((MEAN - x) / (MEAN / 5) / std::sqrt(2)); });
}

TEST(Jitter, IsExponential)
{
	expect_distribution(draw(jitter(FG_JITTER_EXPONENTIAL)),
			    [](double x) { return 1 - std::exp(-x / MEAN); });
}

TEST(Jitter, IsParetoWithItsMeanWhereAsked)
{
	expect_distribution(draw(jitter(FG_JITTER_PARETO)),
			    [](double x) { return 1 - std::pow(1 + x / (2 * MEAN), -3); });
}

TEST(Jitter, IsCutAtItsEnds)
{
	fg_impair_config config = jitter(FG_JITTER_NORMAL);

	config.jitter_deviation_ns = MEAN;
	config.jitter_max_ns = 1.5 * MEAN;
	std::vector<double> delays = draw(config);
	EXPECT_EQ(0, *std::min_element(delays.begin(), delays.end()));
	EXPECT_EQ(1.5 * MEAN, *std::max_element(delays.begin(), delays.end()));
	/* below 0 lies what is more than one deviation below the mean */
	EXPECT_NEAR(N * 0.158655, double(std::count(delays.begin(), delays.end(), 0.0)),
		    5 * std::sqrt(N * 0.1335));
}

TEST(Jitter, KeepsTheOrderUnlessTold)
{
	fg_impair_config config = jitter(FG_JITTER_EXPONENTIAL);
	std::vector<double> free = draw(config, 1000, 100000);

	EXPECT_FALSE(std::is_sorted(free.begin(), free.end()));
	config.jitter_reorders = false;
	std::vector<double> kept = draw(config, 1000, 100000);
	EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
	/* each waits for the latest before it, and for no longer */
	for (size_t i = 0, latest = 0; i < kept.size(); i++) {
		latest = std::max(latest, size_t(free[i]));
		ASSERT_EQ(double(latest), kept[i]);
	}
}

TEST(Jitter, BoundsHowManyFramesAreKept)
{
	fg_impair_config config = jitter(FG_JITTER_UNIFORM); /* of a millisecond */

	EXPECT_DOUBLE_EQ(2000, fg_impair_kept(&config, 1e6));
	config.jitter = FG_JITTER_NORMAL;
	EXPECT_DOUBLE_EQ(2200, fg_impair_kept(&config, 1e6));
	config.jitter = FG_JITTER_PARETO;
	EXPECT_DOUBLE_EQ(20000, fg_impair_kept(&config, 1e6));
	std::vector<double> delays = draw(config);
	EXPECT_LE(*std::max_element(delays.begin(), delays.end()), 20 * MEAN);
	config.reorder_ns = 5e6;
	EXPECT_DOUBLE_EQ(20000, fg_impair_kept(&config, 1e6)) << "nothing is reordered";
	config.reorder.every = 10;
	EXPECT_DOUBLE_EQ(20500, fg_impair_kept(&config, 1e6));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Delay variation by the examples of the RFCs, and against the definitions on random networks. */
#include <algorithm>
#include <cerrno>
#include <cerrno>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "draws.h"
#include "fg_payload.h"
#include "fg_variation.h"

namespace
{

struct Free {
	void
	operator()(fg_variation *v) const
	{
		fg_variation_free(v);
	}
};
using Variation = std::unique_ptr<fg_variation, Free>;

struct Frame {
	uint64_t number;
	int64_t delay;
};

Variation
make(unsigned kept = 64)
{
	return Variation(fg_variation_create(3, 1000000000, kept, nullptr));
}

fg_variation_counts
result(const Variation &v)
{
	fg_variation_counts out;

	fg_variation_read(v.get(), &out);
	return out;
}

fg_variation_counts
vary(const std::vector<Frame> &frames, unsigned kept = 64)
{
	Variation v = make(kept);

	for (const Frame &f : frames)
		fg_variation_record(v.get(), f.number, f.delay);
	return result(v);
}

/* the values from the smallest on, as RFC 2330, 11.3 wants its percentiles */
int64_t
percentile(const std::vector<int64_t> &sorted, double p)
{
	size_t i = 0;

	while (double(i + 1) / double(sorted.size()) < p)
		i++;
	return sorted[i];
}

TEST(Variation, OfTheExample)
{
	/* delays 20 10 20 25 20: IPDV -10, 10, 5, -5 */
	fg_variation_counts c = vary({{0, 20}, {1, 10}, {2, 20}, {3, 25}, {4, 20}});

	EXPECT_EQ(4u, c.pairs);
	EXPECT_EQ(-10, c.min);
	EXPECT_EQ(10, c.max);
	EXPECT_EQ(0, c.mean);
	EXPECT_EQ(7.5, c.mean_magnitude);
	EXPECT_EQ(0, c.median) << "between -5 and 5";
	EXPECT_EQ(-10, c.p001);
	EXPECT_EQ(10, c.p999);
}

TEST(Variation, PdvIsReadFromTheDelays)
{
	fg_histogram *h = fg_histogram_create(3, 1000000000, nullptr);

	for (int64_t delay : {20, 10, 20, 25, 20})
		fg_histogram_record(h, delay);
	/* PDV 10, 0, 10, 15, 10 */
	EXPECT_EQ(10u, fg_histogram_percentile(h, 0.5) - fg_histogram_min(h));
	EXPECT_EQ(15u, fg_histogram_percentile(h, 0.999) - fg_histogram_min(h));
	EXPECT_EQ(9.0, fg_histogram_mean(h) - double(fg_histogram_min(h)));
	fg_histogram_free(h);
}

TEST(Variation, GoesByTheOrderOfSending)
{
	/* number 1 came last: its neighbours are 0 and 2 all the same */
	fg_variation_counts c = vary({{0, 100}, {2, 130}, {3, 131}, {1, 190}});

	EXPECT_EQ(3u, c.pairs);
	EXPECT_EQ(90, c.max);
	EXPECT_EQ(-60, c.min);
	EXPECT_EQ(1, c.median);
}

TEST(Variation, IsUndefinedBesideALoss)
{
	fg_variation_counts c = vary({{0, 100}, {2, 500}, {3, 510}, {7, 0}});

	EXPECT_EQ(1u, c.pairs);
	EXPECT_EQ(10, c.min);
	EXPECT_EQ(10, c.max);
	EXPECT_EQ(0u, c.unknown);
	EXPECT_EQ(0u, vary({{5, 100}}).pairs);
	EXPECT_EQ(0, vary({}).max);
}

TEST(Variation, SaysWhatItForgot)
{
	std::vector<Frame> frames;

	for (uint64_t n = 1; n <= 40; n++)
		frames.push_back({n, 100});
	frames.push_back({0, 100});
	EXPECT_EQ(1u, vary(frames, 32).unknown) << "the neighbour of 0, 1, gave way to 33";
	EXPECT_EQ(39u, vary(frames, 32).pairs);
	EXPECT_EQ(0u, vary(frames, 64).unknown);
	EXPECT_EQ(40u, vary(frames, 64).pairs);
}

TEST(Jitter, OfTheExample)
{
	/* transit times 0.5, 0.7, 0.4, 0.9 ms, here ns: 0.0125, 0.030469, 0.059814 ms */
	const double expected[] = {0, 12500, 30469, 59814};
	const int64_t transit[] = {500000, 700000, 400000, 900000};
	Variation v = make();

	for (unsigned i = 0; i < 4; i++) {
		fg_variation_record(v.get(), i, transit[i]);
		EXPECT_NEAR(expected[i], result(v).jitter, 0.6);
	}
}

TEST(Jitter, IsThatOfFloatingPoint)
{
	/* as receivers that reckon in seconds do (iperf) */
	std::mt19937 random(1);
	double jitter = 0, most = 0;
	int64_t last = 0;
	Variation v = make();

	for (uint64_t n = 0; n < 100000; n++) {
		int64_t transit = int64_t(random() % 1000000) - 300000;

		if (n > 0)
			jitter += (std::fabs(double(transit - last)) - jitter) / 16;
		most = std::max(most, jitter);
		last = transit;
		fg_variation_record(v.get(), n, transit);
		ASSERT_NEAR(jitter, fg_variation_glance(v.get()), 1.0);
	}
	EXPECT_NEAR(jitter, result(v).jitter, 1.0);
	EXPECT_NEAR(most, result(v).jitter_max, 1.0);
}

TEST(Jitter, GoesByTheOrderOfArrival)
{
	EXPECT_EQ(vary({{0, 100}, {1, 180}, {2, 40}}).jitter, vary({{0, 100}, {2, 180}, {1, 40}}).jitter);
}

TEST(Variation, AgreesWithTheDefinition)
{
	for (unsigned seed = 0; seed < draws(500); seed++) {
		std::mt19937 random(seed);
		std::map<uint64_t, int64_t> delays;
		std::vector<std::pair<int64_t, Frame>> arrivals;
		std::vector<Frame> frames;
		std::vector<int64_t> ipdv;
		unsigned lost = random() % 60;

		/* sent every 10, delayed by up to 500: at most 50 places */
		for (uint64_t n = 0; n < 1000; n++) {
			int64_t delay = random() % (1 + random() % 500);

			if (random() % 100 < lost)
				continue;
			delays[n] = delay;
			arrivals.push_back({int64_t(n) * 10 + delay, {n, delay}});
		}
		std::stable_sort(arrivals.begin(), arrivals.end(),
				 [](const auto &a, const auto &b) { return a.first < b.first; });
		for (const auto &a : arrivals)
			frames.push_back(a.second);
		for (const auto &d : delays)
			if (delays.count(d.first + 1))
				ipdv.push_back(delays[d.first + 1] - d.second);
		std::sort(ipdv.begin(), ipdv.end());
		fg_variation_counts c = vary(frames, 128);

		ASSERT_EQ(ipdv.size(), c.pairs) << "seed " << seed;
		ASSERT_EQ(0u, c.unknown);
		ASSERT_EQ(ipdv.front(), c.min);
		ASSERT_EQ(ipdv.back(), c.max);
		/* up to 2047 a bin holds one value */
		ASSERT_EQ(percentile(ipdv, 0.001), c.p001) << "seed " << seed;
		ASSERT_EQ(percentile(ipdv, 0.999), c.p999);
		ASSERT_EQ(double(ipdv[(ipdv.size() - 1) / 2] + ipdv[ipdv.size() / 2]) / 2, c.median);
	}
}

TEST(Variation, TakesPowersOfTwo)
{
	fg_error err = {};

	EXPECT_EQ(nullptr, fg_variation_create(3, 1000, 100, &err));
	EXPECT_EQ(EINVAL, err.code);
	EXPECT_EQ(nullptr, fg_variation_create(4, 1000, 128, &err));
	EXPECT_STREQ("histogram", err.where);
	fg_variation_free(nullptr);
}

TEST(Payload, DiffersInBitsAndOctets)
{
	std::vector<uint8_t> sent(1500), received;

	for (size_t i = 0; i < sent.size(); i++)
		sent[i] = uint8_t(i * 7);
	received = sent;
	fg_payload_errors errors = {};

	EXPECT_FALSE(fg_payload_compare(sent.data(), received.data(), sent.size(), &errors));
	received[0] ^= 0x80;
	received[1499] ^= 0x11;
	EXPECT_TRUE(fg_payload_compare(sent.data(), received.data(), sent.size(), &errors));
	EXPECT_EQ(3u, errors.bits);
	EXPECT_EQ(2u, errors.octets);
	EXPECT_TRUE(fg_payload_compare(sent.data(), received.data(), sent.size() - 1, &errors));
	EXPECT_EQ(4u, errors.bits) << "added up";
	EXPECT_FALSE(fg_payload_compare(sent.data(), received.data(), 0, &errors));
}

} // namespace

TEST(Variation, OfSeveralStreamsIsOfAllTheirPairs)
{
	const std::vector<Frame> one = {{0, 20}, {1, 10}, {2, 20}, {3, 25}, {4, 20}},
				 other = {{0, 7}, {1, 70}};
	Variation sum = make(1), a = make(), b = make(),
		  coarse(fg_variation_create(1, 1000000000, 1, nullptr));
	fg_variation_counts c, of_one = vary(one), of_other = vary(other);

	for (const Frame &f : one)
		fg_variation_record(a.get(), f.number, f.delay);
	for (const Frame &f : other)
		fg_variation_record(b.get(), f.number, f.delay);
	fg_variation_record(sum.get(), 5, 5000);
	fg_variation_reset(sum.get());
	EXPECT_EQ(0, fg_variation_merge(sum.get(), a.get(), nullptr));
	EXPECT_EQ(0, fg_variation_merge(sum.get(), b.get(), nullptr));
	c = result(sum);
	EXPECT_EQ(5u, c.pairs);
	EXPECT_EQ(-10, c.min);
	EXPECT_EQ(63, c.max);
	EXPECT_DOUBLE_EQ((-10 + 10 + 5 - 5 + 63) / 5.0, c.mean);
	EXPECT_EQ(std::max(of_one.jitter, of_other.jitter), c.jitter);
	EXPECT_EQ(-EINVAL, fg_variation_merge(sum.get(), coarse.get(), nullptr));
}

TEST(Variation, OfSeveralStreamsSaysWhatAnyForgot)
{
	Variation sum = make(32), one = make(32);

	for (uint64_t n = 1; n <= 40; n++)
		fg_variation_record(one.get(), n, 100);
	fg_variation_record(one.get(), 0, 100); /* the neighbour, 1, gave way to 33 */
	for (uint64_t streams : {1, 2}) {
		EXPECT_EQ(0, fg_variation_merge(sum.get(), one.get(), nullptr));
		EXPECT_EQ(streams, result(sum).unknown);
	}
}

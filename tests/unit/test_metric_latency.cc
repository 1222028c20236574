/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_bytes.h"
#include "fg_histogram.h"
#include "fg_latency.h"

namespace
{

constexpr uint64_t SECOND = 1000000000;
constexpr size_t HEADER = 40, EXACT = 56;

struct Free {
	void
	operator()(fg_histogram *h) const
	{
		fg_histogram_free(h);
	}
};
using Histogram = std::unique_ptr<fg_histogram, Free>;
using Octets = std::vector<uint8_t>;

Histogram
make(unsigned digits, const std::vector<int64_t> &values, uint64_t highest = SECOND)
{
	Histogram h(fg_histogram_create(digits, highest, nullptr));

	for (int64_t v : values)
		fg_histogram_record(h.get(), v);
	return h;
}

Octets
pack(const Histogram &h)
{
	Octets out(fg_histogram_packed_size(h.get()));
	size_t octets = fg_histogram_pack(h.get(), out.data());

	EXPECT_LE(octets, out.size());
	out.resize(octets);
	return out;
}

fg_latency
read(const Histogram &h)
{
	fg_latency out;

	fg_latency_read(h.get(), &out);
	return out;
}

bool
same(const fg_latency &a, const fg_latency &b)
{
	return a.count == b.count && a.min_ns == b.min_ns && a.max_ns == b.max_ns && a.p50_ns == b.p50_ns &&
	       a.p99_ns == b.p99_ns && a.p999_ns == b.p999_ns && a.mean_ns == b.mean_ns &&
	       a.relative_error == b.relative_error && a.negative == b.negative;
}

/* delays of three hosts: few or many, narrow or wide, some below 0 and above the range */
std::vector<int64_t>
delays(std::mt19937_64 &random)
{
	std::vector<int64_t> values(random() % 3000);
	unsigned narrow = (unsigned)random() % 34;

	for (auto &v : values)
		v = (int64_t)((random() >> 30) >> (narrow + random() % (35 - narrow))) - 5;
	return values;
}

TEST(Latency, OfPackedHistogramsIsThatOfOneWithAllValues)
{
	std::mt19937_64 random(1);

	for (unsigned n = 0; n < 60; n++) {
		unsigned digits = 1 + n % 3;
		std::vector<int64_t> values;
		Octets packed;
		fg_latency merged;

		for (unsigned host = 0; host < 3; host++) {
			auto own = delays(random);
			Octets octets = pack(make(digits, own));

			values.insert(values.end(), own.begin(), own.end());
			packed.insert(packed.end(), octets.begin(), octets.end());
		}
		ASSERT_EQ(0, fg_latency_merge(packed.data(), packed.size(), &merged, nullptr));
		EXPECT_TRUE(same(read(make(digits, values)), merged));
	}
}

TEST(Latency, OfHistogramsOfSeveralLayoutsIsThatOfTheCoarsestWithTheWidestRange)
{
	std::mt19937_64 random(2);

	for (unsigned n = 0; n < 20; n++) {
		auto values = delays(random), other = delays(random);
		Octets packed = pack(make(3, values, SECOND / 1000)), more = pack(make(1 + n % 2, other));
		fg_latency merged;

		packed.insert(packed.end(), more.begin(), more.end());
		ASSERT_EQ(0, fg_latency_merge(packed.data(), packed.size(), &merged, nullptr));
		/* what was beyond the range of one of them is in no bin of it */
		auto all = make(1 + n % 2, other), first = make(1 + n % 2, values, SECOND / 1000);
		for (uint32_t bin = 0; bin < first->bins; bin++)
			all->counts[bin] += first->counts[bin];
		all->counts[all->bins] += first->counts[first->bins];
		all->counts[all->bins + 1] += first->counts[first->bins + 1];
		all->count += first->count;
		all->sum += first->sum;
		all->min = std::min(all->min, first->min);
		all->max = std::max(all->max, first->max);
		EXPECT_TRUE(same(read(all), merged));
	}
}

TEST(Latency, IsPackedAsHdrHistogramV2)
{
	/* 300 is in bin 82: octave 4, 300 >> 4 */
	auto h = make(1, {1, 5, 5, 5, 300});
	const Octets expected = {
		0x1c, 0x84, 0x93, 0x13, 0,    0,    0,    7, 0,
		0,    0,    0,    0,    0,    0,    1, /* cookie, bytes, offset, digits */
		0,    0,    0,    0,    0,    0,    0,    1, 0,
		0,    0,    0,    0x3f, 0xff, 0xff, 0xff,          /* 1 to 2^30 - 1 */
		0x3f, 0xf0, 0,    0,    0,    0,    0,    0, 0x00, /* ratio 1.0; one empty bin */
		0x02, 0x05, 0x06,                                  /* once 1, three empty, three times 5 */
		0x97, 0x01, 0x02,                                  /* 76 empty, once 300 */
	};
	Octets packed = pack(h);

	ASSERT_EQ(HEADER + 7 + EXACT, packed.size());
	EXPECT_EQ(expected, Octets(packed.begin(), packed.begin() + (long)expected.size()));
	EXPECT_EQ(5u, fg_get64(&packed[HEADER + 7]));
}

TEST(Latency, OfOctetsThatAreNoHistogramIsRejected)
{
	std::mt19937_64 random(3);
	const Octets good = pack(make(2, {1, 70, 70000, 5}));
	fg_latency out;

	EXPECT_EQ(0, fg_latency_merge(good.data(), 0, &out, nullptr));
	EXPECT_EQ(0u, out.count);
	for (size_t n = 1; n < good.size(); n++)
		EXPECT_EQ(-EINVAL, fg_latency_merge(good.data(), n, &out, nullptr));
	Octets runs = good; /* a run of empty bins that has no end, as 9 bytes have it */
	runs.insert(runs.begin() + HEADER, 9, 0xff);
	runs[7] += 9;
	EXPECT_EQ(-EINVAL, fg_latency_merge(runs.data(), runs.size(), &out, nullptr));
	for (unsigned i = 0; i < 20000; i++) { /* whatever comes of it */
		Octets bad = good;

		bad[random() % bad.size()] = (uint8_t)random();
		bad[random() % (HEADER + 8)] ^= (uint8_t)(1U << random() % 8);
		fg_latency_merge(bad.data(), bad.size(), &out, nullptr);
	}
}

} // namespace

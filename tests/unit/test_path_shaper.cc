/* SPDX-License-Identifier: BSD-3-Clause */
/* The token bucket against one that is filled and emptied step by step. */
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_shaper.h"

namespace
{

const uint64_t GHZ = 1000000000;

fg_shaper
Shaper(double bps, uint64_t bucket, uint64_t queue)
{
	fg_shaper shaper;
	fg_error err = {};

	EXPECT_EQ(0, fg_shaper_init(&shaper, bps, bucket, queue, GHZ, &err)) << err.message;
	return shaper;
}

} // namespace

TEST(Shaper, LetsABucketfulPassAndThenItsRate)
{
	fg_shaper shaper = Shaper(8e9, 3000, 1 << 20); /* a byte is a nanosecond */

	for (uint64_t expected : {0, 0, 0, 1000, 2000, 3000})
		EXPECT_EQ(expected, fg_shaper_pass(&shaper, 0, 1000));
	EXPECT_EQ(5000u, fg_shaper_pass(&shaper, 5000, 1000)) << "there was time for 1000 more";
	EXPECT_EQ(6000u, fg_shaper_pass(&shaper, 5000, 2000)) << "1000 are there and 1000 have to come";
	fg_shaper_reset(&shaper);
	EXPECT_EQ(0u, fg_shaper_pass(&shaper, 0, 3000));
	EXPECT_EQ(4000u, fg_shaper_pass(&shaper, 0, 4000))
		<< "longer than the bucket: when that is full again, at 3000; or rather 1000 later, when it was owed";
}

TEST(Shaper, LosesWhatItsQueueCannotHold)
{
	fg_shaper shaper = Shaper(8e9, 1000, 2000);

	for (uint64_t expected : {uint64_t(0), uint64_t(1000), uint64_t(2000), UINT64_MAX, UINT64_MAX})
		EXPECT_EQ(expected, fg_shaper_pass(&shaper, 0, 1000));
	EXPECT_EQ(UINT64_MAX, fg_shaper_pass(&shaper, 999, 1000));
	EXPECT_EQ(3000u, fg_shaper_pass(&shaper, 1000, 1000));
	shaper = Shaper(8e9, 1000, 0);
	EXPECT_EQ(0u, fg_shaper_pass(&shaper, 0, 1000));
	EXPECT_EQ(UINT64_MAX, fg_shaper_pass(&shaper, 999, 1000)) << "without a queue it polices";
	EXPECT_EQ(1000u, fg_shaper_pass(&shaper, 1000, 1000));
}

TEST(Shaper, DoesAsABucketThatIsFilledOctetByOctet)
{
	std::mt19937 random(3);
	const uint64_t bucket = 5000, octet = 3; /* ns */
	fg_shaper shaper = Shaper(8e9 / double(octet), bucket, 1ull << 30);
	double tokens = double(bucket);
	uint64_t now = 0, clock = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t size = 64 + random() % 1455;

		now += random() % 6000;
		/* the head of the queue takes its tokens when they are there */
		if (now > clock) {
			tokens = std::min(double(bucket), tokens + double(now - clock) / octet);
			clock = now;
		}
		if (tokens < size) {
			clock += uint64_t(std::llround((size - tokens) * octet));
			tokens = size;
		}
		tokens -= size;
		ASSERT_NEAR(double(clock), double(fg_shaper_pass(&shaper, now, size)), 1);
	}
}

TEST(Shaper, KeepsARateThatDoesNotDivideTheClock)
{
	fg_shaper shaper = Shaper(7e6, 1500, 1ull << 30);
	uint64_t last = 0;

	for (int i = 0; i < 100000; i++)
		last = fg_shaper_pass(&shaper, 0, 1000);
	/* the first 1500 bytes were in the bucket */
	EXPECT_NEAR((100000 * 1000.0 - 1500) * 8e9 / 7e6, double(last), 1);
}

TEST(Shaper, RefusesWhatIsNoRate)
{
	fg_shaper shaper;
	fg_error err = {};

	for (double bps : {0.0, -1.0, 1e13, double(NAN)})
		EXPECT_EQ(-EINVAL, fg_shaper_init(&shaper, bps, 1500, 1500, GHZ, &err)) << bps;
	EXPECT_EQ(-EINVAL, fg_shaper_init(&shaper, 1e6, 1ull << 40, 1500, GHZ, &err));
	EXPECT_EQ(-EINVAL, fg_shaper_init(&shaper, 1e3, 1500, 1ull << 32, 1000 * GHZ, &err));
}

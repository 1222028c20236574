/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstring>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "fg_base.h"

TEST(Bytes, StandInNetworkOrderAtAnyAddress)
{
	const uint8_t expected[] = {0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};
	uint8_t bytes[sizeof(expected)] = {};

	EXPECT_EQ(bytes + 9, fg_put64(bytes + 1, 0x123456789abcdef0));
	EXPECT_EQ(0, memcmp(expected, bytes, sizeof(bytes)));
	EXPECT_EQ(0x1234u, fg_get16(bytes + 1));
	EXPECT_EQ(0x3456789au, fg_get32(bytes + 2));
	EXPECT_EQ(0x123456789abcdef0u, fg_get64(bytes + 1));
}

TEST(Random, IsSplitmix64InOrderAndByIndex)
{
	uint64_t state = 1234567; /* the reference implementation's own example */

	EXPECT_EQ(6457827717110365317u, fg_random_next(&state));
	EXPECT_EQ(3203168211198807973u, fg_random_next(&state));
	EXPECT_EQ(6457827717110365317u, fg_random_at(1234567, 0));
	EXPECT_EQ(3203168211198807973u, fg_random_at(1234567, 1));
}

TEST(Random, LimitIsTheShareOfAllNumbers)
{
	EXPECT_EQ(0u, fg_random_limit(0));
	EXPECT_EQ(UINT64_C(1) << 63, fg_random_limit(0.5));
	EXPECT_EQ(UINT64_MAX, fg_random_limit(1));
}

TEST(UniqueName, IsOfNobodyElse)
{
	std::set<std::string> names;
	char name[16];

	for (int i = 0; i < 100; i++) {
		fg_unique_name(name, sizeof(name), i % 2 == 0 ? "pool_" : "ring_");
		EXPECT_TRUE(names.insert(name).second) << name;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4: the vectors of its paper's appendix and of its authors' reference, keys and inputs of 0, 1, 2... */
#include <gtest/gtest.h>

#include "fg_siphash.h"

TEST(SipHash, HasTheValuesOfItsAuthors)
{
	uint8_t counting[16];

	for (uint8_t i = 0; i < sizeof(counting); i++)
		counting[i] = i;
	EXPECT_EQ(0x726fdb47dd0e0e31u, fg_siphash(counting, counting, 0));
	EXPECT_EQ(0x74f839c593dc67fdu, fg_siphash(counting, counting, 1));
	EXPECT_EQ(0x93f5f5799a932462u, fg_siphash(counting, counting, 8));
	EXPECT_EQ(0xa129ca6149be45e5u, fg_siphash(counting, counting, 15));
}

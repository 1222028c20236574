/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c against the vectors of RFC 3720, B.4, with the processor's instruction and without. */
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_crc32c.h"

namespace
{

using Crc = uint32_t (*)(uint32_t, const uint8_t *, size_t);

uint32_t
of(Crc crc, const std::vector<uint8_t> &octets)
{
	return crc(0, octets.data(), octets.size());
}

std::vector<uint8_t>
counting(int first, int step, unsigned n)
{
	std::vector<uint8_t> octets;

	for (unsigned i = 0; i < n; i++)
		octets.push_back(uint8_t(first + int(i) * step));
	return octets;
}

TEST(Crc32c, IsThatOfTheVectors)
{
	const std::string digits = "123456789";

	for (Crc crc : {fg_crc32c, fg_crc32c_by_table}) {
		EXPECT_EQ(0u, of(crc, {}));
		EXPECT_EQ(0x8a9136aau, of(crc, std::vector<uint8_t>(32, 0)));
		EXPECT_EQ(0x62a8ab43u, of(crc, std::vector<uint8_t>(32, 0xff)));
		EXPECT_EQ(0x46dd794eu, of(crc, counting(0, 1, 32)));
		EXPECT_EQ(0x113fdb5cu, of(crc, counting(31, -1, 32)));
		EXPECT_EQ(0xe3069283u, of(crc, {digits.begin(), digits.end()}));
	}
}

TEST(Crc32c, GoesOnFromWhereItWas)
{
	std::vector<uint8_t> octets = counting(3, 37, 61);

	for (size_t cut = 0; cut <= octets.size(); cut++)
		EXPECT_EQ(of(fg_crc32c_by_table, octets),
			  fg_crc32c(fg_crc32c(0, octets.data(), cut), octets.data() + cut,
				    octets.size() - cut));
}

} // namespace

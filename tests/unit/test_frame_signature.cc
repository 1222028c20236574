/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fg_signature.h"

namespace
{

using Bytes = std::vector<uint8_t>;

const uint64_t mask48 = (1ull << 48) - 1;

Bytes
write(uint16_t stream, uint64_t sequence, uint64_t time_ns)
{
	Bytes b(FG_SIGNATURE_SIZE);

	fg_signature_write(b.data() + b.size(), stream, sequence, time_ns);
	return b;
}

bool
is_read(const Bytes &b)
{
	fg_signature s;

	return fg_signature_read(b.data() + b.size(), b.size(), &s);
}

uint16_t
sum(const Bytes &b)
{
	uint32_t s = 0;

	for (size_t i = 0; i < b.size(); i += 2) {
		s += uint32_t(b[i] << 8 | b[i + 1]);
		s = (s & 0xffff) + (s >> 16);
	}
	return uint16_t(s);
}

/* what makes carries happen, and what does not */
uint64_t
interesting(std::mt19937_64 &random)
{
	switch (random() % 5) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return 1ull << random() % 64;
	case 3:
		return random() | 0x0000ffff0000ffff;
	default:
		return random();
	}
}

} // namespace

TEST(Signature, LiesOnTheWireAsDocumented)
{
	EXPECT_EQ((Bytes{'F', 'g', 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), [] {
		Bytes b = write(0x1234, 0x010203040506, 0x0708090a0b0c);
		return Bytes(b.begin(), b.begin() + 16);
	}());
}

TEST(Signature, ReadsWhatWasWritten)
{
	std::mt19937_64 random(1);

	for (int i = 0; i < 200000; i++) {
		uint16_t stream = uint16_t(interesting(random));
		uint64_t sequence = interesting(random), time = interesting(random);
		Bytes b = write(stream, sequence, time);
		fg_signature s = {};

		ASSERT_TRUE(fg_signature_read(b.data() + b.size(), b.size(), &s));
		ASSERT_EQ(stream, s.stream);
		ASSERT_EQ(sequence & mask48, s.sequence);
		ASSERT_EQ(time & mask48, s.time_ns);
	}
}

TEST(Signature, SumsToZero)
{
	std::mt19937_64 random(2);

	for (int i = 0; i < 200000; i++)
		ASSERT_EQ(0xffff, sum(write(uint16_t(interesting(random)), interesting(random),
					    interesting(random))));
}

TEST(Signature, IsFoundFromTheEnd)
{
	Bytes frame(1000, 0xff), b = write(7, 8, 9);
	fg_signature s;

	std::copy(b.begin(), b.end(), frame.end() - FG_SIGNATURE_SIZE);
	ASSERT_TRUE(fg_signature_read(frame.data() + frame.size(), frame.size(), &s));
	EXPECT_EQ(7, s.stream);
	EXPECT_EQ(8u, s.sequence);
	EXPECT_EQ(9u, s.time_ns);
}

TEST(Signature, NeedsItsEighteenOctets)
{
	Bytes b = write(1, 2, 3);

	EXPECT_TRUE(is_read(b));
	for (size_t length = 0; length < FG_SIGNATURE_SIZE; length++)
		EXPECT_FALSE(is_read(Bytes(b.end() - long(length), b.end()))) << length;
}

TEST(Signature, IsNotReadWithAnyOneBitWrong)
{
	std::mt19937_64 random(3);

	for (int i = 0; i < 1000; i++) {
		Bytes b = write(uint16_t(random()), random(), random());

		for (unsigned bit = 0; bit < 8 * FG_SIGNATURE_SIZE; bit++) {
			b[bit / 8] ^= uint8_t(1 << bit % 8);
			ASSERT_FALSE(is_read(b)) << "bit " << bit;
			b[bit / 8] ^= uint8_t(1 << bit % 8);
		}
	}
}

TEST(Signature, IsNotReadInRandomOctets)
{
	std::mt19937_64 random(4);
	Bytes b(FG_SIGNATURE_SIZE);
	unsigned with_magic = 0;

	for (int i = 0; i < 1000000; i++) {
		uint64_t words[3] = {random(), random(), random()};

		memcpy(b.data(), words, b.size());
		ASSERT_FALSE(is_read(b));
		/* one in 65536 at most even where the magic stands by chance */
		b[0] = 'F';
		b[1] = 'g';
		with_magic += is_read(b);
	}
	EXPECT_LT(with_magic, 45u) << "15 are expected of a million";
}

TEST(Signature, IsNotReadInConstantOrCountingOctets)
{
	for (unsigned value = 0; value < 256; value++) {
		Bytes counting(FG_SIGNATURE_SIZE);

		EXPECT_FALSE(is_read(Bytes(FG_SIGNATURE_SIZE, uint8_t(value))));
		for (size_t i = 0; i < counting.size(); i++)
			counting[i] = uint8_t(value + i);
		EXPECT_FALSE(is_read(counting));
	}
}

TEST(Signature, ElapsedTimeOutlivesTheTurnOfItsClock)
{
	const int64_t day = 24ll * 3600 * 1000000000;
	std::mt19937_64 random(5);

	EXPECT_EQ(0, fg_signature_elapsed(5, 5));
	EXPECT_EQ(10, fg_signature_elapsed(4, mask48 - 5));
	EXPECT_EQ(-10, fg_signature_elapsed(mask48 - 5, 4));
	EXPECT_EQ(7, fg_signature_elapsed((1ull << 48) + 12, 5))
		<< "the later one need not be cut to 48 bits";
	for (int i = 0; i < 100000; i++) {
		uint64_t earlier = random();
		int64_t difference = int64_t(random() % uint64_t(2 * day)) - day;

		ASSERT_EQ(difference, fg_signature_elapsed(earlier + uint64_t(difference), earlier & mask48));
	}
}

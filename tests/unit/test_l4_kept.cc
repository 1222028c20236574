/* SPDX-License-Identifier: BSD-3-Clause */
/* Payload that is kept until its turn, against the stream it is of: every byte once, and in few blocks,
 * however small the segments are and in whatever order they come. */
#include <algorithm>
#include <map>
#include <random>

#include "draws.h"
#include "l4_host.h"
extern "C" {
#include "l4_talker.h"
}

namespace
{
class L4Kept : public ::testing::Test
{
      protected:
	static fg_l4_tcp
	Defaults()
	{
		fg_l4_tcp tcp;

		fg_l4_tcp_defaults(&tcp);
		return tcp;
	}
	static uint8_t
	At(uint32_t seq)
	{
		return uint8_t(seq * 2654435761U >> 24);
	}
	/* a segment arrives */
	bool
	Add(uint32_t from, uint32_t to)
	{
		std::vector<uint8_t> payload;

		for (uint32_t at = from; at != to; at++)
			payload.push_back(At(at));
		if (!kept_add(w, &held, from, payload.data(), to - from))
			return false;
		EXPECT_EQ(to - from, ranges_within(&held, from, to)) << "all of it";
		return true;
	}
	uint32_t
	Blocks() const
	{
		return talker_taken(&own(w)->kept);
	}
	/* the blocks hold just what the set has, in order */
	void
	ExpectWhole()
	{
		uint32_t octets = 0, end = 0, wrong = 0, blocks = 0;

		for (uint32_t i = held.kept; i != 0; i = kept_at(w, i)->next) {
			const kept *k = kept_at(w, i);

			EXPECT_TRUE(blocks++ == 0 || seq_le(end, k->seq));
			for (uint32_t n = 0; n < k->length; n++)
				wrong += k->data[n] != At(k->seq + n);
			EXPECT_EQ(k->length, ranges_within(&held, k->seq, k->seq + k->length));
			end = k->seq + k->length;
			octets += k->length;
		}
		EXPECT_EQ(0u, wrong);
		for (uint32_t i = 0; i < held.count; i++)
			octets -= held.at[i].to - held.at[i].from;
		EXPECT_EQ(0u, octets);
		EXPECT_EQ(Blocks(), blocks);
	}

	l4::Host host{false, Defaults(), 1500};
	fg_l4 *w = host.w;
	ranges held = {};
};
} /* namespace */

TEST_F(L4Kept, SegmentsOfAByteTakeNoBlockEach)
{
	const uint32_t base = 0xfffff000, octets = 6000;
	std::vector<uint32_t> at(octets);

	for (uint32_t i = 0; i < octets; i++)
		at[i] = i;
	for (const char *order : {"up", "down", "every second", "random"}) {
		SCOPED_TRACE(order);
		held = {};
		if (order[0] == 'd')
			std::reverse(at.begin(), at.end());
		for (uint32_t i = 0; i < octets && order[0] == 'e'; i++) /* 100 apart, then between them */
			at[i] = i / 200 * 200 + i % 200 % 100 * 2 + i % 200 / 100;
		for (uint32_t i = 0; i + 200 <= octets && order[0] == 'r'; i += 200)
			std::shuffle(at.begin() + i, at.begin() + i + 200, std::mt19937(i));
		for (uint32_t i : at)
			ASSERT_TRUE(Add(base + i, base + i + 1)) << i;
		ExpectWhole();
		EXPECT_GE(6u, Blocks());
		EXPECT_EQ(base + octets, kept_begin(w, &held, base + octets, base + octets));
		EXPECT_EQ(0u, Blocks());
	}
}

TEST_F(L4Kept, EachByteIsThereOnceHoweverSegmentsOverlap)
{
	for (uint64_t seed = 0; seed < draws(60); seed++) {
		std::mt19937_64 random(seed);
		uint32_t base = uint32_t(random()), window = 1000 + uint32_t(random() % 60000), taken = 0;
		uint32_t most = 1 + uint32_t(random() % 5000);

		held = {};
		for (unsigned i = 0; i < 200; i++) {
			uint32_t from = taken + 1 + uint32_t(random() % window);

			Add(base + from, base + from + 1 + uint32_t(random() % most));
			EXPECT_GE(held.count + 2 * (window + most) / KEPT + 1, Blocks());
			if (random() % 50 == 0) { /* what lies before is taken */
				taken += uint32_t(random() % window);
				ranges_cut(&held, base + taken);
				kept_begin(w, &held, base + taken, base + taken + 1);
			}
			if (taken == 0)
				ExpectWhole();
			ASSERT_FALSE(HasFailure()) << "seed " << seed << ", segment " << i;
		}
		kept_begin(w, &held, base + (1U << 30), base + (1U << 30));
		ASSERT_EQ(0u, Blocks());
	}
	EXPECT_EQ(0u, w->counters.held_refused + w->counters.no_ranges);
}

TEST_F(L4Kept, WantOfRoomTakesNothingThatIsAcknowledged)
{
	ASSERT_TRUE(Add(0, 5));
	ranges_cut(&held, 5); /* it is in order, but not read */
	for (uint32_t i = 1; i <= MAX_RANGES; i++)
		ASSERT_TRUE(Add(10 * i, 10 * i + 5));
	EXPECT_FALSE(Add(5, 6));
	EXPECT_EQ(1u, w->counters.no_ranges);
	EXPECT_EQ(0u, kept_begin(w, &held, 0, 5));
	EXPECT_EQ(10u, kept_begin(w, &held, 5, 100));
	EXPECT_EQ(uint32_t(MAX_RANGES), Blocks());
}

TEST_F(L4Kept, WantOfRoomIsCounted)
{
	for (uint32_t i = 0; i < MAX_RANGES; i++)
		ASSERT_TRUE(Add(10 * i, 10 * i + 5));
	EXPECT_FALSE(Add(10 * MAX_RANGES, 10 * MAX_RANGES + 5));
	EXPECT_TRUE(Add(15, 16)) << "it touches what is there";
	EXPECT_EQ(1u, w->counters.no_ranges);
	EXPECT_EQ(0u, w->counters.held_refused);
	EXPECT_EQ(uint32_t(MAX_RANGES), Blocks());
	own(w)->kept.count = own(w)->kept.fresh;
	EXPECT_TRUE(Add(16, 18)) << "nor another block";
	EXPECT_FALSE(Add(10 * MAX_RANGES - 5, 10 * MAX_RANGES + 2 * KEPT)) << "a block is free";
	EXPECT_EQ(1u, w->counters.held_refused);
	ExpectWhole();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Double entry: what a card counts beside what was handed to it and fetched from it. */
#include <gtest/gtest.h>

#include "engine_parts.h"

namespace
{

struct Card : fg_port {
	fg_port_counters count = {};

	Card() : fg_port{}
	{
		static const fg_port_ops plain = {
			[](fg_port *port, fg_port_counters *out) { *out = static_cast<Card *>(port)->count; },
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};

		ops = &plain;
		caps.exact_counters = true;
	}
	/* a trial in which the card counted so many frames, and we those */
	void
	Trial(uint64_t tx, uint64_t tx_ours, uint64_t rx, uint64_t rx_ours)
	{
		account_open(&books, this);
		count.tx_frames += tx;
		count.rx_frames += rx;
		for (unsigned i : {0, 1}) {
			count.tx_ours[i] += tx_ours;
			count.rx_ours[i] += rx_ours;
		}
		account_close(&books, this);
	}

	struct account books = {};
};

TEST(EngineAccount, WhatOnlyOneOfTheTwoCountedIsUnaccounted)
{
	Card card;

	card.Trial(10, 10, 20, 20);
	EXPECT_EQ(0, card.books.tx_unaccounted);
	EXPECT_EQ(0, card.books.rx_unaccounted);
	card.Trial(9, 10, 20, 18);
	EXPECT_EQ(-1, card.books.tx_unaccounted);
	EXPECT_EQ(2, card.books.rx_unaccounted);
}

TEST(EngineAccount, ADifferenceIsOfOneTrial)
{
	Card card;

	card.Trial(11, 10, 19, 20);
	EXPECT_EQ(1, card.books.tx_unaccounted);
	EXPECT_EQ(-1, card.books.rx_unaccounted);
	card.Trial(10, 10, 20, 20);
	EXPECT_EQ(0, card.books.tx_unaccounted);
	EXPECT_EQ(0, card.books.rx_unaccounted);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "fg_port.h"
#include "fg_trial.h"

extern "C" {
#include "split_priv.h"
}

namespace
{

/* port 0 has queues 0 to 2, port 1 queues 3 and 4 */
const split_port PORTS[] = {{0, 3}, {3, 2}};

struct Split {
	explicit Split(std::vector<fg_stream_config> list) : streams(std::move(list))
	{
		fg_trial_config c = {};

		for (fg_stream_config &s : streams) {
			s.loads = 1;
			if (s.load == nullptr)
				s.load = &load;
		}
		c.streams = unsigned(streams.size());
		c.stream = streams.data();
		EXPECT_EQ(0, split_make(&s, PORTS, 2, &c));
	}
	~Split()
	{
		split_free(&s);
	}
	fg_load load = {1000};
	std::vector<fg_stream_config> streams;
	split s;
};

fg_stream_config
from(unsigned port)
{
	fg_stream_config c = {};

	c.tx_port = port;
	return c;
}

TEST(EngineSplit, FewStreamsAreDividedAmongTheQueues)
{
	Split split({from(0), from(1)});
	std::set<unsigned> queues;

	EXPECT_EQ(5u, split.s.streams);
	EXPECT_EQ(3u, split_parts(&split.s, 0));
	EXPECT_EQ(2u, split_parts(&split.s, 1));
	for (unsigned i = 0; i < 5; i++) {
		const fg_turn &turn = split.s.config[i].turn;

		queues.insert(split.s.substream[i].queue);
		EXPECT_EQ(split.s.substream[i].k, turn.first);
		EXPECT_EQ(split.s.substream[i].of, turn.every);
		EXPECT_EQ(1u, turn.take);
	}
	EXPECT_EQ(5u, queues.size());
}

TEST(EngineSplit, ManyStreamsStayWholeAndShareTheQueuesByTheirRates)
{
	fg_load fast = {3000};
	fg_stream_config first = from(0);
	double fps[3] = {};

	first.load = &fast;
	Split split({first, from(0), from(0), from(0), from(0), from(0), from(0)});
	EXPECT_EQ(7u, split.s.streams);
	for (unsigned i = 0; i < 7; i++)
		fps[split.s.substream[i].queue] += i == 0 ? 3000 : 1000;
	for (double f : fps)
		EXPECT_EQ(3000, f);
}

TEST(EngineSplit, WhatCannotTakeTurnsStaysWhole)
{
	fg_load poisson = {1000};
	fg_stream_config s = from(0);

	poisson.shape = FG_LOAD_POISSON;
	s.load = &poisson;
	Split split({s});
	EXPECT_EQ(1u, split.s.streams);
	EXPECT_EQ(1u, split.s.substream[0].of);
}

/* parts would each have room for values of their own: a value could be counted in one and not in the other */
TEST(EngineSplit, WhatIsCountedByValuesStaysWhole)
{
	const fg_value_fields values = {1, 4, {{106 * 8, 2}}};
	fg_stream_config s = from(1);

	s.values = &values;
	Split split({from(0), s});
	EXPECT_EQ(3u, split_parts(&split.s, 0));
	EXPECT_EQ(1u, split_parts(&split.s, 1));
}

/* whichever substream sends it, each tagged frame is tagged once */
TEST(EngineSplit, TagsAreThoseOfTheWholeStream)
{
	for (uint64_t every : {1u, 2u, 3u, 5u, 6u, 9u}) {
		fg_stream_config s = from(0);
		std::multiset<uint64_t> tagged, expected;

		s.tag_first = 4;
		s.tag_every = every;
		s.tags = 10;
		Split split({s});
		for (unsigned i = 0; i < 3; i++)
			for (unsigned k = 0; k < split.s.config[i].tags; k++)
				tagged.insert(split.s.substream[i].k + 3 * (split.s.config[i].tag_first +
									    k * split.s.config[i].tag_every));
		for (unsigned k = 0; k < s.tags; k++)
			expected.insert(4 + k * every);
		EXPECT_EQ(expected, tagged) << every;
	}
}

} // namespace

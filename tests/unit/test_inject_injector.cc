/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that a sender makes on purpose: what departs in which order, against orders written down by hand. */
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_inject.h"

namespace
{

fg_inject_config
nothing()
{
	return fg_inject_config{};
}

fg_inject_config
every(fg_inject kind, uint64_t n, uint32_t run = 1, uint32_t places = 1)
{
	fg_inject_config config = nothing();

	config.rule[kind].trigger.every = n;
	config.rule[kind].run = run;
	config.rule[kind].places = places;
	return config;
}

class Program
{
      public:
	explicit Program(const fg_inject_config &config)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_injector_create(&config, "errors", &faults, &err))
			<< err.where << err.message;
	}
	~Program()
	{
		fg_injector_free(faults);
	}
	fg_departure
	Next()
	{
		fg_departure d;

		fg_injector_next(faults, &d);
		return d;
	}
	/* numbers of the first departures; behind one that is wrong stands '!', before a second copy '=' */
	std::string
	Numbers(unsigned n)
	{
		std::string text;

		for (unsigned i = 0; i < n; i++) {
			fg_departure d = Next();

			text += i == 0 ? "" : " ";
			text += d.kinds & 1U << FG_INJECT_DUPLICATE ? "=" : "";
			text += std::to_string(d.number);
			text += d.kinds & FG_INJECT_MALFORMED ? "!" : "";
		}
		return text;
	}

	fg_injector *faults = nullptr;
};

TEST(Fault, LeavesOutRepeatsAndPutsOff)
{
	EXPECT_EQ("0 1 2 3 4", Program(nothing()).Numbers(5));
	EXPECT_EQ("0 1 3 4 6 7 9", Program(every(FG_INJECT_SKIP, 3)).Numbers(7));
	EXPECT_EQ("0 1 2 5 6 7 10", Program(every(FG_INJECT_SKIP, 5, 2)).Numbers(7));
	EXPECT_EQ("0 1 2 =2 3 4 5 =5 6", Program(every(FG_INJECT_DUPLICATE, 3)).Numbers(9));
	EXPECT_EQ("0 1 2 4 5 3 6 8 9 7", Program(every(FG_INJECT_REORDER, 4, 1, 2)).Numbers(10));
	EXPECT_EQ("0 1 2 3 5 6 7 4 8", Program(every(FG_INJECT_DELAY, 5, 1, 3)).Numbers(9));
}

TEST(Fault, PutsOffBlocksAsTheyAre)
{
	EXPECT_EQ("0 1 4 5 2 3 8 9 6 7", Program(every(FG_INJECT_REORDER, 4, 2, 2)).Numbers(10));
}

TEST(Fault, StrikesNoMoreOftenThanTold)
{
	fg_inject_config config = every(FG_INJECT_SKIP, 3);

	config.rule[FG_INJECT_SKIP].limit = 1;
	EXPECT_EQ("0 1 3 4 5 6 7", Program(config).Numbers(7));
}

TEST(Fault, KindsDoNotChangeEachOthersPattern)
{
	fg_inject_config config = every(FG_INJECT_SKIP, 4);

	config.rule[FG_INJECT_DUPLICATE].trigger.every = 3;
	config.rule[FG_INJECT_IP_CHECKSUM].trigger.every = 5;
	/* of 0 to 11, 3, 7 and 11 are left out, 2, 5, 8 and 11 come twice, 4 and 9 are wrong */
	EXPECT_EQ("0 1 2 =2 4! 5 =5 6 8 =8 9! 10 12", Program(config).Numbers(13));
}

TEST(Fault, ACopyIsAsWrongAsTheFrame)
{
	fg_inject_config config = every(FG_INJECT_PAYLOAD, 2);

	config.rule[FG_INJECT_DUPLICATE].trigger.every = 2;
	EXPECT_EQ("0 1! =1! 2 3! =3!", Program(config).Numbers(6));
}

TEST(Fault, RanksCountWhatIsRight)
{
	fg_inject_config config = every(FG_INJECT_L4_CHECKSUM, 3);

	config.rule[FG_INJECT_SKIP].trigger.every = 4;
	Program program(config);
	uint64_t right = 0, skipped = 0;

	for (unsigned i = 0; i < 1000; i++) {
		fg_departure d = program.Next();

		skipped += d.skipped;
		EXPECT_EQ(right, d.rank);
		EXPECT_EQ(i + skipped, d.number);
		right += (d.kinds & FG_INJECT_MALFORMED) == 0;
	}
	EXPECT_EQ(333u, skipped);
}

TEST(Fault, NothingIsLostWhateverIsPutOff)
{
	fg_inject_config config = nothing();

	config.seed = 7;
	config.rule[FG_INJECT_REORDER] = {{0, 0.4}, 3, 0, 17};
	config.rule[FG_INJECT_DELAY] = {{9, 0.2}, 2, 0, 100};
	config.rule[FG_INJECT_DUPLICATE] = {{0, 0.3}, 5, 0, 0};
	Program program(config);
	std::map<uint64_t, unsigned> due; /* numbers and when they were passed */
	uint64_t patience = fg_injector_patience(program.faults), next = 0;

	for (unsigned i = 0; i < 20000; i++) {
		fg_departure d = program.Next();

		for (; next < fg_injector_reach(program.faults); next++)
			due[next] = i;
		if (d.kinds & 1U << FG_INJECT_DUPLICATE)
			continue;
		ASSERT_EQ(1u, due.count(d.number));
		ASSERT_LE(i - due[d.number], patience);
		due.erase(d.number);
	}
	EXPECT_LE(due.size(), patience);
}

TEST(Fault, RandomIsAsOftenAsToldAndTheSameAgain)
{
	const unsigned n = 200000;
	fg_inject_config config = nothing();

	config.seed = 3;
	config.rule[FG_INJECT_FCS].trigger.random = 0.02;
	config.rule[FG_INJECT_RUNT] = {{0, 0.01}, 4, 0, 0};
	Program one(config), other(config);
	double fcs = 0, runts = 0;

	for (unsigned i = 0; i < n; i++) {
		fg_departure d = one.Next();

		EXPECT_EQ(d.kinds, other.Next().kinds);
		fcs += d.kinds >> FG_INJECT_FCS & 1;
		runts += d.kinds >> FG_INJECT_RUNT & 1;
	}
	EXPECT_NEAR(0.02 * n, fcs, 4 * std::sqrt(0.02 * 0.98 * n));
	/* runs of 4, and before each in the mean 99 frames that begin none: 4 of every 103 */
	EXPECT_NEAR(4.0 / 103 * n, runts, 4 * 4 * std::sqrt(n / 103.0));
}

TEST(Fault, RefusesWhatNobodyCanSend)
{
	fg_inject_config config = every(FG_INJECT_SKIP, 1);
	fg_injector *faults;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_injector_create(&config, "errors", &faults, &err));
	EXPECT_STREQ("errors.skip", err.where);
	config = every(FG_INJECT_DUPLICATE, 3, 4);
	EXPECT_EQ(-EINVAL, fg_injector_create(&config, "errors", &faults, &err));
	config = every(FG_INJECT_REORDER, 3, 1, 1025);
	EXPECT_EQ(-EINVAL, fg_injector_create(&config, "errors", &faults, &err));
	config = nothing();
	config.rule[FG_INJECT_FCS].trigger.random = 1.5;
	EXPECT_EQ(-EINVAL, fg_injector_create(&config, "errors", &faults, &err));
}

} // namespace

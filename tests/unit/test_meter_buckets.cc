/* SPDX-License-Identifier: BSD-3-Clause */
/* Token buckets against what follows from their definition by hand. */
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fg_meter.h"

namespace
{

const uint64_t ps = 1000000000000, M = 1000000, G = 1000 * M;

struct Meter {
	explicit Meter(const fg_meter_config &config)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_meter_init(&meter, &config, &err)) << err.message;
	}
	fg_colour
	At(uint64_t time, uint32_t octets, fg_colour comes = FG_GREEN)
	{
		return fg_meter_colour(&meter, time, octets, comes);
	}
	fg_meter meter;
};

/* 100 Mbit/s, 50 Mbit/s, 64,000 bytes each, colour-blind */
fg_meter_config
Agreed()
{
	return {FG_METER_MEF, false, false, 100 * M, 50 * M, 64000, 64000};
}

struct Counts {
	uint64_t frames, green, yellow, red;
};

/* equal frames at a rate of layer 2 for some seconds, frame i at exactly i times its time, rounded down */
Counts
Offer(Meter &m, uint64_t bps, uint64_t seconds, uint32_t octets = 512, fg_colour comes = FG_GREEN)
{
	Counts c = {bps * seconds / (8 * octets), 0, 0, 0};

	for (uint64_t i = 0; i < c.frames; i++) {
		uint64_t time = uint64_t((fg_u128)i * 8 * octets * ps / bps);

		switch (m.At(time, octets, comes)) {
		case FG_GREEN:
			c.green++;
			break;
		case FG_YELLOW:
			c.yellow++;
			break;
		default:
			c.red++;
			break;
		}
	}
	return c;
}

double
Mbps(uint64_t frames, uint64_t seconds, uint32_t octets = 512)
{
	return double(frames) * 8 * octets / double(seconds) / 1e6;
}

TEST(Meter, PassesTheCommittedRateAndHalfOfIt)
{
	for (uint64_t percent : {25, 50, 75, 100}) {
		Meter m(Agreed());
		Counts c = Offer(m, percent * M, 30);

		EXPECT_EQ(c.frames, c.green) << percent << "% of CIR";
	}
}

TEST(Meter, PassesCommittedAndExcessRateTogether)
{
	Meter m(Agreed());
	Counts c = Offer(m, 150 * M, 30);

	EXPECT_EQ(0u, c.red);
	EXPECT_NEAR(150.0, Mbps(c.green + c.yellow, 30), 0.001);
	EXPECT_NEAR(100.0 + 8 * 64000 / 30.0 / 1e6, Mbps(c.green, 30), 0.001) << "the full bucket on top";
}

TEST(Meter, KeepsToWhatWasAgreedBeyondIt)
{
	Meter m(Agreed());
	Counts c = Offer(m, 162500000, 30);

	/* both buckets on top, but for what flowed into the full second one while the first was drained */
	EXPECT_NEAR(150.020, Mbps(c.green + c.yellow, 30), 0.001);
	EXPECT_NEAR(7.68, 100.0 * double(c.red) / double(c.frames), 0.01);
}

TEST(Meter, HidesALowerCommittedRateBehindTheExcess)
{
	fg_meter_config config = Agreed();

	config.cir_bps = 90 * M;
	Meter m(config);
	Counts c = Offer(m, 100 * M, 30);
	EXPECT_EQ(0u, c.red);
	EXPECT_NEAR(9.98, 100.0 * double(c.yellow) / double(c.frames), 0.01);

	config.eir_bps = config.ebs = 0;
	Meter alone(config);
	c = Offer(alone, 100 * M, 30);
	EXPECT_NEAR(9.98, 100.0 * double(c.red) / double(c.frames), 0.01);
}

/* n = CBS rho / (rho - CIR) / F frames of a burst at the line's rate find tokens in a full bucket */
TEST(Meter, PassesOfABurstWhatTheBucketHoldsAndWhatFlowsInMeanwhile)
{
	struct {
		uint64_t cbs, cir, line;
		uint32_t octets;
		unsigned green;
	} cases[] = {
		{64000, 100 * M, 1 * G, 512, 139},
		{64000, 100 * M, 10 * G, 512, 126},
		{24288, 100 * M, 1 * G, 1518, 17},
	};

	for (const auto &c : cases) {
		Meter m({FG_METER_MEF, false, false, c.cir, 0, c.cbs, 0});
		unsigned green = 0;

		while (m.At(green * uint64_t(8 * (c.octets + 20)) * (ps / c.line), c.octets) == FG_GREEN)
			green++;
		EXPECT_EQ(c.green, green) << c.cbs << " at " << c.line;
	}
}

TEST(Meter, LosesNoTokenToRounding)
{
	/* a third of a bit per picosecond, and frames one token too early and just in time */
	Meter m({FG_METER_MEF, false, false, 333333333, 0, 64, 0});

	EXPECT_EQ(FG_GREEN, m.At(0, 64));
	uint64_t needed = (uint64_t(512) * ps + 333333332) / 333333333;
	EXPECT_EQ(FG_RED, m.At(needed - 1, 64));
	EXPECT_EQ(FG_GREEN, m.At(needed, 64));
	/* and after a day */
	EXPECT_EQ(FG_GREEN, m.At(86400 * ps, 64));
	EXPECT_EQ(FG_RED, m.At(86400 * ps + needed - 1, 64));
	EXPECT_EQ(FG_GREEN, m.At(86400 * ps + needed, 64));
}

TEST(Meter, TakesTheLastToken)
{
	Meter m({FG_METER_MEF, false, false, 0, 0, 1000, 64});

	EXPECT_EQ(FG_GREEN, m.At(0, 1000));
	EXPECT_EQ(FG_YELLOW, m.At(0, 64));
	EXPECT_EQ(FG_RED, m.At(0, 1));
}

TEST(Meter, SeesColoursOnlyWhenAware)
{
	fg_meter_config config = Agreed();
	Meter blind(config);

	EXPECT_EQ(FG_GREEN, blind.At(0, 512, FG_YELLOW));
	EXPECT_EQ(FG_GREEN, blind.At(0, 512, FG_RED));
	config.aware = true;
	Meter aware(config);
	EXPECT_EQ(FG_GREEN, aware.At(0, 512, FG_GREEN));
	EXPECT_EQ(FG_YELLOW, aware.At(0, 512, FG_YELLOW));
	EXPECT_EQ(FG_RED, aware.At(0, 512, FG_RED));
	/* yellow frames take no committed tokens: CIR of green beside too much yellow is untouched */
	for (uint64_t i = 1; i < 100000; i++) {
		ASSERT_EQ(FG_GREEN, aware.At(i * 40960000, 512, FG_GREEN));
		aware.At(i * 40960000, 512, FG_YELLOW);
		aware.At(i * 40960000, 512, FG_YELLOW);
	}
}

TEST(Meter, GivesTheOverflowToTheExcessWhenCoupled)
{
	for (bool coupling : {false, true}) {
		Meter m({FG_METER_MEF, true, coupling, 8 * M, 0, 1000, 1000});

		EXPECT_EQ(FG_YELLOW, m.At(0, 1000, FG_YELLOW));
		/* 500 us later 500 bytes have flowed into a full bucket */
		EXPECT_EQ(FG_RED, m.At(ps / 2000, 501, FG_YELLOW));
		EXPECT_EQ(coupling ? FG_YELLOW : FG_RED, m.At(ps / 2000, 500, FG_YELLOW));
		EXPECT_EQ(FG_GREEN, m.At(ps / 2000, 1000, FG_GREEN));
	}
}

TEST(Meter, AfterRfc2698TakesGreenFromBoth)
{
	Meter m({FG_METER_RFC2698, true, false, 8 * M, 16 * M, 1000, 2000});

	EXPECT_EQ(FG_GREEN, m.At(0, 1000));
	EXPECT_EQ(FG_YELLOW, m.At(0, 1000)) << "no committed token is left";
	EXPECT_EQ(FG_RED, m.At(0, 1)) << "and the peak is reached";
	EXPECT_EQ(FG_YELLOW, m.At(ps / 1000, 1000, FG_YELLOW));
	EXPECT_EQ(FG_GREEN, m.At(ps / 1000, 1000)) << "yellow took no committed token";
	EXPECT_EQ(FG_RED, m.At(ps / 1000, 1));
}

TEST(Meter, AfterRfc2698YellowCanStarveGreenAndAfterMefNot)
{
	for (fg_meter_kind kind : {FG_METER_MEF, FG_METER_RFC2698}) {
		uint64_t second = kind == FG_METER_MEF ? 50 * M : 150 * M;
		Meter m({kind, true, false, 100 * M, second, 64000, 64000});
		unsigned lost = 0;

		for (uint64_t i = 0; i < 100000; i++) {
			m.At(i * 40960000, 512, FG_YELLOW);
			m.At(i * 40960000, 512, FG_YELLOW);
			lost += m.At(i * 40960000, 512, FG_GREEN) == FG_RED;
		}
		EXPECT_EQ(kind == FG_METER_RFC2698, lost > 0) << lost;
	}
}

TEST(Meter, TimeDoesNotRunBackwards)
{
	Meter m({FG_METER_MEF, false, false, 8 * M, 0, 1000, 0});

	EXPECT_EQ(FG_GREEN, m.At(ps, 1000));
	EXPECT_EQ(FG_RED, m.At(0, 1));
	EXPECT_EQ(FG_RED, m.At(ps, 1));
	EXPECT_EQ(FG_GREEN, m.At(ps + ps / 1000, 1000));
}

TEST(Meter, SaysWhenAFrameWouldPass)
{
	Meter m({FG_METER_MEF, false, false, 333333333, 0, 1000, 0});
	uint64_t at;

	EXPECT_EQ(7u, fg_meter_when(&m.meter, 7, 1000)) << "the bucket is full";
	EXPECT_EQ(UINT64_MAX, fg_meter_when(&m.meter, 7, 1001)) << "it never holds that many";
	m.At(10, 900);
	at = fg_meter_when(&m.meter, 10, 300);
	EXPECT_EQ(FG_RED, m.At(at - 1, 300));
	EXPECT_EQ(at, fg_meter_when(&m.meter, 0, 300));
	EXPECT_EQ(at + 5, fg_meter_when(&m.meter, at + 5, 300));
	EXPECT_EQ(FG_GREEN, m.At(at, 300));
	Meter closed({FG_METER_MEF, false, false, 0, 0, 1000, 0});
	EXPECT_EQ(FG_GREEN, closed.At(0, 600));
	EXPECT_EQ(UINT64_MAX, fg_meter_when(&closed.meter, 0, 600)) << "nothing flows in";
}

TEST(Meter, StartsAgainWithFullBuckets)
{
	Meter m({FG_METER_MEF, false, false, 8 * M, 0, 1000, 0});

	EXPECT_EQ(FG_GREEN, m.At(5 * ps, 1000));
	fg_meter_reset(&m.meter);
	EXPECT_EQ(FG_GREEN, m.At(0, 1000));
	EXPECT_EQ(FG_RED, m.At(0, 1000));
}

TEST(Meter, RefusesWhatItCannotCount)
{
	fg_error err = {};
	fg_meter m;
	fg_meter_config config = Agreed();

	config.cir_bps = 1000000 * G + 1;
	EXPECT_EQ(-ERANGE, fg_meter_init(&m, &config, &err));
	EXPECT_STREQ("cir", err.where);
	config = Agreed();
	config.ebs = (1ULL << 40) + 1;
	EXPECT_EQ(-ERANGE, fg_meter_init(&m, &config, &err));
	EXPECT_STREQ("ebs", err.where);
	config = Agreed();
	config.kind = FG_METER_RFC2698;
	EXPECT_EQ(-ERANGE, fg_meter_init(&m, &config, &err));
	EXPECT_STREQ("eir", err.where);
	config.eir_bps = config.cir_bps; /* RFC 2698, 3: equal to or greater than the CIR */
	EXPECT_EQ(0, fg_meter_init(&m, &config, &err));
}

} // namespace

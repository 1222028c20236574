/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine knows of the processor's time, and of lcores that come too late for it. */
#include <unistd.h>

#include "engine_on_rings.h"
#include "fg_tsc.h"

TEST(EngineClock, KeepsTheTimeOfTheMachine)
{
	const uint64_t apart =
		100000; /* ns: what EAL takes for the frequency is off by more after this time */
	Rings b;
	fg_tsc begin, end;
	uint64_t now;

	b.engine.Run({}, {0, 0, 1, 0}, any_lag); /* a trial takes what is known of the counter by then */
	usleep(300000);
	fg_tsc_measure(&begin);
	now = fg_engine_now_ns(b.engine.Get());
	fg_tsc_measure(&end);
	EXPECT_GE(now + apart, begin.clock_ns);
	EXPECT_LE(now, end.clock_ns + apart);
	EXPECT_NEAR(1, double(fg_engine_hz(b.engine.Get())) / end.hz,
		    (begin.error_ppm + end.error_ppm) * 1e-6);
}

TEST(EngineClock, TellsWhichLcoreBeganAfterTheTraffic)
{
	Rings b;
	Template frame = TestFrame(64);
	fg_lcore_result r;

	b.engine.Run({{0, 0, frame, {{10000, 100}}}}, {1000, 10, 100, 0}, any_lag);
	fg_engine_lcore_result(b.engine.Get(), 0, &r);
	EXPECT_EQ(0u, r.late_ns);
	ASSERT_EQ(0, b.engine.Prepare({{0, 0, frame, {{10000, 100}}}}, {0, 1000, 100, 0}, any_lag));
	usleep(500000); /* it was to begin as soon as the lcores would take it up */
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	fg_engine_lcore_result(b.engine.Get(), 0, &r);
	EXPECT_GT(r.late_ns, 0u);
}

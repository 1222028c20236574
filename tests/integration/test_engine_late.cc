/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender that is held up: which frames it sends too late, and too close together, and which it does not
 * send. The hold-up is a task beside it that keeps the lcore busy once. A busy machine can only hold it up
 * for longer, so what is asserted is what it must at least have counted.
 */
#include <rte_cycles.h>

#include "engine_on_rings.h"

namespace
{

const unsigned held_up_ms = 20, series_ms = 5;

/* keeps the lcore once, in mid-trial */
struct HoldUp : fg_task {
	HoldUp() : fg_task{hold_up, nullptr}
	{
	}
	static uint64_t
	hold_up(fg_task *task, uint64_t now)
	{
		auto *h = static_cast<HoldUp *>(task);

		if (!h->done && now >= h->at) {
			h->done = true;
			while (rte_rdtsc() < now + h->ticks)
				;
		}
		return UINT64_MAX;
	}
	uint64_t at = UINT64_MAX, ticks = 0;
	bool done = false;
};

struct Sent {
	uint64_t frames = 0, late = 0, off_schedule = 0, worst_lag_ns = 0, intervals = 0;
};

/*
 * What became of the streams of one port, whose sender was held up after so long, and for so long; below 0:
 * before the start.
 */
Sent
send_held_up(const std::vector<Stream> &streams, uint64_t max_lag_ns, int after_ms = 5 * held_up_ms,
	     int for_ms = held_up_ms)
{
	Rings b;
	HoldUp hold_up;
	fg_trial_task task = {&hold_up, 0, false};
	fg_clock clock;
	uint64_t start_ns = 0;
	fg_lcore_result lcore;
	Sent sent;

	EXPECT_EQ(0, b.engine.Prepare(streams, moment, max_lag_ns, &start_ns, [&](fg_trial_config &c) {
		c.tasks = 1;
		c.task = &task;
		c.series_ns = series_ms * 1000000;
	}));
	fg_engine_clock(b.engine.Get(), &clock);
	hold_up.ticks = clock.hz / 1000 * uint64_t(for_ms);
	hold_up.at = uint64_t(double(start_ns - clock.base_ns) * 1e-9 * double(clock.hz)) +
		     uint64_t(int64_t(clock.hz / 1000) * after_ms);
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	EXPECT_TRUE(hold_up.done);
	fg_engine_lcore_result(b.engine.Get(), 0, &lcore);
	if (after_ms >= 0) {
		EXPECT_GE(lcore.stalled_ns,
			  std::min<uint64_t>(for_ms, moment.traffic_ms - uint64_t(after_ms)) * 1000000);
	}
	EXPECT_LE(lcore.stalled_ns, moment.traffic_ms * 1000000 + 1000);
	for (unsigned i = 0; i < streams.size(); i++) {
		fg_stream_result r = b.engine.Result(i);

		ExpectConsistent(r);
		EXPECT_EQ(r.intended, r.tx + r.late + r.unsent);
		sent.frames += r.tx;
		sent.late += r.late;
		sent.off_schedule += r.off_schedule;
		sent.worst_lag_ns = std::max(sent.worst_lag_ns, r.worst_lag_ns);
		sent.intervals = std::max(sent.intervals, r.series_intervals);
	}
	return sent;
}

const double fps = 20000; /* of the port: two frames in 0.1 ms */
const uint64_t total = 6000, due_meanwhile = uint64_t(fps) * held_up_ms / 1000;

/* all but those that were due in the last tenth of a millisecond, and one for each edge */
void
expect_off_schedule(const Sent &sent)
{
	EXPECT_EQ(total, sent.frames);
	EXPECT_EQ(0u, sent.late);
	EXPECT_GE(sent.off_schedule, due_meanwhile - 2 - 2);
	EXPECT_LE(sent.off_schedule, total);
	EXPECT_GE(sent.worst_lag_ns, (held_up_ms - 1) * 1000000u);
}

/* streams of one rate, whose frames depart one after the other */
std::vector<Stream>
streams_of(const Template &frame, unsigned n)
{
	std::vector<Stream> list;

	for (unsigned i = 0; i < n; i++) {
		list.push_back({0, 0, frame, {{fps / n, total / n}}});
		list.back().phase = double(i) / n;
	}
	return list;
}

} // namespace

TEST(EngineLate, CountsWhatLeavesOffSchedule)
{
	Template frame = TestFrame(64);

	expect_off_schedule(send_held_up(streams_of(frame, 1), any_lag));
}

/* from before the start until after the end: of that, the tester was away for the traffic's time */
TEST(EngineLate, CountsNoStallOutsideOfTheTraffic)
{
	Template frame = TestFrame(64);

	send_held_up(streams_of(frame, 1), any_lag, -10, int(moment.traffic_ms) + 20);
}

TEST(EngineLate, CountsItWhereStreamsTakeTurns)
{
	Template frame = TestFrame(64);

	expect_off_schedule(send_held_up(streams_of(frame, 10), any_lag));
}

TEST(EngineLate, CountsItWhereEachStreamGoesItsOwnWay)
{
	Template frame = TestFrame(64), other = TestFrame(128);
	std::vector<Stream> streams = streams_of(frame, 9), last = streams_of(other, 1);

	for (Stream &s : streams)
		s.loads = {{fps / 10, total / 10}};
	last[0].loads = {{fps / 10, total / 10}};
	streams.push_back(last[0]);
	expect_off_schedule(send_held_up(streams, any_lag));
}

TEST(EngineLate, DropsWhatTheLoadForbidsToMakeUpFor)
{
	Template frame = TestFrame(64);
	fg_load load = {fps, total};

	load.max_lag_ns = 1000000;
	for (uint64_t trial : {any_lag, uint64_t(2000000)}) {
		Sent sent = send_held_up({{0, 0, frame, {load}}}, trial);

		EXPECT_GE(sent.late, due_meanwhile - uint64_t(fps) / 1000 - 2);
		EXPECT_EQ(total, sent.frames + sent.late);
		EXPECT_LE(sent.worst_lag_ns, 1001000u);
	}
	/* the trial's is the upper bound */
	EXPECT_GE(send_held_up({{0, 0, frame, {load}}}, 100000).late, due_meanwhile - 4);
}

/*
 * The series has one interval more than the trial, for frames that leave late; these leave later still. Held
 * up from mid-trial: a machine that keeps the lcore at the trial's end must not have it send all before.
 */
TEST(EngineLate, CountsNoIntervalBehindTheSpareOne)
{
	Template frame = TestFrame(64);
	const unsigned trial_ms = 1000 * total / unsigned(fps);
	std::vector<Stream> streams = streams_of(frame, 1);

	streams[0].measure = FG_MEASURE_SERIES;
	Sent sent = send_held_up(streams, any_lag, trial_ms / 2, trial_ms / 2 + 3 * series_ms);

	EXPECT_GE(sent.worst_lag_ns, 2 * series_ms * 1000000u);
	EXPECT_EQ(trial_ms / series_ms + 1, sent.intervals);
}

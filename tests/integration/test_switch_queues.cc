/* SPDX-License-Identifier: BSD-3-Clause */
/* Where frames wait in the reference switch, and which of them are lost when there is no place left. */
#include "switch_under_test.h"

namespace
{

const uint64_t slot = 672 * ns;

/*
 * Every port sends to all others in turn, a frame a slot, as RFC 2889, 5.1 has it; port i begins offset[i]
 * slots late. What has come out is left to the counters.
 */
void
mesh(Switch &s, unsigned slots, const std::vector<uint64_t> &offset)
{
	unsigned n = s.ports;

	for (unsigned k = 0; k < slots; k++) {
		for (unsigned i = 0; i < n; i++)
			s.Cross(i, (i + 1 + k % (n - 1)) % n, k, us + (k + offset[i]) * slot);
		for (unsigned i = 0; i < n; i++)
			s.Receive(i, (k > 40 ? k - 40 : 0) * slot);
	}
	for (unsigned i = 0; i < n; i++)
		s.Receive(i);
}

uint64_t
sum(const Switch &s, uint64_t fg_switch_counters::*counter)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < s.ports; i++)
		all += s.Counters(i).*counter;
	return all;
}

/* a frame from each port but the last, all to the last, at one time, so often */
void
incast(Switch &s, unsigned frames)
{
	for (unsigned k = 0; k < frames; k++)
		for (unsigned i = 0; i + 1 < s.ports; i++)
			s.Cross(i, s.ports - 1, k, us + k * slot);
}

} // namespace

TEST(SwitchQueues, AMeshInStepNeedsNoBuffer)
{
	Switch s(SwitchOf(4, 1e9, 1));

	s.Learn();
	mesh(s, 3000, {0, 0, 0, 0});
	EXPECT_EQ(0u, sum(s, &fg_switch_counters::queue_drops));
	EXPECT_EQ(12000u, sum(s, &fg_switch_counters::forwarded));
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(0u, s.Counters(i).largest_queue);
}

/* an egress gets at most n - 1 frames in a slot, and n - 1 in n - 1 of them: n - 2 wait at most */
TEST(SwitchQueues, AMeshOutOfStepNeedsTwoPlacesLessThanPorts)
{
	Switch enough(SwitchOf(4, 1e9, 2)), less(SwitchOf(4, 1e9, 1));

	enough.Learn();
	mesh(enough, 3000, {0, 1, 2, 0});
	EXPECT_EQ(0u, sum(enough, &fg_switch_counters::queue_drops));
	less.Learn();
	mesh(less, 3000, {0, 1, 2, 0});
	EXPECT_LT(0u, sum(less, &fg_switch_counters::queue_drops)) << "three frames meet";
}

TEST(SwitchQueues, EachEgressHasItsBuffer)
{
	Switch s(SwitchOf(5, 1e9, 10));

	s.Learn();
	incast(s, 10); /* 40 frames in the time of 10: each slot one leaves */
	/* one in service and 10 waiting; a slot later there is a place for one more */
	EXPECT_EQ(20u, s.Receive(4).size());
	EXPECT_EQ(20u, s.Counters(4).queue_drops);
	EXPECT_EQ(10u, s.Counters(4).largest_queue);
}

/* 500 bytes leave, 600 wait; when they leave, 500 wait, and the next 600 would be 1100 */
TEST(SwitchQueues, OctetsCountWhereTheBufferHasThem)
{
	fg_switch_config config = SwitchOf(3, 1e9, 1000);

	config.buffer_octets = true;
	Switch s(config);
	s.Learn();
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 2; k++)
			s.Cross(i, 2, 10 * i + k, us, i == 0 ? 600 : 500);
	EXPECT_EQ(3u, s.Receive(2).size());
	EXPECT_EQ(1u, s.Counters(2).queue_drops);
}

TEST(SwitchQueues, ASharedBufferGoesToWhoNeedsIt)
{
	fg_switch_config config = SwitchOf(5, 1e9, 20);

	config.queues = FG_SWITCH_SHARED;
	config.alpha = 0;
	Switch alone(config);
	alone.Learn();
	incast(alone, 10);
	EXPECT_EQ(30u, alone.Receive(4).size()) << "10 leave, 20 wait";
	EXPECT_EQ(20u, alone.Counters(4).largest_queue);

	config.alpha = 1; /* own < 20 - own: 10 */
	Switch half(config);
	half.Learn();
	incast(half, 10);
	EXPECT_EQ(20u, half.Receive(4).size());
	EXPECT_EQ(10u, half.Counters(4).largest_queue);

	config.alpha = 0;
	config.reserve = 3; /* of each of the four others */
	Switch reserved(config);
	reserved.Learn();
	incast(reserved, 10);
	EXPECT_EQ(18u, reserved.Receive(4).size());
	EXPECT_EQ(8u, reserved.Counters(4).largest_queue);
}

TEST(SwitchQueues, TheEngineIsThatOfAllPorts)
{
	fg_switch_config config = SwitchOf(4, 1e9, 16);

	config.capacity_fps = 3e6;
	Switch s(config);
	s.Learn();
	mesh(s, 3000, {0, 0, 0, 0}); /* 12000 frames in 3000 slots, in which it serves 6048 */
	uint64_t forwarded = sum(s, &fg_switch_counters::forwarded);
	EXPECT_NEAR(3000 * 672e-9 * 3e6 + 16, double(forwarded), 2);
	EXPECT_EQ(12000 - forwarded, sum(s, &fg_switch_counters::engine_drops));
	EXPECT_EQ(0u, sum(s, &fg_switch_counters::queue_drops));
}

/* (1 - o w) / (s - w) frames a second, where each lost one takes w of the engine's time */
TEST(SwitchQueues, WhatTheEngineDropsCostsItsTime)
{
	const struct {
		double offered, forwarded;
	} cases[] = {{1.0e6, 843750}, {1.2e6, 731250}, {1e9 / 672, 569196}};

	for (auto c : cases) {
		fg_switch_config config = SwitchOf(2, 1e9, 16);
		const unsigned frames = 30000;

		config.capacity_fps = 900e3;
		config.drop_cost_ns = 400;
		Switch s(config);
		s.Learn();
		for (unsigned k = 0; k < frames; k++) {
			s.Cross(0, 1, k, uint64_t(k * 1e12 / c.offered));
			s.Receive(1, uint64_t(k * 1e12 / c.offered));
		}
		s.Receive(1);
		EXPECT_NEAR(c.forwarded * frames / c.offered, double(s.Counters(1).forwarded), 40)
			<< c.offered;
	}
}

TEST(SwitchQueues, CopiesLeaveTheEngineOneByOne)
{
	fg_switch_config config = SwitchOf(4);

	config.capacity_fps = 1e6;
	Switch by_egress(config);
	by_egress.Launch(0, 1, FrameTo(everyone, Station(0)), us);
	for (unsigned k = 1; k < 4; k++)
		EXPECT_EQ(us + 512 * ns + (k - 1) * us, by_egress.Receive(k).at(0).time);

	config.replication = FG_SWITCH_BY_INGRESS;
	Switch by_ingress(config);
	by_ingress.Launch(0, 1, FrameTo(everyone, Station(0)), us);
	by_ingress.Launch(0, 2, FrameTo(everyone, Station(0)), us);
	for (unsigned k = 1; k < 4; k++) {
		std::vector<Arrival> got = by_ingress.Receive(k);

		EXPECT_EQ(us + 512 * ns, got.at(0).time);
		EXPECT_EQ(2 * us + 512 * ns, got.at(1).time) << "the engine takes a microsecond for each";
	}
}

TEST(SwitchQueues, ForwardPressureShortensTheGap)
{
	fg_switch_config config = SwitchOf(3);

	config.gap = 11;
	Switch s(config);
	s.Learn();
	incast(s, 100);
	std::vector<Arrival> got = s.Receive(2);
	ASSERT_EQ(200u, got.size());
	for (size_t i = 1; i < got.size(); i++)
		EXPECT_EQ(664 * ns, got[i].time - got[i - 1].time) << "83 octets";
}

TEST(SwitchQueues, AFastClockIsNoPressure)
{
	fg_switch_config config = SwitchOf(3);

	config.ppm = 100;
	Switch s(config);
	s.Learn();
	incast(s, 100);
	std::vector<Arrival> got = s.Receive(2);
	EXPECT_NEAR(199 * 672e3 / 1.0001, double(got.back().time - got.front().time), 2);
}

TEST(SwitchQueues, TheSameEveryTime)
{
	std::vector<uint64_t> times[2];

	for (std::vector<uint64_t> &list : times) {
		fg_switch_config config = SwitchOf(6, 1e9, 3);

		config.capacity_fps = 5e6;
		Switch s(config);
		s.Learn();
		incast(s, 200);
		for (const Arrival &a : s.Receive(5))
			list.push_back(a.time);
	}
	EXPECT_LT(100u, times[0].size());
	EXPECT_EQ(times[0], times[1]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference switch: to which port a frame goes, what is lost on the way in, when the rest comes out. */
#include <algorithm>
#include <random>

#include "switch_under_test.h"

using namespace frames;

namespace
{

/* a frame of 64 bytes at 1 Gbit/s: on the line, and from its first bit to its last */
const uint64_t slot = 672 * ns, stored = 512 * ns;

} // namespace

TEST(Switch, SendsToThePortThatOwnsTheAddress)
{
	Switch s(SwitchOf(4));

	s.Learn();
	for (unsigned from = 0; from < 4; from++)
		for (unsigned to = 0; to < 4; to++)
			s.Cross(from, to, 4 * from + to, (1 + 4 * from + to) * us);
	for (unsigned to = 0; to < 4; to++) {
		std::vector<Arrival> got = s.Receive(to);

		ASSERT_EQ(3u, got.size()) << "from every port but its own";
		for (const Arrival &a : got) {
			EXPECT_EQ(to, a.number % 4);
			EXPECT_EQ((1 + a.number) * us + stored, a.time);
		}
		EXPECT_EQ(1u, s.Counters(to).filtered);
		EXPECT_EQ(4u, s.Counters(to).received);
		EXPECT_EQ(3u, s.Counters(to).forwarded);
		EXPECT_EQ(0u, s.Counters(to).flooded + s.Counters(to).flood_copies);
	}
}

TEST(Switch, FloodsWhatItDoesNotKnow)
{
	Switch s(SwitchOf(5));

	s.Cross(2, 77, 9, us);
	s.Launch(2, 7, FrameTo(everyone, Station(2)), 10 * us);
	for (unsigned i = 0; i < 5; i++) {
		std::vector<Arrival> got = s.Receive(i);

		ASSERT_EQ(i == 2 ? 0u : 2u, got.size());
		EXPECT_EQ(i == 2 ? 0u : 2u, s.Counters(i).flood_copies);
		for (const Arrival &a : got)
			EXPECT_EQ((a.number == 9 ? us : 10 * us) + stored, a.time);
	}
	EXPECT_EQ(2u, s.Counters(2).flooded);
}

TEST(Switch, IsAHubWithoutATable)
{
	fg_switch_config config = SwitchOf(3);

	config.table.size = 0;
	Switch s(config);
	s.Learn();
	s.Cross(0, 1, 1, us);
	EXPECT_EQ(1u, s.Receive(1).size());
	EXPECT_EQ(1u, s.Receive(2).size());
}

TEST(Switch, TakesFramesInTheOrderOfTheirArrivalWhoeverIsPolledFirst)
{
	Switch s(SwitchOf(4));

	s.Learn();
	s.Cross(0, 3, 0, 3 * us);
	s.Cross(1, 3, 1, us);
	s.Cross(2, 3, 2, us); /* at the same time: the lower port first */
	EXPECT_EQ(us + stored, s.Port(0)->next_arrival(s.Port(0))) << "there may be something at any port";
	EXPECT_TRUE(s.Receive(0, 3 * us).empty());
	std::vector<Arrival> got = s.Receive(3);
	ASSERT_EQ(3u, got.size());
	EXPECT_EQ(1u, got[0].number);
	EXPECT_EQ(us + stored, got[0].time);
	EXPECT_EQ(2u, got[1].number);
	EXPECT_EQ(us + stored + slot, got[1].time);
	EXPECT_EQ(0u, got[2].number);
	EXPECT_EQ(3 * us + stored, got[2].time);
}

TEST(Switch, TakesFramesOfAnyNumberOfPortsInTheOrderOfTheirArrival)
{
	for (unsigned n : {2, 3, 5, 7, 16, 33, 64}) {
		Switch s(SwitchOf(n));
		std::minstd_rand random(n);
		std::vector<std::pair<uint64_t, unsigned>> expected; /* its slot, its port */
		std::vector<Arrival> got;

		s.Learn();
		for (unsigned round = 0; round < 8; round++) {
			for (unsigned i = 0; i + 1 < n; i++) {
				uint64_t at = 4 * round + random() % 4;

				if (random() % 4 == 0) /* some lines are idle */
					continue;
				expected.emplace_back(at, i);
				s.Cross(i, n - 1, i, us + at * slot);
			}
			for (const Arrival &a : s.Receive(n - 1, us + 4 * round * slot))
				got.push_back(a);
		}
		for (const Arrival &a : s.Receive(n - 1))
			got.push_back(a);
		std::sort(expected.begin(), expected.end());
		ASSERT_EQ(expected.size(), got.size()) << n << " ports";
		for (size_t i = 0; i < got.size(); i++)
			ASSERT_EQ(expected[i].second, got[i].number) << n << " ports, frame " << i;
	}
}

TEST(Switch, HasRatesOfItsPorts)
{
	fg_switch_config config = SwitchOf(3);

	config.rate_bps[2] = 1e8;
	config.latency_ns = 5000;
	Switch s(config);
	s.Learn();
	s.Cross(0, 2, 1, us);
	s.Cross(0, 2, 2, us);
	s.Cross(2, 0, 3, us);
	std::vector<Arrival> slow = s.Receive(2), fast = s.Receive(0);
	ASSERT_EQ(2u, slow.size());
	EXPECT_EQ(us + stored + 5 * us, slow[0].time);
	EXPECT_EQ(us + stored + 5 * us + 10 * slot, slow[1].time);
	ASSERT_EQ(1u, fast.size());
	EXPECT_EQ(us + 10 * stored + 5 * us, fast[0].time);
	EXPECT_EQ(100000000u, s.Port(2)->caps.line_rate_bps);
}

TEST(Switch, CutsThroughWhereTheLineOutIsNotFaster)
{
	fg_switch_config config = SwitchOf(3);

	config.cut_through = true;
	config.rate_bps[2] = 1e8;
	Switch s(config);
	s.Learn();
	s.Cross(0, 1, 1, us, 1518);
	s.Cross(2, 1, 2, 20 * us);
	std::vector<Arrival> got = s.Receive(1);
	ASSERT_EQ(2u, got.size());
	EXPECT_EQ(us + 14 * 8 * ns, got[0].time) << "after the header";
	EXPECT_EQ(20 * us + 64 * 80 * ns, got[1].time) << "a slower port stores";
}

TEST(Switch, LosesWhatIsNoFrame)
{
	fg_switch_config config = SwitchOf(2);

	config.max_frame = 1000;
	Switch s(config);
	Bytes tagged = FrameTo(Station(1), Station(0), 1004);
	Bytes pause = FrameTo({0x01, 0x80, 0xc2, 0, 0, 0x01}, Station(0));
	Bytes bridges = FrameTo({0x01, 0x80, 0xc2, 0, 0, 0x10}, Station(0));

	s.Learn();
	s.Cross(0, 1, 1, us, 1001);
	s.Cross(0, 1, 2, 20 * us, 1000);
	s.Launch(0, 3, tagged, 40 * us);
	tagged[12] = 0x81;
	tagged[13] = 0;
	s.Launch(0, 4, tagged, 60 * us);
	s.Launch(0, 5, pause, 80 * us);
	s.Launch(0, 6, bridges, 100 * us);
	std::vector<Arrival> got = s.Receive(1);
	ASSERT_EQ(3u, got.size());
	EXPECT_EQ(2u, got[0].number);
	EXPECT_EQ(4u, got[1].number) << "a tag comes on top";
	EXPECT_EQ(6u, got[2].number) << "01-80-C2-00-00-10 is forwarded like any group";
	EXPECT_EQ(2u, s.Counters(0).oversized);
	EXPECT_EQ(1u, s.Counters(0).consumed);
}

/* also where its frames bear no signature. Replies and reports of memberships are no part of a load */
TEST(Switch, ReportsWhenEachFrameOfALoadBeganToLeave)
{
	fg_switch_config config = SwitchOf(2);
	std::vector<uint64_t> times;

	config.flow_control = FG_SWITCH_PAUSE;
	config.xoff = 100000;
	config.pause_quanta = 65535;
	Switch s(config);
	s.Learn();
	s.Port(0)->left_arg = &times;
	s.Port(0)->left = [](void *arg, const rte_mbuf *, uint64_t time) {
		static_cast<std::vector<uint64_t> *>(arg)->push_back(time);
	};
	s.Launch(0, 0, FrameTo(Station(1), Station(0)), 5 * us, 0, s.Port(0)->caps.test_flag);
	s.Receive(1, 20 * us);
	s.Send(0, FrameTo(Station(1), Station(0)), 30 * us);
	s.Cross(0, 1, 1, 40 * us);
	EXPECT_EQ(2u, s.Receive(1).size());
	EXPECT_EQ(std::vector<uint64_t>{5 * us}, times);
}

TEST(Switch, LosesAllInAnOutage)
{
	Switch s(SwitchOf(2));

	s.Learn();
	fg_switch_outage(s.Get(), 10000, 20000);
	for (unsigned i = 0; i < 30; i++)
		s.Cross(0, 1, i, i * us);
	EXPECT_EQ(20u, s.Receive(1).size());
	EXPECT_EQ(10u, s.Counters(0).outage);
	fg_switch_reset(s.Get());
	s.Cross(0, 1, 1, 15 * us);
	EXPECT_EQ(1u, s.Receive(1).size()) << "forgotten with the next trial";
}

/* what would go back where it came from is for nobody, by way of a fail-over, too */
TEST(Switch, SendsNoFrameBackWhereItFailsOverTo)
{
	fg_switch_config config = SwitchOf(3);

	config.failover.on = true;
	config.failover.preferred = 1;
	config.failover.next_best = 2;
	Switch sw(config);
	sw.Learn();
	fg_switch_link(sw.Get(), 1000, 1000000000);
	sw.Cross(0, 1, 1, 5 * us);
	EXPECT_EQ(1u, sw.Receive(2).size());
	sw.Cross(2, 1, 2, 20 * us);
	EXPECT_EQ(0u, sw.Receive(2).size());
	EXPECT_EQ(1u, sw.Counters(2).filtered);
}

/* vectors of addresses behind one port, as many as the table is told to keep */
TEST(Switch, HasBucketsThatOverflow)
{
	fg_switch_config config = SwitchOf(2);
	unsigned kept = 0, first = 0;

	config.table.buckets = 2048;
	config.table.ways = 4;
	Switch s(config);
	for (unsigned i = 1; i <= 8192; i++) {
		uint64_t before = s.Counters(0).unlearned;
		unsigned n = i - 1 + (0x10u << 16); /* 02:00:00:10:00:00 and on */

		s.Launch(0, 1, FrameTo(everyone, Station(n)), i * us);
		s.Receive(1);
		kept += s.Counters(0).unlearned == before;
		if (s.Counters(0).unlearned > before && first == 0)
			first = i;
	}
	EXPECT_EQ(7058u, first);
	EXPECT_EQ(7593u, kept);
}

TEST(Switch, HasAQueueOfAddressesToLearn)
{
	fg_switch_config config = SwitchOf(2);

	config.table.learning_rate = 2000;
	config.table.learning_queue = 256;
	for (unsigned rate : {2064u, 2065u}) {
		Switch s(config);

		/* 2000 / (1 - 256 / 8190) is 2064.5 addresses a second */
		for (unsigned i = 0; i < 8191; i++) {
			s.Launch(0, 1, FrameTo(everyone, Station(i)), i * (1000000 * us / rate));
			s.Receive(1);
		}
		EXPECT_EQ(rate == 2065, s.Counters(0).unlearned > 0) << rate;
	}
}

/* 64 bytes take 512 ns into the first switch, as long on the uplink of 1 Gb/s, and 20 us twice */
TEST(Switch, IsOneOfTwoWithAnUplink)
{
	fg_switch_config config = SwitchOf(4);

	config.uplink_bps = 1e9;
	config.second = 0xc;
	config.latency_ns = 20e3;
	Switch s(config);
	s.Learn();
	s.Cross(0, 1, 1, us);
	s.Cross(0, 2, 2, 10 * us);
	s.Cross(3, 0, 3, 10 * us);
	std::vector<Arrival> near = s.Receive(1), across = s.Receive(2), back = s.Receive(0);

	ASSERT_EQ(1u, near.size());
	EXPECT_EQ(us + stored + 20 * us, near[0].time);
	ASSERT_EQ(1u, across.size());
	EXPECT_EQ(10 * us + 2 * (stored + 20 * us), across[0].time);
	ASSERT_EQ(1u, back.size());
	EXPECT_EQ(10 * us + 2 * (stored + 20 * us), back[0].time);
	EXPECT_EQ(0u, s.Receive(3).size());
	EXPECT_EQ(1u, s.Counters(4).forwarded) << "the end at the first switch";
	EXPECT_EQ(1u, s.Counters(5).forwarded);
	for (unsigned i = 0; i < 6; i++)
		EXPECT_EQ(0u, s.Counters(i).flooded + s.Counters(i).queue_drops);
}

/* two ports of 1 Gb/s share 1 Gb/s: every other frame finds the two places taken in the end */
TEST(Switch, LosesWhatAnUplinkDoesNotCarry)
{
	const unsigned n = 100, slot = 672;
	fg_switch_config config = SwitchOf(4, 1e9, 2);

	config.uplink_bps = 1e9;
	config.second = 0xc;
	Switch s(config);
	s.Learn();
	for (unsigned k = 0; k < n; k++) {
		s.Cross(0, 2, 2 * k, us + k * slot * ns);
		s.Cross(1, 3, 2 * k + 1, us + k * slot * ns);
	}
	size_t arrived = s.Receive(2).size() + s.Receive(3).size();

	EXPECT_EQ(n + 2, arrived) << "one at a time, and those that wait";
	EXPECT_EQ(2 * n - arrived, s.Counters(4).queue_drops);
	EXPECT_EQ(0u, s.Counters(2).queue_drops + s.Counters(3).queue_drops);
}

TEST(Switch, RefusesWhatIsNoSwitch)
{
	fg_error err = {};
	fg_switch *device = nullptr;
	fg_switch_config one = SwitchOf(1), slow = SwitchOf(2, 10), ok = SwitchOf(2);

	EXPECT_EQ(-EINVAL, fg_switch_create(&one, 100, 1518, &device, &err));
	EXPECT_STREQ("reference_switch.ports", err.where);
	EXPECT_EQ(-EINVAL, fg_switch_create(&slow, 100, 1518, &device, &err));
	EXPECT_STREQ("reference_switch.rate", err.where);
	EXPECT_EQ(-EINVAL, fg_switch_create(&ok, 0, 1518, &device, &err));
	ok.uplink_bps = 1e9; /* and no port at the second switch */
	EXPECT_EQ(-EINVAL, fg_switch_create(&ok, 100, 1518, &device, &err));
	EXPECT_STREQ("reference_switch.uplink", err.where);
	ok.second = 1;
	ok.queues = FG_SWITCH_INPUT;
	EXPECT_EQ(-EINVAL, fg_switch_create(&ok, 100, 1518, &device, &err));
	EXPECT_EQ(nullptr, device);
	fg_switch_free(nullptr);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The relay: its input, its output and its counts. */
#include "relay_under_test.h"

TEST(Relay, PassesFramesOnAsTheyAre)
{
	Relay relay;
	std::vector<Gone> gone = relay.Run(numbered(1000, 200));

	ASSERT_EQ(up_to(1000), numbers(gone));
	EXPECT_EQ(numbered(1000, 200)[999], gone[999].bytes);
	EXPECT_EQ(204000u, relay.Counters().octets);
}

TEST(Relay, TriesAgainWhatThePortDoesNotTake)
{
	for (double delay : {0.0, 1.0}) {
		Relay relay;

		relay.to.takes = 5;
		relay.way.delay_ns = delay;
		EXPECT_EQ(up_to(1000), numbers(relay.Run(numbered(1000))));
		EXPECT_GT(relay.Counters().refused, 0u);
		EXPECT_EQ(1000u, relay.Counters().forwarded);
	}
}

TEST(Relay, LetsNoFrameLeaveTooEarly)
{
	Relay relay;
	const double delay = 3e6;

	relay.way.delay_ns = delay;
	std::vector<Gone> gone = relay.Run(numbered(1000));
	ASSERT_EQ(up_to(1000), numbers(gone));
	/* they came in bursts of 32 */
	ASSERT_EQ(32u, relay.from.received.size());
	for (size_t i = 0; i < gone.size(); i++)
		ASSERT_GE(gone[i].tsc, relay.from.received[i / 32] + ticks(delay));
}

/* as when the host has the lcore's processor elsewhere */
TEST(Relay, TellsHowLateFramesLeft)
{
	for (double delay : {0.0, 1e6}) {
		Relay relay;

		relay.way.delay_ns = delay;
		relay.from.stall_ms = 200;
		relay.Run(numbered(100));
		EXPECT_GE(relay.LateNs(), 199000000u) << "a frame may have come when the stall began";
	}
}

TEST(Relay, DoesToFramesWhatIsSaid)
{
	Relay relay;
	std::vector<uint32_t> expected;

	relay.way.impair.loss.every = 10;
	relay.way.impair.duplicate.every = 4; /* of those not lost */
	relay.way.impair.corrupt.every = 3;
	relay.way.impair.corrupt_skip = 4;
	std::vector<Gone> gone = relay.Run(numbered(1000));
	for (uint32_t i = 0, kept = 0; i < 1000; i++)
		if (i % 10 != 9) {
			expected.push_back(i);
			if (++kept % 4 == 0)
				expected.push_back(i);
		}
	EXPECT_EQ(expected, numbers(gone));
	const Counts c = relay.Counters();
	EXPECT_EQ(100u, c.lost_on_path);
	EXPECT_EQ(225u, c.duplicated);
	EXPECT_EQ(300u, c.corrupted);
	EXPECT_EQ(1125u, c.forwarded);
	/* every twelfth of those kept was corrupted and then copied */
	EXPECT_EQ(375, std::count_if(gone.begin(), gone.end(), [](const Gone &g) {
			  return Bytes(g.bytes.begin() + 4, g.bytes.end()) != Bytes(56, 0x5a);
		  }));
}

TEST(Relay, LetsFramesPassOneAnother)
{
	Relay relay;

	relay.way.impair.reorder.every = 100;
	relay.way.impair.reorder_places = 3;
	relay.way.impair.reorder_ns = 1e8;
	std::vector<uint32_t> got = numbers(relay.Run(numbered(950)));
	ASSERT_EQ(950u, got.size());
	for (uint32_t i = 99; i < 950; i += 100)
		ASSERT_EQ(i, got[i + 3]);
	EXPECT_EQ(9u, relay.Counters().reordered);
}

TEST(Relay, LosesWithAName)
{
	Relay relay, slow;

	slow.config.lcore[0] = 2;
	/* places for two, frame and copy, must be left when one comes */
	relay.way.delay_ns = 9e10;
	relay.way.room = 100;
	EXPECT_TRUE(relay.Run(numbered(1000), 99).empty());
	EXPECT_EQ(901u, relay.Counters().line_full);
	/* one frame passes at once, and of those behind it as many as the queue holds. The next leaves 12 s
	 * later, and the queue has room for a sixth after 6 s, so that no host is too slow to see this. */
	slow.way.rate_bps = 1e3;
	slow.way.bucket = 1518; /* one frame with its FCS, none of the next */
	slow.way.queue = 5 * 1518 + 1518 / 2;
	EXPECT_EQ(1u, slow.Run(numbered(32, 1514), 5).size());
	EXPECT_EQ(26u, slow.Counters().queue_full);
}

TEST(Relay, DropsWhatIsTooLongForAPort)
{
	for (double delay : {0.0, 1e3}) {
		Relay relay;
		std::vector<Bytes> list = numbered(4, 96); /* with FCS 100 */

		list[1].push_back(0);
		list[2].insert(list[2].end(), 4, 0); /* as long as with a tag, and it has one */
		list[2][12] = 0x81;
		list[2][13] = 0;
		relay.way.delay_ns = delay;
		relay.from.port.caps.max_frame = 1518;
		relay.to.port.caps.max_frame = 100;
		EXPECT_EQ((std::vector<uint32_t>{0, 2, 3}), numbers(relay.Run(list)));
		EXPECT_EQ(1u, relay.Counters().too_long);
		EXPECT_EQ(3u, relay.Counters().forwarded);
	}
}

/* and before it changes a frame, so that a corrupted one stays so */
TEST(Relay, CompletesChecksumsThatWereLeftToACard)
{
	Bytes frame = frames::ethernet(frames::host_mac, frames::peer_mac, 0x0800), whole;

	frames::append(frame, Bytes{0x45, 0, 0, 33, 0, 0, 0, 0, 64, 17, 0, 0});
	frames::append(frame, frames::peer_ipv4);
	frames::append(frame, frames::host_ipv4);
	frames::append(frame, Bytes{0, 1, 0, 2, 0, 13, 0, 0, 1, 2, 3, 4, 5});
	const Bytes addresses(frame.begin() + 26, frame.begin() + 34);
	frames::put16(frame, 40, frames::pseudo_sum(addresses, 17, 13));
	whole = frame;
	frames::put16(whole, 40, uint16_t(~frames::sum(frame, 34, frame.size())));
	for (bool completes : {false, true}) {
		Relay relay;

		relay.from.port.caps.partial_checksums = completes;
		std::vector<Gone> gone = relay.Run({frame, whole});
		ASSERT_EQ(2u, gone.size());
		EXPECT_EQ(completes ? whole : frame, gone[0].bytes);
		EXPECT_EQ(whole, gone[1].bytes);
		EXPECT_EQ(completes ? 1u : 0u, relay.Counters().completed);
	}
}

TEST(Relay, RefusesWhatItCannotDo)
{
	Relay relay;
	struct fg_relay *none = nullptr;
	fg_error err = {};

	relay.way.lcore = 1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.lcore = 0;
	relay.way.delay_ns = -1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.delay_ns = 0;
	relay.way.room = 0;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.room = 64;
	relay.way.impair.loss.random = 2;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.impair.loss.random = 0;
	relay.way.rate_bps = 1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.rate_bps = 0;
	relay.config.lcore[0] = 77;
	EXPECT_EQ(-EBUSY, fg_relay_create(&relay.config, &none, &err));
	EXPECT_EQ(nullptr, none);
}

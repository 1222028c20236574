/* SPDX-License-Identifier: BSD-3-Clause */
/* A sender and a reflector with nothing between them but this test, which delays, drops and changes. */
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "fg_oam_endpoint.h"

namespace
{

using Bytes = std::vector<uint8_t>;

const uint64_t MS = 1000000, THERE = 20000, BACK = 16000, TURN = 5000;

class Session
{
      public:
	fg_oam_sender_config config = {};
	fg_oam_reflector_config far = {};
	std::function<bool(Bytes &, unsigned)> there = [](Bytes &, unsigned) { return true; };
	std::function<bool(Bytes &, unsigned)> back = there;
	std::vector<fg_oam_probe> probe;
	fg_oam_counters count = {};
	int64_t far_ahead = 0;
	uint64_t first_poll = 0;

	explicit Session(fg_oam_test test)
	{
		config.test = far.test = test;
		config.host.mac[0] = config.mac[0] = far.host.mac[0] = 2;
		config.host.mac[5] = 1;
		config.mac[5] = far.host.mac[5] = 2;
		memcpy(config.host.ipv4, Bytes({198, 18, 1, 1}).data(), 4);
		memcpy(config.peer, Bytes({198, 18, 1, 2}).data(), 4);
		config.host.ipv6[15] = 1;
		config.peer[15] = 2;
		config.from = 50000;
		config.to = far.port = FG_OAM_PORT;
		config.ttl = 255;
		config.level = far.level = 4;
		config.mep = 11;
		config.ssid = 0x1234;
		config.id = 99;
		config.frame_size = 128;
		config.count = 10;
		config.interval_ns = MS;
		config.between = 3;
	}

	void
	run()
	{
		fg_oam_sender *sender;
		fg_oam_reflector *reflector;
		fg_error err;

		ASSERT_EQ(0, fg_oam_sender_create(&config, &sender, &err)) << err.message;
		ASSERT_EQ(0, fg_oam_reflector_create(&far, &reflector, &err)) << err.message;
		fg_oam_sender_schedule(sender, MS);
		fg_oam_sender_set_clock(sender, 0, fg_oam_estimate(0, FG_OAM_SYNCHRONISED));
		fg_oam_reflector_set_clock(reflector, far_ahead, fg_oam_estimate(0, FG_OAM_SYNCHRONISED));
		talk(fg_oam_sender_endpoint(sender), reflector);
		probe.assign(fg_oam_sender_probes(sender), fg_oam_sender_probes(sender) + config.count);
		fg_oam_sender_read(sender, &count);
		fg_oam_sender_free(sender);
		fg_oam_reflector_free(reflector);
	}

      private:
	void
	talk(fg_endpoint *sender, fg_oam_reflector *reflector)
	{
		for (uint64_t now = first_poll; now != UINT64_MAX;) {
			uint8_t memory[FG_BURST_ROOMS][2048];
			fg_burst out = {};

			out.rooms = FG_BURST_ROOMS;
			out.capacity = sizeof(memory[0]);
			for (unsigned i = 0; i < out.rooms; i++)
				out.room[i] = memory[i];
			uint64_t next = sender->poll(sender, now, &out);
			for (unsigned i = 0; i < out.frames; i++)
				carry(sender, reflector, Bytes(memory[i], memory[i] + out.length[i]), now);
			ASSERT_GT(next, now);
			now = next;
		}
	}

	void
	carry(fg_endpoint *sender, fg_oam_reflector *reflector, Bytes frame, uint64_t now)
	{
		fg_burst out = {};

		if (!there(frame, sent++))
			return;
		size_t n = frame.size();
		frame.resize(n + FG_OAM_ROOM);
		n = fg_oam_reflector_answer(reflector, frame.data(), n, now + THERE);
		if (n == 0)
			return;
		fg_oam_reflector_depart(reflector, frame.data(), n, now + THERE + TURN);
		frame.resize(n);
		if (!back(frame, replied++))
			return;
		fg_arrival in = {frame.data(), frame.size(), now + THERE + TURN + BACK, false};
		sender->input(sender, &in, 1, &out);
	}

	unsigned sent = 0, replied = 0;
};

void
expect_times(const Session &s, bool one_way)
{
	for (const fg_oam_probe &p : s.probe) {
		ASSERT_EQ(FG_OAM_PROBE_SENT | FG_OAM_PROBE_ANSWERED, p.flags);
		EXPECT_EQ(THERE + TURN + BACK, p.t4 - p.t1);
		if (one_way) {
			EXPECT_EQ((int64_t)THERE, p.t2 - p.unix_t1);
			EXPECT_EQ((int64_t)TURN, p.t3 - p.t2);
			EXPECT_EQ((int64_t)BACK, p.unix_t4 - p.t3);
		}
	}
}

void
expect_nothing_wrong(const Session &s)
{
	const char *name, *text;

	for (unsigned i = 0; (name = fg_oam_counter_name(i, &text)) != nullptr; i++)
		EXPECT_TRUE(text == nullptr || ((const uint64_t *)&s.count)[i] == 0) << name;
}

/* what STAMP does not take is left to the port: frames of a stream have the EtherType of a service, too */
TEST(OamSession, TakesFramesOfY1731OnlyForTheTestsOfIt)
{
	for (fg_oam_test test : {FG_OAM_STAMP, FG_OAM_TWAMP_LIGHT, FG_OAM_LOOPBACK, FG_OAM_DELAY,
				 FG_OAM_SYNTHETIC, FG_OAM_LOSS}) {
		const bool expected = test != FG_OAM_STAMP && test != FG_OAM_TWAMP_LIGHT;
		Session s(test);
		fg_oam_sender *sender;
		fg_oam_station *station;

		ASSERT_EQ(0, fg_oam_sender_create(&s.config, &sender, nullptr));
		ASSERT_EQ(0, fg_oam_station_create(&s.far, &station, nullptr));
		EXPECT_EQ(expected, fg_oam_sender_endpoint(sender)->y1731) << test;
		EXPECT_EQ(expected, fg_oam_station_endpoint(station)->y1731) << test;
		fg_oam_sender_free(sender);
		fg_oam_station_free(station);
	}
}

TEST(OamSession, MeasuresBothWays)
{
	for (auto test :
	     {FG_OAM_STAMP, FG_OAM_TWAMP_LIGHT, FG_OAM_LOOPBACK, FG_OAM_DELAY, FG_OAM_SYNTHETIC, FG_OAM_LOSS})
		for (bool ipv6 : {false, true})
			for (bool ptp : {false, true}) {
				Session s(test);
				s.config.ipv6 = ipv6;
				s.config.ptp = ptp;
				s.run();
				EXPECT_EQ(10u, s.count.sent);
				EXPECT_EQ(10u, s.count.received) << test << ipv6 << ptp;
				expect_nothing_wrong(s);
				expect_times(s, test != FG_OAM_LOOPBACK && test < FG_OAM_SYNTHETIC);
			}
}

/* what passes: message 0, three frames, message 1, ... message 9: 37 in all */
TEST(OamSession, CountsTheFramesOfAServiceOnBothWays)
{
	Session s(FG_OAM_LOSS);

	/* two frames, message 2; and the last frame on its way back */
	s.there = [](Bytes &, unsigned i) { return i != 1 && i != 6 && i != 8; };
	s.back = [](Bytes &, unsigned i) { return i != 32; };
	s.run();
	EXPECT_EQ(9u, s.count.received);
	for (unsigned i = 0; i < 10; i++) {
		const fg_oam_probe &p = s.probe[i];

		if (i == 2) {
			EXPECT_EQ(FG_OAM_PROBE_SENT, p.flags);
			continue;
		}
		EXPECT_EQ(3 * i - (i >= 1) - (i >= 2), p.reflected) << i;
		EXPECT_EQ(p.reflected, p.returned) << "all that came goes back";
		EXPECT_EQ(p.returned - (i == 9), p.came) << i;
	}
	expect_nothing_wrong(s);
}

TEST(OamSession, CountsWhatItIsNotGiven)
{
	fg_oam_reflector_config config = {};
	fg_oam_reflector *reflector;
	fg_error err;
	Bytes lmm(60 + FG_OAM_ROOM, 0), other(60 + FG_OAM_ROOM, 0);

	config.test = FG_OAM_LOSS;
	ASSERT_EQ(0, fg_oam_reflector_create(&config, &reflector, &err));
	memcpy(lmm.data() + 12, Bytes({0x89, 0x02, 0, 43, 0, 12, 0, 0, 0, 7}).data(), 10);
	memcpy(other.data() + 12, Bytes({0x08, 0x06}).data(), 2);
	fg_oam_reflector_count(reflector, 0xfffffffe);
	EXPECT_EQ(0u, fg_oam_reflector_answer(reflector, other.data(), 60, 1)) << "it is no frame of ours";
	other[12] = 0x88, other[13] = 0xb5, other[6] = 1;
	memcpy(other.data() + 14, "FG-LOSS?", 8);
	EXPECT_EQ(0u, fg_oam_reflector_answer(reflector, other.data(), 60, 1)) << "to a group";
	other[6] = 0, other[0] = 2;
	EXPECT_EQ(0u, fg_oam_reflector_answer(reflector, other.data(), 60, 1)) << "to another";
	other[0] = 0;
	EXPECT_EQ(60u, fg_oam_reflector_answer(reflector, other.data(), 60, 1));
	ASSERT_EQ(60u, fg_oam_reflector_answer(reflector, lmm.data(), 60, 1));
	EXPECT_EQ(Bytes({0, 42, 0, 12, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 1, 0}), /* 2 behind 2^32 */
		  Bytes(lmm.begin() + 14, lmm.begin() + 31));
	fg_oam_reflector_free(reflector);
}

TEST(OamSession, SaysWhichProbeWasLost)
{
	Session s(FG_OAM_STAMP);

	s.there = [](Bytes &, unsigned i) { return i != 2; };
	s.back = [](Bytes &, unsigned i) { return i != 4; };
	s.run();
	for (unsigned i = 0; i < 10; i++)
		EXPECT_EQ(i != 2 && i != 5, (s.probe[i].flags & FG_OAM_PROBE_ANSWERED) != 0) << i;
	EXPECT_EQ(3u, s.probe[4].reflected);
	EXPECT_EQ(5u, s.probe[6].reflected);
	EXPECT_EQ(8u, s.count.received);
}

TEST(OamSession, KnowsProbesThatLeaveTogether)
{
	for (auto test : {FG_OAM_STAMP, FG_OAM_LOOPBACK, FG_OAM_DELAY, FG_OAM_SYNTHETIC}) {
		Session s(test);
		s.first_poll = 100 * MS; /* all are due */
		s.run();
		EXPECT_EQ(10u, s.count.received) << test;
		EXPECT_EQ(0u, s.count.duplicates) << test;
		expect_nothing_wrong(s);
	}
}

TEST(OamSession, KnowsProbesThatLeftLongAgo)
{
	Session s(FG_OAM_DELAY);
	std::vector<Bytes> late;

	s.config.count = 6000;
	s.back = [&late](Bytes &reply, unsigned) {
		late.push_back(reply);
		reply = late[late.size() / 6]; /* one of long ago */
		return true;
	};
	s.run();
	EXPECT_EQ(1001u, s.count.received);
	EXPECT_EQ(4999u, s.count.duplicates);
	EXPECT_EQ(0u, s.count.unknown);
}

TEST(OamSession, LeavesOutAProbe)
{
	Session s(FG_OAM_STAMP);

	s.config.skip = 3;
	s.run();
	EXPECT_EQ(9u, s.count.sent);
	EXPECT_EQ(0, s.probe[3].flags);
	EXPECT_EQ(3u, s.probe[4].reflected) << "a reflector that counts by itself";
}

TEST(OamSession, MeetsTheSmallestFrames)
{
	const struct {
		fg_oam_test test;
		uint32_t least;
	} rows[] = {{FG_OAM_STAMP, 90}, {FG_OAM_TWAMP_LIGHT, 87}, {FG_OAM_LOOPBACK, 64}, {FG_OAM_DELAY, 64}};

	for (const auto &row : rows) {
		Session s(row.test);
		s.config.frame_size = row.least;
		s.run();
		EXPECT_EQ(10u, s.count.received);
		expect_nothing_wrong(s);
	}
	fg_oam_sender *sender;
	fg_error err;
	Session s(FG_OAM_STAMP);
	s.config.frame_size = 89;
	EXPECT_EQ(-EINVAL, fg_oam_sender_create(&s.config, &sender, &err));
	EXPECT_STREQ("89 is not in 90 to 16128", err.message);
}

/* bytes of the reply's content, changed as a reflector should not; 0 stands for no checksum */
TEST(OamSession, SeesWhatAReflectorDoesWrong)
{
	const struct {
		size_t at;
		uint8_t by;
		uint64_t fg_oam_counters::*count;
	} rows[] = {
		{24, 0x7f, &fg_oam_counters::unknown}, {28, 1, &fg_oam_counters::echo},
		{36, 1, &fg_oam_counters::echo},       {15, 1, &fg_oam_counters::zero},
		{39, 1, &fg_oam_counters::zero},       {42, 1, &fg_oam_counters::zero},
		{4, 0x80, &fg_oam_counters::order},    {16, 0x80, &fg_oam_counters::order},
		{44, 0x80, &fg_oam_counters::tlv},     {46, 1, &fg_oam_counters::tlv},
	};

	for (const auto &row : rows) {
		Session s(FG_OAM_STAMP);
		s.far_ahead = INT64_C(1) << 60;
		s.back = [&row](Bytes &reply, unsigned i) {
			reply[40] = reply[41] = 0;
			reply[42 + row.at] ^= i == 7 ? row.by : 0;
			return true;
		};
		s.run();
		EXPECT_EQ(1u, s.count.*row.count) << "octet " << row.at;
	}
}

TEST(OamSession, SeesChangedLoopback)
{
	Session s(FG_OAM_LOOPBACK);

	s.back = [](Bytes &reply, unsigned i) {
		reply[60] ^= i == 3;
		return true;
	};
	s.run();
	EXPECT_EQ(1u, s.count.echo);
	EXPECT_EQ(10u, s.count.received);
}

TEST(OamSession, IgnoresRepliesOfOthers)
{
	Session s(FG_OAM_STAMP);

	s.back = [](Bytes &reply, unsigned i) {
		reply[40] = reply[41] = 0;
		reply[37] ^= 1; /* destination port */
		return i < 5;
	};
	s.run();
	EXPECT_EQ(0u, s.count.received + s.count.unknown);
}

} // namespace

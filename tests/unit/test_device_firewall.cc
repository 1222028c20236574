/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device's firewall, frame by frame. Times in picoseconds. */
#include <gtest/gtest.h>

#include "device_segment.h"

extern "C" {
#include "connections_priv.h"
#include "firewall_priv.h"
}

namespace
{

using namespace device;

class Firewall
{
      public:
	explicit Firewall(fg_firewall_config config)
	{
		fg_error err = {};

		EXPECT_EQ(0, firewall_create(&config, &f, &err)) << err.message;
	}
	~Firewall()
	{
		firewall_free(f);
	}
	Firewall(const Firewall &) = delete;
	Firewall &operator=(const Firewall &) = delete;

	firewall_verdict
	Pass(unsigned side, const Bytes &b, uint64_t now)
	{
		at = now;
		return firewall_pass(f, side, b.data(), b.size(), &at);
	}
	fg_firewall_counters
	Counters() const
	{
		fg_firewall_counters c;

		firewall_counters(f, &c);
		return c;
	}

	uint64_t at = 0;

      private:
	firewall *f = nullptr;
};

fg_firewall_config
Config(uint32_t sessions)
{
	fg_firewall_config c = {};

	c.sessions = sessions;
	c.timeout_ns = 1e9;
	c.setup_queue = 2;
	return c;
}

TEST(DeviceFirewall, OnlyTheInsideOpensSessions)
{
	Firewall f(Config(10));

	EXPECT_EQ(FIREWALL_DROP, f.Pass(1, Segment(1, 1000, SYN), 0));
	EXPECT_EQ(FIREWALL_DROP, f.Pass(0, Segment(0, 1000, ACK), 0));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 1000, SYN), 0));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(1, Segment(1, 1000, SYN_ACK), 0));
	EXPECT_EQ(FIREWALL_DROP, f.Pass(1, Segment(1, 1001, SYN_ACK), 0));
	EXPECT_EQ(3u, f.Counters().unknown);
	EXPECT_EQ(1u, f.Counters().created);
}

TEST(DeviceFirewall, SetsUpSoManyASecond)
{
	fg_firewall_config c = Config(10);

	c.setup_rate = 1000;
	Firewall f(c);
	for (uint16_t i = 0; i < 5; i++) { /* one at work, two wait, and no more */
		EXPECT_EQ(i < 3 ? FIREWALL_PASS : FIREWALL_DROP, f.Pass(0, Segment(0, 1000 + i, SYN), 0));
		if (i < 3) {
			EXPECT_EQ((i + 1) * ms, f.at);
		}
	}
	EXPECT_EQ(2u, f.Counters().setup_full);
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 1003, SYN), ms));
	EXPECT_EQ(4 * ms, f.at);
}

TEST(DeviceFirewall, HoldsSoManySessionsUntilTheyEnd)
{
	fg_firewall_config c = Config(2);

	c.half_closed_ns = 1e6;
	Firewall f(c);
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 1, SYN), 0));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 2, SYN), 0));
	EXPECT_EQ(FIREWALL_DROP, f.Pass(0, Segment(0, 3, SYN), 0));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 1, FIN), ms));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(1, Segment(1, 1, FIN), ms));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 1, ACK), ms));
	EXPECT_EQ(FIREWALL_DROP, f.Pass(0, Segment(0, 3, SYN), 2 * ms - 1));
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 3, SYN), 2 * ms));
	EXPECT_EQ(2u, f.Counters().most);
	EXPECT_EQ(1u, f.Counters().closed);
	EXPECT_EQ(FIREWALL_PASS, f.Pass(0, Segment(0, 4, SYN), 2 + second)); /* 2 was idle; 3 is younger */
	EXPECT_EQ(1u, f.Counters().expired);
}

TEST(DeviceFirewall, RefusesByRstIfItIsToldTo)
{
	fg_firewall_config c = Config(1);

	c.resets = true;
	Firewall f(c);
	f.Pass(0, Segment(0, 1, SYN), 0);
	EXPECT_EQ(FIREWALL_REFUSE, f.Pass(0, Segment(0, 2, SYN), 0));
}

TEST(DeviceFirewall, InspectsTheFirstPayloadOfASession)
{
	fg_firewall_config c = Config(10);

	c.inspect_ns = 500e3;
	Firewall f(c);
	f.Pass(0, Segment(0, 1, SYN), 0);
	EXPECT_EQ(0u, f.at);
	f.Pass(0, Segment(0, 1, ACK), ms);
	EXPECT_EQ(ms, f.at);
	f.Pass(0, Segment(0, 1, ACK, 100), ms);
	EXPECT_EQ(ms + 500 * us, f.at);
	f.Pass(0, Segment(0, 1, ACK, 100), ms + us); /* does not pass the one before it */
	EXPECT_EQ(ms + 500 * us, f.at);
	f.Pass(0, Segment(0, 1, ACK, 100), 3 * ms);
	EXPECT_EQ(3 * ms, f.at);
}

/* 16061us is no binary fraction of a second: times 10^9 it is a little less than 16061000 */
TEST(DeviceFirewall, TakesATimeForWholePicoseconds)
{
	fg_firewall_config c = Config(10);

	c.inspect_ns = 16061e-6 * 1e9;
	Firewall f(c);
	f.Pass(0, Segment(0, 1, SYN), 0);
	f.Pass(0, Segment(0, 1, ACK, 100), ms);
	EXPECT_EQ(ms + 16061 * us, f.at);
}

TEST(DeviceFirewall, HasOneEngineForBothDirections)
{
	fg_firewall_config c = Config(10);

	c.frame_ns = 1000;
	c.byte_ns = 10;
	c.inspect_queue = 1;
	Firewall f(c);
	f.Pass(0, Segment(0, 1, SYN), 0);
	f.Pass(0, Segment(0, 1, ACK, 100), 0);
	EXPECT_EQ(2 * us, f.at);
	f.Pass(1, Segment(1, 1, ACK, 100), 0);
	EXPECT_EQ(4 * us, f.at);
	EXPECT_EQ(FIREWALL_DROP, f.Pass(1, Segment(1, 1, ACK, 100), 0));
	EXPECT_EQ(1u, f.Counters().engine_full);
}

TEST(DeviceFirewall, ResetsEveryNthSession)
{
	fg_firewall_config c = Config(10);

	c.reset_every = 2;
	Firewall f(c);
	for (uint16_t i = 1; i <= 4; i++) {
		f.Pass(0, Segment(0, i, SYN), 0);
		EXPECT_EQ(i % 2 ? FIREWALL_PASS : FIREWALL_RESET, f.Pass(0, Segment(0, i, ACK, 1), 0));
	}
	EXPECT_EQ(2u, f.Counters().resets);
	EXPECT_EQ(2u, f.Counters().now);
}

TEST(DeviceFirewall, MakesRstThatBothEndsBelieve)
{
	for (bool back : {false, true}) {
		Bytes b = Segment(0, 0x1234, SYN_ACK, 5);
		size_t length = firewall_rst(b.data(), b.size(), back);

		ASSERT_EQ(54u, length);
		b.resize(length);
		EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &b[14], 20)));
		EXPECT_EQ(0, ChecksumOfTcp(b));
		EXPECT_EQ(4 | 16, b[34 + 13]);
		/* back: from the server, with what the segment acknowledged, and all of it acknowledged */
		EXPECT_EQ(back ? 0 : 0x12, b[34]);
		EXPECT_EQ(0, memcmp(&b[34 + 4], back ? "\0\0\2\0\0\0\1\6" : "\0\0\1\0\0\0\2\0", 8));
	}
}

} // namespace

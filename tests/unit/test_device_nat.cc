/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device's NAT44, frame by frame: inside 198.18.0.254, outside 198.19.0.254. */
#include <gtest/gtest.h>

#include "device_segment.h"

extern "C" {
#include "connections_priv.h"
#include "nat_priv.h"
}

namespace
{

using namespace device;

class Nat
{
      public:
	explicit Nat(const fg_nat_config &config)
	{
		fg_error err = {};

		EXPECT_EQ(0, nat_create(&config, inside, outside, &n, &err)) << err.message;
	}
	~Nat()
	{
		nat_free(n);
	}
	Nat(const Nat &) = delete;
	Nat &operator=(const Nat &) = delete;

	nat_verdict
	Pass(unsigned side, Bytes &b, uint64_t now = 0)
	{
		at = now;
		return nat_pass(n, side, b.data(), b.size(), &at);
	}
	/* a SYN from that port; @return the port that it leaves with, 0: it is lost */
	unsigned
	Open(uint16_t port, uint64_t now = 0)
	{
		Bytes b = Segment(0, port, SYN);

		return Pass(0, b, now) == NAT_TRANSLATED ? unsigned(b[34] << 8 | b[35]) : 0;
	}
	/* a segment to the external address, at that port; @return the port it arrives at, 0: it is lost */
	unsigned
	Return(uint16_t port, uint8_t flags = SYN_ACK, uint64_t now = 0)
	{
		Bytes b = Segment(1, port, flags);

		memcpy(&b[14 + 16], outside, 4);
		return Pass(1, b, now) == NAT_TRANSLATED ? unsigned(b[36] << 8 | b[37]) : 0;
	}
	uint64_t
	Clear(uint64_t now)
	{
		return nat_clear(n, now);
	}
	fg_nat_counters
	Counters() const
	{
		fg_nat_counters c;

		nat_counters(n, &c);
		return c;
	}

	const uint8_t inside[4] = {198, 18, 0, 254}, outside[4] = {198, 19, 0, 254};
	uint64_t at = 0;

      private:
	nat *n = nullptr;
};

fg_nat_config
Config(uint32_t sessions)
{
	fg_nat_config c = {};

	c.sessions = sessions;
	c.port_first = 2000;
	c.port_last = 2009;
	c.timeout_ns = 1e9;
	c.setup_queue = 1;
	return c;
}

void
Seal(Bytes &b)
{
	uint16_t sum;

	sum = fg_checksum_finish(fg_checksum_add(0, &b[14], 20));
	memcpy(&b[24], &sum, 2);
	sum = ChecksumOfTcp(b);
	memcpy(&b[50], &sum, 2);
}

TEST(DeviceNat, TranslatesThereAndBackWithRightChecksums)
{
	Nat n(Config(10));
	Bytes b = Segment(0, 5555, SYN, 7);

	Seal(b);
	ASSERT_EQ(NAT_TRANSLATED, n.Pass(0, b));
	EXPECT_EQ(0, memcmp(&b[14 + 12], n.outside, 4));
	EXPECT_EQ(2000, b[34] << 8 | b[35]);
	EXPECT_EQ(0, ChecksumOfTcp(b));
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &b[14], 20)));

	Bytes back = Segment(1, 2000, SYN_ACK);
	memcpy(&back[14 + 16], n.outside, 4);
	Seal(back);
	ASSERT_EQ(NAT_TRANSLATED, n.Pass(1, back));
	EXPECT_EQ(0, memcmp(&back[14 + 16], "\xc6\x12\0\1", 4));
	EXPECT_EQ(5555, back[36] << 8 | back[37]);
	EXPECT_EQ(0, ChecksumOfTcp(back));
	EXPECT_EQ(0, fg_checksum_finish(fg_checksum_add(0, &back[14], 20)));
}

TEST(DeviceNat, LetsNobodyInUnasked)
{
	Nat n(Config(10));
	Bytes b = Segment(1, 2000, SYN);

	EXPECT_EQ(0u, n.Return(2000));
	EXPECT_EQ(1u, n.Counters().unsolicited);
	EXPECT_EQ(NAT_UNTOUCHED, n.Pass(1, b)); /* to an inside address: the router's business */
}

TEST(DeviceNat, ForgetsAllAtItsRateTheOldestFirst)
{
	const uint64_t second = 1000000000000;
	fg_nat_config c = Config(10);

	c.timeout_ns = 100e9;
	c.clear_rate = 2;
	Nat n(c);
	for (uint16_t i = 0; i < 4; i++)
		ASSERT_NE(0u, n.Open(5000 + i, i));
	EXPECT_EQ(2 * second, n.Clear(second));
	EXPECT_EQ(5000u, n.Return(2000, SYN_ACK, second)); /* now the one heard last */
	EXPECT_EQ(0u, n.Return(2001, SYN_ACK, 2 * second));
	EXPECT_EQ(0u, n.Return(2002, SYN_ACK, 2 * second));
	EXPECT_EQ(5003u, n.Return(2003, SYN_ACK, 2 * second));
	EXPECT_EQ(0u, n.Return(2000, SYN_ACK, 3 * second));
	EXPECT_NE(0u, n.Open(6000, 3 * second)); /* a later one stays */
	EXPECT_EQ(1u, n.Counters().now);
	EXPECT_EQ(second / 2, n.Clear(3 * second));
	n.Open(6001, 5 * second);
	EXPECT_EQ(1u, n.Counters().now);
}

TEST(DeviceNat, KeepsAMappingAndItsPortsApart)
{
	Nat n(Config(100));

	EXPECT_EQ(2000u, n.Open(1));
	EXPECT_EQ(2000u, n.Open(1));
	for (uint16_t i = 1; i < 10; i++)
		EXPECT_EQ(2000u + i, n.Open(1 + i));
	EXPECT_EQ(0u, n.Open(11)); /* ten ports, one far end */
	EXPECT_EQ(1u, n.Counters().no_port);
	for (uint16_t i = 0; i < 10; i++)
		EXPECT_EQ(1u + i, n.Return(2000 + i));
}

TEST(DeviceNat, IsFullAndDropsOrReplaces)
{
	fg_nat_config c = Config(3);

	for (bool replaces : {false, true}) {
		c.replaces = replaces;
		Nat n(c);
		for (uint16_t i = 1; i <= 5; i++)
			EXPECT_EQ(i <= 3 || replaces, n.Open(i, i) != 0) << i;
		/* the survivors: the first three, or the last three */
		for (uint16_t i = 0; i < 5; i++)
			EXPECT_EQ(replaces ? i >= 2 : i < 3, n.Return(2000 + i, SYN_ACK, 6) != 0) << i;
		EXPECT_EQ(replaces ? 0u : 2u, n.Counters().refused);
		EXPECT_EQ(replaces ? 2u : 0u, n.Counters().replaced);
		EXPECT_EQ(3u, n.Counters().most);
	}
}

TEST(DeviceNat, ForgetsWhatIsIdleOrClosed)
{
	Nat n(Config(10));

	EXPECT_EQ(2000u, n.Open(1));
	EXPECT_EQ(2001u, n.Open(2));
	EXPECT_EQ(1u, n.Return(2000, ACK, second / 2));
	EXPECT_EQ(0u, n.Return(2001, ACK, second));
	EXPECT_EQ(1u, n.Counters().expired);
	Bytes fin = Segment(0, 1, FIN), ack = Segment(0, 1, ACK);
	n.Pass(0, fin, second);
	EXPECT_EQ(1u, n.Return(2000, FIN, second));
	EXPECT_EQ(NAT_TRANSLATED, n.Pass(0, ack, second));
	EXPECT_EQ(0u, n.Counters().now);
	EXPECT_EQ(0u, n.Return(2000, ACK, second));
}

TEST(DeviceNat, SetsUpSoManyASecond)
{
	fg_nat_config c = Config(10);

	c.setup_rate = 1000;
	Nat n(c);
	EXPECT_NE(0u, n.Open(1));
	EXPECT_EQ(ms, n.at);
	EXPECT_NE(0u, n.Open(2));
	EXPECT_EQ(2 * ms, n.at);
	EXPECT_EQ(0u, n.Open(3)); /* one at work, one waits */
	EXPECT_EQ(1u, n.Counters().setup_full);
}

} // namespace

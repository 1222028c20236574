/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device as a learning bridge: what it forwards is what its table, as it was told to be,
 * says. */
#include "device_under_test.h"

using namespace frames;

namespace
{

const uint64_t ms = 1000 * us, s = 1000 * ms;
const unsigned NOBODY = 1000000;

Mac
station(unsigned number)
{
	return {2, 0, 0, uint8_t(number >> 16), uint8_t(number >> 8), uint8_t(number)};
}

Bytes
from_to(unsigned source, unsigned destination)
{
	Bytes b = ethernet(station(destination), station(source), 0x88b5);

	b.resize(60);
	return b;
}

fg_device_config
bridge(uint32_t size)
{
	fg_device_config config = Device(1e9);

	config.table.size = size;
	return config;
}

/* how many of the frames come out on the other side */
size_t
forwarded(Wire &wire, unsigned side, const std::vector<Bytes> &all, uint64_t now, uint64_t apart = 0)
{
	for (size_t i = 0; i < all.size(); i++)
		wire.Launch(side, uint32_t(i), all[i], now + i * apart, now);
	return wire.Receive(1 - side).size();
}

/* of stations 0 to n - 1, all on side 1, how many it does not know there: their frames come through */
size_t
unknown(Wire &wire, unsigned n, uint64_t now)
{
	std::vector<Bytes> all;

	for (unsigned i = 0; i < n; i++)
		all.push_back(from_to(0, i));
	return forwarded(wire, 1, all, now);
}

void
introduce(Wire &wire, unsigned n, uint64_t now, uint64_t apart = 0)
{
	std::vector<Bytes> all;

	for (unsigned i = 0; i < n; i++)
		all.push_back(from_to(i, NOBODY));
	EXPECT_EQ(n, forwarded(wire, 1, all, now, apart));
}

} // namespace

TEST(WireTable, KeepsFramesOnTheirSide)
{
	Wire wire(bridge(100));

	EXPECT_EQ(1u, forwarded(wire, 0, {from_to(1, 2)}, us)) << "2 is unknown";
	EXPECT_EQ(1u, forwarded(wire, 1, {from_to(2, 1)}, 10 * us)) << "1 is on the other side";
	EXPECT_EQ(0u, forwarded(wire, 1, {from_to(3, 2)}, 20 * us)) << "2 is on the same";
	EXPECT_EQ(0u, forwarded(wire, 0, {from_to(4, 1)}, 30 * us));
	EXPECT_EQ(1u,
		  forwarded(wire, 0, {from_to(2, 1)}, 40 * us) + forwarded(wire, 0, {from_to(1, 3)}, 50 * us))
		<< "2 has moved, and is where 1 is; 3 stays";
	fg_device_counters c = wire.Counters(1);
	EXPECT_EQ(1u, c.filtered);
	EXPECT_EQ(0u, c.flooded + c.unlearned);
	EXPECT_EQ(1u, wire.Counters(0).flooded);
}

TEST(WireTable, ForwardsWhatIsForMany)
{
	Wire wire(bridge(10));
	Bytes all = ethernet({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, station(1), 0x0806);

	all.resize(60);
	for (unsigned i = 1; i < 4; i++)
		EXPECT_EQ(1u, forwarded(wire, 0, {all}, i * us));
}

TEST(WireTable, HoldsAsManyAsItIsTold)
{
	for (unsigned size : {1u, 2u, 100u, 1000u, 8192u}) {
		Wire wire(bridge(size));

		introduce(wire, size + 50, us);
		EXPECT_EQ(50u, wire.Counters(1).unlearned);
		/* who asks is one of those it knows, or not: it learns nobody new */
		EXPECT_EQ(50u, unknown(wire, size + 50, 100 * ms)) << size;
	}
}

TEST(WireTable, ForgetsWhomItHasNotHeard)
{
	fg_device_config config = bridge(100);

	config.table.ageing_ns = 1e9;
	Wire wire(config);
	introduce(wire, 10, us);
	EXPECT_EQ(0u, unknown(wire, 10, s / 2)) << "and hears station 0 again";
	EXPECT_EQ(9u, unknown(wire, 10, s + s / 4));
	fg_device_reset(wire.Get(), 0);
	EXPECT_EQ(9u, unknown(wire, 10, s + s / 2)) << "a trial begins, the table stays";
	EXPECT_EQ(9u, unknown(wire, 10, s + s / 2 + us)) << "and nobody else was heard";
}

TEST(WireTable, LearnsSoFastAndNoFaster)
{
	fg_device_config config = bridge(10000);

	config.table.learning_rate = 1000;
	Wire slow(config), fast(config);
	introduce(slow, 500, us, 2 * ms);
	EXPECT_EQ(0u, unknown(slow, 500, 2 * s));
	introduce(fast, 500, us, ms / 2);
	EXPECT_EQ(250u, unknown(fast, 500, 2 * s));
}

TEST(WireTable, SkipsAddressesWhereItIsToldTo)
{
	fg_device_config config = bridge(1000);

	config.table.skip_every = 10;
	Wire wire(config);
	introduce(wire, 500, us);
	EXPECT_EQ(50u, unknown(wire, 500, s));
}

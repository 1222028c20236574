/* SPDX-License-Identifier: BSD-3-Clause */
/* Time stamps of a flow go on over connections, workers and addresses' turns, and are a flow's own. */
#include <set>

#include "l4_wire.h"

using namespace l4;

namespace
{
/* by port, how far the time stamp of a client's SYN is ahead of the clock, which is @p now ns */
std::map<unsigned, uint32_t>
Offsets(uint64_t secret, uint64_t seed, uint64_t now, const char *remote = "\xc6\x13\0\1")
{
	std::map<unsigned, uint32_t> out;
	uint8_t room[2048];
	fg_l4_config config = {};
	fg_l4_app a = Client("TCP_RR");
	fg_burst burst = {};
	fg_l4 *l4;

	memcpy(a.remote, remote, 4);
	a.connections = 60;
	config.connections = 100;
	config.seed = seed;
	config.secret = secret;
	config.mtu = 1500;
	EXPECT_EQ(0, fg_l4_create(&config, 1, &a, &l4, nullptr));
	EXPECT_EQ(0, fg_l4_schedule(l4, now, now + second, 0, 0, nullptr));
	burst.room[0] = room;
	burst.rooms = 1;
	burst.capacity = sizeof(room);
	do {
		const uint8_t *tcp = room + 34, *stamp = tcp + 20 + 8; /* behind MSS and SACK permitted */

		burst.frames = 0;
		fg_l4_endpoint(l4)->poll(fg_l4_endpoint(l4), now, &burst);
		if (burst.frames > 0)
			out[tcp[0] << 8 | tcp[1]] =
				(uint32_t(stamp[0]) << 24 | stamp[1] << 16 | stamp[2] << 8 | stamp[3]) -
				uint32_t(now / ms);
	} while (burst.frames > 0);
	EXPECT_EQ(60u, out.size());
	fg_l4_free(l4);
	return out;
}
} /* namespace */

TEST(L4Stamps, GoOnForTheSameFlow)
{
	auto first = Offsets(77, 1, 5 * second);

	EXPECT_EQ(first, Offsets(77, 2, 9 * second));
	EXPECT_NE(first, Offsets(78, 1, 5 * second));
}

TEST(L4Stamps, SayNothingOfOtherFlows)
{
	std::set<uint32_t> different, steps;
	uint32_t last = 0;

	for (const char *remote : {"\xc6\x13\0\1", "\xc6\x13\0\2"})
		for (auto one : Offsets(77, 1, second, remote)) {
			different.insert(one.second);
			steps.insert(one.second - last);
			last = one.second;
		}
	EXPECT_EQ(120u, different.size());
	EXPECT_LT(115u, steps.size()); /* nor is one port a fixed step from the next */
}

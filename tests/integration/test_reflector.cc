/* SPDX-License-Identifier: BSD-3-Clause */
/* The reflector: which frames it sends back, how they look, what it answers, and what it counts. */
#include "relay_under_test.h"

TEST(Reflector, SendsTestFramesBackAndNothingElse)
{
	for (double delay : {0.0, 1e3}) {
		Relay reflector(true);
		Bytes other = test_frame(9), to_all = test_frame(9);
		std::vector<Bytes> list;

		other[50] ^= 1; /* no signature any more */
		to_all[0] = 0xff;
		for (uint64_t i = 0; i < 100; i++) {
			list.push_back(test_frame(i));
			list.push_back(i % 2 == 0 ? other : to_all);
		}
		reflector.way.delay_ns = delay;
		std::vector<Gone> gone = reflector.Run(list);
		ASSERT_EQ(100u, gone.size());
		for (uint64_t i = 0; i < 100; i++) {
			Bytes expected = test_frame(i);

			ASSERT_TRUE(fg_net_reflect(expected.data(), expected.size()));
			ASSERT_EQ(expected, gone[i].bytes);
			ASSERT_EQ(0, memcmp(&gone[i].bytes[0], frames::peer_mac.data(), 6));
		}
		EXPECT_EQ(100u, reflector.Counters().not_reflected);
	}
}

TEST(Reflector, SendsBackWhatItsFilterSays)
{
	Relay reflector(true);
	Bytes other = test_frame(1);

	other[37] = 3;  /* another UDP port */
	other[59] ^= 1; /* and no signature */
	reflector.way.filter = "udp dst port 3";
	std::vector<Gone> gone = reflector.Run({test_frame(1), other});
	ASSERT_EQ(1u, gone.size());
	ASSERT_TRUE(fg_net_reflect(other.data(), other.size()));
	EXPECT_EQ(other, gone[0].bytes);
	EXPECT_EQ(1u, reflector.Counters().not_reflected);
	EXPECT_EQ(-EINVAL, fg_filter_check("udp port or", "", nullptr));
	EXPECT_EQ(0, fg_filter_check("udp port 7 or vlan 3", "", nullptr));
}

TEST(Reflector, StampsAnewIfSo)
{
	Relay reflector(true);
	fg_signature s;

	reflector.way.restamp = true;
	std::vector<Gone> gone = reflector.Run({test_frame(5)});
	ASSERT_EQ(1u, gone.size());
	ASSERT_TRUE(fg_signature_read(gone[0].bytes.data() + 60, 60, &s));
	EXPECT_EQ(7u, s.stream);
	EXPECT_EQ(5u, s.sequence);
	/* in the machine's time, at the begin of the round in which it came, which is less than a minute
	 * ago */
	fg_tsc now;
	fg_tsc_measure(&now);
	EXPECT_LE(fg_signature_elapsed(now.clock_ns, s.time_ns), 60000000000);
	EXPECT_GE(fg_signature_elapsed(now.clock_ns, s.time_ns), 0);
}

TEST(Reflector, AnswersForItself)
{
	Relay reflector(true);
	const Bytes question = frames::arp(1, frames::peer_mac, frames::peer_ipv4, {}, frames::host_ipv4);
	std::vector<Gone> gone = reflector.Run({question});

	ASSERT_EQ(1u, gone.size());
	EXPECT_EQ(2, gone[0].bytes[21]) << "an ARP reply";
	EXPECT_EQ(0, memcmp(&gone[0].bytes[22], frames::host_mac.data(), 6));
	EXPECT_EQ(1u, reflector.Counters().answered);
}

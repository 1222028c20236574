/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of iperf3 have in common: a test, orders, and what was counted. */
#ifndef L4_IPERF_H
#define L4_IPERF_H

#include <algorithm>
#include <string>

#include "l4_wire.h"

extern "C" {
#include "fg_l4_iperf.h"
}

namespace l4
{
const char iperf_cookie[] = "abcdefghijklmnopqrstuvwxyz2345672345";
const uint16_t iperf_port = 5201;

inline fg_l4_iperf_test
IperfTest(bool udp, uint32_t parallel, uint32_t length, double rate_bps = 0)
{
	fg_l4_iperf_test t = {};

	memcpy(t.cookie, iperf_cookie, sizeof(t.cookie));
	t.udp = udp;
	t.parallel = parallel;
	t.length = length;
	t.rate_bps = rate_bps;
	t.time_s = 2;
	return t;
}

inline fg_l4_iperf_state
State(const fg_l4 *l4)
{
	fg_l4_iperf_state s;

	fg_l4_iperf_look(l4, 0, &s);
	return s;
}

inline void
Order(fg_l4 *l4, uint32_t orders, const fg_l4_iperf_test *test = nullptr)
{
	fg_l4_iperf_order(l4, 0, orders, test);
}

/* of the figures */
inline uint64_t
Octets(const fg_l4_iperf_stream &s)
{
	return s.all.octets - s.omitted.octets;
}
inline uint64_t
Datagrams(const fg_l4_iperf_stream &s)
{
	return s.all.datagrams - s.omitted.datagrams;
}

/*
 * Our client with our server at a line of 10 Mbit/s and 1 ms each way. What the two would say to each other
 * is done here, but for the end of the test, which is a byte.
 */
class IperfWire : public Line
{
      public:
	explicit IperfWire(const fg_l4_iperf_test &what) : test(what)
	{
		fg_l4_app apps[2] = {Client("IPERF"), {}};

		ns_per_octet = 800;
		gap = 24;
		delay = ms;
		ring = 2 * ms;
		apps[0].port = iperf_port;
		apps[1] = ServerOf(apps[0]);
		looks = [this](uint64_t now) { Direct(now); };
		max_lag = ms;
		for (unsigned i : {0, 1})
			Create(i, apps[i], 4096, 10 * second);
		Run(20 * second);
		EXPECT_EQ(5u, stage);
		for (const fg_l4 *one : {l4[0], l4[1]}) {
			fg_l4_counters c;

			fg_l4_read_counters(one, &c);
			EXPECT_EQ(0u, c.rx_bad_checksum + c.rx_malformed + c.no_connection + c.table_full);
			EXPECT_EQ(0u, fg_l4_open(one));
		}
	}

	fg_l4_iperf_counts client, server; /* in the end */

      private:
	void
	Direct(uint64_t now)
	{
		const fg_l4_iperf_state c = State(l4[0]), s = State(l4[1]);
		uint32_t most = FG_L4_IPERF_STREAMS / 2;
		uint32_t streams = std::min(test.parallel, most) * (test.both ? 2 : 1);

		if (stage == 0 && c.connected && s.session == 1) {
			Order(l4[1], FG_L4_IPERF_OPEN, &test);
			Order(l4[0], FG_L4_IPERF_OPEN, &test);
			stage = 1;
		} else if (stage == 1 && c.streams == streams && s.streams == streams) {
			Order(l4[1], FG_L4_IPERF_RUN);
			Order(l4[0], FG_L4_IPERF_RUN);
			stage = 2;
		} else if (stage == 2 && c.halted) {
			EXPECT_FALSE(s.halted);
			EXPECT_TRUE(fg_l4_iperf_send(l4[0], 0, "\x4", 1));
			stage = 3;
		} else if (stage == 3 && s.halted) {
			EXPECT_EQ(4, fg_l4_iperf_received(l4[1], 0)[s.received - 1]);
			Order(l4[1], FG_L4_IPERF_TRUNCATE);
			since = now;
			stage = 4;
		} else if (stage == 4 && now > since + second && since != 0) {
			Order(l4[0], FG_L4_IPERF_COUNT);
			Order(l4[1], FG_L4_IPERF_COUNT);
			since = 0;
		} else if (stage == 4 && c.counted == 1 && s.counted == 1) {
			client = *fg_l4_iperf_read(l4[0], 0);
			server = *fg_l4_iperf_read(l4[1], 0);
			Order(l4[0], FG_L4_IPERF_END);
			Order(l4[1], FG_L4_IPERF_END);
			stage = 5;
		}
	}

	fg_l4_iperf_test test;
	unsigned stage = 0;
	uint64_t since = 0;
};

} /* namespace l4 */

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rte_mbuf.h>

#include "fg_departures.h"
#include "fg_signature.h"

namespace
{

TEST(Departures, AreApartByWhatLiesBetweenNeighboursOfOneStream)
{
	const struct {
		uint16_t stream;
		uint64_t sequence, time_ns;
	} sent[] = {{1, 0, 0}, {2, 1, 300}, {1, 1, 1000}, {2, 2, 1300}, {2, 3, 2500}, {2, 5, 9000}};
	fg_departures_config config = {};
	fg_departures_result r = {};
	fg_departures *d = nullptr;

	config.within_ns = config.between_ns = 1000;
	ASSERT_EQ(0, fg_departures_create(&config, &d, nullptr));
	for (const auto &frame : sent) {
		uint8_t octets[60] = {};
		rte_mbuf m = {}, *list[] = {&m};
		uint64_t arrival_ns = 0;

		m.buf_addr = octets;
		m.data_len = m.pkt_len = sizeof(octets);
		fg_signature_write(octets + sizeof(octets), frame.stream, frame.sequence, frame.time_ns);
		fg_departures_tap(d)->see(fg_departures_tap(d), list, &arrival_ns, 1);
	}
	fg_departures_read(d, &r);
	EXPECT_EQ(1u, r.count) << "frames 2 and 3 of stream 2";
	EXPECT_EQ(1200u, r.min_ns);
	EXPECT_EQ(200u, r.error_max_ns);
	fg_departures_free(d);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
/* QUIC's version negotiation (RFC 9000, 6) between our client and our server. */
#include "l4_quic.h"

namespace
{
using l4::QuicOptions;
using l4::QuicPair;

TEST(Quic, AServerNamesVersionsToWhoAsksForAnotherAndNeverThatOne)
{
	for (uint32_t offer : {0x1a2a3a4aU, 0x2a3a4a5aU, 0x12345678U}) {
		fg_l4_app client = l4::Client("TCP_CC");
		QuicOptions o;

		client.cycles = 1;
		o.set = [offer](fg_quic_config &to, fg_quic_config &) { to.offer = offer; };
		QuicPair pair(client, o);
		EXPECT_STREQ(offer == 0x1a2a3a4a ? "0x00000001 0x2a3a4a5a" : "0x00000001 0x1a2a3a4a",
			     pair.result[0].quic.versions)
			<< offer;
		EXPECT_EQ(1u, pair.Tally(0).versions_refused) << offer;
		EXPECT_EQ(1u, pair.Tally(0).failed) << offer;
		EXPECT_EQ(0u, pair.Tally(0).timed_out) << offer;
		EXPECT_LE(1u, pair.Tally(1).version_negotiations) << offer;
		EXPECT_EQ(0u, pair.Tally(1).handshakes) << offer;
	}
}
} // namespace

// SPDX-License-Identifier: BSD-3-Clause
/* What becomes of a connection of QUIC when its path changes under way. */
#include "l4_quic.h"

namespace
{
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;

/* from some frame on the client's frames come from another port, as behind a NAT that has forgotten it */
void
ExpectToFollow(const char *kind)
{
	fg_l4_app client = l4::Client(kind);
	QuicOptions o;
	unsigned n = 0, there = 0, old = 0;
	uint16_t port = 0;

	o.stop = 300 * ms;
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		uint8_t *at = &frame[l4::DATAGRAM - (from == 0 ? 8 : 6)];

		if (n < 100)
			port = (uint16_t)(at[0] << 8 | at[1]);
		if (from == 0 && n++ >= 100) {
			at[0] ^= 0x40;
			l4::WithoutChecksum(frame);
		} else if (from == 1 && (at[0] << 8 | at[1]) != port) {
			at[0] ^= 0x40;
			l4::WithoutChecksum(frame);
			there++;
		} else if (from == 1 && n >= 100) {
			old++;
			return false;
		}
		return true;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(100u, there) << kind;
	EXPECT_GT(200u, old) << "what was on its way, and one probe";
	EXPECT_LT(2000000u, pair.result[0].total.octets_in + pair.result[1].total.octets_in) << kind;
}

TEST(QuicPath, AServerFollowsItsClientToAnotherPort)
{
	ExpectToFollow("TCP_STREAM");
	ExpectToFollow("TCP_MAERTS");
}
} // namespace

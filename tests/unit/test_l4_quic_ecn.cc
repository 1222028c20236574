// SPDX-License-Identifier: BSD-3-Clause
/* ECN of QUIC (RFC 9000, 13.4): marks that leave and come, what is counted of them, and bad paths. */
#include "l4_quic.h"

namespace
{
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

enum { ECT_0 = 2, CE = 3 };
const size_t TOS = 15;

/* what a path has seen and done, by the side that sent */
struct Marks {
	unsigned seen[2][4] = {};
	std::function<uint8_t(unsigned n, uint8_t ecn)> becomes; /* of the client's frames */
	unsigned n = 0;
};

QuicOptions
Marking(Marks &m, bool ecn = true)
{
	QuicOptions o;

	o.set = [ecn](fg_quic_config &to, fg_quic_config &of) { to.ecn = of.ecn = ecn; };
	o.path = [&m](unsigned from, std::vector<uint8_t> &frame) {
		const uint8_t ecn = frame[TOS] & 3;

		m.seen[from][ecn]++;
		if (from == 0 && m.becomes) {
			frame[TOS] = (uint8_t)((frame[TOS] & ~3) | m.becomes(m.n++, ecn));
			frame[24] = frame[25] = 0;
			const uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
			memcpy(&frame[24], &sum, 2);
		}
		return true;
	};
	return o;
}

TEST(QuicEcn, NothingIsMarkedUnlessItIsAskedFor)
{
	Marks m;
	QuicPair pair(l4::Client("TCP_STREAM"), Marking(m, false));

	pair.ExpectNoFaults();
	for (unsigned i : {0, 1}) {
		EXPECT_EQ(0u, m.seen[i][1] + m.seen[i][ECT_0] + m.seen[i][CE]);
		EXPECT_EQ(0u, pair.Tally(i).ect_out + pair.Tally(i).ect_in + pair.Tally(i).ecn_failed);
	}
}

/* but for what leaves between the first ten datagrams and the first acknowledgement, and the close */
TEST(QuicEcn, AllIsMarkedAndCounted)
{
	for (const char *kind : {"TCP_STREAM", "TCP_MAERTS", "HTTP3"}) {
		fg_l4_app client = l4::Client(kind);
		Marks m;

		SCOPED_TRACE(kind);
		client.path = "/100000";
		client.response = 100000;
		client.host = "fg.test";
		QuicPair pair(client, Marking(m));
		pair.ExpectNoFaults();
		for (unsigned i : {0, 1}) {
			const fg_quic_tally &t = pair.Tally(i), &other = pair.Tally(1 - i);

			EXPECT_EQ(m.seen[i][ECT_0], t.ect_out);
			EXPECT_EQ(t.ect_out, other.ect_in);
			EXPECT_EQ(0u, t.ce_in + t.ce_counted + t.ecn_failed);
			EXPECT_GT(t.ect_out, t.datagrams_out / 2);
			EXPECT_LT(0u, t.ect_counted);
			EXPECT_GE(t.ect_out, t.ect_counted) << "a datagram after the handshake is a packet";
		}
	}
}

/* the receiver counts every CE of the path, the sender learns of them, and slows down as by losses */
TEST(QuicEcn, CeIsCountedAtBothEndsAndAnswered)
{
	Marks plain, m;
	unsigned marked = 0;

	m.becomes = [&marked](unsigned n, uint8_t ecn) {
		const bool hit = ecn == ECT_0 && n % 100 == 99;

		marked += hit;
		return hit ? (uint8_t)CE : ecn;
	};
	QuicPair pair(l4::Client("TCP_STREAM"), Marking(m)), free(l4::Client("TCP_STREAM"), Marking(plain));
	pair.ExpectNoFaults();
	EXPECT_LT(3u, marked);
	EXPECT_EQ(marked, pair.Tally(1).ce_in);
	EXPECT_EQ(pair.Tally(0).ect_out - marked, pair.Tally(1).ect_in);
	EXPECT_GE(marked, pair.Tally(0).ce_counted);
	EXPECT_LE(marked, pair.Tally(0).ce_counted + 1) << "the last may come behind the last ACK";
	EXPECT_EQ(0u, pair.Tally(0).ecn_failed);
	EXPECT_EQ(0u, pair.Tally(0).packets_lost);
	EXPECT_GT(free.result[1].total.octets_in, 2 * pair.result[1].total.octets_in);
}

/* the first flight is acknowledged without counts: no further datagram is marked */
TEST(QuicEcn, APathThatBleachesFailsValidation)
{
	Marks m;

	m.becomes = [](unsigned, uint8_t) { return (uint8_t)0; };
	QuicPair pair(l4::Client("TCP_STREAM"), Marking(m));
	pair.ExpectNoFaults();
	EXPECT_EQ(1u, pair.Tally(0).ecn_failed);
	EXPECT_LE(1u, pair.Tally(0).ect_out);
	EXPECT_GE(10u, pair.Tally(0).ect_out);
	EXPECT_EQ(0u, pair.Tally(0).ect_counted + pair.Tally(1).ect_in);
	EXPECT_EQ(0u, pair.Tally(1).ecn_failed) << "the way back lets it through";
	EXPECT_LT(10u, pair.Tally(1).ect_out);
}

/* a path that begins to do so under way is found out, too */
TEST(QuicEcn, APathThatBleachesLater)
{
	Marks m;

	m.becomes = [](unsigned n, uint8_t ecn) { return n < 500 ? ecn : (uint8_t)0; };
	QuicPair pair(l4::Client("TCP_STREAM"), Marking(m));
	pair.ExpectNoFaults();
	EXPECT_LT(400u, pair.Tally(1).ect_in);
	EXPECT_GE(500u, pair.Tally(1).ect_in);
	EXPECT_EQ(1u, pair.Tally(0).ecn_failed);
	EXPECT_GT(pair.Tally(0).datagrams_out, 2 * pair.Tally(0).ect_out);
}
} // namespace

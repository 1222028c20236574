// SPDX-License-Identifier: BSD-3-Clause
/* Stateless resets: of connections that a server has forgotten. */
#include "l4_quic.h"

extern "C" {
#include "fg_stream.h"
}

namespace
{
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

const size_t RESET = l4::DATAGRAM + 42;

/* the server gives up its connection, and what it says of that is lost, until it has forgotten it */
void
ExpectReset(uint64_t migrate_ns)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	unsigned frames = 0, resets = 0;
	bool deaf = false;
	QuicOptions o;

	client.cycles = 1;
	o.set = [migrate_ns](fg_quic_config &to, fg_quic_config &of) {
		to.migrate_ns = of.migrate_ns = migrate_ns;
	};
	o.change = [&](fg_l4 *server, unsigned from, std::vector<uint8_t> &) {
		if (from != 0 || ++frames != 5000)
			return;
		deaf = true;
		fg_stream_each(server, 0, [](fg_l4 *w, fg_stream *s) { fg_stream_abort(w, s); });
	};
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		bool is_reset = from == 1 && frame.size() == RESET;

		resets += deaf && is_reset;
		return from == 0 || !deaf || is_reset;
	};
	QuicPair pair(client, o);
	EXPECT_EQ(1u, pair.Tally(0).resets_in);
	EXPECT_STREQ("the peer: stateless reset", pair.result[0].quic.reason);
	EXPECT_EQ(1u, pair.result[0].total.opened);
	EXPECT_EQ(1u, pair.result[0].total.ended[FG_L4_END_RESET]);
	EXPECT_LE(1u, resets);
	EXPECT_EQ(resets, pair.Tally(1).resets_out);
	EXPECT_EQ(migrate_ns > 0, pair.Tally(0).migrations > 0);
	EXPECT_EQ(0u, fg_l4_open(pair.l4[0]));
}

TEST(QuicReset, AClientEndsWhenItsServerHasForgottenIt)
{
	ExpectReset(0);
	ExpectReset(100 * ms);
}

/* a datagram of @p length bytes of payload with a short header, for a connection of nobody */
std::vector<uint8_t>
Nobodys(const std::vector<uint8_t> &like, size_t length)
{
	std::vector<uint8_t> frame(like.begin(), like.begin() + l4::DATAGRAM);

	frame.resize(l4::DATAGRAM + length, 0x5a);
	frame[16] = (uint8_t)((length + 28) >> 8);
	frame[17] = (uint8_t)(length + 28);
	frame[24] = frame[25] = 0;
	const uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
	memcpy(&frame[24], &sum, 2);
	frame[l4::DATAGRAM - 4] = (uint8_t)((length + 8) >> 8);
	frame[l4::DATAGRAM - 3] = (uint8_t)(length + 8);
	l4::WithoutChecksum(frame);
	return frame;
}

/* @return resets that a server sent for these datagrams, in one second, and in the next */
std::pair<unsigned, unsigned>
ResetsOf(unsigned datagrams, size_t length)
{
	fg_l4_app client = l4::Client("TCP_CC");
	std::vector<uint8_t> first;
	QuicOptions o;

	client.cycles = 1;
	o.change = [&](fg_l4 *, unsigned from, std::vector<uint8_t> &frame) {
		if (from == 0 && first.empty())
			first = frame;
	};
	QuicPair pair(client, o);
	std::vector<uint8_t> frame = Nobodys(first, length);
	fg_endpoint *e = fg_l4_endpoint(pair.l4[1]);
	unsigned sent[2] = {};
	uint8_t room[2048];

	for (unsigned s : {0, 1})
		for (unsigned i = 0; i < datagrams; i++) {
			const uint64_t now = (400 + s) * second + i;
			const fg_arrival in = {frame.data(), frame.size(), now, true};
			fg_burst out = {};

			out.rooms = 1;
			out.capacity = sizeof(room);
			out.room[0] = room;
			e->input(e, &in, 1, &out);
			sent[s] += out.frames;
			EXPECT_EQ(out.frames * RESET, out.length[0]);
		}
	return {sent[0], sent[1]};
}

TEST(QuicReset, AServerSendsSomeAndNeverForWhatIsNotLonger)
{
	EXPECT_EQ(std::make_pair(0u, 0u), ResetsOf(5, 42));
	EXPECT_EQ(std::make_pair(5u, 5u), ResetsOf(5, 43));
	EXPECT_EQ(std::make_pair(1000u, 1000u), ResetsOf(3000, 1200));
}
} // namespace

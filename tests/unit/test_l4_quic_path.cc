// SPDX-License-Identifier: BSD-3-Clause
/* What becomes of a connection of QUIC when its path changes under way. */
#include <cmath>

#include "l4_quic.h"

namespace
{
using l4::ms;
using l4::QuicOptions;
using l4::QuicPair;
using l4::second;

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

/* the last byte of the sender's or the receiver's address becomes another one */
void
Readdress(std::vector<uint8_t> &frame, size_t at, uint8_t to)
{
	frame[at] = to;
	fg_put16(&frame[24], 0);
	uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
	memcpy(&frame[24], &sum, 2);
	l4::WithoutChecksum(frame);
}

/* from its 100th frame on the client has another address */
TEST(QuicPath, AServerFollowsItsClientToAnotherAddress)
{
	const size_t source = 29, destination = 33;
	for (const char *kind : {"TCP_STREAM", "TCP_MAERTS"}) {
		fg_l4_app client = l4::Client(kind);
		unsigned n = 0, there = 0;
		uint8_t before = 0;
		QuicOptions o;

		client.octets = 1000000;
		client.cycles = 1;
		o.stop = 60 * second;
		o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
			const uint8_t other = 77;

			if (from == 0) {
				before = frame[source];
				if (n++ >= 100)
					Readdress(frame, source, other);
			} else if (frame[destination] == other) {
				Readdress(frame, destination, before);
				there++;
			} else {
				return n < 100;
			}
			return true;
		};
		QuicPair pair(client, o);
		pair.ExpectNoFaults();
		EXPECT_LT(100u, there) << kind;
		EXPECT_EQ(1u, pair.Tally(1).migrations) << kind;
		EXPECT_EQ(1000000u, pair.result[0].total.octets_in + pair.result[1].total.octets_in) << kind;
	}
}

/* all is lost both ways until probes have doubled their time-outs some times */
TEST(QuicPath, ATransferGoesOnBehindADeadTime)
{
	fg_l4_app client = l4::Client("TCP_MAERTS");
	unsigned came = 0, lost = 0;
	QuicOptions o;

	client.octets = 1000000;
	client.cycles = 1;
	o.stop = 60 * second;
	o.path = [&](unsigned from, std::vector<uint8_t> &) {
		bool dead = ++came > 300 && lost < 116;

		lost += dead;
		return !dead;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(116u, lost);
	EXPECT_EQ(1000000u, pair.result[0].total.octets_in);
}

/* a client that only receives may send one datagram from there, and none before it gets something again */
TEST(QuicPath, AServerFollowsAClientThatSendsOneDatagramAlone)
{
	fg_l4_app client = l4::Client("TCP_MAERTS");
	unsigned n = 0, alone = 0;
	bool there = false;
	QuicOptions o;

	client.octets = 3000000;
	client.cycles = 1;
	o.stop = 60 * second;
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		uint8_t *at = &frame[l4::DATAGRAM - (from == 0 ? 8 : 6)];
		bool is_new = at[0] & 0x40;

		if (from == 1) {
			there = there || (is_new && n > 100);
			at[0] ^= is_new ? 0x40 : 0;
			l4::WithoutChecksum(frame);
			return n <= 100 || is_new;
		}
		if (++n <= 100)
			return true;
		at[0] ^= 0x40;
		l4::WithoutChecksum(frame);
		alone += !there;
		return there || n == 101;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_LT(1u, alone) << "some were on their way";
	EXPECT_EQ(1u, pair.Tally(1).migrations);
	EXPECT_EQ(3000000u, pair.result[0].total.octets_in);
}

uint16_t
PortOf(const std::vector<uint8_t> &frame, unsigned from)
{
	const uint8_t *at = &frame[l4::DATAGRAM - (from == 0 ? 8 : 6)];

	return (uint16_t)(at[0] << 8 | at[1]);
}

/*
 * A client takes another port every 200 ms of 2 s at the earliest, so not more often than that; each move is
 * seen by the path and at the server. What the server does not read comes behind the end: a client repeats
 * its last words for the 1st, 2nd, 4th, 8th datagram that still comes.
 */
void
ExpectToMove(const char *kind, bool silently)
{
	fg_l4_app client = l4::Client(kind);
	const uint64_t every = 200 * ms;
	std::vector<uint16_t> ports[2];
	unsigned frames = 0;
	QuicOptions o;

	o.stop = 2 * second;
	o.set = [silently](fg_quic_config &to, fg_quic_config &of) {
		for (fg_quic_config *c : {&to, &of})
			(silently ? c->rebind_ns : c->migrate_ns) = every;
	};
	o.path = [&](unsigned from, std::vector<uint8_t> &frame) {
		uint16_t port = PortOf(frame, from);

		frames += from == 1;
		if (std::find(ports[from].begin(), ports[from].end(), port) == ports[from].end())
			ports[from].push_back(port);
		return true;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	const fg_quic_tally &ours = pair.Tally(0), &theirs = pair.Tally(1);
	const fg_l4_times &gap = pair.result[0].quic.gap;
	EXPECT_LE(4u, ours.migrations) << kind << ": four PTO behind a full queue are up to half a second";
	EXPECT_GE(o.stop / every, ours.migrations) << kind;
	for (unsigned i : {0, 1}) {
		ASSERT_EQ(ours.migrations + 1, ports[i].size()) << kind << i;
		for (size_t n = 1; n < ports[i].size(); n++)
			EXPECT_EQ(ports[i][0] + n, ports[i][n]) << kind << i;
	}
	EXPECT_EQ(ours.migrations, theirs.migrations) << kind;
	EXPECT_EQ(silently ? 0 : ours.migrations, ours.paths_validated) << kind;
	EXPECT_LE(theirs.migrations, theirs.paths_validated + 1) << kind;
	EXPECT_EQ(0u, ours.paths_failed + theirs.paths_failed) << kind;
	EXPECT_GE(1 + std::log2(frames), theirs.discarded) << kind;
	EXPECT_LE(ours.migrations - 1, gap.count) << kind;
	EXPECT_LE(4 * ms, gap.min) << kind << ": a round trip";
	EXPECT_LT(1000000u, pair.result[0].total.octets_in + pair.result[1].total.octets_in) << kind;
}

TEST(QuicPath, AClientMovesToAnotherPortWithANewId)
{
	ExpectToMove("TCP_STREAM", false);
	ExpectToMove("TCP_MAERTS", false);
}

TEST(QuicPath, AClientTakesAnotherPortAsBehindANat)
{
	ExpectToMove("TCP_STREAM", true);
	ExpectToMove("TCP_MAERTS", true);
}

/* a server waits a part of a round trip before it follows a client that has sent one datagram from there */
TEST(QuicPath, ATransactionGoesOnAcrossARebind)
{
	QuicOptions o;

	o.stop = 2 * second;
	o.set = [](fg_quic_config &to, fg_quic_config &of) { to.rebind_ns = of.rebind_ns = 200 * ms; };
	QuicPair pair(l4::Client("TCP_RR"), o);
	pair.ExpectNoFaults();
	EXPECT_LE(8u, pair.Tally(0).migrations);
	EXPECT_GT(6 * ms, pair.result[0].transaction.max);
	EXPECT_LT(4 * ms, pair.result[1].rtt.min);
	EXPECT_GT(5 * ms, pair.result[1].rtt.max) << "the wait is no round trip";
}

/* a request of 1 byte waits behind nothing: a round trip of 4 ms, and two frames at 40 ns a byte */
TEST(QuicPath, TheGapOfAMigrationIsARoundTrip)
{
	QuicOptions o;

	o.set = [](fg_quic_config &to, fg_quic_config &of) { to.migrate_ns = of.migrate_ns = 100 * ms; };
	QuicPair pair(l4::Client("TCP_RR"), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(8u, pair.Tally(0).migrations);
	EXPECT_EQ(8u, pair.result[0].quic.gap.count);
	EXPECT_LT(4 * ms, pair.result[0].quic.gap.min);
	EXPECT_GT(4 * ms + 2 * 1300 * 40, pair.result[0].quic.gap.max) << "PATH_CHALLENGE fills its datagram";
}
} // namespace

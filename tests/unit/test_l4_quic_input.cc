// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a faulty peer, which has the keys, may say to QUIC: every fault ends the connection with the
 * error that RFC 9000 names, at both ends, and nothing is left of it.
 */
#include "l4_quic.h"
#include "quic_tamper.h"

#include <ngtcp2/version.h>

namespace
{
using l4::Bytes;
using l4::HANDSHAKE;
using l4::INITIAL;
using l4::ms;
using l4::ONE_RTT;
using l4::QuicOptions;
using l4::QuicPacket;
using l4::QuicPair;
using l4::second;
using l4::operator+;

enum { CLIENT, SERVER };

enum Error {
	FLOW_CONTROL = 0x03,
	STREAM_LIMIT = 0x04,
	STREAM_STATE = 0x05,
	FINAL_SIZE = 0x06,
	FRAME_ENCODING = 0x07,
	TRANSPORT_PARAMETER = 0x08,
	CONNECTION_ID_LIMIT = 0x09,
	PROTOCOL_VIOLATION = 0x0a,
	CRYPTO_BUFFER = 0x0d,
};

/* a packet of a side at a level is changed: the first one, or of 1-RTT keys one that has a datagram alone */
void
ExpectError(const char *what, Error error, unsigned by, l4::Level level,
	    std::function<void(QuicPacket &)> change)
{
	SCOPED_TRACE(what);
	fg_l4_app client = l4::Client("TCP_STREAM");
	unsigned seen = 0, changed = 0, n = level == ONE_RTT ? 2 : 0;
	QuicOptions o;
	char reason[40];

	l4::Tamper tamper([&](unsigned from, QuicPacket &packet) {
		if (from != by || packet.level != level || seen++ != n)
			return false;
		change(packet);
		changed++;
		return true;
	});
	client.cycles = 1;
	client.octets = 100000;
	o.set = [](fg_quic_config &, fg_quic_config &server) { server.tls.key_log = 100; };
	o.change = [&](fg_l4 *server, unsigned from, Bytes &frame) {
		fg_l4_result r;

		fg_l4_read(server, 0, &r);
		tamper(r.quic.key_log, from, frame);
	};
	QuicPair pair(client, o);
	ASSERT_EQ(1u, changed);
	snprintf(reason, sizeof(reason), "the peer: error 0x%x ", error);
	EXPECT_STREQ(reason, pair.result[by].quic.reason) << pair.result[1 - by].quic.reason;
	EXPECT_EQ(1u, pair.Tally(by).closed_with_error_in);
	EXPECT_EQ(1u, pair.Tally(1 - by).closed_with_error_out);
	for (unsigned i : {CLIENT, SERVER}) {
		EXPECT_EQ(0u, pair.counters[i].wrong_octets);
		EXPECT_EQ(0u, fg_l4_open(pair.l4[i]));
		EXPECT_EQ(0u, pair.result[i].total.ended[FG_L4_END_CLOSED]);
	}
}

/* instead of what the packet had */
std::function<void(QuicPacket &)>
Say(const Bytes &frames)
{
	return [frames](QuicPacket &p) { p.frames = frames; };
}

TEST(QuicInput, PacketsThatMustNotBe)
{
	for (unsigned by : {CLIENT, SERVER}) {
		ExpectError("reserved bits", PROTOCOL_VIOLATION, by, ONE_RTT,
			    [](QuicPacket &p) { p.reserved = 0x18; });
		ExpectError("reserved bits of a long header", PROTOCOL_VIOLATION, by, HANDSHAKE,
			    [](QuicPacket &p) { p.reserved = 0x0c; });
		ExpectError("no frame at all", PROTOCOL_VIOLATION, by, ONE_RTT, Say({}));
		ExpectError("a stream before the keys for it", PROTOCOL_VIOLATION, by, HANDSHAKE,
			    Say({0x08, 0, 'x'}));
		ExpectError("a number never sent", PROTOCOL_VIOLATION, by, ONE_RTT,
			    Say({0x02, 0x43, 0xe8, 0, 0, 0}));
	}
	ExpectError("HANDSHAKE_DONE of a client", PROTOCOL_VIOLATION, CLIENT, ONE_RTT, Say({0x1e}));
	ExpectError("NEW_TOKEN of a client", PROTOCOL_VIOLATION, CLIENT, ONE_RTT, Say({0x07, 1, 'x'}));
}

TEST(QuicInput, FramesThatAreNone)
{
	for (unsigned by : {CLIENT, SERVER}) {
		ExpectError("an unknown type", FRAME_ENCODING, by, ONE_RTT, Say({0x21}));
		ExpectError("no value", FRAME_ENCODING, by, ONE_RTT, Say({0x10}));
		ExpectError("half a value", FRAME_ENCODING, by, ONE_RTT, Say({0x10, 0x80, 0}));
		ExpectError("data beyond the packet", FRAME_ENCODING, by, ONE_RTT,
			    Say({0x0a, 0, 0x40, 0x50, 'x'}));
		ExpectError("ranges below zero", FRAME_ENCODING, by, ONE_RTT, Say({0x02, 0, 0, 0, 1}));
		ExpectError("more streams than there are numbers", FRAME_ENCODING, by, ONE_RTT,
			    Say({0x12, 0xd0, 0, 0, 0, 0, 0, 0, 1}));
		ExpectError("an ID of 21 bytes", FRAME_ENCODING, by, ONE_RTT,
			    Say(Bytes{0x18, 9, 0, 21} + Bytes(37, 7)));
	}
}

TEST(QuicInput, StreamsBeyondTheirLimits)
{
	ExpectError("more than the window", FLOW_CONTROL, CLIENT, ONE_RTT,
		    Say({0x0e, 0, 0x81, 0, 0, 0, 1, 'x'}));
	ExpectError("more than the window of a stream of its own", FLOW_CONTROL, CLIENT, ONE_RTT,
		    Say({0x0e, 2, 0x80, 0, 0x40, 0, 1, 'x'}));
	ExpectError("a second stream", STREAM_LIMIT, CLIENT, ONE_RTT, Say({0x0a, 4, 1, 'x'}));
	ExpectError("a fourth stream one way", STREAM_LIMIT, CLIENT, ONE_RTT, Say({0x0a, 14, 1, 'x'}));
	ExpectError("a stream of the server's", STREAM_LIMIT, SERVER, ONE_RTT, Say({0x0a, 1, 1, 'x'}));
	ExpectError("a stream that only the server may send on", STREAM_STATE, CLIENT, ONE_RTT,
		    Say({0x0a, 3, 1, 'x'}));
	ExpectError("a stream that the client has not begun", STREAM_STATE, SERVER, ONE_RTT,
		    Say({0x0a, 4, 1, 'x'}));
	ExpectError("two sizes", FINAL_SIZE, CLIENT, ONE_RTT, Say({0x0f, 2, 1, 1, 'y', 0x0f, 2, 2, 1, 'z'}));
#if NGTCP2_VERSION_NUM < 0x010000 /* later ones forget a stream that is over, as RFC 9000, 4.5, allows */
	ExpectError("another size behind the end", FINAL_SIZE, CLIENT, ONE_RTT,
		    Say({0x0b, 2, 1, 'x', 0x0f, 2, 0, 2, 'x', 'y'}));
#endif
	ExpectError("a size before the end", FINAL_SIZE, CLIENT, ONE_RTT,
		    Say({0x0a, 2, 2, 'x', 'y', 0x04, 2, 0, 1}));
}

TEST(QuicInput, IdsThatAreWrong)
{
	for (unsigned by : {CLIENT, SERVER}) {
		ExpectError("an ID never given", PROTOCOL_VIOLATION, by, ONE_RTT, Say({0x19, 0x40, 0x64}));
		ExpectError("another ID of the same number", PROTOCOL_VIOLATION, by, ONE_RTT,
			    Say(Bytes{0x18, 1, 0, 8} + Bytes(24, 7)));
		Bytes many;
		for (uint8_t i = 20; i < 40; i++)
			many = many + Bytes{0x18, i, 0, 8} + Bytes(24, i);
		ExpectError("more IDs than wanted", CONNECTION_ID_LIMIT, by, ONE_RTT, Say(many));
	}
}

TEST(QuicInput, CryptoFarAhead)
{
	for (unsigned by : {CLIENT, SERVER})
		ExpectError("beyond what is kept", CRYPTO_BUFFER, by, HANDSHAKE,
			    Say({0x06, 0x80, 1, 0x11, 0x70, 1, 'x'}));
}

/* Where the extensions of a ClientHello or of EncryptedExtensions begin, behind their length */
size_t
Extensions(const Bytes &f, size_t message)
{
	size_t at = message + 4;

	if (f[message] == 1) {
		at += 34;
		at += 1U + f[at];
		at += 2U + fg_get16(&f[at]);
		at += 1U + f[at];
	}
	return at + 2;
}

/* Put bytes into the transport parameters of either end, and as many off the padding where there is some */
void
AddParameters(QuicPacket &p, const Bytes &more)
{
	const size_t message = 4; /* behind type, offset of 1 and length of 2 */
	Bytes &f = p.frames;
	size_t all = Extensions(f, message), at = all;
	auto add = [&](size_t to) { fg_put16(&f[to], (uint16_t)(fg_get16(&f[to]) + more.size())); };

	ASSERT_EQ(0x06, f[0]);
	ASSERT_EQ(0x40, f[2] & 0xc0);
	while (fg_get16(&f[at]) != 0x39)
		at += 4U + fg_get16(&f[at + 2]);
	f.insert(f.begin() + (long)at + 4 + fg_get16(&f[at + 2]), more.begin(), more.end());
	for (size_t to : {at + 2, all - 2, message + 2, (size_t)2})
		add(to);
	if (f.back() == 0)
		f.resize(f.size() - more.size());
}

TEST(QuicInput, TransportParametersThatMustNotBe)
{
	static const struct {
		const char *what;
		Bytes more;
		bool also_of_server;
	} cases[] = {
		{"datagrams of 1199", {0x03, 2, 0x44, 0xaf}, true},
		{"an exponent of 21", {0x0a, 1, 21}, true},
		{"a delay of 2^14", {0x0b, 4, 0x80, 0, 0x40, 0}, true},
		{"a limit of one ID", {0x0e, 1, 1}, true},
		{"an ID that is not its own", {0x0f, 8, 1, 2, 3, 4, 5, 6, 7, 8}, true},
		{"the client's first ID, which it was not", {0x00, 8, 1, 2, 3, 4, 5, 6, 7, 8}, true},
		{"a Retry that there was not", {0x10, 8, 1, 2, 3, 4, 5, 6, 7, 8}, true},
		{"a value cut off", {0x04, 8, 0x80}, true},
		{"more streams than there are numbers", {0x08, 8, 0xd0, 0, 0, 0, 0, 0, 0, 1}, true},
		{"a token of a client", Bytes{0x02, 16} + Bytes(16, 7), false},
	};

	for (const auto &one : cases)
		for (unsigned by = CLIENT; by <= (one.also_of_server ? SERVER : CLIENT); by++)
			ExpectError(one.what, TRANSPORT_PARAMETER, by, by == CLIENT ? INITIAL : HANDSHAKE,
				    [&](QuicPacket &p) { AddParameters(p, one.more); });
}

TEST(QuicInput, AServerSendsThreeTimesWhatCameToAnAddressNotValidated)
{
	fg_l4_app client = l4::Client("TCP_CC");
	unsigned came = 0;
	size_t octets = 0;
	QuicOptions o;

	client.cycles = 1;
	o.path = [&](unsigned from, Bytes &frame) {
		octets += from == 1 ? frame.size() - l4::DATAGRAM : 0;
		return from == 0 && came++ == 0; /* an Initial that nothing follows */
	};
	QuicPair pair(client, o);
	EXPECT_LT(2U * 1452, octets);
	EXPECT_GE(3U * 1452, octets);
	EXPECT_EQ(1u, pair.Tally(SERVER).timed_out);
	EXPECT_EQ(0u, fg_l4_open(pair.l4[SERVER]));
}

/* some of the client's frames in a row seem to come from another address */
QuicOptions
Spoof(unsigned datagrams, unsigned *n, size_t *there)
{
	QuicOptions o;

	o.stop = 60 * second;
	o.path = [=](unsigned from, Bytes &frame) {
		const uint8_t other = 77;

		if (from == 0 && (*n)++ >= 60 && *n <= 60 + datagrams) {
			frame[29] = other; /* of the sender's address; its checksum */
			fg_put16(&frame[24], 0);
			uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
			memcpy(&frame[24], &sum, 2);
			l4::WithoutChecksum(frame);
		}
		*there += from == 1 && frame[33] == other ? frame.size() : 0;
		return from == 0 || frame[33] != other;
	};
	return o;
}

fg_l4_app
ThreeMegabytes()
{
	fg_l4_app client = l4::Client("TCP_MAERTS");

	client.octets = 3000000;
	client.cycles = 1;
	return client;
}

TEST(QuicInput, AWrongSourceOrTwoTakeNothingAway)
{
	for (unsigned datagrams : {1, 2}) {
		unsigned n = 0;
		size_t there = 0;
		QuicPair pair(ThreeMegabytes(), Spoof(datagrams, &n, &there));

		pair.ExpectNoFaults();
		EXPECT_LT(100u, n);
		EXPECT_EQ(0u, there);
		EXPECT_EQ(3000000u, pair.result[CLIENT].total.octets_in);
	}
}

TEST(QuicInput, WrongSourcesGetNoMoreThanThreeTimesWhatTheySent)
{
	unsigned n = 0;
	size_t there = 0;
	QuicPair pair(ThreeMegabytes(), Spoof(10, &n, &there));

	EXPECT_LT(0u, there) << "the new path is validated, in vain";
	EXPECT_GE(3U * 10 * 80, there);
	for (unsigned i : {CLIENT, SERVER})
		EXPECT_EQ(0u, fg_l4_open(pair.l4[i]));
}

/* As a fuzzer would, but with the right keys: whatever a peer says, it ends, and is accounted for. */
TEST(QuicInput, WhateverAPeerSaysItEnds)
{
	unsigned changed = 0, refused = 0;

	for (unsigned seed = 0; seed < 150; seed++) {
		fg_l4_app client = l4::Client(seed % 2 == 0 ? "TCP_STREAM" : "TCP_MAERTS");
		std::mt19937_64 random(seed);
		QuicOptions o;

		l4::Tamper tamper([&](unsigned from, QuicPacket &packet) {
			Bytes &f = packet.frames;

			if (from != seed / 2 % 2 || packet.number > 200 || random() % 8 != 0 || f.empty())
				return false;
			size_t at = random() % std::min<size_t>(f.size(), 64);
			switch (random() % 4) {
			case 0:
				f[at] ^= (uint8_t)(1 << random() % 8);
				break;
			case 1:
				f.resize(at);
				break;
			case 2:
				f.insert(f.begin() + (long)at, (uint8_t)random());
				break;
			default:
				f[at] = (uint8_t)(random() % 0x20);
			}
			changed++;
			return true;
		});
		client.cycles = 1;
		client.octets = 60000;
		o.seed = seed;
		o.set = [](fg_quic_config &, fg_quic_config &server) { server.tls.key_log = 100; };
		o.change = [&](fg_l4 *server, unsigned from, Bytes &frame) {
			fg_l4_result r;

			fg_l4_read(server, 0, &r);
			tamper(r.quic.key_log, from, frame);
		};
		QuicPair pair(client, o);
		for (unsigned i : {CLIENT, SERVER}) {
			const fg_l4_tally &total = pair.result[i].total;
			uint64_t ended = 0;

			for (uint64_t n : total.ended)
				ended += n;
			EXPECT_EQ(total.opened, ended) << seed;
			EXPECT_EQ(0u, fg_l4_open(pair.l4[i])) << seed;
			refused += pair.Tally(i).closed_with_error_out;
		}
	}
	EXPECT_LT(300u, changed);
	EXPECT_LT(100u, refused);
}

} // namespace

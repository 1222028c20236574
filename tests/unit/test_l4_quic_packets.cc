// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packets of a handshake that a client of QUIC sends and reads (RFC 9000, 5, 6, 12.2, 17.2): what its first
 * datagram has, and what it must not believe.
 */
#include <algorithm>

#include "l4_quic.h"
#include "quic_tamper.h"

namespace
{
using l4::Bytes;
using l4::DATAGRAM;
using l4::ms;
using l4::QuicOptions;
using l4::QuicPacket;
using l4::QuicPair;
using l4::second;
using l4::operator+;

/* what is behind the headers of a frame becomes this */
void
Replace(Bytes &frame, const Bytes &datagram)
{
	frame.resize(DATAGRAM);
	frame = frame + datagram;
	fg_put16(&frame[16], (uint16_t)(frame.size() - 14));
	fg_put16(&frame[24], 0);
	uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
	memcpy(&frame[24], &sum, 2);
	fg_put16(&frame[38], (uint16_t)(frame.size() - 34));
	l4::WithoutChecksum(frame);
}

Bytes
DatagramOf(const Bytes &frame)
{
	return {frame.begin() + DATAGRAM, frame.end()};
}

/* an ID of a long header behind its length, the destination's or the source's */
Bytes
IdOf(const Bytes &datagram, bool source)
{
	size_t at = 5;

	if (source)
		at += 1U + datagram[at];
	return {datagram.begin() + (long)at, datagram.begin() + (long)at + 1 + datagram[at]};
}

bool
Has(const Bytes &in, const char *text)
{
	return std::search(in.begin(), in.end(), text, text + strlen(text)) != in.end();
}

fg_l4_app
OneHandshake()
{
	fg_l4_app client = l4::Client("TCP_CC");

	client.cycles = 1;
	return client;
}

TEST(QuicPackets, AClientsFirstDatagram)
{
	Bytes first, hello;
	QuicOptions o;

	l4::Tamper tamper([&](unsigned from, QuicPacket &packet) {
		if (from == 0 && hello.empty())
			hello = packet.frames;
		return false;
	});
	o.change = [&](fg_l4 *, unsigned from, Bytes &frame) {
		if (first.empty())
			first = DatagramOf(frame);
		tamper("", from, frame);
	};
	QuicPair pair(OneHandshake(), o);
	pair.ExpectNoFaults();
	ASSERT_LE(1200u, first.size());
	EXPECT_EQ(0xc0, first[0] & 0xf0) << "an Initial";
	EXPECT_EQ((Bytes{0, 0, 0, 1}), Bytes(first.begin() + 1, first.begin() + 5));
	EXPECT_EQ(18, IdOf(first, false)[0]);
	EXPECT_EQ(8, IdOf(first, true)[0]);
	EXPECT_TRUE(Has(hello, "fg.test"));
	EXPECT_TRUE(Has(hello, "\4perf"));
}

/*
 * A datagram of the server's, from 0, becomes a Version Negotiation packet. The client must take no notice:
 * what was in its place comes again.
 */
void
ExpectToIgnore(const char *what, unsigned which, Bytes versions, bool other_id)
{
	SCOPED_TRACE(what);
	unsigned n = 0, replaced = 0;
	QuicOptions o;
	Bytes first;

	o.stop = 10 * second;
	o.path = [&](unsigned from, Bytes &frame) {
		if (first.empty())
			first = DatagramOf(frame);
		if (from == 0 || n++ != which)
			return true;
		Bytes to = IdOf(first, true), of = IdOf(first, false);
		of.back() ^= other_id;
		Replace(frame, Bytes{0xc0, 0, 0, 0, 0} + to + of + versions);
		replaced++;
		return true;
	};
	QuicPair pair(OneHandshake(), o);
	pair.ExpectNoFaults();
	EXPECT_EQ(1u, replaced);
	EXPECT_EQ(1u, pair.Tally(0).handshakes);
	EXPECT_EQ(0u, pair.Tally(0).versions_refused);
}

TEST(QuicPackets, VersionNegotiationThatAClientMustIgnore)
{
	const Bytes ours = {0, 0, 0, 1}, others = {0x1a, 0x2a, 0x3a, 0x4a};

	ExpectToIgnore("it names the version that was asked for", 0, others + ours, false);
	ExpectToIgnore("it answers another ID", 0, others, true);
	ExpectToIgnore("it comes behind another packet", 1, others, false);
}

/* @param change  of the server's datagram number n, from 0, once it has said Retry */
void
ExpectOneRetry(std::function<void(unsigned n, Bytes &frame)> change, uint64_t sent)
{
	unsigned n = 0;
	QuicOptions o;

	o.stop = 10 * second;
	o.set = [](fg_quic_config &, fg_quic_config &server) { server.retry = true; };
	o.path = [&](unsigned from, Bytes &frame) {
		if (from == 1)
			change(n++, frame);
		return true;
	};
	QuicPair pair(OneHandshake(), o);
	pair.ExpectNoFaults();
	EXPECT_LT(2u, n);
	EXPECT_EQ(1u, pair.Tally(0).handshakes);
	EXPECT_EQ(1u, pair.Tally(0).retries);
	EXPECT_EQ(sent, pair.Tally(1).retries);
}

TEST(QuicPackets, RetryThatAClientMustIgnore)
{
	Bytes retry;

	/* its tag is wrong: the client asks again, and gets another one */
	ExpectOneRetry(
		[](unsigned n, Bytes &frame) {
			if (n == 0) {
				frame.back() ^= 1;
				l4::WithoutChecksum(frame);
			}
		},
		2);
	/* a second one */
	ExpectOneRetry(
		[&](unsigned n, Bytes &frame) {
			if (n == 0)
				retry = DatagramOf(frame);
			else if (n == 1)
				Replace(frame, retry);
		},
		1);
}

/* Packets of two connections in one datagram: the second one is dropped (RFC 9000, 12.2). */
TEST(QuicPackets, APacketOfAnotherConnectionInADatagramIsDropped)
{
	fg_l4_app client = OneHandshake();
	Bytes held, id;
	unsigned n = 0, behind = 0;
	QuicOptions o;

	client.connections = 2;
	o.stop = 10 * second;
	o.path = [&](unsigned from, Bytes &frame) {
		if (from == 1)
			return true;
		if (n++ == 1) { /* the second connection's first Initial is held back ... */
			held = DatagramOf(frame);
			return false;
		}
		if (n == 3) { /* ... and comes behind what the first one sends next */
			Replace(frame, DatagramOf(frame) + held);
			behind++;
		}
		return true;
	};
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(1u, behind);
	EXPECT_EQ(2u, pair.Tally(1).handshakes);
	EXPECT_LT(300 * ms, pair.result[0].setup.max) << "it was sent again after its time-out";
	EXPECT_GT(20 * ms, pair.result[0].setup.min) << "the first packet was read";
}

/* The client's end of the handshake is lost; what it sends behind it is kept until that comes again. */
TEST(QuicPackets, WhatComesBeforeItsKeysIsKept)
{
	fg_l4_app client = l4::Client("TCP_STREAM");
	unsigned n = 0;
	QuicOptions o;

	client.cycles = 1;
	client.octets = 5 * 1400;
	o.stop = 10 * second;
	o.path = [&](unsigned from, Bytes &) { return from != 0 || n++ != 1; };
	QuicPair pair(client, o);
	pair.ExpectNoFaults();
	EXPECT_EQ(client.octets, pair.result[1].total.octets_in);
	EXPECT_EQ(0u, pair.Tally(1).undecryptable);
	EXPECT_GE(2u, pair.Tally(0).packets_lost) << "those that came were not sent again";
}
} // namespace

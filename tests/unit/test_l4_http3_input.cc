// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a peer of HTTP/3 must not say (RFC 9114, 9204): somebody on the way who has the keys lets it say that
 * on a stream. The connection ends with the code that the RFC names, and nothing is left of it.
 */
#include <random>

#include "l4_http3.h"
#include "quic_tamper.h"

namespace
{
using l4::Bytes;
using l4::HANDSHAKE;
using l4::Http3;
using l4::ONE_RTT;
using l4::QuicOptions;
using l4::QuicPacket;
using l4::QuicPair;
using l4::second;
using l4::Tamper;
using l4::operator+;

enum { CLIENT, SERVER };
enum {
	CONTROL = 2,
	ENCODER = 6,
	DECODER = 10,
	REQUEST = 0,
	EXTRA = 14,
	SERVERS = 1 /* and its streams one way */
};
enum {
	GENERAL_PROTOCOL = 0x101,
	STREAM_CREATION = 0x103,
	CLOSED_CRITICAL = 0x104,
	FRAME_UNEXPECTED = 0x105,
	FRAME_ERROR = 0x106,
	ID_ERROR = 0x108,
	SETTINGS_ERROR = 0x109,
	MISSING_SETTINGS = 0x10a,
	MESSAGE_ERROR = 0x10e,
	DECOMPRESSION = 0x200,
	ENCODER_STREAM = 0x201,
	DECODER_STREAM = 0x202,
};

Bytes
Integer(uint64_t v)
{
	if (v < 64)
		return {(uint8_t)v};
	return {(uint8_t)(0x80 | v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
}

Bytes
Stream(uint64_t id, uint64_t offset, const Bytes &data, bool fin = false)
{
	return Bytes{(uint8_t)(fin ? 0x0f : 0x0e)} + Integer(id) + Integer(offset) + Integer(data.size()) +
	       data;
}

/*
 * One side's first packet with 1-RTT keys has these frames in place of its own; nothing else that it sends
 * with those keys arrives.
 */
class Liar
{
      public:
	/* @param at_once  by a server: they come in the datagram that has its part of the handshake */
	Liar(unsigned by, const Bytes &frames, bool at_once = false)
	{
		fg_l4_app client = Http3(1000);
		Tamper tamper([&](unsigned from, QuicPacket &packet) {
			if (packet.level == ONE_RTT && from == 1 - by)
				LookForClose(packet.frames);
			if (packet.level == HANDSHAKE && from == by && at_once) {
				/* CRYPTO from 0 on, its length in two bytes; PADDING would take their room */
				packet.frames.resize(4U + (fg_get16(&packet.frames[2]) & 0x3fff));
				packet.behind = frames;
				at_once = false;
				return true;
			}
			if (packet.level != ONE_RTT || from != by)
				return false;
			/* PADDING: an Initial in the same datagram needs 1,200 bytes of it */
			size_t before = packet.frames.size();
			packet.frames = said ? Bytes(4) : frames + Bytes(4);
			packet.frames.resize(std::max(before, packet.frames.size()));
			said = true;
			return true;
		});
		QuicOptions o;

		client.cycles = 1;
		client.requests = 1;
		o.set = [](fg_quic_config &c, fg_quic_config &s) {
			c.handshake_ns = s.handshake_ns = c.idle_ns = s.idle_ns = second;
			s.tls.key_log = 100;
		};
		o.change = [&](fg_l4 *server, unsigned from, Bytes &frame) {
			fg_l4_result r;

			fg_l4_read(server, 0, &r);
			tamper(r.quic.key_log, from, frame);
		};
		pair = std::make_unique<QuicPair>(client, o);
		EXPECT_EQ(0u, fg_l4_open(pair->l4[0]) + fg_l4_open(pair->l4[1]));
	}

	std::unique_ptr<QuicPair> pair;
	/* by the one that was lied to, of the application, for the connection and for a stream */
	unsigned code = 0, stream_code = 0;

      private:
	void
	LookForClose(const Bytes &f)
	{
		if (f[0] == 0x1d) /* alone in its packet, the code in two bytes */
			code = (f[1] & 0x3fU) << 8 | f[2];
		for (size_t i = 0; i + 4 <= f.size(); i++) /* RESET_STREAM or STOP_SENDING of the request */
			if ((f[i] == 0x04 || f[i] == 0x05) && f[i + 1] == REQUEST && f[i + 2] == 0x41)
				stream_code = (f[i + 2] & 0x3fU) << 8 | f[i + 3];
	}
	bool said = false;
};

void
ExpectCode(const char *what, unsigned code, unsigned by, const Bytes &frames)
{
	Liar liar(by, frames);

	EXPECT_EQ(code, liar.code) << what << " by " << (by == CLIENT ? "a client" : "a server") << ": "
				   << liar.pair->result[1 - by].quic.reason;
	EXPECT_EQ(code == 0 ? 0u : 1u, liar.pair->Tally(1 - by).closed_with_error_out) << what;
	EXPECT_EQ(0u, liar.pair->result[CLIENT].total.transactions) << what;
}

/* by both: streams that a server opens have odd numbers */
void
ExpectOfBoth(const char *what, unsigned code, uint64_t stream, const Bytes &data, bool fin = false)
{
	for (unsigned by : {CLIENT, SERVER})
		ExpectCode(what, code, by, Stream(stream + by, 0, data, fin));
}

/* the stream ends, the connection goes on */
void
ExpectMalformed(const char *what, unsigned by, const Bytes &head)
{
	Liar liar(by, Stream(REQUEST, 0, head, true));

	EXPECT_EQ(MESSAGE_ERROR, liar.stream_code) << what;
	EXPECT_EQ(1u, liar.pair->result[1 - by].total.own[MESSAGE_MALFORMED]) << what;
	EXPECT_EQ(0u, liar.pair->Tally(1 - by).closed_with_error_out) << what;
	EXPECT_EQ(0u, liar.pair->result[CLIENT].total.transactions) << what;
}

const Bytes SETTINGS = {0x00, 0x04, 0x00};                                /* the type of the stream; none */
const Bytes HEAD = {0x01, 0x07, 0x00, 0x00, 0xd1, 0xd7, 0x50, 0x01, 'a'}; /* GET https a, no path */
const Bytes WHOLE = {0x01, 0x08, 0x00, 0x00, 0xd1, 0xd7, 0xc1, 0x50, 0x01, 'a'};

TEST(Http3Input, ControlStreams)
{
	ExpectOfBoth("a frame before SETTINGS", MISSING_SETTINGS, CONTROL, {0x00, 0x07, 0x01, 0x00});
	ExpectOfBoth("SETTINGS twice", FRAME_UNEXPECTED, CONTROL, SETTINGS + Bytes{0x04, 0x00});
	ExpectOfBoth("SETTINGS cut off", FRAME_ERROR, CONTROL, {0x00, 0x04, 0x01, 0x06});
	ExpectOfBoth("DATA", FRAME_UNEXPECTED, CONTROL, SETTINGS + Bytes{0x00, 0x00});
	ExpectOfBoth("HEADERS", FRAME_UNEXPECTED, CONTROL, SETTINGS + Bytes{0x01, 0x00});
	for (uint8_t type : {2, 6, 8, 9})
		ExpectOfBoth("a frame of HTTP/2", FRAME_UNEXPECTED, CONTROL, SETTINGS + Bytes{type, 0x00});
	for (uint8_t setting : {2, 3, 4, 5})
		ExpectOfBoth("a setting of HTTP/2", SETTINGS_ERROR, CONTROL, {0x00, 0x04, 2, setting, 0});
	ExpectOfBoth("its end", CLOSED_CRITICAL, CONTROL, SETTINGS, true);
	ExpectCode("the number of no request", ID_ERROR, SERVER,
		   Stream(CONTROL + SERVER, 0, SETTINGS + Bytes{0x07, 0x01, 0x01}));
	ExpectCode("a larger number than before", ID_ERROR, SERVER,
		   Stream(CONTROL + SERVER, 0, SETTINGS + Bytes{0x07, 1, 4, 0x07, 1, 8}));
	ExpectCode("MAX_PUSH_ID", FRAME_UNEXPECTED, SERVER,
		   Stream(CONTROL + SERVER, 0, SETTINGS + Bytes{0x0d, 0x01, 0x01}));
	ExpectOfBoth("CANCEL_PUSH", FRAME_UNEXPECTED, CONTROL, SETTINGS + Bytes{0x03, 0x01, 0x00});
}

/* our client has not ended its handshake yet, and does so to be able to say why it leaves */
TEST(Http3Input, WithTheServersPartOfTheHandshake)
{
	Liar liar(SERVER, Stream(CONTROL + SERVER, 0, {0x00, 0x07, 0x01, 0x00}), true);

	EXPECT_EQ(MISSING_SETTINGS, (int)liar.code) << liar.pair->result[CLIENT].quic.reason;
	EXPECT_EQ(1u, liar.pair->Tally(SERVER).handshakes);
	EXPECT_EQ(1u, liar.pair->Tally(SERVER).closed_with_error_in);
}

TEST(Http3Input, StreamsThatMustNotBe)
{
	for (uint8_t type : {0, 2, 3})
		for (unsigned by : {CLIENT, SERVER})
			ExpectCode("twice", STREAM_CREATION, by,
				   Stream(CONTROL + by, 0, type == 0 ? SETTINGS : Bytes{type}) +
					   Stream(ENCODER + by, 0, {type}));
	ExpectOfBoth("a push", STREAM_CREATION, CONTROL, {0x01, 0x00});
	ExpectOfBoth("the end of the encoder", CLOSED_CRITICAL, ENCODER, {0x02, 0x20}, true);
	ExpectOfBoth("the end of the decoder", CLOSED_CRITICAL, DECODER, {0x03, 0x40}, true);
}

TEST(Http3Input, RequestsAndResponses)
{
	for (unsigned by : {CLIENT, SERVER}) {
		ExpectCode("DATA first", FRAME_UNEXPECTED, by, Stream(REQUEST, 0, {0x00, 0x01, 'x'}));
		ExpectCode("SETTINGS", FRAME_UNEXPECTED, by, Stream(REQUEST, 0, {0x04, 0x00}));
		ExpectCode("GOAWAY", FRAME_UNEXPECTED, by, Stream(REQUEST, 0, {0x07, 0x01, 0x00}));
		ExpectCode("a push", FRAME_UNEXPECTED, by, Stream(REQUEST, 0, {0x05, 0x01, 0x00}));
		for (uint8_t type : {2, 6, 8, 9})
			ExpectCode("a frame of HTTP/2", FRAME_UNEXPECTED, by,
				   Stream(REQUEST, 0, {type, 0x00}));
		ExpectCode("fields cut off", FRAME_ERROR, by, Stream(REQUEST, 0, {0x01, 0x05, 0x00}, true));
		ExpectMalformed("upper case", by, {0x01, 0x06, 0x00, 0x00, 0x21, 'A', 0x01, 'x'});
	}
	ExpectMalformed("no path", CLIENT, HEAD);
	ExpectCode("a body shorter than its length", MESSAGE_ERROR, CLIENT,
		   Stream(REQUEST, 0,
			  Bytes{0x01, 0x0b, 0x00, 0x00, 0xd1, 0xd7, 0xc1, 0x50, 0x01, 'a', 0x54, 0x01, '9'} +
				  Bytes{0x00, 0x01, 'x'},
			  true));
	ExpectMalformed("a response without status", SERVER, {0x01, 0x02, 0x00, 0x00});
	ExpectCode("HEADERS after trailers", FRAME_UNEXPECTED, CLIENT,
		   Stream(REQUEST, 0, WHOLE + Bytes{0x01, 0x02, 0, 0} + Bytes{0x01, 0x02, 0, 0}));
}

TEST(Http3Input, FieldsThatCannotBeRead)
{
	for (unsigned by : {CLIENT, SERVER}) {
		ExpectCode("no such entry", DECOMPRESSION, by,
			   Stream(REQUEST, 0, {0x01, 0x04, 0x00, 0x00, 0xff, 0x7f}));
		ExpectCode("an entry of a table that is empty", DECOMPRESSION, by,
			   Stream(REQUEST, 0, {0x01, 0x03, 0x00, 0x00, 0x80}));
	}
	ExpectCode("a table without bounds", ENCODER_STREAM, CLIENT,
		   Stream(ENCODER, 0, {0x02, 0x3f, 0xe2, 0x3f}));
	ExpectCode("any table at all", ENCODER_STREAM, SERVER, Stream(ENCODER + SERVER, 0, {0x02, 0x21}));
	ExpectOfBoth("an entry of nobody's", ENCODER_STREAM, ENCODER, {0x02, 0x00});
	ExpectOfBoth("fields acknowledged that never were", DECODER_STREAM, DECODER, {0x03, 0x84});
	ExpectOfBoth("an increment of 0", DECODER_STREAM, DECODER, {0x03, 0x00});
}

TEST(Http3Input, WhatIsUnknownIsSkipped)
{
	/* a frame and a setting that are reserved (RFC 9114, 7.2.8, 7.2.4.1) */
	ExpectOfBoth("", 0, CONTROL, {0x00, 0x04, 0x02, 0x21, 0x05, 0x21, 0x02, 'x', 'y'});
	ExpectOfBoth("a stream one way", 0, EXTRA - 4, {0x21, 'x', 'y'});
}

/* As a fuzzer would, but with the right keys: whatever a peer says, it ends, and is accounted for. */
TEST(Http3Input, WhateverAPeerSaysItEnds)
{
	unsigned changed = 0, refused = 0;

	for (unsigned seed = 0; seed < 100; seed++) {
		fg_l4_app client = Http3(3000);
		std::mt19937_64 random(seed);
		QuicOptions o;

		Tamper tamper([&](unsigned from, QuicPacket &packet) {
			Bytes &f = packet.frames;

			if (packet.level != ONE_RTT || from != seed % 2 || random() % 4 != 0)
				return false;
			for (unsigned i = 0; i < 1 + random() % 3; i++) {
				size_t at = random() % std::min<size_t>(f.size(), 128);

				if (random() % 2 == 0)
					f[at] ^= (uint8_t)(1 << random() % 8);
				else
					f[at] = (uint8_t)(random() % 0x40);
			}
			changed++;
			return true;
		});
		client.cycles = 1;
		client.requests = 40;
		client.streams = 8;
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
	EXPECT_LT(60u, refused);
}

} // namespace

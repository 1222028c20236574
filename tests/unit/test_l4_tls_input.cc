// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records that a peer with the right keys should not send. Tested are the alert that answers, what is
 * counted, and that nothing is left of the connection.
 */
#include "l4_tls_peer.h"

namespace
{
using namespace l4;

// One record of a peer, and the alert that answers it.
struct Fault {
	const char *what;
	Role tested;
	uint16_t version;
	uint8_t type;
	std::string text;
	int alert;
};

class TlsInput : public testing::TestWithParam<Fault>
{
};

TEST_P(TlsInput, EndsTheConnection)
{
	const Fault &fault = GetParam();
	Peer peer(fault.tested, fault.version);

	peer.Shake();
	peer.Say(fault.type, fault.text);
	peer.ExpectEnd(fault.alert);
	EXPECT_EQ(0u, peer.Tally().bad_records);
	EXPECT_EQ(0u, peer.Tally().failed) << "the handshake was over";
}

const int BAD = FG_TLS_UNEXPECTED_MESSAGE;
const uint16_t OLD = FG_TLS_1_2, NEW = FG_TLS_1_3;

const Fault faults[] = {
	{"PlaintextOfZeros", SERVER, NEW, 0, B({0, 0, 0}), BAD},
	{"HandshakeWithoutBytes", SERVER, NEW, FG_TLS_HANDSHAKE, "", BAD},
	{"HandshakeWithoutBytes12", SERVER, OLD, FG_TLS_HANDSHAKE, "", BAD},
	{"AlertWithoutBytes", SERVER, NEW, FG_TLS_ALERT, "", BAD},
	{"AlertWithoutBytes12", SERVER, OLD, FG_TLS_ALERT, "", BAD},
	{"ChangeCipherSpec", SERVER, NEW, FG_TLS_CCS, B({1}), BAD},
	{"TypeOfNobody", SERVER, NEW, 99, "what", BAD},

	{"AlertOfOneByte", SERVER, NEW, FG_TLS_ALERT, B({2}), FG_TLS_DECODE_ERROR},
	{"AlertOfThreeBytes", CLIENT, NEW, FG_TLS_ALERT, B({2, 40, 0}), FG_TLS_DECODE_ERROR},
	{"AlertOfOneByte12", SERVER, OLD, FG_TLS_ALERT, B({1}), FG_TLS_DECODE_ERROR},

	{"ClientHello", SERVER, NEW, FG_TLS_HANDSHAKE, B({1, 0, 0, 1, 0}), BAD},
	{"TicketForAServer", SERVER, NEW, FG_TLS_HANDSHAKE, B({4, 0, 0, 1, 0}), BAD},
	{"CertificateRequest", CLIENT, NEW, FG_TLS_HANDSHAKE, B({13, 0, 0, 1, 0}), BAD},
	{"HeaderOfAMessageCut", CLIENT, NEW, FG_TLS_HANDSHAKE, B({4, 0, 0}), BAD},
	{"KeyUpdateOfTwo", SERVER, NEW, FG_TLS_HANDSHAKE, B({24, 0, 0, 1, 2}), FG_TLS_ILLEGAL_PARAMETER},
	{"KeyUpdateTwoBytesLong", SERVER, NEW, FG_TLS_HANDSHAKE, B({24, 0, 0, 2, 0, 0}), FG_TLS_DECODE_ERROR},
	{"KeyUpdateAndMore", SERVER, NEW, FG_TLS_HANDSHAKE, B({24, 0, 0, 1, 0, 24}), BAD},
	{"KeyUpdateCut", CLIENT, NEW, FG_TLS_HANDSHAKE, B({24, 0, 0, 1}), BAD},

	{"FinishedAgain12", SERVER, OLD, FG_TLS_HANDSHAKE, B({20, 0, 0, 1, 0}), BAD},
	{"ClientHelloForAClient12", CLIENT, OLD, FG_TLS_HANDSHAKE, B({1, 0, 0, 1, 0}), BAD},
};

INSTANTIATE_TEST_SUITE_P(Faults, TlsInput, testing::ValuesIn(faults),
			 [](const auto &info) { return std::string(info.param.what); });

class TlsInputOfBoth : public testing::TestWithParam<uint16_t>
{
};

// nobody answers an alert by another one
TEST_P(TlsInputOfBoth, AFatalAlertIsCountedAndNotAnswered)
{
	Peer peer(SERVER, GetParam());

	peer.Shake();
	peer.Say(FG_TLS_ALERT, B({2, FG_TLS_HANDSHAKE_FAILURE}));
	peer.ExpectEnd(NO_ALERT);
	EXPECT_EQ(1u, peer.Tally().alerts_in[FG_TLS_HANDSHAKE_FAILURE]);
}

TEST_P(TlsInputOfBoth, ThirtyTwoEmptyRecordsInARowAreLegal)
{
	Peer peer(SERVER, GetParam());

	peer.Shake();
	for (int i = 0; i < 32; i++)
		peer.Say(FG_TLS_DATA, "");
	peer.ExpectGoesOn();
	for (int i = 0; i < 32; i++) // counted from the last one that had data
		peer.Say(FG_TLS_DATA, "");
	peer.ExpectGoesOn();
	for (int i = 0; i < 33; i++)
		peer.Say(FG_TLS_DATA, "");
	peer.ExpectEnd(FG_TLS_UNEXPECTED_MESSAGE);
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsInputOfBoth, testing::Values(FG_TLS_1_3, FG_TLS_1_2));

TEST(TlsInput13, NothingStandsBetweenTheRecordsOfAMessage)
{
	Peer peer(CLIENT);

	peer.Shake();
	peer.Say(FG_TLS_HANDSHAKE, B({4, 0, 0, 20, 1, 2, 3}));
	peer.Say(FG_TLS_DATA, PAGE);
	peer.ExpectEnd(FG_TLS_UNEXPECTED_MESSAGE);
	EXPECT_EQ(0u, peer.t->other->app[0]->tally.transactions);
}

TEST(TlsInput12, FiveWarningsAreIgnored)
{
	Peer peer(SERVER, FG_TLS_1_2);

	peer.Shake();
	for (int i = 0; i < 5; i++)
		peer.Say(FG_TLS_ALERT, B({1, FG_TLS_NO_RENEGOTIATION}));
	peer.ExpectGoesOn();
	peer.Say(FG_TLS_ALERT, B({1, FG_TLS_NO_RENEGOTIATION}));
	peer.ExpectEnd(NO_ALERT);
	EXPECT_EQ(1u, peer.Tally().alerts_in[FG_TLS_NO_RENEGOTIATION]);
}

// a ClientHello to a server, a HelloRequest to a client
TEST(TlsInput12, RenegotiationIsDeclinedAndItGoesOn)
{
	const std::string asks[] = {B({0, 0, 0, 0}), B({1, 0, 0, 2, 3, 3})};

	for (Role tested : {CLIENT, SERVER}) {
		Peer peer(tested, FG_TLS_1_2);

		peer.Shake();
		peer.Say(FG_TLS_HANDSHAKE, asks[tested]);
		peer.Hear();
		EXPECT_EQ(FG_TLS_NO_RENEGOTIATION, peer.alert) << tested;
		peer.ExpectGoesOn();
	}
}

TEST(TlsInputInHandshakes, AMessageThatIsTooLongIsRefusedByItsHeader)
{
	Peer peer(SERVER);

	peer.SayRaw(B({FG_TLS_HANDSHAKE, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff}));
	EXPECT_EQ(1u, peer.Tally().alerts_out[FG_TLS_ILLEGAL_PARAMETER]);
	EXPECT_EQ(1u, peer.Tally().failed);
	EXPECT_EQ(1u, peer.t->app.tally.ended[FG_L4_END_CLOSED]);
	peer.ExpectNothingKept();
}

TEST(TlsInputInHandshakes, APeerThatSaysNoMoreIsReset)
{
	for (Role tested : {CLIENT, SERVER}) {
		Peer peer(tested);

		if (tested == SERVER)
			peer.BeginToShake();
		talker_wait(peer.t, 9 * second);
		EXPECT_EQ(0u, peer.Tally().timed_out);
		talker_wait(peer.t, second + second / 100);
		EXPECT_EQ(1u, peer.Tally().timed_out) << tested;
		EXPECT_EQ(1u, peer.Tally().failed);
		EXPECT_EQ(0u, peer.Tally().cut);
		EXPECT_EQ(1u, peer.t->app.tally.ended[FG_L4_END_RESET]) << "by RST";
		peer.ExpectNothingKept();
	}
}

TEST(TlsInputInHandshakes, WhatIsNoTlsIsMalformed)
{
	for (Role tested : {CLIENT, SERVER}) {
		Peer peer(tested);

		peer.SayRaw(tested == SERVER ? GET : "HTTP/1.1 400 Bad Request\r\n\r\n");
		EXPECT_EQ(1u, peer.Tally().malformed) << tested;
		EXPECT_EQ(1u, peer.Tally().failed);
		EXPECT_EQ(1u, peer.Tally().alerts_out[FG_TLS_UNEXPECTED_MESSAGE]);
		EXPECT_EQ(1u, peer.t->app.tally.ended[FG_L4_END_CLOSED]);
		peer.ExpectNothingKept();
	}
}

// at once, whatever becomes of the rest of the connection
TEST(TlsInputInHandshakes, AnEndInTheMiddleFreesAllAtOnce)
{
	for (bool reset : {false, true}) {
		Peer peer(SERVER);

		peer.BeginToShake();
		peer.EndUnheard(reset);
		EXPECT_EQ(0u, peer.UnderWay()) << reset;
		EXPECT_EQ(0u, peer.InPart()) << reset;
		talker_wait(peer.t, 2 * second);
		EXPECT_EQ(1u, peer.Tally().cut) << reset;
		EXPECT_EQ(1u, peer.Tally().failed);
		EXPECT_EQ(0u, peer.Tally().timed_out);
		peer.ExpectNothingKept();
	}
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Our client of HTTP/2, and a server that says what a test wants (RFC 9113). */
#include "l4_http2.h"

using namespace l4;

TEST(L4Http2Client, AsksWithoutWaitingAndLeavesInPeace)
{
	Http2Peer p(false);
	std::vector<Heard> said = p.Hear();

	ASSERT_EQ(6u, said.size());
	EXPECT_EQ(H2_SETTINGS, said[0].type);
	EXPECT_EQ(Setting(1, 0) + Setting(2, 0) + Setting(4, H2_WINDOW_MAX), said[0].payload);
	EXPECT_EQ(H2_WINDOW_UPDATE, said[1].type);
	EXPECT_EQ(Number(H2_WINDOW_MAX - H2_WINDOW, 4), said[1].payload);
	for (unsigned i = 0; i < 4; i++) {
		EXPECT_EQ(H2_HEADERS, said[2 + i].type);
		EXPECT_EQ(unsigned(H2_END_HEADERS | H2_END_STREAM), said[2 + i].flags);
		EXPECT_EQ(1 + 2 * i, said[2 + i].id);
		EXPECT_EQ(said[2].payload, said[2 + i].payload);
	}
	p.Say(NOTHING + Http2Frame(H2_PING, 0, 0, "12345678"));
	said = p.Hear();
	ASSERT_EQ(2u, said.size());
	EXPECT_EQ(H2_SETTINGS, said[0].type);
	EXPECT_EQ(unsigned(H2_ACK), said[0].flags);
	EXPECT_EQ(H2_PING, said[1].type);
	EXPECT_EQ("12345678", said[1].payload);
	for (uint32_t id : {5, 1, 7, 3}) /* in any order, interim and padded, with a priority and trailers */
		p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id,
				 "\x08\x03"
				 "103") +
		      Http2Frame(H2_HEADERS, H2_PADDED | H2_HAS_PRIORITY, id,
				 Number(3, 1) + Number(0, 5) + Ok() + "xyz") +
		      Http2Frame(H2_CONTINUATION, H2_END_HEADERS, id, Field("content-length", "3000")) +
		      Http2Frame(H2_DATA, H2_PADDED, id, Number(2, 1) + Body(3000) + "xy") +
		      Http2Frame(0x77, 0xff, 0, "unknown") +
		      Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, id, Field("trailer", "1")));
	EXPECT_EQ(4u, p.Tally().transactions);
	EXPECT_EQ(0u, p.Tally().refused);
	EXPECT_EQ(0u, p.t->other->counters.wrong_octets);
	EXPECT_EQ(H2_NO_ERROR, p.Code(H2_GOAWAY));
	p.ExpectNothingKept();
}

TEST(L4Http2Client, OpensNoMoreThanTheServerTakes)
{
	Http2Peer p(false, 8);

	p.Hear();
	p.Say(Http2Frame(H2_SETTINGS, 0, 0, Setting(3, 2)));
	p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()) +
	      Http2Frame(H2_DATA, H2_END_STREAM, 1, Body(3000)));
	EXPECT_EQ(1u, p.Hear().size()) << "three are under way";
	for (uint32_t id : {3, 5})
		p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id, Ok()) +
		      Http2Frame(H2_DATA, H2_END_STREAM, id, Body(3000)));
	EXPECT_EQ(1u, p.Hear().size()) << "one is";
}

TEST(L4Http2Client, AsksOnceMoreForWhatWasRefused)
{
	Http2Peer p(false, 1);

	p.Hear();
	p.Say(NOTHING + Http2Frame(H2_RST_STREAM, 0, 1, Number(H2_REFUSED_STREAM, 4)));
	std::vector<Heard> said = p.Hear();
	ASSERT_EQ(2u, said.size());
	EXPECT_EQ(3u, said[1].id);
	EXPECT_EQ(0u, p.Tally().refused);
	p.Say(Http2Frame(H2_RST_STREAM, 0, 3, Number(H2_REFUSED_STREAM, 4)));
	EXPECT_EQ(1u, p.Tally().refused);
	EXPECT_EQ(1u, p.Own(MESSAGE_RESET));
	p.ExpectNothingKept();
}

TEST(L4Http2Client, WhatIsReallyResetFailsAlone)
{
	Http2Peer p(false, 2);

	p.Say(NOTHING + Http2Frame(H2_RST_STREAM, 0, 1, Number(H2_INTERNAL_ERROR, 4)) +
	      Http2Frame(H2_HEADERS, H2_END_HEADERS, 3, Ok()) +
	      Http2Frame(H2_DATA, H2_END_STREAM, 3, Body(3000)));
	EXPECT_EQ(1u, p.Tally().transactions);
	EXPECT_EQ(1u, p.Own(MESSAGE_RESET));
	p.ExpectNothingKept();
}

/* of another client as many resets in a second are a flood */
TEST(L4Http2Client, ResetsThatAnswerItsFloodAreNone)
{
	for (fg_l4_flood own : {FG_L4_FLOOD_NONE, FG_L4_FLOOD_PING, FG_L4_FLOOD_RST}) {
		Http2Peer p(false);
		std::string resets;

		SCOPED_TRACE(own);
		fg_l4_app &client = ((application *)p.t->other->app[0])->config;
		client.flood = own;
		client.flood_per_s = 1;
		for (unsigned i = 0; i < 1001; i++)
			resets += Http2Frame(H2_RST_STREAM, 0, 1, Number(H2_STREAM_CLOSED, 4));
		p.Say(NOTHING + resets);
		EXPECT_EQ(own == FG_L4_FLOOD_RST ? -1 : int(H2_ENHANCE_YOUR_CALM), p.Code(H2_GOAWAY));
	}
}

TEST(L4Http2Client, FinishesWhatComesBeforeGoaway)
{
	Http2Peer p(false, 0);

	p.Hear();
	p.Say(NOTHING + Http2Frame(H2_GOAWAY, 0, 0, Number(3, 4) + Number(0, 4) + "debug"));
	for (uint32_t id : {1, 3})
		p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id, Ok()) +
		      Http2Frame(H2_DATA, H2_END_STREAM, id, Body(3000)));
	EXPECT_EQ(2u, p.Tally().transactions);
	EXPECT_EQ(0u, p.Tally().refused) << "streams 5 and 7 were not dealt with, and are none of these";
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

TEST(L4Http2Client, SendsAsMuchAsTheWindowsAllow)
{
	fg_l4_app a = Http2(1);
	a.request = 100000;
	a.response = 0;
	a.streams = 1;
	a.cycles = 1;
	a.port = 80;
	talker *t = talker_create(&a, 1500);
	const auto data = [&]() {
		size_t octets = 0;

		for (const Heard &f : Frames(std::string((const char *)t->line[0].in + sizeof(PREFACE) - 1,
							 t->line[0].heard - sizeof(PREFACE) + 1)))
			octets += f.type == H2_DATA ? f.payload.size() : 0;
		return octets;
	};
	const auto say = [&](const std::string &text) {
		talker_say(t, 0, text.data(), text.size());
		for (unsigned i = 0; i < 8; i++)
			talker_wait(t, 10 * ms);
	};
	say(NOTHING);
	EXPECT_EQ(65535u, data());
	say(Http2Frame(H2_WINDOW_UPDATE, 0, 1, Number(20000, 4)));
	EXPECT_EQ(65535u, data()) << "the connection's is used up";
	say(Http2Frame(H2_WINDOW_UPDATE, 0, 0, Number(30000, 4)));
	EXPECT_EQ(85535u, data()) << "the stream's is";
	say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 65535 + 5000)));
	EXPECT_EQ(90535u, data());
	say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 0)));
	say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 100000)));
	EXPECT_EQ(95535u, data());
	say(Http2Frame(H2_WINDOW_UPDATE, 0, 0, Number(4465, 4)));
	EXPECT_EQ(100000u, data());
	talker_free(t);
}

class L4Http2BadServer : public testing::TestWithParam<Bad>
{
};

TEST_P(L4Http2BadServer, EndsTheConnection)
{
	Http2Peer p(false);

	p.Say(GetParam().text);
	EXPECT_EQ(0u, p.Tally().transactions);
	EXPECT_EQ(4u, p.Tally().refused) << "all four requests";
	p.ExpectFailed(GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
	Rows, L4Http2BadServer,
	testing::Values(Bad{"HTTP/1.1", H2_FRAME_SIZE_ERROR, "HTTP/1.1 400 Bad Request\r\n\r\n"},
			Bad{"no SETTINGS first", H2_PROTOCOL_ERROR, Http2Frame(H2_PING, 0, 0, "12345678")},
			Bad{"ACK first", H2_PROTOCOL_ERROR, Http2Frame(H2_SETTINGS, H2_ACK, 0, "")},
			Bad{"PUSH_PROMISE", H2_PROTOCOL_ERROR,
			    NOTHING +
				    Http2Frame(H2_PUSH_PROMISE, H2_END_HEADERS, 1, Number(2, 4) + GET_HEAD)},
			Bad{"ENABLE_PUSH 1", H2_PROTOCOL_ERROR, Http2Frame(H2_SETTINGS, 0, 0, Setting(2, 1))},
			Bad{"even stream", H2_PROTOCOL_ERROR,
			    NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 2, Ok())},
			Bad{"stream of nobody", H2_PROTOCOL_ERROR,
			    NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 9, Ok())},
			Bad{"window of nobody", H2_PROTOCOL_ERROR,
			    NOTHING + Http2Frame(H2_WINDOW_UPDATE, 0, 9, Number(1, 4))},
			Bad{"reset of nobody", H2_PROTOCOL_ERROR,
			    NOTHING + Http2Frame(H2_RST_STREAM, 0, 9, Number(1, 4))},
			Bad{"index beyond the table", H2_COMPRESSION_ERROR,
			    NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, "\x88\xbe")}));

/* a stream fails, the connection goes on: H21 */
TEST(L4Http2Client, MalformedResponsesFailAlone)
{
	const std::string long_ = Http2Frame(H2_HEADERS, H2_END_HEADERS, 1,
					     Ok(Field("content-length", "3001"))),
			  data = Http2Frame(H2_DATA, H2_END_STREAM, 1, Body(3000));
	const unsigned all = H2_END_HEADERS | H2_END_STREAM;
	const Bad rows[] = {
		{"upper case", H2_PROTOCOL_ERROR, Http2Frame(H2_HEADERS, all, 1, Ok(Field("Upper", "1")))},
		{"of the connection", H2_PROTOCOL_ERROR,
		 Http2Frame(H2_HEADERS, all, 1, Ok(Field("transfer-encoding", "chunked")))},
		{"no status", H2_PROTOCOL_ERROR, Http2Frame(H2_HEADERS, all, 1, Field("a", "1"))},
		{"two", H2_PROTOCOL_ERROR, Http2Frame(H2_HEADERS, all, 1, "\x88\x89")},
		{"a status that is none", H2_PROTOCOL_ERROR,
		 Http2Frame(H2_HEADERS, all, 1, Field(":status", "2000"))},
		{"a request's", H2_PROTOCOL_ERROR, Http2Frame(H2_HEADERS, all, 1, Ok() + "\x82")},
		{"behind others", H2_PROTOCOL_ERROR, Http2Frame(H2_HEADERS, all, 1, Field("a", "1") + Ok())},
		{"interim at the end", H2_PROTOCOL_ERROR,
		 Http2Frame(H2_HEADERS, all, 1, Field(":status", "100"))},
		{"a body that is too short", H2_PROTOCOL_ERROR, long_ + data},
		{"trailers that do not end it", H2_PROTOCOL_ERROR,
		 long_ + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Field("a", "1"))},
		{"no head", H2_PROTOCOL_ERROR, data},
		{"a window of 0", H2_PROTOCOL_ERROR, Http2Frame(H2_WINDOW_UPDATE, 0, 1, Number(0, 4))},
		{"a window too large", H2_FLOW_CONTROL_ERROR,
		 Http2Frame(H2_WINDOW_UPDATE, 0, 1, Number(H2_WINDOW_MAX, 4))},
	};

	for (const Bad &row : rows) {
		Http2Peer p(false, 2);

		SCOPED_TRACE(row.name);
		p.Hear();
		p.Say(NOTHING + row.text);
		EXPECT_EQ(int(row.code), p.Code(H2_RST_STREAM));
		EXPECT_EQ(0u, p.Own(MESSAGE_FAULTY));
		p.Say(Http2Frame(H2_DATA, 0, 1, Body(10)) + Http2Frame(H2_HEADERS, H2_END_HEADERS, 3, Ok()) +
		      Http2Frame(H2_DATA, H2_END_STREAM, 3, Body(3000)));
		EXPECT_EQ(1u, p.Tally().transactions);
		EXPECT_EQ(0u, p.Own(MESSAGE_FAULTY)) << "what was on its way is ignored";
		EXPECT_EQ(H2_NO_ERROR, p.Code(H2_GOAWAY));
		p.ExpectNothingKept();
	}
}

TEST(L4Http2Client, ResponsesAreJudged)
{
	const struct {
		message_sum sum;
		std::string text;
	} rows[] = {
		{MESSAGE_4XX, Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, "\x8d")},
		{MESSAGE_5XX, Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, "\x8e") +
				      Http2Frame(H2_DATA, H2_END_STREAM, 1, "sorry")},
		{MESSAGE_OTHER, Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, "\x89")},
		{MESSAGE_LENGTH, Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()) +
					 Http2Frame(H2_DATA, H2_END_STREAM, 1, Body(2999))},
	};

	for (const auto &row : rows) {
		Http2Peer p(false, 1);

		p.Say(NOTHING + row.text);
		EXPECT_EQ(0u, p.Tally().transactions);
		EXPECT_EQ(1u, p.Tally().refused);
		EXPECT_EQ(1u, p.Own(row.sum)) << row.sum;
		EXPECT_EQ(0u, p.t->other->counters.wrong_octets);
		p.ExpectNothingKept();
	}
	Http2Peer wrong(false, 1);
	wrong.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()) +
		  Http2Frame(H2_DATA, H2_END_STREAM, 1, Body(2999) + "\xff"));
	EXPECT_EQ(1u, wrong.t->other->counters.wrong_octets);
	Http2Peer cut(false, 4);
	cut.Say(NOTHING);
	talker_close(cut.t, 0, false);
	EXPECT_EQ(4u, cut.Own(MESSAGE_CUT));
	EXPECT_EQ(4u, cut.Tally().refused);
}

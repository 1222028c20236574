/* SPDX-License-Identifier: BSD-3-Clause */
/* Our server of HTTP/2, and a client that says what a test wants. Rows of bad input bear the numbers of what
 * they break: H13 the preface, H14 lengths, H15 streams and padding, H16 their order, H17 blocks of fields,
 * H18 settings, H19 windows, H20 HPACK, H22 floods. */
#include "l4_http2.h"

using namespace l4;

TEST(L4Http2Server, AnswersInTurn)
{
	Http2Peer p(true);

	p.Say(NOTHING + Http2Frame(H2_SETTINGS, H2_ACK, 0, ""));
	std::vector<Heard> said = p.Hear();
	ASSERT_EQ(3u, said.size());
	EXPECT_EQ(Setting(3, 256) + Setting(4, H2_WINDOW_MAX), said[0].payload);
	p.Say(Get(1) + Get(5));
	said = p.Hear();
	ASSERT_EQ(4u, said.size());
	EXPECT_EQ(1u, said[0].id);
	EXPECT_EQ(Body(3000), said[1].payload);
	EXPECT_EQ(unsigned(H2_END_STREAM), said[1].flags);
	EXPECT_EQ(5u, said[2].id);
	EXPECT_EQ(Body(3000), said[3].payload);
	EXPECT_EQ(2u, p.Tally().transactions);
	p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, 7, POST_HEAD + Field("content-length", "10")) +
	      Http2Frame(H2_DATA, 0, 7, "01234") + Http2Frame(H2_DATA, H2_END_STREAM, 7, "56789"));
	said = p.Hear();
	ASSERT_EQ(1u, said.size());
	EXPECT_EQ(unsigned(H2_END_STREAM | H2_END_HEADERS), said[0].flags);
	talker_close(p.t, 0, false);
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

TEST(L4Http2Server, ReadsAnyTableOfFields)
{
	Http2Peer p(true);
	const std::string path = "\x44\x05/3000"; /* is put into the table, as number 62 */
	unsigned answers = 0;

	p.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, "\x82\x86" + path));
	for (uint32_t id = 3; id < 21; id += 2)
		p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, id, "\x82\x86\xbe"));
	for (const Heard &f : p.Hear())
		answers += f.type == H2_DATA && f.payload == Body(3000);
	EXPECT_EQ(10u, answers);
	/* cut anywhere, and with a table of another size from then on: the entry is gone */
	const std::string block = "\x20\x3f\x21\x82\x86" + path;
	for (size_t cut = 0; cut <= block.size(); cut++) {
		uint32_t id = 21 + 2 * uint32_t(cut);

		p.Say(Http2Frame(H2_HEADERS, H2_END_STREAM, id, block.substr(0, cut)));
		p.Say(Http2Frame(H2_CONTINUATION, H2_END_HEADERS, id, block.substr(cut)));
	}
	EXPECT_EQ(10u + block.size() + 1, p.Tally().transactions);
	p.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 201, "\x20\x82\x86\xbe"));
	p.ExpectFailed(H2_COMPRESSION_ERROR);
}

TEST(L4Http2Server, FramesMayBeCutAnywhere)
{
	const std::string all =
		NOTHING + Get(1) + Http2Frame(H2_PING, 0, 0, "12345678") +
		Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_PADDED, 3, Number(2, 1) + POST_HEAD + "xx") +
		Http2Frame(H2_DATA, H2_PADDED | H2_END_STREAM, 3, Number(3, 1) + "abcdefghijxyz");

	for (size_t piece : {1, 2, 3, 5, 7, 11, 100}) {
		Http2Peer p(true);
		unsigned pongs = 0;

		for (size_t at = 0; at < all.size(); at += piece)
			p.Say(all.substr(at, piece));
		EXPECT_EQ(2u, p.Tally().transactions) << piece;
		for (const Heard &f : p.Hear())
			pongs += f.type == H2_PING && f.payload == "12345678";
		EXPECT_EQ(1u, pongs);
	}
}

TEST(L4Http2Server, TellsHttp1ThatItIsNotMeant)
{
	fg_l4_app a = Http2();
	a.server = true;
	a.port = 80;
	talker *t = talker_create(&a, 1500);
	const char text[] = "GET / HTTP/1.1\r\n\r\n";

	talker_open(t, 0, 80);
	talker_say(t, 0, text, sizeof(text) - 1);
	talker_settle(t);
	EXPECT_EQ("HTTP/1.1 400", std::string((const char *)t->line[0].in, 12));
	EXPECT_TRUE(t->line[0].ended);
	EXPECT_EQ(1u, t->other->app[0]->tally.own[MESSAGE_FAULTY]);
	talker_free(t);
}

TEST(L4Http2Server, RefusesStreamsBeyondWhatItOffers)
{
	Http2Peer p(true);
	std::string posts = NOTHING;
	unsigned refused = 0;

	for (uint32_t i = 0; i < 258; i++)
		posts += Http2Frame(H2_HEADERS, H2_END_HEADERS, 1 + 2 * i, POST_HEAD);
	p.Say(posts);
	for (const Heard &f : p.Hear())
		refused += f.type == H2_RST_STREAM && f.payload == Number(H2_REFUSED_STREAM, 4);
	EXPECT_EQ(2u, refused);
	p.Say(Http2Frame(H2_DATA, H2_END_STREAM, 515, "abc") + Http2Frame(H2_DATA, H2_END_STREAM, 1, "abc"));
	EXPECT_EQ(1u, p.Tally().transactions);
	talker_close(p.t, 0, false);
	p.ExpectNothingKept();
}

class L4Http2BadClient : public testing::TestWithParam<Bad>
{
};

TEST_P(L4Http2BadClient, EndsTheConnection)
{
	Http2Peer p(true);

	p.Say(GetParam().text);
	p.ExpectFailed(GetParam().code);
}

static std::string
Many(unsigned n, const std::string &text)
{
	std::string out = NOTHING;

	while (n-- > 0)
		out += text;
	return out;
}

static std::string
Resets(unsigned n)
{
	std::string out = NOTHING;

	for (uint32_t id = 1; n-- > 0; id += 2)
		out += Http2Frame(H2_HEADERS, H2_END_HEADERS, id, POST_HEAD) +
		       Http2Frame(H2_RST_STREAM, 0, id, Number(H2_CANCEL, 4));
	return out;
}

static const std::string OPEN_POST = NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, POST_HEAD);

INSTANTIATE_TEST_SUITE_P(
	Rows, L4Http2BadClient,
	testing::Values(
		Bad{"H13 no SETTINGS first", H2_PROTOCOL_ERROR, Get(1)},
		Bad{"H14 too long", H2_FRAME_SIZE_ERROR,
		    NOTHING + Http2Frame(9, 0, 0, std::string(16385, 'x'))},
		Bad{"H14 SETTINGS", H2_FRAME_SIZE_ERROR, Http2Frame(H2_SETTINGS, 0, 0, "12345")},
		Bad{"H14 SETTINGS ACK", H2_FRAME_SIZE_ERROR,
		    NOTHING + Http2Frame(H2_SETTINGS, H2_ACK, 0, "123456")},
		Bad{"H14 PING", H2_FRAME_SIZE_ERROR, NOTHING + Http2Frame(H2_PING, 0, 0, "123456789")},
		Bad{"H14 WINDOW_UPDATE", H2_FRAME_SIZE_ERROR,
		    NOTHING + Http2Frame(H2_WINDOW_UPDATE, 0, 0, "12345")},
		Bad{"H14 RST_STREAM", H2_FRAME_SIZE_ERROR,
		    OPEN_POST + Http2Frame(H2_RST_STREAM, 0, 1, "123")},
		Bad{"H14 PRIORITY", H2_FRAME_SIZE_ERROR, NOTHING + Http2Frame(H2_PRIORITY, 0, 1, "1234")},
		Bad{"H14 GOAWAY", H2_FRAME_SIZE_ERROR, NOTHING + Http2Frame(H2_GOAWAY, 0, 0, "1234567")},
		Bad{"H14 padding without its length", H2_FRAME_SIZE_ERROR,
		    OPEN_POST + Http2Frame(H2_DATA, H2_PADDED, 1, "")},
		Bad{"H15 DATA", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_DATA, 0, 0, "x")},
		Bad{"H15 HEADERS", H2_PROTOCOL_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 0, GET_HEAD)},
		Bad{"H15 RST_STREAM", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_RST_STREAM, 0, 0, "1234")},
		Bad{"H15 PRIORITY", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_PRIORITY, 0, 0, "12345")},
		Bad{"H15 SETTINGS", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_SETTINGS, 0, 1, "")},
		Bad{"H15 PING", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_PING, 0, 1, "12345678")},
		Bad{"H15 GOAWAY", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_GOAWAY, 0, 1, "12345678")},
		Bad{"H15 padding", H2_PROTOCOL_ERROR,
		    OPEN_POST + Http2Frame(H2_DATA, H2_PADDED, 1, Number(4, 1) + "abc")},
		Bad{"H16 even", H2_PROTOCOL_ERROR, NOTHING + Get(2)},
		Bad{"H16 not rising", H2_STREAM_CLOSED, NOTHING + Get(5) + Get(3)},
		Bad{"H16 closed", H2_STREAM_CLOSED, NOTHING + Get(1) + Http2Frame(H2_DATA, 0, 1, "x")},
		Bad{"H16 never opened", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_DATA, 0, 1, "x")},
		Bad{"H17 in between", H2_PROTOCOL_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 0, 1, GET_HEAD) + Http2Frame(H2_PING, 0, 0, "12345678")},
		Bad{"H17 of another", H2_PROTOCOL_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 0, 1, GET_HEAD) + Http2Frame(H2_CONTINUATION, 4, 3, "")},
		Bad{"H17 of nothing", H2_PROTOCOL_ERROR,
		    NOTHING + Http2Frame(H2_CONTINUATION, 4, 1, GET_HEAD)},
		Bad{"H17 so many", H2_ENHANCE_YOUR_CALM,
		    NOTHING + Http2Frame(H2_HEADERS, 0, 1, GET_HEAD) +
			    Many(33, Http2Frame(H2_CONTINUATION, 0, 1, "")).substr(NOTHING.size())},
		Bad{"H17 so long", H2_ENHANCE_YOUR_CALM,
		    NOTHING + Http2Frame(H2_HEADERS, 0, 1, GET_HEAD) +
			    Many(5, Http2Frame(H2_CONTINUATION, 0, 1,
					       Many(100, Field("a", std::string(100, 'b')))
							       .substr(NOTHING.size()) +
						       std::string(5500, '\x86')))
				    .substr(NOTHING.size())},
		Bad{"H18 ENABLE_PUSH", H2_PROTOCOL_ERROR, Http2Frame(H2_SETTINGS, 0, 0, Setting(2, 2))},
		Bad{"H18 INITIAL_WINDOW_SIZE", H2_FLOW_CONTROL_ERROR,
		    Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 0x80000000))},
		Bad{"H18 MAX_FRAME_SIZE", H2_PROTOCOL_ERROR,
		    Http2Frame(H2_SETTINGS, 0, 0, Setting(5, 16383))},
		Bad{"H18 and too large", H2_PROTOCOL_ERROR,
		    Http2Frame(H2_SETTINGS, 0, 0, Setting(5, 1 << 24))},
		Bad{"H18 PUSH_PROMISE", H2_PROTOCOL_ERROR,
		    NOTHING + Http2Frame(H2_PUSH_PROMISE, 4, 1, "12345")},
		Bad{"H19 0", H2_PROTOCOL_ERROR, NOTHING + Http2Frame(H2_WINDOW_UPDATE, 0, 0, Number(0, 4))},
		Bad{"H19 too large", H2_FLOW_CONTROL_ERROR,
		    NOTHING + Http2Frame(H2_WINDOW_UPDATE, 0, 0, Number(H2_WINDOW_MAX, 4))},
		Bad{"H20 index 0", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\x82\x86\x80")},
		Bad{"H20 beyond", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\x82\x86\xbe")},
		Bad{"H20 size", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\x3f\xe2\x1f\x82")},
		Bad{"H20 late", H2_COMPRESSION_ERROR, NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\x82\x20")},
		Bad{"H20 Huffman", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, std::string("\x04\x81\x00", 3))},
		Bad{"H20 integer", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\xff\xff\xff\xff\xff\xff\xff\x7f")},
		Bad{"H20 cut off", H2_COMPRESSION_ERROR,
		    NOTHING + Http2Frame(H2_HEADERS, 4, 1, "\x82\x04\x09/3")},
		Bad{"H22 PING", H2_ENHANCE_YOUR_CALM, Many(1001, Http2Frame(H2_PING, 0, 0, "12345678"))},
		Bad{"H22 SETTINGS", H2_ENHANCE_YOUR_CALM, Many(1001, NOTHING)},
		Bad{"H22 RST_STREAM", H2_ENHANCE_YOUR_CALM, Resets(1001)},
		Bad{"H22 DATA", H2_ENHANCE_YOUR_CALM,
		    OPEN_POST + Many(1001, Http2Frame(H2_DATA, 0, 1, "")).substr(NOTHING.size())}));

TEST(L4Http2Server, MalformedRequestsFailAlone)
{
	const std::string heads[] = {
		GET_HEAD + Field("Upper", "1"),
		GET_HEAD + Field("connection", "close"),
		GET_HEAD + Field(":path", "/"),
		GET_HEAD + Field("te", "gzip"),
		"\x82\x84",
		Field("a", "1") + GET_HEAD,
		GET_HEAD + Field(":unknown", "1"),
		GET_HEAD + Field("content-length", "x"),
		GET_HEAD + Field("content-length", "1"),
	};

	for (const std::string &head : heads) {
		Http2Peer p(true);

		p.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, head) + Get(3));
		EXPECT_EQ(1u, p.Own(MESSAGE_MALFORMED));
		EXPECT_EQ(1u, p.Tally().transactions);
		EXPECT_EQ(int(H2_PROTOCOL_ERROR), p.Code(H2_RST_STREAM));
		talker_close(p.t, 0, false);
		p.ExpectNothingKept();
	}
}

/* where that stream alone waited for the window of the connection, which is 65,535 bytes */
TEST(L4Http2Server, AResetOfItsOwnEndsTheWaitForAWindow)
{
	Http2Peer p(true);
	const std::string head = std::string("\x82\x86", 2) + Field(":path", "/100000");

	p.Say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 1 << 20)) +
	      Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, head));
	talker_wait(p.t, second);
	p.Say(Http2Frame(H2_WINDOW_UPDATE, 0, 1, Number(0, 4)));
	talker_wait(p.t, second);
	EXPECT_EQ(int(H2_PROTOCOL_ERROR), p.Code(H2_RST_STREAM));
	talker_close(p.t, 0, false);
	fg_l4_result r;

	fg_l4_read(p.t->other, 0, &r);
	EXPECT_EQ(second, r.flow_blocked_ns[FG_L4_WINDOW_CONNECTION]);
}

TEST(L4Http2Server, DataBeyondItsWindowIsAnError)
{
	for (bool settled : {false, true}) {
		fg_l4_app a = Http2();
		a.server = true;
		a.window = 1000;
		a.port = 80;
		talker *t = talker_create(&a, 1500);
		const std::string text = PREFACE + OPEN_POST +
					 (settled ? Http2Frame(H2_SETTINGS, H2_ACK, 0, "") : "") +
					 Http2Frame(H2_DATA, 0, 1, std::string(1001, 'x'));

		talker_open(t, 0, 80);
		talker_say(t, 0, text.data(), text.size());
		talker_settle(t);
		EXPECT_EQ(settled ? 1u : 0u, t->other->app[0]->tally.own[MESSAGE_FAULTY]);
		talker_free(t);
	}
}

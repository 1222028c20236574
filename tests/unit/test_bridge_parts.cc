/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bridge of a fleet reads of a message, and the keys by which a NATS server knows it. */
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "envelope.h"
#include "nkey.h"

namespace
{

std::string
Text(const bridge_text &text)
{
	return text.at == nullptr ? "none" : std::string(text.at, text.size);
}

/* SUBJECT|REPLY|WANT|BODY, or "refused" */
std::string
Read(const std::string &line)
{
	bridge_envelope e;

	if (bridge_envelope_read(line.data(), line.size(), &e) != 0)
		return "refused";
	return Text(e.subject) + "|" + Text(e.reply) + "|" + Text(e.want) + "|" + Text(e.body);
}

TEST(BridgeEnvelope, KeepsTheBodyAsItStands)
{
	EXPECT_EQ("a.b|none|none|none", Read(R"({"subject":"a.b"})"));
	EXPECT_EQ("a.b|_INBOX.1|none|{\"n\": 18446744073709551615, \"t\":\"}\\\"\\u00e9\"}",
		  Read(R"({"body":{"n": 18446744073709551615, "t":"}\"\u00e9"},)"
		       R"("reply":"_INBOX.1","subject":"a.b"})"));
	EXPECT_EQ("none|none|fg.*.>|none", Read(R"( { "want" : "fg.*.>" , "more" : [ 1 , -2.5e+3 ] } )"));
}

TEST(BridgeEnvelope, RefusesWhatIsNoMessage)
{
	for (const char *line : {"",
				 "{",
				 "{}",
				 "[]",
				 "7",
				 R"({"body":1})",
				 R"({"subject":7})",
				 R"({"subject":"a b"})",
				 R"({"subject":"a..b"})",
				 R"({"subject":".a"})",
				 R"({"subject":"a."})",
				 R"({"subject":"a.*"})",
				 R"({"subject":"a\n"})",
				 R"({"want":"a.>.b"})",
				 R"({"want":"a*"})",
				 R"({"subject":"a"} x)",
				 R"({"subject":"a","body":})",
				 R"({"subject":"a","body":01})",
				 R"({"subject":"a","body":[1,]})",
				 R"({"subject":"a","body":"\x"})",
				 R"({"subject":"a","want":"b"})",
				 "{\"subject\":\"a\",\"body\":\"\n\"}"})
		EXPECT_EQ("refused", Read(line)) << line;
	EXPECT_EQ("refused", Read("{\"subject\":\"" + std::string(256, 'a') + "\"}"));
	EXPECT_FALSE(bridge_is_json(std::string(1000, '[').data(), 1000));
}

/* Whatever is cut or changed: no byte outside is read (the sanitizers see it), no part lies outside. */
TEST(BridgeEnvelope, ReadsNoByteOutside)
{
	const std::string whole =
		R"({"subject":"a.b","body":{"a":[1,"\u1234",true,null,-1.5e-7]},"reply":"r"})";
	const char bytes[] = "{}[]\",:\\u0-.eE+tfn\n\x01\xff";
	std::mt19937 random(7);

	for (int i = 0; i < 20000; i++) {
		std::string text = whole.substr(0, random() % (whole.size() + 1));
		bridge_envelope e;

		for (unsigned k = random() % 3; k > 0 && !text.empty(); k--)
			text[random() % text.size()] = bytes[random() % (sizeof(bytes) - 1)];
		std::string copy(text); /* of exactly this size on the heap */
		copy.shrink_to_fit();
		if (bridge_envelope_read(copy.data(), copy.size(), &e) == 0 && e.body.at != nullptr) {
			ASSERT_GE(e.body.at, copy.data());
			ASSERT_LE(e.body.at + e.body.size, copy.data() + copy.size());
			ASSERT_TRUE(bridge_is_json(e.body.at, e.body.size)) << copy;
		}
	}
}

TEST(BridgeNkey, IsThatOfOtherPrograms)
{
	/* the example of the documentation of NATS */
	const char *seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
	char key[BRIDGE_PUBLIC_SIZE];

	ASSERT_EQ(0, bridge_nkey_public(seed, key));
	EXPECT_STREQ("UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4", key);
}

TEST(BridgeNkey, IsMadeAndReadAgain)
{
	char seed[BRIDGE_SEED_SIZE], other[BRIDGE_SEED_SIZE], key[BRIDGE_PUBLIC_SIZE];

	ASSERT_EQ(0, bridge_nkey_make(seed));
	ASSERT_EQ(0, bridge_nkey_make(other));
	EXPECT_STRNE(seed, other);
	EXPECT_EQ(0, strncmp(seed, "SU", 2));
	ASSERT_EQ(0, bridge_nkey_public(seed, key));
	EXPECT_EQ('U', key[0]);
	for (unsigned i = 0; i < strlen(seed); i++) {
		std::string wrong(seed);

		wrong[i] = wrong[i] == 'A' ? 'B' : 'A';
		/* the last digit has bits that mean nothing */
		EXPECT_TRUE(bridge_nkey_public(wrong.c_str(), key) != 0 || i + 1 == strlen(seed)) << i;
	}
	EXPECT_NE(0, bridge_nkey_public("", key));
	EXPECT_NE(0, bridge_nkey_public(key, key));
}

} // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads of HTTP messages, however they are cut, and client and server that talk to each other through all
 * cuts. */
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "http/http_priv.h"
}

namespace
{
/* read the head in pieces of some bytes; what is behind it must not be touched */
http_head
Read(const std::string &head, size_t piece)
{
	const std::string message = head + "body: 7\r\n\r\n";
	http_head h;
	size_t at = 0;

	http_begin(&h);
	while (at < message.size() && h.state != HTTP_BODY) {
		size_t n = std::min(piece, message.size() - at);

		at += http_read(&h, nullptr, reinterpret_cast<const uint8_t *>(message.data()) + at,
				uint32_t(n));
	}
	EXPECT_EQ(head.size(), at) << head;
	return h;
}

/* what a body in chunks holds, read in pieces of some bytes; what is behind it must not be touched */
std::string
Chunks(const std::string &coded, size_t piece)
{
	const std::string message = coded + "HTTP/1.1";
	http_chunks k = {};
	std::string body;
	size_t at = 0;

	while (at < message.size() && k.at < CHUNK_OVER) {
		size_t end = std::min(at + piece, message.size());

		while (at < end && k.at < CHUNK_OVER) {
			bool is_data;
			uint32_t n =
				http_chunks_read(&k, reinterpret_cast<const uint8_t *>(message.data()) + at,
						 uint32_t(end - at), &is_data);

			body += is_data ? message.substr(at, n) : "";
			at += n;
		}
	}
	if (k.at != CHUNK_OVER)
		return "broken";
	EXPECT_EQ(coded.size(), at);
	EXPECT_EQ(body.size(), k.body);
	return body;
}
} /* namespace */

TEST(L4Http, RequestsAreRead)
{
	for (size_t piece = 1; piece < 40; piece++) {
		http_head h = Read("GET /octets/12345 HTTP/1.1\r\nHost: 198.18.0.1:80\r\nAccept: */*\r\n\r\n",
				   piece);

		EXPECT_EQ(12345u, h.number);
		EXPECT_FALSE(h.post || h.head || h.close);
		h = Read("POST /9 HTTP/1.1\r\ncontent-length: 4567\r\nConnection: close\r\n\r\n", piece);
		EXPECT_TRUE(h.post && h.close);
		EXPECT_EQ(4567u, h.length);
		h = Read("HEAD /7 HTTP/1.0\nContent-Type: 5\n\n", piece);
		EXPECT_TRUE(h.head && h.close);
		EXPECT_FALSE(h.post);
		EXPECT_EQ(HTTP_UNSIZED, h.length);
		EXPECT_EQ(7u, h.number);
		h = Read("POST / HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n"
			 "Content-Type: x\r\nConnection:  \tclose\r\n\r\n",
			 piece);
		EXPECT_TRUE(h.post && h.expects && h.chunked && h.close);
		EXPECT_EQ(HTTP_UNSIZED, h.length);
		h = Read("GET /1 HTTP/1.1\r\nContent-Size: 3\r\nConnect: close\r\nTransfer: chunked\r\n"
			 "Expected: 1\r\nCon: x\r\nConnection: keep-alive\r\n\r\n",
			 piece);
		EXPECT_FALSE(h.post || h.expects || h.chunked || h.close);
		EXPECT_EQ(HTTP_UNSIZED, h.length);
	}
}

/* RFC 9110, 7.6.1 */
TEST(L4Http, ConnectionIsAList)
{
	for (size_t piece = 1; piece < 40; piece++) {
		for (const char *closes :
		     {"close", "keep-alive, close", "TE,close", "Keep-Alive ,\t Close", "c, close",
		      "clo,close", ", close", "close, TE", "upgrade, clos, close , x"})
			EXPECT_TRUE(Read(std::string("HTTP/1.1 200 OK\r\nConnection: ") + closes +
						 "\r\nContent-Length: 9\r\n\r\n",
					 piece)
					    .close)
				<< closes;
		for (const char *lasts : {"keep-alive, TE", "not-close", "x close", "clos e"}) {
			http_head h = Read(std::string("HTTP/1.1 200 OK\r\nConnection: ") + lasts +
						   "\r\nContent-Length: 9\r\n\r\n",
					   piece);

			EXPECT_FALSE(h.close) << lasts;
			EXPECT_EQ(9u, h.length) << lasts;
		}
	}
}

/* RFC 9110, 14.2 */
TEST(L4Http, RangesAreRead)
{
	const uint32_t open = HTTP_RANGE_OPEN, ignored = HTTP_RANGE_IGNORED;
	const struct {
		const char *fields;
		uint32_t first, last;
	} cases[] = {
		{"Range: bytes=0-99", 0, 99},
		{"RANGE:Bytes=5-", 5, open},
		{"range: bytes=-7", open, 7},
		{"Range: bytes=99999999999-", 4000000000, open},
		{"Range: items=0-5", open, open},
		{"Ranges: bytes=0-5", open, open},
		{"Range: bytes=0-1,3-4", ignored, ignored},
		{"Range: bytes=5", ignored, ignored},
		{"Range: bytes=5 -9", ignored, ignored},
		{"Range: bytes=x-9", ignored, ignored},
		{"If-Range: \"a\"\r\nRange: bytes=0-9", ignored, ignored},
		{"Range: bytes=0-9\r\nIf-Range: \"a\"", ignored, ignored},
		{"If-Match: 1\r\nRange: bytes=1-9\r\nRange: bytes=2-8", 1, 9},
	};

	for (const auto &one : cases)
		for (uint32_t piece = 1; piece < 40; piece++) {
			const std::string head =
				std::string("GET /9 HTTP/1.1\r\n") + one.fields + "\r\nExpect: x\r\n\r\n";
			http_range r = {open, open};
			http_head h;
			uint32_t at = 0;

			http_begin(&h);
			while (h.state != HTTP_BODY && at < head.size())
				at += http_read(&h, &r, reinterpret_cast<const uint8_t *>(head.data()) + at,
						std::min(piece, uint32_t(head.size()) - at));
			EXPECT_EQ(HTTP_BODY, h.state) << one.fields;
			EXPECT_TRUE(h.expects) << one.fields;
			EXPECT_EQ(one.first, r.first) << one.fields;
			EXPECT_EQ(one.last, r.last) << one.fields;
			EXPECT_EQ(9u, h.number);
		}
}

TEST(L4Http, OfAHeadCutAnywhereNothingIsForgotten)
{
	http_head h;

	http_begin(&h);
	EXPECT_EQ(0u, h.state);
	for (const char *p = "POST /1 HTTP/1.1\r\n\r\n"; *p != '\0'; p++) {
		http_read(&h, nullptr, reinterpret_cast<const uint8_t *>(p), 1);
		EXPECT_NE(0u, h.state) << p;
	}
}

TEST(L4Http, AHeadLikeTheLastSaysTheSame)
{
	const std::string heads[] = {
		"GET /1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
		"GET /2 HTTP/1.1\r\nContent-Length: 3\r\n\r\n", "GET /2 HTTP/1.0\r\n\r\n",
		"POST /3 HTTP/1.1\r\nConnection: close\r\nX: " + std::string(1000, 'x') + "\r\n\r\n"};
	http_seen seen = {};

	for (unsigned i = 0; i < 64; i++) {
		const std::string message = heads[i * 7 % 5 % 4] + "body";
		const uint8_t *data = reinterpret_cast<const uint8_t *>(message.data());
		http_head read, again;
		uint32_t cut = i % 3 == 0 ? i % 20 : 0, used = cut;

		http_begin(&read);
		http_begin(&again);
		http_read(&read, nullptr, data, uint32_t(message.size()));
		if (cut > 0)
			http_read_again(&seen, &again, nullptr, data, cut);
		used += http_read_again(&seen, &again, nullptr, data + cut, uint32_t(message.size()) - cut);
		EXPECT_EQ(message.size() - 4, used);
		EXPECT_EQ(HTTP_BODY, again.state);
		EXPECT_EQ(read.number, again.number);
		EXPECT_EQ(read.length, again.length);
		EXPECT_EQ(read.post, again.post);
		EXPECT_EQ(read.close, again.close);
	}
}

TEST(L4Http, ResponsesAreRead)
{
	for (size_t piece = 1; piece < 40; piece++) {
		http_head h = Read("HTTP/1.1 404 Not Found\r\nDate: 1\r\nCONTENT-LENGTH:  99\r\n"
				   "Connection: keep-alive\r\nContent-Length-Of-What: 3\r\n\r\n",
				   piece);

		EXPECT_EQ(404u, h.number);
		EXPECT_EQ(99u, h.length);
		EXPECT_FALSE(h.close);
		h = Read("HTTP/1.1 200 0 for 100\r\nTRANSFER-ENCODING:chunked\r\nConnection:close\r\n\r\n",
			 piece);
		EXPECT_EQ(200u, h.number);
		EXPECT_TRUE(h.chunked && h.close);
		EXPECT_FALSE(h.post || h.head);
		h = Read("HTTP/1.0 200 OK\r\nContent-Length:0\r\n\r\n", piece);
		EXPECT_TRUE(h.close);
		EXPECT_EQ(0u, h.length);
		EXPECT_FALSE(Read("HTTP/1.1 200 0K\r\n\r\n", piece).close);
	}
}

TEST(L4Http, ChunksAreRead)
{
	const std::string coded = "5\r\nhello\r\n00A;name=\"v\"\r\n, to you a\r\n01\nl\n1 \r\nl\r\n0\r\n"
				  "Trailer: 1\r\nX: 2\r\n\r\n";

	for (size_t piece = 1; piece <= coded.size() + 3; piece++)
		EXPECT_EQ("hello, to you all", Chunks(coded, piece)) << piece;
	EXPECT_EQ("", Chunks("0\r\n\r\n", 3));
}

TEST(L4Http, BrokenChunksAreNoticed)
{
	for (const char *coded : {"\r\nhello", "x\r\n", "-1\r\n", "100000000\r\n", "1\r\nab\r\n0\r\n\r\n"})
		for (size_t piece = 1; piece < 12; piece++)
			EXPECT_EQ("broken", Chunks(coded, piece)) << coded;
}

/* whatever a peer says, in memory of just that size: nothing beyond it is read, and reading comes to an
 * end */
TEST(L4Http, AnythingIsRead)
{
	const std::string words[] = {"HTTP/1.1 ",
				     "GET /9",
				     " 200",
				     "\r\n",
				     "\n",
				     "Content-Length:",
				     "connection: close",
				     "Transfer-Encoding: chunked",
				     "expect:",
				     "f",
				     "0",
				     "con",
				     ";",
				     "\r\n\r\n",
				     "\xff"};
	std::mt19937 random(7);

	for (unsigned i = 0; i < 20000; i++) {
		std::string text;
		http_chunks k = {};
		http_head h;
		uint32_t at = 0, n;
		bool is_data;

		for (unsigned parts = random() % 12; parts > 0; parts--)
			text += words[random() % std::size(words)];
		std::unique_ptr<uint8_t[]> copy(new uint8_t[text.size()]);
		memcpy(copy.get(), text.data(), text.size());
		http_begin(&h);
		n = http_read(&h, nullptr, copy.get(), uint32_t(text.size()));
		ASSERT_LE(n, text.size());
		ASSERT_TRUE(n == text.size() || h.state == HTTP_BODY) << text;
		while ((n = http_chunks_read(&k, copy.get() + at, uint32_t(text.size()) - at, &is_data)) > 0)
			at += n;
		ASSERT_LE(at, text.size());
		ASSERT_TRUE(at == text.size() || k.at >= CHUNK_OVER) << text;
	}
}

TEST(L4Http, NumbersDoNotOverflow)
{
	EXPECT_EQ(HTTP_NUMBER_MAX, Read("GET /99999999999999999999 HTTP/1.1\r\n\r\n", 7).number);
	EXPECT_EQ(HTTP_NUMBER_MAX, Read("POST /1 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 7).length);
}

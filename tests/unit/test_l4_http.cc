/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads of HTTP messages, however they are cut, and client and server that talk to each other through all cuts. */
#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "http_priv.h"
}

namespace
{
/* read the head in pieces of so many octets; what is behind it must not be touched */
http_head
Read(const std::string &head, size_t piece)
{
	const std::string message = head + "body: 7\r\n\r\n";
	http_head h = {};
	size_t at = 0;

	while (at < message.size() && h.state != HTTP_BODY) {
		size_t n = std::min(piece, message.size() - at);

		at += http_read(&h, reinterpret_cast<const uint8_t *>(message.data()) + at, uint32_t(n));
	}
	EXPECT_EQ(head.size(), at) << head;
	return h;
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
		EXPECT_EQ(0u, h.length);
		EXPECT_EQ(7u, h.number);
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
	}
}

TEST(L4Http, NumbersDoNotOverflow)
{
	EXPECT_EQ(HTTP_NUMBER_MAX, Read("GET /99999999999999999999 HTTP/1.1\r\n\r\n", 7).number);
	EXPECT_EQ(HTTP_NUMBER_MAX, Read("POST /1 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 7).length);
}

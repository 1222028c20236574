/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fg_web.h"

namespace
{
/* A server and its client in one thread: each step of the client lets the server do what it can. */
class Web : public testing::Test
{
      protected:
	fg_web *web = nullptr;
	fg_web_about about = {};

	void
	open(uint32_t head_ms = 5000)
	{
		fg_web_config config = {};
		fg_error err = {};

		config.address = "127.0.0.1:0";
		config.max_connections = 16;
		config.head_ms = head_ms;
		config.body_ms = 5000;
		config.max_body = 1000;
		config.too_large = "too large";
		config.too_large_type = "text/x";
		ASSERT_EQ(0, fg_web_open(&config, &web, &err)) << err.message;
		ASSERT_NE(0, fg_web_port(web));
	}

	void
	TearDown() override
	{
		fg_web_close(web);
	}

	int
	client(const std::string &text) const
	{
		sockaddr_in address = {};
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		address.sin_family = AF_INET;
		address.sin_port = htons(fg_web_port(web));
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(0, connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
		send_text(fd, text);
		return fd;
	}

	static void
	send_text(int fd, const std::string &text)
	{
		EXPECT_EQ(ssize_t(text.size()), send(fd, text.data(), text.size(), MSG_NOSIGNAL));
	}

	/* What the client reads until the text comes, or the connection ends ("<end>"). */
	std::string
	read_until(int fd, const std::string &expected)
	{
		std::string got;

		for (int i = 0; i < 800 && got.find(expected) == std::string::npos; i++) {
			char bytes[4096];
			pollfd ready = {fd, POLLIN, 0};

			fg_web_poll(web);
			if (poll(&ready, 1, 10) == 0)
				continue;
			ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
			if (n <= 0)
				return got + "<end>";
			got.append(bytes, size_t(n));
		}
		return got;
	}

	fg_web_request *
	next()
	{
		for (int i = 0; i < 200; i++) {
			fg_web_poll(web);
			if (fg_web_request *request = fg_web_next(web, &about))
				return request;
			usleep(5000);
		}
		return nullptr;
	}
};

const char HOST[] = "Host: tester\r\n";
} // namespace

TEST_F(Web, AnswersLaterThanItWasAskedAndKeepsTheConnection)
{
	open();
	for (int fd = client(""), i = 0; i < 2; i++) {
		send_text(fd, std::string("GET /a%20b?x=1&y HTTP/1.1\r\n") + HOST + "\r\n");
		fg_web_request *request = next();
		ASSERT_NE(nullptr, request);
		EXPECT_STREQ("GET", about.method);
		EXPECT_STREQ("/a b", about.path);
		EXPECT_STREQ("127.0.0.1", about.peer);
		fg_web_value query[4] = {};
		ASSERT_EQ(2u, fg_web_values(request, FG_WEB_QUERY, query, 4));
		EXPECT_STREQ("x", query[0].name);
		EXPECT_STREQ("1", query[0].value);
		EXPECT_STREQ("", query[1].value);
		fg_web_poll(web);
		const fg_web_value header = {"X-Of", "us"};
		EXPECT_EQ(0, fg_web_answer(request, 201, &header, 1, "late", 4));
		EXPECT_EQ(-EALREADY, fg_web_answer(request, 200, nullptr, 0, "", 0));
		fg_web_release(request);
		std::string answer = read_until(fd, "late");
		EXPECT_EQ(0u, answer.find("HTTP/1.1 201")) << answer;
		EXPECT_NE(std::string::npos, answer.find("X-Of: us")) << answer;
		if (i == 1)
			close(fd);
	}
}

TEST_F(Web, TakesBodiesInChunksUpToTheLimitOfTheirPath)
{
	open();
	ASSERT_EQ(0, fg_web_limit(web, "/large", 5000));
	const std::string chunk = "7d0\r\n" + std::string(2000, 'x') + "\r\n";
	const std::string chunked =
		std::string(" HTTP/1.1\r\nTransfer-Encoding: chunked\r\n") + HOST + "\r\n";

	int fd = client("POST /large" + chunked + chunk + chunk + "0\r\n\r\n");
	fg_web_request *request = next();
	ASSERT_NE(nullptr, request);
	EXPECT_EQ(4000u, about.size);
	EXPECT_EQ('x', about.body[3999]);
	fg_web_release(request); /* without an answer */
	EXPECT_EQ(0u, read_until(fd, "no answer").find("HTTP/1.1 500"));
	close(fd);

	fd = client("POST /small" + chunked + chunk + "0\r\n\r\n");
	const std::string answer = read_until(fd, "too large");
	EXPECT_EQ(0u, answer.find("HTTP/1.1 413")) << answer;
	EXPECT_NE(std::string::npos, answer.find("Content-Type: text/x\r\n")) << answer;
	EXPECT_EQ(nullptr, fg_web_next(web, &about));
	close(fd);
}

TEST_F(Web, AsksForABodyThatWaitsToBeAskedForUnlessItIsTooLarge)
{
	open();
	int fd = client(std::string("POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n") +
			HOST + "\r\n");
	EXPECT_EQ(0u, read_until(fd, "\r\n\r\n").find("HTTP/1.1 100"));
	send_text(fd, "abc");
	fg_web_request *request = next();
	ASSERT_NE(nullptr, request);
	EXPECT_EQ("abc", std::string(about.body, about.size));
	fg_web_release(request);
	close(fd);

	fd = client(std::string("POST / HTTP/1.1\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n") +
		    HOST + "\r\n");
	EXPECT_EQ(0u, read_until(fd, "too large").find("HTTP/1.1 413"));
	close(fd);
}

TEST_F(Web, StreamsUntilReleasedAndNoticesThatAClientIsGone)
{
	open();
	int fd = client(std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	fg_web_request *request = next();
	ASSERT_NE(nullptr, request);
	EXPECT_EQ(-EPIPE, fg_web_push(request, "x", 1)); /* no stream yet */
	ASSERT_EQ(0, fg_web_stream(request, 200, nullptr, 0));
	EXPECT_EQ(5, fg_web_push(request, "first", 5));
	read_until(fd, "first");
	EXPECT_EQ(6, fg_web_push(request, "second", 6));
	fg_web_release(request);
	EXPECT_NE(std::string::npos, read_until(fd, "\r\n0\r\n\r\n").find("second"));

	send_text(fd, std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	request = next();
	ASSERT_NE(nullptr, request);
	ASSERT_EQ(0, fg_web_stream(request, 200, nullptr, 0));
	close(fd);
	int64_t unread = 0;
	for (int i = 0; i < 100 && unread >= 0; i++) {
		unread = fg_web_push(request, "x", 1);
		fg_web_poll(web);
		usleep(1000);
	}
	EXPECT_EQ(-EPIPE, unread);
	fg_web_release(request);
}

TEST_F(Web, ClosesAConnectionWhoseHeadDoesNotEnd)
{
	open(100);
	int fd = client("GET / HTTP/1.1\r\nX-Slow: ");
	bool over = false;

	for (int i = 0; i < 60 && !over; i++) { /* one byte after the other keeps it alive no longer */
		char byte;

		send(fd, "x", 1, MSG_NOSIGNAL);
		fg_web_poll(web);
		over = recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
		usleep(50000);
	}
	EXPECT_TRUE(over);
	close(fd);
}

TEST_F(Web, AnswersOthersBesideMoreHalfOpenConnectionsThanItMayHave)
{
	open(/*head_ms*/ 60000);
	const std::string halves[] = {"", "GET / HTTP/1.1\r\nX-Slow: ",
				      std::string("POST / HTTP/1.1\r\nContent-Length: 9\r\n") + HOST +
					      "\r\nx"};
	int viewer = client(std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	fg_web_request *stream = next();
	ASSERT_NE(nullptr, stream);
	ASSERT_EQ(0, fg_web_stream(stream, 200, nullptr, 0));
	int half_open[90];

	for (size_t i = 0; i < 90; i++)
		half_open[i] = client(halves[i % 3]);
	bool soon = false;
	for (int i = 0; i < 20; i++)
		soon = fg_web_poll(web) == 0 || soon;
	EXPECT_TRUE(soon); /* it is called again at once, and not in a second */
	int fd = client(std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	fg_web_request *request = next();
	ASSERT_NE(nullptr, request);
	fg_web_answer(request, 200, nullptr, 0, "in", 2);
	fg_web_release(request);
	EXPECT_NE(std::string::npos, read_until(fd, "in").find("200"));
	EXPECT_EQ(3, fg_web_push(stream, "yes", 3));
	EXPECT_NE(std::string::npos, read_until(viewer, "yes").find("yes"));
	fg_web_release(stream);
	for (int one : half_open)
		close(one);
	close(fd);
	close(viewer);
}

TEST_F(Web, MayBeClosedWhileARequestIsInHand)
{
	open();
	int fd = client(std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	int waiting = client(std::string("GET / HTTP/1.1\r\n") + HOST + "\r\n");
	fg_web_request *request = next();
	ASSERT_NE(nullptr, request);
	for (int i = 0; i < 20; i++)
		fg_web_poll(web);
	fg_web_close(web);
	web = nullptr;
	EXPECT_EQ(-EPIPE, fg_web_answer(request, 200, nullptr, 0, "", 0));
	fg_web_release(request);
	close(fd);
	close(waiting);
}

TEST_F(Web, ListensAtAPathOfItsUserAlone)
{
	char folder[] = "/tmp/framegauge-web-XXXXXX";
	ASSERT_NE(nullptr, mkdtemp(folder));
	const std::string path = std::string(folder) + "/s", address = "unix:" + path;
	fg_web_config config = {};
	fg_web *second = nullptr;
	fg_error err = {};
	struct stat st;

	config.address = address.c_str();
	config.max_connections = 1;
	config.head_ms = config.body_ms = 1000;
	ASSERT_EQ(0, fg_web_open(&config, &web, &err)) << err.message;
	ASSERT_EQ(0, stat(path.c_str(), &st));
	EXPECT_EQ(0600u, st.st_mode & 0777);
	EXPECT_EQ(-EADDRINUSE, fg_web_open(&config, &second, &err));
	fg_web_close(web);
	web = nullptr;
	EXPECT_NE(0, stat(path.c_str(), &st));
	rmdir(folder);
}

TEST_F(Web, RefusesWhatIsNoAddress)
{
	fg_web_config config = {};
	fg_error err = {};

	for (const char *address :
	     {"", "8080", ":80", "host", "1.2.3.4:", "127.0.0.1:65536", "::1:80", "unix:"}) {
		config.address = address;
		EXPECT_EQ(-EINVAL, fg_web_open(&config, &web, &err)) << address;
	}
	config.address = "127.0.0.1:0";
	config.certificate = config.key = "no PEM";
	EXPECT_EQ(-EINVAL, fg_web_open(&config, &web, &err));
	EXPECT_NE(nullptr, strstr(err.message, "cannot serve"));
}

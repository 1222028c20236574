/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Either role of FTP with a peer that says what a test wants, line by line. Of our client it is the server,
 * at port 21 and at every port that the client connects to; line 0 is the control connection.
 */
#ifndef L4_FTP_PEER_H
#define L4_FTP_PEER_H

#include <cstring>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "ftp/ftp_priv.h"
#include "l4_talker.h"
}
#include "l4_time.h"

namespace l4
{
const uint16_t ftp_port = 21;

inline uint16_t came_from; /* port of the last connection that a peer was asked about */

inline bool
takes_all(const fg_l4 *, const fg_app *, const fg_flow *flow)
{
	came_from = flow->remote_port;
	return true;
}

class FtpPeer
{
      public:
	/* of our server, which gets its last argument alone, or of our client */
	explicit FtpPeer(bool server, uint8_t mode = FG_L4_FTP_PASSIVE, uint32_t body = 1000,
			 bool upload = false, uint32_t files = 2, uint32_t rest = 0)
	{
		fg_l4_app app = {};

		app.kind = "FTP";
		app.server = server;
		app.port = ftp_port;
		app.user = "u";
		app.password = "p";
		app.path = "octets/1000";
		app.ftp_mode = mode;
		app.ftp_rest = rest;
		app.requests = files;
		app.cycles = 1;
		app.request = upload ? body : 0;
		app.response = upload ? 0 : body;
		app.timeout_ns = 10 * second;
		t = talker_create(&app, 1500);
		ops = talker_ops;
		ops.expects = takes_all;
		t->app.ops = &ops;
		if (server)
			talker_open(t, 0, ftp_port);
	}
	~FtpPeer()
	{
		talker_free(t);
	}
	FtpPeer(const FtpPeer &) = delete;
	FtpPeer &operator=(const FtpPeer &) = delete;

	/* what was heard in answer */
	std::string
	Say(const std::string &text, unsigned line = 0)
	{
		talker_say(t, line, text.data(), text.size());
		return Hear(line);
	}
	std::string
	Hear(unsigned line = 0)
	{
		std::string all((const char *)t->line[line].in, t->line[line].heard);
		std::string news = all.substr(std::min(all.size(), size_t(heard[line])));

		heard[line] = unsigned(all.size());
		return news;
	}
	/* the client logs in, and asks for its first data connection */
	std::string
	Greet()
	{
		EXPECT_EQ("USER u\r\n", Say("220 ready\r\n"));
		EXPECT_EQ("PASS p\r\n", Say("331 password?\r\n"));
		EXPECT_EQ("TYPE I\r\n", Say("230 welcome\r\n"));
		return Say("200 binary\r\n");
	}
	/* the body of a file, as a side of ours sends it */
	static std::string
	Body(uint32_t octets, uint32_t of = SERVER_STREAM)
	{
		std::string body(octets, '\0');

		payload_fill(of, 0, (uint8_t *)&body[0], octets);
		return body;
	}
	void
	Close(unsigned line, bool reset = false)
	{
		talker_close(t, line, reset);
	}
	/* to the port that a reply to PASV names */
	void
	OpenData(const std::string &reply, unsigned line = 1)
	{
		talker_open(t, line, Port(reply));
		heard[line] = 0;
	}
	static uint16_t
	Port(const std::string &reply)
	{
		unsigned high = 0, low = 0;

		EXPECT_EQ(2,
			  sscanf(reply.c_str(), "227 Entering Passive Mode (198,19,0,1,%u,%u).", &high, &low))
			<< reply;
		return uint16_t(high << 8 | low);
	}
	/* by another host than the control connection's */
	void
	OpenByAnother(uint16_t port, unsigned line)
	{
		fg_flow f = talker_flow(uint16_t(50000 + line), port);

		f.local[15]++;
		talker_begin(t);
		memset(&t->line[line], 0, offsetof(struct talker_line, out));
		t->line[line].conn = fg_stream_open(t->own, 0, &f);
		t->line[line].conn->area[0] = uint8_t(line);
		talker_settle(t);
	}
	const fg_l4_tally &
	Tally() const
	{
		return t->other->app[0]->tally;
	}
	uint64_t
	Own(enum ftp_sum what) const
	{
		return Tally().own[what];
	}
	uint64_t
	Replies(unsigned code) const
	{
		return ((const ftp *)t->other->app[0])->replies[code];
	}
	uint64_t
	Wrong() const
	{
		return t->other->counters.wrong_octets;
	}
	/* one fault, of this kind and no other, and nothing that goes on */
	void
	ExpectOneFault(enum ftp_sum what, bool ends = true)
	{
		EXPECT_EQ(1u, Tally().refused);
		for (unsigned i = FTP_4XX; i < FG_L4_OWN_SUMS; i++)
			EXPECT_EQ(i == unsigned(what), Own(ftp_sum(i))) << i;
		if (ends)
			ExpectNothingKept();
	}
	/* in the end the worker has no connection and no session any more */
	void
	ExpectNothingKept()
	{
		for (unsigned i = 0; i < TALKER_LINES; i++)
			talker_close(t, i, false);
		for (unsigned i = 0; i < 40; i++)
			talker_wait(t, second);
		EXPECT_EQ(0u, fg_l4_open(t->other));
		EXPECT_EQ(0u, talker_taken(&((const ftp *)t->other->app[0])->sessions));
	}

	struct talker *t;

      private:
	fg_app_ops ops;
	unsigned heard[TALKER_LINES] = {};
};

} /* namespace l4 */

#endif

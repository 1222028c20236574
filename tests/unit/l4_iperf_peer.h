/* SPDX-License-Identifier: BSD-3-Clause */
/* Either role of iperf3 with a peer that is told what to say, and says what it should not. */
#ifndef L4_IPERF_PEER_H
#define L4_IPERF_PEER_H

#include <cstring>
#include <string>

#include "l4_iperf.h"

extern "C" {
#include "l4_talker.h"
}

namespace l4
{

/* a peer that controls a test by hand */
class IperfPeer
{
      public:
	/* of our server; with parameters, of our client */
	explicit IperfPeer(const char *params = nullptr)
	{
		fg_l4_app app = {};

		app.kind = "IPERF";
		app.server = params == nullptr;
		app.port = iperf_port;
		app.host = iperf_cookie;
		app.params = params;
		t = talker_create(&app, 1500);
	}
	~IperfPeer()
	{
		talker_free(t);
	}
	IperfPeer(const IperfPeer &) = delete;
	IperfPeer &operator=(const IperfPeer &) = delete;

	void
	Say(const std::string &octets, unsigned line = 0)
	{
		talker_say(t, line, octets.data(), octets.size());
	}
	void
	SayText(const std::string &text)
	{
		uint32_t length = htonl(uint32_t(text.size()));

		Say(std::string((const char *)&length, 4) + text);
	}
	/* cookie and parameters */
	void
	Begin(const std::string &params)
	{
		talker_wait(t, 2 * second); /* the end of TIME_WAIT, if there was one before */
		talker_open(t, 0, iperf_port);
		Say(std::string(iperf_cookie, 37));
		SayText(params);
	}
	void
	OpenStream(unsigned line, const char *word = iperf_cookie)
	{
		talker_open(t, line, iperf_port);
		Say(std::string(word, 37), line);
	}
	std::string
	Heard(unsigned line = 0) const
	{
		return std::string((const char *)t->line[line].in, t->line[line].heard);
	}
	bool
	Ended(unsigned line = 0) const
	{
		return t->line[line].ended;
	}
	fg_l4_iperf_report
	Last()
	{
		std::vector<fg_l4_iperf_report> all = Reports(t->other);

		return all.empty() ? fg_l4_iperf_report{} : all.back();
	}
	/* a whole test: the server is as good as new */
	void
	ExpectServes()
	{
		for (unsigned i = 0; i < TALKER_LINES; i++)
			talker_close(t, i, true);
		talker_wait(t, 20 * second);
		Reports(t->other);
		Begin("{\"tcp\":true,\"parallel\":1,\"time\":1,\"len\":1000}");
		OpenStream(1);
		ASSERT_EQ("\x9\xa\x1\x2", Heard());
		Say("some octets", 1);
		Say("\x4");
		SayText("{\"streams\":[{\"id\":1,\"bytes\":11}]}");
		Say("\x10");
		EXPECT_EQ(FG_L4_IPERF_DONE, Last().end);
	}

	struct talker *t;
};

} /* namespace l4 */

#endif

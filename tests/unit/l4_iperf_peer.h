/* SPDX-License-Identifier: BSD-3-Clause */
/* Either role of iperf3 with a peer that is told what to say, and orders as control would give them. */
#ifndef L4_IPERF_PEER_H
#define L4_IPERF_PEER_H

#include "l4_iperf.h"

extern "C" {
#include "l4_talker.h"
}

namespace l4
{

class IperfPeer
{
      public:
	explicit IperfPeer(bool client = false)
	{
		fg_l4_app app = {};

		app.kind = "IPERF";
		app.server = !client;
		app.port = iperf_port;
		t = talker_create(&app, 1500);
		l4 = t->other;
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
	Do(uint32_t orders, const fg_l4_iperf_test *test = nullptr)
	{
		Order(l4, orders, test);
		talker_wait(t, ms);
	}
	void
	Send(const std::string &octets)
	{
		EXPECT_TRUE(fg_l4_iperf_send(l4, 0, octets.data(), uint32_t(octets.size())));
		talker_wait(t, ms);
	}
	/* a connection that controls, and the test it is about */
	void
	Begin(const fg_l4_iperf_test &test)
	{
		talker_wait(t, 2 * second); /* the end of TIME_WAIT, if there was one before */
		talker_open(t, 0, iperf_port);
		Do(FG_L4_IPERF_OPEN, &test);
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
	std::string
	Received() const
	{
		return std::string(fg_l4_iperf_received(l4, 0), State(l4).received);
	}
	const fg_l4_iperf_counts &
	Counts()
	{
		uint32_t before = State(l4).counted;

		Do(FG_L4_IPERF_COUNT);
		EXPECT_EQ(before + 1, State(l4).counted);
		return *fg_l4_iperf_read(l4, 0);
	}
	/* a session: the server is as good as new */
	void
	ExpectServes()
	{
		uint32_t before;

		for (unsigned i = 0; i < TALKER_LINES; i++)
			talker_close(t, i, true);
		Do(FG_L4_IPERF_END);
		talker_wait(t, 20 * second);
		before = State(l4).session;
		Begin(IperfTest(false, 1, 1000));
		EXPECT_EQ(before + 1, State(l4).session);
		OpenStream(1);
		ASSERT_EQ(1u, State(l4).streams);
		Do(FG_L4_IPERF_RUN);
		Say("some octets", 1);
		Say("\x4");
		EXPECT_TRUE(State(l4).halted);
		EXPECT_EQ("\x4", Received());
		EXPECT_EQ(11u, Counts().stream[0].all.octets);
		Do(FG_L4_IPERF_END);
		EXPECT_TRUE(Ended() && Ended(1));
	}

	struct talker *t;
	fg_l4 *l4;
};

} /* namespace l4 */

#endif

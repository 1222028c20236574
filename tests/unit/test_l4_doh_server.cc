/* SPDX-License-Identifier: BSD-3-Clause */
/* Our server of DNS over HTTPS (RFC 8484), and a peer that sends anything. */
#include <malloc.h>

#include "l4_doh.h"

using namespace l4;

TEST(L4DohServer, WhateverAPeerSaysItEnds)
{
	std::mt19937_64 random(7);

	for (unsigned i = 0; i < 60; i++) {
		fg_l4_dns zone = DohZone(false, 500);
		DohServer s(&zone);

		for (uint32_t id = 1; id < 40; id += 2) {
			std::string path = "/dns-query?dns=AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAABAAAQ";

			for (unsigned n = random() % 5; n > 0; n--)
				path[random() % path.size()] =
					char(random() % 3 == 0 ? random() : 'A' + random() % 50);
			s.Get(path.substr(0, random() % 4 == 0 ? random() % path.size() + 1 : path.size()),
			      id);
			s.Say(Http2Frame(random() % 12, random() % 64, random() % 42,
					 std::string(random() % 40, char(random()))));
		}
		talker_close(s.t, 0, true);
		talker_wait(s.t, 2 * second);
		EXPECT_EQ(0u, s.Left()) << i;
	}
}

TEST(L4DohServer, WhatIsNoQueryIsABadRequest)
{
	fg_l4_dns zone = DohZone(false);
	DohServer s(&zone);
	const std::string query = "AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAAAEAAQ";
	uint32_t id = 1;

	EXPECT_EQ(0x88, DohStatus(s.Get("/dns-query?dns=" + query, id)));
	EXPECT_EQ(0x88, DohStatus(s.Get("/dns-query?x=1&dns=" + query + "&y", id += 2)));
	for (const char *bad : {"", "?", "?dns", "?dns=", "?dns=AA", "?xdns=AAABAAAB", "?dns=AAAB%20",
				"?dns=AAAB=", "?&&", "?dns=AACBAAABAAAAAAAA"})
		EXPECT_EQ(0x8c, DohStatus(s.Get(std::string("/dns-query") + bad, id += 2))) << bad;
	for (const char *bad : {"/", "/dns-quer", "/dns-query2", "/dns-query/?dns="})
		EXPECT_EQ(0x8d, DohStatus(s.Get(bad + query, id += 2))) << bad;
	/* a query that DNS refuses is answered by DNS */
	EXPECT_EQ(0x88, DohStatus(s.Get("/dns-query?dns=AAAIAAABAAAAAAAA", id += 2)));
	EXPECT_EQ(1u, s.t->other->app[0]->tally.own[DOH_SUMS + DNS_SUM_OTHER]);
	/* POST, whose body comes in parts, or is longer than a message */
	s.Post("/dns-query", id += 2);
	s.Say(Http2Frame(H2_DATA, 0, id, std::string("\0\0\1\0\0\1\0\0\0\0\0\0\2h", 14)));
	EXPECT_EQ(0x88,
		  DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, std::string("1\0\0\1\0\1", 6)))));
	s.Post("/dns-query", id += 2);
	for (unsigned i = 0; i < 4; i++)
		s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	EXPECT_EQ(0x8c, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, "x"))));
	talker_close(s.t, 0, true);
	talker_wait(s.t, 2 * second);
	EXPECT_EQ(0u, s.Left());
}

/* where a sanitizer counts memory, it says itself what was lost */
TEST(L4DohServer, AWorkerThatEndsInTheMiddleGivesAllBack)
{
	fg_l4_dns zone = DohZone(false, 20000);
	size_t before = 0;

	for (unsigned i = 0; i < 4; i++) {
		DohServer s(&zone);
		uint32_t id = 1;

		/* bodies that wait for their end, answers that wait for a window, and half
     * a block */
		s.Say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 300)));
		for (unsigned n = 0; n < 5; n++) {
			s.Post("/dns-query", id += 2);
			s.Say(Http2Frame(H2_DATA, 0, id, std::string(10000, 'x')));
			s.Get(DOH_IN_PATH, id += 2);
		}
		s.Say(Http2Frame(H2_HEADERS, 0, id + 2, DohServer::Head(0x82, DOH_IN_PATH)));
		EXPECT_LT(50000u, s.App()->heap.octets);
		talker_free(s.t);
		s.t = nullptr;
		if (i == 0) /* what only the first one needs is there */
			before = mallinfo2().uordblks;
	}
	EXPECT_LT(mallinfo2().uordblks, before + 20000);
}

TEST(L4DohServer, AQueryIsInThePathOrInTheBody)
{
	fg_l4_dns zone = DohZone(false);
	DohServer s(&zone);
	uint32_t id = 1;

	/* the body alone of POST */
	s.Post(DOH_IN_PATH, id);
	EXPECT_EQ(0x8c, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, ""))));
	s.Post(DOH_IN_PATH, id += 2);
	EXPECT_EQ(0x88, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY))));
	/* the path alone of GET */
	s.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id += 2, DohServer::Head(0x82, "/dns-query")));
	EXPECT_EQ(0x8c, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY))));
	s.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id += 2, DohServer::Head(0x82, DOH_IN_PATH)));
	EXPECT_EQ(0x88, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, "xyz"))));
	EXPECT_EQ(2u, s.App()->app.base.tally.own[DOH_SUMS + DNS_SUM_NOERROR]);
	/* six bits are no byte */
	EXPECT_EQ(0x88, DohStatus(s.Get("/dns-query?dns=AAAIAAABAAAAAAAA", id += 2)));
	EXPECT_EQ(0x8c, DohStatus(s.Get("/dns-query?dns=AAAIAAABAAAAAAAAA", id += 2)));
}

TEST(L4DohServer, ABodyOfAnotherTypeIsNotTaken)
{
	fg_l4_dns zone = DohZone(false);
	DohServer s(&zone);
	uint32_t id = 1;

	for (const char *good : {"application/dns-message", "Application/DNS-Message",
				 "application/dns-message; charset=x", "application/dns-message;x"}) {
		s.Post("/dns-query", id += 2, good);
		EXPECT_EQ(0x88, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY)))) << good;
	}
	/* 415 stands in no table */
	for (const char *bad :
	     {"", "text/html", "application/dns-messages", "application/dns-json", "application/dns"}) {
		s.Post("/dns-query", id += 2, bad);
		EXPECT_EQ(0x08, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY)))) << bad;
	}
	/* the type in trailers says nothing of the next request */
	s.Post("/dns-query", id += 2);
	s.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, id,
			 Field("content-type", "application/dns-message")));
	s.Post("/dns-query", id += 2, "");
	EXPECT_EQ(0x08, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY))));
	s.Post("/elsewhere", id += 2, "text/html");
	EXPECT_EQ(0x8d, DohStatus(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, DOH_QUERY))));
	EXPECT_EQ(4u, s.App()->app.base.tally.own[DOH_SUMS + DNS_SUM_NOERROR]);
}

TEST(L4DohServer, NoPathIsKeptOfWhatIsRefusedOrOfAResponse)
{
	fg_l4_dns zone = DohZone(false);
	DohServer s(&zone);
	DohAsker c;
	uint32_t id = 1;

	for (unsigned i = 0; i < 256; i++, id += 2)
		s.Post("/dns-query", id);
	uint64_t before = s.App()->heap.octets;
	std::vector<Heard> said = Frames(s.Get(DOH_IN_PATH, id));
	ASSERT_EQ(1u, said.size());
	EXPECT_EQ(Number(H2_REFUSED_STREAM, 4), said[0].payload);
	EXPECT_EQ(before, s.App()->heap.octets);
	/* and a block that says the same as the last one is not read again by a
   * client */
	c.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()));
	EXPECT_LT(0u, c.App()->seen.octets);
	c.Say(Http2Frame(H2_HEADERS, 0, 1, Field(":path", "/a-path-of-a-server")));
	EXPECT_EQ(nullptr, h2_conn_at(c.App(), 1)->path);
}

TEST(L4DohServer, WantOfMemoryIsNoAnswer)
{
	fg_l4_dns zone = DohZone(false, 20000);
	DohServer s(&zone);
	const fg_l4_tally &tally = s.App()->app.base.tally;
	fg_l4_counters &counters = s.t->other->counters;
	const uint64_t share = s.App()->most;
	uint32_t id = 1;

	s.Get("/elsewhere", id);
	s.Post("/elsewhere", id += 2);
	ASSERT_EQ(1u, tally.transactions);
	s.App()->most = 0;
	EXPECT_EQ(H2_REFUSED_STREAM, DohRefusal(s.Get(DOH_IN_PATH, id += 2)));
	EXPECT_EQ(1u, counters.held_refused);
	/* the path has room, the body has not */
	s.App()->most = s.App()->heap.octets + 100;
	s.Post("/dns-query", id += 2);
	EXPECT_EQ(H2_REFUSED_STREAM, DohRefusal(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id,
								 DOH_QUERY + std::string(200, 'x')))));
	EXPECT_EQ(2u, counters.held_refused);
	/* nor has the answer, of a long text */
	s.App()->most = s.App()->heap.octets + 2000;
	EXPECT_EQ(H2_REFUSED_STREAM,
		  DohRefusal(s.Get("/dns-query?dns=AAABAAABAAAAAAAAAmgxAAAQAAE", id += 2)));
	EXPECT_EQ(1u, counters.no_spans);
	EXPECT_EQ(1u, tally.transactions);
	EXPECT_EQ(0u, tally.own[DOH_SUMS + DNS_SUM_NOERROR]);
	s.App()->most = share;
	EXPECT_EQ(0x88, DohStatus(s.Get(DOH_IN_PATH, id += 2)));
	/* a client counts an answer that it had no room for */
	DohAsker c;
	c.App()->most = 0;
	c.Say(NOTHING + Http2Frame(H2_HEADERS, H2_END_HEADERS, 1, Ok()) +
	      Http2Frame(H2_DATA, H2_END_STREAM, 1, c.Answer(0)));
	EXPECT_EQ(1u, c.App()->app.base.tally.own[MESSAGE_CUT]);
	EXPECT_EQ(1u, c.App()->app.base.tally.refused);
}

TEST(L4DohServer, BodiesTakeTheirShareOfMemoryAtMost)
{
	fg_l4_dns zone = DohZone(false);
	DohServer s(&zone);
	uint32_t id = 1;

	EXPECT_LT(256u * DNS_MESSAGE_MAX, s.App()->most) << "a connection may use all its streams";
	EXPECT_GT(64u << 20, s.App()->most) << "of 64 connections";
	/* what is no query is not kept, */
	s.Post("/elsewhere", id);
	uint64_t before = s.App()->heap.octets;
	s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	s.Post("/dns-query", id += 2, "text/html");
	s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	s.Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id += 2, DohServer::Head(0x82, DOH_IN_PATH)));
	s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	EXPECT_GT(before + 1000, s.App()->heap.octets);
	/* nor is a body that is too long for one, */
	s.Post("/dns-query", id += 2);
	for (unsigned i = 0; i < 5; i++)
		s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	EXPECT_GT(before + 1000, s.App()->heap.octets);
	/* and others as far as there is room */
	s.App()->most = before + 100000;
	for (unsigned i = 0; i < 6; i++) {
		s.Post("/dns-query", id += 2);
		s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
		s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
		EXPECT_GE(before + 100000, s.App()->heap.octets);
	}
	EXPECT_LE(2u, s.t->other->counters.held_refused);
	EXPECT_EQ(s.t->other->counters.held_refused, s.App()->app.base.tally.own[MESSAGE_CUT]);
	EXPECT_EQ(H2_REFUSED_STREAM, DohRefusal(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, ""))));
	EXPECT_GT(before + 100000, s.App()->heap.octets);
}

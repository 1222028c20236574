/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS over HTTPS (RFC 8484): client and server of ours, and our server with a peer that sends anything. */
#include <malloc.h>

#include "l4_http2.h"

extern "C" {
#include "dns/dns_priv.h"
}

using namespace l4;

namespace
{
const char questions[] =
	"h1.fg.test A\nh2.fg.test AAAA\nh3.fg.test TXT\na-rather-long-name-of-somebody.fg.test MX";
enum { SUMS = MESSAGE_FINE };

fg_l4_dns
Zone(bool post, uint16_t text = 64)
{
	fg_l4_dns d = {};

	d.questions = questions;
	d.udp_size = 1232;
	d.recursion = true;
	d.answers = 2;
	d.ttl = 300;
	d.text = text;
	d.post = post;
	return d;
}

fg_l4_app
Doh(const fg_l4_dns *zone, uint32_t requests = 40)
{
	fg_l4_app a = Client("DOH");

	a.dns = zone;
	a.path = "/dns-query";
	a.host = "fg.test";
	a.request = a.response = 0;
	a.requests = requests;
	a.streams = 8;
	a.cycles = 1;
	return a;
}

/* as Wire, but frames are lost */
class LossyWire : public Line
{
      public:
	LossyWire(const fg_l4_app &client, double lost, uint64_t seed)
	{
		const fg_l4_app apps[2] = {client, ServerOf(client)};
		std::mt19937_64 random(seed);

		ns_per_octet = 800;
		gap = 24;
		delay = ms;
		capacity = 65400;
		sees = [lost, random](unsigned, uint64_t, std::vector<uint8_t> &) mutable {
			return double(random() >> 11) * 0x1p-53 >= lost;
		};
		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 64;
			config.seed = seed + i;
			config.mtu = 1500;
			config.max_lag_ns = ms;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], &err)) << err.message;
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, 61 * second, 0, 0, &err));
		}
		Run(90 * second);
	}
};

/* our server, and a client that says what a test wants */
struct Server {
	explicit Server(const fg_l4_dns *zone)
	{
		fg_l4_app app = Doh(zone);

		app.server = true;
		t = talker_create(&app, 1500);
		talker_open(t, 0, app.port);
		Say(PREFACE + Http2Frame(H2_SETTINGS, 0, 0, ""));
	}
	~Server()
	{
		if (t != nullptr)
			talker_free(t);
	}
	std::string
	Say(const std::string &text)
	{
		unsigned before = t->line[0].heard;

		talker_say(t, 0, text.data(), text.size());
		return std::string((const char *)t->line[0].in + before, t->line[0].heard - before);
	}
	/* GET of a path; @return the frames of the server */
	std::string
	Get(const std::string &path, uint32_t id)
	{
		return Say(Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, id, Head(0x82, path)));
	}
	/* POST, whose body may follow; @return as Get() */
	std::string
	Post(const std::string &path, uint32_t id, const std::string &of_type = "application/dns-message")
	{
		return Say(Http2Frame(H2_HEADERS, H2_END_HEADERS, id,
				      Head(0x83, path) +
					      (of_type.empty() ? "" : Field("content-type", of_type))));
	}
	http2 *
	App()
	{
		return (http2 *)t->other->app[0];
	}
	/* of a connection that is over */
	uint64_t
	Left()
	{
		h2_fields_free(&App()->spare);
		return talker_taken(&App()->spans) + talker_taken(&App()->exchanges) + App()->heap.octets;
	}
	static std::string
	Head(int method, const std::string &path)
	{
		return std::string() + char(method) + char(0x87) + char(4) + char(path.size()) + path;
	}
	talker *t;
};

const std::string QUERY("\0\0\1\0\0\1\0\0\0\0\0\0\2h1\0\0\1\0\1", 20);
/* in base64url */
const std::string IN_PATH = "/dns-query?dns=AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAAAEAAQ";

/* our client, which has asked by POST, and a server that says what a test wants
 */
struct Asker {
	Asker()
	{
		fg_l4_app app = Doh(&zone, 1);

		t = talker_create(&app, 1500);
		for (const Heard &f : Frames(std::string((const char *)t->line[0].in, t->line[0].heard)
						     .substr(sizeof(PREFACE) - 1)))
			if (f.type == H2_DATA)
				query += f.payload;
	}
	~Asker()
	{
		talker_free(t);
	}
	void
	Say(const std::string &text)
	{
		talker_say(t, 0, text.data(), text.size());
		talker_settle(t);
	}
	/* the answer of our server, but with this id */
	std::string
	Answer(uint16_t id)
	{
		std::string to(DNS_MESSAGE_MAX, '\0');
		dns_query q;
		int rcode = dns_read_query((const uint8_t *)query.data(), uint32_t(query.size()), &q);

		to.resize(dns_answer(&zone, &q, rcode, (uint8_t *)&to[0], DNS_MESSAGE_MAX));
		to[0] = char(id >> 8);
		to[1] = char(id);
		return to;
	}
	http2 *
	App()
	{
		return (http2 *)t->other->app[0];
	}
	fg_l4_dns zone = Zone(true);
	std::string query;
	talker *t;
};

/* the status of the last response: an index of the static table */
int
Status(const std::string &frames)
{
	size_t at = 0;
	int status = 0;

	while (at + 9 <= frames.size()) {
		size_t length =
			uint8_t(frames[at]) << 16 | uint8_t(frames[at + 1]) << 8 | uint8_t(frames[at + 2]);

		if (frames[at + 3] == H2_HEADERS)
			status = uint8_t(frames[at + 9]);
		at += 9 + length;
	}
	return status;
}
} /* namespace */

TEST(L4Doh, EveryAnswerIsMatchedAndCompared)
{
	for (bool post : {false, true})
		for (uint16_t text : {64, 8000, 30000}) {
			fg_l4_dns zone = Zone(post, text);
			fg_l4_app a = Doh(&zone);

			SCOPED_TRACE(std::to_string(post) + " " + std::to_string(text));
			a.connections = 3;
			Wire w(a, 20 * second);
			fg_l4_result c = w.Client(), s = w.Server();

			EXPECT_EQ(120u, c.total.transactions);
			EXPECT_EQ(120u, s.total.transactions);
			EXPECT_EQ(0u, c.total.refused);
			EXPECT_EQ(120u, c.total.own[SUMS + DNS_SUM_NOERROR]);
			EXPECT_EQ(120u, s.total.own[SUMS + DNS_SUM_NOERROR]);
			EXPECT_EQ(120u, c.total.own[SUMS + DNS_SUM_QUERIES]);
			EXPECT_EQ(0u, c.total.own[SUMS + DNS_SUM_TRUNCATED]);
			EXPECT_EQ(3u, c.total.ended[FG_L4_END_CLOSED]);
			w.ExpectNoFaults();
		}
}

TEST(L4Doh, EveryByteArrivesWhateverThePathDoes)
{
	for (unsigned seed = 0; seed < 40; seed++) {
		fg_l4_dns zone = Zone(seed % 2, seed % 3 == 0 ? 20000 : 100);
		fg_l4_app a = Doh(&zone);
		fg_l4_result r;
		fg_l4_counters n;

		a.tcp.retries = 30;
		a.tcp.syn_retries = 12;
		a.window = seed % 5 == 0 ? 3000 : 0;
		LossyWire w(a, 0.01 * (1 + seed % 8), seed);
		fg_l4_read(w.l4[0], 0, &r);
		fg_l4_read_counters(w.l4[0], &n);
		ASSERT_EQ(40u, r.total.transactions) << seed;
		ASSERT_EQ(0u, r.total.refused + n.wrong_octets + n.not_used + n.held_refused) << seed;
	}
}

TEST(L4Doh, AnotherServersAnswerIsWrong)
{
	fg_l4_dns zone = Zone(false), other = Zone(false);
	fg_l4_app a = Doh(&zone), b = Doh(&other);

	other.ttl = 299;
	b.server = true;
	memcpy(b.local, a.remote, 16);
	Wire w(a, b);
	fg_l4_counters n;

	fg_l4_read_counters(w.l4[0], &n);
	EXPECT_LT(0u, n.wrong_octets);
	EXPECT_EQ(40u, w.Client().total.transactions);
}

TEST(L4Doh, WhateverAPeerSaysItEnds)
{
	std::mt19937_64 random(7);

	for (unsigned i = 0; i < 60; i++) {
		fg_l4_dns zone = Zone(false, 500);
		Server s(&zone);

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

TEST(L4Doh, WhatIsNoQueryIsABadRequest)
{
	fg_l4_dns zone = Zone(false);
	Server s(&zone);
	const std::string query = "AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAAAEAAQ";
	uint32_t id = 1;

	EXPECT_EQ(0x88, Status(s.Get("/dns-query?dns=" + query, id)));
	EXPECT_EQ(0x88, Status(s.Get("/dns-query?x=1&dns=" + query + "&y", id += 2)));
	for (const char *bad : {"", "?", "?dns", "?dns=", "?dns=AA", "?xdns=AAABAAAB", "?dns=AAAB%20",
				"?dns=AAAB=", "?&&", "?dns=AACBAAABAAAAAAAA"})
		EXPECT_EQ(0x8c, Status(s.Get(std::string("/dns-query") + bad, id += 2))) << bad;
	for (const char *bad : {"/", "/dns-quer", "/dns-query2", "/dns-query/?dns="})
		EXPECT_EQ(0x8d, Status(s.Get(bad + query, id += 2))) << bad;
	/* a query that DNS refuses is answered by DNS */
	EXPECT_EQ(0x88, Status(s.Get("/dns-query?dns=AAAIAAABAAAAAAAA", id += 2)));
	EXPECT_EQ(1u, s.t->other->app[0]->tally.own[SUMS + DNS_SUM_OTHER]);
	/* POST, whose body comes in parts, or is longer than a message */
	s.Post("/dns-query", id += 2);
	s.Say(Http2Frame(H2_DATA, 0, id, std::string("\0\0\1\0\0\1\0\0\0\0\0\0\2h", 14)));
	EXPECT_EQ(0x88, Status(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, std::string("1\0\0\1\0\1", 6)))));
	s.Post("/dns-query", id += 2);
	for (unsigned i = 0; i < 4; i++)
		s.Say(Http2Frame(H2_DATA, 0, id, std::string(16384, 'x')));
	EXPECT_EQ(0x8c, Status(s.Say(Http2Frame(H2_DATA, H2_END_STREAM, id, "x"))));
	talker_close(s.t, 0, true);
	talker_wait(s.t, 2 * second);
	EXPECT_EQ(0u, s.Left());
}

/* where a sanitizer counts memory, it says itself what was lost */
TEST(L4Doh, AWorkerThatEndsInTheMiddleGivesAllBack)
{
	fg_l4_dns zone = Zone(false, 20000);
	size_t before = 0;

	for (unsigned i = 0; i < 4; i++) {
		Server s(&zone);
		uint32_t id = 1;

		/* bodies that wait for their end, answers that wait for a window, and half
     * a block */
		s.Say(Http2Frame(H2_SETTINGS, 0, 0, Setting(4, 300)));
		for (unsigned n = 0; n < 5; n++) {
			s.Post("/dns-query", id += 2);
			s.Say(Http2Frame(H2_DATA, 0, id, std::string(10000, 'x')));
			s.Get(IN_PATH, id += 2);
		}
		s.Say(Http2Frame(H2_HEADERS, 0, id + 2, Server::Head(0x82, IN_PATH)));
		EXPECT_LT(50000u, s.App()->heap.octets);
		talker_free(s.t);
		s.t = nullptr;
		if (i == 0) /* what only the first one needs is there */
			before = mallinfo2().uordblks;
	}
	EXPECT_LT(mallinfo2().uordblks, before + 20000);
}

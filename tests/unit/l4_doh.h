/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS over HTTPS: our server and our client, each with a peer that says what a test wants. */
#ifndef L4_DOH_H
#define L4_DOH_H

#include "l4_http2.h"

extern "C" {
#include "dns_message_priv.h"
}

namespace l4
{
const char doh_questions[] =
	"h1.fg.test A\nh2.fg.test AAAA\nh3.fg.test TXT\na-rather-long-name-of-somebody.fg.test MX";
enum { DOH_SUMS = MESSAGE_FINE };

inline fg_l4_dns
DohZone(bool post, uint16_t text = 64)
{
	fg_l4_dns d = {};

	d.questions = doh_questions;
	d.udp_size = 1232;
	d.recursion = true;
	d.answers = 2;
	d.ttl = 300;
	d.text = text;
	d.post = post;
	return d;
}

inline fg_l4_app
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

/* our server, and a client that says what a test wants */
struct DohServer {
	explicit DohServer(const fg_l4_dns *zone)
	{
		fg_l4_app app = Doh(zone);

		app.server = true;
		t = talker_create(&app, 1500);
		talker_open(t, 0, app.port);
		Say(PREFACE + Http2Frame(H2_SETTINGS, 0, 0, ""));
	}
	~DohServer()
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

inline const std::string DOH_QUERY("\0\0\1\0\0\1\0\0\0\0\0\0\2h1\0\0\1\0\1", 20);
/* in base64url */
inline const std::string DOH_IN_PATH = "/dns-query?dns=AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAAAEAAQ";

/* our client, which has asked by POST, and a server that says what a test wants */
struct DohAsker {
	DohAsker()
	{
		fg_l4_app app = Doh(&zone, 1);

		t = talker_create(&app, 1500);
		for (const Heard &f : Frames(std::string((const char *)t->line[0].in, t->line[0].heard)
						     .substr(sizeof(PREFACE) - 1)))
			if (f.type == H2_DATA)
				query += f.payload;
	}
	~DohAsker()
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
	fg_l4_dns zone = DohZone(true);
	std::string query;
	talker *t;
};

/* the status of the last response: an index of the static table */
inline int
DohStatus(const std::string &frames)
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

/* the code of the RST_STREAM that alone was heard; -1: something else was */
inline int
DohRefusal(const std::string &frames)
{
	std::vector<Heard> said = Frames(frames);

	return said.size() == 1 && said[0].type == H2_RST_STREAM
		       ? int(get_number((const uint8_t *)said[0].payload.data(), 4))
		       : -1;
}
} /* namespace l4 */

#endif
